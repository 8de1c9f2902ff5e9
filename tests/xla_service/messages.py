"""The messages of XLA's coordination service as its clients encode them, by hand: two generations, whose
fields have other numbers. Not here: calls (jax_agent).
"""

import struct

# The name of the coordination service in each generation.
PACKAGES = {2: "tensorflow", 3: "xla.coordination"}

SERVICE_ERROR = "type.googleapis.com/tensorflow.CoordinationServiceError"
BARRIER_ERROR = "type.googleapis.com/tensorflow.BarrierError"
MISMATCH_ERROR = "type.googleapis.com/tensorflow.ServiceMismatchError"


class Fixed64(int):
    """A number that takes eight bytes."""


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7f:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def encode(fields):
    """A message of {number: value}. Zero, empty and None are left out, as in proto3; a list of numbers is
    packed, a list of bytes repeats the field."""
    out = bytearray()
    for number, value in fields.items():
        if value is None or value == 0 or value == b"" or value == "" or value == []:
            continue
        if isinstance(value, str):
            value = value.encode()
        if isinstance(value, list) and isinstance(value[0], int):
            value = b"".join(map(varint, value))
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, Fixed64):
                out += varint(number << 3 | 1) + struct.pack("<Q", one)
            elif isinstance(one, int):
                out += varint(number << 3) + varint(one)
            else:
                out += varint(number << 3 | 2) + varint(len(one)) + one
    return bytes(out)


def decode(message):
    """{number: [value, ...]}; what is length-delimited is bytes."""
    fields, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = number()
        if key & 7 == 0:
            value = number()
        elif key & 7 == 1:
            value = struct.unpack_from("<Q", message, at)[0]
            at += 8
        elif key & 7 == 2:
            size = number()
            value = bytes(message[at:at + size])
            assert len(value) == size, "the message is cut off"
            at += size
        else:
            raise AssertionError(f"unexpected wire type in {message!r}")
        fields.setdefault(key >> 3, []).append(value)
    return fields


def one(fields, number, default=0):
    return fields.get(number, [default])[-1]


def signed(number):
    return number - (1 << 64) if number >= 1 << 63 else number


def payloads(details):
    """Of a status: {type: bytes}. `details` is the trailer grpc-status-details-bin."""
    found = {}
    for entry in decode(details).get(1, []):
        fields = decode(entry)
        found[one(fields, 1, b"").decode()] = one(fields, 2, b"")
    return found


def key_value(key, value=b""):
    return encode({1: key, 2: value})


class Requests:
    """The requests of one agent."""

    def __init__(self, generation, task, incarnation, job="jax_worker", recoverable=False):
        self.generation, self.task, self.incarnation = generation, task, incarnation
        self.job, self.recoverable = job, recoverable
        self.service_incarnation = 0

    def of(self, task):
        return encode({1: self.job, 2: task, 3: self.recoverable})

    @property
    def incarnations(self):
        return encode({2: Fixed64(self.incarnation), 3: Fixed64(self.service_incarnation)})

    def made(self, second, third):
        if self.generation == 2:
            return encode(second)
        return encode({1: self.incarnations} | third)

    def register(self):
        own = Fixed64(self.incarnation)
        if self.generation == 2:
            return encode({3: own, 5: self.of(self.task)})
        return encode({3: own, 5: self.task})

    def heartbeat(self):
        own = Fixed64(self.incarnation)
        return self.made({3: own, 4: self.of(self.task)}, {2: own, 3: self.task})

    def shutdown(self):
        return self.made({1: self.of(self.task)}, {2: self.task})

    def poll(self):
        return self.made({1: self.of(self.task)}, {2: self.task})

    def watch(self, version):
        return self.made({1: self.job, 2: version}, {2: version})

    def insert(self, key, value, overwrite):
        pair = key_value(key, value)
        return self.made({1: pair, 2: overwrite}, {2: pair, 3: overwrite})

    def key(self, key):
        return self.made({1: key}, {2: key})

    def increment(self, key, by):
        return self.made({1: key, 2: by}, {2: key, 3: by})

    def delete(self, key):
        return self.made({1: key, 2: True}, {2: key, 3: True})

    def barrier(self, name, timeout_ms, tasks, counter):
        return self.made(
            {1: name, 2: timeout_ms, 3: [self.of(t) for t in tasks], 4: self.of(self.task), 5: counter},
            {2: name, 3: timeout_ms, 4: list(tasks), 5: self.task, 6: counter})

    def cancel_barrier(self, name):
        # The agent never sends the counter.
        return self.made({1: name, 2: self.of(self.task)}, {2: name, 4: self.task})

    def alive(self, tasks):
        return self.made({1: self.of(self.task), 2: [self.of(t) for t in tasks]},
                         {2: self.task, 3: list(tasks)})

    def report(self, code, text):
        if self.generation == 2:
            return encode({1: code, 2: text, 5: self.of(self.task)})
        whole = encode({1: self.task, 2: Fixed64(self.incarnation), 3: Fixed64(self.service_incarnation)})
        return encode({1: whole, 2: self.task, 3: code, 4: text})
