//===- Unigram.cpp - the most probable pieces -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Of all ways to spell a text with pieces, the one with the largest sum of
/// scores. A character that is no piece is unknown, with a score below all
/// others; adjacent unknown ones are one.
///
//===----------------------------------------------------------------------===//

#include "../PieceTrie.h"
#include "Models.h"
#include "Unicode.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec::hf;
using namespace llvm;

/// How much worse an unknown character is than the worst piece.
static constexpr double unknownPenalty = 10;

namespace {
class Unigram : public Model {
public:
  Unigram(Vocabulary words, std::vector<double> scores,
          std::optional<int32_t> unknown, bool usesBytes)
      : Model(std::move(words)), scores(std::move(scores)), unknown(unknown),
        usesBytes(usesBytes), bytes(byteTokens(vocabulary())) {
    unknownScore = *llvm::min_element(this->scores) - unknownPenalty;
    // Of equal pieces, the last one is found.
    for (int32_t id = 0; id < int32_t(this->scores.size()); ++id)
      if (StringRef piece = *vocabulary().textOf(id);
          vocabulary().idOf(piece) == id)
        pieces.add(piece, id);
  }
  bool encode(StringRef part, std::vector<int32_t> &ids,
              std::string &error) const override;

private:
  struct Node {
    double score = 0;
    int32_t id = -1; ///< of the piece that ends here
    uint32_t begin = 0;
    bool isReached = false;
  };
  void appendUnknown(StringRef text, std::vector<int32_t> &ids) const;
  /// Whether a way with this score is the best one to the node so far.
  static bool isBetter(const Node &node, double score) {
    return !node.isReached || score > node.score;
  }
  void reach(Node &node, size_t begin, double score, int32_t id) const {
    if (isBetter(node, score))
      node = {score, id, uint32_t(begin), true};
  }

  std::vector<double> scores;
  std::optional<int32_t> unknown;
  bool usesBytes;
  std::vector<int32_t> bytes;
  double unknownScore;
  anec::PieceTrie pieces;
};
} // namespace

/// Appends the ids of adjacent unknown characters.
void Unigram::appendUnknown(StringRef text, std::vector<int32_t> &ids) const {
  if (std::optional<int32_t> whole = vocabulary().idOf(text)) {
    ids.push_back(*whole);
    return;
  }
  if (usesBytes) {
    // An invalid byte is itself.
    std::string raw;
    for (StringRef rest = text; !rest.empty();) {
      StringRef before = rest;
      uint32_t character = takeCharacter(rest);
      if (isInvalidByte(character))
        raw += char(character & 0xFF);
      else
        raw += before.drop_back(rest.size());
    }
    if (llvm::all_of(raw,
                     [&](char byte) { return bytes[uint8_t(byte)] >= 0; })) {
      for (char byte : raw)
        ids.push_back(bytes[uint8_t(byte)]);
      return;
    }
  }
  ids.push_back(*unknown);
}

bool Unigram::encode(StringRef given, std::vector<int32_t> &ids,
                     std::string &error) const {
  std::string replaced;
  if (!usesBytes) {
    replaced = replaceInvalid(given);
    given = replaced;
  }
  std::vector<Node> nodes(given.size() + 1);
  for (size_t begin = 0; begin < given.size();) {
    double before = nodes[begin].score;
    StringRef rest = given.drop_front(begin);
    size_t size = characterSize(rest);
    bool hasSingle = false;
    pieces.forEachPrefix(rest, [&](size_t pieceSize, int32_t id) {
      reach(nodes[begin + pieceSize], begin, before + scores[id], id);
      hasSingle |= pieceSize == size;
    });
    Node &next = nodes[begin + size];
    if (!hasSingle && isBetter(next, before + unknownScore)) {
      // The library fails too, also where bytes could stand for it.
      if (!unknown) {
        error = "it has `" + replaceInvalid(rest.take_front(size)) +
                "`, and the tokenizer has no id for unknown characters";
        return false;
      }
      reach(next, begin, before + unknownScore, *unknown);
    }
    begin += size;
  }
  // From the end to the beginning: the parts, with adjacent unknown ones fused.
  struct Part {
    size_t begin, end;
    int32_t id;
    bool isUnknown;
  };
  std::vector<Part> parts;
  for (size_t end = given.size(); end > 0; end = nodes[end].begin) {
    const Node &node = nodes[end];
    bool isUnknown = node.id == unknown;
    if (isUnknown && !parts.empty() && parts.back().isUnknown)
      parts.back().begin = node.begin;
    else
      parts.push_back({node.begin, end, node.id, isUnknown});
  }
  for (const Part &part : llvm::reverse(parts)) {
    if (part.isUnknown)
      appendUnknown(given.slice(part.begin, part.end), ids);
    else
      ids.push_back(part.id);
  }
  return true;
}

static std::unique_ptr<Model> readUnigram(Fields &fields) {
  Vocabulary words;
  std::vector<double> scores;
  const json::Array &pieces = fields.array("vocab");
  std::string path = fields.pathOf("vocab");
  if (pieces.empty())
    fields.error().malformed("`" + path + "` has no pieces");
  if (int64_t(pieces.size()) > largestId)
    fields.error().malformed("`" + path + "` has " + Twine(pieces.size()) +
                             " pieces, and at most " + Twine(largestId) +
                             " are read");
  if (fields.error())
    return nullptr;
  words.reserve(pieces.size());
  for (const json::Value &piece : pieces) {
    const json::Array *both = piece.getAsArray();
    std::optional<StringRef> text;
    std::optional<double> score;
    if (both && both->size() == 2) {
      text = (*both)[0].getAsString();
      score = (*both)[1].getAsNumber();
    }
    size_t id = scores.size();
    if (!text || !score || !std::isfinite(*score)) {
      fields.error().malformed("piece " + Twine(id) + " in `" + path +
                               "` is not a text and a score");
      return nullptr;
    }
    words.addAgain(*text, int32_t(id));
    scores.push_back(*score);
  }
  std::optional<int32_t> unknown;
  if (fields.value("unk_id"))
    unknown = int32_t(fields.number("unk_id", 0, int64_t(scores.size()) - 1));
  bool usesBytes = fields.flag("byte_fallback", false);
  if (fields.error())
    return nullptr;
  return std::make_unique<Unigram>(std::move(words), std::move(scores), unknown,
                                   usesBytes);
}

constinit const ModelRow anec::hf::unigramRow = {"Unigram", readUnigram};
