"""A client of HTTP/2 whose frames a test chooses one by one: with python3-h2, for what gRPC never does."""

import socket
import time

import h2.config
import h2.connection
import h2.events
import h2.settings

LIMIT = 120


class RawPeer:

    def __init__(self, address):
        if address.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(address.removeprefix("unix:"))
        else:
            host, _, port = address.rpartition(":")
            self.socket = socket.create_connection((host, int(port)))
        self.socket.settimeout(1)
        config = h2.config.H2Configuration(client_side=True, header_encoding="utf-8",
                                           validate_inbound_headers=False)
        self.h2 = h2.connection.H2Connection(config)
        self.streams = {}  # by number: {"headers": [...], "data": ..., "over": ..., "reset": ...}
        self.gives_window = True
        self.ended = None  # why the connection has ended
        self.h2.initiate_connection()
        self.flush()

    def close(self):
        self.socket.close()

    def flush(self):
        data = self.h2.data_to_send()
        if data:
            self.socket.sendall(data)

    def start(self, method, message=b"", package="xla.coordination", flag=0, **fields):
        """A unary call. `fields`: headers, with _ for -, instead of or besides those of gRPC."""
        stream = self.h2.get_next_available_stream_id()
        headers = {":path": f"/{package}.CoordinationService/{method}", ":authority": "localhost",
                   ":method": "POST", ":scheme": "http", "content-type": "application/grpc",
                   "te": "trailers"}
        headers |= {name.replace("_", "-"): value for name, value in fields.items()}
        self.h2.send_headers(stream, list(headers.items()))
        self.streams[stream] = {"headers": [], "data": bytearray(), "over": False, "reset": None}
        self.send(stream, bytes([flag]) + len(message).to_bytes(4, "big") + message)
        return stream

    def send(self, stream, data):
        at = 0
        deadline = time.monotonic() + LIMIT
        while at < len(data):
            room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
            if room == 0:
                assert time.monotonic() < deadline, "the server gives no window"
                self.read()
                continue
            part = data[at:at + room]
            at += len(part)
            self.h2.send_data(stream, part, end_stream=at == len(data))
            self.flush()

    def read(self, limit=1.0):
        """Processes the next input; false if there is none in that time, or the connection has ended."""
        if self.ended:
            return False
        self.socket.settimeout(limit)
        try:
            data = self.socket.recv(1 << 16)
        except (socket.timeout, ConnectionResetError) as problem:
            if isinstance(problem, ConnectionResetError):
                self.ended = "reset"
            return False
        if not data:
            self.ended = self.ended or "end of file"
            return False
        for event in self.h2.receive_data(data):
            self.take(event)
        self.flush()
        return True

    def take(self, event):
        stream = self.streams.get(getattr(event, "stream_id", None))
        if isinstance(event, h2.events.ConnectionTerminated):
            self.ended = f"GOAWAY {int(event.error_code)}"
        elif stream is None:
            return
        elif isinstance(event, (h2.events.ResponseReceived, h2.events.TrailersReceived)):
            stream["headers"] += event.headers
        elif isinstance(event, h2.events.DataReceived):
            stream["data"] += event.data
            if self.gives_window:
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            stream["over"] = True
        elif isinstance(event, h2.events.StreamReset):
            stream["reset"] = int(event.error_code)

    def result(self, stream, limit=LIMIT):
        """(headers as a dictionary, the message) when the call is over."""
        state = self.streams[stream]
        deadline = time.monotonic() + limit
        while not state["over"] and state["reset"] is None:
            assert not self.ended, f"the connection has ended: {self.ended}"
            assert time.monotonic() < deadline, "no answer"
            self.read()
        return dict(state["headers"]), bytes(state["data"][5:])

    def call(self, method, message=b"", **how):
        return self.result(self.start(method, message, **how))

    def wait_for_end(self, limit=LIMIT):
        deadline = time.monotonic() + limit
        while not self.ended:
            assert time.monotonic() < deadline, "the connection lives on"
            self.read()
        return self.ended
