//===- Npy.cpp - numpy's array files --------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A .npy file has "\x93NUMPY", two version bytes, the length of the header (16
/// bits in version 1, 32 in 2 and 3), the header, which is a Python dictionary
/// such as
///
///   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
///
/// padded with spaces to a multiple of 64 bytes, and the elements.
///
//===----------------------------------------------------------------------===//

#include "lib/Arrays/Npy.h"
#include "lib/Arrays/Diags.h"
#include "lib/Arrays/StoredAs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstring>

using namespace anec;
using namespace llvm;

static constexpr StringLiteral npyMagic = "\x93NUMPY";

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

namespace {

struct NpyHeader {
  std::string descr;
  bool fortranOrder = false;
  Shape shape;
};

/// Parses the dictionary as numpy writes it, without other Python syntax
/// (escapes, concatenated strings, hexadecimal numbers).
class HeaderParser {
public:
  HeaderParser(StringRef text, NpyHeader &header)
      : rest(text), header(header) {}

  /// Returns null when the header is valid, or the error.
  const char *parse() {
    if (!take('{'))
      return "the header is not a dictionary";
    bool seen[3] = {};
    while (!take('}')) {
      StringRef key;
      if (!takeString(key) || !take(':'))
        return "the header is not a dictionary";
      unsigned index = key == "descr"           ? 0
                       : key == "fortran_order" ? 1
                       : key == "shape"         ? 2
                                                : 3;
      if (index == 3)
        return "the header has an unknown key";
      if (std::exchange(seen[index], true))
        return "the header has a key twice";
      const char *wrong = index == 0   ? parseDescr()
                          : index == 1 ? parseOrder()
                                       : parseShape();
      if (wrong)
        return wrong;
      if (!take(',') && peek() != '}')
        return "the header is not a dictionary";
    }
    if (!seen[0] || !seen[1] || !seen[2])
      return "the header lacks `descr`, `fortran_order` or `shape`";
    return rest.trim(" \n").empty() ? nullptr : "something follows the header";
  }

private:
  char peek() {
    rest = rest.ltrim(' ');
    return rest.empty() ? 0 : rest[0];
  }
  bool take(char wanted) {
    if (peek() != wanted)
      return false;
    rest = rest.drop_front();
    return true;
  }
  bool takeString(StringRef &text) {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return false;
    size_t end = rest.find(quote, 1);
    if (end == StringRef::npos)
      return false;
    text = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
    return true;
  }
  const char *parseDescr() {
    StringRef text;
    if (peek() == '[')
      return "structured arrays are not supported";
    if (!takeString(text))
      return "`descr` is not a string";
    header.descr = text.str();
    return nullptr;
  }
  const char *parseOrder() {
    peek();
    header.fortranOrder = rest.consume_front("True");
    if (!header.fortranOrder && !rest.consume_front("False"))
      return "`fortran_order` is neither True nor False";
    return nullptr;
  }
  const char *parseShape() {
    if (!take('('))
      return "`shape` is not a tuple";
    while (!take(')')) {
      peek();
      int64_t extent;
      if (rest.consumeInteger(10, extent) || extent < 0)
        return "`shape` has an extent that is not a size";
      header.shape.push_back(extent);
      if (!take(',') && peek() != ')')
        return "`shape` is not a tuple";
    }
    return nullptr;
  }

  StringRef rest;
  NpyHeader &header;
};

} // namespace

