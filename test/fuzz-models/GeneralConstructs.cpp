//===- GeneralConstructs.cpp - statements for values of any rank ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BlockBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::fuzz;

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static bool addActivation(BlockBuilder &b) {
  static const std::vector<std::pair<const char *, const char *>> forms = {
      {"relu", "relu($0)"},
      {"sigmoid", "sigmoid($0)"},
      {"tanh", "tanh($0)"},
      {"gelu", "gelu($0)"},
      {"gelu", "gelu($0, mode = \"TANH_APPROXIMATION\")"},
      {"gelu", "gelu($0, mode = \"SIGMOID_APPROXIMATION\")"},
      {"silu", "silu($0)"},
      {"softplus", "softplus($0)"},
      {"softsign", "softsign($0)"},
      {"relu6", "relu6($0)"},
      {"elu", "elu($0, alpha = 0.75)"},
      {"leaky_relu", "leaky_relu($0, alpha = 0.125)"},
      {"sigmoid_hard", "sigmoid_hard($0, alpha = 0.25, beta = 0.5)"},
      {"scaled_tanh", "scaled_tanh($0, alpha = 1.25, beta = 0.5)"},
      {"thresholded_relu", "thresholded_relu($0, alpha = 0.25)"},
      {"clamped_relu", "clamped_relu($0, alpha = 0.25, beta = 1.5)"},
      {"linear_activation", "linear_activation($0, alpha = 0.5, beta = 0.25)"},
      {"sin", "sin($0)"},
      {"cos", "cos($0)"},
      {"erf", "erf($0)"},
      {"atan", "atan($0)"},
      {"square", "square($0)"},
      {"abs", "abs($0)"},
      {"exp", "exp(tanh($0))"},
      {"exp2", "exp2(tanh($0))"},
      {"sinh", "sinh(tanh($0))"},
      {"cosh", "cosh(tanh($0))"},
      {"tan", "tan(0.5 * tanh($0))"},
      {"asin", "asin(0.5 * tanh($0))"},
      {"acos", "acos(0.5 * tanh($0))"},
      {"atanh", "atanh(0.5 * tanh($0))"},
      {"sqrt", "sqrt(1 + square($0))"},
      {"rsqrt", "rsqrt(1 + square($0), epsilon = 0.001)"},
      {"inverse", "inverse(1 + square($0))"},
      {"log", "log(1 + square($0), epsilon = 0.001)"},
      {"pow", "pow(1 + square($0), 0.5)"},
      {"clip", "clip($0, alpha = -0.5, beta = 0.75)"},
      {"threshold", "threshold($0, alpha = -0.25)"},
      {"floor", "($0 - floor($0))"},
      {"round", "($0 + round($0))"},
      {"sign", "($0 * sign($0))"},
      {"identity", "identity($0)"},
      {"negation", "(-$0)"},
  };
  const auto &[name, form] = b.random.oneOf(forms);
  b.note(name);
  b.let(b.same(form, {b.any()}));
  return true;
}

static bool addDropout(BlockBuilder &b) {
  Expr x = b.any();
  if (b.random.chance(0.7) || x.type.shape.empty()) {
    b.note("dropout");
    b.let(b.same(b.random.oneOf({"dropout($0, rate = 0.25)",
                                 "dropout($0 + 1, rate = 0.5)",
                                 "dropout($0, rate = 0)"}),
                 {x}));
    return true;
  }
  b.note("random mask");
  b.let(b.same("($0 * cast(random_mask(shape = [1], keep = 0.75), " +
                   x.type.dtype + "))",
               {x}));
  return true;
}

static bool addScalar(BlockBuilder &b) {
  b.let(b.same(
      b.random.oneOf({"($0 * 0.5)", "(1 - $0)", "($0 + 0.25)", "(0.75 * $0)",
                      "(2 * $0 - 1)", "($0 / 3)", "(1 / (1 + abs($0)))",
                      "maximum($0, 0)", "minimum($0, 0.5)"}),
      {b.any()}));
  return true;
}

