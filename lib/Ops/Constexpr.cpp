//===- Constexpr.cpp - compressed constants ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Ops that unpack a weight from fewer bits. Their operands are constants, or
/// unpacked from constants themselves, so that every backend can compute them
/// once, when it loads a program.
///
/// ios18 gave two of them, constexpr_lut_to_dense and
/// constexpr_sparse_to_dense, new parameters under the old name. Each has one
/// row for both forms: with `shape` it is the old one, whose packed bits are
/// spelled as bytes and need to be told a shape; without, the new one, whose
/// operands have sub-byte elements and the shape of the result.
///
//===----------------------------------------------------------------------===//

#include "Infer.h"
#include "Quantization.h"
#include "Reference.h"
#include "anec/IR/Diags.h"
#include "anec/Ops/Diags.h"
#include "anec/Ops/Ops.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace anec;

static constexpr DTypeSet quantizedTypes = {DType::FP16,  DType::FP32,
                                            DType::Int4,  DType::Int8,
                                            DType::UInt4, DType::UInt8};
static constexpr DTypeSet tableTypes = {DType::FP16, DType::FP32, DType::Int8,
                                        DType::UInt8};
static constexpr DTypeSet indexTypes = {DType::UInt1, DType::UInt2,
                                        DType::UInt3, DType::UInt4,
                                        DType::UInt6, DType::UInt8};
static constexpr DTypeSet maskTypes = {DType::UInt1, DType::UInt8};

static constexpr llvm::StringLiteral constantOperands =
    "operands are constants, or unpacked from constants";

