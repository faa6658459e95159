//===- RefusedFlag.h - flags that would change nothing ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Finds a flag of a request that would change nothing, by the rows of its
/// source format and of its output, which say what they take.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_DRIVER_REFUSEDFLAG_H
#define ANEC_LIB_DRIVER_REFUSEDFLAG_H

#include "lib/Driver/Build.h"

namespace anec {

/// What somebody asks for.
struct GivenFlags {
  /// Without those whose value is the default.
  RequestFlags flags;
  /// --cache=state, among them.
  bool cachesAreStates = false;
  /// --quantize=w8a8, among them.
  bool quantizesActivations = false;
  /// --passes names passes that make kernels or programs of models.
  bool runsModelPasses = false;
};

/// How an interface spells flags.
struct FlagSpelling {
  std::string (*flag)(RequestFlag flag); ///< "--define"
  llvm::StringLiteral output;            ///< "--emit=", before the first output
  llvm::StringLiteral states;            ///< "--cache=state"
  llvm::StringLiteral activations;       ///< "--quantize=w8a8"
};

struct RefusedFlag {
  RequestFlag flag;
  std::string reason; ///< "is for --decode"
};

/// A flag that changes nothing of `output`, made of a source of `format`, and
/// why; nothing when there is none.
std::optional<RefusedFlag> findRefusedFlag(const GivenFlags &given,
                                           const SourceFormat &format,
                                           const OutputFormat &output,
                                           const FlagSpelling &spelling);

} // namespace anec

#endif // ANEC_LIB_DRIVER_REFUSEDFLAG_H
