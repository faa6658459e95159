//===- Unfinished.h - what a signal must remove -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A list of the files and folders that this process has under temporary names.
/// A program that ends on a signal removes them with `removeUnfinished`, which
/// the tools do; the library does not handle signals.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_UNFINISHED_H
#define ANEC_LIB_SUPPORT_UNFINISHED_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>

namespace anec {

/// An entry of the list, for as long as it lives.
class Unfinished {
public:
  Unfinished() = default;
  /// Adds `path`. An entry that is added before its file or folder is created
  /// misses no signal.
  explicit Unfinished(llvm::StringRef path);
  Unfinished(Unfinished &&other) noexcept
      : entry(std::exchange(other.entry, nullptr)) {}
  Unfinished &operator=(Unfinished &&other) noexcept {
    std::swap(entry, other.entry);
    return *this;
  }
  ~Unfinished() { finish(); }
  /// Takes it off the list: it has been renamed or removed. Does not return in
  /// a process that `removeUnfinished` ends.
  void finish();

private:
  struct Entry;
  friend void removeUnfinished();
  friend bool isInUnfinished(llvm::StringRef);
  static Entry *entries();
  Entry *entry = nullptr;
};

/// Removes what is on the list; the process must end then. It can be called in
/// a signal handler: it neither allocates nor locks.
void removeUnfinished();

/// Whether a folder on the list contains `path`.
bool isInUnfinished(llvm::StringRef path);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_UNFINISHED_H
