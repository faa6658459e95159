//===- DifferenceReport.cpp - differences of programs as text -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/DifferenceReport.h"
#include "FindingText.h"
#include "lib/IR/OpDef.h"
#include "lib/MIL/Spelling.h"
#include "lib/Support/ShownText.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace anec;

/// Prints `` `y` = relu: tensor<fp16, [1, 8]> ``.
static void printOp(const Op &op, llvm::raw_ostream &out) {
  llvm::interleaveComma(op.resultValues(), out, [&](const Value *result) {
    out << '`' << showText(result->name) << '`';
  });
  out << (op.numResults() ? " = " : "") << op.def().name << ": ";
  llvm::interleaveComma(op.resultValues(), out, [&](const Value *result) {
    out << mil::spellType(result->type);
  });
}

/// Prints the place of a difference, as `` `y` (conv) strides ``. When the
/// names differ, prints that of the left program.
static void printDifferencePlace(const Difference &difference,
                                 llvm::raw_ostream &out) {
  if (const Op *op = difference.left) {
    if (op->numResults())
      out << '`' << showText(op->result()->name) << "` (" << op->def().name
          << ") ";
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

void anec::printDifference(const Difference &difference,
                           llvm::raw_ostream &out) {
  switch (difference.kind) {
  case Difference::FunctionMissing:
    out << (difference.rightText.empty() ? "- " : "+ ") << "func "
        << showText(difference.function);
    break;
  case Difference::OpMissing:
    out << (difference.left ? "- " : "+ ");
    printOp(difference.left ? *difference.left : *difference.right, out);
    break;
  case Difference::Weights:
    out << "! ";
    printDifferencePlace(difference, out);
    printArrays(difference.values, out);
    break;
  case Difference::Signature:
  case Difference::ResultType:
  case Difference::Argument:
    out << "! ";
    printDifferencePlace(difference, out);
    auto text = [](llvm::StringRef side) {
      return side.empty() ? llvm::StringRef("none") : side;
    };
    out << showText(text(difference.leftText)) << " -> "
        << showText(text(difference.rightText));
    break;
  }
  out << '\n';
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

static void printPrograms(llvm::StringRef left, llvm::StringRef right,
                          llvm::raw_ostream &out) {
  out << "--- " << showText(left) << "\n+++ " << showText(right) << '\n';
}

void anec::printDifferences(llvm::ArrayRef<Difference> differences,
                            llvm::StringRef left, llvm::StringRef right,
                            llvm::raw_ostream &out) {
  if (differences.empty())
    return;
  printPrograms(left, right, out);
  llvm::StringRef function;
  for (const Difference &difference : differences) {
    if (difference.kind != Difference::FunctionMissing &&
        difference.function != function) {
      function = difference.function;
      out << "func " << showText(function) << '\n';
    }
    printDifference(difference, out);
  }
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

namespace {
/// Ops by how they differ. An op with several differences counts once.
struct DifferenceCounts {
  llvm::DenseSet<const Op *> onlyLeft, onlyRight, changed, weights;

  void add(const Difference &difference) {
    switch (difference.kind) {
    case Difference::OpMissing:
      (difference.left ? onlyLeft : onlyRight)
          .insert(difference.left ? difference.left : difference.right);
      break;
    case Difference::Weights:
      weights.insert(difference.left);
      break;
    case Difference::ResultType:
    case Difference::Argument:
      changed.insert(difference.left);
      break;
    case Difference::FunctionMissing:
    case Difference::Signature:
      break;
    }
  }
};
} // namespace

static void printCounts(llvm::StringRef what, size_t width,
                        const DifferenceCounts &counts,
                        llvm::raw_ostream &out) {
  out << "  " << llvm::left_justify(what, width);
  auto print = [&](const llvm::DenseSet<const Op *> &ops, const char *kind) {
    out << llvm::format("%8zu %s", ops.size(), kind);
  };
  print(counts.onlyLeft, "removed");
  print(counts.onlyRight, "added");
  print(counts.changed, "changed");
  print(counts.weights, "with other weights");
  out << '\n';
}

void anec::printDifferenceCounts(llvm::ArrayRef<Difference> differences,
                                 llvm::StringRef left, llvm::StringRef right,
                                 llvm::raw_ostream &out) {
  if (differences.empty())
    return;
  printPrograms(left, right, out);
  struct FunctionCounts {
    std::map<llvm::StringRef, DifferenceCounts> ofKind;
    size_t interface = 0;
    llvm::StringRef missing;
  };
  llvm::MapVector<llvm::StringRef, FunctionCounts> functions;
  DifferenceCounts all;
  size_t width = llvm::StringRef("in all").size();
  for (const Difference &difference : differences) {
    FunctionCounts &counts = functions[difference.function];
    const Op *op = difference.left ? difference.left : difference.right;
    if (difference.kind == Difference::FunctionMissing)
      counts.missing = difference.leftText.empty() ? "added" : "removed";
    else if (!op)
      ++counts.interface;
    if (!op)
      continue;
    width = std::max(width, op->def().name.size());
    counts.ofKind[op->def().name].add(difference);
    all.add(difference);
  }
  for (const auto &[name, counts] : functions) {
    out << "func " << showText(name);
    if (!counts.missing.empty())
      out << ": " << counts.missing;
    if (counts.interface) {
      out << ": ";
      printCount(out, counts.interface, "difference");
      out << " of inputs, outputs or opset";
    }
    out << '\n';
    for (const auto &[kind, ofKind] : counts.ofKind)
      printCounts(kind, width, ofKind, out);
  }
  printCounts("in all", width, all, out);
}
