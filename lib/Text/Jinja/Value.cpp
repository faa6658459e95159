//===- Value.cpp - values of template programs ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Callable.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;
using SK = Sequence::Kind;
namespace jinja = anec::jinja;

Value Value::literal(std::string text) {
  return Value(VK::Text, Ref<Object>(new Text(std::move(text), false)));
}

Value Value::literal(const Whole &number) {
  if (std::optional<int64_t> small = number.asInteger())
    return of(*small);
  return Value(VK::BigInteger, Ref<Object>(new jinja::BigInteger(number)));
}

const Whole &Value::big() const { return as<jinja::BigInteger>().number; }

StringRef Value::text() const {
  return object ? StringRef(as<Text>().bytes) : StringRef();
}
const Sequence &Value::sequence() const { return as<Sequence>(); }
const Dict &Value::dict() const { return as<Dict>(); }
Namespace &Value::space() const { return as<Namespace>(); }
Iterator &Value::iterator() const { return as<Iterator>(); }
Callable &Value::callable() const { return as<Callable>(); }
Loop &Value::loop() const { return as<Loop>(); }

bool Value::isMarkup() const { return isText() && as<Text>().isMarkup; }
bool Value::isList() const {
  return is(VK::Sequence) && sequence().kind == SK::List;
}
bool Value::isTuple() const {
  return is(VK::Sequence) &&
         (sequence().kind == SK::Tuple || sequence().kind == SK::Group);
}

bool Value::isTrue() const {
  switch (what) {
  case VK::Undefined:
  case VK::None:
    return false;
  case VK::Bool:
  case VK::Integer:
    return integer != 0;
  case VK::Float:
    return number != 0;
  case VK::Text:
    return !text().empty();
  case VK::Sequence:
    return !sequence().items.empty();
  case VK::Dict:
    return !dict().entries.empty();
  case VK::BigInteger:
  case VK::Namespace:
  case VK::Iterator:
  case VK::Callable:
  case VK::Loop:
    return true;
  }
  llvm_unreachable("not a kind");
}

