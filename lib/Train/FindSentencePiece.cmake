# Defines SentencePiece::SentencePiece where the library is installed, which
# comes without a CMake file of its own.
if(NOT TARGET SentencePiece::SentencePiece)
  find_path(SENTENCEPIECE_INCLUDE_DIR sentencepiece_processor.h)
  find_library(SENTENCEPIECE_LIBRARY sentencepiece)
  if(SENTENCEPIECE_INCLUDE_DIR AND SENTENCEPIECE_LIBRARY)
    add_library(SentencePiece::SentencePiece UNKNOWN IMPORTED GLOBAL)
    set_target_properties(SentencePiece::SentencePiece PROPERTIES
      IMPORTED_LOCATION ${SENTENCEPIECE_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${SENTENCEPIECE_INCLUDE_DIR})
  endif()
endif()
