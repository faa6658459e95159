# With ANEC_UNITY, the files of a folder are compiled together: a build from scratch
# takes little more than half of the time, since headers are read and templates compiled
# once for all of them; a change compiles its folder again. test/Docs/locals.test keeps what
# that asks for: names that a file has for itself are its own in the folder.
#
# Files with SKIP_UNITY_BUILD_INCLUSION stay alone. CMake before 3.29 does not unite
# Objective-C++: those files are united here.

# At most so many files are one, so that a few processors share a large folder.
set(ANEC_UNITY_MOST 24)

# Compiles the .mm files of a target together.
function(anec_unite_objcxx target sources own)
  list(FILTER sources INCLUDE REGEX "\\.mm$")
  set(text)
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE BASE_DIR ${own})
    get_source_file_property(alone ${path} TARGET_DIRECTORY ${target}
                             SKIP_UNITY_BUILD_INCLUSION)
    if(NOT alone)
      string(APPEND text "#include \"${path}\"\n")
      set_source_files_properties(${path} TARGET_DIRECTORY ${target} PROPERTIES
        HEADER_FILE_ONLY ON)
    endif()
  endforeach()
  if(NOT text)
    return()
  endif()
  get_target_property(binary ${target} BINARY_DIR)
  set(unit ${binary}/CMakeFiles/${target}.dir/Unity/unity_objcxx.mm)
  file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
  set_source_files_properties(${unit} TARGET_DIRECTORY ${target} PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON)
  target_sources(${target} PRIVATE ${unit})
endfunction()

function(anec_unite_target target)
  get_target_property(type ${target} TYPE)
  if(NOT type MATCHES "LIBRARY|EXECUTABLE")
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(own ${target} SOURCE_DIR)
  anec_unite_objcxx(${target} "${sources}" ${own})
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set(folders)
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE BASE_DIR ${own})
    get_source_file_property(group ${path} TARGET_DIRECTORY ${target} UNITY_GROUP)
    if(group)
      continue()
    endif()
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${path})
    get_filename_component(folder ${name} DIRECTORY)
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    list(APPEND folders ${folder})
    list(APPEND in_${folder} ${path})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH in_${folder} count)
    set(place 0)
    foreach(path IN LISTS in_${folder})
      math(EXPR part "${place}/${ANEC_UNITY_MOST}")
      math(EXPR place "${place}+1")
      if(count GREATER 1)
        set_source_files_properties(${path} TARGET_DIRECTORY ${target} PROPERTIES
          UNITY_GROUP ${folder}_${part})
      endif()
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

function(anec_unite folder)
  get_directory_property(targets DIRECTORY ${folder} BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    anec_unite_target(${target})
  endforeach()
  get_directory_property(folders DIRECTORY ${folder} SUBDIRECTORIES)
  foreach(inside IN LISTS folders)
    anec_unite(${inside})
  endforeach()
endfunction()

anec_unite(${PROJECT_SOURCE_DIR})
