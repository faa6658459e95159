//===- Diff.cpp - anec diff LEFT RIGHT ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Diff.h"
#include "../ExitCode.h"
#include "Flags.h"
#include "anec/IR/OpDef.h"
#include "anec/MIL/Compare.h"
#include "anec/MIL/Spelling.h"
#include "anec/anec.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

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

/// `` `y` = relu: tensor<fp16, [1, 8]> ``.
static void printOp(const Op &op, llvm::raw_ostream &out) {
  llvm::interleaveComma(op.resultValues(), out, [&](const Value *result) {
    out << '`' << result->name << '`';
  });
  out << (op.numResults() ? " = " : "") << op.def().name << ": ";
  llvm::interleaveComma(op.resultValues(), out, [&](const Value *result) {
    out << mil::spellType(result->type);
  });
}

/// What both programs have: `` `y` (conv) strides ``. When the names differ,
/// that of the left.
static void printPlace(const Difference &difference, llvm::raw_ostream &out) {
  if (const Op *op = difference.left) {
    if (op->numResults())
      out << '`' << op->result()->name << "` (" << op->def().name << ") ";
    else
      out << op->def().name << ' ';
  }
  out << difference.part << ": ";
}

static void printArrays(const ArrayDifference &values, llvm::raw_ostream &out) {
  out << llvm::format("%lld of %lld elements differ, by %.4g at most, relative "
                      "%.4g",
                      static_cast<long long>(values.differing),
                      static_cast<long long>(values.elements), values.absolute,
                      values.relative);
}

/// One line: `-` for what only the left has, `+` for what only the right has,
/// `!` for what differs.
static void print(const Difference &difference, llvm::raw_ostream &out) {
  switch (difference.kind) {
  case Difference::FunctionMissing:
    out << (difference.rightText.empty() ? "- " : "+ ") << "func "
        << difference.function;
    break;
  case Difference::OpMissing:
    out << (difference.left ? "- " : "+ ");
    printOp(difference.left ? *difference.left : *difference.right, out);
    break;
  case Difference::Weights:
    out << "! ";
    printPlace(difference, out);
    printArrays(difference.values, out);
    break;
  case Difference::Signature:
  case Difference::ResultType:
  case Difference::Argument:
    out << "! ";
    printPlace(difference, out);
    auto text = [](llvm::StringRef side) {
      return side.empty() ? llvm::StringRef("none") : side;
    };
    out << text(difference.leftText) << " -> " << text(difference.rightText);
    break;
  }
  out << '\n';
}

static void print(llvm::ArrayRef<Difference> differences, llvm::StringRef left,
                  llvm::StringRef right, llvm::raw_ostream &out) {
  if (differences.empty())
    return;
  out << "--- " << left << "\n+++ " << right << '\n';
  llvm::StringRef function;
  for (const Difference &difference : differences) {
    if (difference.kind != Difference::FunctionMissing &&
        difference.function != function) {
      function = difference.function;
      out << "func " << function << '\n';
    }
    print(difference, out);
  }
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
  print(differences, left, right, out);
  return differences.empty();
}

/// As diff does it: 0 nothing differs, 1 something does, 2 there is no telling.
std::optional<int> anec::runDiffCommand() {
  if (!command)
    return std::nullopt;
  if (paths.size() != 2)
    return usageError("anec", "diff takes two programs; see anec diff --help");
  Diagnostics diags;
  std::optional<bool> same =
      diffPrograms(paths[0], paths[1], llvm::outs(), diags);
  finishOutput(diags);
  diags.print(llvm::errs(), llvm::errs().has_colors());
  if (exitCode(true, diags) == MachineError)
    return MachineError;
  return !same ? UsageError : *same ? 0 : 1;
}
