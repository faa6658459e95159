# Writes the MIL programs that break and keep each rule into a C++ source:
#   cmake -DFOLDER=... -DOUTPUT=... -P EmbedRulePrograms.cmake

file(GLOB programs ${FOLDER}/*.mil)
list(SORT programs)
set(text "")
foreach(program ${programs})
  file(READ ${program} content)
  get_filename_component(name ${program} NAME)
  string(REGEX REPLACE "^(.*)[.](bad|good)[.]mil$" "\\1\", \"\\2" name ${name})
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
