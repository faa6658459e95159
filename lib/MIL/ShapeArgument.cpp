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

std::optional<InputValue> anec::parseFixedInput(llvm::StringRef argument) {
  auto [name, list] = argument.rsplit('=');
  llvm::SmallVector<llvm::StringRef, 4> words;
  list.split(words, ',');
  std::vector<double> numbers;
  for (llvm::StringRef word : words)
    if (word.getAsDouble(numbers.emplace_back()))
      return std::nullopt;
  if (name.empty() || numbers.empty())
    return std::nullopt;
  TensorType type(DType::FP64, {int64_t(numbers.size())});
  return InputValue{name.str(), Constant::fromDoubles(type, numbers), true};
}
