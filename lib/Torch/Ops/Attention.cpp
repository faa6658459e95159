//===- Attention.cpp - attention ------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Softmax.h"
#include <cmath>

using namespace anec;
using namespace anec::torch;

/// softmax(query key^T * scale + mask) value. A row that sees nothing gives 0
/// with a mask of bools.
static void attention(Node &n) {
  Emitter &e = n.e;
  Val query = n.in("query"), key = n.in("key"), value = n.in("value");
  bool isCausal = n.flag("is_causal"), shares = n.flag("enable_gqa");
  if (n.number("dropout_p") != 0)
    return n.fail("its dropout is random; export a model in `eval()` mode");
  if (n.failed() || !query || !key || !value || query.rank() < 2)
    return;
  DType dtype = query.dtype();
  double scale =
      n.has("scale")
          ? n.number("scale")
          : 1 / std::sqrt(double(std::max<int64_t>(query.dim(-1), 1)));
  if (shares && key.rank() >= 3 && key.dim(-3) != query.dim(-3)) {
    // Each head of keys and values is that of several queries.
    auto repeated = [&](Val x) {
      int64_t factor = query.dim(-3) / std::max<int64_t>(x.dim(-3), 1);
      Shape wide = x.shape(), whole = x.shape();
      wide.insert(wide.end() - 2, 1);
      Val parts = e.reshape(x, wide);
      wide[wide.size() - 3] = factor;
      whole[whole.size() - 3] *= factor;
      return e.reshape(e.broadcast(parts, wide), whole);
    };
    key = repeated(key);
    value = repeated(value);
  }
  int64_t queries = query.dim(-2), keys = key.dim(-2);
  Val mask;
  ScalarType maskType = ScalarType::Bool;
  if (n.has("attn_mask")) {
    Item given = n.item("attn_mask");
    mask = e.native(given.val);
    maskType = given.type;
  }
  if (isCausal) {
    if (mask)
      return n.fail("`is_causal` does not go with `attn_mask`");
    if (!e.affords({queries, keys}))
      return n.fail("its mask is too large");
    std::vector<double> seen;
    for (int64_t row = 0; row != queries; ++row)
      for (int64_t column = 0; column != keys; ++column)
        seen.push_back(column <= row);
    mask =
        e.constant(Constant::fromDoubles({DType::Bool, {queries, keys}}, seen));
  }
  Val scores = e.mul(e.matmul(query, key, false, true), scale);
  if (!scores)
    return;
  Val hidden;
  if (mask && maskType == ScalarType::Bool) {
    double lowest = dtype == DType::FP16 ? -65504 : -3.4028234663852886e38;
    scores = e.select(mask, scores, e.scalar(dtype, lowest));
    // What has no key at all gives 0. With causality, there is always one.
    if (!isCausal) {
      Val seen = e.reduce(ops::ReduceMax, e.cast(mask, DType::Int32),
                          {mask.rank() - 1}, true);
      hidden = e.make(ops::Equal, {seen, e.scalar(DType::Int32, 0)});
      if (ConstantRef known = e.known(hidden);
          known &&
          llvm::all_of(known->asDoubles(), [](double x) { return x == 0; }))
        hidden = Val();
    }
  } else if (mask) {
    scores = e.add(scores, e.cast(mask, dtype));
  }
  Val weights = e.make(ops::Softmax, {scores}, {{param::axis, -1}});
  if (hidden)
    weights = e.select(hidden, e.scalar(dtype, 0), weights);
  n.out(0, e.matmul(weights, value));
}

static constexpr OpRow attentionTable[] = {
    {"aten.scaled_dot_product_attention.default", attention, "not in training"},
};

llvm::ArrayRef<OpRow> torch::attentionRows() { return attentionTable; }
