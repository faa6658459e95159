//===- AttentionOps.h - ops that are attention together ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Finds the ops that attention is made of, whose scores nothing else reads:
///
///   out = sum over parts p of v_p * softmax(concat(min(q^T k_p, mask_p)))_p^T
///
/// with one part, or two: cached keys and those of a block. There can be
/// renamings between, and a part without a mask.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_ATTENTIONOPS_H
#define ANEC_LIB_RUNTIME_CPU_ATTENTIONOPS_H

#include "anec/IR/IR.h"
#include "anec/Runtime/Backend.h"
#include <optional>

namespace anec::cpu {

/// The keys of one product.
struct AttentionPart {
  const Op *scores = nullptr; ///< matmul: [heads.., rows, keys]
  const Op *bound = nullptr;  ///< minimum with the mask; null for none
  const Value *mask = nullptr;
  const Op *slice = nullptr;  ///< of the weights; null for one part
  const Op *values = nullptr; ///< matmul: [heads.., width, rows]

  int64_t keys() const { return scores->result()->type.shape.back(); }
  bool isMaskPerQuery() const { return mask->type.numElements() != keys(); }
};

struct AttentionOps {
  llvm::SmallVector<AttentionPart, 2> parts;
  const Op *concat = nullptr; ///< of the scores; null for one part
  const Op *softmax = nullptr;
  const Op *sum = nullptr; ///< of the parts' results; null for one part

  /// Rows of a product: queries of the heads that share its keys.
  int64_t rows() const;
  int64_t queries() const;
  int64_t products() const;
  llvm::SmallVector<const Op *, 12> all() const;
};

/// The attention whose result `last` computes, of enough rows that its products
/// do not just read the keys.
std::optional<AttentionOps> attentionBefore(const Op &last, Numerics numerics);

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_ATTENTIONOPS_H
