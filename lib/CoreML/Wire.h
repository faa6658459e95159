//===- Wire.h - fields of serialized messages -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The outer messages of a model are walked field by field, and only the inner
/// ones parsed, so that a program is never in memory as a whole: its messages
/// would take many times the size of the file.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_WIRE_H
#define ANEC_LIB_COREML_WIRE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace anec::coreml {

using Bytes = llvm::ArrayRef<uint8_t>;

struct Field {
  int number = 0;
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

/// Parses a message of a type that protobuf generated.
template <typename Message>
bool parse(Bytes bytes, Message &message) {
  return message.ParseFromArray(bytes.data(), int(bytes.size()));
}

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_WIRE_H
