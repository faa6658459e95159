//===- Coding.h - reading and writing of messages ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Definitions of `parse` and `serialize`, for the file of a format that
/// instantiates them:
///
///   template bool parse(Bytes, Operation &);
///   template std::string serialize(const Operation &);
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PROTOBUF_CODING_H
#define ANEC_LIB_PROTOBUF_CODING_H

#include "lib/Protobuf/Message.h"
#include "llvm/ADT/STLExtras.h"
#include <bit>
#include <cstring>
#include <type_traits>

namespace anec::protobuf {

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

template <typename Message>
bool parse(Bytes bytes, Message &message) {
  message = Message();
  return merge(bytes, message);
}

/// Writes the fields of a message in the order of its list. Numbers of zero and
/// empty strings are left out, except the chosen one of several.
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

#endif // ANEC_LIB_PROTOBUF_CODING_H
