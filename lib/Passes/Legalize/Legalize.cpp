//===- Legalize.cpp - make a target's rules hold --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Legalize.h"
#include "anec/Target/Check.h"
#include "lib/IR/DerivedConstant.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Control.h"
#include "lib/Ops/Params/Pad.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::legalize;

using RewriteOp = Value *(*)(Rewriter &rewriter);

/// The function of a rewrite; null for rewrites that do not apply to a single
/// op.
static RewriteOp functionOf(Rewrite rewrite) {
  switch (rewrite) {
#define OP_REWRITE(NAME, FUNCTION, SPELLING)                                   \
  case Rewrite::NAME:                                                          \
    return FUNCTION;
#include "anec/Target/Rewrites.def"
  default:
    return nullptr;
  }
}

// Every pass that a rule names exists.
#define PASS_REWRITE(NAME, SPELLING)                                           \
  static_assert(std::is_same_v<decltype(passes::NAME), const PassDef>);
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Control.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"

//===----------------------------------------------------------------------===//
// Rewriter
//===----------------------------------------------------------------------===//

std::string Rewriter::nameOf(llvm::StringRef part) const {
  std::string name = op.result()->name;
  if (!part.empty())
    name = name.empty() ? part.str() : name + "_" + part.str();
  return name;
}

Value *Rewriter::make(const OpDef &def, llvm::ArrayRef<Value *> operands,
                      llvm::ArrayRef<Attr> attrs, llvm::StringRef part) {
  return builder.build(def, operands, attrs, nameOf(part));
}

Value *Rewriter::weight(const Op &source, const ArrayView &array,
                        llvm::StringRef part) {
  return buildWeight(builder, source, array, nameOf(part));
}

Value *Rewriter::scalar(double number, llvm::StringRef part) {
  TensorType type(op.result()->type.dtype);
  return make(ops::Const, {}, Attr(param::val, derivedConstant(type, number)),
              part);
}

/// The elements of `array` that `view` reads.
static ConstantRef viewConstant(const Constant &array, const ArrayView &view) {
  TensorType type(array.dtype(), view.shape());
  unsigned width = bitWidth(array.storedDType()) / 8;
  uint64_t size = byteSize(array.storedDType(), type.numElements());
  auto bytes = std::make_shared_for_overwrite<uint8_t[]>(size);
  view.copy(array.bytes().data(), bytes.get(), width);
  return Constant::view(type, array.storedDType(), {bytes.get(), size}, bytes);
}

Value *Rewriter::slice(Value *value, unsigned axis, int64_t begin,
                       int64_t extent, llvm::StringRef part) {
  if (begin == 0 && extent == value->type.shape[axis])
    return value;
  Shape from(value->type.rank(), 0), size = value->type.shape, end = size;
  from[axis] = begin;
  size[axis] = extent;
  end[axis] = begin + extent;
  Op *source = value->definingOp();
  if (source && source->is(ops::Weight))
    return weight(*source, viewOf(*source).array.slice(from, end), part);
  const Constant *array =
      source && source->is(ops::Const) ? source->constant(param::val) : nullptr;
  if (array && bitWidth(array->storedDType()) >= 8)
    return make(
        ops::Const, {},
        Attr(param::val,
             viewConstant(*array,
                          ArrayView(value->type.shape).slice(from, end))),
        part);
  return make(ops::SliceBySize, {value},
              {{param::begin, from}, {param::size, size}}, part);
}

Value *Rewriter::pad(Value *value, llvm::ArrayRef<int64_t> margins,
                     llvm::StringRef part) {
  if (llvm::all_of(margins, [](int64_t margin) { return margin == 0; }))
    return value;
  return make(ops::Pad, {value},
              {{param::pad, margins},
               {param::padMode, PadMode::Constant},
               {param::constantVal, Constant::scalar(value->type.dtype, 0)}},
              part);
}

Value *Rewriter::reshape(Value *value, llvm::ArrayRef<int64_t> shape,
                         llvm::StringRef part) {
  Op *source = value->definingOp();
  if (source && source->is(ops::Reshape)) {
    value = source->operand(0u);
    source = value->definingOp();
  }
  if (value->type.shape == shape)
    return value;
  if (source && source->is(ops::Const))
    return make(ops::Const, {},
                Attr(param::val, source->constant(param::val)->reshaped(shape)),
                part);
  if (source && source->is(ops::Weight))
    return weight(*source, viewOf(*source).array.reshape(shape), part);
  return make(ops::Reshape, {value}, {{param::shape, shape}}, part);
}

