//===- Value.h - values of template programs --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_VALUE_H
#define ANEC_LIB_TEXT_JINJA_VALUE_H

#include "llvm/Support/JSON.h"
#include <memory>
#include <string>
#include <vector>

namespace anec::jinja {

struct Statement;
struct Value;
using List = std::vector<Value>;
using Members = std::vector<std::pair<std::string, Value>>;

/// The longest text, and the longest list, of a program.
constexpr size_t mostText = size_t(1) << 24, mostItems = 1'000'000;

/// A value as Python has it. Lists and objects are shared, as there.
struct Value {
  enum class Kind : uint8_t {
    Undefined,
    None,
    Bool,
    Integer,
    Number,
    String,
    List,
    Object,
    Function ///< a function of the language, by its name, or a macro
  };

  Kind kind = Kind::Undefined;
  bool isNamespace = false;    ///< an object whose members can be set
  bool holdsNamespace = false; ///< it is one, or has one in it
  unsigned depth = 0;          ///< of lists and objects in each other
  int64_t integer = 0;         ///< of Bool too
  double number = 0;
  std::string text; ///< of String and Function
  std::shared_ptr<List> list;
  std::shared_ptr<Members> members;
  const Statement *macro = nullptr;

  static Value none() { return {.kind = Kind::None}; }
  static Value of(bool flag) { return {.kind = Kind::Bool, .integer = flag}; }
  static Value of(int64_t number) {
    return {.kind = Kind::Integer, .integer = number};
  }
  static Value of(double number) {
    return {.kind = Kind::Number, .number = number};
  }
  static Value of(std::string text) {
    return {.kind = Kind::String, .text = std::move(text)};
  }
  static Value of(List items);
  static Value of(Members members);
  static Value function(llvm::StringRef name) {
    return {.kind = Kind::Function, .text = name.str()};
  }

  bool is(Kind other) const { return kind == other; }
  bool isString() const { return kind == Kind::String; }
  bool isInteger() const { return kind == Kind::Integer || kind == Kind::Bool; }
  bool isNumber() const { return isInteger() || kind == Kind::Number; }
  double asNumber() const {
    return kind == Kind::Number ? number : double(integer);
  }
  /// As in a condition.
  bool isTrue() const;
  bool equals(const Value &other) const;
  /// The member of an object; null if there is none.
  const Value *find(llvm::StringRef name) const;
  /// Python's str(). Longer texts than mostText are cut there.
  std::string str() const;
  /// JSON with Python's spaces, cut alike. `indent` is 0 for one line.
  std::string json(unsigned indent = 0) const;
};

/// The offsets of the characters of a UTF-8 text, and its end.
std::vector<size_t> characters(llvm::StringRef text);
/// Python's strip() at the chosen ends: of white space if `set` is empty, and
/// otherwise of the characters in it.
llvm::StringRef strip(llvm::StringRef text, bool left, bool right,
                      llvm::StringRef set = "");

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_VALUE_H
