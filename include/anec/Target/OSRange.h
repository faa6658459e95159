//===- OSRange.h - versions of the operating system -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TARGET_OSRANGE_H
#define ANEC_TARGET_OSRANGE_H

#include "llvm/ADT/StringRef.h"
#include <array>
#include <compare>
#include <optional>
#include <string>

namespace anec {

/// A version of macOS: `26` is 26.0, `15.6` is 15.6.0.
struct OSVersion {
  std::array<unsigned, 3> numbers = {};

  /// Parses `text`. Returns nothing when it is not one to three numbers
  /// separated by dots.
  static std::optional<OSVersion> parse(llvm::StringRef text);
  auto operator<=>(const OSVersion &) const = default;
};

/// A range of versions of macOS: `14` is all 14.x, `15.6-` is 15.6 and later,
/// `15-26.5` is 15.0 to 26.5.x. An empty range is unknown and contains all
/// versions.
struct OSRange {
  llvm::StringLiteral text = "";

  bool isKnown() const { return !text.empty(); }
  bool contains(const OSVersion &version) const;
  /// `14`, `15.6 and later`, `15 to 26.5`.
  std::string str() const;
};

} // namespace anec

#endif // ANEC_TARGET_OSRANGE_H
