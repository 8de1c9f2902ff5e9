"""A pseudo terminal with a program in it, and the text on its screen. It interprets the few escape
sequences that `coxswain top` writes. Not here: tests.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

from programs import BIN, LIMIT, clean_environment

TIOCGPTN = 0x80045430
ESCAPE = re.compile(r"\x1b\[(\??)([\d;]*)([A-Za-z])")


class Screen:
    """Started with its program's arguments; `end` must be called."""

    def __init__(self, *arguments, env=None, lines=24, columns=80):
        self.rows, self.is_alternate, self.unread = {}, False, ""
        self.code = None
        environment = clean_environment({"TERM": "xterm", "LC_ALL": "C.UTF-8"} | (env or {}))
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve(BIN / "coxswain", ["coxswain", *map(str, arguments)], environment)
        # Kept open as by a shell: its modes stay when the program ends.
        number = struct.unpack("I", fcntl.ioctl(self.terminal, TIOCGPTN, b"0000"))[0]
        self.other_end = os.open(f"/dev/pts/{number}", os.O_RDWR | os.O_NOCTTY)
        self.resize(lines, columns)

    @property
    def has_echo(self):
        return bool(termios.tcgetattr(self.terminal)[3] & termios.ECHO)

    def resize(self, lines, columns):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def signal(self, number):
        os.kill(self.pid, number)

    def read(self, limit):
        """Reads output for up to this many seconds; false if there is none."""
        if not select.select([self.terminal], [], [], limit)[0]:
            return False
        self.draw(self.unread + os.read(self.terminal, 1 << 16).decode(errors="ignore"))
        return True

    def draw(self, text):
        # A possible start of an escape sequence waits for its end.
        last = text.rfind("\x1b")
        whole = last < 0 or ESCAPE.match(text, last)
        text, self.unread = (text, "") if whole else (text[:last], text[last:])
        at = 0
        for escape in ESCAPE.finditer(text):
            self.put(text[at:escape.start()])
            self.obey(*escape.groups())
            at = escape.end()
        self.put(text[at:])

    def put(self, text):
        if self.is_alternate and text:
            self.rows[self.row] = self.rows.get(self.row, "") + text

    def obey(self, private, numbers, what):
        if private and numbers == "1049":
            self.is_alternate, self.rows, self.row = what == "h", {}, 1
        elif what == "H":
            self.row = int(numbers.split(";")[0] or 1)
            self.rows[self.row] = ""
        elif what == "J":
            self.rows = {}

    @property
    def text(self):
        return "\n".join(self.rows.get(row, "") for row in range(1, max(self.rows, default=0) + 1))

    def wait_for(self, *words, without=()):
        """Reads until the screen shows all the words and none of the others; returns its text."""
        deadline = time.monotonic() + LIMIT
        while not all(word in self.text for word in words) or any(word in self.text for word in without):
            self.read(1)
            if time.monotonic() > deadline:
                raise AssertionError(f"the screen does not show {words} without {without}:\n{self.text}")
        return self.text

    def wait(self):
        """Its exit code; negative when a signal killed it."""
        deadline = time.monotonic() + LIMIT
        while self.code is None and time.monotonic() < deadline:
            self.read(0.01)
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.code = os.waitstatus_to_exitcode(status)
        while self.read(0):
            continue
        return self.code

    def end(self):
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.other_end)
        os.close(self.terminal)
