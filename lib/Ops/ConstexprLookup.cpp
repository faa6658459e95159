//===- ConstexprLookup.cpp - constants from lookup tables -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Weights stored as indices of a few bits into tables of values.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rows/ConstexprLookup.h"
#include "Constexpr.h"
#include "Reference.h"
#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Params/Quantization.h"

namespace anec::param {
ANEC_PARAM(indicesMask, "indices_mask", Value)
ANEC_PARAM(indicesNonzeroData, "indices_nonzero_data", Value)
ANEC_PARAM(vectorAxis, "vector_axis", Int)
} // namespace anec::param

using namespace anec;

static constexpr DTypeSet tableTypes = {DType::FP16, DType::FP32, DType::Int8,
                                        DType::UInt8};
static constexpr DTypeSet indexTypes = {DType::UInt1, DType::UInt2,
                                        DType::UInt3, DType::UInt4,
                                        DType::UInt6, DType::UInt8};

/// The result shape of a lookup in tables [blocks..., entries, vector]: that of
/// `indices`, with the axis along which vectors lie multiplied by the vector
/// length.
static std::optional<Shape> inferLookup(InferContext &ctx,
                                        const TensorType &indices,
                                        DType indexType, unsigned lutSlot) {
  unsigned rank = indices.rank();
  if (!checkRank(ctx, lutSlot, rank + 2, rank + 2) || // C3
      !checkBlocks(ctx, lutSlot, indices.shape))      // C3
    return std::nullopt;
  const Shape &lut = ctx.type(lutSlot).shape;
  int64_t entries = int64_t(1) << bitWidth(indexType);
  if (lut[rank] != entries) { // C4
    ctx.fail(diag::TableSize(ctx.opName(), ctx.describeOperand(lutSlot),
                             lut[rank], spelling(indexType), entries),
             {lutSlot});
    return std::nullopt;
  }
  Shape shape = indices.shape;
  if (lut[rank + 1] == 1)
    return shape;
  if (!ctx.constant(param::vectorAxis)) { // C5
    ctx.fail(diag::MissingConstant(ctx.opName(), "vector_axis"));
    return std::nullopt;
  }
  int64_t axis = ctx.get(param::vectorAxis);
  if (!ctx.normalizeAxis(axis, rank)) // C5
    return std::nullopt;
  shape[axis] *= lut[rank + 1];
  return shape;
}

/// Writes the vectors that `indices`, of shape `dense`, select from the tables.
static void lookUp(EvalContext &ctx, llvm::ArrayRef<double> indices,
                   llvm::ArrayRef<int64_t> dense, const RefTensor &lut,
                   llvm::MutableArrayRef<double> out) {
  size_t rank = dense.size();
  int64_t entries = lut.type.shape[rank], vector = lut.type.shape[rank + 1];
  std::vector<int64_t> block =
      blockOfElements(dense, llvm::ArrayRef(lut.type.shape).take_front(rank));
  int64_t inner = 1;
  if (vector != 1) {
    int64_t axis = normalized(ctx.get(param::vectorAxis), rank);
    inner = viewAxis(dense, axis).inner;
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    const double *entry =
        &lut.data[(block[i] * entries + int64_t(indices[i])) * vector];
    // Element (o, n) of [.., inner] becomes (o, 0..vector, n).
    double *to = &out[int64_t(i) / inner * inner * vector + int64_t(i) % inner];
    for (int64_t v = 0; v < vector; ++v)
      to[v * inner] = entry[v];
  }
}

/// The number of bits of an index into a table of `entries`; 0 when `entries`
/// is not a supported table size.
static unsigned indexBits(int64_t entries) {
  for (unsigned bits : {1, 2, 4, 6, 8})
    if (entries == int64_t(1) << bits)
      return bits;
  return 0;
}

static bool inferPackedLookup(InferContext &ctx) {
  const TensorType &lut = ctx.type(1);
  if (!checkRank(ctx, 1, 1, 1))
    return false;
  unsigned bits = indexBits(lut.shape[0]);
  if (bits == 0) // C7
    return ctx.fail(diag::ParameterLength(ctx.opName(), "lut", lut.shape[0],
                                          "2, 4, 16, 64 or 256"),
                    {1});
  if (ctx.type(0).dtype != DType::UInt8) // C6
    return ctx.fail(diag::OperandDType(ctx.opName(), "indices",
                                       spelling(ctx.type(0).dtype), "uint8"),
                    {0});
  return checkPackedBytes(ctx, 0, bits) && // C6
         ctx.result({lut.dtype, ctx.get(param::shape)});
}

static bool inferLutToDense(InferContext &ctx) {
  if (!checkConstantOperands(ctx)) // C1
    return false;
  if (ctx.constant(param::shape)) {
    if (ctx.constant(param::vectorAxis)) // C2
      return ctx.fail(
          diag::EitherParameter(ctx.opName(), "shape", "vector_axis"));
    return inferPackedLookup(ctx);
  }
  auto shape = inferLookup(ctx, ctx.type(0), ctx.type(0).dtype, 1);
  return shape && ctx.result({ctx.type(1).dtype, *shape});
}

