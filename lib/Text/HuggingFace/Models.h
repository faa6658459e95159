//===- Models.h - from words to ids -----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_HUGGINGFACE_MODELS_H
#define ANEC_LIB_TRAIN_HUGGINGFACE_MODELS_H

#include "Fields.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <vector>

namespace anec::hf {

/// Ids are below it: a file must not ask for more memory than it has.
constexpr int64_t largestId = (1 << 22) - 1;

/// The texts of ids.
class Vocabulary {
public:
  /// Adds `text` for `id`. Returns false when one of both is there already.
  bool add(llvm::StringRef text, int32_t id);
  /// The same, but a text that is there already has this id from now on.
  bool addAgain(llvm::StringRef text, int32_t id);
  /// Makes room for `count` texts; to be called first.
  void reserve(size_t count) {
    ids = llvm::StringMap<int32_t>(unsigned(count));
  }

  /// One more than the highest id.
  unsigned size() const { return unsigned(texts.size()); }
  std::optional<int32_t> idOf(llvm::StringRef text) const {
    auto found = ids.find(text);
    return found == ids.end() ? std::nullopt
                              : std::optional<int32_t>(found->second);
  }
  /// Nothing for an id that no text has.
  std::optional<llvm::StringRef> textOf(int32_t id) const {
    if (size_t(id) >= texts.size() || !texts[id].data())
      return std::nullopt;
    return texts[id];
  }

private:
  llvm::StringMap<int32_t> ids;
  std::vector<llvm::StringRef> texts; ///< the keys of `ids`
};

/// `vocab`, an object of ids by text; an empty one after an error.
Vocabulary readVocabulary(Fields &fields);
/// The ids of `<0x00>` to `<0xFF>`, -1 for those that are not in `vocabulary`.
std::vector<int32_t> byteTokens(const Vocabulary &vocabulary);

class Model {
public:
  virtual ~Model();

  const Vocabulary &vocabulary() const { return words; }
  /// Calls `take` with parts of `word` whose ids do not depend on each other.
  virtual void divide(llvm::StringRef word,
                      llvm::function_ref<void(llvm::StringRef)> take) const {
    take(word);
  }
  /// Appends the ids of `part`. Returns false, with `error` set, when it has
  /// none.
  [[nodiscard]] virtual bool encode(llvm::StringRef part,
                                    std::vector<int32_t> &ids,
                                    std::string &error) const = 0;

protected:
  explicit Model(Vocabulary words) : words(std::move(words)) {}

private:
  Vocabulary words;
};

struct ModelRow {
  llvm::StringLiteral type;
  std::unique_ptr<Model> (*read)(Fields &fields);
};
// Each in a file of its own.
extern const ModelRow bpeRow, unigramRow, wordPieceRow, wordLevelRow;

/// The model that `fields` describes; null after an error.
std::unique_ptr<Model> readModel(Fields &fields);

} // namespace anec::hf

#endif // ANEC_LIB_TRAIN_HUGGINGFACE_MODELS_H
