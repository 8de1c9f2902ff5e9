# The toolchain of Debian for arm64, with what `tools/install_dependencies --arm64` installs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
# Else FindPython 3.25 takes no suffix for the names of modules.
set(_Python3_CONFIG /usr/bin/aarch64-linux-gnu-python3-config CACHE INTERNAL "")
