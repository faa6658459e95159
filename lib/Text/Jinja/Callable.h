//===- Callable.h - values that programs call and read ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_CALLABLE_H
#define ANEC_LIB_TEXT_JINJA_CALLABLE_H

#include "Value.h"
#include <functional>
#include <optional>

namespace anec::jinja {

class Evaluator;
struct CallRow;
struct Statement;

/// The variables of a statement's body. What is not found in it is looked for
/// in what is around it.
struct Scope : Object {
  explicit Scope(Ref<Scope> outer) : outer(std::move(outer)) {}
  const Ref<Scope> outer;
  /// Names are those of the program.
  std::vector<std::pair<llvm::StringRef, Value>> variables;

  Value *find(llvm::StringRef name) {
    for (auto &[each, value] : variables)
      if (each == name)
        return &value;
    return nullptr;
  }
  void set(llvm::StringRef name, Value value) {
    if (Value *there = find(name))
      *there = std::move(value);
    else
      variables.emplace_back(name, std::move(value));
  }
};

struct Callable : Object {
  /// A row of a table, of `self` if it is a method.
  const CallRow *row = nullptr;
  Value self;
  /// A macro, the body of a `call`, or a block, with the scope around it.
  const Statement *body = nullptr;
  Ref<Scope> scope;
  std::string name;
  /// What cycler and joiner are: `items` in turns, or a text that is empty the
  /// first time.
  List items;
  size_t position = 0;
  enum class Special : uint8_t { None, Cycler, Joiner, Blocks } special{};

  bool isMacro() const { return body != nullptr; }
};

/// What is read once, from front to back.
struct Iterator : Object {
  /// Reads from `source`, which can be another iterator.
  Value source;
  size_t position = 0;
  bool isReversed = false;
  /// Makes an item of one of the source's; nothing if there is none for it.
  std::function<std::optional<Value>(Evaluator &, const Value &)> step;
  /// At the end of the source, once: what is left.
  std::function<std::optional<Value>(Evaluator &)> rest;
  std::optional<Value> ahead; ///< a loop has looked at it
};

/// The state of a `for`.
struct Loop : Object {
  Ref<Iterator> items;
  const Statement *statement = nullptr;
  Ref<Scope> scope; ///< of a recursive one
  int64_t index0 = -1;
  int64_t depth0 = 0;
  std::optional<int64_t> length;
  Value previous, current;
  std::optional<List> changed;
};

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_CALLABLE_H
