//===- SequenceConstructs.cpp - statements for [channels, positions] ------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BlockBuilder.h"

using namespace anec::fuzz;

static bool isMatrix(const TreeType &type) { return type.rank() == 2; }

static Extent anyWidth(BlockBuilder &b) {
  return b.random.oneOf({b.sizes.dim, b.sizes.dim, b.sizes.hidden,
                         b.sizes.hidden, b.sizes.headDim, Extent()});
}

/// `w @ x` in one of its spellings, [to, positions].
static Expr project(BlockBuilder &b, const Expr &x, const Extent &to) {
  const Extent &from = x.type.shape[0];
  TreeType type = b.type({to, x.type.shape[1]});
  switch (b.random.number(0, 7)) {
  case 0:
    b.note("transposed weight");
    return b.expr("matmul($0, $1, transpose_x = true)",
                  {b.weight({from, to}), x}, type);
  case 1:
    b.note("linear");
    return b.expr("transpose(linear(transpose($0, perm = [1, 0]), $1, $2), "
                  "perm = [1, 0])",
                  {x, b.weight({to, from}), b.weight({to})}, type);
  case 2:
    b.note("bias of a product");
    return b.expr("($0 @ $1 + $2)",
                  {b.weight({to, from}), x, b.weight({to, Extent()})}, type);
  case 3: {
    b.note("product of two types");
    std::string other = b.otherType();
    return b.expr(b.random.oneOf(
                      {"cast(cast($0, " + other + ") @ $1, " + type.dtype + ")",
                       "($0 @ cast($1, " + other + "))"}),
                  {b.weight({to, from}), x}, type);
  }
  default:
    b.note("product with a weight");
    return b.expr("($0 @ $1)", {b.weight({to, from}), x}, type);
  }
}

static bool addProduct(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isMatrix);
  if (!x)
    return false;
  b.let(project(b, *x, anyWidth(b)));
  return true;
}

static bool addRightProduct(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isMatrix);
  if (!x)
    return false;
  Extent to = b.random.chance(0.6) ? x->type.shape[1] : anyWidth(b);
  TreeType type = b.type({x->type.shape[0], to});
  b.note("product on the right");
  if (b.random.chance(0.3))
    b.let(b.expr("matmul($0, $1, transpose_y = true)",
                 {*x, b.weight({to, x->type.shape[1]})}, type));
  else
    b.let(b.expr("($0 @ $1)", {*x, b.weight({x->type.shape[1], to})}, type));
  return true;
}

/// A vector of channels or of positions from a product with a vector.
static bool addVectorProduct(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isMatrix);
  if (!x)
    return false;
  b.note("product with a vector");
  if (b.random.chance(0.5))
    b.let(b.expr("($0 @ $1)", {b.weight({x->type.shape[0]}), *x},
                 b.type({x->type.shape[1]})));
  else
    b.let(b.expr("($0 @ $1)", {*x, b.weight({x->type.shape[1]})},
                 b.type({x->type.shape[0]})));
  return true;
}

static bool addGating(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isMatrix);
  if (!x)
    return false;
  Extent to = anyWidth(b);
  const char *form = b.random.oneOf(
      {"(silu($0) * $1)", "(gelu($0) * $1)", "(sigmoid($0) * tanh($1))",
       "($0 * $1)", "(softplus($0 + $1) + softplus($0 - $1))"});
  Expr gated = b.expr(form, {project(b, *x, to), project(b, *x, to)},
                      b.type({to, x->type.shape[1]}));
  b.note("gating");
  b.let(b.random.chance(0.5) ? project(b, gated, x->type.shape[0]) : gated);
  return true;
}

static bool addResidual(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isMatrix);
  if (!x)
    return false;
  Extent hidden = anyWidth(b);
  const char *form =
      b.random.oneOf({"gelu($0)", "relu($0)", "tanh($0)", "silu($0)"});
  Expr inside = b.same(form, {project(b, *x, hidden)});
  b.note("residual");
  b.let(b.same("($0 + $1)", {*x, project(b, inside, x->type.shape[0])}));
  return true;
}

/// A product of two values, or of a value with itself.
static bool addActivationProduct(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isMatrix);
  if (!x)
    return false;
  std::optional<Expr> y = b.anyThat([&](const TreeType &type) {
    return isMatrix(type) && (type.shape[0] == x->type.shape[0] ||
                              type.shape[0] == x->type.shape[1] ||
                              type.shape[1] == x->type.shape[1]);
  });
  const Extents &xs = x->type.shape, &ys = y->type.shape;
  b.note("product of activations");
  if (xs[0] == ys[0] && b.random.chance(0.6))
    b.let(b.expr("(matmul($0, $1, transpose_x = true) * 0.25)", {*x, *y},
                 b.type({xs[1], ys[1]})));
  else if (xs[1] == ys[0])
    b.let(b.expr("($0 @ $1 * 0.25)", {*x, *y}, b.type({xs[0], ys[1]})));
  else if (xs[1] == ys[1])
    b.let(b.expr("(matmul($0, $1, transpose_y = true) * 0.25)", {*x, *y},
                 b.type({xs[0], ys[0]})));
  else
    b.let(b.expr("(matmul($0, $1, transpose_x = true) * 0.25)", {*x, *y},
                 b.type({xs[1], ys[1]})));
  return true;
}

