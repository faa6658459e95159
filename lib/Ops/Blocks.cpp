//===- Blocks.cpp - blocks of pixels to channels and back -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Ops that move the b x b pixels of blocks into channels or images, and back.
/// Each is a reshape, a transpose and a reshape. With a = row and b = column
/// within the block, of [N, C, H, W]:
///
///   depth_to_space    N (a b C) H W    -> N C (H a) (W b)
///   pixel_shuffle     N (C a b) H W    -> N C (H a) (W b)
///   batch_to_space    (a b N) C H W    -> N C (H a) (W b), then cropped
///
/// space_to_depth, pixel_unshuffle and space_to_batch are the inverses.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Params/Blocks.h"
#include "Infer.h"
#include "Reference.h"
#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Positions.h"
#include "lib/Ops/Rows/Blocks.h"

namespace anec::param {
ANEC_PARAM(blockShape, "block_shape", Ints)
ANEC_PARAM(crops, "crops", Ints)
ANEC_PARAM(downscaleFactor, "downscale_factor", Int)
ANEC_PARAM(paddings, "paddings", Ints)
} // namespace anec::param

using namespace anec;

/// Writes x, reshaped to `split`, with its axes permuted by `perm`.
static void transposeSplit(const std::vector<double> &x,
                           llvm::ArrayRef<int64_t> split,
                           llvm::ArrayRef<int64_t> perm,
                           std::vector<double> &out) {
  Shape strides = rowMajorStrides(split), shape, from;
  for (int64_t axis : perm) {
    shape.push_back(split[axis]);
    from.push_back(strides[axis]);
  }
  copyElements(shape, x.data(), from, out.data(), rowMajorStrides(shape));
}

