"""Forwards TCP connections until it is ordered to cut them: proxy.py NAME=PORT:PORT,PORT:PORT... ...

Each PORT:PORT of a name forwards from the first one to the second one, on 127.0.0.1. Lines of standard
input: `drop NAME` forwards nothing more, as when a cable is pulled out; `close NAME` closes the
connections and the new ones; `heal NAME` ends either.
"""

import asyncio
import sys

PIECE = 1 << 16


class Link:
    """The connections of one name."""

    def __init__(self):
        self.is_whole = asyncio.Event()
        self.is_whole.set()
        self.is_closed = False
        self.open = set()

    def cut(self, closes):
        self.is_whole.clear()
        self.is_closed = closes
        if closes:
            self.close_all()

    def heal(self):
        # What was dropped is lost with its connection; a real network would send it again.
        if not self.is_whole.is_set():
            self.close_all()
        self.is_closed = False
        self.is_whole.set()

    def close_all(self):
        for one in self.open:
            one.transport.abort()

    async def forward(self, reader, writer):
        try:
            while data := await reader.read(PIECE):
                await self.is_whole.wait()
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            await self.is_whole.wait()  # an end is not forwarded either
            writer.close()

    async def accept(self, port, reader, writer):
        if self.is_closed:
            return writer.transport.abort()
        self.open.add(writer)
        try:
            await self.is_whole.wait()
            there, to = await asyncio.open_connection("127.0.0.1", port)
            self.open.add(to)
            try:
                await asyncio.gather(self.forward(reader, to), self.forward(there, writer))
            finally:
                self.open.discard(to)
        except OSError:
            writer.transport.abort()
        finally:
            self.open.discard(writer)


async def main(links):
    made = {}
    for link in links:
        name, _, ports = link.partition("=")
        made[name] = one = Link()
        for pair in ports.split(","):
            here, there = map(int, pair.split(":"))
            await asyncio.start_server(lambda r, w, one=one, there=there: one.accept(there, r, w),
                                       "127.0.0.1", here)
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        verb, name = line.split()
        if verb == "heal":
            made[name].heal()
        else:
            made[name].cut(closes=verb == "close")
        print(verb, name, flush=True)


asyncio.run(main(sys.argv[1:]))