/// Products of rank 3, with weights of rank 2 and 3.
static bool addBatchedProduct(BlockBuilder &b) {
  std::optional<Expr> x =
      b.anyThat([](const TreeType &type) { return type.rank() == 3; });
  if (!x)
    return false;
  const Extents &shape = x->type.shape;
  Extent to = anyWidth(b);
  b.note("batched product");
  switch (b.random.number(0, 6)) {
  case 5:
    b.note("einsum");
    b.let(b.expr("einsum($0, $1, equation = \"chw,whr->chr\")",
                 {*x, b.weight({shape[2], shape[1], to})},
                 b.type({shape[0], shape[1], to})));
    return true;
  case 6:
    b.note("conv along positions");
    b.let(b.expr("conv($0, $1, $2, pad_type = \"same\")",
                 {*x, b.weight({to, shape[1], Extent(3)}), b.weight({to})},
                 b.type({shape[0], to, shape[2]})));
    return true;
  case 0:
    b.let(b.expr("($0 @ $1)", {b.weight({to, shape[1]}), *x},
                 b.type({shape[0], to, shape[2]})));
    return true;
  case 1:
    b.let(b.expr("($0 @ $1)", {b.weight({shape[0], to, shape[1]}), *x},
                 b.type({shape[0], to, shape[2]})));
    return true;
  case 2:
    b.let(b.expr("($0 @ $1)", {*x, b.weight({shape[2], to})},
                 b.type({shape[0], shape[1], to})));
    return true;
  case 3:
    b.let(b.expr("linear($0, $1, $2)",
                 {*x, b.weight({to, shape[2]}), b.weight({to})},
                 b.type({shape[0], shape[1], to})));
    return true;
  default:
    b.let(b.expr("(matmul($0, $0, transpose_x = true) * 0.25)", {*x},
                 b.type({shape[0], shape[2], shape[2]})));
    return true;
  }
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Something to attend to, with as many channels as a product can give.
static Expr anyContext(BlockBuilder &b, const Expr &x) {
  std::optional<Expr> other = b.anyThat(isMatrix);
  return b.random.chance(0.2) ? *other : x;
}

static std::string maskText(BlockBuilder &b, const Extent &rows,
                            const Extent &columns, const std::string &scores) {
  std::string shape = "[" + rows.text + ", " + columns.text + "]";
  switch (b.random.number(0, 4)) {
  case 0:
    b.note("attention mask: select");
    return "select(greater(band_part(fill(shape = " + shape +
           ", value = 1), lower = 3, upper = 0), 0.5), " + scores + ", -30000)";
  case 1:
    b.note("attention mask: added");
    return "(" + scores + " + cast(band_part(fill(shape = " + shape +
           ", value = -8), lower = 0, upper = -1), " + b.dtype + "))";
  default:
    return scores;
  }
}

/// softmax(k^T q) in one of its two layouts, and its product with `v`.
static Expr attend(BlockBuilder &b, const Expr &q, const Expr &k, const Expr &v,
                   const char *scale) {
  size_t rank = q.type.rank();
  const Extent &queries = q.type.shape[rank - 1];
  const Extent &keys = k.type.shape[rank - 1];
  TreeType scores = q.type, result = v.type;
  result.shape[rank - 1] = queries;
  std::string times = std::string(" * ") + scale + ")";
  if (b.random.chance(0.5)) {
    scores.shape[rank - 2] = keys;
    std::string text = maskText(b, keys, queries,
                                "(matmul($0, $1, transpose_x = true)" + times);
    Expr p = b.let(
        b.expr("softmax(" + text + ", axis = " + std::to_string(rank - 2) + ")",
               {k, q}, scores));
    return b.expr("matmul($0, $1)", {v, p}, result);
  }
  scores.shape[rank - 2] = queries;
  scores.shape[rank - 1] = keys;
  std::string text =
      maskText(b, queries, keys, "(matmul($0, $1, transpose_x = true)" + times);
  Expr p = b.let(b.expr("softmax(" + text + ")", {q, k}, scores));
  return b.expr("matmul($0, $1, transpose_y = true)", {v, p}, result);
}

static bool addSingleHead(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isMatrix);
  if (!x)
    return false;
  Expr y = anyContext(b, *x);
  Extent width = anyWidth(b);
  bool bare = b.random.chance(0.2) && x->type == y.type;
  Expr q = bare ? *x : b.let(project(b, *x, width));
  Expr k = bare ? y : b.let(project(b, y, width));
  Expr v = bare ? y : project(b, y, anyWidth(b));
  Expr out = attend(b, q, k, v, "0.5");
  b.note("hand-written attention");
  if (b.random.chance(0.3))
    out = b.expr("($0 * sigmoid($1))", {out, project(b, *x, out.type.shape[0])},
                 out.type);
  if (b.random.chance(0.5))
    out = b.same("($0 + $1)", {*x, project(b, out, x->type.shape[0])});
  b.let(out);
  return true;
}

