//===- Wire.h - fields of serialized messages -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The encoding of protobuf: a message is a sequence of fields, each a tag and
/// its contents. Large messages are walked field by field, so that a program is
/// never in memory as a whole: its messages would take many times the size of
/// the file.
///
/// The library of protobuf is not used: a process can have only one version of
/// it, and programs that embed anec bring their own.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PROTOBUF_WIRE_H
#define ANEC_LIB_PROTOBUF_WIRE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace anec::protobuf {

using Bytes = llvm::ArrayRef<uint8_t>;

/// How a field is stored, the low three bits of its tag. Groups are obsolete.
enum class Wire : uint8_t {
  Varint = 0,
  Fixed64 = 1,
  Delimited = 2,
  Fixed32 = 5
};

struct Field {
  int number = 0;
  Wire wire = Wire::Varint;
  bool isBytes = false;  ///< a message, string or packed array
  uint64_t number64 = 0; ///< of an integer
  Bytes bytes;

  llvm::StringRef text() const {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
  }
};

/// Calls `visit` for each field of `message`. Returns false when the message is
/// malformed, or when `visit` does.
bool forEachField(Bytes message, llvm::function_ref<bool(const Field &)> visit);

/// An entry of a map from strings to messages.
struct Entry {
  llvm::StringRef key;
  Bytes value;
};
/// Returns false when the entry is malformed.
bool readEntry(Bytes message, Entry &entry);

/// Calls `visit` for each number of a packed array.
bool forEachNumber(Bytes array, Wire wire,
                   llvm::function_ref<void(const Field &)> visit);

/// Adds a number to `out`, in the form of `wire`.
void appendNumber(std::string &out, Wire wire, uint64_t number);

void appendTag(std::string &out, int number, Wire wire);

/// Adds a string or a serialized message.
void appendBytes(std::string &out, int number, llvm::StringRef bytes);

/// Adds an entry of a map from strings to strings or messages.
void appendEntry(std::string &out, int number, llvm::StringRef key,
                 llvm::StringRef value);

} // namespace anec::protobuf

#endif // ANEC_LIB_PROTOBUF_WIRE_H
