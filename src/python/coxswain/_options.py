"""The options of both clients."""

from __future__ import annotations

from coxswain import _native
from coxswain._errors import InvalidArgument
from coxswain._shape import shape

TYPE_CHECKING = False  # for type checkers it is true; typing takes long to import
if TYPE_CHECKING:
    from coxswain._types import LaunchParameters

__all__ = ["detect"]

_OPTIONS = tuple(_native.Options.names())
_TLS = tuple(name for name in _OPTIONS if name.startswith("tls_"))

# What is read of COXSWAIN_...
_VARIABLES = ("address", "task_id", "num_tasks", "job", "attempt", "token", "token_file", "member",
              "placement", "listen", "task_socket", "task_secret", "task_incarnation", *_TLS)


def _apply(options: _native.Options, settings: dict) -> _native.Options:
    if isinstance(settings.get("placement"), str):
        settings["placement"] = settings["placement"].split("/")
    if settings.get("member") is not None and settings.get("task") is None:
        settings["any"] = True
    if settings.get("any"):
        options.task = settings.get("task")
    given = {name: settings[name] for name in _OPTIONS if settings.get(name) is not None}
    if "fence_after" in settings:
        given["fence_after"] = settings["fence_after"]  # None is without limit
    if any(settings.get(name) for name in _TLS):
        given |= {name: str(settings.get(name) or "") for name in _TLS}
    for name, value in given.items():
        setattr(options, name, value)
    return options


def options_of(address: str | None, settings: dict) -> _native.Options:
    """Without an address, the environment's values, overridden by the settings; with one, of these
    only the credentials."""
    unknown = settings.keys() - set(_OPTIONS)
    if unknown:
        raise TypeError(f"there is no option {', '.join(sorted(unknown))}")
    if address is None:
        given = settings.get("address") or ""
        _warn_of_misspelt_variables()
        return _apply(_native.Options.from_environment(given), settings)
    passed = {name: value for name, value in settings.items() if value is not None}
    return _apply(_native.Options(address), {**_credentials(passed), **passed})


def _credentials(passed: dict) -> dict[str, str]:
    """Token and certificates from COXSWAIN_..., unless others are passed."""
    given = {} if passed.get("token") else _token()
    if not any(passed.get(name) for name in _TLS):
        given.update(_variables(_TLS))
    return given


def settings_of_environment() -> dict[str, str | int]:
    """The job and its credentials from COXSWAIN_...: settings of both clients and coordinators."""
    settings = {**_variables(("job", "attempt", *_TLS)), **_token()}
    if "attempt" in settings:
        settings["attempt"] = int(settings["attempt"])
    return settings


def _variables(names) -> dict[str, str]:
    import os
    given = {name: os.environ.get(f"COXSWAIN_{name.upper()}") for name in names}
    return {name: value for name, value in given.items() if value}


def _token() -> dict[str, str]:
    import os
    settings = _variables(("token",))
    if path := os.environ.get("COXSWAIN_TOKEN_FILE"):
        if "token" in settings:
            raise InvalidArgument(f"COXSWAIN_TOKEN and COXSWAIN_TOKEN_FILE ({path!r}) are both "
                                  "set; expected one of them.")
        with open(path, encoding="utf-8") as file:
            settings["token"] = file.read().strip()
    return settings


def _warn_of_misspelt_variables() -> None:
    """Of variables that have no effect here and are close to one that has."""
    import os
    known = {f"COXSWAIN_{name.upper()}" for name in _VARIABLES}
    unknown = {name for name in os.environ if name.startswith("COXSWAIN_")} - known
    if not unknown:
        return
    import difflib
    import warnings
    for name in sorted(unknown):
        for meant in difflib.get_close_matches(name, known, 1, 0.93):
            warnings.warn(f"{name} is set and has no effect; did you mean {meant}?", stacklevel=4)


def detect(launcher: str | None = None) -> LaunchParameters:
    """The launcher's values for this process: see ``coxswain detect``. With a name, only that
    launcher is considered.

    Nothing is contacted. Unknown or malformed values are None.
    """
    return shape.launch_parameters_of(_native.detect(launcher or ""))