/// [heads * width, positions] split into heads, turned at times.
static Expr headsOf(BlockBuilder &b, const Expr &x, const Extent &heads,
                    const char *turn) {
  const Sizes &s = b.sizes;
  TreeType type = b.type({heads, s.headDim, x.type.shape[1]});
  std::string form = "split_heads($0, heads = " + heads.text + ")";
  return b.expr(*turn ? "rope(" + form + turn : form,
                {project(b, x, heads * s.headDim)}, type);
}

static Expr merge(BlockBuilder &b, const Expr &out) {
  const Extents &shape = out.type.shape;
  return b.expr("merge_heads($0)", {out},
                b.type({shape[0] * shape[1], shape[2]}));
}

static const char *anyTurn(BlockBuilder &b) {
  if (b.random.chance(0.5))
    return "";
  b.note("rope");
  return b.random.oneOf({")", ", style = \"half_split\")", ", theta = 100)"});
}

static bool addHeads(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isMatrix);
  if (!x)
    return false;
  Expr y = anyContext(b, *x);
  const char *turn = anyTurn(b);
  Expr q = b.let(headsOf(b, *x, b.sizes.heads, turn));
  Expr k = b.let(headsOf(b, y, b.sizes.heads, turn));
  Expr v = b.let(headsOf(b, y, b.sizes.heads, ""));
  b.note("hand-written attention of heads");
  Expr out = merge(b, attend(b, q, k, v, "0.5"));
  b.let(b.same("($0 + $1)", {*x, project(b, out, x->type.shape[0])}));
  return true;
}

static bool addSdpa(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isMatrix);
  if (!x)
    return false;
  Expr y = anyContext(b, *x);
  bool sameLength = x->type.shape[1] == y.type.shape[1];
  const Extent &keyHeads =
      b.random.chance(0.5) ? b.sizes.keyHeads : b.sizes.heads;
  const char *turn = anyTurn(b);
  Expr q = b.let(headsOf(b, *x, b.sizes.heads, turn));
  Expr k = b.let(headsOf(b, y, keyHeads, turn));
  Expr v = b.let(headsOf(b, y, keyHeads, ""));
  bool causal = sameLength && b.random.chance(0.6);
  b.note(causal ? "sdpa, causal" : "sdpa");
  Expr out = merge(
      b, b.expr(causal ? "sdpa($0, $1, $2, causal = true)" : "sdpa($0, $1, $2)",
                {q, k, v}, q.type));
  b.let(b.random.chance(0.7)
            ? b.same("($0 + $1)", {*x, project(b, out, x->type.shape[0])})
            : out);
  return true;
}

/// MIL's own attention, whose positions are the last axis but one.
static bool addMilAttention(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat(isMatrix);
  if (!x)
    return false;
  const Sizes &s = b.sizes;
  const Extent &positions = x->type.shape[1];
  auto turned = [&] {
    return b.let(b.expr("transpose($0, perm = [0, 2, 1])",
                        {headsOf(b, *x, s.heads, "")},
                        b.type({s.heads, positions, s.headDim})));
  };
  std::vector<Expr> operands = {turned(), turned(), turned()};
  std::string form = "scaled_dot_product_attention($0, $1, $2";
  if (b.random.chance(0.4)) {
    form += ", $3";
    operands.push_back(b.weight({positions, positions}));
  }
  b.note("scaled_dot_product_attention");
  Expr out = b.let(b.same(form + ")", operands));
  Expr back = b.expr("transpose($0, perm = [0, 2, 1])", {out},
                     b.type({s.heads, s.headDim, positions}));
  b.let(merge(b, back));
  return true;
}

const std::vector<Construct> &anec::fuzz::sequenceConstructs() {
  static const std::vector<Construct> constructs = {
      {"product", 8, addProduct},
      {"right product", 2, addRightProduct},
      {"vector product", 1, addVectorProduct},
      {"gating", 4, addGating},
      {"residual", 3, addResidual},
      {"activation product", 3, addActivationProduct},
      {"batched product", 3, addBatchedProduct},
  };
  return constructs;
}

const std::vector<Construct> &anec::fuzz::attentionConstructs() {
  static const std::vector<Construct> constructs = {
      {"single head", 4, addSingleHead},
      {"heads", 3, addHeads},
      {"sdpa", 3, addSdpa},
      {"MIL's attention", 1, addMilAttention},
  };
  return constructs;
}
