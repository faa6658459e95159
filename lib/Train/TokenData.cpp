//===- TokenData.cpp - the tokens to train on -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/TokenData.h"
#include "anec/Support/MappedFile.h"
#include "lib/Support/Digest.h"
#include "lib/Train/ConversationFiles.h"
#include "lib/Train/Diags.h"
#include "lib/Train/TokenFileHeader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Path.h"

using namespace anec;

int32_t TokenData::Piece::at(uint64_t index) const {
  const uint8_t *place = bytes.data() + index * width;
  if (width == 1)
    return *place;
  if (width == 2)
    return llvm::support::endian::read16le(place);
  return int32_t(llvm::support::endian::read32le(place));
}

bool TokenData::hasIdsAlone() const {
  return llvm::all_of(pieces, [](const Piece &piece) { return piece.isIds; });
}

/// Formats by their first bytes, with which no text begins.
static constexpr struct {
  llvm::StringLiteral begin, name;
} otherFormats[] = {
    {"\x93NUMPY", "a .npy array"},
    {"\x1f\x8b", "compressed by gzip"},
    {"\x28\xb5\x2f\xfd", "compressed by zstd"},
    {"\3757zXZ", "compressed by xz"},
    {"BZh9", "compressed by bzip2"},
    {"PK\x03\x04", "a zip archive"},
    {"PAR1", "a Parquet table"},
    {"\x89HDF", "an HDF5 file"},
    {"\x89PNG", "a PNG image"},
    {"\xff\xd8\xff", "a JPEG image"},
    {"%PDF-", "a PDF document"},
};

/// What a file that is no text is; empty for text.
static llvm::StringRef formatOf(llvm::StringRef bytes) {
  for (const auto &format : otherFormats)
    if (bytes.starts_with(format.begin))
      return format.name;
  // The length of a header, which is a JSON object.
  if (bytes.size() > 9 && bytes[8] == '{' &&
      llvm::support::endian::read64le(bytes.data()) <= bytes.size() - 8)
    return "a .safetensors file";
  return "";
}

bool TokenData::add(llvm::StringRef path, Encode encode, Diagnostics &diags) {
  MappedFile file = mapFile(path, diags);
  if (!file)
    return false;
  Piece piece{path.str(), file, bytesOf(*file)};
  bool isIds = llvm::sys::path::extension(path) == ".bin";
  llvm::StringRef format = isIds ? "" : formatOf(file->getBuffer());
  if (!isIds && hasConversations(path, file->getBuffer()))
    format = "of conversations in JSON, which are learned without other "
             "files beside them";
  if (!format.empty()) {
    diags.reportFile(path, diag::NotText, format);
    return false;
  }
  if (isIds) {
    std::optional<TokenFileLayout> layout =
        readTokenFileLayout(piece.bytes, path, diags);
    if (!layout)
      return false;
    piece.isIds = true;
    piece.width = layout->width;
    piece.bytes = piece.bytes.drop_front(layout->begin);
  } else if (encode) {
    std::optional<std::vector<int32_t>> encoded =
        encode(llvm::toStringRef(piece.bytes), diags);
    if (!encoded)
      return false;
    auto ids = std::make_shared<std::vector<int32_t>>(std::move(*encoded));
    piece.width = sizeof(int32_t);
    piece.bytes = {reinterpret_cast<const uint8_t *>(ids->data()),
                   ids->size() * sizeof(int32_t)};
    piece.owner = std::move(ids);
  }
  piece.begin = total;
  total += piece.count();
  pieces.push_back(std::move(piece));
  return true;
}

/// Checks every token once, so that later look-ups need no check.
bool TokenData::check(const Piece &piece, int64_t vocabulary,
                      Diagnostics &diags) const {
  int64_t possible = int64_t(1) << (8 * piece.width);
  if (possible <= vocabulary)
    return true;
  for (uint64_t i = 0; i < piece.count(); ++i) {
    int32_t id = piece.at(i);
    if (id >= 0 && id < vocabulary)
      continue;
    diags.reportFile(piece.path, diag::TokenOutOfVocabulary, id, i, vocabulary);
    return false;
  }
  return true;
}

std::optional<TokenData> TokenData::open(llvm::ArrayRef<std::string> paths,
                                         llvm::StringRef without, Encode encode,
                                         int64_t vocabulary,
                                         Diagnostics &diags) {
  std::optional<std::vector<DataFile>> files =
      listDataFiles(paths, without, diags);
  if (!files)
    return std::nullopt;
  TokenData data;
  for (const DataFile &file : *files)
    if (!data.add(file.path, encode, diags) ||
        !data.check(data.pieces.back(), vocabulary, diags))
      return std::nullopt;
  // Empty pieces would break the look-up of a token.
  llvm::erase_if(data.pieces,
                 [](const Piece &piece) { return piece.count() == 0; });
  if (data.total == 0) {
    diags.reportFile(paths.empty() ? "" : paths.front(), diag::NoTokens);
    return std::nullopt;
  }
  return data;
}

std::string TokenData::fingerprint() const {
  constexpr size_t shown = 65536;
  std::vector<llvm::ArrayRef<uint8_t>> parts;
  std::string numbers;
  for (const Piece &piece : pieces) {
    numbers +=
        std::to_string(piece.width) + "x" + std::to_string(piece.count()) + " ";
    parts.push_back(piece.bytes.take_front(shown));
    parts.push_back(piece.bytes.take_back(shown));
  }
  parts.push_back(llvm::arrayRefFromStringRef(numbers));
  return sha256(parts);
}

void TokenData::copy(uint64_t begin, llvm::MutableArrayRef<int32_t> out) const {
  assert(begin + out.size() <= total);
  auto piece =
      llvm::upper_bound(pieces, begin, [](uint64_t place, const Piece &piece) {
        return place < piece.begin;
      });
  --piece;
  for (int32_t &token : out) {
    while (begin >= piece->begin + piece->count())
      ++piece;
    token = piece->at(begin++ - piece->begin);
  }
}
