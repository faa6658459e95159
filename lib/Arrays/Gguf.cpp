//===- Gguf.cpp - GGUF files ----------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Arrays/Gguf.h"
#include "GgufTypes.h"
#include "lib/Arrays/BlockFormat.h"
#include "lib/Arrays/Diags.h"
#include "lib/Arrays/StoredAs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"

using namespace anec;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Types of arrays
//===----------------------------------------------------------------------===//

ArrayRef<GgufPlainType> anec::ggufPlainTypes() {
  static constexpr GgufPlainType types[] = {
      {0, "F32", DType::FP32},   {1, "F16", DType::FP16},
      {24, "I8", DType::Int8},   {25, "I16", DType::Int16},
      {26, "I32", DType::Int32}, {27, "I64", DType::Int64},
      {28, "F64", DType::FP64},  {30, "BF16", DType::BF16},
  };
  return types;
}

/// Types of the format that are not read, for messages.
static constexpr std::pair<uint32_t, StringLiteral> otherTypes[] = {
    {9, "Q8_1"},     {15, "Q8_K"},  {16, "IQ2_XXS"}, {17, "IQ2_XS"},
    {18, "IQ3_XXS"}, {19, "IQ1_S"}, {21, "IQ3_S"},   {22, "IQ2_S"},
    {29, "IQ1_M"},   {34, "TQ1_0"}, {35, "TQ2_0"},   {39, "MXFP4"},
    {40, "NVFP4"},
};

static std::string typeName(uint32_t code) {
  for (const auto &[other, name] : otherTypes)
    if (other == code)
      return name.str();
  return "number " + std::to_string(code);
}

static std::string knownTypes() {
  std::vector<std::string> names;
  for (const GgufPlainType &type : ggufPlainTypes())
    names.push_back(type.name.str());
  for (const BlockFormat &format : blockFormats())
    names.push_back(format.name.str());
  return join(names, ", ");
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// An entry of the list of arrays.
struct GgufEntry {
  std::string name;
  Shape shape;
  uint32_t type = 0;
  uint64_t begin = 0, size = 0; ///< in the data
};

class GgufReader {
public:
  explicit GgufReader(const MappedFile &file)
      : file(file), rest(file->getBuffer()) {}

  std::string wrong; ///< the first error

  bool read(GgufFile &contents);

private:
  bool fail(const Twine &text) {
    if (wrong.empty())
      wrong = text.str();
    return false;
  }
  bool failEnd(const Twine &place) { return fail("it ends within " + place); }

  template <typename T>
  bool take(T &value, const Twine &place) {
    if (rest.size() < sizeof(T))
      return failEnd(place);
    value = support::endian::read<T>(rest.data(), endianness::little);
    rest = rest.drop_front(sizeof(T));
    return true;
  }
  bool takeBytes(StringRef &bytes, uint64_t size, const Twine &place);
  bool takeString(StringRef &text, const Twine &place);
  bool takeName(std::string &name, const Twine &what);
  bool takeValue(GgufType type, GgufValue &value, unsigned depth,
                 const std::string &place);
  bool skipElements(const GgufValue &array, unsigned depth,
                    const std::string &place);

  bool readHeader(GgufFile &contents);
  bool readMetadata(GgufFile &contents);
  bool readEntry(GgufEntry &entry, uint64_t index);
  bool sizeEntry(GgufEntry &entry);
  bool placeData(const GgufFile &contents, std::vector<GgufEntry> &entries);
  StoredArray arrayOf(const GgufEntry &entry) const;

  MappedFile file;
  StringRef rest, data;
  uint64_t arrayCount = 0, valueCount = 0;
};

} // namespace

bool GgufReader::takeBytes(StringRef &bytes, uint64_t size,
                           const Twine &place) {
  if (size > rest.size())
    return failEnd(place);
  bytes = rest.take_front(size);
  rest = rest.drop_front(size);
  return true;
}

bool GgufReader::takeString(StringRef &text, const Twine &place) {
  uint64_t size;
  return take(size, place) && takeBytes(text, size, place);
}

/// A name that messages can show.
bool GgufReader::takeName(std::string &name, const Twine &what) {
  StringRef text;
  if (!takeString(text, "the name of " + what))
    return false;
  static constexpr size_t longest = 1024;
  if (text.empty() || text.size() > longest || !json::isUTF8(text) ||
      text.contains('\0'))
    return fail("the name of " + what + " is not a text of 1 to 1024 bytes");
  name = text.str();
  return true;
}

