//===- Host.cpp - what host functions do beside tensor ops ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `call` applies a kernel or layer of the module, `repeat` a host function
/// several times. Neither sees the other function: their result types stand in
/// the op. They have no value semantics of their own.
///
//===----------------------------------------------------------------------===//

#include "Infer.h"
#include "anec/Ops/Diags.h"
#include "anec/Ops/Ops.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// call
//===----------------------------------------------------------------------===//

/// Reads `fp16[768, 256]`.
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

static bool inferCall(InferContext &ctx) {
  for (const std::string &text : ctx.constant("results")->asStrings()) {
    std::optional<TensorType> type = parseType(text); // C1
    if (!type)
      return ctx.fail(diag::CallResultType, {ctx.def.name.str(), text});
    ctx.results.push_back(*type);
  }
  return true;
}

constinit const OpDef ops::Call = {
    .name = "call",
    .summary = "Applies the kernel or layer `callee` to `arguments`; its "
               "results have the types `results`. `index` says which of the "
               "instances of a repeated layer it is, each with weights of its "
               "own.",
    .family = "host",
    .params = {optionalValue("index", {DType::Int32}, 0),
               variadic("arguments", movableTypes, 0),
               text("callee"),
               {.name = "results",
                .kind = ParamKind::Constant,
                .dtypes = {DType::String},
                .rank = 1}},
    .traits = trait::SideEffect,
    .constraints = {"`results` are types, such as `fp16[768, 256]`"},
    .infer = inferCall,
};

//===----------------------------------------------------------------------===//
// repeat
//===----------------------------------------------------------------------===//

static bool inferRepeat(InferContext &ctx) {
  int64_t from = ctx.intAttr("from"), to = ctx.intAttr("to");
  if (from < 0 || to <= from) // C1
    return ctx.fail(diag::RepeatRange,
                    {std::to_string(from), std::to_string(to)});
  int64_t carried = ctx.intAttr("carried");
  if (carried < 1 || carried > int64_t(ctx.operands.size())) // C2
    return ctx.fail(diag::CarriedCount, {std::to_string(carried),
                                         std::to_string(ctx.operands.size())});
  for (int64_t slot = 0; slot < carried; ++slot)
    ctx.results.push_back(ctx.type(slot));
  return true;
}

constinit const OpDef ops::Repeat = {
    .name = "repeat",
    .summary = "Applies the host function `body` for each index from `from` to "
               "`to`, without `to`. It is given the index and `values`, and "
               "its results replace the first `carried` of them; the last "
               "ones are the op's results.",
    .family = "host",
    .params = {variadic("values", movableTypes, 0), text("body"),
               integer("from"), integer("to"), integer("carried")},
    .traits = trait::SideEffect,
    .constraints = {"0 <= `from` < `to`",
                    "`carried` is at least 1 and at most the number of "
                    "`values`"},
    .infer = inferRepeat,
};
