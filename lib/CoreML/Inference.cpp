//===- Inference.cpp - types that Core ML infers --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The op table infers the types of MIL text. Core ML (and coremltools, in the
/// `type_inference` of its definitions) infers the same, but for the rows here.
/// `coreml-types` and `merge-axes` make programs that keep to them.
///
//===----------------------------------------------------------------------===//

#include "Inference.h"
#include "lib/CoreML/Diags.h"
#include "lib/IR/Names.h"
#include "lib/Ops/Rows/Select.h"

using namespace anec;
using namespace anec::coreml;

static constexpr unsigned mostAxes = 5;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The condition does not count.
static std::optional<Shape> shapeOfSelect(const Op &op) {
  return broadcastShapes(op.operand(1u)->type.shape,
                         op.operand(2u)->type.shape);
}

namespace {
/// An op whose result has another shape for Core ML.
struct Row {
  const OpDef *op;
  std::optional<Shape> (*shape)(const Op &op);
};
} // namespace

static constexpr Row rows[] = {
    {&ops::Select, shapeOfSelect},
};

static bool checkType(const Op &op, Diagnostics &diags) {
  for (const Row &row : rows) {
    if (!op.is(*row.op))
      continue;
    const Value &result = *op.result();
    std::optional<Shape> inferred = row.shape(op);
    if (inferred && *inferred == result.type.shape)
      continue;
    TensorType type(result.type.dtype, inferred ? *inferred : Shape());
    diags.report(op.range(), diag::InferredType, displayName(result),
                 op.def().name, result.type.str(), type.str());
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// Whether only ops that unpack weights read the value, which may have any
/// rank.
static bool isPartOfWeight(const Value &value) {
  for (const Operand *use = value.firstUse(); use; use = use->nextUse())
    if (!use->owner() || !use->owner()->def().has(trait::Constexpr))
      return false;
  return true;
}

static bool checkFeature(const Value &value, llvm::StringRef name,
                         SourceRange range, Diagnostics &diags) {
  if (value.type.rank() > mostAxes)
    diags.report(range, diag::RankOfFeature, name, value.type.str());
  else if (value.type.numElements() == 0)
    diags.report(range, diag::EmptyFeature, name, value.type.str());
  else
    return true;
  return false;
}

/// Whether the op reads and makes values of few axes.
static bool checkRanks(const Op &op, Diagnostics &diags) {
  for (const Value *result : op.resultValues()) {
    bool isArray =
        op.def().has(trait::Stored) || op.def().has(trait::Constexpr);
    if (result->type.rank() <= mostAxes || (isArray && isPartOfWeight(*result)))
      continue;
    const Op *reader = result->user();
    diags.report(op.range(), diag::RankOfValue, displayName(*result),
                 result->type.str(), (reader ? *reader : op).def().name);
    return false;
  }
  return true;
}

bool coreml::checkInference(const Function &function, Diagnostics &diags) {
  bool ok = true;
  for (const auto &param : function.parameters())
    ok &= checkFeature(*param, param->name, param->range(), diags);
  for (unsigned i = 0; i < function.numResults(); ++i)
    ok &= checkFeature(*function.result(i), function.resultNames()[i],
                       function.result(i)->range(), diags);
  if (!ok)
    return false;
  for (const Op &op : function.body())
    ok &= checkType(op, diags) && checkRanks(op, diags);
  return ok;
}
