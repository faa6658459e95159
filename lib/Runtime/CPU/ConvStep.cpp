//===- ConvStep.cpp - convolutions as matrix products ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// For each image and group, result [O, positions] = weight [O, I * kernel]
/// times the image unfolded to [I * kernel, positions]. A 1x1 kernel with
/// stride 1 and no padding unfolds to the image itself.
///
//===----------------------------------------------------------------------===//

#include "ConvSteps.h"
#include "Products.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Convolution.h"
#include "lib/Ops/Rows/Conv.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::cpu;

namespace {

/// The sizes of a convolution. There are always three spatial axes; missing
/// leading ones have one element.
struct ConvExtents {
  std::array<ConvAxis, 3> axes;
  size_t images, groups, inputs, outputs; ///< channels per group
  size_t inputPositions = 1, outputPositions = 1, kernelPositions = 1;

  explicit ConvExtents(const Op &op) {
    llvm::ArrayRef<int64_t> x = op.operand(param::x)->type.shape;
    llvm::ArrayRef<int64_t> weight = op.operand(param::weight)->type.shape;
    images = x[0];
    groups = op.get(param::groups);
    inputs = weight[1];
    outputs = weight[0] / groups;
    axes.fill({1, 1, 1, 1, 0, 0});
    unsigned spatial = x.size() - 2;
    for (unsigned axis = 0; axis < spatial; ++axis)
      axes[3 - spatial + axis] =
          convAxis(op, axis, x[axis + 2], weight[axis + 2]);
    for (const ConvAxis &axis : axes) {
      inputPositions *= axis.input;
      outputPositions *= axis.output();
      kernelPositions *= axis.kernel;
    }
  }

  bool isPointwise() const {
    return llvm::all_of(axes, [](const ConvAxis &axis) {
      return axis.kernel == 1 && axis.stride == 1 && axis.before == 0 &&
             axis.after == 0;
    });
  }
};

} // namespace

/// Writes the elements that position `kernel` of the kernel's last axis reads
/// for one row of outputs: inputs, or zeros in the padding.
static void unfoldRow(const ConvAxis &axis, int64_t kernel, const float *input,
                      float *out) {
  int64_t shift = kernel * axis.dilation - axis.before;
  for (int64_t position = 0, n = axis.output(); position < n; ++position) {
    int64_t at = position * axis.stride + shift;
    out[position] = at >= 0 && at < axis.input ? input[at] : 0.0f;
  }
}

/// Writes the rows of one input channel: [kernel positions, output positions].
static void unfoldChannel(const ConvExtents &geometry, const float *channel,
                          float *out) {
  const auto &[depth, height, width] = geometry.axes;
  for (int64_t kd = 0; kd < depth.kernel; ++kd)
    for (int64_t kh = 0; kh < height.kernel; ++kh)
      for (int64_t kw = 0; kw < width.kernel; ++kw)
        for (int64_t d = 0; d < depth.output(); ++d)
          for (int64_t h = 0; h < height.output(); ++h) {
            int64_t z = d * depth.stride + kd * depth.dilation - depth.before;
            int64_t y =
                h * height.stride + kh * height.dilation - height.before;
            bool inside =
                z >= 0 && z < depth.input && y >= 0 && y < height.input;
            if (inside)
              unfoldRow(width, kw,
                        channel + (z * height.input + y) * width.input, out);
            else
              std::fill_n(out, width.output(), 0.0f);
            out += width.output();
          }
}

std::shared_ptr<Products> cpu::convProducts(const Op &op, StepContext &ctx) {
  ConvExtents geometry(op);
  const float *x = ctx.storage.floats(op.operand(param::x));
  const float *weights = ctx.storage.convWeight(op);
  const float *biases = ctx.storage.convBias(op);
  float *z = ctx.storage.floats(op.result());

  auto products = std::make_shared<Products>();
  GemmShape &shape = products->shape;
  shape.m = geometry.outputs;
  shape.k = geometry.inputs * geometry.kernelPositions;
  shape.n = geometry.outputPositions;
  shape.lda = shape.k;
  shape.ldb = shape.ldc = shape.n;

  size_t imageSize = geometry.inputs * geometry.inputPositions;
  for (size_t image = 0; image < geometry.images; ++image)
    for (size_t group = 0; group < geometry.groups; ++group) {
      size_t number = image * geometry.groups + group;
      GemmOperands product;
      product.a = weights + group * shape.m * shape.k;
      product.b = x + number * imageSize;
      product.c = z + number * shape.m * shape.n;
      product.rowBias = biases ? biases + group * shape.m : nullptr;
      products->operands.push_back(product);
    }
  if (geometry.isPointwise())
    return products;

  auto columns = std::make_shared<std::vector<float>>(shape.k * shape.n);
  size_t rowsOfChannel = geometry.kernelPositions * shape.n;
  products->prepare = [=](Executor &pool, GemmOperands &product) {
    pool.parallelFor(geometry.inputs, [&](size_t channel, unsigned) {
      unfoldChannel(geometry, product.b + channel * geometry.inputPositions,
                    columns->data() + channel * rowsOfChannel);
    });
    product.b = columns->data();
  };
  return products;
}

static StepFn makeConv(const Op &op, StepContext &ctx) {
  auto products = convProducts(op, ctx);
  const Value *weight = op.operand(param::weight);
  const GemmShape &shape = products->shape;
  GemmEpilogue epilogue{ctx.rounding(op.result())};
  std::shared_ptr<PackedWeight> packed;
  if (ctx.schedule.isConstant(weight) && op.get(param::groups) == 1)
    packed = std::make_shared<PackedWeight>(
        ctx.products.packLeft(shape.m, shape.k, ctx.storage.convWeight(op),
                              shape.lda, Transpose::No));
  return [=, &pool = ctx.pool, &kernels = ctx.products] {
    products->forEach(pool, [&](llvm::ArrayRef<GemmOperands> batch) {
      if (packed)
        kernels.multiplyLeft(pool, *packed, products->shape, batch, epilogue);
      else
        kernels.multiply(pool, products->shape, batch, epilogue);
    });
  };
}

static constexpr StepRow convStepsTable[] = {
    {&ops::Conv, makeDirectConv}, {&ops::Conv, makeWideKernelConv},
    {&ops::Conv, makePanelConv},  {&ops::Conv, makeTiledConv},
    {&ops::Conv, makeConv},
};

llvm::ArrayRef<StepRow> cpu::convSteps() { return convStepsTable; }
