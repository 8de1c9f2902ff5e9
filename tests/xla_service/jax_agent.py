"""A client of XLA's coordination service that does what jaxlib's agent does, on Debian's gRPC for
Python: incarnations, retries, heartbeats, the poll for errors, barrier counters, payloads. It never
reconnects, and its first error is final, as there. Not here: bytes of messages (messages).
"""

import itertools
import random
import threading
import time

import grpc
from messages import (
    BARRIER_ERROR, MISMATCH_ERROR, PACKAGES, SERVICE_ERROR, Requests, decode, one, payloads, signed)

# Longer than any call that succeeds, in seconds.
LIMIT = 120

CHANNEL_OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


def channel_to(address, own_connection=True, credentials=None, user_agent=None):
    """A channel with jaxlib's settings: compressed, of any size. By default the channels of a process
    share a connection."""
    options = CHANNEL_OPTIONS + [("grpc.use_local_subchannel_pool", int(own_connection))]
    if user_agent is not None:
        options.append(("grpc.primary_user_agent", user_agent))
    compression = grpc.Compression.Gzip
    if credentials is None:
        return grpc.insecure_channel(address, options, compression=compression)
    return grpc.secure_channel(address, credentials, options, compression=compression)


class Failure(Exception):
    """A call's status, with its payloads."""

    def __init__(self, call):
        self.code = call.code().name
        self.text = call.details() or ""
        trailers = dict(call.trailing_metadata() or ())
        self.payloads = payloads(trailers.get("grpc-status-details-bin", b""))
        super().__init__(f"{self.code}: {self.text}")

    @property
    def is_by_service(self):
        """Whether the service returned it; otherwise the agent assumes a network error."""
        return SERVICE_ERROR in self.payloads

    @property
    def source_task(self):
        fields = decode(self.payloads.get(SERVICE_ERROR, b""))
        value = one(fields, 4, None)
        return one(decode(value), 2) if isinstance(value, bytes) else value

    @property
    def is_reported(self):
        return bool(one(decode(self.payloads.get(SERVICE_ERROR, b"")), 3))

    @property
    def barrier(self):
        """(name, counter), if it is about a barrier."""
        if BARRIER_ERROR not in self.payloads:
            return None
        fields = decode(self.payloads[BARRIER_ERROR])
        return one(fields, 1, b"").decode(), signed(one(fields, 2))

    @property
    def service_incarnation(self):
        return one(decode(self.payloads.get(MISMATCH_ERROR, b"")), 1, None)