/// Whether `divisor` divides the extent of axis `axis` of x.
static bool checkDivides(InferContext &ctx, unsigned axis, int64_t extent,
                         int64_t divisor) {
  return extent % divisor == 0 ||
         ctx.fail(diag::BlockUneven(ctx.opName(), ctx.describeOperand(0), axis,
                                    extent, divisor),
                  {0});
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

/// The constant parameter of these ops: the height and width of a block in
/// pixels.
static int64_t blockSize(const OpDef &def,
                         llvm::ArrayRef<ConstantRef> constants) {
  return constants[0]->asInt();
}

/// Keeps the square of a block size within 32 bits.
static constexpr int64_t maxBlock = 46340;

static bool inferToSpace(InferContext &ctx) {
  ConstantParam name = ctx.def.parameters()[1].asConstant();
  if (!checkRank(ctx, 0, 4, 4) ||          // C1
      !checkRange(ctx, name, 1, maxBlock)) // C2
    return false;
  TensorType type = ctx.type(0);
  int64_t block = blockSize(ctx.def, ctx.constants);
  if (!checkDivides(ctx, 1, type.shape[1], block * block)) // C3
    return false;
  type.shape[1] /= block * block;
  type.shape[2] *= block;
  type.shape[3] *= block;
  return ctx.result(type);
}

static bool inferToDepth(InferContext &ctx) {
  ConstantParam name = ctx.def.parameters()[1].asConstant();
  if (!checkRank(ctx, 0, 4, 4) ||          // C1
      !checkRange(ctx, name, 1, maxBlock)) // C2
    return false;
  TensorType type = ctx.type(0);
  int64_t block = blockSize(ctx.def, ctx.constants);
  if (!checkDivides(ctx, 2, type.shape[2], block) || // C3
      !checkDivides(ctx, 3, type.shape[3], block))   // C3
    return false;
  type.shape[1] *= block * block;
  type.shape[2] /= block;
  type.shape[3] /= block;
  return ctx.result(type);
}

static void evalDepthToSpace(EvalContext &ctx) {
  const Shape &x = ctx.in[0]->type.shape;
  int64_t b = blockSize(ctx.def, ctx.constants);
  transposeSplit(ctx.in[0]->data, {x[0], b, b, x[1] / (b * b), x[2], x[3]},
                 {0, 3, 4, 1, 5, 2}, ctx.out[0].data);
}

static void evalSpaceToDepth(EvalContext &ctx) {
  const Shape &x = ctx.in[0]->type.shape;
  int64_t b = blockSize(ctx.def, ctx.constants);
  transposeSplit(ctx.in[0]->data, {x[0], x[1], x[2] / b, b, x[3] / b, b},
                 {0, 3, 5, 1, 2, 4}, ctx.out[0].data);
}

static void evalPixelShuffle(EvalContext &ctx) {
  const Shape &x = ctx.in[0]->type.shape;
  int64_t b = blockSize(ctx.def, ctx.constants);
  transposeSplit(ctx.in[0]->data, {x[0], x[1] / (b * b), b, b, x[2], x[3]},
                 {0, 1, 4, 2, 5, 3}, ctx.out[0].data);
}

static void evalPixelUnshuffle(EvalContext &ctx) {
  const Shape &x = ctx.in[0]->type.shape;
  int64_t b = blockSize(ctx.def, ctx.constants);
  transposeSplit(ctx.in[0]->data, {x[0], x[1], x[2] / b, b, x[3] / b, b},
                 {0, 1, 3, 5, 2, 4}, ctx.out[0].data);
}

static constexpr OpDef channelBlocks(llvm::StringLiteral name,
                                     llvm::StringLiteral summary,
                                     ParamDef block, bool toSpace,
                                     void (*eval)(EvalContext &),
                                     void (*gradient)(Gradient &)) {
  return {
      .name = name,
      .summary = summary,
      .family = "blocks",
      .params = {value(param::x, floats, 'T', "[images, channels, H, W]"),
                 block},
      .traits = trait::Mil | trait::DataMovement,
      .constraints = {"`x` has rank 4", "blocks are 1 to 46340 wide",
                      toSpace
                          ? "the number of pixels of a block divides the "
                            "number of channels"
                          : "the block size divides the height and the width"},
      .infer = toSpace ? inferToSpace : inferToDepth,
      .eval = eval,
      .gradient = gradient,
      .positions = {positions::moved}};
}

/// dx = inverse(dy)
template <const OpDef &inverse>
static void gradientChannelBlocks(Gradient &g) {
  const ParamDef &block = inverse.params[1];
  DType dtype =
      block.dtypes.contains(DType::Int32) ? DType::Int32 : DType::UInt32;
  g.give(0, [&] {
    int64_t size = blockSize(g.op.def(), g.op.constants());
    return g.make(
        inverse, {g.dy()},
        Attr(block.asConstant(), Constant::scalar(dtype, double(size))));
  });
}

constinit const OpDef ops::DepthToSpace = channelBlocks(
    "depth_to_space",
    "Moves groups of channels into blocks of `block_size` x `block_size` "
    "pixels. The pixel is the major index of the channels of `x`.",
    integer(param::blockSize), true, evalDepthToSpace,
    gradientChannelBlocks<ops::SpaceToDepth>);
constinit const OpDef ops::SpaceToDepth = channelBlocks(
    "space_to_depth",
    "Moves the pixels of blocks of `block_size` x `block_size` into channels. "
    "The pixel is the major index of the channels of the result.",
    integer(param::blockSize), false, evalSpaceToDepth,
    gradientChannelBlocks<ops::DepthToSpace>);
constinit const OpDef ops::PixelShuffle =
    channelBlocks("pixel_shuffle",
                  "Moves groups of channels into blocks of `upscale_factor` x "
                  "`upscale_factor` pixels. The pixel is the minor index of "
                  "the channels of `x`.",
                  integer(param::upscaleFactor), true, evalPixelShuffle,
                  gradientChannelBlocks<ops::PixelUnshuffle>);
constinit const OpDef ops::PixelUnshuffle = channelBlocks(
    "pixel_unshuffle",
    "Moves the pixels of blocks of `downscale_factor` x `downscale_factor` "
    "into channels. The pixel is the minor index of the channels of the "
    "result.",
    ParamDef{
        param::downscaleFactor, ParamKind::Constant, {DType::UInt32}, 0, 0},
    false, evalPixelUnshuffle, gradientChannelBlocks<ops::PixelShuffle>);

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// A constant of [2, 2]: (before, after) for each spatial axis.
static bool checkPairs(InferContext &ctx, const IntsParam &name) {
  const Constant *pairs = ctx.constant(name);
  if (pairs->type().shape != Shape{2, 2})
    return ctx.fail(diag::ConstantRank(ctx.opName(), name, pairs->type().str(),
                                       "a tensor of shape [2, 2]"));
  return checkRange(ctx, name, 0);
}

static bool checkBatchBlocks(InferContext &ctx, const IntsParam &pairs) {
  return checkRank(ctx, 0, 4, 4) &&                         // C1
         checkLength(ctx, param::blockShape, 2) &&          // C2
         checkRange(ctx, param::blockShape, 1, maxBlock) && // C2
         checkPairs(ctx, pairs);                            // C3
}

static constexpr ParamDef pairsPerAxis(const IntsParam &name) {
  return {name,
          ParamKind::Constant,
          {DType::Int32},
          0,
          -1,
          "",
          "[2, 2]: (before, after) of the height and of the width"};
}

static bool inferSpaceToBatch(InferContext &ctx) {
  if (!checkBatchBlocks(ctx, param::paddings))
    return false;
  TensorType type = ctx.type(0);
  Shape block = ctx.get(param::blockShape), pads = ctx.get(param::paddings);
  for (unsigned i = 0; i < 2; ++i) {
    int64_t padded = type.shape[2 + i] + pads[2 * i] + pads[2 * i + 1];
    if (!checkDivides(ctx, 2 + i, padded, block[i])) // C4
      return false;
    type.shape[2 + i] = padded / block[i];
  }
  int64_t images = saturatingProduct({type.shape[0], block[0], block[1]});
  if (images > INT32_MAX)
    return ctx.fail(diag::TypeTooLarge(type.str()));
  type.shape[0] = images;
  return ctx.result(type);
}

static void evalSpaceToBatch(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  const Shape &shape = x.type.shape;
  Shape block = ctx.get(param::blockShape), pads = ctx.get(param::paddings);
  Shape padded = {shape[0], shape[1], shape[2] + pads[0] + pads[1],
                  shape[3] + pads[2] + pads[3]};
  Shape strides = rowMajorStrides(padded);
  std::vector<double> whole(ctx.out[0].data.size());
  copyElements(shape, x.data.data(), rowMajorStrides(shape),
               &whole[pads[0] * strides[2] + pads[2]], strides);
  transposeSplit(whole,
                 {padded[0], padded[1], padded[2] / block[0], block[0],
                  padded[3] / block[1], block[1]},
                 {3, 5, 0, 1, 2, 4}, ctx.out[0].data);
}

/// dx = batch_to_space(dy): what the op pads is cropped.
static void gradientSpaceToBatch(Gradient &g) {
  g.give(0, [&] {
    return g.make(ops::BatchToSpace, {g.dy()},
                  {{param::blockShape, g.op.constant(param::blockShape)},
                   {param::crops, g.op.constant(param::paddings)}});
  });
}

constinit const OpDef ops::SpaceToBatch = {
    .name = "space_to_batch",
    .summary = "Pads `x` with zeros by `paddings`, then moves the pixels of "
               "blocks of `block_shape` into images. The pixel is the major "
               "index of the images of the result.",
    .family = "blocks",
    .params = {value(param::x, floats, 'T', "[images, channels, H, W]"),
               integers(param::blockShape), pairsPerAxis(param::paddings)},
    .traits = trait::Mil | trait::DataMovement,
    .constraints = {"`x` has rank 4",
                    "`block_shape` has two elements of 1 to 46340",
                    "`paddings` are [2, 2] and at least 0",
                    "the block shape divides the padded height and width"},
    .infer = inferSpaceToBatch,
    .eval = evalSpaceToBatch,
    .gradient = gradientSpaceToBatch,
    .positions = {positions::moved},
};

static bool inferBatchToSpace(InferContext &ctx) {
  if (!checkBatchBlocks(ctx, param::crops))
    return false;
  TensorType type = ctx.type(0);
  Shape block = ctx.get(param::blockShape), crops = ctx.get(param::crops);
  if (!checkDivides(ctx, 0, type.shape[0], block[0] * block[1])) // C4
    return false;
  type.shape[0] /= block[0] * block[1];
  for (unsigned i = 0; i < 2; ++i) {
    type.shape[2 + i] =
        type.shape[2 + i] * block[i] - crops[2 * i] - crops[2 * i + 1];
    if (type.shape[2 + i] < 1) // C5
      return ctx.fail(
          diag::CropTooLarge(ctx.opName(), ctx.describeOperand(0), 2 + i), {0});
  }
  return ctx.result(type);
}

static void evalBatchToSpace(EvalContext &ctx) {
  const RefTensor &x = *ctx.in[0];
  RefTensor &out = ctx.out[0];
  const Shape &shape = x.type.shape;
  Shape block = ctx.get(param::blockShape), crops = ctx.get(param::crops);
  Shape whole = {out.type.shape[0], shape[1], shape[2] * block[0],
                 shape[3] * block[1]};
  std::vector<double> spread(x.data.size());
  transposeSplit(x.data,
                 {block[0], block[1], whole[0], shape[1], shape[2], shape[3]},
                 {2, 3, 4, 0, 5, 1}, spread);
  Shape strides = rowMajorStrides(whole);
  copyElements(out.type.shape, &spread[crops[0] * strides[2] + crops[2]],
               strides, out.data.data(), rowMajorStrides(out.type.shape));
}

static void gradientBatchToSpace(Gradient &g) {
  g.give(0, [&] {
    return g.make(ops::SpaceToBatch, {g.dy()},
                  {{param::blockShape, g.op.constant(param::blockShape)},
                   {param::paddings, g.op.constant(param::crops)}});
  });
}

constinit const OpDef ops::BatchToSpace = {
    .name = "batch_to_space",
    .summary =
        "Moves groups of images into blocks of `block_shape` pixels, then "
        "removes `crops`. The pixel is the major index of the images of `x`.",
    .family = "blocks",
    .params = {value(param::x, floats, 'T', "[images, channels, H, W]"),
               integers(param::blockShape), pairsPerAxis(param::crops)},
    .traits = trait::Mil | trait::DataMovement,
    .constraints =
        {"`x` has rank 4", "`block_shape` has two elements of 1 to 46340",
         "`crops` are [2, 2] and at least 0",
         "the number of pixels of a block divides the number of images",
         "`crops` leave at least one element"},
    .infer = inferBatchToSpace,
    .eval = evalBatchToSpace,
    .gradient = gradientBatchToSpace,
    .positions = {positions::moved},
};
