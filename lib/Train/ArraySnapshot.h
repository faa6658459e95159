//===- ArraySnapshot.h - arrays as they were --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Arrays that one thread writes to a file while another goes on and changes
/// them. Only those that are not written when the change comes are copied.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_ARRAYSNAPSHOT_H
#define ANEC_LIB_TRAIN_ARRAYSNAPSHOT_H

#include "anec/Runtime/Session.h"
#include "anec/Support/Executor.h"
#include "lib/Arrays/Safetensors.h"

namespace anec {

class ArraySnapshot {
public:
  /// The elements of `arrays` must live as long as it does, or until copyRest.
  explicit ArraySnapshot(llvm::ArrayRef<NamedFloats> arrays);

  /// What there is to write, in order. `make` can be called once for each, on
  /// one thread; it copies an array that was not copied yet, and the copy is
  /// freed with the result.
  std::vector<PlannedArray> plan();
  /// Copies the arrays that were not made yet, with the threads of `executor`.
  /// After it, their elements may change.
  void copyRest(Executor &executor);

private:
  struct Entry {
    NamedFloats array;
    AlignedArray copy;
    bool isMade = false;
  };
  ConstantRef make(Entry &entry);

  std::mutex changes; ///< of `entries`
  std::vector<Entry> entries;
  bool isWhole = false; ///< used only by the thread that calls copyRest
};

} // namespace anec

#endif // ANEC_LIB_TRAIN_ARRAYSNAPSHOT_H
