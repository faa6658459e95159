//===- Message.h - messages as lists of fields ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A message is a struct that lists its fields once, for reading and writing:
///
///   struct Dimension {
///     int chosen = 0;
///     Part<ConstantDimension> constant;
///     Part<UnknownDimension> unknown;
///     static bool fields(auto &m, auto &visit) {
///       return visit.oneOf(m.chosen, at(1, m.constant), at(2, m.unknown));
///     }
///   };
///
/// Members are numbers, enumerations, strings, `Part` of a message, `Map`, and
/// vectors of these; a vector of `uint8_t` has booleans. A `Bytes` or
/// `llvm::StringRef` refers to the bytes that were parsed.
///
/// As protobuf defines it: of a field that is there several times, the last
/// counts, and messages are merged; a field of another wire type than declared
/// is unknown, and unknown fields are ignored.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PROTOBUF_MESSAGE_H
#define ANEC_LIB_PROTOBUF_MESSAGE_H

#include "lib/Protobuf/Wire.h"
#include "llvm/ADT/STLExtras.h"
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <type_traits>
#include <vector>

namespace anec::protobuf {

/// A message that may be missing; it then reads as one without fields.
template <typename Message>
class Part {
public:
  bool has() const { return held != nullptr; }
  const Message &operator*() const {
    static const Message none;
    return held ? *held : none;
  }
  const Message *operator->() const { return &**this; }
  /// The message, there from now on.
  Message &make() {
    if (!held)
      held = std::make_shared<Message>();
    return *held;
  }
  void clear() { held.reset(); }

private:
  std::shared_ptr<Message> held;
};

/// Values by key, in the order of the keys; of equal keys, the last counts.
template <typename Value>
using Map = std::map<std::string, Value, std::less<>>;

/// A field: its number and the member that holds it.
template <typename Member>
struct At {
  int number;
  Member &member;
};
template <typename Member>
At<Member> at(int number, Member &member) {
  return {number, member};
}

namespace detail {

template <typename T>
inline constexpr bool isNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <typename T>
inline constexpr bool isText =
    std::is_same_v<T, std::string> || std::is_same_v<T, llvm::StringRef> ||
    std::is_same_v<T, Bytes>;

template <typename T>
constexpr Wire wireOf() {
  if constexpr (std::is_same_v<T, float>)
    return Wire::Fixed32;
  else if constexpr (std::is_same_v<T, double>)
    return Wire::Fixed64;
  else if constexpr (isNumber<T>)
    return Wire::Varint;
  else
    return Wire::Delimited;
}

template <typename T>
T numberOf(const Field &field) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(uint32_t(field.number64));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(field.number64);
  else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, uint8_t>)
    return field.number64 != 0;
  else if constexpr (std::is_enum_v<T>)
    return T(int32_t(field.number64));
  else
    return T(field.number64);
}

template <typename T>
uint64_t bitsOf(T number) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<uint32_t>(number);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(number);
  else
    return uint64_t(int64_t(number)); // negative 32-bit numbers take 64
}

} // namespace detail

/// Gives one field of a message to the member that the message lists for it.
/// Each function returns false when the contents are malformed.
class FieldReader {
public:
  FieldReader(const Field &field, unsigned depth)
      : field(field), depth(depth) {}

  template <typename... Members>
  bool operator()(At<Members>... members) {
    return ((members.number != field.number || take(members.member)) && ...);
  }
  /// Fields of which the last one in the message counts; `chosen` becomes its
  /// number.
  template <typename... Members>
  bool oneOf(int &chosen, At<Members>... members) {
    auto takeOrClear = [&](auto member) {
      if (member.number == field.number)
        return take(member.member);
      clear(member.member);
      return true;
    };
    if (((members.number != field.number ||
          field.wire != detail::wireOf<Members>()) &&
         ...))
      return true;
    chosen = field.number;
    return (takeOrClear(members) && ...);
  }

private:
  template <typename T>
  static void clear(T &value) {
    value = T();
  }

