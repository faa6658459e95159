//===- ImageConstructs.cpp - statements for images ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BlockBuilder.h"

using namespace anec::fuzz;

static bool isImage(const TreeType &type) { return type.rank() == 4; }

static Extent anyChannels(BlockBuilder &b) {
  return b.random.oneOf({b.sizes.channels, b.sizes.channels, b.sizes.hidden,
                         Extent(), Extent(2)});
}

static std::string pairText(int64_t first, int64_t second) {
  return "[" + std::to_string(first) + ", " + std::to_string(second) + "]";
}

/// What windows of `kernel` elements, `stride` apart, leave of an extent.
static Extent afterWindows(const Extent &extent, int64_t kernel, int64_t stride,
                           bool isSame) {
  if (stride == 1 && (isSame || kernel == 1))
    return extent;
  if (isSame)
    return Extent((extent.value + stride - 1) / stride);
  if (stride == 1)
    return {"(" + extent.text + " - " + std::to_string(kernel - 1) + ")",
            extent.value - kernel + 1};
  return Extent((extent.value - kernel) / stride + 1);
}

namespace {
struct Window {
  int64_t kernel[2], stride[2];
  bool isSame = true;
  Extent rows, columns;
  std::string text; ///< `, strides = [...], pad_type = "..."`
};
} // namespace

static std::optional<Window> anyWindow(BlockBuilder &b, const TreeType &image) {
  Window window;
  Extent *results[] = {&window.rows, &window.columns};
  window.isSame = b.random.chance(0.6);
  for (int axis : {0, 1}) {
    const Extent &extent = image.shape[2 + size_t(axis)];
    window.kernel[axis] = b.random.number(1, 3);
    window.stride[axis] = b.random.chance(0.7) ? 1 : 2;
    if (window.kernel[axis] > extent.value)
      return std::nullopt;
    *results[axis] = afterWindows(extent, window.kernel[axis],
                                  window.stride[axis], window.isSame);
  }
  if (window.stride[0] != 1 || window.stride[1] != 1)
    window.text +=
        ", strides = " + pairText(window.stride[0], window.stride[1]);
  window.text += window.isSame ? b.random.oneOf({", pad_type = \"same\"",
                                                 ", pad_type = \"same_lower\""})
                               : ", pad_type = \"valid\"";
  return window;
}

static bool addConv(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isImage);
  if (!x)
    return false;
  std::optional<Window> window = anyWindow(b, x->type);
  if (!window)
    return false;
  const Extents &shape = x->type.shape;
  Extent outputs = anyChannels(b), inputs = shape[1];
  std::string groups;
  if (b.random.chance(0.25)) {
    b.note("grouped conv");
    outputs = shape[1];
    inputs = Extent();
    groups = ", groups = " + shape[1].text;
  }
  TreeType type = b.type({shape[0], outputs, window->rows, window->columns});
  if (type.elements() > BlockBuilder::maxElements)
    return false;
  std::vector<Expr> operands = {
      *x, b.weight({outputs, inputs, Extent(window->kernel[0]),
                    Extent(window->kernel[1])})};
  std::string form = "conv($0, $1";
  if (b.random.chance(0.5)) {
    form += b.random.oneOf({", $2", ", bias = $2"});
    operands.push_back(b.weight({outputs}));
    b.note("conv with bias");
  }
  form += window->text + groups + ")";
  if (operands.size() == 2 && b.random.chance(0.2)) {
    b.note("conv of two types");
    form.replace(form.find("$0"), 2, "cast($0, " + b.otherType() + ")");
    form = "cast(" + form + ", " + type.dtype + ")";
  }
  b.note("conv");
  b.let(b.expr(form, operands, type));
  return true;
}

static bool addConvTranspose(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isImage);
  if (!x)
    return false;
  const Extents &shape = x->type.shape;
  Extent outputs = anyChannels(b);
  TreeType type =
      b.type({shape[0], outputs, Extent(2) * shape[2], Extent(2) * shape[3]});
  if (type.elements() > BlockBuilder::maxElements)
    return false;
  b.note("conv_transpose");
  b.let(b.expr("conv_transpose($0, $1, strides = [2, 2])",
               {*x, b.weight({shape[1], outputs, Extent(2), Extent(2)})},
               type));
  return true;
}

static bool addPool(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isImage);
  if (!x)
    return false;
  std::optional<Window> window = anyWindow(b, x->type);
  if (!window)
    return false;
  const char *op = b.random.oneOf({"max_pool", "avg_pool", "l2_pool"});
  std::string form =
      std::string(op) + "($0" + (op[0] == 'l' ? " + 2" : "") +
      ", kernel_sizes = " + pairText(window->kernel[0], window->kernel[1]) +
      window->text;
  if (op[0] == 'a' && b.random.chance(0.4))
    form += ", exclude_padding_from_average = true";
  b.note(op);
  b.let(b.expr(form + ")", {*x},
               b.type({x->type.shape[0], x->type.shape[1], window->rows,
                       window->columns})));
  return true;
}

