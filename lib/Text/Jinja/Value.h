//===- Value.h - values of template programs --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Values as Python has them. Texts, lists and dicts never change once they
/// are made, and are shared. What a program makes is charged to its budget for
/// as long as it is there.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_JINJA_VALUE_H
#define ANEC_LIB_TEXT_JINJA_VALUE_H

#include "Whole.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace anec::jinja {

/// What a run of a program has, and the most that it may have.
struct Budget {
  static constexpr size_t mostBytes = 32 << 20;
  /// A unit takes 50 to 150 ns.
  static constexpr size_t mostWork = 5'000'000;
  size_t bytes = 0, work = 0;
};

/// What a value refers to. Values that are not of a run, such as literals, have
/// no budget. Counts are atomic, because runs share literals.
struct Object : llvm::ThreadSafeRefCountedBase<Object> {
  Object() = default;
  Object(const Object &) = delete;
  Object &operator=(const Object &) = delete;
  virtual ~Object() {
    if (budget)
      budget->bytes -= charged;
  }
  void charge(Budget *owner, size_t bytes) {
    budget = owner;
    charged = bytes;
    if (budget)
      budget->bytes += bytes;
  }

  unsigned depth = 0; ///< of lists and dicts in each other

private:
  Budget *budget = nullptr;
  size_t charged = 0;
};
template <typename T>
using Ref = llvm::IntrusiveRefCntPtr<T>;

struct BigInteger;
struct Text;
struct Sequence;
struct Dict;
struct Namespace;
struct Iterator;
struct Callable;
struct Loop;

class Value {
public:
  enum class Kind : uint8_t {
    Undefined, ///< with the reason as its text
    None,
    Bool,
    Integer,
    BigInteger, ///< beyond 64 bits
    Float,
    Text,
    Sequence, ///< a list, a tuple, a range, or a view of a dict
    Dict,
    Namespace,
    Iterator, ///< what is read once
    Callable,
    Loop ///< the `loop` of a `for`
  };

  Value() = default;
  Value(Kind kind, Ref<Object> object)
      : what(kind), object(std::move(object)) {}
  static Value none() { return scalar(Kind::None, 0); }
  static Value of(bool flag) { return scalar(Kind::Bool, flag); }
  static Value of(int64_t number) { return scalar(Kind::Integer, number); }
  static Value of(double number) {
    Value value = scalar(Kind::Float, 0);
    value.number = number;
    return value;
  }
  /// A text or an integer that is charged to nobody.
  static Value literal(std::string text);
  static Value literal(const Whole &number);

  Kind kind() const { return what; }
  bool is(Kind kind) const { return what == kind; }
  bool isUndefined() const { return what == Kind::Undefined; }
  bool isNone() const { return what == Kind::None; }
  bool isText() const { return what == Kind::Text; }
  /// An int of Python of 64 bits, which a bool is too.
  bool isInteger() const { return what == Kind::Integer || what == Kind::Bool; }
  bool isBig() const { return what == Kind::BigInteger; }
  bool isWhole() const { return isInteger() || isBig(); }
  bool isNumber() const { return isWhole() || what == Kind::Float; }
  bool isMarkup() const;
  bool isList() const;
  bool isTuple() const;

  int64_t asInteger() const { return integer; }
  /// Of any int.
  Whole asWhole() const { return isBig() ? big() : Whole::of(integer); }
  const Whole &big() const;
  /// The nearest; infinite for an int that is too large.
  double asNumber() const {
    return what == Kind::Float ? number
           : isBig()           ? big().asDouble()
                               : double(integer);
  }
  llvm::StringRef text() const;
  const Sequence &sequence() const;
  const Dict &dict() const;
  Namespace &space() const;
  Iterator &iterator() const;
  Callable &callable() const;
  Loop &loop() const;
  const void *identity() const { return object.get(); }
  unsigned depth() const { return object ? object->depth : 0; }

  /// As in a condition.
  bool isTrue() const;
  /// What Python calls the type: `str`, `dict`.
  llvm::StringRef typeName() const;

private:
  static Value scalar(Kind kind, int64_t number) {
    Value value;
    value.what = kind;
    value.integer = number;
    return value;
  }
  template <typename T>
  T &as() const {
    return static_cast<T &>(*object);
  }

  Kind what = Kind::Undefined;
  union {
    int64_t integer = 0; ///< of Bool too
    double number;
  };
  Ref<Object> object;
};

using List = std::vector<Value>;

struct BigInteger : Object {
  explicit BigInteger(Whole number) : number(std::move(number)) {}
  const Whole number;
};

struct Text : Object {
  Text(std::string bytes, bool isMarkup)
      : bytes(std::move(bytes)), isMarkup(isMarkup) {}
  const std::string bytes;
  /// HTML, as `escape` and `safe` make it: what is added to it is escaped.
  const bool isMarkup;
};

struct Sequence : Object {
  enum class Kind : uint8_t { List, Tuple, Group, Range, Keys, Values, Items };
  Sequence(Kind kind, List items);
  const Kind kind;
  const List items;
  /// Whether it can be a key of a dict: a tuple of keys, or a range.
  const bool isHashable;
  int64_t start = 0, stop = 0, step = 1; ///< of a Range
};

struct Dict : Object {
  std::vector<std::pair<Value, Value>> entries;

  /// The value of a key; null if there is none, or `key` is no key.
  const Value *find(const Value &key) const;
  const Value *find(llvm::StringRef key) const;
  /// Adds an entry, or replaces its value. Only while nobody shares it.
  void set(Value key, Value value);

private:
  const Value *findHashed(const Value &key, uint64_t hash) const;
  std::unordered_multimap<uint64_t, uint32_t> index; ///< of larger ones
};

/// The one kind of value that a program can change.
struct Namespace : Object {
  Ref<Dict> members;
};

/// Whether `value` can be a key of a dict, and its hash.
bool isHashable(const Value &value);
uint64_t hashOf(const Value &value);
/// What it costs to compare or to hash, in units of Budget.
size_t workOf(const Value &value);
/// Of two numbers.
std::partial_ordering compareNumbers(const Value &lhs, const Value &rhs);
/// Python's ==. Counts what is done, up to the most that a run may do.
bool equals(const Value &lhs, const Value &rhs, size_t &work);

} // namespace anec::jinja

#endif // ANEC_LIB_TEXT_JINJA_VALUE_H
