//===- Constexpr.cpp - compressed constants ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Ops that unpack a weight from fewer bits. Their operands are constants or
/// results of such ops, so every backend can compute them once, when it loads a
/// program.
///
/// ios18 changed the parameters of two of them, constexpr_lut_to_dense and
/// constexpr_sparse_to_dense. Each has one row for both forms: the old form has
/// `shape`, and operands with bits packed in bytes; in the new form, operands
/// have sub-byte elements and the shape of the result.
///
//===----------------------------------------------------------------------===//

#include "Constexpr.h"
#include "Quantization.h"
#include "Reference.h"
#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Modes.h"
#include "lib/Ops/Params/Quantization.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Constexpr.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

namespace anec::param {
ANEC_PARAM(dataMask, "data_mask", Value)
ANEC_PARAM(offset, "offset", Value)
ANEC_PARAM(quantizedData, "quantized_data", Value)
ANEC_PARAM(sourceVal, "source_val", Value)
} // namespace anec::param

using namespace anec;

static constexpr DTypeSet quantizedTypes = {DType::FP16,  DType::FP32,
                                            DType::Int4,  DType::Int8,
                                            DType::UInt4, DType::UInt8};
static constexpr DTypeSet maskTypes = {DType::UInt1, DType::UInt8};

bool anec::checkConstantOperands(InferContext &ctx) {
  for (unsigned slot = 0; slot < ctx.operands.size(); ++slot) {
    if (!ctx.hasOperand(slot))
      continue;
    const Op *op = ctx.operands[slot]->definingOp();
    if (!op || !(op->is(ops::Const) || op->is(ops::Weight) ||
                 op->def().has(trait::Constexpr)))
      return ctx.fail(diag::NotConstant(ctx.opName(),
                                        valueParam(ctx.def, slot).name,
                                        ctx.operands[slot]->name),
                      {slot});
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Blocks: operands that have fewer elements along some axes
//===----------------------------------------------------------------------===//

bool anec::checkBlocks(InferContext &ctx, unsigned slot,
                       llvm::ArrayRef<int64_t> dense) {
  if (!ctx.hasOperand(slot))
    return true;
  llvm::ArrayRef<int64_t> blocks = ctx.type(slot).shape;
  for (size_t axis = 0; axis < dense.size(); ++axis)
    if (dense[axis] % blocks[axis])
      return ctx.fail(
          diag::BlockMismatch(ctx.opName(), valueParam(ctx.def, slot).name,
                              ctx.describeOperand(slot), shapeToString(dense)),
          {slot});
  return true;
}

std::vector<int64_t> anec::blockOfElements(llvm::ArrayRef<int64_t> dense,
                                           llvm::ArrayRef<int64_t> blocks) {
  // Splits each axis into (block, position in the block).
  Shape pairs, strides, blockStrides = rowMajorStrides(blocks);
  for (size_t axis = 0; axis < dense.size(); ++axis) {
    pairs.append({blocks[axis], dense[axis] / blocks[axis]});
    strides.append({blockStrides[axis], 0});
  }
  std::vector<int64_t> result;
  forEachElement<1>(pairs, {strides},
                    [&](const auto &at) { result.push_back(at[0]); });
  return result;
}

bool anec::checkMaskCount(InferContext &ctx, unsigned maskSlot, int64_t bits,
                          unsigned dataSlot) {
  if (!checkRank(ctx, dataSlot, 1, 1))
    return false;
  const Op *op = ctx.operands[maskSlot]->definingOp();
  if (!op->is(ops::Const))
    return true;
  const Constant &mask = *op->constant(param::val);
  int64_t set = 0;
  for (int64_t i = 0; i < bits; ++i)
    set += mask.dtype() == DType::UInt1
               ? mask.doubleAt(i) != 0
               : unsigned(mask.doubleAt(i / 8)) >> (i % 8) & 1;
  int64_t given = ctx.type(dataSlot).numElements();
  return set == given ||
         ctx.fail(diag::MaskCount(ctx.opName(), set,
                                  valueParam(ctx.def, dataSlot).name, given),
                  {maskSlot, dataSlot});
}

std::vector<double> anec::spread(llvm::ArrayRef<double> mask,
                                 llvm::ArrayRef<double> nonzero) {
  std::vector<double> dense(mask.size());
  size_t next = 0;
  for (size_t i = 0; i < mask.size(); ++i)
    if (mask[i] != 0 && next < nonzero.size())
      dense[i] = nonzero[next++];
  return dense;
}

void anec::gatherMasked(llvm::ArrayRef<double> mask,
                        llvm::ArrayRef<double> dense,
                        llvm::MutableArrayRef<double> nonzero) {
  size_t next = 0;
  for (size_t i = 0; i < mask.size(); ++i)
    if (mask[i] != 0 && next < nonzero.size())
      nonzero[next++] = dense[i];
}

std::vector<double> anec::unpackBits(llvm::ArrayRef<double> bytes,
                                     unsigned bits, int64_t count) {
  std::vector<double> numbers(count);
  for (int64_t i = 0; i < count; ++i)
    for (unsigned bit = 0; bit < bits; ++bit) {
      int64_t position = i * bits + bit;
      unsigned byte = unsigned(bytes[position / 8]);
      numbers[i] += double((byte >> (position % 8) & 1) << bit);
    }
  return numbers;
}

std::optional<int64_t> anec::checkPackedBytes(InferContext &ctx, unsigned slot,
                                              unsigned bits) {
  Shape shape = ctx.get(param::shape);
  if (!checkRange(ctx, param::shape, 1) || !checkRank(ctx, slot, 1, 1))
    return std::nullopt;
  std::optional<int64_t> count = checkedNumElements(shape);
  if (!count || *count > INT64_MAX / 8) {
    ctx.fail(diag::TypeTooLarge(shapeToString(shape)));
    return std::nullopt;
  }
  if (!checkShape(ctx, slot, int64_t(llvm::divideCeil(*count * bits, 8))))
    return std::nullopt;
  return count;
}

//===----------------------------------------------------------------------===//
// constexpr_affine_dequantize, constexpr_cast
//===----------------------------------------------------------------------===//

static bool inferAffineDequantize(InferContext &ctx) {
  const TensorType &data = ctx.type(0);
  int64_t axis = ctx.get(param::axis);
  return checkConstantOperands(ctx) &&             // C1
         ctx.normalizeAxis(axis, data.rank()) &&   // C2
         checkPerAxis(ctx, 1, data.shape[axis]) && // C3
         checkPerAxis(ctx, 2, data.shape[axis]) && // C3
         ctx.result({ctx.type(2).dtype, data.shape});
}

static void evalAffineDequantize(EvalContext &ctx) {
  dequantize(*ctx.in[0], ctx.in[1], *ctx.in[2], ctx.get(param::axis),
             ctx.out[0]);
}

constinit const OpDef ops::ConstexprAffineDequantize = {
    .name = "constexpr_affine_dequantize",
    .summary =
        "`scale` * (`quantized_data` - `zero_point`), with one scale and "
        "zero point, or one for each element along `axis`.",
    .family = "constexpr",
    .params = {value(param::quantizedData, {DType::Int8, DType::UInt8}, 'S'),
               value(param::zeroPoint, {DType::FP32, DType::Int8, DType::UInt8},
                     0),
               value(param::scale, floats, 'D'), integer(param::axis)},
    .traits = trait::Mil | trait::Constexpr,
    .constraints = {constantOperands, "`axis` is an axis of `quantized_data`",
                    "`scale` and `zero_point` are scalars, or have an element "
                    "for each element along `axis`"},
    .infer = inferAffineDequantize,
    .eval = evalAffineDequantize,
};

static bool inferConstexprCast(InferContext &ctx) {
  return checkConstantOperands(ctx) &&                         // C1
         checkDType(ctx, param::outputDtype, {DType::FP32}) && // C2
         ctx.result({DType::FP32, ctx.type(0).shape});
}

static void evalConstexprCast(EvalContext &ctx) {
  ctx.out[0].data = ctx.in[0]->data;
}

constinit const OpDef ops::ConstexprCast = {
    .name = "constexpr_cast",
    .summary = "Converts `source_val` to `output_dtype`.",
    .family = "constexpr",
    .params = {value(param::sourceVal, {DType::FP16}),
               dtypeName(param::outputDtype)},
    .traits = trait::Mil | trait::Constexpr,
    .constraints = {constantOperands, "`output_dtype` is fp32"},
    .infer = inferConstexprCast,
    .eval = evalConstexprCast,
};

//===----------------------------------------------------------------------===//
// constexpr_blockwise_shift_scale and its sparse form
//===----------------------------------------------------------------------===//

/// Checks `scale` (operand `scaleSlot`) and `offset` (the next) for data of
/// shape `dense`.
static bool checkShiftScale(InferContext &ctx, llvm::ArrayRef<int64_t> dense,
                            unsigned scaleSlot) {
  unsigned offsetSlot = scaleSlot + 1, dataSlot = scaleSlot - 1;
  if (!checkRank(ctx, scaleSlot, dense.size(), dense.size()) || // C2
      !checkBlocks(ctx, scaleSlot, dense) ||                    // C2
      !checkShape(ctx, offsetSlot, ctx.type(scaleSlot).shape))  // C3
    return false;
  if (!ctx.hasOperand(offsetSlot) || isFloat(ctx.type(offsetSlot).dtype) ||
      ctx.type(offsetSlot).dtype == ctx.type(dataSlot).dtype)
    return true;
  return ctx.fail(diag::DTypeMismatch( // C3
                      ctx.opName(), valueParam(ctx.def, dataSlot).name,
                      "offset", spelling(ctx.type(dataSlot).dtype),
                      spelling(ctx.type(offsetSlot).dtype)),
                  {dataSlot, offsetSlot});
}

static std::vector<double> shiftScale(llvm::ArrayRef<double> data,
                                      llvm::ArrayRef<int64_t> dense,
                                      const RefTensor &scale,
                                      const RefTensor *offset) {
  std::vector<int64_t> block = blockOfElements(dense, scale.type.shape);
  std::vector<double> result(data.size());
  for (size_t i = 0; i < data.size(); ++i) {
    double shift = offset ? offset->data[block[i]] : 0.0;
    result[i] = scale.data[block[i]] * (data[i] - shift);
  }
  return result;
}

static bool inferBlockwiseShiftScale(InferContext &ctx) {
  const TensorType &data = ctx.type(0);
  return checkConstantOperands(ctx) && // C1
         checkShiftScale(ctx, data.shape, 1) &&
         ctx.result({ctx.type(1).dtype, data.shape});
}

static void evalBlockwiseShiftScale(EvalContext &ctx) {
  const RefTensor &data = *ctx.in[0];
  ctx.out[0].data =
      shiftScale(data.data, data.type.shape, *ctx.in[1], operandOrNull(ctx, 2));
}

constinit const OpDef ops::ConstexprBlockwiseShiftScale = {
    .name = "constexpr_blockwise_shift_scale",
    .summary = "`scale` * (`data` - `offset`), where each element of `scale` "
               "and `offset` applies to one block of `data`.",
    .family = "constexpr",
    .params = {value(param::data, quantizedTypes, 'S'),
               value(param::scale, floats, 'D'),
               optionalValue(param::offset, quantizedTypes, 'O')},
    .traits = trait::Mil | trait::Constexpr,
    .constraints = {constantOperands,
                    "`scale` has the rank of `data`, and extents that divide "
                    "those of `data`",
                    "`offset` has the shape of `scale`, and the element "
                    "type of the data or a float type"},
    .infer = inferBlockwiseShiftScale,
    .eval = evalBlockwiseShiftScale,
};

static bool inferSparseShiftScale(InferContext &ctx) {
  const TensorType &mask = ctx.type(0), &data = ctx.type(1);
  if (!checkConstantOperands(ctx) || // C1
      !checkShiftScale(ctx, mask.shape, 2) ||
      !checkMaskCount(ctx, 0, mask.numElements(), 1)) // C4
    return false;
  ctx.results = {mask, {ctx.type(2).dtype, data.shape}};
  return true;
}

static void evalSparseShiftScale(EvalContext &ctx) {
  const RefTensor &mask = *ctx.in[0];
  ctx.out[0].data = mask.data;
  gatherMasked(mask.data,
               shiftScale(spread(mask.data, ctx.in[1]->data), mask.type.shape,
                          *ctx.in[2], operandOrNull(ctx, 3)),
               ctx.out[1].data);
}

constinit const OpDef ops::ConstexprSparseBlockwiseShiftScale = {
    .name = "constexpr_sparse_blockwise_shift_scale",
    .summary = "`constexpr_blockwise_shift_scale` applied to the elements that "
               "`data_mask` selects. Returns the mask and these elements.",
    .family = "constexpr",
    .params = {value(param::dataMask, {DType::UInt1}, 0),
               value(param::nonzeroData, quantizedTypes, 'S'),
               value(param::scale, floats, 'D'),
               optionalValue(param::offset, quantizedTypes, 'O')},
    .traits = trait::Mil | trait::Constexpr,
    .constraints =
        {constantOperands,
         "`scale` has the rank of `data_mask`, and extents that "
         "divide those of `data_mask`",
         "`offset` has the shape of `scale`, and the element "
         "type of the data or a float type",
         "`nonzero_data` has as many elements as `data_mask` selects"},
    .resultNames = {"mask", "nonzero_data"},
    .infer = inferSparseShiftScale,
    .eval = evalSparseShiftScale,
};

//===----------------------------------------------------------------------===//
// constexpr_sparse_to_dense
//===----------------------------------------------------------------------===//

static bool inferSparseToDense(InferContext &ctx) {
  const TensorType &data = ctx.type(0), &mask = ctx.type(1);
  if (!checkConstantOperands(ctx)) // C1
    return false;
  bool packed = ctx.constant(param::shape) != nullptr;
  if (mask.dtype != (packed ? DType::UInt8 : DType::UInt1)) // C2
    return ctx.fail(diag::OperandDType(ctx.opName(), "mask",
                                       spelling(mask.dtype),
                                       packed ? "uint8" : "uint1"),
                    {1});
  Shape shape = packed ? ctx.get(param::shape) : mask.shape;
  auto count = packed ? checkPackedBytes(ctx, 1, 1) // C3
                      : mask.numElements();
  return count && checkMaskCount(ctx, 1, *count, 0) && // C4
         ctx.result({data.dtype, shape});
}

static void evalSparseToDense(EvalContext &ctx) {
  const RefTensor &data = *ctx.in[0], &mask = *ctx.in[1];
  RefTensor &out = ctx.out[0];
  out.data = ctx.constant(param::shape)
                 ? spread(unpackBits(mask.data, 1, int64_t(out.data.size())),
                          data.data)
                 : spread(mask.data, data.data);
}

constinit const OpDef ops::ConstexprSparseToDense = {
    .name = "constexpr_sparse_to_dense",
    .summary = "`nonzero_data` where `mask` is set, 0 elsewhere. With `shape` "
               "(before ios18), `mask` is an array of bytes that hold one bit "
               "per element. Without it, `mask` has the shape of the result.",
    .family = "constexpr",
    .params =
        {value(param::nonzeroData, quantizedTypes, 'T'),
         value(param::mask, maskTypes, 0),
         ParamDef{
             param::shape, ParamKind::OptionalConstant, {DType::UInt32}, 0, 1}},
    .traits = trait::Mil | trait::Constexpr,
    .constraints = {constantOperands,
                    "`mask` is uint8 with `shape`, and uint1 without",
                    "with `shape`, `mask` has the bytes for all elements",
                    "`nonzero_data` has as many elements as `mask` selects"},
    .infer = inferSparseToDense,
    .eval = evalSparseToDense,
};
