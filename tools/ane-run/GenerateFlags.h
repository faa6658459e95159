//===- GenerateFlags.h - flags of generate ----------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_GENERATEFLAGS_H
#define ANEC_TOOLS_ANE_RUN_GENERATEFLAGS_H

#include "../NumberFlag.h"
#include "TemplateFlags.h"
#include "anec/Generate/Generate.h"
#include "lib/Generate/TrainedModel.h"
#include "llvm/Support/CommandLine.h"

namespace anec {

/// Whether `path` is a program, MIL or of Core ML, and no package of anec.
bool isProgram(llvm::StringRef path);

/// Which model writes, and where its weights come from.
struct ModelFlags {
  /// The error in the flags; empty when they are valid.
  std::string check() const;
  TrainedModelSource source() const;

  llvm::cl::opt<std::string> package{llvm::cl::Positional};
  llvm::cl::opt<std::string> function{
      "function", llvm::cl::value_desc("NAME"),
      llvm::cl::desc("The function of the package, if it has several")};
  llvm::cl::opt<std::string> checkpoint{
      "checkpoint", llvm::cl::value_desc("DIR"),
      llvm::cl::desc(
          "The folder of a training run, for its newest checkpoint, or a "
          "checkpoint in it, such as DIR/best: its weights and tokenizer")};
  llvm::cl::opt<std::string> weights{
      "weights", llvm::cl::value_desc("FILE|FOLDER"),
      llvm::cl::desc(
          "The weights: a .safetensors or .gguf file, a .bin file of "
          "llama2.c, a folder of .npy files, or of .safetensors files with "
          "their index (default: those in the package)")};
  llvm::cl::opt<std::string> mapping{
      "weight-map", llvm::cl::value_desc("FILE.json"),
      llvm::cl::desc(
          "A JSON object that maps names of weights to names in --weights")};
  llvm::cl::opt<std::string> adapter{
      "adapter", llvm::cl::value_desc("FILE"),
      llvm::cl::desc("Adapters beside the weights: a .safetensors file")};
  llvm::cl::opt<std::string> tokenizer{
      "tokenizer", llvm::cl::value_desc("FILE"),
      llvm::cl::desc(
          "A tokenizer.json or its folder, a SentencePiece .model, or "
          "llama2.c's tokenizer.bin; `bytes`: each byte is a token (default "
          "for vocabularies up to 256)")};
};

/// What is to be continued.
struct PromptFlags {
  std::string check() const;
  /// Whether texts are given, which need a tokenizer.
  bool hasText() const { return !ids.getNumOccurrences(); }

  llvm::cl::opt<std::string> text{"prompt", llvm::cl::value_desc("TEXT"),
                                  llvm::cl::desc("The text to continue")};
  llvm::cl::opt<std::string> file{
      "prompt-file", llvm::cl::value_desc("FILE"),
      llvm::cl::desc("A file with the text to continue; - for standard input")};
  llvm::cl::opt<std::string> ids{
      "prompt-ids", llvm::cl::value_desc("N,N,..."),
      llvm::cl::desc("The token ids to continue; without --tokenizer, ids are "
                     "printed")};
  llvm::cl::opt<std::string> several{
      "prompts", llvm::cl::value_desc("FILE"),
      llvm::cl::desc("A file with a prompt in each line: a text, or JSON as "
                     "{\"prompt\": \"...\", \"seed\": 1}")};
  llvm::cl::opt<bool> markBeginning{
      "bos",
      llvm::cl::desc("Start prompts with the tokenizer's beginning-of-text "
                     "id, which many models are trained with (default with a "
                     "FOLDER or a GGUF file: as its tokenizer says)")};
};

/// How tokens are chosen, and when a text ends.
struct SamplingFlags {
  std::string check() const;
  /// Sets `options` to what the flags say, without `endIds`. What no flag says
  /// is as the generation_config.json in the folder `model` has it, if `model`
  /// is a folder that is imported.
  [[nodiscard]] bool apply(llvm::StringRef model, GenerateOptions &options,
                           Diagnostics &diags) const;
  [[nodiscard]] bool addEnds(GenerateOptions &options,
                             Diagnostics &diags) const;

