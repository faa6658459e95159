//===- ShapeArgument.cpp - shapes of inputs in words ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/MIL/ShapeArgument.h"

using namespace anec;

std::optional<InputShape> anec::parseInputShape(llvm::StringRef argument) {
  auto [name, extents] = argument.rsplit('=');
  llvm::SmallVector<llvm::StringRef> words;
  extents.split(words, 'x');
  InputShape shape{name.str(), {}};
  for (llvm::StringRef word : words)
    if (word.getAsInteger(10, shape.shape.emplace_back()) ||
        shape.shape.back() < 1)
      return std::nullopt;
  return name.empty() ? std::nullopt : std::optional(shape);
}
