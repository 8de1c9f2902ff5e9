// Empty: CMake writes the header that it precompiles for others only where a source includes it.
