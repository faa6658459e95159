//===- DifferenceReport.cpp - differences of programs as text -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Report/DifferenceReport.h"
#include "anec/IR/OpDef.h"
#include "anec/MIL/Spelling.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

/// Prints `` `y` = relu: tensor<fp16, [1, 8]> ``.
static void printOp(const Op &op, llvm::raw_ostream &out) {
  llvm::interleaveComma(op.resultValues(), out, [&](const Value *result) {
    out << '`' << result->name << '`';
  });
  out << (op.numResults() ? " = " : "") << op.def().name << ": ";
  llvm::interleaveComma(op.resultValues(), out, [&](const Value *result) {
    out << mil::spellType(result->type);
  });
}

/// Prints the place of a difference, as `` `y` (conv) strides ``. When the
/// names differ, prints that of the left program.
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

static void printDifference(const Difference &difference,
                            llvm::raw_ostream &out) {
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

void anec::printDifferences(llvm::ArrayRef<Difference> differences,
                            llvm::StringRef left, llvm::StringRef right,
                            llvm::raw_ostream &out) {
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
    printDifference(difference, out);
  }
}
