# Writes the programs of a folder into a C++ source, each as its name, its kind
# and its text: NAME.bad.mil and NAME.good.mil of a rule have the kinds `bad` and
# `good`, and NAME.mil and NAME.tdsl those of their endings.
#   cmake -DFOLDER=... -DOUTPUT=... -P EmbedPrograms.cmake

file(GLOB programs ${FOLDER}/*.mil ${FOLDER}/*.tdsl)
list(SORT programs)
set(text "")
foreach(program ${programs})
  file(READ ${program} content)
  get_filename_component(name ${program} NAME)
  # The first of these that it matches.
  string(REGEX REPLACE "^(.*)[.](bad|good)[.]mil$" "\\1\", \"\\2" name ${name})
  string(REGEX REPLACE "^([^\"]*)[.](mil|tdsl)$" "\\1\", \"\\2" name ${name})
  # A literal ends where it must; long ones are cut, which readers undo.
  string(LENGTH "${content}" length)
  set(pieces "")
  set(from 0)
  while(from LESS length)
    string(SUBSTRING "${content}" ${from} 8000 piece)
    string(APPEND pieces "R\"MIL(${piece})MIL\"\n")
    math(EXPR from "${from} + 8000")
  endwhile()
  string(APPEND text "{\"${name}\",\n${pieces}},\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
