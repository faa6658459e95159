# What Debian's policy wants beyond an installation; CPack runs it when the files of a package
# are in their places, before it packs them.
if(NOT CPACK_GENERATOR STREQUAL DEB)
  return()
endif()
# CPack's, which `file(INSTALL)` would begin all names with.
unset(ENV{DESTDIR})
set(here ${CPACK_ANEC_SOURCE_DIR}/packaging/debian)

# The changelog that policy asks for; CHANGELOG.md says what changed.
function(anec_write_changelog file version)
  set(ENV{LC_ALL} C)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  set(plain ${file}.plain)
  file(WRITE ${plain} "anec (${version}) unstable; urgency=medium\n\n\
  * A build of the sources; see CHANGELOG.md there.\n\n\
 -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  anec_compress(${plain} ${file})
endfunction()

function(anec_compress plain file)
  execute_process(COMMAND gzip -9nc ${plain} OUTPUT_FILE ${file}
                  COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE ${plain})
  file(CHMOD ${file} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endfunction()

# What lintian is told to leave out: files `overrides` and NAME.overrides, where the name
# of the package begins with NAME.
function(anec_write_overrides package file)
  set(text)
  file(GLOB parts ${here}/overrides ${here}/*.overrides)
  foreach(part IN LISTS parts)
    get_filename_component(name ${part} NAME_WE)
    string(FIND ${package} ${name} position)
    if(name STREQUAL overrides OR position EQUAL 0)
      file(READ ${part} lines)
      string(APPEND text "${lines}")
    endif()
  endforeach()
  string(REPLACE "@PACKAGE@" ${package} text "${text}")
  file(WRITE ${file} "${text}")
endfunction()

function(anec_write_symbols package root)
  get_filename_component(folder ${CPACK_ANEC_SYMBOLS} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND dpkg-gensymbols -p${package} -v${CPACK_PACKAGE_VERSION}
    -P${root}/.. -O${CPACK_ANEC_SYMBOLS} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(anec_finish package root)
  set(doc ${root}/share/doc/${package})
  file(INSTALL ${here}/copyright DESTINATION ${doc})
  anec_write_changelog(${doc}/changelog.Debian.gz
    ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
  anec_write_overrides(${package} ${root}/share/lintian/overrides/${package})
  file(GLOB pages ${root}/share/man/man1/*.1)
  foreach(page IN LISTS pages)
    anec_compress(${page} ${page}.gz)
  endforeach()
  # Where Debian's zsh looks.
  if(EXISTS ${root}/share/zsh/site-functions)
    file(RENAME ${root}/share/zsh/site-functions ${root}/share/zsh/vendor-completions)
  endif()
  file(GLOB libraries ${root}/lib/*.so.*.*.*)
  if(libraries)
    anec_write_symbols(${package} ${root})
  endif()
  file(GLOB_RECURSE modules ${root}/lib/python3/*.so)
  file(GLOB programs ${root}/bin/*)
  foreach(program IN LISTS libraries modules programs)
    execute_process(COMMAND strip --remove-section=.comment --remove-section=.note
      ${program} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  file(GLOB archives ${root}/lib/*.a)
  foreach(archive IN LISTS archives)
    execute_process(COMMAND strip --strip-debug --remove-section=.comment
      --remove-section=.note --enable-deterministic-archives ${archive}
      COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endfunction()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  anec_finish(${CPACK_DEBIAN_${upper}_PACKAGE_NAME}
    ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr)
endforeach()
