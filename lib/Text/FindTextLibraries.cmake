# Defines a target for each library of tokenizers that is installed and comes
# without CMake files of its own, at least in Debian.
function(anec_find_text_library target header library)
  string(MAKE_C_IDENTIFIER "${library}" prefix)
  string(TOUPPER "${prefix}" prefix)
  find_path(${prefix}_INCLUDE_DIR ${header})
  find_library(${prefix}_LIBRARY ${library})
  if(TARGET ${target} OR NOT ${prefix}_INCLUDE_DIR OR NOT ${prefix}_LIBRARY)
    return()
  endif()
  add_library(${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION ${${prefix}_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${${prefix}_INCLUDE_DIR})
endfunction()

anec_find_text_library(Pcre2::Pcre2 pcre2.h pcre2-8)
anec_find_text_library(Utf8proc::Utf8proc utf8proc.h utf8proc)
