//===- Safetensors.cpp - named arrays in one file -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Arrays/Safetensors.h"
#include "lib/Arrays/Diags.h"
#include "lib/Arrays/StoredAs.h"
#include "lib/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
using namespace llvm;

/// The format's own limit, so that invalid files are rejected quickly.
static constexpr uint64_t maxHeader = 100'000'000;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// An entry of the header, checked independently of the others.
struct SafetensorsEntry {
  std::string name;
  TensorType type;
  uint64_t begin = 0, end = 0;
};

class HeaderReader {
public:
  explicit HeaderReader(uint64_t dataSize) : dataSize(dataSize) {}

  std::vector<SafetensorsEntry> entries;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string wrong; ///< the first error

  bool read(const json::Object &header) {
    for (const auto &[key, value] : header) {
      const json::Object *object = value.getAsObject();
      std::string name = key.str();
      if (!object)
        return fail("`" + name + "` is not an object");
      if (!(name == "__metadata__" ? readMetadata(*object)
                                   : readEntry(name, *object)))
        return false;
    }
    llvm::sort(metadata);
    llvm::sort(entries,
               [](const SafetensorsEntry &lhs, const SafetensorsEntry &rhs) {
                 return std::tie(lhs.begin, lhs.end, lhs.name) <
                        std::tie(rhs.begin, rhs.end, rhs.name);
               });
    return checkCoverage();
  }

private:
  bool fail(std::string text) {
    wrong = std::move(text);
    return false;
  }

  bool readMetadata(const json::Object &object) {
    for (const auto &[key, value] : object) {
      std::optional<StringRef> text = value.getAsString();
      if (!text)
        return fail("the metadata `" + key.str() + "` is not a string");
      metadata.emplace_back(key.str(), text->str());
    }
    return true;
  }

  bool readEntry(const std::string &name, const json::Object &object) {
    SafetensorsEntry entry;
    entry.name = name;
    std::optional<StringRef> code = object.getString("dtype");
    const json::Array *shape = object.getArray("shape");
    const json::Array *offsets = object.getArray("data_offsets");
    if (!code || !shape || !offsets || offsets->size() != 2)
      return fail("`" + name + "` lacks `dtype`, `shape` or `data_offsets`");
    std::optional<DType> dtype = findDType(&DTypeFacts::safetensors, *code);
    if (!dtype)
      return fail("`" + name + "` has the unsupported element type `" +
                  code->str() + "`");
    entry.type.dtype = *dtype;
    for (const json::Value &value : *shape) {
      std::optional<int64_t> extent = value.getAsInteger();
      if (!extent || *extent < 0)
        return fail("`" + name +
                    "` has a shape with an extent that is not a size");
      entry.type.shape.push_back(*extent);
    }
    std::optional<uint64_t> begin = (*offsets)[0].getAsUINT64();
    std::optional<uint64_t> end = (*offsets)[1].getAsUINT64();
    if (!begin || !end || *begin > *end || *end > dataSize)
      return fail("`" + name + "` lies outside the file");
    entry.begin = *begin;
    entry.end = *end;
    std::optional<uint64_t> size = storedSize(entry.type);
    if (!size || *size != *end - *begin)
      return fail("`" + name + "` is `" + entry.type.str() + "` and has " +
                  std::to_string(*end - *begin) + " bytes");
    entries.push_back(std::move(entry));
    return true;
  }

  /// The arrays must cover the data without overlap or gap.
  bool checkCoverage() {
    uint64_t end = 0;
    for (const SafetensorsEntry &entry : entries) {
      if (entry.begin < end)
        return fail("`" + entry.name + "` overlaps another array");
      if (entry.begin > end)
        return fail("there is a gap before `" + entry.name + "`");
      end = entry.end;
    }
    if (end != dataSize)
      return fail("there are bytes that belong to no array");
    return true;
  }

  uint64_t dataSize;
};

} // namespace

