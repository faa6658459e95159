//===- GgufWriter.cpp - writing GGUF files --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Arrays/GgufWriter.h"
#include "GgufTypes.h"
#include "lib/Arrays/StoredAs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/EndianStream.h"

using namespace anec;
using namespace llvm;

namespace {
/// The fields of the part before the data.
class HeaderWriter {
public:
  explicit HeaderWriter(std::string &text)
      : stream(text), out(stream, endianness::little) {}

  void bytes(StringRef text) { stream << text; }
  void number32(uint32_t number) { out.write(number); }
  void number64(uint64_t number) { out.write(number); }
  void string(StringRef text) {
    number64(text.size());
    bytes(text);
  }
  void value(const GgufValue &value);

private:
  raw_string_ostream stream;
  support::endian::Writer out;
};
} // namespace

void HeaderWriter::value(const GgufValue &value) {
  number32(uint32_t(value.type));
  if (value.type == GgufType::String)
    return string(value.bytes);
  if (value.type == GgufType::Array) {
    number32(uint32_t(value.elementType));
    number64(value.count);
  }
  bytes(value.bytes);
}

static uint32_t codeOf(DType dtype) {
  const GgufPlainType *type =
      find_if(ggufPlainTypes(),
              [&](const GgufPlainType &type) { return type.dtype == dtype; });
  assert(type != ggufPlainTypes().end() && "no type of GGUF's");
  return type->code;
}

void anec::writeGguf(
    raw_ostream &out,
    const std::map<std::string, GgufValue, std::less<>> &metadata,
    ArrayRef<PlannedArray> arrays) {
  uint64_t alignment = ggufAlignment;
  if (auto said = metadata.find("general.alignment"); said != metadata.end())
    alignment = uint64_t(said->second.getInteger().value_or(ggufAlignment));
  std::string text;
  HeaderWriter header(text);
  header.bytes(ggufMagic);
  header.number32(3);
  header.number64(arrays.size());
  header.number64(metadata.size());
  for (const auto &[key, value] : metadata) {
    header.string(key);
    header.value(value);
  }
  uint64_t end = 0;
  for (const PlannedArray &array : arrays) {
    header.string(array.name);
    header.number32(uint32_t(array.type.shape.size()));
    for (int64_t extent : reverse(array.type.shape))
      header.number64(uint64_t(extent));
    header.number32(codeOf(array.type.dtype));
    header.number64(end);
    end = alignTo(end + *storedSize(array.type), alignment);
  }
  auto pad = [&](uint64_t size) {
    out.write_zeros(unsigned(alignTo(size, alignment) - size));
  };
  out << text;
  pad(text.size());
  for (const PlannedArray &array : arrays) {
    writeElements(out, *array.make());
    pad(*storedSize(array.type));
  }
}
