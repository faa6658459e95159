# Generates the lexer and parser of grammar/TDSL.g4 at build time, into
# ${ANEC_PARSER_DIR}; ${ANEC_PARSER_SOURCES} are their sources.
#
# The generator is a Java program: Debian's and Homebrew's wrapper scripts are
# found by name; a bare jar is given by -DANTLR4_JAR=<antlr-4.x-complete.jar>.

set(ANTLR4_JAR "" CACHE FILEPATH "ANTLR's complete jar, in place of a wrapper")
if(ANTLR4_JAR)
  find_package(Java COMPONENTS Runtime REQUIRED)
  set(ANEC_ANTLR_COMMAND ${Java_JAVA_EXECUTABLE} -jar ${ANTLR4_JAR})
else()
  find_program(ANTLR4_EXECUTABLE NAMES antlr4 antlr)
  if(NOT ANTLR4_EXECUTABLE)
    message(FATAL_ERROR "anec needs the ANTLR 4 generator: install the package "
                        "antlr4 (Debian) or antlr (Homebrew), or set ANTLR4_JAR")
  endif()
  set(ANEC_ANTLR_COMMAND ${ANTLR4_EXECUTABLE})
endif()

set(ANEC_PARSER_DIR ${PROJECT_BINARY_DIR}/grammar)
set(ANEC_PARSER_SOURCES
  ${ANEC_PARSER_DIR}/TDSLLexer.cpp ${ANEC_PARSER_DIR}/TDSLParser.cpp)
set(grammar ${PROJECT_SOURCE_DIR}/grammar/TDSL.g4)
# Run beside the grammar: the generator repeats the path of its input below the
# output folder, and writes it into the files.
add_custom_command(
  OUTPUT ${ANEC_PARSER_SOURCES}
         ${ANEC_PARSER_DIR}/TDSLLexer.h ${ANEC_PARSER_DIR}/TDSLParser.h
  COMMAND ${ANEC_ANTLR_COMMAND} -Dlanguage=Cpp -Werror
          -no-listener -no-visitor -package anec::tdsl
          -o ${ANEC_PARSER_DIR} TDSL.g4
  WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/grammar
  DEPENDS ${grammar}
  COMMENT "Generating the parser from grammar/TDSL.g4"
  VERBATIM)

# Older generators write u8"..." literals into std::string, which C++20 only
# takes without char8_t; and their code has warnings that are not ours. Clang
# refuses a precompiled header that was made with char8_t.
set_source_files_properties(${ANEC_PARSER_SOURCES} PROPERTIES
  COMPILE_OPTIONS "-fno-char8_t;-w"
  SKIP_PRECOMPILE_HEADERS ON)

# ANTLR 4.9's Vocabulary has const members of libstdc++'s vector and a defaulted
# constructor, which clang takes for deleted. With that pair, compile against a
# copy of the headers in which the constructor has a body.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_INCLUDES ${ANTLR4_INCLUDE_DIR})
check_cxx_source_compiles(
  "#include <Vocabulary.h>
   antlr4::dfa::Vocabulary vocabulary;
   int main() {}" ANEC_ANTLR_HEADERS_COMPILE)
unset(CMAKE_REQUIRED_INCLUDES)
set(ANEC_ANTLR_INCLUDE_DIR ${ANTLR4_INCLUDE_DIR})
if(NOT ANEC_ANTLR_HEADERS_COMPILE)
  set(ANEC_ANTLR_INCLUDE_DIR ${PROJECT_BINARY_DIR}/antlr4-runtime)
  file(COPY ${ANTLR4_INCLUDE_DIR}/ DESTINATION ${ANEC_ANTLR_INCLUDE_DIR}
       PATTERN Vocabulary.h EXCLUDE)
  file(READ ${ANTLR4_INCLUDE_DIR}/Vocabulary.h vocabulary)
  string(REPLACE "Vocabulary() = default;" "Vocabulary() {}"
         vocabulary "${vocabulary}")
  # A file that is there with the same text stays as it is, so that configuring again
  # does not compile the parser again.
  file(CONFIGURE OUTPUT ${ANEC_ANTLR_INCLUDE_DIR}/Vocabulary.h
       CONTENT "${vocabulary}" @ONLY)
endif()