class Agent:

    def __init__(self, address, task, *, generation=3, channel=None, job="jax_worker", recoverable=False,
                 init_timeout=60, shutdown_timeout=60, heartbeat_timeout=100, polls=True):
        self.task, self.generation = task, generation
        self.owns_channel = channel is None
        self.channel = channel or channel_to(address)
        self.requests = Requests(generation, task, random.getrandbits(64) or 1, job, recoverable)
        self.init_timeout, self.shutdown_timeout = init_timeout, shutdown_timeout
        self.heartbeat_timeout, self.polls = heartbeat_timeout, polls
        self.counters = {}
        self.error = None
        self.has_failed = threading.Event()
        self.poll_ended = threading.Event()
        self.poll_outcome = None
        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.open = []  # calls that are cancelled at the end
        self.heartbeats = 0
        self.heartbeat_thread = None

    # Calls.

    def start(self, method, request, timeout=None, **how):
        path = f"/{PACKAGES[self.generation]}.CoordinationService/{method}"
        return self.channel.unary_unary(path).future(request, timeout=timeout, **how)

    def result_of(self, call, limit=LIMIT):
        """{number: values}. Raises Failure."""
        try:
            return decode(call.result(limit))
        except grpc.FutureTimeoutError:
            raise AssertionError(f"task {self.task}: no answer after {limit} s") from None
        except grpc.FutureCancelledError:
            raise Failure(call) from None
        except grpc.RpcError:
            raise Failure(call) from None

    def call(self, method, request, timeout=None, **how):
        try:
            return self.result_of(self.start(method, request, timeout, **how))
        except Failure as problem:
            if MISMATCH_ERROR in problem.payloads:
                self.fail(problem)
            raise

    # Lifecycle.

    def connect(self):
        """Registers, and retries like jaxlib: network errors, ABORTED and INTERNAL."""
        end = time.monotonic() + self.init_timeout
        for attempt in itertools.count():
            left = end - time.monotonic() + 5
            try:
                reply = self.call("RegisterTask", self.requests.register(), left, wait_for_ready=True)
                break
            except Failure as problem:
                is_final = problem.is_by_service and problem.code not in ("ABORTED", "INTERNAL")
                if is_final or time.monotonic() >= end:
                    raise
            self.stopped.wait(2 ** min(14, attempt) / 1000 * random.random())
        self.requests.service_incarnation = one(reply, 1)
        self.heartbeat_thread = threading.Thread(target=self.beat, daemon=True)
        self.heartbeat_thread.start()
        if self.polls:
            poll = self.start("PollForError", self.requests.poll())
            poll.add_done_callback(self.take_poll)
            self.keep(poll)
            # The call of the preemption manager; it stays open as long as the job.
            self.keep(self.start("GetKeyValue", self.requests.key("RECEIVED_PREEMPTION_NOTICE")))
        return self

    def keep(self, call):
        with self.lock:
            self.open.append(call)
        return call

    def take_poll(self, call):
        try:
            if call.cancelled():
                return
            assert call.exception() is not None, "the agent ends its process when a poll is OK"
            self.poll_outcome = Failure(call)
            if self.poll_outcome.code != "CANCELLED" and not self.stopped.is_set():
                self.fail(self.poll_outcome)
        finally:
            self.poll_ended.set()

    def beat(self):
        """The second generation sends the first heartbeat at once."""
        period = self.heartbeat_timeout / 2
        is_first = self.generation == 2
        while is_first or not self.stopped.wait(period):
            is_first = False
            try:
                reply = self.heartbeat()
            except Failure as problem:
                if not self.stopped.wait(1):
                    self.fail(problem)
                return
            if one(reply, 1) != self.requests.service_incarnation:
                return self.fail(AssertionError("the service has another incarnation"))

    def heartbeat(self):
        for pause in (0.001, 0.0013, 0.0017, None):
            try:
                reply = self.call("Heartbeat", self.requests.heartbeat(), self.heartbeat_timeout / 2)
                self.heartbeats += 1
                return reply
            except Failure as problem:
                if problem.code not in ("UNAVAILABLE", "UNKNOWN") or pause is None:
                    raise
            time.sleep(pause)

    def fail(self, problem):
        with self.lock:
            if self.error is not None:
                return
            self.error = problem
        self.has_failed.set()

    def shutdown(self):
        """Leaves, unless it has failed. Raises the service's error; the agent is destroyed anyway."""
        try:
            if self.error is None:
                self.call("ShutdownTask", self.requests.shutdown(), self.shutdown_timeout + 5)
        finally:
            self.stop()

    def stop(self):
        """Like the destructor: sends nothing, and cancels all open calls."""
        self.stopped.set()
        with self.lock:
            calls, self.open = self.open, []
        for call in calls:
            call.cancel()

    def close(self):
        self.stop()
        if self.owns_channel:
            self.channel.close()

    # The API of programs.

    def barrier(self, name, timeout=LIMIT, tasks=()):
        counter = self.counters.get(name, 0)
        request = self.requests.barrier(name, int(timeout * 1000), list(tasks), counter)
        try:
            met = signed(one(self.call("Barrier", request), 1))
        except Failure as problem:
            if problem.barrier is not None:
                self.counters[name] = problem.barrier[1] + 1
            raise
        self.counters[name] = met + 1
        return met

    def start_barrier(self, name, timeout=LIMIT, tasks=()):
        counter = self.counters.get(name, 0)
        return self.keep(self.start("Barrier", self.requests.barrier(name, int(timeout * 1000), list(tasks), counter)))

    def cancel_barrier(self, name):
        self.call("CancelBarrier", self.requests.cancel_barrier(name))

    def insert(self, key, value):
        self.call("InsertKeyValue", self.requests.insert(key, value, False))

    def start_get(self, key):
        return self.keep(self.start("GetKeyValue", self.requests.key(key)))

    def value_of(self, reply):
        return one(decode(one(reply, 1, b"")), 2, b"")

    def get(self, key):
        return self.value_of(self.call("GetKeyValue", self.requests.key(key)))

    def try_get(self, key):
        return self.value_of(self.call("TryGetKeyValue", self.requests.key(key)))

    def increment(self, key, by):
        return self.value_of(self.call("IncrementKeyValue", self.requests.increment(key, by)))

    def directory(self, key):
        pairs = self.call("GetKeyValueDir", self.requests.key(key)).get(2, [])
        return [(one(f, 1, b"").decode(), one(f, 2, b"")) for f in map(decode, pairs)]

    def alive(self, tasks):
        self.call("GetAliveTasks", self.requests.alive(tasks))

    def start_watch(self, version):
        method = "WatchTasks" if self.generation == 3 else "WatchJobState"
        return self.keep(self.start(method, self.requests.watch(version)))

    def watch(self, version):
        """(version, [state of each task])"""
        return self.states_of(self.result_of(self.start_watch(version)))

    def states_of(self, reply):
        return signed(one(reply, 2)), [one(decode(task), 2) for task in reply.get(1, [])]

    def report(self, code, text):
        self.call("ReportErrorToService", self.requests.report(code, text))
