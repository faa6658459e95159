//===- Host.cpp - what only host functions do -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `call` applies a kernel or layer of the module, `repeat` applies a host
/// function several times. Inference does not see the applied function: the op
/// states its result types. The interpreter evaluates these ops.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/Host.h"
#include "Infer.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Positions.h"
#include <climits>

namespace anec::param {
ANEC_PARAM(arguments, "arguments", Value)
} // namespace anec::param

using namespace anec;

//===----------------------------------------------------------------------===//
// call
//===----------------------------------------------------------------------===//

/// Parses a type such as `fp16[768, 256]`.
static std::optional<TensorType> parseType(llvm::StringRef text) {
  auto [word, extents] = text.split('[');
  std::optional<DType> dtype = parseDType(word);
  if (!dtype)
    return std::nullopt;
  TensorType type(*dtype);
  if (word.size() == text.size())
    return type;
  if (!extents.consume_back("]"))
    return std::nullopt;
  llvm::SmallVector<llvm::StringRef, 4> words;
  extents.split(words, ',');
  for (llvm::StringRef extent : words) {
    int64_t value = 0;
    if (extent.trim().getAsInteger(10, value) || value < 1 || value > INT32_MAX)
      return std::nullopt;
    type.shape.push_back(value);
  }
  if (!checkedNumElements(type.shape))
    return std::nullopt;
  return type;
}

/// Appends the types listed in the constant `name`.
static bool readTypes(InferContext &ctx, const StringsParam &name,
                      llvm::SmallVectorImpl<TensorType> &types) {
  for (const std::string &text : ctx.get(name)) {
    std::optional<TensorType> type = parseType(text);
    if (!type)
      return ctx.fail(diag::CallResultType(ctx.opName(), text));
    types.push_back(*type);
  }
  return true;
}

static bool inferCall(InferContext &ctx) {
  return readTypes(ctx, param::results, ctx.results);
}

constinit const OpDef ops::Call = {
    .name = "call",
    .summary = "Calls the kernel or layer `callee` with `arguments`. Its "
               "results have the types `results`. `index` selects the instance "
               "of a repeated layer; each instance has its own weights.",
    .family = "host",
    .params = {optionalValue(param::index, {DType::Int32}, 0),
               variadic(param::arguments, movableTypes, 0),
               text(param::callee),
               {.name = param::results,
                .kind = ParamKind::Constant,
                .dtypes = {DType::String},
                .rank = 1}},
    .traits = trait::SideEffect | trait::Call | trait::NotCallable,
    .infer = inferCall,
    .positions = {positions::apart},
};

//===----------------------------------------------------------------------===//
// repeat
//===----------------------------------------------------------------------===//

static bool inferRepeat(InferContext &ctx) {
  int64_t from = ctx.get(param::from), to = ctx.get(param::to);
  if (from < 0 || to <= from) // C1
    return ctx.fail(diag::RepeatRange(from, to));
  int64_t values = ctx.operands.size(), carried = ctx.get(param::carried);
  if (carried < 1 || carried > values) // C2
    return ctx.fail(diag::CarriedCount(carried, values));
  int64_t sliced = ctx.get(param::sliced);
  if (sliced < 0 || sliced > values - carried) // C3
    return ctx.fail(diag::SlicedCount(sliced, values - carried));
  for (int64_t slot = values - sliced; slot < values; ++slot) {
    const Shape &shape = ctx.type(slot).shape;
    if (shape.empty() || shape[0] != to - from) // C4
      return ctx.fail(diag::SlicedExtent(ctx.describeOperand(slot), to - from),
                      {unsigned(slot)});
  }
  for (int64_t slot = 0; slot < carried; ++slot)
    ctx.results.push_back(ctx.type(slot));
  llvm::SmallVector<TensorType, 4> collected;
  if (ctx.constant(param::collected) &&
      !readTypes(ctx, param::collected, collected))
    return false; // C5
  for (TensorType &type : collected) {
    type.shape.insert(type.shape.begin(), to - from);
    ctx.results.push_back(std::move(type));
  }
  return true;
}