bool GgufReader::readHeader(GgufFile &contents) {
  rest = rest.drop_front(ggufMagic.size());
  uint32_t version;
  if (!take(version, "its header"))
    return false;
  if (version == 0x02000000 || version == 0x03000000)
    return fail("it is in big-endian order");
  if (version != 2 && version != 3)
    return fail("it is of version " + Twine(version) +
                " of the format, and anec reads 2 and 3");
  contents.version = version;
  if (!take(arrayCount, "its header") || !take(valueCount, "its header"))
    return false;
  // The smallest value has a name, a type and a byte; the smallest array a
  // name, a number of extents, a type and an offset.
  if (valueCount > rest.size() / (8 + 1 + 4 + 1) ||
      arrayCount > rest.size() / (8 + 1 + 4 + 4 + 8))
    return fail("its header counts " + Twine(valueCount) + " values and " +
                Twine(arrayCount) + " arrays, and it has " +
                Twine(file->getBufferSize()) + " bytes");
  return true;
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

static bool isType(uint32_t code) {
  return code <= uint32_t(GgufType::Float64);
}

/// Goes over elements that are strings or arrays.
bool GgufReader::skipElements(const GgufValue &array, unsigned depth,
                              const std::string &place) {
  for (uint64_t index = 0; index < array.count; ++index) {
    GgufValue ignored;
    if (!takeValue(array.elementType, ignored, depth + 1, place))
      return false;
  }
  return true;
}

bool GgufReader::takeValue(GgufType type, GgufValue &value, unsigned depth,
                           const std::string &place) {
  static constexpr unsigned deepest = 4;
  value.type = type;
  if (type == GgufType::String)
    return takeString(value.bytes, place);
  if (type != GgufType::Array) {
    if (!takeBytes(value.bytes, sizeOf(type), place))
      return false;
    // ggml's own reader takes 0 and 1.
    if (type == GgufType::Bool && uint8_t(value.bytes[0]) > 1)
      return fail(place + " is not a boolean");
    return true;
  }
  if (depth == deepest)
    return fail(place + " has arrays in arrays in arrays in arrays");
  uint32_t element;
  if (!take(element, place) || !take(value.count, place))
    return false;
  if (!isType(element))
    return fail(place + " has elements of type " + Twine(element) +
                ", which is none");
  value.elementType = GgufType(element);
  // A string has at least the bytes of its length, an array 12.
  unsigned size = sizeOf(value.elementType);
  bool isString = value.elementType == GgufType::String;
  if (value.count > rest.size() / (size ? size : isString ? 8 : 12))
    return failEnd(place);
  if (size)
    return takeBytes(value.bytes, value.count * size, place);
  const char *begin = rest.data();
  if (!skipElements(value, depth, place))
    return false;
  value.bytes = StringRef(begin, size_t(rest.data() - begin));
  return true;
}

bool GgufReader::readMetadata(GgufFile &contents) {
  for (uint64_t index = 0; index < valueCount; ++index) {
    std::string key;
    uint32_t type;
    if (!takeName(key, "value " + Twine(index)))
      return false;
    std::string place = "the value of `" + key + "`";
    if (!take(type, place))
      return false;
    if (!isType(type))
      return fail(place + " is of type " + Twine(type) + ", which is none");
    GgufValue value;
    if (!takeValue(GgufType(type), value, 0, place))
      return false;
    if (!contents.metadata.try_emplace(key, value).second)
      return fail("it has two values of `" + key + "`");
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

bool GgufReader::readEntry(GgufEntry &entry, uint64_t index) {
  static constexpr uint32_t highestRank = 4;
  if (!takeName(entry.name, "array " + Twine(index)))
    return false;
  std::string place = "the entry of `" + entry.name + "`";
  uint32_t rank;
  if (!take(rank, place))
    return false;
  if (rank > highestRank)
    return fail("`" + entry.name + "` has " + Twine(rank) +
                " extents, and the format has 4 at most");
  entry.shape.resize(rank);
  // The first extent is the innermost.
  for (uint32_t axis = rank; axis > 0; --axis) {
    uint64_t extent;
    if (!take(extent, place))
      return false;
    if (extent == 0 || extent > uint64_t(INT64_MAX))
      return fail("`" + entry.name + "` has an extent that is not a size");
    entry.shape[axis - 1] = int64_t(extent);
  }
  return take(entry.type, place) && take(entry.begin, place) &&
         sizeEntry(entry);
}

/// Computes the number of bytes of an array from its type and extents.
bool GgufReader::sizeEntry(GgufEntry &entry) {
  const char *tooLarge = "` has more elements than a file";
  for (const GgufPlainType &type : ggufPlainTypes())
    if (type.code == entry.type) {
      std::optional<uint64_t> size = storedSize({type.dtype, entry.shape});
      if (!size)
        return fail("`" + entry.name + tooLarge);
      entry.size = *size;
      return true;
    }
  for (const BlockFormat &format : blockFormats())
    if (format.code == entry.type) {
      std::optional<int64_t> count = checkedNumElements(entry.shape);
      if (!count || *count > INT64_MAX / 64)
        return fail("`" + entry.name + tooLarge);
      if (entry.shape.empty() || entry.shape.back() % format.elements)
        return fail("`" + entry.name + "` is " + shapeToString(entry.shape) +
                    " of type " + format.name + ", whose blocks of " +
                    Twine(format.elements) + " do not divide its rows");
      entry.size = uint64_t(*count) / format.elements * format.bytes;
      return true;
    }
  return fail("`" + entry.name + "` is of type " + typeName(entry.type) +
              ", and anec reads " + knownTypes());
}

/// Finds the data, and checks that all arrays lie in it, apart.
bool GgufReader::placeData(const GgufFile &contents,
                           std::vector<GgufEntry> &entries) {
  uint64_t alignment = ggufAlignment;
  if (const GgufValue *value = contents.find("general.alignment")) {
    int64_t said = value->getInteger().value_or(0);
    if (said < 1 || said > (1 << 30) || !isPowerOf2_64(uint64_t(said)))
      return fail("`general.alignment` is " + value->text() +
                  ", which is not a power of two");
    alignment = uint64_t(said);
  }
  StringRef all = file->getBuffer();
  uint64_t begin = alignTo(all.size() - rest.size(), alignment);
  // A file without arrays may end before.
  data = all.drop_front(std::min<uint64_t>(begin, all.size()));
  std::vector<const GgufEntry *> inOrder;
  for (const GgufEntry &entry : entries) {
    if (entry.begin % alignment)
      return fail("the data of `" + entry.name + "` begins at " +
                  Twine(entry.begin) + ", which is not a multiple of " +
                  Twine(alignment));
    if (entry.begin > data.size() || entry.size > data.size() - entry.begin)
      return fail("`" + entry.name + "` lies outside the file");
    inOrder.push_back(&entry);
  }
  llvm::sort(inOrder, [](const GgufEntry *lhs, const GgufEntry *rhs) {
    return std::tie(lhs->begin, lhs->name) < std::tie(rhs->begin, rhs->name);
  });
  uint64_t end = 0;
  for (const GgufEntry *entry : inOrder) {
    if (entry->begin < end)
      return fail("`" + entry->name + "` overlaps another array");
    end = entry->begin + entry->size;
  }
  return true;
}

StoredArray GgufReader::arrayOf(const GgufEntry &entry) const {
  StringRef text = data.substr(entry.begin, entry.size);
  ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t *>(text.data()),
                          text.size());
  for (const GgufPlainType &type : ggufPlainTypes())
    if (type.code == entry.type)
      return Constant::view({type.dtype, entry.shape}, type.dtype, bytes, file);
  const BlockFormat &format =
      *llvm::find_if(blockFormats(), [&](const BlockFormat &format) {
        return format.code == entry.type;
      });
  auto unpack = [file = file, bytes, &format](int64_t first, int64_t count,
                                              float *out) {
    const uint8_t *in = bytes.data() + size_t(first) * format.bytes;
    for (int64_t block = 0; block < count; ++block)
      format.unpack(in + size_t(block) * format.bytes,
                    out + size_t(block) * format.elements);
  };
  return StoredArray(entry.shape, format.elements, format.name, unpack);
}

bool GgufReader::read(GgufFile &contents) {
  if (!readHeader(contents) || !readMetadata(contents))
    return false;
  std::vector<GgufEntry> entries;
  StringSet<> names;
  for (uint64_t index = 0; index < arrayCount; ++index) {
    GgufEntry entry;
    if (!readEntry(entry, index))
      return false;
    if (!names.insert(entry.name).second)
      return fail("it has two arrays `" + entry.name + "`");
    entries.push_back(std::move(entry));
  }
  if (!placeData(contents, entries))
    return false;
  contents.arrays.reserve(entries.size());
  for (const GgufEntry &entry : entries)
    contents.arrays.emplace_back(entry.name, arrayOf(entry));
  return true;
}

const GgufValue *GgufFile::find(StringRef key) const {
  auto known = metadata.find(std::string_view(key));
  return known == metadata.end() ? nullptr : &known->second;
}

bool anec::isGguf(const MappedFile &file) {
  return file->getBuffer().starts_with(ggufMagic);
}

std::optional<GgufFile> anec::readGguf(const MappedFile &file, StringRef path,
                                       Diagnostics &diags) {
  GgufReader reader(file);
  GgufFile contents;
  if (!isGguf(file))
    reader.wrong = "it does not begin with `GGUF`";
  else if (reader.read(contents))
    return contents;
  diags.reportFile(path, diag::BadGguf, reader.wrong);
  return std::nullopt;
}
