//===- Llama2c.cpp - checkpoints of llama2.c ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A header has seven 32-bit integers. In version 0 it is nothing else, and a
/// negative vocabulary says that there is a classifier; from version 1 on,
/// "ak42" and the version come before, then a byte that is 1 without a
/// classifier, in version 2 the size of groups, and zeros up to 256 bytes.
///
/// The arrays of one role follow each other, layer by layer. Version 0 has two
/// tables of angles before the classifier, which current programs ignore. In
/// version 2, the integers of a matrix come before its scales.
///
//===----------------------------------------------------------------------===//

#include "lib/Arrays/Llama2c.h"
#include "lib/Arrays/Diags.h"
#include "lib/Arrays/StoredAs.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace anec;
using namespace llvm;

/// "ak42"
static constexpr uint32_t llama2cMagic = 0x616b3432;

namespace {

/// The arrays of a role.
struct Row {
  StringLiteral pattern; ///< with `#` for the number of a layer
  bool isOfLayer, isMatrix;
  Shape (*shape)(const Llama2cFile &sizes);

  std::string nameOf(int64_t layer) const {
    auto [before, after] = pattern.split('#');
    return isOfLayer ? before.str() + std::to_string(layer) + after.str()
                     : pattern.str();
  }
};

} // namespace

static Shape vectorShape(const Llama2cFile &sizes) { return {sizes.dim}; }
static Shape tableShape(const Llama2cFile &sizes) {
  return {sizes.vocab, sizes.dim};
}
static Shape squareShape(const Llama2cFile &sizes) {
  return {sizes.dim, sizes.dim};
}
static Shape keyShape(const Llama2cFile &sizes) {
  return {sizes.keyRows(), sizes.dim};
}
static Shape upShape(const Llama2cFile &sizes) {
  return {sizes.hidden, sizes.dim};
}
static Shape downShape(const Llama2cFile &sizes) {
  return {sizes.dim, sizes.hidden};
}

static constexpr Row embedding = {"tok_embeddings.weight", false, true,
                                  tableShape};
static constexpr Row attentionNorm = {"layers.#.attention_norm.weight", true,
                                      false, vectorShape};
static constexpr Row wq = {"layers.#.attention.wq.weight", true, true,
                           squareShape};
static constexpr Row wk = {"layers.#.attention.wk.weight", true, true,
                           keyShape};
static constexpr Row wv = {"layers.#.attention.wv.weight", true, true,
                           keyShape};
static constexpr Row wo = {"layers.#.attention.wo.weight", true, true,
                           squareShape};
static constexpr Row ffnNorm = {"layers.#.ffn_norm.weight", true, false,
                                vectorShape};
static constexpr Row w1 = {"layers.#.feed_forward.w1.weight", true, true,
                           upShape};
static constexpr Row w2 = {"layers.#.feed_forward.w2.weight", true, true,
                           downShape};
static constexpr Row w3 = {"layers.#.feed_forward.w3.weight", true, true,
                           upShape};
static constexpr Row finalNorm = {"norm.weight", false, false, vectorShape};
static constexpr Row classifier = {"output.weight", false, true, tableShape};

static constexpr Row legacyOrder[] = {embedding, attentionNorm, wq, wk, wv,
                                      wo,        ffnNorm,       w1, w2, w3,
                                      finalNorm, classifier};
static constexpr Row newOrder[] = {
    attentionNorm, ffnNorm, finalNorm, embedding, wq, wk, wv, wo, w1, w2, w3,
    classifier};

/// The rows of the arrays of a file, in its order.
static ArrayRef<Row> rowsOf(const Llama2cFile &file) {
  ArrayRef<Row> all =
      file.version ? ArrayRef<Row>(newOrder) : ArrayRef<Row>(legacyOrder);
  // The classifier is the last one.
  return file.tied ? all.drop_back() : all;
}

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

namespace {

/// Reads one file; `wrong` keeps the reason why it is invalid.
class Llama2cReader {
public:
  Llama2cReader(const MappedFile &file, Llama2cFile &contents)
      : file(file), bytes(bytesOf(*file)), contents(contents) {}

