# The component LanguageModels: what generates text, reads the models of others and has
# tokenizers. A build without it lacks PCRE2 and utf8proc, too; what the rest of the
# library calls of it is then in files called NoLanguageModels.cpp.
unset(ANEC_HUGGINGFACE CACHE)
set(ANEC_HUGGINGFACE OFF CACHE INTERNAL "")
if(NOT ANEC_LANGUAGE_MODELS)
  target_compile_definitions(anec PUBLIC ANEC_NO_LANGUAGE_MODELS)
  anec_component_sources(anec ${CMAKE_CURRENT_SOURCE_DIR}/API/NoLanguageModels.cpp)
  return()
endif()

target_sources(anec PRIVATE
  Generate/CalibrationTexts.cpp
  Generate/ChatSession.cpp
  Generate/Continuation.cpp
  Generate/Decode/BatchedModel.cpp
  Generate/Decode/DecodeEntry.cpp
  Generate/Decode/StatefulModel.cpp
  Generate/Draft.cpp
  Generate/Evaluate/Evaluate.cpp
  Generate/Evaluate/PrintEvaluation.cpp
  Generate/GenerateJson.cpp
  Generate/GenerationConfig.cpp
  Generate/Generator.cpp
  Generate/IncrementalModel.cpp
  Generate/OpenTextModel.cpp
  Generate/Prompts.cpp
  Generate/Sampler.cpp
  Generate/SamplingFilters.cpp
  Generate/SessionText.cpp
  Generate/SlidingWindow.cpp
  Generate/StopTexts.cpp
  Generate/TextModel.cpp
  Generate/TrainedModel.cpp
  Generate/WholeForwardModel.cpp
  Import/ConfigReader.cpp
  Import/ConfigText.cpp
  Import/Convert.cpp
  Import/DecoderFacts.cpp
  Import/Export.cpp
  Import/ExportGguf.cpp
  Import/ExportedWeights.cpp
  Import/Families.cpp
  Import/FolderModel.cpp
  Import/Gemma.cpp
  Import/GgufConfig.cpp
  Import/GgufModel.cpp
  Import/GgufRotary.cpp
  Import/GgufTokenizer.cpp
  Import/GgufTokenizerJson.cpp
  Import/Gpt2.cpp
  Import/Import.cpp
  Import/ImportedWeights.cpp
  Import/LayerCalls.cpp
  Import/Llama.cpp
  Import/Llama2cModel.cpp
  Import/LlamaConfig.cpp
  Import/LlamaHints.cpp
  Import/LlamaReader.cpp
  Import/LlamaWeights.cpp
  Import/LlamaWriter.cpp
  Import/ModelCache.cpp
  Import/NeutralKeys.cpp
  Import/Phi.cpp
  Import/ProgramText.cpp
  Import/TextModel.cpp
  Import/Weights.cpp
  Serve/CompletionJson.cpp
  Serve/CompletionRequest.cpp
  Serve/TextService.cpp
  Text/ChatMessages.cpp
  Text/Llama2cTokenizer.cpp
  Text/SentencePiece/Bpe.cpp
  Text/SentencePiece/Encoders.cpp
  Text/SentencePiece/Model.cpp
  Text/SentencePiece/Normalizer.cpp
  Text/SentencePiece/Tokenizer.cpp
  Text/SentencePiece/Unigram.cpp
  Text/TokenFiles.cpp
  Text/Tokenizer.cpp
  Text/Training/ChatData.cpp
  Text/Training/ChatExamples.cpp
  Text/Training/Conversations.cpp
  Text/Training/Encode.cpp
)
add_subdirectory(Text)
