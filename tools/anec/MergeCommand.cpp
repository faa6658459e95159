//===- MergeCommand.cpp - anec merge PACKAGE ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandTable.h"
#include "anec/Package/MergeAdapters.h"
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
  cl::opt<std::string> output{"o", cl::value_desc("FILE.safetensors"),
                              cl::desc("The file to write")};
};
} // namespace

ExitCode Merge::run(const Invocation &call) {
  if (package.empty() || adapter.empty() || output.empty())
    return call.usageError("merge takes a package, --adapter and -o; see anec "
                           "merge --help");
  if (llvm::sys::path::extension(output) != ".safetensors")
    return call.usageError("-o takes FILE.safetensors, not `" + output + "`");
  return runReporting([&](Diagnostics &diags) {
    std::optional<ModelPackage> compiled =
        readPackage(package, diags, PackageCheck::Presence);
    WeightOptions options;
    options.source = weights;
    options.mapping = mapping;
    options.adapter = adapter;
    return compiled && mergeAdapters(*compiled, options, output, diags);
  });
}

constinit const CommandDef commands::Merge = {
    .name = "merge",
    .group = commands::programs,
    .summary = "Add trained adapters to the weights that they belong to",
    .synopsis = "MODEL.anepkg",
    .examples =
        R"(  anec merge tune.anepkg --weights=base.safetensors --adapter=run/best -o merged.safetensors
)",
    .make = makeCommand<::Merge>,
};