  std::string wrong;

  bool read() { return readHeader() && checkSize() && readArrays(); }

private:
  bool fail(const Twine &reason) {
    wrong = reason.str();
    return false;
  }
  int32_t integer(size_t at) const {
    return int32_t(support::endian::read32le(bytes.data() + at));
  }
  bool readHeader();
  bool readSizes(size_t at);
  bool readGroups(size_t at);
  bool checkSize();
  bool readArrays();

  uint64_t bytesFor(const Row &row) const;
  /// Of the tables of angles.
  uint64_t tableBytes() const {
    return uint64_t(contents.positions) * (contents.dim / contents.heads) * 4;
  }
  StoredArray arrayAt(const Row &row, uint64_t at) const;

  MappedFile file;
  ArrayRef<uint8_t> bytes;
  Llama2cFile &contents;
  size_t headerSize = 7 * 4;
  uint64_t group = 0; ///< 0 where matrices are in fp32
  bool hasTables = false;
};

} // namespace

bool Llama2cReader::readSizes(size_t at) {
  static constexpr StringLiteral names[] = {
      "dim",        "hidden_dim", "n_layers", "n_heads",
      "n_kv_heads", "vocab_size", "seq_len"};
  int64_t *places[] = {&contents.dim,      &contents.hidden,   &contents.layers,
                       &contents.heads,    &contents.keyHeads, &contents.vocab,
                       &contents.positions};
  for (unsigned i = 0; i < 7; ++i) {
    int64_t size = integer(at + 4 * i);
    if (i == 5 && contents.version == 0) {
      contents.tied = size > 0;
      size = std::abs(size);
    }
    if (size <= 0 || size > (1 << 24))
      return fail("its " + names[i] + " is " + Twine(size));
    *places[i] = size;
  }
  if (contents.dim % (2 * contents.heads) || contents.heads % contents.keyHeads)
    return fail("its " + Twine(contents.heads) + " heads and " +
                Twine(contents.keyHeads) + " of keys do not divide " +
                Twine(contents.dim) + " channels");
  return true;
}

/// The size of groups. All matrices have `dim` as one of their extents.
bool Llama2cReader::readGroups(size_t at) {
  int64_t size = integer(at);
  if (size < 1 || contents.dim % size)
    return fail("its groups of " + Twine(size) + " do not divide " +
                Twine(contents.dim) + " channels");
  group = uint64_t(size);
  return true;
}

