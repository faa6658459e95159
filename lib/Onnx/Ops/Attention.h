//===- Attention.h - what forms of attention share --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_OPS_ATTENTION_H
#define ANEC_LIB_ONNX_OPS_ATTENTION_H

#include "../Node.h"

namespace anec::onnx {

/// Softmax(scale * query * key^T + bias) * value. Tensors are [batch, heads,
/// positions, width]; a head of the keys may serve several neighbors of the
/// queries. Missing values are not applied.
struct AttentionTerms {
  Val query, key, value;
  double scale = 1;
  double softcap = 0; ///< scores become softcap * tanh(score / softcap)
  Val bias;           ///< is added to the scores; may be -infinity
  Val keeps;          ///< bool: a score that is not kept has no weight
  /// [heads]: the score of one more key for each head, whose value is 0.
  Val sink;
  /// The element type of the softmax; that of the scores if none is given.
  std::optional<DType> precision;
};

struct AttentionResults {
  Val output;
  Val products, capped, biased, weights; ///< the scores, step by step
};

/// Where no score of a row is kept, the weights are 0.
AttentionResults attend(Emitter &e, const AttentionTerms &terms);

/// [batch, positions, heads * width] as [batch, heads, positions, width].
Val splitHeads(Emitter &e, Val x, int64_t heads);
/// The reverse.
Val joinHeads(Emitter &e, Val x);

/// Both, or the one that is there.
Val bothHold(Emitter &e, Val first, Val second);

/// Which keys a query may see: from `left` before it to `right` after it, -1
/// for no limit.
struct Reach {
  int64_t left = -1, right = -1;
  bool isLimited() const { return left >= 0 || right >= 0; }
};

/// [queries, keys], for a first query at position `before`. Missing, with an
/// error, if it is too large.
Val seenKeys(Node &node, int64_t queries, int64_t keys, int64_t before,
             Reach reach);
/// The same, as [batch, 1, queries, keys], for a last query at the last of the
/// keys, whose numbers `lengths` are int32 [batch].
Val seenKeys(Node &node, int64_t queries, int64_t keys, Val lengths,
             Reach reach);
/// The keys below `lengths`, as [batch, 1, 1, keys].
Val firstKeys(Node &node, int64_t keys, Val lengths);

/// The rotation of the first `width` elements of the last axis of `x`, [batch,
/// heads, positions, head size], by angles of which `cosines` and `sines` have
/// one for each pair: [positions or batch and positions, width / 2]. Pairs are
/// neighbors, or one of each half.
Val rotated(Emitter &e, Val x, Val cosines, Val sines, int64_t width,
            bool neighbors);

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_OPS_ATTENTION_H
