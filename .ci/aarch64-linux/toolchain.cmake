# Debian's clang and lld, which compile for any processor, with Debian's arm64
# packages in the folder ANEC_AARCH64_ROOT; programs run in qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ANEC_AARCH64_ROOT)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

foreach(language C CXX)
  set(CMAKE_${language}_COMPILER_TARGET aarch64-linux-gnu)
endforeach()
set(CMAKE_C_COMPILER clang)
set(CMAKE_CXX_COMPILER clang++)
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT -fuse-ld=lld)
endforeach()

set(CMAKE_SYSROOT ${ANEC_AARCH64_ROOT})
set(CMAKE_FIND_ROOT_PATH ${ANEC_AARCH64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind PACKAGE LIBRARY INCLUDE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
# pkg-config looks in this machine's folders otherwise.
set(ENV{PKG_CONFIG_LIBDIR} ${ANEC_AARCH64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(LLVM_DIR ${CMAKE_CURRENT_LIST_DIR}/LLVM)
# OpenBLAS's threads wait actively, which costs qemu more than they gain.
set(CMAKE_CROSSCOMPILING_EMULATOR
  qemu-aarch64-static;-L;${ANEC_AARCH64_ROOT};-E;OPENBLAS_NUM_THREADS=1)
