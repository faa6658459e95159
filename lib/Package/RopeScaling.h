//===- RopeScaling.h - how rotary embedding is scaled -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The scaling of rotary embedding in the two forms that it has: parameters of
/// the op `rope`, and `rope_scaling` (or `rope_parameters`) in Hugging Face's
/// config.json. Both have the same text as a fact of a model.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_ROPESCALING_H
#define ANEC_LIB_PACKAGE_ROPESCALING_H

#include "anec/IR/IR.h"
#include "lib/Ops/Params/Rope.h"
#include "llvm/Support/JSON.h"

namespace anec {

/// The members are the parameters of `rope`.
struct RopeScaling {
  RopeScalingKind kind = RopeScalingKind::None;
  double factor = 1;
  int64_t originalPositions = 0;
  double slowTurns = 1, fastTurns = 32;
  double magnitude = 1;
  std::vector<double> shortFactors, longFactors;

  /// The kind that an object of config.json names, as it is spelled there.
  static llvm::StringRef kindOf(const llvm::json::Object &scaling);
  /// Of an op `rope`.
  static RopeScaling of(const Op &rope);
  /// Of `scaling`, an object of `config`. Defaults are those of transformers.
  /// Nothing, with the reason in `wrong`, if it is of another kind, or says
  /// what `rope` does not compute. `original` is the default of
  /// `original_max_position_embeddings`; 0: the positions of the model.
  static std::optional<RopeScaling> read(const llvm::json::Object &scaling,
                                         const llvm::json::Object &config,
                                         std::string &wrong,
                                         int64_t original = 0);
  /// `none`, or the object of config.json, with all of its numbers.
  std::string text() const;
};

} // namespace anec

#endif // ANEC_LIB_PACKAGE_ROPESCALING_H
