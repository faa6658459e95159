//===- ChoiceFlag.h - flags with a few values -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_CHOICEFLAG_H
#define ANEC_TOOLS_CHOICEFLAG_H

#include "FlagErrors.h"
#include "anec/Support/Words.h"

namespace anec {

template <typename T>
class ChoiceParser : public llvm::cl::parser<T> {
public:
  using llvm::cl::parser<T>::parser;
  bool parse(llvm::cl::Option &flag, llvm::StringRef name, llvm::StringRef text,
             T &value) {
    if (this->findOption(text) == this->getNumOptions())
      return refuseChoice(flag, text, *this);
    return llvm::cl::parser<T>::parse(flag, name, text, value);
  }
};

/// A flag whose values are the rows of llvm::cl::values.
template <typename T>
using ChoiceFlag = llvm::cl::opt<T, false, ChoiceParser<T>>;

/// A row of llvm::cl::values: the word of `value`, and what it stands for.
template <Worded Enum>
llvm::cl::OptionEnumValue choiceOf(Enum value, llvm::StringRef meaning) {
  return {spelling(value), int(value), meaning};
}

} // namespace anec

#endif // ANEC_TOOLS_CHOICEFLAG_H
