# Enables Objective-C++ where it can be had, and says what it needs: sets
# ANEC_HAS_OBJCXX and defines anec-objcxx, the flags and libraries.

option(ANEC_ENABLE_ANE
       "Build the ane and coreml backends: on macOS; elsewhere for tests" ON)
set(ANEC_HAS_OBJCXX OFF)
# CMake keeps how headers are precompiled in variables that all languages share:
# with clang for Objective-C++, GCC's headers would get clang's names, and be
# ignored.
set(pchVariables CMAKE_PCH_EXTENSION CMAKE_PCH_PROLOGUE CMAKE_PCH_EPILOGUE)
macro(anec_enable_objcxx)
  foreach(variable IN LISTS pchVariables)
    set(kept_${variable} "${${variable}}")
  endforeach()
  enable_language(OBJCXX)
  foreach(variable IN LISTS pchVariables)
    set(${variable} "${kept_${variable}}")
  endforeach()
endmacro()
if(NOT ANEC_ENABLE_ANE OR (NOT APPLE AND NOT ANEC_BUILD_TESTS))
  return()
endif()

if(APPLE)
  anec_enable_objcxx()
  add_library(anec-objcxx INTERFACE)
  # Counted by hand, and exceptions are caught, whatever flags say of C++. The
  # definition keeps Carbon's `check`, `verify` and `require` from being macros.
  target_compile_options(anec-objcxx INTERFACE
    $<$<COMPILE_LANGUAGE:OBJCXX>:-fno-objc-arc -fobjc-exceptions -fexceptions -fblocks>)
  target_compile_definitions(anec-objcxx INTERFACE
    $<$<COMPILE_LANGUAGE:OBJCXX>:__ASSERT_MACROS_DEFINE_VERSIONS_WITHOUT_UNDERSCORES=0>)
  target_link_libraries(anec-objcxx INTERFACE
    "-framework Foundation" "-framework CoreFoundation" "-framework IOSurface"
    -lobjc)
  set(ANEC_HAS_OBJCXX ON)
  return()
endif()

# GCC has no @autoreleasepool, so it has to be clang; GCC's runtime is what
# GNUstep's Foundation is built for.
if(NOT CMAKE_OBJCXX_COMPILER)
  find_program(CMAKE_OBJCXX_COMPILER NAMES clang++ clang++-19 clang++-14
               PATHS ${LLVM_TOOLS_BINARY_DIR})
endif()
file(GLOB gccIncludes /usr/lib/gcc/*/*/include)
find_path(ANEC_OBJC_INCLUDE objc/objc.h HINTS ${gccIncludes})
find_path(ANEC_GNUSTEP_INCLUDE Foundation/Foundation.h
          HINTS /usr/include/GNUstep)
find_library(ANEC_GNUSTEP_BASE gnustep-base)
find_library(ANEC_OBJC NAMES objc libobjc.so.4)
if(NOT CMAKE_OBJCXX_COMPILER OR NOT ANEC_OBJC_INCLUDE OR
   NOT ANEC_GNUSTEP_INCLUDE OR NOT ANEC_GNUSTEP_BASE OR NOT ANEC_OBJC)
  message(STATUS "The ane and coreml backends are not tested: they take clang, "
                 "libgnustep-base-dev and gobjc++")
  return()
endif()

# Of the compiler's flags, those that both ends of a call have to agree on.
string(REGEX MATCHALL "-f(no-)?sanitize[^ ]*" sanitizers "${CMAKE_CXX_FLAGS}")
string(JOIN " " CMAKE_OBJCXX_FLAGS ${CMAKE_OBJCXX_FLAGS} ${sanitizers})
anec_enable_objcxx()
add_library(anec-objcxx INTERFACE)
target_include_directories(anec-objcxx SYSTEM INTERFACE
                           ${ANEC_GNUSTEP_INCLUDE}
                           ${PROJECT_SOURCE_DIR}/test/ANE/Shim)
target_compile_options(anec-objcxx INTERFACE $<$<COMPILE_LANGUAGE:OBJCXX>:
  -fobjc-runtime=gcc -fobjc-exceptions -fexceptions -fblocks
  -fconstant-string-class=NSConstantString -D_NATIVE_OBJC_EXCEPTIONS
  -DGNUSTEP -DGNUSTEP_BASE_LIBRARY=1 -DGNU_RUNTIME=1
  "SHELL:-idirafter ${ANEC_OBJC_INCLUDE}" -Wno-unknown-warning-option>)
target_link_libraries(anec-objcxx INTERFACE ${ANEC_GNUSTEP_BASE} ${ANEC_OBJC})
set(ANEC_HAS_OBJCXX ON)

