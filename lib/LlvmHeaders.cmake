# anec_llvm_headers(RESULT): sets RESULT to the folders of LLVM's headers, without those
# of other packages. Debian's libc++abi-19-dev puts its cxxabi.h into the same folder,
# where it is found before the compiler's own, which libstdc++ needs: a folder of links
# takes its place then.
function(anec_llvm_headers result)
  set(folders)
  foreach(folder IN LISTS LLVM_INCLUDE_DIRS)
    if(EXISTS "${folder}/cxxabi.h")
      set(links "${CMAKE_BINARY_DIR}/anec-llvm-headers")
      file(MAKE_DIRECTORY "${links}")
      foreach(part llvm llvm-c)
        file(CREATE_LINK "${folder}/${part}" "${links}/${part}" SYMBOLIC)
      endforeach()
      set(folder "${links}")
    endif()
    list(APPEND folders "${folder}")
  endforeach()
  set(${result} "${folders}" PARENT_SCOPE)
endfunction()
