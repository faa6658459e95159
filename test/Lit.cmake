# ANEC_LIT_COMMAND: how ANEC_LIT is run. LLVM's lit.py and the module of a package run in
# the interpreter of the tests; Homebrew's `lit` has one of its own.

function(anec_find_lit)
  set(way_out "Debian: `apt-get install llvm-19-tools`; macOS: `brew install lit`; or \
-DANEC_LIT=PROGRAM and -DANEC_PYTHON=PROGRAM name others. -DANEC_BUILD_TESTS=OFF builds \
without tests.")
  if(NOT ANEC_PYTHON)
    message(FATAL_ERROR "The tests need Python 3. Debian: `apt-get install python3 \
python3-numpy`; macOS: `brew install python numpy`.")
  endif()
  if(NOT ANEC_LIT)
    message(FATAL_ERROR "The tests need lit, which is not found. ${way_out}")
  endif()
  foreach(command "${ANEC_PYTHON};${ANEC_LIT}" "${ANEC_LIT}")
    execute_process(COMMAND ${command} --version
                    RESULT_VARIABLE fails OUTPUT_QUIET ERROR_VARIABLE why)
    if(fails EQUAL 0)
      set(ANEC_LIT_COMMAND "${command}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "${ANEC_LIT} runs neither in ${ANEC_PYTHON} nor alone: ${fails} \
${why}${way_out}")
endfunction()

# ANEC_HAS_NUMPY. Tests that compare with it are skipped without it; with
# ANEC_REQUIRE_NUMPY, as test/run has it, that is an error.
function(anec_find_numpy)
  execute_process(COMMAND "${ANEC_PYTHON}" -c "import numpy"
                  RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
  set(ANEC_HAS_NUMPY 0)
  if(missing EQUAL 0)
    set(ANEC_HAS_NUMPY 1)
  else()
    set(text "${ANEC_PYTHON} has no numpy. Debian: `apt-get install python3-numpy`; \
macOS: `brew install numpy`; or -DANEC_PYTHON=PROGRAM names an interpreter that has it.")
    if(ANEC_REQUIRE_NUMPY)
      message(FATAL_ERROR "The tests need numpy: ${text}")
    endif()
    message(WARNING "Tests that need numpy are skipped: ${text}")
  endif()
  set(ANEC_HAS_NUMPY ${ANEC_HAS_NUMPY} PARENT_SCOPE)
endfunction()
