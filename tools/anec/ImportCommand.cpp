//===- ImportCommand.cpp - anec import FOLDER|FILE ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../ChoiceFlag.h"
#include "../NumberFlag.h"
#include "CommandTable.h"
#include "lib/Import/Import.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

class Import : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  cl::opt<std::string> input{cl::Positional};
  cl::opt<std::string> output{
      "o", cl::value_desc("MODEL.tdsl"),
      cl::desc("The program; MODEL.names.json beside it maps the names of its "
               "weights")};
  WholeFlag<int64_t> positions{
      "seq", cl::value_desc("N"), cl::init(0),
      cl::desc("Positions of the program, which `--define seq=N` changes later "
               "(default: 256, or all of the model)")};
  ChoiceFlag<DType> floats{
      "float", cl::desc("Element type of the program:"), cl::init(DType::FP16),
      cl::values(clEnumValN(DType::FP16, "fp16",
                            "half precision, as the engine computes (default)"),
                 clEnumValN(DType::FP32, "fp32", "single precision"))};
  cl::list<std::string> ignored{
      "ignore-key", cl::value_desc("NAME"),
      cl::desc("Import the model as if config.json, or the metadata of a GGUF "
               "file, did not have this key")};
  cl::opt<std::string> tokenizer{
      "write-tokenizer", cl::value_desc("FOLDER"),
      cl::desc("Write the tokenizer of a GGUF file to FOLDER, as "
               "tokenizer.json")};
};

} // namespace

ExitCode Import::run(const Invocation &call) {
  if (input.empty() || output.empty())
    return call.usageError("import takes a model and -o; see anec import "
                           "--help");
  if (!llvm::StringRef(output).ends_with(".tdsl"))
    return call.usageError("-o takes a file that ends in .tdsl, not `" +
                           output + "`");
  if (positions.getNumOccurrences() && (positions < 1 || positions > INT32_MAX))
    return call.usageError("--seq takes 1 to 2147483647");
  ImportOptions options;
  options.positions = positions;
  options.floats = floats;
  options.ignoredKeys = ignored;
  options.tokenizer = tokenizer;
  return runReporting([&](Diagnostics &diags) {
    return importModel(input, output, options, diags);
  });
}

constinit const CommandDef commands::Import = {
    .name = "import",
    .group = commands::programs,
    .summary = "Write the program of a language model that others trained",
    .synopsis = "FOLDER|MODEL.gguf|MODEL.bin",
    .details =
        "  FOLDER has config.json and the weights, model.safetensors or "
        "shards of it;\n  MODEL.gguf is a file of llama.cpp, and MODEL.bin a "
        "checkpoint of llama2.c.\n  docs/use/import.md lists the families of "
        "models.\n",
    .examples = R"(  anec import Qwen3-0.6B -o qwen3.tdsl
  anec qwen3.tdsl --weights=Qwen3-0.6B --forward-only -o qwen3.anepkg
  anec import Qwen3-0.6B-Q4_K_M.gguf -o qwen3.tdsl --write-tokenizer=words
  anec qwen3.tdsl --weights=Qwen3-0.6B-Q4_K_M.gguf --decode -o qwen3.anepkg
  ane-run generate qwen3.anepkg --tokenizer=Qwen3-0.6B/tokenizer.json --prompt="The"
)",
    .make = makeCommand<::Import>,
};