StringRef Value::typeName() const {
  switch (what) {
  case VK::Undefined:
    return "Undefined";
  case VK::None:
    return "NoneType";
  case VK::Bool:
    return "bool";
  case VK::Integer:
  case VK::BigInteger:
    return "int";
  case VK::Float:
    return "float";
  case VK::Text:
    return isMarkup() ? "Markup" : "str";
  case VK::Sequence: {
    static constexpr StringLiteral names[] = {
        "list",      "tuple",       "tuple",     "range",
        "dict_keys", "dict_values", "dict_items"};
    return names[size_t(sequence().kind)];
  }
  case VK::Dict:
    return "dict";
  case VK::Namespace:
    return "Namespace";
  case VK::Iterator:
    return "generator";
  case VK::Callable:
    return callable().isMacro() ? "Macro" : "function";
  case VK::Loop:
    return "LoopContext";
  }
  llvm_unreachable("not a kind");
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

bool anec::jinja::isHashable(const Value &value) {
  return value.is(VK::Sequence) ? value.sequence().isHashable
                                : !value.is(VK::Dict);
}

Sequence::Sequence(Kind kind, List all)
    : kind(kind), items(std::move(all)),
      isHashable(kind == Kind::Range ||
                 ((kind == Kind::Tuple || kind == Kind::Group) &&
                  all_of(items, jinja::isHashable))) {}

/// Of the first items of the outer tuples: the whole can be much larger than
/// what is in memory.
static uint64_t hashOf(const Value &value, unsigned depth) {
  switch (value.kind()) {
  case VK::Undefined:
  case VK::None:
    return uint64_t(value.kind());
  case VK::Bool:
  case VK::Integer:
  case VK::BigInteger:
  case VK::Float:
    // Equal numbers are equal keys.
    return size_t(hash_value(llvm::bit_cast<uint64_t>(value.asNumber() + 0.0)));
  case VK::Text:
    return size_t(hash_value(value.text()));
  case VK::Sequence: {
    uint64_t hash = 1;
    for (const Value &item : ArrayRef(value.sequence().items).take_front(8))
      hash =
          size_t(hash_combine(hash, depth < 4 ? hashOf(item, depth + 1) : 0));
    return hash;
  }
  default:
    return size_t(hash_value(value.identity()));
  }
}

uint64_t anec::jinja::hashOf(const Value &value) { return ::hashOf(value, 0); }

size_t anec::jinja::workOf(const Value &value) {
  return value.isBig() ? 10 + value.big().bits() / 256 : 0;
}

std::partial_ordering anec::jinja::compareNumbers(const Value &lhs,
                                                  const Value &rhs) {
  if (lhs.isInteger() && rhs.isInteger())
    return lhs.asInteger() <=> rhs.asInteger();
  if (lhs.is(VK::Float) && rhs.is(VK::Float))
    return lhs.asNumber() <=> rhs.asNumber();
  if (lhs.is(VK::Float))
    return 0 <=> compareNumbers(rhs, lhs);
  if (lhs.isBig() && rhs.isBig())
    return lhs.big() <=> rhs.big();
  // As exact as in Python: 2 ** 53 + 1 is no float.
  return rhs.is(VK::Float) ? lhs.asWhole() <=> rhs.asNumber()
                           : lhs.asWhole() <=> rhs.asWhole();
}

bool anec::jinja::equals(const Value &lhs, const Value &rhs, size_t &work) {
  if (++work > Budget::mostWork)
    return false;
  if (lhs.isNumber() && rhs.isNumber()) {
    work += workOf(lhs) + workOf(rhs);
    return compareNumbers(lhs, rhs) == 0;
  }
  if (lhs.kind() != rhs.kind())
    return false;
  if (lhs.identity() && lhs.identity() == rhs.identity())
    return true;
  switch (lhs.kind()) {
  case VK::Undefined:
  case VK::None:
    return true;
  case VK::Text:
    work += lhs.text().size() / 256;
    return lhs.text() == rhs.text();
  case VK::Sequence: {
    const Sequence &left = lhs.sequence(), &right = rhs.sequence();
    if (left.items.size() != right.items.size() ||
        lhs.isTuple() != rhs.isTuple() ||
        (!lhs.isTuple() && left.kind != right.kind) || left.kind == SK::Values)
      return false;
    if (left.kind == SK::Keys || left.kind == SK::Items)
      return work < Budget::mostWork &&
             all_of(left.items, [&](const Value &item) {
               return any_of(right.items, [&](const Value &other) {
                 return equals(item, other, work);
               });
             });
    for (auto [item, other] : zip(left.items, right.items))
      if (!equals(item, other, work))
        return false;
    return true;
  }
  case VK::Dict: {
    const Dict &left = lhs.dict(), &right = rhs.dict();
    if (left.entries.size() != right.entries.size())
      return false;
    for (const auto &[key, value] : left.entries) {
      const Value *other = right.find(key);
      if (!other || !equals(value, *other, work))
        return false;
    }
    return true;
  }
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Dicts
//===----------------------------------------------------------------------===//

/// Dicts up to this size have no index.
static constexpr size_t small = 8;

const Value *Dict::findHashed(const Value &key, uint64_t hash) const {
  size_t work = 0;
  auto [begin, end] = index.equal_range(hash);
  for (; begin != end; ++begin)
    if (const auto &entry = entries[begin->second];
        equals(entry.first, key, work))
      return &entry.second;
  return nullptr;
}

const Value *Dict::find(const Value &key) const {
  if (key.isText())
    return find(key.text());
  if (!isHashable(key))
    return nullptr;
  if (entries.size() > small)
    return findHashed(key, hashOf(key));
  size_t work = 0;
  for (const auto &[each, value] : entries)
    if (equals(each, key, work))
      return &value;
  return nullptr;
}

const Value *Dict::find(StringRef key) const {
  if (entries.size() > small) {
    auto [begin, end] = index.equal_range(size_t(hash_value(key)));
    for (; begin != end; ++begin)
      if (const auto &entry = entries[begin->second];
          entry.first.isText() && entry.first.text() == key)
        return &entry.second;
    return nullptr;
  }
  for (const auto &[each, value] : entries)
    if (each.isText() && each.text() == key)
      return &value;
  return nullptr;
}

void Dict::set(Value key, Value value) {
  depth = std::max({depth, key.depth() + 1, value.depth() + 1});
  if (const Value *there = find(key)) {
    const_cast<Value &>(*there) = std::move(value);
    return;
  }
  entries.emplace_back(std::move(key), std::move(value));
  if (entries.size() == small + 1)
    for (size_t at = 0; at < small; ++at)
      index.emplace(hashOf(entries[at].first), uint32_t(at));
  if (entries.size() > small)
    index.emplace(hashOf(entries.back().first), uint32_t(entries.size() - 1));
}
