//===- Segment.h - host ops that run as one ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_SESSION_SEGMENT_H
#define ANEC_LIB_RUNTIME_SESSION_SEGMENT_H

#include "Slots.h"
#include "anec/Support/Diagnostics.h"

namespace anec::session {

/// The items of a segment as a function: ops on the values of slots.
struct Segment {
  std::unique_ptr<Module> module;
  Function *function = nullptr;
  std::vector<Slot *> parameters, results;
  /// In the order of the function's `accumulate` ops.
  std::vector<const Item *> accumulations;
  /// Those that add to rows, which are ops like others.
  std::vector<std::pair<const Item *, Value *>> scatters;
  std::string ops; ///< their names, for people
};

/// Makes a function of `items`, which are computations and accumulations;
/// slots that are not internal become parameters and results. Null, with the
/// reason reported, when an op has no reference.
[[nodiscard]] std::optional<Segment>
makeSegment(llvm::ArrayRef<const Item *> items, Diagnostics &diags);

} // namespace anec::session

#endif // ANEC_LIB_RUNTIME_SESSION_SEGMENT_H
