//===- TokenData.cpp - the tokens to train on -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Train/TokenData.h"
#include "anec/Support/Digest.h"
#include "anec/Support/MappedFile.h"
#include "anec/Train/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
namespace fs = llvm::sys::fs;

int32_t TokenData::Piece::at(uint64_t index) const {
  const uint8_t *place = bytes.data() + index * width;
  if (width == 1)
    return *place;
  if (width == 2)
    return llvm::support::endian::read16le(place);
  return int32_t(llvm::support::endian::read32le(place));
}

bool TokenData::add(llvm::StringRef path, const Tokenizer &tokenizer,
                    Diagnostics &diags) {
  MappedFile file = mapFile(path, diags);
  if (!file)
    return false;
  Piece piece{path.str(), file, bytesOf(*file)};
  if (llvm::sys::path::extension(path) == ".bin") {
    piece.width = 2;
    if (piece.bytes.size() % 2) {
      diags.reportFile(path, diag::OddTokenFile, piece.bytes.size());
      return false;
    }
  } else if (tokenizer.kind() != TokenizerKind::Bytes) {
    auto ids = std::make_shared<std::vector<int32_t>>(
        tokenizer.encode(llvm::toStringRef(piece.bytes)));
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

/// The files in `folder` and below, sorted, without hidden files and those in
/// `without`, the run's own folder.
static bool listFolder(llvm::StringRef folder, llvm::StringRef without,
                       std::vector<std::string> &files, Diagnostics &diags) {
  std::vector<std::string> found;
  std::error_code code;
  for (fs::recursive_directory_iterator entry(folder, code), end;
       entry != end && !code; entry.increment(code)) {
    bool isFolder = entry->type() == fs::file_type::directory_file;
    if (llvm::sys::path::filename(entry->path()).starts_with(".") ||
        (isFolder && fs::equivalent(entry->path(), without))) {
      entry.no_push();
      continue;
    }
    if (fs::is_regular_file(entry->path()))
      found.push_back(entry->path());
  }
  if (code) {
    diags.reportFile(folder, diag::CannotOpen, code.message());
    return false;
  }
  llvm::sort(found);
  llvm::append_range(files, found);
  return true;
}

std::optional<TokenData> TokenData::open(llvm::ArrayRef<std::string> paths,
                                         llvm::StringRef without,
                                         const Tokenizer &tokenizer,
                                         int64_t vocabulary,
                                         Diagnostics &diags) {
  std::vector<std::string> files;
  for (const std::string &path : paths) {
    if (!fs::is_directory(path))
      files.push_back(path);
    else if (!listFolder(path, without, files, diags))
      return std::nullopt;
  }
  TokenData data;
  for (const std::string &file : files)
    if (!data.add(file, tokenizer, diags) ||
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
