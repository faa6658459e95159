# Defines Utf8proc::Utf8proc and Pcre2::Pcre2 where the libraries are installed,
# of which Debian's come without CMake files.
if(NOT TARGET Utf8proc::Utf8proc)
  find_path(UTF8PROC_INCLUDE_DIR utf8proc.h)
  find_library(UTF8PROC_LIBRARY utf8proc)
  if(UTF8PROC_INCLUDE_DIR AND UTF8PROC_LIBRARY)
    add_library(Utf8proc::Utf8proc UNKNOWN IMPORTED GLOBAL)
    set_target_properties(Utf8proc::Utf8proc PROPERTIES
      IMPORTED_LOCATION ${UTF8PROC_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${UTF8PROC_INCLUDE_DIR})
  endif()
endif()
if(NOT TARGET Pcre2::Pcre2)
  find_path(PCRE2_INCLUDE_DIR pcre2.h)
  find_library(PCRE2_LIBRARY pcre2-8)
  if(PCRE2_INCLUDE_DIR AND PCRE2_LIBRARY)
    add_library(Pcre2::Pcre2 UNKNOWN IMPORTED GLOBAL)
    set_target_properties(Pcre2::Pcre2 PROPERTIES
      IMPORTED_LOCATION ${PCRE2_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${PCRE2_INCLUDE_DIR})
  endif()
endif()
