//===- FixFlag.h - --fix of both tools --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_FIXFLAG_H
#define ANEC_TOOLS_FIXFLAG_H

#include "anec/MIL/Reader.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"

namespace anec {

/// `--fix=sr=16000`, once for each input.
class FixFlag {
public:
  /// The error in the values; empty when they are valid.
  std::string check() const {
    for (const std::string &text : inputs)
      if (!parse(text))
        return "--fix takes NAME=NUMBER or NAME=NUMBER,NUMBER, not `" + text +
               "`";
    return "";
  }
  /// The values, after `check`.
  std::vector<InputValue> values() const {
    std::vector<InputValue> values;
    for (const std::string &text : inputs)
      values.push_back(*parse(text));
    return values;
  }

private:
  static std::optional<InputValue> parse(llvm::StringRef text) {
    auto [name, list] = text.rsplit('=');
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

  llvm::cl::list<std::string> inputs{
      "fix", llvm::cl::value_desc("NAME=NUMBERS"),
      llvm::cl::desc("An input that the program has as a constant instead: one "
                     "number for all elements, or one for each, such as "
                     "sr=16000. Branches that it decides are decided")};
};

} // namespace anec

#endif // ANEC_TOOLS_FIXFLAG_H
