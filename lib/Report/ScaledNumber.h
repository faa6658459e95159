//===- ScaledNumber.h - numbers with a prefix to their unit -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_SCALEDNUMBER_H
#define ANEC_LIB_REPORT_SCALEDNUMBER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <iterator>
#include <string>

namespace anec {

/// `18 B`, `1.234 kB`, `56.78 MFLOP`.
inline std::string scaled(double value, llvm::StringRef unit) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::StringRef prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  const llvm::StringRef *prefix = prefixes;
  // A value that would be rounded up to 1000 uses the next prefix.
  for (; value >= 999.95 && prefix + 1 != std::end(prefixes); ++prefix)
    value /= 1000;
  stream << llvm::format("%.4g ", value) << *prefix << unit;
  return text;
}

/// Milliseconds of microseconds.
inline double milli(double micro) { return micro / 1000; }

} // namespace anec

#endif // ANEC_LIB_REPORT_SCALEDNUMBER_H
