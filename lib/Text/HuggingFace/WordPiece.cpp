//===- WordPiece.cpp - the longest pieces from the left -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "Unicode.h"

using namespace anec::hf;
using namespace llvm;

namespace {

/// A word is the longest piece that it begins with, then the longest of those
/// with the prefix, and so on; or unknown as a whole.
class WordPieceModel : public Model {
public:
  WordPieceModel(Vocabulary words, int32_t unknown, std::string prefix,
                 size_t longest)
      : Model(std::move(words)), unknown(unknown), prefix(std::move(prefix)),
        longest(longest) {}

  bool encode(StringRef given, std::vector<int32_t> &ids,
              std::string &) const override {
    std::string word = replaceInvalid(given);
    size_t count = 0;
    for (StringRef rest = word; !rest.empty(); ++count)
      (void)takeCharacter(rest);
    size_t before = ids.size();
    if (count <= longest && addPieces(word, ids))
      return true;
    ids.resize(before);
    ids.push_back(unknown);
    return true;
  }

private:
  bool addPieces(StringRef word, std::vector<int32_t> &ids) const {
    for (size_t begin = 0; begin < word.size();) {
      size_t end = word.size();
      std::optional<int32_t> id;
      for (; end > begin; --end) {
        std::string piece =
            ((begin > 0 ? prefix : "") + word.slice(begin, end)).str();
        if ((id = vocabulary().idOf(piece)))
          break;
      }
      if (!id)
        return false;
      ids.push_back(*id);
      begin = end;
    }
    return true;
  }

  int32_t unknown;
  std::string prefix;
  size_t longest; ///< in characters
};

/// Every word is in the vocabulary, or unknown.
class WordLevel : public Model {
public:
  WordLevel(Vocabulary words, int32_t unknown)
      : Model(std::move(words)), unknown(unknown) {}
  bool encode(StringRef word, std::vector<int32_t> &ids,
              std::string &) const override {
    ids.push_back(vocabulary().idOf(replaceInvalid(word)).value_or(unknown));
    return true;
  }

private:
  int32_t unknown;
};

} // namespace

/// The id of `unk_token`, which these models cannot do without.
static int32_t readUnknown(Fields &fields, const Vocabulary &words,
                           StringRef byDefault) {
  std::string unknown = fields.text("unk_token", byDefault);
  std::optional<int32_t> id = words.idOf(unknown);
  if (!id)
    fields.error().malformed("`" + fields.pathOf("unk_token") + "`, `" +
                             unknown + "`, is not in the vocabulary");
  return id.value_or(0);
}

static std::unique_ptr<Model> readWordPieceModel(Fields &fields) {
  Vocabulary words = readVocabulary(fields);
  int32_t unknown = readUnknown(fields, words, "[UNK]");
  std::string prefix = fields.text("continuing_subword_prefix", "##");
  // The time for a word grows with the square of its length.
  size_t longest =
      size_t(fields.number("max_input_chars_per_word", 0, 4096, 100));
  return std::make_unique<WordPieceModel>(std::move(words), unknown,
                                          std::move(prefix), longest);
}

static std::unique_ptr<Model> readWordLevel(Fields &fields) {
  Vocabulary words = readVocabulary(fields);
  int32_t unknown = readUnknown(fields, words, "<unk>");
  return std::make_unique<WordLevel>(std::move(words), unknown);
}

constinit const ModelRow anec::hf::wordPieceRow = {"WordPiece",
                                                   readWordPieceModel};
constinit const ModelRow anec::hf::wordLevelRow = {"WordLevel", readWordLevel};