bool Llama2cReader::readHeader() {
  if (bytes.size() < headerSize)
    return fail("it ends within its header");
  if (uint32_t(integer(0)) != llama2cMagic)
    return readSizes(0);
  static constexpr size_t sizes = 8, flag = sizes + 7 * 4;
  headerSize = 256;
  if (bytes.size() < headerSize)
    return fail("it ends within its header");
  contents.version = integer(4);
  if (contents.version != 1 && contents.version != 2)
    return fail("it is of version " + Twine(contents.version) +
                " of the format, and versions 0 to 2 are what can be read");
  if (bytes[flag] > 1)
    return fail("its header says neither that it has a classifier nor that it "
                "has none");
  contents.tied = bytes[flag] == 1;
  return readSizes(sizes) && (contents.version == 1 || readGroups(flag + 1));
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

uint64_t Llama2cReader::bytesFor(const Row &row) const {
  // No overflow: sizes are below 2^24.
  uint64_t count = 1;
  for (int64_t extent : row.shape(contents))
    count *= uint64_t(extent);
  return row.isMatrix && group ? count + count / group * 4 : count * 4;
}

bool Llama2cReader::checkSize() {
  // The sizes of a hostile header add up to more than an integer holds.
  double wanted = double(headerSize), found = double(bytes.size());
  for (const Row &row : rowsOf(contents))
    wanted +=
        double(bytesFor(row)) * double(row.isOfLayer ? contents.layers : 1);
  // With a tied classifier nothing follows the tables, and some writers omit
  // them.
  hasTables = contents.version == 0 && (!contents.tied || found != wanted);
  if (hasTables)
    wanted += double(tableBytes());
  if (found != wanted)
    return fail("it has " + Twine(bytes.size()) +
                " bytes, and its header asks for " +
                formatv("{0:F0}", wanted).str());
  // Each array takes more memory than the smallest one has bytes.
  if (contents.layers > 10000)
    return fail("it has more than 10000 layers");
  return true;
}

StoredArray Llama2cReader::arrayAt(const Row &row, uint64_t at) const {
  ArrayRef<uint8_t> part = bytes.slice(at, bytesFor(row));
  Shape shape = row.shape(contents);
  if (!row.isMatrix || !group)
    return Constant::view({DType::FP32, shape}, DType::FP32, part, file);
  uint64_t count = uint64_t(shape[0]) * uint64_t(shape[1]);
  auto unpack = [file = file, part, count,
                 group = group](int64_t first, int64_t blocks, float *out) {
    for (uint64_t block = first, end = first + blocks; block < end; ++block) {
      float scale = support::endian::read<float>(
          part.data() + count + 4 * block, endianness::little);
      for (uint64_t i = 0; i < group; ++i)
        *out++ = float(int8_t(part[block * group + i])) * scale;
    }
  };
  return StoredArray(shape, int64_t(group), "int8", unpack);
}

bool Llama2cReader::readArrays() {
  uint64_t at = headerSize;
  for (const Row &row : rowsOf(contents)) {
    if (hasTables && row.pattern == classifier.pattern)
      at += tableBytes();
    for (int64_t layer = 0, end = row.isOfLayer ? contents.layers : 1;
         layer < end; ++layer) {
      contents.arrays.emplace_back(row.nameOf(layer), arrayAt(row, at));
      at += bytesFor(row);
    }
  }
  return true;
}

bool anec::isLlama2c(const MappedFile &file, StringRef path) {
  StringRef bytes = file->getBuffer();
  return path.ends_with(".bin") ||
         (bytes.size() >= 4 &&
          support::endian::read32le(bytes.data()) == llama2cMagic);
}

std::optional<Llama2cFile>
anec::readLlama2c(const MappedFile &file, StringRef path, Diagnostics &diags) {
  Llama2cFile contents;
  Llama2cReader reader(file, contents);
  if (reader.read())
    return contents;
  diags.reportFile(path, diag::BadLlama2c, reader.wrong);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// cos and sin of position times theta^(-2i / width), for each pair i.
static void writeTables(const Llama2cFile &sizes, raw_ostream &out) {
  int64_t width = sizes.dim / sizes.heads;
  for (double (*function)(double) : {static_cast<double (*)(double)>(std::cos),
                                     static_cast<double (*)(double)>(std::sin)})
    for (int64_t position = 0; position < sizes.positions; ++position)
      for (int64_t i = 0; i < width / 2; ++i) {
        double turn = std::pow(10000.0, -2.0 * double(i) / double(width));
        support::endian::write<float>(
            out, float(function(double(position) * turn)), endianness::little);
      }
}

void anec::writeLlama2c(const Llama2cFile &sizes,
                        function_ref<ConstantRef(StringRef)> arrayOf,
                        raw_ostream &out) {
  assert(sizes.version == 0 && "the version that is written");
  for (int64_t field :
       {sizes.dim, sizes.hidden, sizes.layers, sizes.heads, sizes.keyHeads,
        sizes.tied ? sizes.vocab : -sizes.vocab, sizes.positions})
    support::endian::write<int32_t>(out, int32_t(field), endianness::little);
  for (const Row &row : rowsOf(sizes)) {
    for (int64_t layer = 0, end = row.isOfLayer ? sizes.layers : 1; layer < end;
         ++layer)
      writeElements(out, *declaredAs(arrayOf(row.nameOf(layer)), DType::FP32));
    // They come before the classifier.
    if (row.pattern == finalNorm.pattern)
      writeTables(sizes, out);
  }
}
