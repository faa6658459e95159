//===- Adapters.h - low-rank adapters beside matrices -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// LoRA (Hu et al., arXiv 2106.09685): a matrix `w`, [rows, columns], that is
/// not trained gets two narrow ones, `a`, [rank, columns], and `b`, [rows,
/// rank], that are:
///
///   w @ x  ==>  w @ x + (b @ (a @ x)) * (alpha / rank)
///
/// A matrix that is multiplied as its transpose, `transpose(w) @ x`, has
/// adapters of the shapes that `transpose(w)` has. In `linear(x, w)`, rows of
/// `x` are multiplied so.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_PASSES_ADAPTERS_H
#define ANEC_PASSES_ADAPTERS_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"

namespace anec {

struct AdapterOptions {
  int64_t rank = 8;
  double alpha = 16;
  /// Patterns of the names of weights, whole (`attention.wq`) or without what
  /// precedes the last dot (`wq`), with `*` and `?`.
  std::vector<std::string> targets;

  /// The factor of an adapter's product.
  double scale() const { return alpha / double(rank); }
  /// Parses `rank=8,alpha=16,targets=wq:wv`. Without `alpha` it is twice the
  /// rank. Returns nothing, with `wrong` set, when the text is not of this
  /// form.
  static std::optional<AdapterOptions> parse(llvm::StringRef text,
                                             std::string &wrong);
};

struct AddedAdapters {
  /// The names of the `b`, which begin as zeros.
  std::vector<std::string> zeros;
  /// The names of the matrices that are multiplied as their transposes.
  std::vector<std::string> transposed;
};

/// Gives the matrices of a model that `options` names adapters, and freezes all
/// other weights. The adapter of `attention.wq` is `attention.wq_lora_a` and
/// `attention.wq_lora_b`. Returns nothing, with the reason reported, when a
/// pattern names no matrix, or a matrix is used otherwise than in `w @ x`, or
/// both so and as its transpose. The module must be as it was read, and is not
/// to be used after an error.
[[nodiscard]] std::optional<AddedAdapters>
addAdapters(Module &module, const AdapterOptions &options, Diagnostics &diags);

} // namespace anec

#endif // ANEC_PASSES_ADAPTERS_H
