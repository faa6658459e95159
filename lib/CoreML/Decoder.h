//===- Decoder.h - reads fields into messages -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Serialized messages as protobuf defines them: of a field that is there
/// several times, the last counts, and messages are merged; a field of another
/// wire type than declared is unknown, and unknown fields are ignored.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_DECODER_H
#define ANEC_LIB_COREML_DECODER_H

#include "Wire.h"
#include "llvm/ADT/STLExtras.h"
#include <bit>
#include <memory>
#include <string>
#include <vector>

namespace anec::coreml {

/// Values by key; of equal keys, the last counts.
template <typename Value>
class Map {
public:
  using value_type = std::pair<std::string, Value>;
  auto begin() const { return entries.begin(); }
  auto end() const { return entries.end(); }
  size_t size() const { return entries.size(); }
  auto find(llvm::StringRef key) const {
    return llvm::find_if(entries,
                         [&](const auto &entry) { return entry.first == key; });
  }
  Value &operator[](llvm::StringRef key) {
    for (auto &entry : entries)
      if (entry.first == key)
        return entry.second;
    return entries.emplace_back(key.str(), Value()).second;
  }

private:
  std::vector<value_type> entries;
};

/// The message, or one without fields.
template <typename Message>
const Message &valueOr(const std::shared_ptr<Message> &message) {
  static const Message none;
  return message ? *message : none;
}

/// Each function returns false when the bytes are malformed.
class Decoder {
public:
  /// Adds the fields of `bytes` to `message`.
  template <typename Message>
  bool read(Bytes bytes, Message &message) {
    // As deep as protobuf's readers go.
    constexpr unsigned deepest = 100;
    if (depth >= deepest)
      return false;
    ++depth;
    bool ok = forEachField(
        bytes, [&](const Field &field) { return message.take(field, *this); });
    --depth;
    return ok;
  }

  /// Notes which field of several that exclude each other is there.
  bool choose(const Field &field, int &chosen) {
    chosen = field.number;
    return true;
  }

  template <typename T>
  bool scalar(const Field &field, T &value) {
    if (field.wire == wireOf<T>())
      value = valueOf<T>(field);
    return true;
  }
  /// A number that the enumeration lacks is an unknown field.
  template <typename Enum>
  bool enumeration(const Field &field, Enum &value,
                   std::initializer_list<int> known) {
    if (field.wire == Wire::Varint &&
        llvm::is_contained(known, int(field.number64)))
      value = Enum(int(field.number64));
    return true;
  }
  template <typename Message>
  bool message(const Field &field, std::shared_ptr<Message> &message) {
    if (field.wire != Wire::Delimited)
      return true;
    if (!message)
      message = std::make_shared<Message>();
    return read(field.bytes, *message);
  }
  /// Messages, texts, or numbers; numbers can be packed.
  template <typename T>
  bool repeated(const Field &field, std::vector<T> &values) {
    if constexpr (std::is_arithmetic_v<T>) {
      if (field.wire == Wire::Delimited && wireOf<T>() != Wire::Delimited)
        return forEachNumber(
            field.bytes, wireOf<T>(),
            [&](const Field &number) { values.push_back(valueOf<T>(number)); });
      if (field.wire == wireOf<T>())
        values.push_back(valueOf<T>(field));
      return true;
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (field.wire == Wire::Delimited)
        values.push_back(field.text().str());
      return true;
    } else {
      return field.wire != Wire::Delimited ||
             read(field.bytes, values.emplace_back());
    }
  }
  template <typename Value>
  bool entry(const Field &field, Map<Value> &map) {
    Entry entry;
    if (field.wire != Wire::Delimited)
      return true;
    if (!readEntry(field.bytes, entry))
      return false;
    Value &value = map[entry.key] = Value();
    if constexpr (std::is_same_v<Value, std::string>) {
      value.assign(reinterpret_cast<const char *>(entry.value.data()),
                   entry.value.size());
      return true;
    } else {
      return read(entry.value, value);
    }
  }

private:
  template <typename T>
  static constexpr Wire wireOf() {
    return std::is_same_v<T, float>         ? Wire::Fixed32
           : std::is_same_v<T, double>      ? Wire::Fixed64
           : std::is_same_v<T, std::string> ? Wire::Delimited
                                            : Wire::Varint;
  }
  template <typename T>
  static T valueOf(const Field &field) {
    if constexpr (std::is_same_v<T, float>)
      return std::bit_cast<float>(uint32_t(field.number64));
    else if constexpr (std::is_same_v<T, double>)
      return std::bit_cast<double>(field.number64);
    else if constexpr (std::is_same_v<T, std::string>)
      return field.text().str();
    else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, uint8_t>)
      return field.number64 != 0;
    else
      return T(field.number64);
  }

  unsigned depth = 0;
};

/// Reads a message. Returns false when it is malformed.
template <typename Message>
bool parse(Bytes bytes, Message &message) {
  message = Message();
  return Decoder().read(bytes, message);
}

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_DECODER_H
