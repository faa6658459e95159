//===- InputShape.h - --shape of both tools ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_INPUTSHAPE_H
#define ANEC_TOOLS_INPUTSHAPE_H

#include "anec/MIL/Reader.h"
#include "llvm/ADT/SmallVector.h"

namespace anec {

/// Reads `x=1x3x64`. Returns nothing when `argument` does not have that form.
inline std::optional<InputShape> parseInputShape(llvm::StringRef argument) {
  auto [name, extents] = argument.split('=');
  llvm::SmallVector<llvm::StringRef> words;
  extents.split(words, 'x');
  InputShape shape{name.str(), {}};
  for (llvm::StringRef word : words)
    if (word.getAsInteger(10, shape.shape.emplace_back()) ||
        shape.shape.back() < 1)
      return std::nullopt;
  return name.empty() ? std::nullopt : std::optional(shape);
}

} // namespace anec

#endif // ANEC_TOOLS_INPUTSHAPE_H