/// The element type of numpy's `descr`; sets `reason` to null when there is
/// one.
static std::optional<DType> parseDescr(StringRef descr, const char *&reason) {
  reason = "its element type is not supported";
  if (descr.size() != 3)
    return std::nullopt;
  std::optional<DType> dtype = findDType(&DTypeFacts::npy, descr.drop_front());
  if (!dtype)
    return std::nullopt;
  bool oneByte = bitWidth(*dtype) == 8;
  if (!StringRef(oneByte ? "|<>=" : "<>=").contains(descr[0]))
    return std::nullopt;
  return dtype;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Copies elements whose bytes are in the other order.
static SmallVector<uint8_t, 0> swapped(ArrayRef<uint8_t> bytes, size_t width) {
  SmallVector<uint8_t, 0> elements(bytes);
  for (size_t at = 0; at + width <= elements.size(); at += width)
    std::reverse(&elements[at], &elements[at] + width);
  return elements;
}

/// Copies an array in column-major order into row-major order.
static ConstantRef fromFortranOrder(TensorType type, ArrayRef<uint8_t> bytes) {
  size_t width = bitWidth(type.dtype) / 8, rank = type.rank();
  Shape strides(rank, 1); // of the file, in elements
  for (size_t axis = 1; axis < rank; ++axis)
    strides[axis] = strides[axis - 1] * type.shape[axis - 1];
  SmallVector<uint8_t, 0> ordered;
  ordered.resize_for_overwrite(bytes.size());
  Shape index(rank, 0);
  int64_t source = 0;
  for (size_t target = 0; target < ordered.size(); target += width) {
    std::memcpy(&ordered[target], &bytes[source * width], width);
    for (size_t axis = rank; axis-- > 0;) {
      source += strides[axis];
      if (++index[axis] < type.shape[axis])
        break;
      source -= strides[axis] * type.shape[axis];
      index[axis] = 0;
    }
  }
  return Constant::copy(std::move(type), ordered);
}

/// Splits the file into header text and elements; returns the error, or null.
static const char *splitNpy(ArrayRef<uint8_t> bytes, StringRef &header,
                            ArrayRef<uint8_t> &elements) {
  if (!toStringRef(bytes).starts_with(npyMagic))
    return "it does not begin as .npy files do";
  if (bytes.size() < 8)
    return "it ends within its header";
  unsigned version = bytes[6];
  if (version < 1 || version > 3)
    return "its format version is unknown";
  size_t begin = version == 1 ? 10 : 12;
  if (bytes.size() < begin)
    return "it ends within its header";
  size_t size = version == 1 ? support::endian::read16le(&bytes[8])
                             : support::endian::read32le(&bytes[8]);
  if (size > bytes.size() - begin)
    return "it ends within its header";
  header = toStringRef(bytes.slice(begin, size));
  elements = bytes.drop_front(begin + size);
  return nullptr;
}

ConstantRef anec::readNpy(const MappedFile &file, StringRef path,
                          Diagnostics &diags) {
  auto fail = [&](const Twine &reason) {
    diags.reportFile(path, diag::BadNpy, reason.str());
    return ConstantRef();
  };
  StringRef text;
  ArrayRef<uint8_t> elements;
  if (const char *wrong = splitNpy(bytesOf(*file), text, elements))
    return fail(wrong);
  NpyHeader header;
  if (const char *wrong = HeaderParser(text, header).parse())
    return fail(wrong);
  const char *reason = nullptr;
  std::optional<DType> dtype = parseDescr(header.descr, reason);
  if (!dtype)
    return fail(Twine(reason) + " (`" + header.descr + "`)");
  TensorType type(*dtype, header.shape);
  std::optional<uint64_t> size = storedSize(type);
  if (!size || *size != elements.size())
    return fail("its shape " + shapeToString(header.shape) + " of `" +
                header.descr + "` does not fit its " + Twine(elements.size()) +
                " bytes of elements");
  SmallVector<uint8_t, 0> ordered;
  size_t width = bitWidth(*dtype) / 8;
  bool isBigEndian = header.descr[0] == '>' && width > 1;
  if (isBigEndian) {
    ordered = swapped(elements, width);
    elements = ordered;
  }
  if (header.fortranOrder && type.rank() > 1)
    return fromFortranOrder(std::move(type), elements);
  if (isBigEndian)
    return Constant::copy(std::move(type), elements);
  return Constant::view(std::move(type), *dtype, elements, file);
}

ConstantRef anec::readNpy(StringRef path, Diagnostics &diags) {
  MappedFile file = mapFile(path, diags);
  return file ? readNpy(file, path, diags) : nullptr;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The strings as UTF-32. Returns false when one is not valid UTF-8.
static bool toUTF32(const Constant &array,
                    std::vector<std::vector<UTF32>> &strings) {
  for (const std::string &text : array.asStrings()) {
    std::vector<UTF32> &wide = strings.emplace_back(text.size());
    const UTF8 *from = reinterpret_cast<const UTF8 *>(text.data());
    UTF32 *to = wide.data();
    if (ConvertUTF8toUTF32(&from, from + text.size(), &to, to + wide.size(),
                           strictConversion) != conversionOK)
      return false;
    wide.resize(size_t(to - wide.data()));
  }
  return true;
}

/// numpy's strings have one length, and zeros at their ends.
static void writeStrings(raw_ostream &out, ArrayRef<std::vector<UTF32>> strings,
                         size_t length) {
  for (const std::vector<UTF32> &text : strings)
    for (size_t index = 0; index < length; ++index)
      support::endian::write<uint32_t>(
          out, index < text.size() ? text[index] : 0, endianness::little);
}

bool anec::writeNpy(raw_ostream &out, const Constant &array) {
  std::string code = facts(array.dtype()).npy.str();
  std::vector<std::vector<UTF32>> strings;
  size_t length = 1;
  if (array.dtype() == DType::String) {
    if (!toUTF32(array, strings))
      return false;
    for (const std::vector<UTF32> &text : strings)
      length = std::max(length, text.size());
    code = "U" + std::to_string(length);
  }
  if (code.empty())
    return false;
  std::string header = "{'descr': '";
  header += bitWidth(array.dtype()) == 8 ? '|' : '<';
  header += code;
  header += "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : array.type().shape)
    header += std::to_string(extent) + ", ";
  // numpy writes (3, 4) and (3,).
  if (array.type().rank() > 0)
    header.pop_back();
  if (array.type().rank() > 1)
    header.pop_back();
  header += "), }";
  constexpr size_t prefix = 10, alignment = 64;
  header.append(alignment - (prefix + header.size() + 1) % alignment, ' ');
  header += '\n';
  out << npyMagic << '\x01' << '\x00';
  support::endian::write<uint16_t>(out, uint16_t(header.size()),
                                   endianness::little);
  out << header;
  if (array.dtype() == DType::String)
    writeStrings(out, strings, length);
  else
    writeElements(out, array);
  return true;
}
