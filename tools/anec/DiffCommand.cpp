//===- DiffCommand.cpp - anec diff LEFT RIGHT -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../PartFlag.h"
#include "../ShapeFlag.h"
#include "CommandTable.h"
#include "anec/Formats/Source.h"
#include "lib/Report/DifferenceReport.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Diff : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  std::optional<bool> compare(Diagnostics &diags);

  cl::list<std::string> paths{cl::Positional};
  cl::opt<bool> ignoreWeights{
      "ignore-weights",
      cl::desc(
          "Compare only the types of weights; weight files can be missing")};
  cl::opt<bool> stat{
      "stat", cl::desc("Print how many ops of each kind differ, instead of "
                       "each difference")};
  ShapeFlag shapes{"The shape of an input of MIL with unknown extents, in both "
                   "programs"};
  PartFlag part{
      "Of pipelines of Core ML models, only the program of this part, "
      "from 0, in both (default: all)"};
};
} // namespace

/// Prints the differences, and returns whether there are none; returns nothing,
/// with the reason reported, when a program cannot be read.
std::optional<bool> Diff::compare(Diagnostics &diags) {
  ReadOptions options;
  options.shapes = shapes.values();
  options.part = part.value();
  if (ignoreWeights)
    options.missingWeights = MILReadOptions::MissingWeights::Warn;
  std::unique_ptr<Module> left = readSourceFile(paths[0], options, diags);
  std::unique_ptr<Module> right = readSourceFile(paths[1], options, diags);
  if (!left || !right)
    return std::nullopt;
  std::vector<Difference> differences =
      compareModules(*left, *right, {ignoreWeights});
  (stat ? printDifferenceCounts : printDifferences)(differences, paths[0],
                                                    paths[1], llvm::outs());
  return differences.empty();
}

/// Exits as diff(1): 0 no difference, 1 differences, 2 nothing was compared.
ExitCode Diff::run(const Invocation &call) {
  if (paths.size() != 2)
    return call.usageError("diff takes two programs; see anec diff --help");
  if (std::string wrong = shapes.check(); !wrong.empty())
    return call.usageError(wrong);
  for (const std::string &path : paths)
    if (sourceFormat(path).stage == SourceStage::Package)
      return call.usageError("diff takes programs, and `" + path +
                             "` is a package");
  std::optional<bool> same;
  ExitCode code = runReporting([&](Diagnostics &diags) {
    same = compare(diags);
    return true;
  });
  if (code == MachineError)
    return MachineError;
  return !same ? UsageError : *same ? Done : InputError;
}

constinit const CommandDef commands::Diff = {
    .name = "diff",
    .group = commands::programs,
    .summary = "Print the differences between two programs",
    .synopsis = "LEFT RIGHT",
    .exits =
        "0 no differences, 1 differences, 2 wrong usage, or a program that "
        "cannot\n  be read, 3 system failure",
    .examples = R"(  anec diff old.mil new.mil
  anec diff --stat old.mil new.mil                 how many ops differ
  anec diff --ignore-weights model.mlmodelc model.mil
)",
    .make = makeCommand<::Diff>,
};
