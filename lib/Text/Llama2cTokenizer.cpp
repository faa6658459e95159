//===- Llama2cTokenizer.cpp - the tokenizer.bin of llama2.c ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Byte pairs with scores: the length of the longest piece, then for each piece
/// its score, its length and its bytes, with plain spaces. A space is inserted
/// before a text, and the text is split into characters, or bytes where the
/// vocabulary lacks a character. Then the adjacent pair whose concatenation has
/// the highest score is merged, until no concatenation is a piece.
///
//===----------------------------------------------------------------------===//

#include "Tokenizers.h"
#include "lib/Support/Digest.h"
#include "lib/Text/Diags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <queue>

using namespace anec;
using namespace llvm;

/// The ids of the beginning and end markers and of the byte 0.
static constexpr int32_t beginningId = 1, endId = 2, firstByteId = 3;

namespace {

struct Piece {
  StringRef text; ///< into the mapped file
  float score = 0;
};

class Llama2cTokenizer : public Tokenizer {
public:
  Llama2cTokenizer(MappedFile file, std::vector<Piece> pieces, std::string path,
                   std::string digest)
      : Tokenizer(TokenizerKind::Llama2c, std::move(path), std::move(digest)),
        file(std::move(file)), pieces(std::move(pieces)) {
    // Of equal pieces, the first is used.
    for (size_t id = 0; id < this->pieces.size(); ++id)
      idOf.try_emplace(this->pieces[id].text, int32_t(id));
  }

  unsigned vocabulary() const override { return unsigned(pieces.size()); }
  std::optional<int32_t> beginning() const override { return beginningId; }
  std::optional<int32_t> end() const override { return endId; }

  bool appendBytes(int32_t id, bool atStart,
                   std::string &bytes) const override {
    assert(id >= 0 && size_t(id) < pieces.size());
    if (id == beginningId || id == endId)
      return atStart;
    if (id >= firstByteId && id < firstByteId + 256) {
      bytes += char(id - firstByteId);
      return false;
    }
    StringRef text = pieces[id].text;
    if (atStart)
      text.consume_front(" ");
    bytes += text;
    return false;
  }

private:
  bool encodePart(StringRef part, bool isFirst, std::vector<int32_t> &ids,
                  std::string &error) const override;
  std::vector<int32_t> characters(StringRef text) const;

  MappedFile file;
  std::vector<Piece> pieces;
  StringMap<int32_t> idOf;
};

/// Two adjacent pieces that can be merged.
struct Merge {
  float score;
  size_t left, right; ///< places of the two
  int32_t leftId, rightId, id;

  /// The best pair comes first, of equal ones the leftmost.
  bool operator<(const Merge &other) const {
    return score != other.score ? score < other.score : left > other.left;
  }
};

} // namespace

std::vector<int32_t> Llama2cTokenizer::characters(StringRef text) const {
  std::vector<int32_t> ids;
  while (!text.empty()) {
    // A lead byte and its continuation bytes.
    size_t size = 1;
    while (size < 4 && size < text.size() &&
           (uint8_t(text[size]) & 0xC0) == 0x80)
      ++size;
    StringRef character = text.take_front(size);
    text = text.drop_front(size);
    if (auto known = idOf.find(character); known != idOf.end()) {
      ids.push_back(known->second);
      continue;
    }
    for (char byte : character)
      ids.push_back(firstByteId + uint8_t(byte));
  }
  return ids;
}

bool Llama2cTokenizer::encodePart(StringRef part, bool isFirst,
                                  std::vector<int32_t> &result,
                                  std::string &) const {
  std::vector<int32_t> ids;
  if (auto space = idOf.find(" "); isFirst && space != idOf.end())
    ids.push_back(space->second);
  llvm::append_range(ids, characters(part));

  // A linked list of pieces: a merge removes the right one.
  constexpr size_t none = ~size_t(0);
  std::vector<size_t> next(ids.size()), previous(ids.size());
  for (size_t at = 0; at < ids.size(); ++at) {
    next[at] = at + 1 < ids.size() ? at + 1 : none;
    previous[at] = at > 0 ? at - 1 : none;
  }
  std::priority_queue<Merge> merges;
  std::string both;
  auto consider = [&](size_t left, size_t right) {
    if (left == none || right == none)
      return;
    both.assign(pieces[ids[left]].text);
    both.append(pieces[ids[right]].text);
    auto merged = idOf.find(both);
    if (merged != idOf.end())
      merges.push({pieces[merged->second].score, left, right, ids[left],
                   ids[right], merged->second});
  };
  for (size_t at = 0; at + 1 < ids.size(); ++at)
    consider(at, at + 1);
  while (!merges.empty()) {
    Merge merge = merges.top();
    merges.pop();
    // Either piece may have changed since the pair was queued.
    if (ids[merge.left] != merge.leftId || ids[merge.right] != merge.rightId ||
        next[merge.left] != merge.right)
      continue;
    ids[merge.left] = merge.id;
    ids[merge.right] = -1;
    next[merge.left] = next[merge.right];
    if (next[merge.left] != none)
      previous[next[merge.left]] = merge.left;
    consider(previous[merge.left], merge.left);
    consider(merge.left, next[merge.left]);
  }
  for (int32_t id : ids)
    if (id >= 0)
      result.push_back(id);
  return true;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The reason why the pieces are not a valid vocabulary; empty if they are.
static std::string checkPieces(ArrayRef<Piece> pieces) {
  if (pieces.size() < size_t(firstByteId) + 256)
    return "it has " + std::to_string(pieces.size()) +
           " pieces, fewer than the 259 that every vocabulary begins with";
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string wanted;
    raw_string_ostream(wanted) << format("<0x%02X>", byte);
    StringRef text = pieces[firstByteId + byte].text;
    if (text != wanted)
      return "piece " + std::to_string(firstByteId + byte) + " is not `" +
             wanted + "`";
  }
  return "";
}

static std::string readPieces(StringRef bytes, std::vector<Piece> &pieces) {
  if (bytes.size() < 4)
    return "it ends within its header";
  int32_t longest = int32_t(support::endian::read32le(bytes.data()));
  if (longest <= 0 || longest > (1 << 20))
    return "its longest piece would have " + std::to_string(longest) + " bytes";
  bytes = bytes.drop_front(4);
  while (!bytes.empty()) {
    std::string place = "piece " + std::to_string(pieces.size());
    if (bytes.size() < 8)
      return "it ends within " + place;
    Piece piece;
    piece.score =
        support::endian::read<float>(bytes.data(), endianness::little);
    int32_t size = int32_t(support::endian::read32le(bytes.data() + 4));
    if (std::isnan(piece.score))
      return place + " has a score that is not a number";
    if (size < 0 || size > longest)
      return place + " has " + std::to_string(size) +
             " bytes, and the longest is said to have " +
             std::to_string(longest);
    bytes = bytes.drop_front(8);
    if (bytes.size() < size_t(size))
      return "it ends within " + place;
    piece.text = bytes.take_front(size);
    bytes = bytes.drop_front(size);
    pieces.push_back(piece);
  }
  return checkPieces(pieces);
}

std::unique_ptr<Tokenizer>
anec::openLlama2c(const MappedFile &file, StringRef path, Diagnostics &diags) {
  std::vector<Piece> pieces;
  if (std::string wrong = readPieces(file->getBuffer(), pieces);
      !wrong.empty()) {
    diags.reportFile(path, diag::BadTokenizer, wrong);
    return nullptr;
  }
  return std::make_unique<Llama2cTokenizer>(file, std::move(pieces), path.str(),
                                            sha256(bytesOf(*file)));
}
