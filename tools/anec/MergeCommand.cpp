//===- MergeCommand.cpp - anec merge PACKAGE ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandTable.h"
#include "ModelFolderFlags.h"
#include "lib/Package/MergeAdapters.h"
#include "lib/Support/Endings.h"
#include "llvm/Support/Path.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Merge : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  cl::opt<std::string> package{cl::Positional};
  cl::opt<std::string> weights{
      "weights", cl::value_desc("FILE|FOLDER"),
      cl::desc("The weights that the adapters belong to: a .safetensors file, "
               "or a folder of them (default: those in the package)")};
  cl::opt<std::string> mapping{
      "weight-map", cl::value_desc("FILE.json"),
      cl::desc("A JSON object that maps names of weights to names in "
               "--weights")};
  cl::opt<std::string> adapter{
      "adapter", cl::value_desc("FILE|FOLDER"),
      cl::desc("The adapters: a .safetensors file, or a checkpoint")};
  cl::opt<std::string> output{
      "o", cl::value_desc("FOLDER|FILE"),
      cl::desc("The output: a folder like that of --weights, with its "
               "config.json and tokenizer, a GGUF file like that of --weights, "
               "or a .safetensors file with the arrays alone")};
  ModelFolderFlags folder;
};
} // namespace

ExitCode Merge::run(const Invocation &call) {
  if (package.empty() || adapter.empty() || output.empty())
    return call.usageError("merge takes a package, --adapter and -o; see anec "
                           "merge --help");
  constexpr llvm::StringRef files[] = {".gguf", ".safetensors"};
  // A folder can have any name; a mistyped file must not become one.
  if (!closestEnding(output, files).empty())
    return call.usageError("-o: " + wrongEnding(output, files));
  if (std::string wrong = folder.check(); !wrong.empty())
    return call.usageError(wrong);
  if (folder.isGiven() &&
      llvm::is_contained(files, llvm::sys::path::extension(output)))
    return call.usageError("--tokenizer and --shard-size are for -o FOLDER");
  return runReporting([&](Diagnostics &diags) {
    std::optional<ModelPackage> compiled =
        readPackage(package, diags, PackageCheck::Presence);
    WeightOptions options;
    options.source = weights;
    options.mapping = mapping;
    options.adapter = adapter;
    options.program = package;
    return compiled &&
           mergeAdapters(*compiled, options, output, folder.options(), diags);
  });
}

constinit const CommandDef commands::Merge = {
    .name = "merge",
    .group = commands::programs,
    .summary = "Add trained adapters to the weights that they belong to",
    .synopsis = "MODEL.anepkg",
    .examples =
        R"(  anec merge tune.anepkg --weights=base.safetensors --adapter=run/best -o merged.safetensors
  anec merge tune.anepkg --weights=Qwen3-0.6B --adapter=run/best -o mine
  anec merge tune.anepkg --weights=Qwen3-Q8_0.gguf --adapter=run/best -o mine.gguf
)",
    .make = makeCommand<::Merge>,
};
