//===- Infer.cpp - shared code of shape inference ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// See Infer.h.
///
//===----------------------------------------------------------------------===//

#include "Infer.h"
#include "lib/IR/Diags.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Modes.h"
#include "lib/Support/Suggestion.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

bool anec::inferSame(InferContext &ctx) { return ctx.result(ctx.type(0)); }

static bool broadcastOperands(InferContext &ctx, DType dtype) {
  auto shape = broadcast(ctx, ctx.type(0).shape, ctx.type(1).shape, {0, 1});
  return shape && ctx.result({dtype, *shape});
}

bool anec::inferBroadcast(InferContext &ctx) {
  return broadcastOperands(ctx, ctx.type(0).dtype); // C1
}

bool anec::inferComparison(InferContext &ctx) {
  return broadcastOperands(ctx, DType::Bool); // C1
}

std::optional<Shape> anec::broadcast(InferContext &ctx,
                                     llvm::ArrayRef<int64_t> lhs,
                                     llvm::ArrayRef<int64_t> rhs,
                                     std::array<unsigned, 2> slots) {
  if (auto shape = broadcastShapes(lhs, rhs))
    return shape;
  // Report the last axis that differs, counted in the broadcast shape.
  unsigned rank = std::max(lhs.size(), rhs.size());
  unsigned fromEnd = 1;
  while (lhs[lhs.size() - fromEnd] == rhs[rhs.size() - fromEnd] ||
         lhs[lhs.size() - fromEnd] == 1 || rhs[rhs.size() - fromEnd] == 1)
    ++fromEnd;
  ctx.fail(diag::BroadcastMismatch(ctx.opName(), ctx.describeOperand(slots[0]),
                                   ctx.describeOperand(slots[1]),
                                   rank - fromEnd),
           slots);
  return std::nullopt;
}

bool anec::normalizeAxes(InferContext &ctx, llvm::MutableArrayRef<int64_t> axes,
                         unsigned rank) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (!ctx.normalizeAxis(axes[i], rank))
      return false;
    if (llvm::is_contained(axes.take_front(i), axes[i]))
      return ctx.fail(diag::AxisRepeated(ctx.opName(), axes[i]));
  }
  return true;
}

int64_t anec::normalized(int64_t axis, unsigned rank) {
  return axis < 0 ? axis + rank : axis;
}

Shape anec::normalized(llvm::ArrayRef<int64_t> axes, unsigned rank) {
  Shape result(axes.begin(), axes.end());
  for (int64_t &axis : result)
    axis = normalized(axis, rank);
  return result;
}

bool anec::checkGivenOnce(InferContext &ctx, const ConstantParam &constant,
                          const ValueParam &value) {
  bool isConstant = ctx.constant(constant), isValue = ctx.hasOperand(value);
  if (isConstant != isValue)
    return true;
  std::string name = value.str();
  if (!isConstant)
    return ctx.fail(diag::MissingConstant(ctx.opName(), name));
  return ctx.fail(diag::EitherParameter(ctx.opName(), "constant " + name,
                                        "computed " + name));
}

bool anec::checkLength(InferContext &ctx, const ConstantParam &name,
                       size_t length) {
  const Constant *list = ctx.constant(name);
  if (!list || size_t(list->numElements()) == length)
    return true;
  return ctx.fail(diag::ParameterLength(ctx.opName(), name, list->numElements(),
                                        std::to_string(length)));
}

bool anec::checkRange(InferContext &ctx, const ConstantParam &name, int64_t min,
                      int64_t max) {
  const Constant *list = ctx.constant(name);
  if (!list)
    return true;
  for (int64_t value : list->asInts())
    if (value < min || value > max)
      return ctx.fail(diag::ParameterRange(
          ctx.opName(), name, std::to_string(value),
          max == INT32_MAX && value < min
              ? "at least " + std::to_string(min)
              : std::to_string(min) + " to " + std::to_string(max)));
  return true;
}

bool anec::failNumber(InferContext &ctx, const FloatParam &name,
                      llvm::StringRef domain) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", ctx.get(name));
  return ctx.fail(diag::ParameterRange(ctx.opName(), name, text, domain.str()));
}

bool anec::checkPermutation(InferContext &ctx, const IntsParam &name,
                            unsigned rank) {
  Shape given = ctx.get(name);
  Shape sorted = normalized(given, rank);
  llvm::sort(sorted);
  if (llvm::equal(sorted, llvm::seq<int64_t>(0, rank)))
    return true;
  return ctx.fail(
      diag::PermInvalid(ctx.opName(), name, shapeToString(given), rank));
}

/// The words, and which of them may be meant. Another element type is not a
/// misspelled one.
static std::string choices(llvm::StringRef given,
                           std::span<const llvm::StringLiteral> words) {
  Suggestion suggestion(given);
  llvm::StringRef meant;
  for (llvm::StringRef word : words) {
    suggestion.consider(word);
    if (word.equals_insensitive(given))
      meant = word;
  }
  if (meant.empty())
    meant = suggestion.found();
  std::string text = llvm::join(words, ", ");
  return parseDType(given) ? text : text + didYouMean(meant);
}

bool anec::checkWord(InferContext &ctx, const ConstantParam &name,
                     std::span<const llvm::StringLiteral> words) {
  llvm::StringRef given = ctx.constant(name)->asString();
  return llvm::is_contained(words, given) ||
         ctx.fail(diag::ParameterChoice(ctx.opName(), name, given.str(),
                                        choices(given, words)));
}

bool anec::checkDType(InferContext &ctx, const DTypeParam &name,
                      DTypeSet dtypes) {
  llvm::SmallVector<llvm::StringLiteral, 8> words;
  for (const DTypeFacts &row : dtypeTable)
    if (dtypes.contains(row.dtype))
      words.push_back(row.spelling);
  return checkWord(ctx, name, words);
}

bool anec::checkRank(InferContext &ctx, unsigned slot, unsigned min,
                     unsigned max) {
  unsigned rank = ctx.type(slot).rank();
  if (rank >= min && rank <= max)
    return true;
  std::string expected = std::to_string(min);
  if (max == UINT_MAX)
    expected = "at least " + expected;
  else if (max != min)
    expected += " to " + std::to_string(max);
  return ctx.fail(diag::OperandRank(ctx.opName(),
                                    valueParam(ctx.def, slot).name,
                                    ctx.describeOperand(slot), expected),
                  {slot});
}

bool anec::checkShape(InferContext &ctx, unsigned slot,
                      llvm::ArrayRef<int64_t> expected) {
  if (!ctx.hasOperand(slot) || ctx.type(slot).shape == Shape(expected))
    return true;
  return ctx.fail(
      diag::OperandShape(ctx.opName(), valueParam(ctx.def, slot).name,
                         ctx.describeOperand(slot), shapeToString(expected)),
      {slot});
}

const ParamDef &anec::valueParam(const OpDef &def, unsigned slot) {
  for (const ParamDef &param : def.parameters()) {
    if (param.isConstant())
      continue;
    if (slot == 0 || param.kind == ParamKind::Variadic)
      return param;
    --slot;
  }
  llvm_unreachable("no such operand");
}

int64_t anec::saturatingProduct(llvm::ArrayRef<int64_t> factors) {
  uint64_t product = 1;
  for (int64_t factor : factors)
    product = llvm::SaturatingMultiply(product, uint64_t(factor));
  return int64_t(std::min<uint64_t>(product, INT64_MAX));
}
