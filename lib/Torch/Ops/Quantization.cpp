//===- Quantization.cpp - quantized numbers -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Elementwise.h"

using namespace anec;
using namespace anec::torch;

namespace {
/// Scales and zero points, of all elements or of each entry of an axis.
struct Quantized {
  Val scale, zeroPoint; ///< in a shape that broadcasts
  double least = 0, most = 0;
};
} // namespace

static bool readQuantizedForm(Node &n, Val x, Quantized &form) {
  Emitter &e = n.e;
  bool isPerChannel = n.op().contains("per_channel");
  form.least = n.number("quant_min");
  form.most = n.number("quant_max");
  Val scale =
      e.cast(n.item(isPerChannel ? "scales" : "scale").val, DType::FP32);
  Val zero = e.scalar(DType::FP32, 0);
  StringRef zeroPoint = isPerChannel ? "zero_points" : "zero_point";
  if (n.has(zeroPoint))
    zero = e.cast(n.item(zeroPoint).val, DType::FP32);
  Shape shape;
  if (isPerChannel) {
    shape.assign(size_t(x.rank()), 1);
    shape[size_t(n.axis("axis", x.rank()))] = scale.size();
  }
  if (n.failed() || !scale || !zero)
    return false;
  form.scale = e.reshape(scale, shape);
  form.zeroPoint =
      zero.size() == 1 ? e.reshape(zero, {}) : e.reshape(zero, shape);
  return true;
}

static void quantize(Node &n) {
  Emitter &e = n.e;
  Val x = e.cast(n.in("input"), DType::FP32);
  n.ignore("dtype");
  Quantized form;
  if (!x || !readQuantizedForm(n, x, form))
    return;
  // As PyTorch does: times the inverse of the scale, which is rounded, too.
  Val inverse = e.div(e.scalar(DType::FP32, 1), form.scale);
  Val places = e.unary(ops::Round, e.mul(x, inverse));
  places = e.add(places, form.zeroPoint);
  places = e.binary(ops::Maximum, places, e.scalar(DType::FP32, form.least));
  places = e.binary(ops::Minimum, places, e.scalar(DType::FP32, form.most));
  n.out(e.cast(places, nativeType(n.outType())));
}

static void dequantize(Node &n) {
  Emitter &e = n.e;
  Val x = e.cast(n.in("input"), DType::FP32);
  n.ignore("dtype");
  n.ignore("out_dtype");
  Quantized form;
  if (!x || !readQuantizedForm(n, x, form))
    return;
  Val result = e.mul(e.sub(x, form.zeroPoint), form.scale);
  n.out(e.cast(result, nativeType(n.outType())));
}

static constexpr OpRow quantizationTable[] = {
    {"quantized_decomposed.dequantize_per_channel.default", dequantize},
    {"quantized_decomposed.dequantize_per_tensor.default", dequantize},
    {"quantized_decomposed.dequantize_per_tensor.tensor", dequantize},
    {"quantized_decomposed.quantize_per_channel.default", quantize},
    {"quantized_decomposed.quantize_per_tensor.default", quantize},
    {"quantized_decomposed.quantize_per_tensor.tensor", quantize},
};

llvm::ArrayRef<OpRow> torch::quantizationRows() { return quantizationTable; }
