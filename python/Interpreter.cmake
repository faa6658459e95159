# ANEC_PYTHON, the interpreter of the Python module and of the tests: the first of
# ANEC_PYTHONS that has numpy, or else the first that runs. `-DANEC_PYTHON=PROGRAM` chooses
# another. A system can have several: on a Mac, Apple's in /usr/bin, which has neither
# numpy nor lit, and Homebrew's.

function(anec_find_python)
  if(ANEC_PYTHON)
    return()
  endif()
  set(candidates ${ANEC_PYTHONS})
  if(NOT candidates)
    # Debian's packages are those of its own interpreter, Homebrew's of the one there.
    find_program(ANEC_PATH_PYTHON NAMES python3)
    mark_as_advanced(ANEC_PATH_PYTHON)
    if(CMAKE_HOST_APPLE)
      set(candidates /opt/homebrew/bin/python3 /usr/local/bin/python3
        ${ANEC_PATH_PYTHON} /usr/bin/python3)
    else()
      set(candidates /usr/bin/python3 ${ANEC_PATH_PYTHON})
    endif()
  endif()
  foreach(import numpy sys)
    foreach(candidate IN LISTS candidates)
      if(NOT EXISTS "${candidate}")
        continue()
      endif()
      execute_process(COMMAND "${candidate}" -c "import ${import}"
                      RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
      if(missing EQUAL 0)
        set(ANEC_PYTHON "${candidate}" CACHE FILEPATH
            "The interpreter of the Python module and the tests")
        return()
      endif()
    endforeach()
  endforeach()
endfunction()
anec_find_python()
