//===- Schema.cpp - what nodes can have -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Schema.h"
#include "lib/Onnx/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <limits>

using namespace anec;
using namespace anec::onnx;
using proto::AttributeType;

static constexpr unsigned many = std::numeric_limits<unsigned>::max();

// A file of rows undefines its macro.
#define ATTRIBUTE(OP, NAME, TYPE, ...)                                         \
  {#OP, #NAME, AttributeType::TYPE, __VA_ARGS__},
static constexpr AttributeRow onnxAttributes[] = {
#include "Attributes.def"
};
#define ATTRIBUTE(OP, NAME, TYPE, ...)                                         \
  {#OP, #NAME, AttributeType::TYPE, __VA_ARGS__},
static constexpr AttributeRow microsoftAttributes[] = {
#include "Microsoft/Attributes.def"
};

#define SIGNATURE(OP, ...) {#OP, __VA_ARGS__},
static constexpr SignatureRow onnxSignatures[] = {
#include "Signatures.def"
};
#define SIGNATURE(OP, ...) {#OP, __VA_ARGS__},
static constexpr SignatureRow microsoftSignatures[] = {
#include "Microsoft/Signatures.def"
};

llvm::StringRef onnx::domainOf(llvm::StringRef domain) {
  return domain == "ai.onnx" ? "" : domain;
}

llvm::StringRef onnx::domainOf(const proto::Node &node) {
  // One that onnxruntime's optimizer writes in ONNX's own domain.
  if (node.opType == "SimplifiedLayerNormalization")
    return microsoft;
  return domainOf(node.domain);
}

std::string onnx::describe(llvm::StringRef domain, int64_t opset) {
  return domain.empty()
             ? "version " + std::to_string(opset) + " of ONNX's operators"
             : "the domain `" + domain.str() + "`";
}

template <typename Row>
static llvm::ArrayRef<Row> rowsOf(llvm::ArrayRef<Row> all, llvm::StringRef op) {
  auto *begin = llvm::partition_point(
      all, [&](const Row &row) { return llvm::StringRef(row.op) < op; });
  auto *end = std::find_if(begin, all.end(),
                           [&](const Row &row) { return row.op != op; });
  return {begin, end};
}

llvm::ArrayRef<AttributeRow> onnx::attributesOf(llvm::StringRef domain,
                                                llvm::StringRef op) {
  return domain == microsoft ? rowsOf(llvm::ArrayRef(microsoftAttributes), op)
         : domain.empty()    ? rowsOf(llvm::ArrayRef(onnxAttributes), op)
                             : llvm::ArrayRef<AttributeRow>();
}

static llvm::ArrayRef<SignatureRow> signaturesOf(llvm::StringRef domain,
                                                 llvm::StringRef op) {
  return domain == microsoft ? rowsOf(llvm::ArrayRef(microsoftSignatures), op)
         : domain.empty()    ? rowsOf(llvm::ArrayRef(onnxSignatures), op)
                             : llvm::ArrayRef<SignatureRow>();
}

int onnx::firstVersionOf(llvm::StringRef domain, llvm::StringRef op) {
  llvm::ArrayRef<SignatureRow> rows = signaturesOf(domain, op);
  return rows.empty() ? 0 : rows.front().since;
}

const SignatureRow *onnx::signatureOf(llvm::StringRef domain,
                                      llvm::StringRef op, int64_t opset) {
  const SignatureRow *found = nullptr;
  for (const SignatureRow &row : signaturesOf(domain, op))
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
  case AttributeType::TypeProto:
    return "a type";
  default:
    return "of a known type";
  }
}

static const AttributeRow *attributeRow(llvm::StringRef domain,
                                        llvm::StringRef op,
                                        llvm::StringRef name, int64_t opset) {
  for (const AttributeRow &row : attributesOf(domain, op))
    if (row.name == name && row.isIn(opset))
      return &row;
  return nullptr;
}

llvm::StringRef onnx::fallbackOf(llvm::StringRef domain, llvm::StringRef op,
                                 llvm::StringRef name, int64_t opset) {
  const AttributeRow *row = attributeRow(domain, op, name, opset);
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
  llvm::StringRef domain = domainOf(node);
  const AttributeRow *row =
      attributeRow(domain, node.opType, attribute.name, opset);
  if (!row) {
    std::string about = describe(domain, opset);
    for (const AttributeRow &other : attributesOf(domain, node.opType))
      if (other.name == attribute.name && other.since > opset) {
        std::string since = std::to_string(other.since);
        about += ", but from version " + since +
                 " on: export the model for version " + since + " or later";
        break;
      }
    diags.report(range, diag::OnnxAttribute, node.opType, attribute.name,
                 about);
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
  llvm::StringRef domain = domainOf(node);
  const SignatureRow *signature = signatureOf(domain, node.opType, opset);
  if (!signature) {
    diags.report(range, diag::OnnxOperatorVersion, node.opType,
                 firstVersionOf(domain, node.opType), opset);
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

/// Whether the attribute says nothing about results in any operator that has
/// it: old versions say so where memory is shared, and where shapes broadcast,
/// which they are checked for anyway.
static bool isIgnoredEverywhere(llvm::StringRef name) {
  return name == "consumed_inputs" || name == "broadcast";
}

bool onnx::checkAllRead(const proto::Node &node, int64_t opset,
                        llvm::ArrayRef<bool> wasRead, SourceRange range,
                        Diagnostics &diags) {
  for (auto [attribute, read] : llvm::zip_equal(node.attribute, wasRead)) {
    const AttributeRow *row =
        attributeRow(domainOf(node), node.opType, attribute.name, opset);
    if (read || isIgnoredEverywhere(attribute.name) ||
        isDefault(attribute, *row))
      continue;
    diags.report(range, diag::OnnxUnsupported, node.opType,
                 "its attribute `" + attribute.name.str() +
                     "` has no counterpart");
    return false;
  }
  return true;
}
