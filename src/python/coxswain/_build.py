"""Why the native module cannot be imported: not built, or built for another Python. Only this
module does not need it."""

from __future__ import annotations


def why_not_native() -> str:
    import os
    import sys
    import sysconfig
    here = os.path.dirname(os.path.abspath(__file__))
    prefix, wanted = "_native.", sysconfig.get_config_var("EXT_SUFFIX")
    built = sorted(name for name in os.listdir(here)
                   if name.startswith(prefix) and name.endswith(".so"))
    this = f"Python {'.'.join(map(str, sys.version_info[:3]))} ({sys.executable})"
    install = f"{sys.executable} -m pip install ./src/python"
    if not built:
        return (f"coxswain's native module is not built in {here}. Put build/release/python of a "
                f"built checkout into PYTHONPATH, or install the package for {this}: {install}")
    return (f"coxswain's native module in {here} is built for another Python: there is "
            f"{', '.join(built)}, and {this} needs _native{wanted}. Run the Python that it was "
            f"built for, or install the package for this one in a checkout: {install}")
