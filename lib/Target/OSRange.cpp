//===- OSRange.cpp - versions of the operating system ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/OSRange.h"
#include <cassert>

using namespace anec;

/// Parses the numbers of `text`. Returns their count, or 0 when it is not a
/// version.
static unsigned parseNumbers(llvm::StringRef text,
                             std::array<unsigned, 3> &numbers) {
  for (unsigned count = 0; count < numbers.size();) {
    auto [number, rest] = text.split('.');
    if (number.empty() || number.getAsInteger(10, numbers[count]))
      return 0;
    ++count;
    if (number.size() == text.size())
      return count;
    text = rest;
  }
  return 0;
}

std::optional<OSVersion> OSVersion::parse(llvm::StringRef text) {
  OSVersion version;
  if (!parseNumbers(text, version.numbers))
    return std::nullopt;
  return version;
}

bool OSRange::contains(const OSVersion &version) const {
  if (!isKnown())
    return true;
  auto [first, last] = text.split('-');
  bool isOpen = text.ends_with("-");
  std::optional<OSVersion> begin = OSVersion::parse(first);
  assert(begin && "rows have ranges that can be parsed");
  if (version < *begin)
    return false;
  if (isOpen)
    return true;
  // The last version includes all versions that start with it.
  std::array<unsigned, 3> end = {};
  unsigned count = parseNumbers(last.empty() ? first : last, end);
  assert(count && "rows have ranges that can be parsed");
  for (unsigned i = 0; i < count; ++i)
    if (version.numbers[i] != end[i])
      return version.numbers[i] < end[i];
  return true;
}

std::string OSRange::str() const {
  auto [first, last] = text.split('-');
  if (text.ends_with("-"))
    return first.str() + " and later";
  return last.empty() ? first.str() : first.str() + " to " + last.str();
}
