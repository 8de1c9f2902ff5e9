#!/usr/bin/env python3
"""A server of the page with a scripted feed: the fixture of the page's tests.

    feed.py DIRECTORY      serves page.html of the directory with page.policy, on a free port

Each line of its input is a JSON object with one command:
    {"state": MESSAGE}     sent to every new connection from now on
    {"send": MESSAGE}      sent to all connections
    {"token": TEXT}        required from now on; null: none
    {"answer": {PATH: [CODE, OBJECT]}}  the responses of these paths below /api/v1/, with queries;
                           others answer {}
    {"freeze": true}       responds to no new request until {"freeze": false}
    {"stop": true}         refuses new connections and closes the open ones
    {"start": true}        listens again on the same port, if stopped
Each line of its output is a JSON object: {"port": N}, and {"done": COMMAND} after each command.
Standard library only. Not here: anything that decides what a job is like.
"""

import base64
import hashlib
import http.server
import json
import pathlib
import socket
import struct
import sys
import threading

# RFC 6455.
SECRET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, CLOSE = 0x81, 0x88


def frame(payload, kind=TEXT):
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", kind, size)
    elif size < 65536:
        head = struct.pack("!BBH", kind, 126, size)
    else:
        head = struct.pack("!BBQ", kind, 127, size)
    return head + payload


class Feed:
    """The messages, their receivers, and access."""

    def __init__(self):
        self.lock = threading.Lock()
        self.state = None
        self.token = None
        self.answers = {}
        self.readers = set()
        self.awake = threading.Event()
        self.awake.set()

    def join(self, reader):
        with self.lock:
            if self.state is not None:
                reader.sendall(frame(self.state))
            self.readers.add(reader)

    def leave(self, reader):
        with self.lock:
            self.readers.discard(reader)

    def send(self, text):
        with self.lock:
            for reader in self.readers:
                reader.sendall(frame(text))

    def cut(self):
        with self.lock:
            for reader in self.readers:
                reader.shutdown(socket.SHUT_RDWR)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    feed = directory = None

    def do_GET(self):
        self.feed.awake.wait()
        if self.path == "/livez":
            self.answer(200, b"ok\n")
        elif self.path == "/":
            policy = (self.directory / "page.policy").read_text()
            self.answer(200, (self.directory / "page.html").read_bytes(),
                        ("Content-Type", "text/html; charset=utf-8"),
                        ("Content-Security-Policy", policy))
        elif not self.path.startswith("/api/v1/"):
            self.answer(404, b"")
        elif not self.is_known():
            self.answer(401, b"")
        elif self.headers.get("Upgrade", "").lower() == "websocket":
            self.talk()
        else:
            self.answer_as_ordered()

    def answer_as_ordered(self):
        code, what = self.feed.answers.get(self.path.removeprefix("/api/v1/"), (200, {}))
        self.answer(code, json.dumps(what).encode(), ("Content-Type", "application/json"))

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.startswith("/api/v1/"):
            self.answer_as_ordered()
        elif self.path == "/login" and json.loads(body)["token"] == self.feed.token:
            cookie = f"coxswain={self.feed.token}; HttpOnly; SameSite=Strict; Path=/"
            self.answer(204, b"", ("Set-Cookie", cookie))
        else:
            why = {"code": "UNAUTHENTICATED", "message": "This is no token of the job."}
            self.answer(401, json.dumps(why).encode(), ("Content-Type", "application/json"))

    def is_known(self):
        token = self.feed.token
        return token is None or f"coxswain={token}" in self.headers.get("Cookie", "")

    def answer(self, code, body, *headers):
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def talk(self):
        """Serves a WebSocket to its end; input from the page is discarded."""
        digest = hashlib.sha1((self.headers["Sec-WebSocket-Key"] + SECRET).encode()).digest()
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(digest).decode())
        self.end_headers()
        self.close_connection = True
        self.feed.join(self.connection)
        try:
            while (said := self.connection.recv(4096)) and said[0] != CLOSE:
                pass
        except OSError:
            pass
        finally:
            self.feed.leave(self.connection)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A browser that disconnects is no error."""


def start(port):
    server = Server(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return server


def main():
    Handler.directory = pathlib.Path(sys.argv[1])
    feed = Handler.feed = Feed()
    server = start(0)
    port = server.server_port
    print(json.dumps({"port": port}), flush=True)
    for line in sys.stdin:
        (command, value), = json.loads(line).items()
        if command == "state":
            feed.state = json.dumps(value).encode()
        elif command == "send":
            feed.send(json.dumps(value).encode())
        elif command == "token":
            feed.token = value
        elif command == "answer":
            feed.answers = value
        elif command == "freeze":
            (feed.awake.clear if value else feed.awake.set)()
        elif command == "stop":
            server.shutdown()
            server.server_close()
            feed.cut()
            server = None
        elif command == "start":
            server = server or start(port)
        print(json.dumps({"done": command}), flush=True)


main()
