//===- Models.cpp - from words to ids -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Models.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec::hf;
using namespace llvm;

Model::~Model() = default;

bool Vocabulary::add(StringRef text, int32_t id) {
  if (size_t(id) >= texts.size())
    texts.resize(size_t(id) + 1);
  if (texts[id].data())
    return false;
  auto [entry, isNew] = ids.try_emplace(text, id);
  texts[id] = entry->first();
  return isNew;
}

bool Vocabulary::addAgain(StringRef text, int32_t id) {
  bool isNew = add(text, id);
  ids[text] = id;
  return isNew;
}

Vocabulary anec::hf::readVocabulary(Fields &fields) {
  Vocabulary vocabulary;
  const json::Value *value = fields.value("vocab");
  const json::Object *texts = value ? value->getAsObject() : nullptr;
  std::string path = fields.pathOf("vocab");
  if (!texts || texts->empty()) {
    fields.error().malformed("`" + path + "` is not an object of ids");
    return vocabulary;
  }
  // Reports must not depend on the order of a hash table.
  std::optional<StringRef> wrong, twice;
  auto keepFirst = [](std::optional<StringRef> &first, StringRef text) {
    if (!first || text < *first)
      first = text;
  };
  vocabulary.reserve(texts->size());
  for (const auto &[key, value] : *texts) {
    StringRef text = key;
    std::optional<int64_t> id = value.getAsInteger();
    if (!id || *id < 0 || *id > largestId)
      keepFirst(wrong, text);
    else if (!vocabulary.add(text, int32_t(*id)))
      keepFirst(twice, text);
  }
  if (wrong)
    fields.error().malformed("the id of `" + *wrong + "` in `" + path +
                             "` is not an integer from 0 to " +
                             Twine(largestId));
  if (twice) {
    int64_t id = *texts->getInteger(*twice);
    fields.error().malformed("the id " + Twine(id) + " is given twice in `" +
                             path + "`");
  }
  return vocabulary;
}

std::vector<int32_t> anec::hf::byteTokens(const Vocabulary &vocabulary) {
  std::vector<int32_t> ids;
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string text;
    raw_string_ostream(text) << format("<0x%02X>", byte);
    ids.push_back(vocabulary.idOf(text).value_or(-1));
  }
  return ids;
}

std::unique_ptr<Model> anec::hf::readModel(Fields &fields) {
  std::optional<std::string> type = fields.optionalText("type");
  // Old files do not name it, and have the members of one.
  if (!type)
    type = fields.value("merges") ? "BPE" : fields.text("type");
  std::unique_ptr<Model> result;
  const ModelRow *found = nullptr;
  const ModelRow *rows[] = {&bpeRow, &unigramRow, &wordPieceRow, &wordLevelRow};
  for (const ModelRow *row : rows)
    if (row->type == *type)
      found = row;
  if (found)
    result = found->read(fields);
  else
    fields.error().unknownType("model", *type, typesOf(rows));
  if (!fields.error())
    fields.finish();
  return fields.error() ? nullptr : std::move(result);
}
