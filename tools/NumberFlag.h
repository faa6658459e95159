//===- NumberFlag.h - flags that take numbers -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_NUMBERFLAG_H
#define ANEC_TOOLS_NUMBERFLAG_H

#include "FlagErrors.h"
#include "llvm/ADT/StringExtras.h"
#include <type_traits>

namespace anec {

class NumberParser : public llvm::cl::parser<double> {
public:
  using parser::parser;
  bool parse(llvm::cl::Option &flag, llvm::StringRef, llvm::StringRef text,
             double &value) {
    // LLVM takes no digits for 0, which is what a script passes whose variable
    // is empty.
    if (text.trim().empty() || !llvm::to_float(text, value))
      return refuseValue(flag, "a number", text);
    return false;
  }
};

using NumberFlag = llvm::cl::opt<double, false, NumberParser>;

/// A flag, or a list, of whole numbers. LLVM's parsers of them are final.
template <typename T, typename Base>
class WholeValues : public Base {
public:
  using Base::Base;
  bool addOccurrence(unsigned position, llvm::StringRef name,
                     llvm::StringRef text, bool isOneOfMany) override {
    if (T value; text.getAsInteger(0, value))
      return refuseValue(*this,
                         std::is_unsigned_v<T> ? "a whole number, 0 or more"
                                               : "a whole number",
                         text);
    return Base::addOccurrence(position, name, text, isOneOfMany);
  }
};

template <typename T>
using WholeFlag = WholeValues<T, llvm::cl::opt<T>>;
template <typename T>
using WholeListFlag = WholeValues<T, llvm::cl::list<T>>;

} // namespace anec

#endif // ANEC_TOOLS_NUMBERFLAG_H