static void evalLutToDense(EvalContext &ctx) {
  const RefTensor &indices = *ctx.in[0], &lut = *ctx.in[1];
  RefTensor &out = ctx.out[0];
  if (!ctx.constant(param::shape))
    return lookUp(ctx, indices.data, indices.type.shape, lut, out.data);
  std::vector<double> numbers = unpackBits(
      indices.data, indexBits(lut.type.shape[0]), int64_t(out.data.size()));
  for (size_t i = 0; i < numbers.size(); ++i)
    out.data[i] = lut.data[int64_t(numbers[i])];
}

constinit const OpDef ops::ConstexprLutToDense = {
    .name = "constexpr_lut_to_dense",
    .summary = "Looks up `indices` in the table `lut`. With `shape` (before "
               "ios18), `indices` are bytes that hold packed numbers. Without "
               "it, `lut` has a table [entries, vector] for each block of "
               "`indices`, and vectors extend along `vector_axis`.",
    .family = "constexpr",
    .params =
        {value(param::indices, indexTypes, 'I'),
         value(param::lut, tableTypes, 'T'),
         ParamDef{
             param::shape, ParamKind::OptionalConstant, {DType::UInt32}, 0, 1},
         optionalConstant(param::vectorAxis, {DType::Int32})},
    .traits = trait::Mil | trait::Constexpr,
    .constraints = {constantOperands,
                    "at most one of `shape` and `vector_axis` is given",
                    "without `shape`, `lut` has two more axes than `indices`, "
                    "and its other extents divide those of `indices`",
                    "without `shape`, a table has an entry for each value of "
                    "the element type of `indices`",
                    "`vector_axis` is an axis of `indices`, and is required "
                    "when vectors have several elements",
                    "with `shape`, `indices` are uint8, with exactly the bytes "
                    "that the bits of all elements need",
                    "with `shape`, `lut` has 2, 4, 16, 64 or 256 entries"},
    .infer = inferLutToDense,
    .eval = evalLutToDense,
};

static bool inferLutToSparse(InferContext &ctx) {
  const TensorType &mask = ctx.type(0), &data = ctx.type(1), &lut = ctx.type(2);
  if (!checkConstantOperands(ctx) ||                  // C1
      !checkMaskCount(ctx, 0, mask.numElements(), 1)) // C2
    return false;
  auto shape = inferLookup(ctx, mask, data.dtype, 2);
  if (!shape)
    return false;
  ctx.results = {{DType::UInt1, *shape},
                 {lut.dtype, {data.shape[0] * lut.shape.back()}}};
  return true;
}

static void evalLutToSparse(EvalContext &ctx) {
  const RefTensor &mask = *ctx.in[0], &lut = *ctx.in[2];
  const Shape &dense = mask.type.shape;
  std::vector<double> entries(ctx.out[0].data.size());
  lookUp(ctx, spread(mask.data, ctx.in[1]->data), dense, lut, entries);
  // Expands the mask by the same lookup: its tables map a bit to a vector of
  // it.
  int64_t vector = lut.type.shape.back();
  RefTensor flags;
  flags.type = TensorType(DType::UInt1, Shape(dense.size(), 1));
  flags.type.shape.append({2, vector});
  flags.data.assign(2 * vector, 0.0);
  std::fill_n(flags.data.begin() + vector, vector, 1.0);
  lookUp(ctx, mask.data, dense, flags, ctx.out[0].data);
  gatherMasked(ctx.out[0].data, entries, ctx.out[1].data);
}

constinit const OpDef ops::ConstexprLutToSparse = {
    .name = "constexpr_lut_to_sparse",
    .summary = "`constexpr_lut_to_dense` applied to the indices that "
               "`indices_mask` selects. Returns the mask and the entries.",
    .family = "constexpr",
    .params = {value(param::indicesMask, {DType::UInt1}, 0),
               value(param::indicesNonzeroData, indexTypes, 'I'),
               value(param::lut, tableTypes, 'T'),
               optionalConstant(param::vectorAxis, {DType::Int32})},
    .traits = trait::Mil | trait::Constexpr,
    .constraints = {constantOperands,
                    "`indices_nonzero_data` has as many elements as "
                    "`indices_mask` selects",
                    "`lut` has two more axes than `indices_mask`, and its "
                    "other extents divide those of `indices_mask`",
                    "a table has an entry for each value of the element type "
                    "of `indices_nonzero_data`",
                    "`vector_axis` is an axis of `indices_mask`, and is "
                    "required when vectors have several elements"},
    .resultNames = {"mask", "nonzero_data"},
    .infer = inferLutToSparse,
    .eval = evalLutToSparse,
};
