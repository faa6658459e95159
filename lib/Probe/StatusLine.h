//===- StatusLine.h - a line that is overwritten ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_PROBE_STATUSLINE_H
#define ANEC_PROBE_STATUSLINE_H

#include "llvm/Support/raw_ostream.h"

namespace anec {

/// A line on a terminal that says what is being done.
struct StatusLine {
  llvm::raw_ostream *out = nullptr; ///< null for none

  /// Overwrites the line.
  void show(const llvm::Twine &text) const {
    clear();
    if (out)
      *out << text;
  }
  /// A carriage return, and erase to the end of the line.
  void clear() const {
    if (out)
      *out << "\r\033[K";
  }
};

} // namespace anec

#endif // ANEC_PROBE_STATUSLINE_H
