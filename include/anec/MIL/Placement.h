//===- Placement.h - recorded placements of ops -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A dump of Core ML's compiler has, as attributes of each op, which backends
/// support it, which one was selected, and an estimate of its time. Units are
/// not documented: a convolution of 76 MFLOP has 0.0047, so they are taken as
/// milliseconds.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_MIL_PLACEMENT_H
#define ANEC_MIL_PLACEMENT_H

#include "anec/MIL/Outline.h"
#include <map>

namespace anec {

/// Where Core ML's compiler placed an op. Ranges and words point into the text.
struct RecordedPlacement {
  OutlineWord op;
  SourceRange range;                   ///< of the op with its arguments
  bool onEngine = false;               ///< `BackendSupport` has `ane`
  std::string selected;                ///< `SelectedBackend`
  std::string refusal;                 ///< `ValidationMessage` about `ane`
  std::map<std::string, double> times; ///< `EstimatedRuntime` by backend, in ms

  /// `not supported by the engine (Unsupported ...), placed on bnns`.
  std::string describe() const;
};

/// The placements of a text, in its order; none for a text that is no dump.
std::vector<RecordedPlacement> readPlacements(const MILOutline &text);

/// The placement of the op at `range`; null for none. `placements` are in the
/// order of the text.
const RecordedPlacement *
findPlacement(llvm::ArrayRef<RecordedPlacement> placements, SourceRange range);

} // namespace anec

#endif // ANEC_MIL_PLACEMENT_H
