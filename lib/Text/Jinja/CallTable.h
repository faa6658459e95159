//===- CallTable.h - filters, tests, methods and functions ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What programs can call, one row for each. Arguments are bound to parameters
/// here; what no parameter takes is an error.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_CALLTABLE_H
#define ANEC_LIB_TEXT_JINJA_CALLTABLE_H

#include "Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace anec::jinja {

class Evaluator;
struct Call;

using Named = std::vector<std::pair<std::string, Value>>;

struct Arguments {
  List items;
  Named named;
};

struct CallRow {
  llvm::StringLiteral name;
  /// As in Python: "width=4, first=false". A default is an integer, true,
  /// false, none, or else a text; `=` alone is the empty one. `name?` can be
  /// missing. `/` ends those without a name; `*` takes all others, and `**` all
  /// others that have names.
  llvm::StringLiteral parameters;
  Value (*run)(Call &);
};

/// A call of a row, with a value for each parameter.
struct Call {
  Evaluator &eval;
  const CallRow &row;
  Value self; ///< what a filter, a test or a method is applied to
  llvm::SmallVector<Value, 4> values;
  llvm::SmallVector<bool, 4> isGiven;
  List rest;
  Named named;

  const Value &operator[](size_t index) const { return values[index]; }
  bool has(size_t index) const { return isGiven[index]; }
  /// Reports what is wrong with an argument; returns an undefined value.
  Value fail(const llvm::Twine &text) const;
  /// An argument as an integer or as a text; an error if it is none.
  int64_t integer(size_t index) const;
  llvm::StringRef text(size_t index) const;
};

/// Null if there is none.
const CallRow *findFilter(llvm::StringRef name);
const CallRow *findTest(llvm::StringRef name);
const CallRow *findGlobal(llvm::StringRef name);
const CallRow *findMethod(const Value &self, llvm::StringRef name);

// The tables, each in the file of its subject.
llvm::ArrayRef<CallRow> textFilters();
llvm::ArrayRef<CallRow> numberFilters();
llvm::ArrayRef<CallRow> sequenceFilters();
llvm::ArrayRef<CallRow> itemFilters();
llvm::ArrayRef<CallRow> tests();
llvm::ArrayRef<CallRow> globals();
llvm::ArrayRef<CallRow> textMethods();
llvm::ArrayRef<CallRow> textPredicates();
llvm::ArrayRef<CallRow> sequenceMethods();
llvm::ArrayRef<CallRow> dictMethods();
llvm::ArrayRef<CallRow> numberMethods();
llvm::ArrayRef<CallRow> loopMethods();
llvm::ArrayRef<CallRow> helperMethods();

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_CALLTABLE_H
