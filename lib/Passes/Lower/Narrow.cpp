//===- Narrow.cpp - fp16 instead of fp32 ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Not in the default pipeline, since a program says itself what it computes
/// in. For models that were trained in fp32: the engine computes in fp16.
///
//===----------------------------------------------------------------------===//

#include "anec/IR/OpDef.h"
#include "anec/Ops/Ops.h"
#include "anec/Passes/Diags.h"
#include "anec/Passes/Pass.h"
#include <cmath>

using namespace anec;

/// The largest number of fp16, and the smallest of full precision.
static constexpr double largest = 65504, smallest = 0x1p-14;

static bool narrowType(TensorType &type) {
  if (type.dtype != DType::FP32)
    return false;
  type.dtype = DType::FP16;
  return true;
}

namespace {

/// Makes the constants of an op narrow.
class Constants {
public:
  Constants(Op &op, PassContext &ctx) : op(op), ctx(ctx) {}

  void narrow() {
    for (const ParamDef &param : op.def().parameters())
      if (param.isConstant())
        if (const Constant *constant = op.constant(param.asConstant()))
          if (ConstantRef narrow = narrowed(param, *constant))
            op.setConstant(param.asConstant(), narrow);
    if (clipped != 0)
      ctx.diags.report(op.range(), diag::NarrowedConstant, clipped);
  }

private:
  /// The constant in fp16, also where it names the type (`cast` and `weight`
  /// have it as a string); null when nothing changes.
  ConstantRef narrowed(const ParamDef &param, const Constant &constant) {
    if (param.name == param::dtype && constant.asString() == "fp32")
      return Constant::string("fp16");
    if (constant.dtype() != DType::FP32 || !param.dtypes.contains(DType::FP16))
      return nullptr;
    std::vector<double> elements = constant.asDoubles();
    for (double &element : elements)
      element = fitted(element, param.offZero);
    return Constant::fromDoubles({DType::FP16, constant.type().shape},
                                 elements);
  }

  /// Masks have numbers such as -1e9: infinities would make sums of them NaN.
  double fitted(double element, bool offZero) {
    if (offZero && element > 0)
      return std::max(element, smallest);
    if (!std::isfinite(element) || std::abs(element) <= largest)
      return element;
    ++clipped;
    return std::copysign(largest, element);
  }

  Op &op;
  PassContext &ctx;
  size_t clipped = 0;
};

} // namespace

static bool narrow(Function &function, PassContext &ctx) {
  bool changed = false;
  for (const auto &param : function.parameters())
    changed |= narrowType(param->type);
  for (Op &op : function.body()) {
    Constants(op, ctx).narrow();
    for (Value *result : op.resultValues())
      if (narrowType(result->type)) {
        ctx.count("narrowed");
        changed = true;
      }
  }
  return changed;
}

constinit const PassDef passes::Narrow = {
    .name = "narrow",
    .summary = "Compute fp32 values in fp16, as the engine does",
    .description = "%x: fp32[C, S]  ==>  %x: fp16[C, S]",
    .stats = {{{"narrowed", "values narrowed"}}},
    // Constants are rounded.
    .tolerance = 1e-2,
    .needs = Need::NotCalled,
    .run = narrow,
};
