# Writes the JSON files of a folder into a C++ source, each as its name and its
# text.
#   cmake -DFOLDER=... -DOUTPUT=... -P EmbedFiles.cmake

file(GLOB files ${FOLDER}/*.json)
list(SORT files)
set(text "")
foreach(file ${files})
  file(READ ${file} content)
  get_filename_component(name ${file} NAME)
  string(APPEND text "{\"${name}\", R\"JSON(${content})JSON\"},\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
