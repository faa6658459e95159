//===- Bpe.cpp - pairs merged by their scores -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A text is divided into characters. Of the adjacent pairs that are a piece
/// together, that of the highest score is merged, the leftmost of equal ones,
/// until there is none. A piece that is unused is divided again into the two
/// that became it.
///
//===----------------------------------------------------------------------===//

#include "Encoders.h"
#include <queue>

using namespace anec;
using namespace anec::spm;
using namespace llvm;

namespace {

constexpr int32_t none = -1;

/// A part of the text; a merge empties the right one of two.
struct Symbol {
  StringRef text;
  int32_t previous, next;
  bool isFixed; ///< a piece that a user defined
};

struct Merge {
  float score;
  int32_t left, right;
  size_t size; ///< of both, when the merge was found

  bool operator<(const Merge &other) const {
    return score != other.score ? score < other.score : left > other.left;
  }
};

class Bpe : public Encoder {
public:
  Bpe(const Model &model, const PieceTrie &userDefined)
      : model(model), userDefined(userDefined) {}
  std::vector<Part> divide(StringRef text) const override;

private:
  std::vector<Symbol> symbolsOf(StringRef text) const;

  const Model &model;
  const PieceTrie &userDefined;
};

/// Merges the symbols of one text.
class Merging {
public:
  Merging(const Model &model, std::vector<Symbol> symbols)
      : model(model), symbols(std::move(symbols)) {}
  std::vector<Part> run();

private:
  void consider(int32_t left, int32_t right);
  void appendParts(StringRef text, std::vector<Part> &parts) const;

  const Model &model;
  std::vector<Symbol> symbols;
  std::priority_queue<Merge> merges;
  /// The sizes of the left ones of what became unused pieces.
  DenseMap<StringRef, size_t> divisions;
};

} // namespace

std::vector<Symbol> Bpe::symbolsOf(StringRef text) const {
  std::vector<Symbol> symbols;
  while (!text.empty()) {
    bool isFixed;
    size_t size = symbolSize(text, userDefined, isFixed);
    int32_t index = int32_t(symbols.size());
    symbols.push_back({text.take_front(size), index - 1, index + 1, isFixed});
    text = text.drop_front(size);
  }
  if (!symbols.empty())
    symbols.back().next = none;
  return symbols;
}

void Merging::consider(int32_t left, int32_t right) {
  if (left == none || right == none || symbols[left].isFixed ||
      symbols[right].isFixed)
    return;
  StringRef first = symbols[left].text;
  StringRef both(first.data(), first.size() + symbols[right].text.size());
  auto found = model.spelled.find(both);
  if (found == model.spelled.end())
    return;
  merges.push(
      {model.pieces[size_t(found->second)].score, left, right, both.size()});
  if (model.typeOf(found->second) == PieceType::Unused)
    divisions[both] = first.size();
}

void Merging::appendParts(StringRef text, std::vector<Part> &parts) const {
  SmallVector<StringRef> rest = {text};
  while (!rest.empty()) {
    StringRef next = rest.pop_back_val();
    int32_t id = model.idOf(next);
    auto division = divisions.find(next);
    if (model.typeOf(id) != PieceType::Unused || division == divisions.end()) {
      parts.push_back({next, id});
      continue;
    }
    rest.push_back(next.drop_front(division->second));
    rest.push_back(next.take_front(division->second));
  }
}

std::vector<Part> Merging::run() {
  for (int32_t at = 0; at + 1 < int32_t(symbols.size()); ++at)
    consider(at, at + 1);
  while (!merges.empty()) {
    Merge merge = merges.top();
    merges.pop();
    Symbol &left = symbols[merge.left], &right = symbols[merge.right];
    // Either may have been merged since.
    if (left.text.empty() || right.text.empty() ||
        left.text.size() + right.text.size() != merge.size)
      continue;
    left.text = StringRef(left.text.data(), merge.size);
    left.next = right.next;
    if (right.next != none)
      symbols[right.next].previous = merge.left;
    right.text = "";
    consider(left.previous, merge.left);
    consider(merge.left, left.next);
  }
  std::vector<Part> parts;
  for (int32_t at = symbols.empty() ? none : 0; at != none;
       at = symbols[at].next)
    appendParts(symbols[at].text, parts);
  return parts;
}

std::vector<Part> Bpe::divide(StringRef text) const {
  return Merging(model, symbolsOf(text)).run();
}

std::unique_ptr<Encoder> anec::spm::makeBpe(const Model &model,
                                            const PieceTrie &userDefined) {
  return std::make_unique<Bpe>(model, userDefined);
}