constinit const OpDef ops::Repeat = {
    .name = "repeat",
    .summary =
        "Calls the host function `body` for each index from `from`, inclusive, "
        "to `to`, exclusive; `reverse` runs from the last index down. The "
        "body's arguments are the index and `values`; of each of the last "
        "`sliced` values it gets the slice of the index along the first axis. "
        "The body's first results replace the first `carried` values, and "
        "their final values are the op's first results. Further results of the "
        "body have the types `collected`, and are stacked in index order.",
    .family = "host",
    .params = {variadic(param::values, movableTypes, 0), text(param::body),
               integer(param::from), integer(param::to),
               integer(param::carried), integer(param::sliced, "0"),
               boolean(param::reverse, "false"),
               optionalConstant(param::collected, {DType::String})},
    .traits = trait::SideEffect | trait::Repeat | trait::NotCallable,
    .constraints =
        {"0 <= `from` < `to`", "`carried` is 1 to the number of `values`",
         "`sliced` is 0 to the number of `values` that are not carried",
         "sliced values have `to` - `from` elements along their first axis",
         "`collected` are types, such as `fp16[768, 256]`"},
    .infer = inferRepeat,
    .positions = {positions::apart},
};

//===----------------------------------------------------------------------===//
// accumulate
//===----------------------------------------------------------------------===//

constinit const OpDef ops::Accumulate = {
    .name = "accumulate",
    .summary = "Adds `value` to the gradient of the weight `name`, or of its "
               "instance `index` when it belongs to a repeated layer.",
    .family = "host",
    .params = {optionalValue(param::index, {DType::Int32}, 0),
               value(param::value, {DType::FP32}, 0), text(param::name)},
    .traits = trait::SideEffect | trait::NotCallable,
    .infer = [](InferContext &) { return true; },
    .positions = {positions::combined},
};

//===----------------------------------------------------------------------===//
// update_state
//===----------------------------------------------------------------------===//

static bool inferUpdateState(InferContext &ctx) {
  const Shape &state = ctx.type(0).shape, &data = ctx.type(1).shape;
  if (state.empty()) // C1
    return checkRank(ctx, 0, 1, UINT_MAX);
  Shape expected = state;
  if (!data.empty() && data.back() <= state.back())
    expected.back() = data.back();
  if (!checkShape(ctx, 1, expected) || // C2
      !checkRank(ctx, 2, 0, 1))        // C3
    return false;
  const Shape &position = ctx.type(2).shape;
  int64_t runs = position.empty() ? 1 : position[0];
  int64_t groups = ctx.get(param::groups);
  if (runs < 1 || data.back() % runs) // C3
    return checkShape(ctx, 2, {data.back()});
  return checkRange(ctx, param::groups, 1) && // C4
         (state.back() % groups == 0 ||
          ctx.fail(diag::SplitUneven(ctx.opName(), ctx.describeOperand(0),
                                     state.size() - 1, state.back(), groups),
                   {0}));
}

static constexpr ParamDef stateParam = {.name = param::input,
                                        .dtypes = floats,
                                        .typeVar = 'T',
                                        .rank = -1,
                                        .holder = Holder::State};

constinit const OpDef ops::UpdateState = {
    .name = "update_state",
    .summary =
        "Stores `data` in the state `input`, from index `position` of "
        "the last axis on. With several positions, each gets an equal "
        "part of `data`. The last axis has `groups` equal parts: what "
        "would lie outside of the part that a position is in, or outside "
        "of the axis, is left out.",
    .family = "host",
    .params = {stateParam, value(param::data, floats),
               value(param::position, {DType::Int32}, 0, "a number or a list"),
               integer(param::groups, "1")},
    .traits = trait::SideEffect | trait::NotCallable,
    .constraints =
        {"the state has at least one axis",
         "`data` has the shape of the state, and at most as many "
         "elements along the last axis",
         "`position` is a scalar, or a list whose length divides "
         "that of the last axis of `data`",
         "`groups` divides the length of the last axis of the state"},
    .infer = inferUpdateState,
    .positions = {positions::apart},
};