Value *Rewriter::concat(llvm::ArrayRef<Value *> values, int64_t axis,
                        llvm::StringRef part) {
  if (values.size() == 1)
    return values[0];
  return make(ops::Concat, values,
              {{param::axis, axis}, {param::interleave, false}}, part);
}

std::optional<Shape> legalize::splitAxis(Shape shape, size_t axis,
                                         int64_t inner) {
  constexpr size_t mostAxes = 5;
  bool hasRoom = axis > 0 && shape[axis - 1] == 1;
  if (!hasRoom && shape.size() >= mostAxes)
    return std::nullopt;
  shape[axis] /= inner;
  shape.insert(shape.begin() + axis + 1, inner);
  if (hasRoom)
    shape.erase(shape.begin() + axis - 1);
  return shape;
}

void legalize::eachPart(int64_t extent, int64_t limit,
                        llvm::function_ref<void(int64_t, int64_t)> part) {
  // A program with too many ops to compile is worse than a broken rule, which
  // is reported.
  constexpr int64_t mostParts = 1024;
  int64_t parts = partCount(extent, limit), begin = 0;
  if (parts > mostParts)
    return;
  for (int64_t i = 0; i < parts; ++i) {
    int64_t end = extent * (i + 1) / parts;
    part(begin, end - begin);
    begin = end;
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Applies the rewrite of the first broken rule that has one for `op`.
static bool
rewriteOp(Function &function, Op &op, PassContext &ctx,
          llvm::ArrayRef<std::pair<const Rule *, RewriteOp>> candidates) {
  for (auto [rule, rewrite] : candidates) {
    if (!rule->ofOp(op, ctx.target))
      continue;
    Rewriter rewriter(function, op, ctx.target);
    Value *value = rewrite(rewriter);
    if (!value)
      continue;
    op.result()->replaceAllUsesWith(value);
    op.erase();
    ctx.count("rewritten");
    return true;
  }
  return false;
}

/// Remaining broken rules are errors when the target was requested explicitly.
static void reportRest(const Function &function, PassContext &ctx) {
  std::vector<Finding> findings;
  checkFunction(function, ctx.target, ctx.assumptions, findings);
  for (const Finding &finding : findings)
    if (ctx.assumptions.isError(*finding.rule))
      reportFinding(finding, ctx.assumptions, ctx.diags);
}

static bool rewriteOps(Function &function, PassContext &ctx) {
  std::vector<std::pair<const Rule *, RewriteOp>> candidates;
  for (const Rule *rule : allRules())
    if (RewriteOp rewrite = functionOf(rule->rewrite);
        rewrite && rule->ofOp && ctx.isRewrittenFor(*rule))
      candidates.push_back({rule, rewrite});
  if (ctx.isRewrittenFor(rules::NoControlFlow))
    candidates.push_back({&rules::NoControlFlow, branchesToSelects});
  // The result of a rewrite may need another. No rewrite produces ops that it
  // replaces, so this terminates; the limit guards against bugs.
  constexpr unsigned maxRounds = 16;
  bool changed = false, again = true;
  for (unsigned round = 0; again && round < maxRounds; ++round) {
    again = false;
    for (Op &op : llvm::make_early_inc_range(function.body()))
      again |= (op.numResults() == 1 || op.is(ops::Cond)) &&
               rewriteOp(function, op, ctx, candidates);
    changed |= again;
  }
  return changed;
}

static bool legalizeFunction(Function &function, PassContext &ctx) {
  bool changed = rewriteOps(function, ctx);
  if (!ctx.targetChosen)
    return changed;
  // The ops that convert inputs and outputs can break rules of their own.
  if (legalizeInterface(function, ctx)) {
    rewriteOps(function, ctx);
    changed = true;
  }
  reportRest(function, ctx);
  return changed;
}

constinit const PassDef passes::Legalize = {
    .name = "legalize",
    .summary = "Rewrite ops that break a rule of the target",
    .description =
        "%y = silu(%x)  ==>  %s = sigmoid(%x); %y = mul(%x, %s)\n"
        "and so on, for each rule with a rewrite; docs/reference/rules.md "
        "lists them.\n"
        "With --target, inputs and outputs are changed to follow the rules\n"
        "too, and a rule that is still broken is an error.",
    .stats = {{{"rewritten", "ops rewritten"},
               {"interface", "inputs and outputs changed"}}},
    // Numbers like 1/n and sqrt(2/pi) are rounded to the element type.
    .tolerance = 2e-3,
    .needs = Need::NotCalled,
    .run = legalizeFunction,
};
