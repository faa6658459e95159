//===- States.h - states of the entries of a session ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_SESSION_STATES_H
#define ANEC_LIB_RUNTIME_SESSION_STATES_H

#include "anec/Runtime/Session.h"
#include "anec/Support/AlignedArray.h"
#include "llvm/Support/Memory.h"
#include <map>

namespace anec::session {

/// The memory of one state. Large states are in pages that the system gives
/// when they are written to: of a cache for thousands of positions, those that
/// have had a position. Smaller ones are in huge pages where the system has
/// these, which are faster to read.
struct StateMemory {
  AlignedArray small;
  llvm::sys::OwningMemoryBlock large;

  /// Zeros, beside `allocated` bytes of other states, which may not be in
  /// memory yet. Throws std::bad_alloc.
  void allocate(size_t count, uint64_t allocated);
  float *elements() {
    return small ? small.get() : static_cast<float *>(large.base());
  }
};

/// The memory of states. Programs for blocks of several sizes continue the same
/// text: entries of one model share the i-th of their states if its type is the
/// same.
class States {
public:
  /// The states of `entry`; zeros when they are new.
  std::vector<NamedFloats> of(const Function &entry);
  uint64_t bytes() const { return allocated; }

private:
  std::map<std::string, StateMemory> memory;
  uint64_t allocated = 0;
};

/// Writes rows into a state, from positions on.
struct StateUpdate {
  float *state;
  const float *rows;
  const uint32_t *position; ///< null for 0
  /// `count` vectors of `extent` elements, of which `length` are replaced.
  int64_t count, extent, length;
  /// Each position gets an equal part of a vector's rows.
  int64_t positions = 1;
  /// Equal parts of `extent`, each written by a position inside of it.
  int64_t parts = 1;

  void run(Executor &executor) const;

private:
  void runPart(int64_t part, Executor &executor) const;
};

} // namespace anec::session

#endif // ANEC_LIB_RUNTIME_SESSION_STATES_H
