"""Coxswain: barriers, keys and failures of distributed jobs.

    with coxswain.Client.from_environment() as job:
        job.barrier("epoch-1", timeout=60)

``Client`` blocks, ``AsyncClient`` is for asyncio, ``Coordinator`` embeds the coordinator. Values
are bytes: a str is stored as UTF-8, and ``get`` returns bytes.

Where a job has no coordinator of its own, the process of task 0 can be it::

    coordinator = coxswain.Coordinator.of_task_0()   # before the client
    with coxswain.Client.from_environment() as job:
        ...
"""

from __future__ import annotations

import atexit as _atexit

try:
    import coxswain._native as _native
except ModuleNotFoundError as problem:
    if problem.name != "coxswain._native":
        raise
    from coxswain._build import why_not_native
    raise ImportError(why_not_native(), name=problem.name) from None
_native.check_interpreter()  # the module of the main interpreter may be found in another one

from coxswain import _client, _coordinator, _epochs, _errors, _options
from coxswain._client import *
from coxswain._coordinator import *
from coxswain._epochs import *
from coxswain._errors import *
from coxswain._options import *

TYPE_CHECKING = False  # for type checkers it is true; typing takes long to import
if TYPE_CHECKING:
    from coxswain._coordinator_options import *
    from coxswain._types import *
    from coxswain.aio import *
    from coxswain.store import *

# Imported on first use: asyncio and dataclasses take longer than all of our modules.
_LATER = {
    "_coordinator_options": ("CoordinatorOptions",),
    "aio": ("AsyncClient", "AsyncKeyWatch", "AsyncProcessMonitor"),
    "_types": ("BarrierFailure", "BarrierStatus", "Device", "ElasticState", "EpochEnd",
               "EpochMember", "Event", "Failure", "FinishedRound", "JobError", "JobState",
               "JobStatus", "KeyChange", "KeyValue", "LaunchParameters", "Leadership", "LeasedItem",
               "MissingTask", "Problem", "Process", "ProcessChange", "Progress", "QueueItem",
               "Relay", "Spare", "Straggler", "Swap", "Task", "TaskList", "Topology", "Wait",
               "Why"),
    "store": ("Store",),
}

__all__ = [*_client.__all__, *_coordinator.__all__, *_epochs.__all__, *_errors.__all__,
           *_options.__all__, *(name for names in _LATER.values() for name in names)]
__version__ = _native.version

# No thread may be in a call when the interpreter ends.
_atexit.register(_native.close_all)

_ends_pools: bool | None = None  # None: the end of waits is not registered


def _end_waits_at_exit() -> None:
    """On each thread before its first wait: at its exit the interpreter joins ordinary threads and
    those of pools, and before that their waits end. What was registered last is run first."""
    import sys
    import threading
    global _ends_pools
    # While that module is being imported, what joins its threads may not be registered yet.
    has_pools = hasattr(sys.modules.get("concurrent.futures.thread"), "ThreadPoolExecutor")
    if _ends_pools is not None and _ends_pools >= has_pools:
        return
    _ends_pools = has_pools
    try:
        threading._register_atexit(_native.end_waits)
    except RuntimeError:  # the exit has begun
        _native.end_waits()


_native.set_thread_hook(_end_waits_at_exit)


def __getattr__(name: str):
    for module, names in _LATER.items():
        if name in names:
            import importlib
            return getattr(importlib.import_module(f"coxswain.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