static bool addBinary(BlockBuilder &b) {
  Expr x = b.any();
  std::optional<Expr> y = b.anyThat([&](const TreeType &type) {
    return broadcast(type.shape, x.type.shape).has_value();
  });
  if (!y)
    return false;
  Extents shape = *broadcast(x.type.shape, y->type.shape);
  TreeType type = b.type(shape);
  if (type.elements() > BlockBuilder::maxElements)
    return false;
  if (b.random.chance(0.3))
    std::swap(x, *y);
  const char *form = b.random.oneOf(
      {"($0 + $1)", "($0 - $1)", "($0 * $1)", "($0 * $1)", "maximum($0, $1)",
       "minimum($0, $1)", "($0 / (1 + abs($1)))", "($0 + $1) * ($0 - $1)",
       "pow(abs($0) + 0.5, tanh($1))"});
  if (llvm::StringRef(form).starts_with("($0 + $1) *"))
    form = "(($0 + $1) * ($0 - $1))";
  b.note(x.type == y->type ? "binary" : "broadcast binary");
  b.let(b.expr(form, {x, *y}, type));
  return true;
}

/// A weight that broadcasts: a bias or a scale.
static bool addBias(BlockBuilder &b) {
  Expr x = b.any();
  Extents shape = x.type.shape;
  if (shape.empty())
    shape.push_back(Extent());
  for (Extent &extent : shape)
    if (b.random.chance(0.4))
      extent = Extent();
  while (shape.size() > 1 && b.random.chance(shape[0].isOne() ? 0.6 : 0.1))
    shape.erase(shape.begin());
  if (x.type.shape.empty())
    return false;
  b.note("bias or scale");
  b.let(b.same(b.random.oneOf({"($0 + $1)", "($0 * $1)", "($1 - $0)",
                               "($0 + $1 * 0.5)", "($1 * $0 + $1)"}),
               {x, b.weight(shape)}));
  return true;
}

static bool addSelect(BlockBuilder &b) {
  Expr x = b.any();
  std::optional<Expr> y =
      b.anyThat([&](const TreeType &type) { return type == x.type; });
  const char *compare = b.random.oneOf(
      {"greater", "less", "greater_equal", "less_equal", "not_equal"});
  std::string condition = std::string(compare) + "($0, 0.125)";
  if (b.random.chance(0.3))
    condition = std::string(compare) + "($0, $1)";
  if (b.random.chance(0.2))
    condition = "logical_and(" + condition + ", less($1, 2))";
  if (b.random.chance(0.2))
    condition = "logical_not(" + condition + ")";
  b.note("select");
  b.let(b.same("select(" + condition + ", $0, " +
                   b.random.oneOf({"$1", "$1 * 0.5", "0.25"}) + ")",
               {x, *y}));
  return true;
}

/// A mask of constants for the last two axes.
static bool addMask(BlockBuilder &b) {
  std::optional<Expr> x =
      b.anyThat([](const TreeType &type) { return type.rank() >= 2; });
  if (!x)
    return false;
  Extents last(x->type.shape.end() - 2, x->type.shape.end());
  std::string band =
      "band_part(fill(shape = " + listText(last) +
      ", value = 1), lower = " + b.random.oneOf({"0", "1", "-1"}) +
      ", upper = " + b.random.oneOf({"0", "2", "-1"}) + ")";
  std::vector<std::string> forms = {
      "select(greater(" + band + ", 0.5), $0, 0.25)",
      "select(less(" + band + ", 0.5), -2, $0)",
      "($0 * cast(" + band + ", " + b.dtype + "))",
      "($0 - cast(" + band + ", " + b.dtype + ") * 3)"};
  b.note("constant mask");
  b.let(b.same(b.random.oneOf(forms), {*x}));
  return true;
}

static bool addConstant(BlockBuilder &b) {
  Expr x = b.any();
  if (x.type.rank() == 0)
    return false;
  std::string last = x.type.shape.back().text;
  std::vector<std::string> forms = {
      "($0 + cast(fill(shape = " + listText(x.type.shape) +
          ", value = 0.25), " + b.dtype + "))",
      "($0 * cast(fill(shape = [" + last + "], value = 0.5), " + b.dtype + "))",
  };
  b.note("fill");
  b.let(b.same(b.random.oneOf(forms), {x}));
  return true;
}

/// A detour through fp32, which the host computes.
static bool addWide(BlockBuilder &b) {
  if (b.dtype != "fp16")
    return false;
  b.note("fp32 inside");
  b.let(b.same(b.random.oneOf({"cast(tanh(cast($0, fp32)), fp16)",
                               "cast(cast($0, fp32) * 0.5, fp16)",
                               "cast(square(cast($0, fp32)), fp16)"}),
               {b.any()}));
  return true;
}

//===----------------------------------------------------------------------===//
// Reductions and norms
//===----------------------------------------------------------------------===//

