//===- Bpe.cpp - byte pair encoding ---------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A word is divided into characters. Of the adjacent pairs that a merge is of,
/// that of the first merge is replaced by what the two are together, the
/// leftmost of equal ones, until there is no such pair.
///
/// A place between two characters that no merge has next to each other is never
/// inside of a token. Words are divided there: a whole text without spaces
/// becomes small words, which repeat.
///
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Unicode.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <queue>

using namespace anec::hf;
using namespace llvm;

namespace {

struct Merge {
  uint32_t rank;
  int32_t id; ///< of the result
};

struct BpeOptions {
  std::optional<int32_t> unknown;
  std::string prefix; ///< of every character but the first
  std::string suffix; ///< of the last character
  bool fusesUnknown = false;
  bool usesBytes = false; ///< for characters that are not in the vocabulary
  bool looksUpWords = false;
};

class Bpe : public Model {
public:
  Bpe(Vocabulary words, BpeOptions options)
      : Model(std::move(words)), options(std::move(options)),
        bytes(byteTokens(vocabulary())) {
    for (uint32_t character = 0; character < common.size(); ++character)
      common[character] = lookUp(character);
    for (uint32_t byte = 0; byte < 256; ++byte)
      usable[byte] = this->options.usesBytes && bytes[byte] >= 0;
  }
  [[nodiscard]] bool addMerge(StringRef left, StringRef right, uint32_t rank,
                              ReadError &error);

  void divide(StringRef word,
              function_ref<void(StringRef)> take) const override;
  bool encode(StringRef part, std::vector<int32_t> &ids,
              std::string &error) const override;

private:
  static uint64_t pairOf(uint32_t left, uint32_t right) {
    return uint64_t(left) << 32 | right;
  }
  int32_t lookUp(uint32_t character) const {
    std::string text;
    appendCharacter(text, character);
    return vocabulary().idOf(text).value_or(-1);
  }
  /// The id of a character that is a token by itself, or -1.
  int32_t idOf(uint32_t character) const {
    return character < common.size() ? common[character] : lookUp(character);
  }
  std::vector<int32_t> characters(StringRef part) const;

  BpeOptions options;
  std::vector<int32_t> bytes;
  std::array<bool, 256> usable;
  std::vector<int32_t> common = std::vector<int32_t>(0x3000, -1);
  DenseMap<uint64_t, Merge> merges;
  /// Pairs of characters that a merge has next to each other.
  DenseSet<uint64_t> inside;
};

/// Two adjacent symbols that can be merged.
struct Candidate {
  uint32_t rank;
  uint32_t left; ///< its place
  int32_t id;    ///< of the result