std::optional<Safetensors> anec::readSafetensors(const MappedFile &file,
                                                 StringRef path,
                                                 Diagnostics &diags) {
  auto fail = [&](const Twine &reason) {
    diags.reportFile(path, diag::BadSafetensors, reason.str());
    return std::nullopt;
  };
  ArrayRef<uint8_t> bytes = bytesOf(*file);
  if (bytes.size() < 8)
    return fail("it ends within its header");
  uint64_t headerSize = support::endian::read64le(bytes.data());
  if (headerSize > maxHeader)
    return fail("its header is too long");
  if (headerSize > bytes.size() - 8)
    return fail("it ends within its header");
  StringRef text = toStringRef(bytes.slice(8, headerSize));
  ArrayRef<uint8_t> data = bytes.drop_front(8 + headerSize);

  // {"name": {"shape": [...]}} is the deepest nesting.
  JsonError error;
  std::optional<json::Value> header =
      parseJson(text, error, {.depth = 3, .bytes = maxHeader});
  if (!header)
    return fail("its header cannot be read: " + error.message);
  const json::Object *object = header->getAsObject();
  if (!object)
    return fail("its header is not a JSON object");
  HeaderReader reader(data.size());
  if (!reader.read(*object))
    return fail(reader.wrong);

  Safetensors contents;
  contents.metadata = std::move(reader.metadata);
  for (SafetensorsEntry &entry : reader.entries)
    contents.arrays.push_back(
        {std::move(entry.name),
         Constant::view(entry.type, entry.type.dtype,
                        data.slice(entry.begin, entry.end - entry.begin),
                        file)});
  return contents;
}

std::optional<Safetensors> anec::readSafetensors(StringRef path,
                                                 Diagnostics &diags) {
  MappedFile file = mapFile(path, diags);
  if (!file)
    return std::nullopt;
  return readSafetensors(file, path, diags);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// llvm::json's objects are unordered; arrays are written in the order of their
/// bytes.
static bool writeHeader(raw_ostream &out, ArrayRef<PlannedArray> arrays,
                        const SafetensorsMetadata &metadata) {
  json::OStream json(out);
  uint64_t offset = 0;
  bool known = true;
  json.object([&] {
    if (!metadata.empty())
      json.attributeObject("__metadata__", [&] {
        for (const auto &[key, value] : metadata)
          json.attribute(key, value);
      });
    for (const PlannedArray &planned : arrays) {
      const TensorType &type = planned.type;
      StringRef code = facts(type.dtype).safetensors;
      if (code.empty()) {
        known = false;
        continue;
      }
      uint64_t end = offset + type.numBytes();
      json.attributeObject(planned.name, [&] {
        json.attribute("dtype", code);
        json.attributeArray("shape", [&] {
          for (int64_t extent : type.shape)
            json.value(extent);
        });
        json.attributeArray("data_offsets", [&] {
          json.value(offset);
          json.value(end);
        });
      });
      offset = end;
    }
  });
  return known;
}

bool anec::writeSafetensors(raw_ostream &out, ArrayRef<PlannedArray> arrays,
                            const SafetensorsMetadata &metadata) {
  std::string header;
  raw_string_ostream stream(header);
  if (!writeHeader(stream, arrays, metadata))
    return false;
  // Aligns the data to 8 bytes.
  header.append((8 - header.size() % 8) % 8, ' ');
  uint64_t size = sizeof(uint64_t) + header.size();
  for (const PlannedArray &planned : arrays)
    size += planned.type.numBytes();
  out.reserveExtraSpace(size);
  support::endian::write<uint64_t>(out, header.size(), endianness::little);
  out << header;
  for (const PlannedArray &planned : arrays) {
    ConstantRef made = planned.make();
    if (!made)
      return false;
    writeElements(out, *made);
  }
  return true;
}

bool anec::writeSafetensors(raw_ostream &out, const Safetensors &contents) {
  std::vector<PlannedArray> arrays;
  for (const NamedArray &named : contents.arrays)
    arrays.push_back({named.name, named.array->type(),
                      [array = named.array] { return array; }});
  return writeSafetensors(out, arrays, contents.metadata);
}
