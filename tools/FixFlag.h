//===- FixFlag.h - --fix of both tools --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_FIXFLAG_H
#define ANEC_TOOLS_FIXFLAG_H

#include "lib/MIL/ShapeArgument.h"
#include "llvm/Support/CommandLine.h"

namespace anec {

/// `--fix=sr=16000`, once for each input.
class FixFlag {
public:
  /// The error in the values; empty when they are valid.
  std::string check() const {
    for (const std::string &text : inputs)
      if (!parseFixedInput(text))
        return "--fix takes NAME=NUMBER or NAME=NUMBER,NUMBER, not `" + text +
               "`";
    return "";
  }
  /// The values, after `check`.
  std::vector<InputValue> values() const {
    std::vector<InputValue> values;
    for (const std::string &text : inputs)
      values.push_back(*parseFixedInput(text));
    return values;
  }

private:
  llvm::cl::list<std::string> inputs{
      "fix", llvm::cl::value_desc("NAME=NUMBERS"),
      llvm::cl::desc("An input that the program has as a constant instead: one "
                     "number for all elements, or one for each, such as "
                     "sr=16000. Branches that it decides are decided")};
};

} // namespace anec

#endif // ANEC_TOOLS_FIXFLAG_H
