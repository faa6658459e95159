//===- ConvertCommand.cpp - anec convert WEIGHTS --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../ChoiceFlag.h"
#include "../DefineFlag.h"
#include "CommandTable.h"
#include "ModelFolderFlags.h"
#include "lib/Import/Convert.h"
#include "lib/Support/Endings.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

/// A flag that takes the name of a format of weights.
class FormatFlag : public ChoiceFlag<WeightFormat> {
public:
  FormatFlag(llvm::StringRef name, llvm::StringRef description)
      : opt(name, cl::desc(description),
            cl::values(choiceOf(WeightFormat::Anec, "attention.3.wq, ..."),
                       choiceOf(WeightFormat::HuggingFace,
                                "model.layers.3.self_attn.q_proj.weight, ..."),
                       choiceOf(WeightFormat::Llama2c, "llama2.c's file"))) {}
};

/// The same, of a format to read.
class SourceFormatFlag : public FormatFlag {
public:
  SourceFormatFlag(llvm::StringRef name, llvm::StringRef description)
      : FormatFlag(name, description) {
    getParser().addLiteralOption(spelling(WeightFormat::Gguf),
                                 WeightFormat::Gguf, "a GGUF file of a Llama");
  }
};

class Convert : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  ConvertRequest request() const;

  cl::opt<std::string> input{cl::Positional};
  cl::opt<std::string> output{
      "o", cl::value_desc("FILE|FOLDER"),
      cl::desc(
          "The output: a .bin file for llama2.c, a folder for Hugging Face "
          "with config.json, or with --like a GGUF file")};
  SourceFormatFlag from{"from",
                        "The format of the weights (default: detected):"};
  FormatFlag to{"to", "The format to write (default: anec, except for .bin "
                      "files and folders):"};
  cl::opt<std::string> config{
      "config", cl::value_desc("MODEL.tdsl|.anepkg"),
      cl::desc("The model of the weights, which gives the number of heads; its "
               "sizes must match those of the weights")};
  cl::opt<std::string> model{
      "model", cl::value_desc("NAME"),
      cl::desc("The model of --config, if it has several")};
  DefineFlag defines;
  cl::opt<std::string> names{
      "weight-map", cl::value_desc("MODEL.names.json"),
      cl::desc("The map that `anec import` wrote: writes a Hugging Face folder "
               "with the names and the config.json that were imported")};
  cl::opt<std::string> like{
      "like", cl::value_desc("MODEL.gguf"),
      cl::desc("With --weight-map: the GGUF file that the model was imported "
               "from, whose metadata and tokenizer the output gets")};
  ModelFolderFlags folder;
};

} // namespace

ConvertRequest Convert::request() const {
  ConvertRequest made{.input = input, .output = output};
  if (from.getNumOccurrences())
    made.from = from.getValue();
  if (to.getNumOccurrences())
    made.to = to.getValue();
  made.config = config;
  made.model = model;
  made.read.defines = defines.pairs();
  made.mapping = names;
  made.like = like;
  made.folder = folder.options();
  return made;
}

ExitCode Convert::run(const Invocation &call) {
  if (input.empty() || output.empty())
    return call.usageError("convert takes weights and -o; see anec convert "
                           "--help");
  // A folder can have any name; a mistyped file must not become one.
  constexpr llvm::StringRef files[] = {".bin", ".gguf", ".safetensors"};
  if (!closestEnding(output, files).empty())
    return call.usageError("-o: " + wrongEnding(output, files));
  if (llvm::StringRef(output).ends_with(".gguf") && like.empty())
    return call.usageError(
        "-o FILE.gguf needs --weight-map and --like=MODEL.gguf, "
        "whose metadata and tokenizer the file gets");
  if (std::string wrong = defines.check(); !wrong.empty())
    return call.usageError(wrong);
  if (names.empty() && !like.empty())
    return call.usageError("--like is for --weight-map");
  if (std::string wrong = folder.check(); !wrong.empty())
    return call.usageError(wrong);
  if (folder.isGiven() && !request().writesFolder())
    return call.usageError(
        like.empty() ? "--tokenizer and --shard-size are for -o FOLDER"
                     : "--tokenizer and --shard-size are for -o FOLDER; a GGUF "
                       "file has the tokenizer of --like");
  bool hasOthers = !config.empty() || !model.empty() ||
                   from.getNumOccurrences() || to.getNumOccurrences();
  if (!names.empty() && hasOthers)
    return call.usageError("--weight-map says the model and both formats, "
                           "without --config, --model, --from and --to");
  return runReporting(
      [&](Diagnostics &diags) { return convertWeights(request(), diags); });
}

constinit const CommandDef commands::Convert = {
    .name = "convert",
    .group = commands::programs,
    .summary = "Convert weights to another format",
    .synopsis = "WEIGHTS.safetensors|.bin|.gguf|FOLDER|RUN",
    .examples = R"(  anec convert stories15M.bin -o stories15M.safetensors
  anec convert llama.safetensors --config=llama.tdsl -o folder
  anec convert llama-Q8_0.gguf -o folder
  anec convert run/best --weight-map=qwen3.names.json -o folder
  anec convert run/best --weight-map=qwen3.names.json --like=Qwen3-Q8_0.gguf -o mine.gguf
  anec convert run/best -o mine.bin           a checkpoint, or the newest of `run`
)",
    .make = makeCommand<::Convert>,
};
