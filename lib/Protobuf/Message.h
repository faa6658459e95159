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
/// "lib/Protobuf/Coding.h" defines `parse` and `serialize`. Compilers take long
/// for them, so one file of a format includes it and instantiates them for the
/// messages that others read and write; where it lacks one, linking fails.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PROTOBUF_MESSAGE_H
#define ANEC_LIB_PROTOBUF_MESSAGE_H

#include "lib/Protobuf/Wire.h"
#include <map>
#include <memory>
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

/// Reads a message. Returns false when it is malformed or nested too deeply.
template <typename Message>
bool parse(Bytes bytes, Message &message);

/// Equal messages give equal bytes.
template <typename Message>
std::string serialize(const Message &message);

} // namespace anec::protobuf

#endif // ANEC_LIB_PROTOBUF_MESSAGE_H
