//===- BytesFlag.h - flags that take a number of bytes ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_BYTESFLAG_H
#define ANEC_TOOLS_BYTESFLAG_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MathExtras.h"

namespace anec {

/// `5GB`, `200MB`, `64KB` in powers of 1000, or a number of bytes; nothing for
/// other texts, and for 0.
inline std::optional<uint64_t> parseBytes(llvm::StringRef text) {
  static constexpr std::pair<llvm::StringLiteral, uint64_t> units[] = {
      {"KB", 1000}, {"MB", 1000'000}, {"GB", 1000'000'000}};
  uint64_t unit = 1, number = 0;
  for (const auto &[suffix, size] : units)
    if (text.consume_back(suffix))
      unit = size;
  if (text.getAsInteger(10, number) || number == 0)
    return std::nullopt;
  return llvm::SaturatingMultiply(number, unit);
}

class BytesFlag {
public:
  BytesFlag(llvm::StringRef name, llvm::StringRef description)
      : text(name, llvm::cl::value_desc("SIZE"), llvm::cl::desc(description)) {}

  bool isGiven() const { return text.getNumOccurrences(); }
  /// The error in the value; empty when it is valid.
  std::string check() const {
    if (isGiven() && !parseBytes(text))
      return "--" + text.ArgStr.str() + " takes a size such as 5GB, not `" +
             text + "`";
    return "";
  }
  /// The value, after `check`.
  uint64_t valueOr(uint64_t other) const {
    return isGiven() ? *parseBytes(text) : other;
  }

private:
  llvm::cl::opt<std::string> text;
};

} // namespace anec

#endif // ANEC_TOOLS_BYTESFLAG_H