  WholeFlag<unsigned> tokens{
      "tokens", llvm::cl::value_desc("N"), llvm::cl::init(100),
      llvm::cl::desc("Maximum number of new tokens (default 100)")};
  NumberFlag temperature{
      "temperature", llvm::cl::value_desc("T"), llvm::cl::init(1),
      llvm::cl::desc("Sampling temperature; 0 always selects the most likely "
                     "token (default: that of a FOLDER's "
                     "generation_config.json, which also gives top-k, top-p, "
                     "min-p and the repeat penalty; or else 1)")};
  WholeFlag<unsigned> topK{
      "top-k", llvm::cl::value_desc("K"), llvm::cl::init(0),
      llvm::cl::desc("Sample from the K most likely tokens (default 0: all)")};
  NumberFlag topP{
      "top-p", llvm::cl::value_desc("P"), llvm::cl::init(0.9),
      llvm::cl::desc("Sample from the most likely tokens whose probabilities "
                     "add up to P (default 0.9)")};
  NumberFlag minP{
      "min-p", llvm::cl::value_desc("P"), llvm::cl::init(0),
      llvm::cl::desc("Sample from tokens that are at least P times as likely "
                     "as the most likely one (default 0: all)")};
  NumberFlag repeatPenalty{
      "repeat-penalty", llvm::cl::value_desc("F"), llvm::cl::init(1),
      llvm::cl::desc("Divide the positive logits, and multiply others, of "
                     "recent tokens by F (default 1: nothing)")};
  WholeFlag<unsigned> repeatWindow{
      "repeat-window", llvm::cl::value_desc("N"), llvm::cl::init(64),
      llvm::cl::desc("How many tokens are recent for --repeat-penalty "
                     "(default 64; 0: the whole text)")};
  WholeFlag<uint64_t> seed{
      "seed", llvm::cl::value_desc("N"), llvm::cl::init(0),
      llvm::cl::desc("Seed of the sampling; prompt n of --prompts, from 0 on, "
                     "has N + n (default 0)")};
  llvm::cl::opt<std::string> endIds{
      "end-ids", llvm::cl::value_desc("N,N,..."),
      llvm::cl::desc("Token ids that end a text, besides the tokenizer's")};
  llvm::cl::list<std::string> stops{
      "stop", llvm::cl::value_desc("TEXT"),
      llvm::cl::desc("End before this text; can be repeated")};

private:
  /// What flags say, in the place of `options`.
  void override(SamplingOptions &options) const;
};

/// A draft for speculative decoding.
struct DraftFlags {
  std::string check() const;
  bool isGiven() const { return draft.getNumOccurrences() > 0; }
  bool isLookup() const { return draft == "lookup"; }
  TrainedModelSource source() const;

  llvm::cl::opt<std::string> draft{
      "draft", llvm::cl::value_desc("MODEL|lookup"),
      llvm::cl::desc("Guess tokens with a smaller model, or what followed the "
                     "last tokens before, and let the model verify them")};
  WholeFlag<unsigned> tokens{
      "draft-tokens", llvm::cl::value_desc("N"), llvm::cl::init(4),
      llvm::cl::desc("Guesses in each step (default 4)")};
  llvm::cl::opt<std::string> checkpoint{
      "draft-checkpoint", llvm::cl::value_desc("DIR"),
      llvm::cl::desc("As --checkpoint, for the draft")};
  llvm::cl::opt<std::string> weights{
      "draft-weights", llvm::cl::value_desc("FILE|FOLDER"),
      llvm::cl::desc("As --weights, for the draft")};
};

/// A conversation.
struct ChatFlags {
  std::string check(const PromptFlags &prompt) const;
  bool isGiven() const { return chat || messages.getNumOccurrences(); }

  llvm::cl::opt<bool> chat{
      "chat", llvm::cl::desc("Answer the lines of standard input, one after "
                             "the other, as a conversation")};
  llvm::cl::opt<std::string> messages{
      "messages", llvm::cl::value_desc("FILE.json"),
      llvm::cl::desc("Answer a conversation: [{\"role\": \"user\", "
                     "\"content\": ..}, ..]")};
  llvm::cl::opt<std::string> system{
      "system", llvm::cl::value_desc("TEXT"),
      llvm::cl::desc("What the system says at the beginning of a "
                     "conversation")};
  TemplateFlags form;
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_GENERATEFLAGS_H
