# Debian's packages of a build: names, dependencies, descriptions. Those on shared
# libraries are found by dpkg-shlibdeps.
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib/C)
set(same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(api ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

function(anec_debian component)
  cmake_parse_arguments(row "" "NAME;SECTION;SUMMARY;TEXT" "DEPENDS;RECOMMENDS" ${ARGN})
  string(TOUPPER ${component} upper)
  list(JOIN row_DEPENDS ", " depends)
  list(JOIN row_RECOMMENDS ", " recommends)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${row_NAME} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${row_SECTION} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${recommends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${row_SUMMARY}\n${row_TEXT}" PARENT_SCOPE)
endfunction()

anec_debian(tools NAME anec SECTION devel
  SUMMARY "compiler and runner of programs for the Apple Neural Engine"
  TEXT "anec compiles tensor programs, ONNX, PyTorch and Core ML models to MIL
and Core ML packages, and checks what a chip makes of them. ane-run
runs, compares, trains and serves them, here on the processor."
  RECOMMENDS libopenblas0)
anec_debian(library NAME libanec-c${api} SECTION libs
  SUMMARY "library of the anec compiler and runner, for programs in C"
  TEXT "anec compiles tensor programs for the Apple Neural Engine, and runs them
on the processor. This is the shared library of its interface for C."
  RECOMMENDS libopenblas0)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
# Finish.cmake writes the symbols.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_LIST_DIR}/triggers ${PROJECT_BINARY_DIR}/debian/symbols)
set(CPACK_ANEC_SYMBOLS ${PROJECT_BINARY_DIR}/debian/symbols)

# What the static library is linked with, and what its CMake files look for.
set(static llvm-${LLVM_VERSION_MAJOR}-dev libantlr4-runtime-dev libfmt-dev uuid-dev
    zlib1g-dev libzstd-dev libxml2-dev libz3-dev)
if(ANEC_HUGGINGFACE)
  list(APPEND static libpcre2-dev libutf8proc-dev)
endif()
if(ANEC_MPI)
  list(APPEND static libopenmpi-dev)
endif()
anec_debian(development NAME libanec-dev SECTION libdevel
  SUMMARY "headers and static library of the anec compiler and runner"
  TEXT "anec compiles tensor programs for the Apple Neural Engine, and runs them
on the processor. These are its headers for C and C++, the static
library, and files for CMake and pkg-config."
  DEPENDS "libanec-c${api} ${same}" ${static})
if(TARGET _anec)
  get_target_property(suffix _anec SUFFIX)
  string(REGEX MATCH "cpython-3([0-9]+)" version "${suffix}")
  math(EXPR next "${CMAKE_MATCH_1} + 1")
  anec_debian(python NAME python3-anec SECTION python
    SUMMARY "Python module of the anec compiler and runner"
    TEXT "anec compiles tensor programs for the Apple Neural Engine, and runs them
on the processor, with arrays of numpy."
    DEPENDS "libanec-c${api} ${same}" "python3 (>= 3.${CMAKE_MATCH_1})"
            "python3 (<< 3.${next})" python3-numpy)
endif()
