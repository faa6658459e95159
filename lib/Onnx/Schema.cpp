//===- Schema.cpp - what nodes can have -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Schema.h"
#include "anec/Onnx/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <limits>

using namespace anec;
using namespace anec::onnx;
using proto::AttributeType;

static constexpr unsigned many = std::numeric_limits<unsigned>::max();

#define ATTRIBUTE(OP, NAME, TYPE, SINCE, UNTIL, DEFAULT)                       \
  {#OP, #NAME, AttributeType::TYPE, SINCE, UNTIL, DEFAULT, false},
#define HARMLESS(OP, NAME, TYPE, SINCE, UNTIL, DEFAULT)                        \
  {#OP, #NAME, AttributeType::TYPE, SINCE, UNTIL, DEFAULT, true},
static constexpr AttributeRow attributes[] = {
#include "Attributes.def"
};

#define SIGNATURE(OP, SINCE, IN, MOST_IN, OUT, MOST_OUT)                       \
  {#OP, SINCE, IN, MOST_IN, OUT, MOST_OUT},
static constexpr SignatureRow signatures[] = {
#include "Signatures.def"
};

template <typename Row>
static llvm::ArrayRef<Row> rowsOf(llvm::ArrayRef<Row> all, llvm::StringRef op) {
  auto *begin = llvm::partition_point(
      all, [&](const Row &row) { return llvm::StringRef(row.op) < op; });
  auto *end = std::find_if(begin, all.end(),
                           [&](const Row &row) { return row.op != op; });
  return {begin, end};
}

llvm::ArrayRef<AttributeRow> onnx::attributesOf(llvm::StringRef op) {
  return rowsOf(llvm::ArrayRef(attributes), op);
}

const SignatureRow *onnx::signatureOf(llvm::StringRef op, int64_t opset) {
  const SignatureRow *found = nullptr;
  for (const SignatureRow &row : rowsOf(llvm::ArrayRef(signatures), op))
    if (row.since <= opset)
      found = &row;
  return found;
}

llvm::StringRef onnx::describe(AttributeType type) {
  switch (type) {
  case AttributeType::Float:
    return "a number";
  case AttributeType::Int:
    return "an integer";
  case AttributeType::String:
    return "a text";
  case AttributeType::Tensor:
    return "a tensor";
  case AttributeType::Graph:
    return "a graph";
  case AttributeType::Floats:
    return "a list of numbers";
  case AttributeType::Ints:
    return "a list of integers";
  case AttributeType::Strings:
    return "a list of texts";
  case AttributeType::SparseTensor:
    return "a sparse tensor";
  default:
    return "of a known type";
  }
}

static const AttributeRow *findRow(llvm::StringRef op, llvm::StringRef name,
                                   int64_t opset) {
  for (const AttributeRow &row : attributesOf(op))
    if (row.name == name && row.isIn(opset))
      return &row;
  return nullptr;
}

llvm::StringRef onnx::fallbackOf(llvm::StringRef op, llvm::StringRef name,
                                 int64_t opset) {
  const AttributeRow *row = findRow(op, name, opset);
  return row ? llvm::StringRef(row->fallback) : "";
}

/// The number of names without those at the end that are empty.
static size_t countGiven(llvm::ArrayRef<llvm::StringRef> names) {
  while (!names.empty() && names.back().empty())
    names = names.drop_back();
  return names.size();
}

static bool checkAttribute(const proto::Node &node,
                           const proto::Attribute &attribute, int64_t opset,
                           SourceRange range, Diagnostics &diags) {
  const AttributeRow *row = findRow(node.opType, attribute.name, opset);
  if (!row) {
    diags.report(range, diag::OnnxAttribute, node.opType, attribute.name,
                 opset);
    return false;
  }
  // Old models do not have the type.
  if (attribute.type == row->type || attribute.type == AttributeType::Undefined)
    return true;
  diags.report(range, diag::OnnxAttributeType, attribute.name,
               describe(row->type));
  return false;
}

bool onnx::checkSchema(const proto::Node &node, int64_t opset,
                       SourceRange range, Diagnostics &diags) {
  const SignatureRow *signature = signatureOf(node.opType, opset);
  if (!signature) {
    diags.report(range, diag::OnnxUnknownOp, node.opType,
                 "version " + std::to_string(opset) + " of ONNX");
    return false;
  }
  llvm::StringSet<> seen;
  for (const proto::Attribute &attribute : node.attribute) {
    if (!checkAttribute(node, attribute, opset, range, diags))
      return false;
    if (!seen.insert(attribute.name).second) {
      diags.report(range, diag::OnnxAttributeTwice, attribute.name);
      return false;
    }
  }
  size_t inputs = countGiven(node.input), outputs = countGiven(node.output);
  if (inputs > signature->mostInputs) {
    diags.report(range, diag::OnnxTooManyValues, node.opType, "inputs",
                 signature->mostInputs, inputs);
    return false;
  }
  if (outputs > signature->mostOutputs) {
    diags.report(range, diag::OnnxTooManyValues, node.opType, "outputs",
                 signature->mostOutputs, outputs);
    return false;
  }
  return true;
}

/// Whether an attribute has the value that it has when it is not given.
static bool isDefault(const proto::Attribute &attribute,
                      const AttributeRow &row) {
  llvm::StringRef text = row.fallback;
  int64_t integer = 0;
  double number = 0;
  switch (row.type) {
  case AttributeType::Int:
    return !text.getAsInteger(10, integer) && integer == attribute.i;
  case AttributeType::Float:
    return !text.getAsDouble(number) && float(number) == attribute.f;
  case AttributeType::String:
    return !text.empty() &&
           text == llvm::StringRef(
                       reinterpret_cast<const char *>(attribute.s.data()),
                       attribute.s.size());
  default:
    return false;
  }
}

bool onnx::checkAllRead(const proto::Node &node, int64_t opset,
                        llvm::ArrayRef<bool> wasRead, SourceRange range,
                        Diagnostics &diags) {
  for (auto [attribute, read] : llvm::zip_equal(node.attribute, wasRead)) {
    const AttributeRow *row = findRow(node.opType, attribute.name, opset);
    if (read || row->isHarmless || isDefault(attribute, *row))
      continue;
    diags.report(range, diag::OnnxUnsupported, node.opType,
                 "its attribute `" + attribute.name.str() +
                     "` has no counterpart");
    return false;
  }
  return true;
}
