# Writes the files of a folder with an ending into a C++ source, each as its name and
# its text.
#   cmake -DFOLDER=... -DENDING=json -DOUTPUT=... -P EmbedFiles.cmake

file(GLOB files ${FOLDER}/*.${ENDING})
list(SORT files)
set(text "")
foreach(file ${files})
  file(READ ${file} content)
  get_filename_component(name ${file} NAME)
  string(APPEND text "{\"${name}\", R\"FILE(${content})FILE\"},\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
