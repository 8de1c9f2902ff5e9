"""python3 -m coxswain.torch_extension: compiles the base class of stores for the installed torch.

Without it torch's C++ cannot call the queues and the list of keys of a store, which only a
PrefixStore needs. It takes a minute, a C++ compiler and ninja. The result is one file in
``TORCH_EXTENSIONS_DIR`` (~/.cache/torch_extensions), which stores use from then on; another version
of torch, of Python or of this package needs its own. Nothing is compiled unless you ask for it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import pathlib
import sys
import sysconfig
import tempfile

import torch.distributed

__all__ = ["base", "build", "path"]

_NAME = "coxswain_torch_store"
_SOURCE = pathlib.Path(__file__).with_name("_torch_store.cpp")

_log = logging.getLogger("coxswain")

# The methods of torch's Store that its C++ cannot call without the extension.
_MISSING = [name for name in ("queue_push", "queue_pop", "queue_len", "list_keys")
            if hasattr(torch.distributed.Store, name)]


def path() -> pathlib.Path:
    """The file of the extension for this torch, Python and source, whether built or not."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    directory = os.environ.get("TORCH_EXTENSIONS_DIR") or os.path.join(cache, "torch_extensions")
    source = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:8]
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    return pathlib.Path(directory, f"{_NAME}-{torch.__version__}-{source}{suffix}")


def base():
    """The base class of a store for torch: the extension's if it is built, else torch's own."""
    if not _MISSING:
        return torch.distributed.Store
    file, names = path(), ", ".join(_MISSING)
    if not os.path.exists(file):
        _log.info("%s do not work behind a PrefixStore: `python3 -m coxswain.torch_extension` "
                  "compiles what torch %s lacks", names, torch.__version__)
        return torch.distributed.Store
    try:
        spec = importlib.util.spec_from_file_location(_NAME, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as problem:
        _log.warning("%s do not work behind a PrefixStore, because the extension cannot be loaded; "
                     "`python3 -m coxswain.torch_extension` compiles it again: %s", names, problem)
        return torch.distributed.Store
    return module.Store


def build() -> pathlib.Path:
    """Compiles the extension; returns its file. RuntimeError (no compiler, no ninja, an error of
    the compiler), ImportError, OSError."""
    from torch.utils import cpp_extension

    file = path()
    file.parent.mkdir(parents=True, exist_ok=True)
    # Other processes see a whole file or none.
    with tempfile.TemporaryDirectory(dir=file.parent) as scratch:
        cpp_extension.load(_NAME, [str(_SOURCE)], build_directory=scratch)
        os.replace(os.path.join(scratch, f"{_NAME}.so"), file)
    return file


def main() -> None:
    if sys.argv[1:]:
        print(__doc__)
        sys.exit(0 if sys.argv[1:] in (["-h"], ["--help"]) else 64)
    if not _MISSING:
        print(f"no extension is needed: torch {torch.__version__} has no queues")
        return
    try:
        print(build())
    except (RuntimeError, ImportError, OSError) as problem:
        sys.exit(f"coxswain: no extension for torch {torch.__version__} can be built: {problem}")


if __name__ == "__main__":
    main()
