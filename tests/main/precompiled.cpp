// Empty: CMake generates a precompiled header for other targets only if a source includes it.
