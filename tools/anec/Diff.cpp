//===- Diff.cpp - anec diff LEFT RIGHT ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Diff.h"
#include "../ExitCode.h"
#include "Flags.h"
#include "anec/Formats/Source.h"
#include "anec/Report/DifferenceReport.h"
#include "anec/anec.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

cl::SubCommand command("diff", "Print what differs between two programs");
cl::list<std::string> paths(cl::Positional, cl::desc("LEFT RIGHT"),
                            cl::sub(command), cl::cat(anecCategory()));
cl::opt<bool>
    ignoreWeights("ignore-weights",
                  cl::desc("Compare weights by type alone; their files need "
                           "not be there"),
                  cl::sub(command), cl::cat(anecCategory()));

} // namespace

void anec::hideFlagsInDiff() {
  cl::HideUnrelatedOptions(anecCategory(), command);
}

/// Prints what differs between the programs at `left` and `right`, and returns
/// whether nothing does; nothing when one of them cannot be read.
static std::optional<bool> diffPrograms(llvm::StringRef left,
                                        llvm::StringRef right,
                                        llvm::raw_ostream &out,
                                        Diagnostics &diags) {
  CompileOptions options;
  if (ignoreWeights)
    options.missingWeights = MILReadOptions::MissingWeights::Warn;
  std::unique_ptr<Module> leftModule = readSourceFile(left, options, diags);
  std::unique_ptr<Module> rightModule = readSourceFile(right, options, diags);
  if (!leftModule || !rightModule)
    return std::nullopt;
  std::vector<Difference> differences =
      compareModules(*leftModule, *rightModule, {ignoreWeights});
  printDifferences(differences, left, right, out);
  return differences.empty();
}

/// As diff does it: 0 nothing differs, 1 something does, 2 there is no telling.
std::optional<int> anec::runDiffCommand() {
  if (!command)
    return std::nullopt;
  if (paths.size() != 2)
    return usageError("anec", "diff takes two programs; see anec diff --help");
  for (const std::string &path : paths)
    if (sourceFormat(path).stage == SourceStage::Package)
      return usageError("anec",
                        "diff takes programs, and `" + path + "` is a package");
  Diagnostics diags;
  std::optional<bool> same =
      diffPrograms(paths[0], paths[1], llvm::outs(), diags);
  finishOutput(diags);
  diags.print(llvm::errs(), llvm::errs().has_colors());
  if (exitCode(true, diags) == MachineError)
    return MachineError;
  return !same ? UsageError : *same ? 0 : 1;
}
