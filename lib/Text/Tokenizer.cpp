//===- Tokenizer.cpp - text as token ids, and back ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Tokenizers.h"
#include "Utf8.h"
#include "lib/Text/Diags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace llvm;

Tokenizer::~Tokenizer() = default;

size_t Tokenizer::partSize(StringRef text) const {
  // Bounds the memory of encoding, which is many times that of the text.
  constexpr size_t longest = 1 << 20;
  size_t size = text.size();
  if (size <= longest)
    return size;
  size_t line = text.take_front(longest).rfind('\n');
  size = line == StringRef::npos ? longest : line + 1;
  // Do not split a character.
  while (size < text.size() && (uint8_t(text[size]) & 0xC0) == 0x80)
    ++size;
  return size;
}

std::optional<std::vector<int32_t>>
Tokenizer::encode(StringRef text, Diagnostics &diags) const {
  std::vector<int32_t> ids;
  std::string error;
  bool isFirst = true;
  while (!text.empty()) {
    size_t size = partSize(text);
    if (!encodePart(text.take_front(size), isFirst, ids, error)) {
      diags.reportFile(path(), diag::CannotEncode, error);
      return std::nullopt;
    }
    text = text.drop_front(size);
    isFirst = false;
  }
  return ids;
}

std::vector<int32_t> Tokenizer::ends() const {
  std::optional<int32_t> id = end();
  return id ? std::vector<int32_t>{*id} : std::vector<int32_t>();
}

std::vector<int32_t> Tokenizer::withMarkers(std::vector<int32_t> ids) const {
  if (std::optional<int32_t> first = beginning())
    ids.insert(ids.begin(), *first);
  return ids;
}

std::optional<std::string> Tokenizer::markerText(int32_t) const {
  return std::nullopt;
}
std::optional<int32_t> Tokenizer::markerId(StringRef) const {
  return std::nullopt;
}

std::string Tokenizer::decode(ArrayRef<int32_t> ids, bool showMarkers) const {
  std::string bytes;
  bool atStart = true;
  for (int32_t id : ids) {
    std::optional<std::string> marker;
    if (showMarkers)
      marker = markerText(id);
    if (marker) {
      bytes += *marker;
      atStart = false;
      continue;
    }
    atStart = appendBytes(id, atStart, bytes);
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

namespace {
class ByteTokenizer : public Tokenizer {
public:
  ByteTokenizer() : Tokenizer(TokenizerKind::Bytes, "", "") {}

  unsigned vocabulary() const override { return 256; }
  bool appendBytes(int32_t id, bool, std::string &bytes) const override {
    assert(id >= 0 && id < 256);
    bytes += char(id);
    return false;
  }

private:
  bool encodePart(StringRef part, bool, std::vector<int32_t> &ids,
                  std::string &) const override {
    for (char byte : part)
      ids.push_back(uint8_t(byte));
    return true;
  }
};
} // namespace

std::unique_ptr<Tokenizer> anec::openTokenizer(StringRef path,
                                               Diagnostics &diags) {
  if (path.empty() || path == spelling(TokenizerKind::Bytes))
    return std::make_unique<ByteTokenizer>();
  SmallString<128> inFolder(path);
  if (sys::fs::is_directory(path)) {
    sys::path::append(inFolder, "tokenizer.json");
    path = inFolder;
  }
  MappedFile file = mapFile(path, diags);
  if (!file)
    return nullptr;
  StringRef bytes = file->getBuffer();
  if (path.ends_with(".json") || bytes.ltrim().starts_with("{"))
    return openHuggingFace(file, path, diags);
  // A SentencePiece model begins with a piece: field 1, its length, and its
  // text, field 1 of it. In tokenizer.bin these bytes would be a number above
  // 650,000, for the longest piece.
  bool isModel = path.ends_with(".model") ||
                 (!path.ends_with(".bin") && bytes.size() > 2 &&
                  bytes[0] == '\n' && bytes[2] == '\n');
  return isModel ? openSentencePiece(file, path, diags)
                 : openLlama2c(file, path, diags);
}

//===----------------------------------------------------------------------===//
// Text as it arrives
//===----------------------------------------------------------------------===//

std::string TextStream::next(int32_t id) {
  if (tokenizer.decodesWhole()) {
    held.push_back(id);
    return "";
  }
  atStart = tokenizer.appendBytes(id, atStart, pending);
  return takeCharacters(/*isEnd=*/false);
}

std::string TextStream::finish() {
  pending += tokenizer.decode(held);
  held.clear();
  return takeCharacters(/*isEnd=*/true);
}

/// Whether `bytes` may be a character whose last bytes are missing.
static bool isBeginning(StringRef bytes) {
  unsigned whole = getNumBytesForUTF8(UTF8(bytes[0]));
  // Testing the smallest and largest continuation suffices for all lengths:
  // only the second byte of a character has special bounds.
  for (uint8_t filler : {0x80, 0x9F, 0xA0, 0xBF}) {
    std::string character = bytes.str();
    character.resize(whole, char(filler));
    if (bytes.size() < whole && legalCharacterSize(character))
      return true;
  }
  return false;
}

/// How many bytes one U+FFFD stands for at the start of `bytes`, which do not
/// begin with a character: one, or all that may begin a character.
static size_t invalidSize(StringRef bytes, bool isEachByte) {
  size_t size = 1;
  while (!isEachByte && size < bytes.size() &&
         isBeginning(bytes.take_front(size + 1)))
    ++size;
  return size;
}

std::string TextStream::takeCharacters(bool isEnd) {
  std::string shown;
  StringRef rest = pending;
  while (!rest.empty()) {
    if (size_t size = legalCharacterSize(rest)) {
      shown += rest.take_front(size);
      rest = rest.drop_front(size);
      continue;
    }
    if (!isEnd && isBeginning(rest))
      break;
    shown += "\xEF\xBF\xBD";
    rest = rest.drop_front(invalidSize(rest, tokenizer.showsEachByte()));
  }
  pending = rest.str();
  return shown;
}
