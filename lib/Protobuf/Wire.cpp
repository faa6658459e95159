//===- Wire.cpp - fields of serialized messages ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Protobuf/Wire.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/LEB128.h"

using namespace anec::protobuf;
using llvm::StringRef;

/// Reads a number of at most ten bytes, and drops it from `bytes`.
static bool readVarint(Bytes &bytes, uint64_t &value) {
  constexpr size_t most = 10;
  unsigned length = 0;
  const char *error = nullptr;
  // Not given more: it would shift by more than 64 bits.
  Bytes first = bytes.take_front(most);
  value = llvm::decodeULEB128(first.begin(), &length, first.end(), &error);
  if (error)
    return false;
  bytes = bytes.drop_front(length);
  return true;
}

/// Reads what follows the tag, and drops it from `bytes`.
static bool readContents(Bytes &bytes, Field &field) {
  switch (field.wire) {
  case Wire::Varint:
    return readVarint(bytes, field.number64);
  case Wire::Fixed64:
    if (bytes.size() < 8)
      return false;
    field.number64 = llvm::support::endian::read64le(bytes.data());
    bytes = bytes.drop_front(8);
    return true;
  case Wire::Fixed32:
    if (bytes.size() < 4)
      return false;
    field.number64 = llvm::support::endian::read32le(bytes.data());
    bytes = bytes.drop_front(4);
    return true;
  case Wire::Delimited: {
    uint64_t size = 0;
    if (!readVarint(bytes, size) || size > bytes.size())
      return false;
    field.isBytes = true;
    field.bytes = bytes.take_front(size);
    bytes = bytes.drop_front(size);
    return true;
  }
  }
  return false;
}

bool anec::protobuf::forEachField(
    Bytes message, llvm::function_ref<bool(const Field &)> visit) {
  while (!message.empty()) {
    Field field;
    uint64_t tag = 0;
    if (!readVarint(message, tag) || tag >> 3 == 0 || tag > UINT32_MAX)
      return false;
    field.number = int(tag >> 3);
    field.wire = Wire(tag & 7);
    if (!readContents(message, field) || !visit(field))
      return false;
  }
  return true;
}

bool anec::protobuf::forEachNumber(
    Bytes array, Wire wire, llvm::function_ref<void(const Field &)> visit) {
  while (!array.empty()) {
    Field field;
    field.wire = wire;
    if (!readContents(array, field))
      return false;
    visit(field);
  }
  return true;
}

bool anec::protobuf::readEntry(Bytes message, Entry &entry) {
  return forEachField(message, [&](const Field &field) {
    if (field.number == 1 && field.isBytes)
      entry.key = field.text();
    else if (field.number == 2 && field.isBytes)
      entry.value = field.bytes;
    return true;
  });
}

void anec::protobuf::appendNumber(std::string &out, Wire wire,
                                  uint64_t number) {
  char bytes[10];
  switch (wire) {
  case Wire::Fixed32:
    llvm::support::endian::write32le(bytes, uint32_t(number));
    out.append(bytes, 4);
    return;
  case Wire::Fixed64:
    llvm::support::endian::write64le(bytes, number);
    out.append(bytes, 8);
    return;
  default:
    out.append(bytes,
               llvm::encodeULEB128(number, reinterpret_cast<uint8_t *>(bytes)));
  }
}

void anec::protobuf::appendTag(std::string &out, int number, Wire wire) {
  appendNumber(out, Wire::Varint, uint64_t(number) << 3 | uint64_t(wire));
}

void anec::protobuf::appendBytes(std::string &out, int number,
                                 StringRef bytes) {
  appendTag(out, number, Wire::Delimited);
  appendNumber(out, Wire::Varint, bytes.size());
  out.append(bytes.data(), bytes.size());
}

void anec::protobuf::appendEntry(std::string &out, int number, StringRef key,
                                 StringRef value) {
  std::string entry;
  appendBytes(entry, 1, key);
  appendBytes(entry, 2, value);
  appendBytes(out, number, entry);
}
