//===- NumberFlag.h - flags that take numbers -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_NUMBERFLAG_H
#define ANEC_TOOLS_NUMBERFLAG_H

#include "llvm/Support/CommandLine.h"

namespace anec {

/// LLVM's parser takes no digits for 0, which is what a script passes whose
/// variable is empty.
class NumberParser : public llvm::cl::parser<double> {
public:
  using parser::parser;
  bool parse(llvm::cl::Option &option, llvm::StringRef name,
             llvm::StringRef argument, double &value) {
    if (argument.trim().empty())
      return option.error("takes a number");
    return parser::parse(option, name, argument, value);
  }
};

using NumberFlag = llvm::cl::opt<double, false, NumberParser>;

} // namespace anec

#endif // ANEC_TOOLS_NUMBERFLAG_H
