//===- DefineFlag.h - --define of both tools --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_DEFINEFLAG_H
#define ANEC_TOOLS_DEFINEFLAG_H

#include "llvm/Support/CommandLine.h"

namespace anec {

/// Overrides of the `config` entries of a program.
struct DefineFlag {
  llvm::cl::list<std::string> defines{
      "define", llvm::cl::value_desc("NAME=VALUE"),
      llvm::cl::desc("Override a `config` entry")};

  /// The error in the values; empty when they are valid.
  std::string check() const {
    for (const std::string &define : defines)
      if (!llvm::StringRef(define).contains('='))
        return "--define takes NAME=VALUE, not `" + define + "`";
    return "";
  }
  /// Names and values, after `check`.
  std::vector<std::pair<std::string, std::string>> pairs() const {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (llvm::StringRef define : defines) {
      auto [name, value] = define.split('=');
      pairs.emplace_back(name.str(), value.str());
    }
    return pairs;
  }
};

} // namespace anec

#endif // ANEC_TOOLS_DEFINEFLAG_H
