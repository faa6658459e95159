# The manual page and the completions of a tool, which the tool writes from its tables of
# commands and flags; they are there when the tool is.
include(GNUInstallDirs)
set(ANEC_PAGES ${PROJECT_BINARY_DIR}/share)

function(anec_tool_pages target name)
  # A tool for another system may not run here.
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    return()
  endif()
  set(pages man man/man1/${name}.1
            bash bash-completion/completions/${name}
            zsh zsh/site-functions/_${name}
            fish fish/vendor_completions.d/${name}.fish)
  set(commands)
  while(pages)
    list(POP_FRONT pages form file)
    get_filename_component(folder ${file} DIRECTORY)
    file(MAKE_DIRECTORY ${ANEC_PAGES}/${folder})
    list(APPEND commands COMMAND ${target} help --as=${form} > ${ANEC_PAGES}/${file})
    if(ANEC_INSTALL)
      install(FILES ${ANEC_PAGES}/${file} COMPONENT tools
              DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/${folder})
    endif()
  endwhile()
  add_custom_command(TARGET ${target} POST_BUILD ${commands} VERBATIM)
endfunction()
