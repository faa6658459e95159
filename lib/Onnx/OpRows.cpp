//===- OpRows.cpp - the table of operators --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "anec/Onnx/Operators.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::onnx;

/// The rows of all families, sorted.
static std::vector<OpRow> collect() {
  std::vector<OpRow> rows;
#define FAMILY(NAME) llvm::append_range(rows, NAME##Rows());
#include "Families.def"
  llvm::sort(rows, [](const OpRow &lhs, const OpRow &rhs) {
    return lhs.name < rhs.name;
  });
  return rows;
}

llvm::ArrayRef<OpRow> onnx::opRows() {
  static const std::vector<OpRow> rows = collect();
  return rows;
}

/// Sorted by name.
static constexpr RefusedOp refused[] = {
    {"Bernoulli", "its result is different in every run"},
    {"ConcatFromSequence", "sequences have no counterpart"},
    {"DecodeImage", "image files are not decoded"},
    {"DeformConv", "windows with computed places have no counterpart"},
    {"ImageDecoder", "image files are not decoded"},
    {"LabelEncoder", "strings have no counterpart"},
    {"Loop", "control flow has no counterpart"},
    {"MaxRoiPool", "windows with computed places have no counterpart"},
    {"Multinomial", "its result is different in every run"},
    {"Optional", "optional values have no counterpart"},
    {"OptionalGetElement", "optional values have no counterpart"},
    {"OptionalHasElement", "optional values have no counterpart"},
    {"RandomNormal", "its result is different in every run"},
    {"RandomNormalLike", "its result is different in every run"},
    {"RandomUniform", "its result is different in every run"},
    {"RandomUniformLike", "its result is different in every run"},
    {"RegexFullMatch", "strings have no counterpart"},
    {"Scan", "control flow has no counterpart"},
    {"SequenceAt", "sequences have no counterpart"},
    {"SequenceConstruct", "sequences have no counterpart"},
    {"SequenceEmpty", "sequences have no counterpart"},
    {"SequenceErase", "sequences have no counterpart"},
    {"SequenceInsert", "sequences have no counterpart"},
    {"SequenceLength", "sequences have no counterpart"},
    {"SequenceMap", "sequences have no counterpart"},
    {"SplitToSequence", "sequences have no counterpart"},
    {"StringConcat", "strings have no counterpart"},
    {"StringNormalizer", "strings have no counterpart"},
    {"StringSplit", "strings have no counterpart"},
    {"TfIdfVectorizer", "it has no counterpart"},
};

llvm::ArrayRef<RefusedOp> onnx::refusedOps() { return refused; }

std::vector<OnnxOperator> anec::onnxOperators() {
  std::vector<OnnxOperator> operators;
  for (const OpRow &row : opRows())
    operators.push_back({row.name, true, row.since, row.limits});
  for (const RefusedOp &op : refusedOps())
    operators.push_back({op.name, false, 0, op.reason});
  llvm::sort(operators, [](const OnnxOperator &lhs, const OnnxOperator &rhs) {
    return lhs.name < rhs.name;
  });
  return operators;
}
