//===- Wire.cpp - fields of serialized messages ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Wire.h"
#include <google/protobuf/io/coded_stream.h>

using namespace anec::coreml;
using google::protobuf::io::CodedInputStream;

/// The wire types, the low three bits of a tag. Groups are obsolete.
enum WireType : uint32_t {
  Varint = 0,
  Fixed64 = 1,
  Delimited = 2,
  Fixed32 = 5
};

static bool readField(CodedInputStream &stream, uint32_t tag, Bytes message,
                      Field &field) {
  field.number = int(tag >> 3);
  uint32_t size = 0;
  switch (tag & 7) {
  case Varint:
    return stream.ReadVarint64(&field.number64);
  case Fixed64:
    return stream.ReadLittleEndian64(&field.number64);
  case Fixed32: {
    uint32_t value = 0;
    bool read = stream.ReadLittleEndian32(&value);
    field.number64 = value;
    return read;
  }
  case Delimited: {
    if (!stream.ReadVarint32(&size))
      return false;
    size_t begin = size_t(stream.CurrentPosition());
    if (size > message.size() - begin)
      return false;
    field.isBytes = true;
    field.bytes = message.slice(begin, size);
    return stream.Skip(int(size));
  }
  default:
    return false;
  }
}

bool anec::coreml::forEachField(Bytes message,
                                llvm::function_ref<bool(const Field &)> visit) {
  CodedInputStream stream(message.data(), int(message.size()));
  while (size_t(stream.CurrentPosition()) < message.size()) {
    Field field;
    uint32_t tag = stream.ReadTag();
    if (tag >> 3 == 0 || !readField(stream, tag, message, field) ||
        !visit(field))
      return false;
  }
  return true;
}

bool anec::coreml::readEntry(Bytes message, Entry &entry) {
  return forEachField(message, [&](const Field &field) {
    if (field.number == 1 && field.isBytes)
      entry.key = field.text();
    else if (field.number == 2 && field.isBytes)
      entry.value = field.bytes;
    return true;
  });
}
