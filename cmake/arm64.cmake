# For 64-bit Arm on another machine, with Debian's cross compiler and its libraries for arm64 beside those of the machine
# (multiarch). What is built runs under qemu-aarch64, where that is installed: scripts/cross-arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
find_program(INFERMETER_EMULATOR NAMES qemu-aarch64 qemu-aarch64-static DOC "runs programs for arm64")
if(INFERMETER_EMULATOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${INFERMETER_EMULATOR})
endif()