static bool addReduction(BlockBuilder &b) {
  Expr x = b.any();
  if (x.type.rank() == 0)
    return false;
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < x.type.rank(); ++axis)
    if (b.random.chance(0.5))
      axes.push_back(axis);
  if (axes.empty())
    axes.push_back(b.anyAxis(x.type));
  bool keep = b.random.chance(0.7);
  Extents shape, list;
  for (size_t axis = 0; axis < x.type.rank(); ++axis) {
    if (!llvm::is_contained(axes, axis))
      shape.push_back(x.type.shape[axis]);
    else if (keep)
      shape.push_back(Extent());
  }
  if (shape.empty())
    return false;
  for (size_t axis : axes)
    list.push_back(Extent(int64_t(axis)));
  static const std::vector<std::pair<const char *, const char *>> forms = {
      {"mean", "mean($0, "},
      {"mean", "mean($0, "},
      {"sum", "0.25 * sum($0, "},
      {"max", "max($0, "},
      {"min", "min($0, "},
      {"sum square", "0.25 * reduce_sum_square($0, "},
      {"log sum exp", "reduce_log_sum_exp(tanh($0), "},
      {"l1 norm", "0.25 * reduce_l1_norm($0, "},
      {"l2 norm", "reduce_l2_norm($0 + 2, "},
      {"log sum", "reduce_log_sum(square($0) + 1, "},
      {"product", "reduce_prod(1 + 0.125 * tanh($0), "}};
  const auto &[name, form] = b.random.oneOf(forms);
  b.note(std::string("reduce: ") + name);
  b.let(b.expr("(" + std::string(form) + "axes = " + listText(list) +
                   (keep ? ", keep_dims = true))" : "))"),
               {x}, b.type(shape)));
  return true;
}

static bool addSoftmax(BlockBuilder &b) {
  Expr x = b.any();
  if (x.type.rank() == 0)
    return false;
  std::string axis = b.axisText(b.anyAxis(x.type), x.type.rank());
  b.note("softmax");
  b.let(b.same("softmax($0, axis = " + axis + ")", {x}));
  return true;
}

static bool addLayerNorm(BlockBuilder &b) {
  Expr x = b.any();
  if (x.type.rank() == 0)
    return false;
  size_t first = b.anyAxis(x.type);
  size_t count = b.random.chance(0.7) ? 1 : x.type.rank() - first;
  Extents axes, shape;
  for (size_t i = 0; i < count; ++i) {
    axes.push_back(Extent(int64_t(first + i)));
    shape.push_back(x.type.shape[first + i]);
  }
  std::string form = "layer_norm($0, axes = " + listText(axes);
  std::vector<Expr> operands = {x};
  for (const char *name : {"gamma", "beta"})
    if (b.random.chance(0.6)) {
      form +=
          std::string(", ") + name + " = $" + std::to_string(operands.size());
      operands.push_back(b.weight(shape));
    }
  b.note("layer_norm");
  b.let(b.same(form + ", epsilon = 0.01)", operands));
  return true;
}

static bool addRmsNorm(BlockBuilder &b) {
  Expr x = b.any();
  if (x.type.rank() == 0)
    return false;
  // Channels: the first axis, or the second after a batch.
  size_t channels = x.type.rank() < 3 ? 0 : 1;
  size_t axis = b.random.chance(0.7) ? channels : b.anyAxis(x.type);
  std::string at = b.axisText(axis, x.type.rank());
  if (b.random.chance(0.2)) {
    b.note("inverse_rms");
    b.let(b.same("($0 * inverse_rms($0, epsilon = 0.01, axis = " + at + "))",
                 {x}));
    return true;
  }
  std::string form = axis == channels && b.random.chance(0.5)
                         ? "rmsnorm($0, $1, 0.01)"
                         : "rmsnorm($0, $1, epsilon = 0.01, axis = " + at + ")";
  b.note("rmsnorm");
  b.let(b.same(form, {x, b.weight({x.type.shape[axis]})}));
  return true;
}

const std::vector<Construct> &anec::fuzz::generalConstructs() {
  static const std::vector<Construct> constructs = {
      {"activation", 10, addActivation}, {"scalar", 3, addScalar},
      {"binary", 7, addBinary},          {"bias", 4, addBias},
      {"select", 2, addSelect},          {"mask", 2, addMask},
      {"constant", 1, addConstant},      {"fp32 inside", 1, addWide},
      {"reduction", 4, addReduction},    {"softmax", 2, addSoftmax},
      {"layer_norm", 2, addLayerNorm},   {"rmsnorm", 2, addRmsNorm},
      {"dropout", 1, addDropout},
  };
  return constructs;
}