static bool addNorm(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isImage);
  if (!x)
    return false;
  Extents vector = {x->type.shape[1]};
  switch (b.random.number(0, 4)) {
  case 0: {
    b.note("batch_norm");
    std::vector<Expr> operands = {*x, b.weight(vector),
                                  b.weight(vector, "variance")};
    std::string form = "batch_norm($0, $1, $2";
    if (b.random.chance(0.6)) {
      form += ", gamma = $3, beta = $4";
      operands.push_back(b.weight(vector));
      operands.push_back(b.weight(vector));
    }
    b.let(b.same(form + ", epsilon = 0.01)", operands));
    return true;
  }
  case 1: {
    b.note("instance_norm");
    std::vector<Expr> operands = {*x};
    std::string form = "instance_norm($0";
    if (b.random.chance(0.6)) {
      form += ", gamma = $1, beta = $2";
      operands.push_back(b.weight(vector));
      operands.push_back(b.weight(vector));
    }
    b.let(b.same(form + ", epsilon = 0.01)", operands));
    return true;
  }
  case 2:
    b.note("local_response_norm");
    b.let(b.same("local_response_norm($0, size = 3, alpha = 0.5)", {*x}));
    return true;
  case 3:
    b.note("l2_norm");
    b.let(b.same("(3 * l2_norm($0, epsilon = 0.01))", {*x}));
    return true;
  default:
    b.note("group norm by hand");
    b.let(b.same("($0 - mean($0, axes = [1, 2, 3], keep_dims = true))", {*x}));
    return true;
  }
}

static bool addChannelActivation(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(
      [](const TreeType &type) { return type.rank() == 3 || isImage(type); });
  if (!x)
    return false;
  Extents vector = {x->type.shape[1]};
  if (b.random.chance(0.5)) {
    b.note("prelu");
    b.let(b.same("prelu($0, $1)", {*x, b.weight(vector)}));
    return true;
  }
  b.note("softplus_parametric");
  b.let(b.same("softplus_parametric($0, $1, $2)",
               {*x, b.weight(vector), b.weight(vector)}));
  return true;
}

static bool addResize(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isImage);
  if (!x)
    return false;
  const Extents &shape = x->type.shape;
  TreeType twice = x->type;
  twice.shape[2] = Extent(2) * shape[2];
  twice.shape[3] = Extent(2) * shape[3];
  if (twice.elements() > BlockBuilder::maxElements)
    return false;
  b.note("resize");
  std::string size = "target_size_height = " + twice.shape[2].text +
                     ", target_size_width = " + twice.shape[3].text;
  switch (b.random.number(0, 2)) {
  case 0:
    b.let(b.expr("resize_bilinear($0, " + size + ")", {*x}, twice));
    return true;
  case 1:
    b.let(b.expr("resize_nearest_neighbor($0, " + size + ")", {*x}, twice));
    return true;
  default: {
    // Pixels as channels, and back.
    TreeType packed =
        b.type({shape[0], Extent(4) * shape[1], shape[2], shape[3]});
    Expr stacked = b.let(b.expr(
        b.random.oneOf({"space_to_depth($0, block_size = 2)",
                        "pixel_unshuffle($0, downscale_factor = "
                        "2)"}),
        {b.expr("resize_nearest_neighbor($0, " + size + ")", {*x}, twice)},
        packed));
    b.let(b.expr(b.random.oneOf({"depth_to_space($0, block_size = 2)",
                                 "pixel_shuffle($0, upscale_factor = 2)"}),
                 {stacked}, twice));
    return true;
  }
  }
}

/// Squeeze and excite: a gate for each channel.
static bool addChannelGate(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isImage);
  if (!x)
    return false;
  const Extent &channels = x->type.shape[1];
  TreeType pooled = b.type({x->type.shape[0], channels, Extent(), Extent()});
  Expr mean = b.expr("mean($0, axes = [2, 3], keep_dims = true)", {*x}, pooled);
  Expr gate =
      b.same("sigmoid(conv($0, $1))",
             {mean, b.weight({channels, channels, Extent(), Extent()})});
  b.note("channel gate");
  b.let(b.same("($0 * $1)", {*x, gate}));
  return true;
}

/// Pixels as positions, for a product.
static bool addFlatProduct(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isImage);
  if (!x)
    return false;
  const Extents &s = x->type.shape;
  Extent pixels = s[2] * s[3], outputs = anyChannels(b);
  Expr flat =
      b.expr("reshape($0, shape = " + listText({s[0], s[1], pixels}) + ")",
             {*x}, b.type({s[0], s[1], pixels}));
  Expr product = b.expr("($0 @ $1)", {b.weight({outputs, s[1]}), flat},
                        b.type({s[0], outputs, pixels}));
  b.note("product of flattened images");
  b.let(product);
  return true;
}

const std::vector<Construct> &anec::fuzz::imageConstructs() {
  static const std::vector<Construct> constructs = {
      {"conv", 8, addConv},
      {"conv_transpose", 2, addConvTranspose},
      {"pool", 4, addPool},
      {"norm", 4, addNorm},
      {"channel activation", 2, addChannelActivation},
      {"resize", 2, addResize},
      {"channel gate", 2, addChannelGate},
      {"flat product", 1, addFlatProduct},
  };
  return constructs;
}