  template <typename T>
  bool take(T &value) {
    if (field.wire != detail::wireOf<T>())
      return true;
    if constexpr (detail::isNumber<T>)
      value = detail::numberOf<T>(field);
    else if constexpr (std::is_same_v<T, Bytes>)
      value = field.bytes;
    else
      value = T(field.text());
    return true;
  }
  template <typename Message>
  bool take(Part<Message> &part) {
    return field.wire != Wire::Delimited || read(field.bytes, part.make());
  }
  template <typename T>
  bool take(std::vector<T> &values) {
    if constexpr (detail::isNumber<T>)
      return takeNumbers(values);
    if (field.wire != Wire::Delimited)
      return true;
    if constexpr (detail::isText<T>)
      return take(values.emplace_back());
    else if constexpr (!detail::isNumber<T>)
      return read(field.bytes, values.emplace_back());
  }
  /// One number, or several that are packed.
  template <typename T>
  bool takeNumbers(std::vector<T> &values) {
    constexpr Wire wire = detail::wireOf<T>();
    if (field.wire == wire)
      values.push_back(detail::numberOf<T>(field));
    if (field.wire == wire || field.wire != Wire::Delimited)
      return true;
    if constexpr (std::is_floating_point_v<T>) {
      static_assert(std::endian::native == std::endian::little);
      size_t before = values.size(), added = field.bytes.size() / sizeof(T);
      if (field.bytes.empty() || field.bytes.size() % sizeof(T) != 0)
        return field.bytes.empty();
      values.resize(before + added);
      std::memcpy(&values[before], field.bytes.data(), field.bytes.size());
      return true;
    }
    return forEachNumber(field.bytes, wire, [&](const Field &number) {
      values.push_back(detail::numberOf<T>(number));
    });
  }
  template <typename Value>
  bool take(Map<Value> &map) {
    Entry entry;
    if (field.wire != Wire::Delimited)
      return true;
    if (!readEntry(field.bytes, entry))
      return false;
    Value &value = map[entry.key.str()] = Value();
    if constexpr (detail::isText<Value>) {
      value.assign(entry.value.begin(), entry.value.end());
      return true;
    } else {
      return read(entry.value, value);
    }
  }

  template <typename Message>
  bool read(Bytes bytes, Message &message) const;

  const Field &field;
  unsigned depth;
};

/// Adds the fields of `bytes` to `message`. Returns false when they are
/// malformed or nested too deeply.
template <typename Message>
bool merge(Bytes bytes, Message &message, unsigned depth = 0) {
  // As deep as protobuf's readers go.
  constexpr unsigned deepest = 100;
  return depth < deepest && forEachField(bytes, [&](const Field &field) {
           FieldReader reader(field, depth);
           return Message::fields(message, reader);
         });
}

template <typename Message>
bool FieldReader::read(Bytes bytes, Message &message) const {
  return merge(bytes, message, depth + 1);
}

/// Reads a message. Returns false when it is malformed.
template <typename Message>
bool parse(Bytes bytes, Message &message) {
  message = Message();
  return merge(bytes, message);
}

template <typename Message>
std::string serialize(const Message &message);

/// Writes the fields of a message in the order of its list: equal messages give
/// equal bytes. Numbers of zero and empty strings are left out, except the
/// chosen one of several.
class FieldWriter {
public:
  explicit FieldWriter(std::string &out) : out(out) {}

  template <typename... Members>
  bool operator()(At<Members>... members) {
    (write(members.number, members.member, false), ...);
    return true;
  }
  template <typename... Members>
  bool oneOf(int chosen, At<Members>... members) {
    ((members.number == chosen ? write(members.number, members.member, true)
                               : void()),
     ...);
    return true;
  }

private:
  template <typename T>
  void write(int number, const T &value, bool always) {
    if constexpr (detail::isNumber<T>) {
      if (!always && detail::bitsOf(value) == 0)
        return;
      appendTag(out, number, detail::wireOf<T>());
      appendNumber(out, detail::wireOf<T>(), detail::bitsOf(value));
    } else if (always || !value.empty()) {
      appendBytes(out, number,
                  {reinterpret_cast<const char *>(value.data()), value.size()});
    }
  }
  template <typename Message>
  void write(int number, const Part<Message> &part, bool always) {
    if (always || part.has())
      appendBytes(out, number, serialize(*part));
  }
  template <typename T>
  void write(int number, const std::vector<T> &values, bool) {
    if constexpr (detail::isNumber<T>) {
      std::string packed;
      for (const T &value : values)
        appendNumber(packed, detail::wireOf<T>(), detail::bitsOf(value));
      if (!packed.empty())
        appendBytes(out, number, packed);
    } else {
      for (const T &value : values) {
        if constexpr (detail::isText<T>)
          write(number, value, true);
        else
          appendBytes(out, number, serialize(value));
      }
    }
  }
  template <typename Value>
  void write(int number, const Map<Value> &map, bool) {
    for (const auto &[key, value] : map) {
      if constexpr (detail::isText<Value>)
        appendEntry(out, number, key, value);
      else
        appendEntry(out, number, key, serialize(value));
    }
  }

  std::string &out;
};

template <typename Message>
std::string serialize(const Message &message) {
  std::string out;
  FieldWriter writer(out);
  Message::fields(message, writer);
  return out;
}

} // namespace anec::protobuf

#endif // ANEC_LIB_PROTOBUF_MESSAGE_H
