//===- Unigram.cpp - the most probable pieces -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Of all ways to spell a text with pieces, the one with the largest sum of
/// scores. A character that is no piece is unknown, with a score below all
/// others. Sums are kept in single precision, and sums with the score of a
/// piece are compared in double precision, as SentencePiece does: of two ways
/// that are about as good, the same one has to win.
///
//===----------------------------------------------------------------------===//

#include "Encoders.h"
#include <algorithm>
#include <limits>

using namespace anec;
using namespace anec::spm;
using namespace llvm;

static size_t countCharacters(StringRef text) {
  size_t count = 0;
  for (; !text.empty(); text = text.drop_front(characterSize(text)))
    ++count;
  return count;
}

namespace {
class Unigram : public Encoder {
public:
  explicit Unigram(const Model &model);
  std::vector<Part> divide(StringRef text) const override;

private:
  /// The best way to a place of the text.
  struct Node {
    float score = 0;
    uint32_t begin = 0; ///< of the last piece
    int32_t id = -1;
    bool isReached = false;

    void reach(size_t from, double sum, int32_t piece) {
      if (!isReached || sum > score)
        *this = {float(sum), uint32_t(from), piece, true};
    }
  };
  /// Of a piece that has `text`. Of a piece that a user defined, it is better
  /// than those of other pieces of the same text together. SentencePiece counts
  /// its characters since 0.2.2, and counted its bytes before.
  double scoreOf(int32_t id, StringRef text) const {
    const Piece &piece = model.pieces[size_t(id)];
    return piece.type == PieceType::UserDefined
               ? double(float(countCharacters(text)) * highest) - 0.1
               : double(piece.score);
  }

  const Model &model;
  PieceTrie pieces;
  float unknownScore;
  float highest = std::numeric_limits<float>::min();
};
} // namespace

Unigram::Unigram(const Model &model) : model(model) {
  float lowest = std::numeric_limits<float>::max();
  for (const Piece &piece : model.pieces)
    if (piece.type == PieceType::Normal) {
      lowest = std::min(lowest, piece.score);
      highest = std::max(highest, piece.score);
    }
  constexpr float penalty = 10;
  unknownScore = lowest - penalty;
  for (auto [text, id] : model.spelled)
    if (model.typeOf(id) != PieceType::Unused)
      pieces.add(text, id);
}

std::vector<Part> Unigram::divide(StringRef text) const {
  std::vector<Node> nodes(text.size() + 1);
  for (size_t begin = 0; begin < text.size();) {
    float before = nodes[begin].score;
    StringRef rest = text.drop_front(begin);
    size_t character = characterSize(rest);
    bool isKnown = false;
    pieces.forEachPrefix(rest, [&](size_t size, int32_t id) {
      nodes[begin + size].reach(
          begin, scoreOf(id, rest.take_front(size)) + before, id);
      isKnown |= size == character;
    });
    if (!isKnown)
      nodes[begin + character].reach(begin, unknownScore + before,
                                     model.unknown);
    begin += character;
  }
  std::vector<Part> parts;
  for (size_t end = text.size(); end > 0; end = nodes[end].begin)
    parts.push_back({text.slice(nodes[end].begin, end), nodes[end].id});
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::unique_ptr<Encoder> anec::spm::makeUnigram(const Model &model) {
  return std::make_unique<Unigram>(model);
}