  /// The first merge comes first, of equal ones the leftmost.
  bool operator<(const Candidate &other) const {
    return rank != other.rank ? rank > other.rank : left > other.left;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Merges
//===----------------------------------------------------------------------===//

bool Bpe::addMerge(StringRef left, StringRef right, uint32_t rank,
                   ReadError &error) {
  const Vocabulary &words = vocabulary();
  std::optional<int32_t> leftId = words.idOf(left), rightId = words.idOf(right);
  for (auto [text, id] : {std::pair(left, leftId), std::pair(right, rightId)})
    if (!id || text.empty()) {
      error.malformed("`" + text + "` of merge " + Twine(rank) +
                      " is not in the vocabulary");
      return false;
    }
  if (right.size() < options.prefix.size()) {
    error.malformed("`" + right + "` of merge " + Twine(rank) +
                    " is shorter than the prefix");
    return false;
  }
  std::string both = (left + right.drop_front(options.prefix.size())).str();
  std::optional<int32_t> id = words.idOf(both);
  if (!id) {
    error.malformed("`" + both + "`, the result of merge " + Twine(rank) +
                    ", is not in the vocabulary");
    return false;
  }
  // Of equal merges, the last one counts.
  merges[pairOf(uint32_t(*leftId), uint32_t(*rightId))] = {rank, *id};
  inside.insert(pairOf(lastCharacter(left), takeCharacter(right)));
  return true;
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

void Bpe::divide(StringRef word, function_ref<void(StringRef)> take) const {
  if (!options.prefix.empty() || !options.suffix.empty() ||
      options.looksUpWords || word.size() < 2)
    return take(word);
  size_t begin = 0;
  uint32_t last = 0;
  int32_t lastId = -1;
  for (StringRef rest = word; !rest.empty();) {
    size_t at = word.size() - rest.size();
    uint32_t character = takeCharacter(rest);
    int32_t id = idOf(character);
    // Unknown characters may become bytes, or be fused.
    if (at > 0 && id >= 0 && lastId >= 0 &&
        !inside.contains(pairOf(last, character))) {
      take(word.slice(begin, at));
      begin = at;
    }
    last = character;
    lastId = id;
  }
  take(word.drop_front(begin));
}

/// The symbols that a part begins with.
std::vector<int32_t> Bpe::characters(StringRef part) const {
  std::vector<int32_t> ids;
  int32_t pending = -1; // of an unknown character, not yet added
  bool hasAffixes = !options.prefix.empty() || !options.suffix.empty();
  for (StringRef rest = part; !rest.empty();) {
    bool isFirst = rest.size() == part.size();
    StringRef spelled = rest;
    uint32_t character = takeCharacter(rest);
    spelled = spelled.drop_back(rest.size());
    bool isInvalid = isInvalidByte(character);
    std::string affixed;
    int32_t id = isInvalid ? idOf(0xFFFD) : -1;
    if (hasAffixes) {
      affixed = ((isFirst ? "" : options.prefix) + spelled +
                 (rest.empty() ? options.suffix : ""))
                    .str();
      id = vocabulary().idOf(affixed).value_or(-1);
      spelled = affixed;
    } else if (!isInvalid) {
      id = idOf(character);
    }
    char invalid = char(character & 0xFF);
    if (isInvalid)
      spelled = StringRef(&invalid, 1);
    bool becomesBytes =
        (id < 0 || isInvalid) &&
        llvm::all_of(spelled, [&](char byte) { return usable[uint8_t(byte)]; });
    if (becomesBytes) {
      for (char byte : spelled)
        ids.push_back(bytes[uint8_t(byte)]);
      continue;
    }
    if (id >= 0) {
      if (pending >= 0)
        ids.push_back(pending);
      pending = -1;
      ids.push_back(id);
      continue;
    }
    if (pending >= 0 && !options.fusesUnknown)
      ids.push_back(pending);
    pending = options.unknown.value_or(-1);
  }
  if (pending >= 0)
    ids.push_back(pending);
  return ids;
}

bool Bpe::encode(StringRef part, std::vector<int32_t> &result,
                 std::string &) const {
  if (options.looksUpWords)
    if (std::optional<int32_t> id = vocabulary().idOf(part)) {
      result.push_back(*id);
      return true;
    }
  std::vector<int32_t> ids = characters(part);
  // A linked list of symbols: a merge removes the right one.
  constexpr uint32_t none = ~uint32_t(0);
  std::vector<uint32_t> next(ids.size()), previous(ids.size());
  for (uint32_t at = 0; at < ids.size(); ++at) {
    next[at] = at + 1 < ids.size() ? at + 1 : none;
    previous[at] = at > 0 ? at - 1 : none;
  }
  std::priority_queue<Candidate> candidates;
  auto mergeAt = [&](uint32_t left) -> const Merge * {
    uint32_t right = left == none ? none : next[left];
    if (right == none)
      return nullptr;
    auto found = merges.find(pairOf(uint32_t(ids[left]), uint32_t(ids[right])));
    return found == merges.end() ? nullptr : &found->second;
  };
  auto consider = [&](uint32_t left) {
    if (const Merge *merge = mergeAt(left))
      candidates.push({merge->rank, left, merge->id});
  };
  for (uint32_t at = 0; at < ids.size(); ++at)
    consider(at);
  while (!candidates.empty()) {
    Candidate candidate = candidates.top();
    candidates.pop();
    uint32_t left = candidate.left;
    // Either symbol may have changed since the pair was queued.
    if (ids[left] < 0)
      continue;
    const Merge *merge = mergeAt(left);
    if (!merge || merge->id != candidate.id)
      continue;
    uint32_t right = next[left];
    ids[left] = candidate.id;
    ids[right] = -1;
    next[left] = next[right];
    if (next[left] != none)
      previous[next[left]] = left;
    consider(previous[left]);
    consider(left);
  }
  for (int32_t id : ids)
    if (id >= 0)
      result.push_back(id);
  return true;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The two texts of `merge`, `"a b"` or `["a", "b"]`.
static std::optional<std::pair<StringRef, StringRef>>
partsOf(const json::Value &merge) {
  if (std::optional<StringRef> text = merge.getAsString()) {
    auto [left, right] = text->split(' ');
    if (left.empty() || right.empty() || right.contains(' '))
      return std::nullopt;
    return std::pair(left, right);
  }
  const json::Array *both = merge.getAsArray();
  if (!both || both->size() != 2)
    return std::nullopt;
  std::optional<StringRef> left = (*both)[0].getAsString(),
                           right = (*both)[1].getAsString();
  if (!left || !right)
    return std::nullopt;
  return std::pair(*left, *right);
}

static void readMerges(Fields &fields, Bpe &bpe) {
  uint32_t rank = 0;
  for (const json::Value &merge : fields.array("merges")) {
    // A line of the files that the format comes from.
    if (merge.getAsString().value_or("").starts_with("#version"))
      continue;
    auto parts = partsOf(merge);
    if (!parts)
      fields.error().malformed("merge " + Twine(rank) + " in `" +
                               fields.pathOf("merges") + "` is not of two");
    if (!parts ||
        !bpe.addMerge(parts->first, parts->second, rank, fields.error()))
      return;
    ++rank;
  }
}

static std::unique_ptr<Model> readBpeModel(Fields &fields) {
  if (const json::Value *dropout = fields.value("dropout"))
    if (dropout->getAsNumber() != 0.0)
      fields.error().notSupported("`" + fields.pathOf("dropout") +
                                  "`, which makes ids random,");
  Vocabulary words = readVocabulary(fields);
  BpeOptions options;
  options.prefix =
      fields.optionalText("continuing_subword_prefix").value_or("");
  options.suffix = fields.optionalText("end_of_word_suffix").value_or("");
  options.fusesUnknown = fields.flag("fuse_unk", false);
  options.usesBytes = fields.flag("byte_fallback", false);
  options.looksUpWords = fields.flag("ignore_merges", false);
  if (std::optional<std::string> unknown = fields.optionalText("unk_token")) {
    options.unknown = words.idOf(*unknown);
    if (!options.unknown)
      fields.error().malformed("`" + fields.pathOf("unk_token") + "`, `" +
                               *unknown + "`, is not in the vocabulary");
  }
  if (fields.error())
    return nullptr;
  auto bpe = std::make_unique<Bpe>(std::move(words), std::move(options));
  readMerges(fields, *bpe);
  return bpe;
}

constinit const ModelRow anec::hf::bpeRow = {"BPE", readBpeModel};