static bool checkConstantOperands(InferContext &ctx) {
  for (unsigned slot = 0; slot < ctx.operands.size(); ++slot) {
    if (!ctx.hasOperand(slot))
      continue;
    const Op *op = ctx.operands[slot]->definingOp();
    if (!op || !(op->is(ops::Const) || op->is(ops::Weight) ||
                 op->def().has(trait::Constexpr)))
      return ctx.fail(diag::NotConstant,
                      {ctx.def.name.str(), valueParam(ctx.def, slot).name.str(),
                       ctx.operands[slot]->name},
                      {slot});
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Blocks: operands that have fewer elements along some axes
//===----------------------------------------------------------------------===//

/// Whether the leading extents of operand `slot` divide those of `dense`.
static bool checkBlocks(InferContext &ctx, unsigned slot,
                        llvm::ArrayRef<int64_t> dense) {
  if (!ctx.hasOperand(slot))
    return true;
  llvm::ArrayRef<int64_t> blocks = ctx.type(slot).shape;
  for (size_t axis = 0; axis < dense.size(); ++axis)
    if (dense[axis] % blocks[axis])
      return ctx.fail(diag::BlockMismatch,
                      {ctx.def.name.str(), valueParam(ctx.def, slot).name.str(),
                       ctx.describeOperand(slot), shapeToString(dense)},
                      {slot});
  return true;
}

/// For each element of a row-major tensor of shape `dense`, the element of the
/// row-major tensor of as many blocks that it lies in.
static std::vector<int64_t> blockOfElements(llvm::ArrayRef<int64_t> dense,
                                            llvm::ArrayRef<int64_t> blocks) {
  // Each axis becomes a pair (block, position in it).
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

/// Whether `count` elements are as many as the bits that are set in the mask
/// (which can only be known of a constant).
static bool checkMaskCount(InferContext &ctx, unsigned maskSlot, int64_t bits,
                           unsigned dataSlot) {
  if (!checkRank(ctx, dataSlot, 1, 1))
    return false;
  const Op *op = ctx.operands[maskSlot]->definingOp();
  if (!op->is(ops::Const))
    return true;
  const Constant &mask = *op->constant("val");
  int64_t set = 0;
  for (int64_t i = 0; i < bits; ++i)
    set += mask.dtype() == DType::UInt1
               ? mask.doubleAt(i) != 0
               : unsigned(mask.doubleAt(i / 8)) >> (i % 8) & 1;
  int64_t given = ctx.type(dataSlot).numElements();
  return set == given || ctx.fail(diag::MaskCount,
                                  {ctx.def.name.str(), std::to_string(set),
                                   valueParam(ctx.def, dataSlot).name.str(),
                                   std::to_string(given)},
                                  {maskSlot, dataSlot});
}

/// Puts `nonzero` where `mask` is set, and 0 elsewhere.
static std::vector<double> spread(llvm::ArrayRef<double> mask,
                                  llvm::ArrayRef<double> nonzero) {
  std::vector<double> dense(mask.size());
  size_t next = 0;
  for (size_t i = 0; i < mask.size(); ++i)
    if (mask[i] != 0 && next < nonzero.size())
      dense[i] = nonzero[next++];
  return dense;
}

/// The elements of `dense` where `mask` is set.
static void gatherMasked(llvm::ArrayRef<double> mask,
                         llvm::ArrayRef<double> dense,
                         llvm::MutableArrayRef<double> nonzero) {
  size_t next = 0;
  for (size_t i = 0; i < mask.size(); ++i)
    if (mask[i] != 0 && next < nonzero.size())
      nonzero[next++] = dense[i];
}

/// Numbers of `bits` bits from bytes, low bits first.
static std::vector<double> unpackBits(llvm::ArrayRef<double> bytes,
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

/// Checks parameter `shape` and that operand 0 has the bytes for `bits` bits
/// per element of it.
static std::optional<int64_t> checkPackedBytes(InferContext &ctx, unsigned slot,
                                               unsigned bits) {
  Shape shape = ctx.intsAttr("shape");
  if (!checkRange(ctx, "shape", 1) || !checkRank(ctx, slot, 1, 1))
    return std::nullopt;
  std::optional<int64_t> count = checkedNumElements(shape);
  if (!count || *count > INT64_MAX / 8) {
    ctx.fail(diag::TypeTooLarge, {shapeToString(shape)});
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
  int64_t axis = ctx.intAttr("axis");
  return checkConstantOperands(ctx) &&             // C1
         ctx.normalizeAxis(axis, data.rank()) &&   // C2
         checkPerAxis(ctx, 1, data.shape[axis]) && // C3
         checkPerAxis(ctx, 2, data.shape[axis]) && // C3
         ctx.result({ctx.type(2).dtype, data.shape});
}

static void evalAffineDequantize(EvalContext &ctx) {
  dequantize(*ctx.in[0], ctx.in[1], *ctx.in[2], ctx.intAttr("axis"),
             ctx.out[0]);
}

constinit const OpDef ops::ConstexprAffineDequantize = {
    .name = "constexpr_affine_dequantize",
    .summary =
        "`scale` * (`quantized_data` - `zero_point`), with one scale and "
        "zero point, or one for each element along `axis`.",
    .family = "constexpr",
    .params = {value("quantized_data", {DType::Int8, DType::UInt8}, 'S'),
               value("zero_point", {DType::FP32, DType::Int8, DType::UInt8}, 0),
               value("scale", floats, 'D'), integer("axis")},
    .traits = trait::Mil | trait::Constexpr,
    .constraints = {constantOperands, "`axis` is an axis of `quantized_data`",
                    "`scale` and `zero_point` are scalars, or have an element "
                    "for each along `axis`"},
    .infer = inferAffineDequantize,
    .eval = evalAffineDequantize,
};

static bool inferConstexprCast(InferContext &ctx) {
  return checkConstantOperands(ctx) &&                 // C1
         checkChoice(ctx, "output_dtype", {"fp32"}) && // C2
         ctx.result({DType::FP32, ctx.type(0).shape});
}

static void evalConstexprCast(EvalContext &ctx) {
  ctx.out[0].data = ctx.in[0]->data;
}

constinit const OpDef ops::ConstexprCast = {
    .name = "constexpr_cast",
    .summary = "`source_val` as `output_dtype`.",
    .family = "constexpr",
    .params = {value("source_val", {DType::FP16}), text("output_dtype")},
    .traits = trait::Mil | trait::Constexpr,
    .constraints = {constantOperands, "`output_dtype` is fp32"},
    .infer = inferConstexprCast,
    .eval = evalConstexprCast,
};

//===----------------------------------------------------------------------===//
// constexpr_blockwise_shift_scale and its sparse form
//===----------------------------------------------------------------------===//

/// Checks `scale` and `offset` (`scaleSlot` and the next) for data of `dense`.
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
  return ctx.fail(diag::DTypeMismatch, // C3
                  {ctx.def.name.str(), valueParam(ctx.def, dataSlot).name.str(),
                   "offset", spelling(ctx.type(dataSlot).dtype).str(),
                   spelling(ctx.type(offsetSlot).dtype).str()},
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
               "and `offset` is for a block of `data`.",
    .family = "constexpr",
    .params = {value("data", quantizedTypes, 'S'), value("scale", floats, 'D'),
               optionalValue("offset", quantizedTypes, 'O')},
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
    .summary = "constexpr_blockwise_shift_scale of the elements that "
               "`data_mask` keeps; gives the mask and these elements.",
    .family = "constexpr",
    .params = {value("data_mask", {DType::UInt1}, 0),
               value("nonzero_data", quantizedTypes, 'S'),
               value("scale", floats, 'D'),
               optionalValue("offset", quantizedTypes, 'O')},
    .traits = trait::Mil | trait::Constexpr,
    .constraints = {constantOperands,
                    "`scale` has the rank of `data_mask`, and extents that "
                    "divide those of `data_mask`",
                    "`offset` has the shape of `scale`, and the element "
                    "type of the data or a float type",
                    "`nonzero_data` has as many elements as `data_mask` keeps"},
    .resultNames = {"mask", "nonzero_data"},
    .infer = inferSparseShiftScale,
    .eval = evalSparseShiftScale,
};

//===----------------------------------------------------------------------===//
// constexpr_lut_to_dense and its sparse form
//===----------------------------------------------------------------------===//

/// What a table of tables [blocks..., entries, vector] makes of indices: the
/// shape of `indices`, with the axis that vectors lie along as much longer.
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
    ctx.fail(diag::TableSize,
             {ctx.def.name.str(), ctx.describeOperand(lutSlot),
              std::to_string(lut[rank]), spelling(indexType).str(),
              std::to_string(entries)},
             {lutSlot});
    return std::nullopt;
  }
  Shape shape = indices.shape;
  if (lut[rank + 1] == 1)
    return shape;
  if (!ctx.constant("vector_axis")) { // C5
    ctx.fail(diag::MissingConstant, {ctx.def.name.str(), "vector_axis"});
    return std::nullopt;
  }
  int64_t axis = ctx.intAttr("vector_axis");
  if (!ctx.normalizeAxis(axis, rank)) // C5
    return std::nullopt;
  shape[axis] *= lut[rank + 1];
  return shape;
}

/// Writes the table's vectors that `indices`, of shape `dense`, name.
static void lookUp(EvalContext &ctx, llvm::ArrayRef<double> indices,
                   llvm::ArrayRef<int64_t> dense, const RefTensor &lut,
                   llvm::MutableArrayRef<double> out) {
  size_t rank = dense.size();
  int64_t entries = lut.type.shape[rank], vector = lut.type.shape[rank + 1];
  std::vector<int64_t> block =
      blockOfElements(dense, llvm::ArrayRef(lut.type.shape).take_front(rank));
  int64_t inner = 1;
  if (vector != 1) {
    int64_t axis = normalized(ctx.intAttr("vector_axis"), rank);
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

/// The number of bits of an index into a table of `entries`; 0 when there is
/// no such number.
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
    return ctx.fail(diag::ParameterLength,
                    {ctx.def.name.str(), "lut", std::to_string(lut.shape[0]),
                     "2, 4, 16, 64 or 256"},
                    {1});
  if (ctx.type(0).dtype != DType::UInt8) // C6
    return ctx.fail(diag::OperandDType,
                    {ctx.def.name.str(), "indices",
                     spelling(ctx.type(0).dtype).str(), "uint8"},
                    {0});
  return checkPackedBytes(ctx, 0, bits) && // C6
         ctx.result({lut.dtype, ctx.intsAttr("shape")});
}

static bool inferLutToDense(InferContext &ctx) {
  if (!checkConstantOperands(ctx)) // C1
    return false;
  if (ctx.constant("shape")) {
    if (ctx.constant("vector_axis")) // C2
      return ctx.fail(diag::EitherParameter,
                      {ctx.def.name.str(), "shape", "vector_axis"});
    return inferPackedLookup(ctx);
  }
  auto shape = inferLookup(ctx, ctx.type(0), ctx.type(0).dtype, 1);
  return shape && ctx.result({ctx.type(1).dtype, *shape});
}

static void evalLutToDense(EvalContext &ctx) {
  const RefTensor &indices = *ctx.in[0], &lut = *ctx.in[1];
  RefTensor &out = ctx.out[0];
  if (!ctx.constant("shape"))
    return lookUp(ctx, indices.data, indices.type.shape, lut, out.data);
  std::vector<double> numbers = unpackBits(
      indices.data, indexBits(lut.type.shape[0]), int64_t(out.data.size()));
  for (size_t i = 0; i < numbers.size(); ++i)
    out.data[i] = lut.data[int64_t(numbers[i])];
}

constinit const OpDef ops::ConstexprLutToDense = {
    .name = "constexpr_lut_to_dense",
    .summary = "The entries of `lut` that `indices` name. With `shape` "
               "(until ios18), `indices` are bytes that hold packed numbers; "
               "without, `lut` is a table [entries, vector] for each block of "
               "`indices`, and the vectors lie along `vector_axis`.",
    .family = "constexpr",
    .params = {value("indices", indexTypes, 'I'), value("lut", tableTypes, 'T'),
               ParamDef{
                   "shape", ParamKind::OptionalConstant, {DType::UInt32}, 0, 1},
               optionalConstant("vector_axis", {DType::Int32}, 0)},
    .traits = trait::Mil | trait::Constexpr,
    .constraints = {constantOperands,
                    "at most one of `shape` and `vector_axis` is given",
                    "without `shape`, `lut` has two more axes than `indices`, "
                    "and its others divide those of `indices`",
                    "without `shape`, a table has an entry for each value of "
                    "the element type of `indices`",
                    "`vector_axis` is an axis of `indices`, and given when "
                    "vectors have several elements",
                    "with `shape`, `indices` are uint8, as many as hold the "
                    "bits of all elements",
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
  // The mask is looked up the same way, in tables of what the element is.
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
    .summary = "constexpr_lut_to_dense of the indices that `indices_mask` "
               "keeps; gives the mask and the entries.",
    .family = "constexpr",
    .params = {value("indices_mask", {DType::UInt1}, 0),
               value("indices_nonzero_data", indexTypes, 'I'),
               value("lut", tableTypes, 'T'),
               optionalConstant("vector_axis", {DType::Int32}, 0)},
    .traits = trait::Mil | trait::Constexpr,
    .constraints = {constantOperands,
                    "`indices_nonzero_data` has as many elements as "
                    "`indices_mask` keeps",
                    "`lut` has two more axes than `indices_mask`, and its "
                    "others divide those of `indices_mask`",
                    "a table has an entry for each value of the element type "
                    "of `indices_nonzero_data`",
                    "`vector_axis` is an axis of `indices_mask`, and given "
                    "when vectors have several elements"},
    .resultNames = {"mask", "nonzero_data"},
    .infer = inferLutToSparse,
    .eval = evalLutToSparse,
};

//===----------------------------------------------------------------------===//
// constexpr_sparse_to_dense
//===----------------------------------------------------------------------===//

static bool inferSparseToDense(InferContext &ctx) {
  const TensorType &data = ctx.type(0), &mask = ctx.type(1);
  if (!checkConstantOperands(ctx)) // C1
    return false;
  bool packed = ctx.constant("shape") != nullptr;
  if (mask.dtype != (packed ? DType::UInt8 : DType::UInt1)) // C2
    return ctx.fail(diag::OperandDType,
                    {ctx.def.name.str(), "mask", spelling(mask.dtype).str(),
                     packed ? "uint8" : "uint1"},
                    {1});
  Shape shape = packed ? ctx.intsAttr("shape") : mask.shape;
  auto count = packed ? checkPackedBytes(ctx, 1, 1) // C3
                      : mask.numElements();
  return count && checkMaskCount(ctx, 1, *count, 0) && // C4
         ctx.result({data.dtype, shape});
}

static void evalSparseToDense(EvalContext &ctx) {
  const RefTensor &data = *ctx.in[0], &mask = *ctx.in[1];
  RefTensor &out = ctx.out[0];
  out.data = ctx.constant("shape")
                 ? spread(unpackBits(mask.data, 1, int64_t(out.data.size())),
                          data.data)
                 : spread(mask.data, data.data);
}

constinit const OpDef ops::ConstexprSparseToDense = {
    .name = "constexpr_sparse_to_dense",
    .summary = "`nonzero_data` where `mask` is set, 0 elsewhere. With `shape` "
               "(until ios18), `mask` is bytes that hold a bit per element; "
               "without, it has the shape of the result.",
    .family = "constexpr",
    .params =
        {value("nonzero_data", quantizedTypes, 'T'),
         value("mask", maskTypes, 0),
         ParamDef{"shape", ParamKind::OptionalConstant, {DType::UInt32}, 0, 1}},
    .traits = trait::Mil | trait::Constexpr,
    .constraints = {constantOperands,
                    "`mask` is uint8 with `shape`, and uint1 without",
                    "with `shape`, `mask` has the bytes for all elements",
                    "`nonzero_data` has as many elements as `mask` keeps"},
    .infer = inferSparseToDense,
    .eval = evalSparseToDense,
};
