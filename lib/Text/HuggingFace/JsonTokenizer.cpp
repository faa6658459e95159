//===- JsonTokenizer.cpp - tokenizers in tokenizer.json
//--------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A text is divided at added tokens; what is between them is normalized,
/// divided at added tokens again, split into words, and each word is encoded.
/// tokenizer_config.json beside the file names the beginning and end markers.
///
//===----------------------------------------------------------------------===//

#include "../Tokenizers.h"
#include "AddedTokens.h"
#include "Decoders.h"
#include "PostProcessor.h"
#include "PreTokenizers.h"
#include "Unicode.h"
#include "lib/Support/Digest.h"
#include "lib/Support/Json.h"
#include "lib/Text/Diags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace anec::hf;
using namespace llvm;

bool anec::hasHuggingFace() { return true; }

namespace {

/// What a file describes.
struct Parts {
  std::unique_ptr<Normalizer> normalizer;     ///< null without one
  std::unique_ptr<PreTokenizer> preTokenizer; ///< null without one
  std::unique_ptr<Model> model;
  AddedTokens added;
  Markers markers;
  std::optional<Decoding> decoding;
  std::optional<int32_t> beginning, end;
  std::vector<int32_t> otherEnds; ///< by generation_config.json

  unsigned idCount() const {
    return std::max(model->vocabulary().size(), added.size());
  }
};

/// The ids of words that were encoded before.
class WordCache {
public:
  /// The ids of `word`, if they are known.
  std::optional<ArrayRef<int32_t>> find(StringRef word) const {
    auto found = places.find(word);
    if (found == places.end())
      return std::nullopt;
    return ArrayRef(ids).slice(found->second.first, found->second.second);
  }
  void add(StringRef word, ArrayRef<int32_t> found) {
    if (word.size() > 64)
      return;
    if (ids.size() > (1 << 21)) {
      ids.clear();
      places.clear();
    }
    places[word] = {uint32_t(ids.size()), uint32_t(found.size())};
    llvm::append_range(ids, found);
  }

private:
  StringMap<std::pair<uint32_t, uint32_t>> places;
  std::vector<int32_t> ids;
};

class HuggingFaceTokenizer : public Tokenizer {
public:
  HuggingFaceTokenizer(Parts given, std::string path, std::string digest)
      : Tokenizer(TokenizerKind::HuggingFace, std::move(path),
                  std::move(digest)),
        parts(std::move(given)) {}

  unsigned vocabulary() const override { return parts.idCount(); }
  std::optional<int32_t> beginning() const override { return parts.beginning; }
  std::optional<int32_t> end() const override { return parts.end; }
  std::vector<int32_t> ends() const override {
    std::vector<int32_t> all = Tokenizer::ends();
    llvm::append_range(all, parts.otherEnds);
    return all;
  }
  std::vector<int32_t> withMarkers(std::vector<int32_t> ids) const override {
    ids.insert(ids.begin(), parts.markers.before.begin(),
               parts.markers.before.end());
    llvm::append_range(ids, parts.markers.after);
    return ids;
  }
  std::optional<std::string> markerText(int32_t id) const override {
    const AddedToken *token = parts.added.find(id);
    if (!token || !token->isSpecial)
      return std::nullopt;
    return token->text;
  }
  std::optional<int32_t> markerId(StringRef text) const override {
    return parts.added.idOf(text);
  }
  std::string decode(ArrayRef<int32_t> ids, bool showMarkers) const override;
  bool showsEachByte() const override {
    return parts.decoding && parts.decoding->hasByteIds;
  }
  bool decodesWhole() const override {
    return parts.decoding && parts.decoding->isWhole;
  }
  bool appendBytes(int32_t id, bool atStart, std::string &bytes) const override;

private:
  std::optional<std::string> textOf(int32_t id, bool showMarkers) const;
  size_t partSize(StringRef text) const override;
  bool encodePart(StringRef part, bool isFirst, std::vector<int32_t> &ids,
                  std::string &error) const override;
  bool encodeStretch(Stretch stretch, WordCache &cache,
                     std::vector<int32_t> &ids, std::string &error) const;
  bool encodeWord(StringRef word, WordCache &cache, std::vector<int32_t> &ids,
                  std::string &error) const;

  Parts parts;
};

} // namespace

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

/// A part ends behind a line end before a letter or a digit of ASCII, where
/// tokens end too. Without any, it ends where it would take too much memory.
size_t HuggingFaceTokenizer::partSize(StringRef text) const {
  constexpr size_t usual = 4 << 20, longest = 64 << 20;
  for (size_t at = usual; at < text.size() && at < longest; ++at)
    if (text[at - 1] == '\n' && llvm::isAlnum(text[at]))
      return at;
  size_t size = std::min(text.size(), longest);
  while (size < text.size() && (uint8_t(text[size]) & 0xC0) == 0x80)
    ++size;
  return size;
}

bool HuggingFaceTokenizer::encodeWord(StringRef word, WordCache &cache,
                                      std::vector<int32_t> &ids,
                                      std::string &error) const {
  if (auto known = cache.find(word)) {
    llvm::append_range(ids, *known);
    return true;
  }
  size_t before = ids.size();
  bool isEncoded = true;
  parts.model->divide(word, [&](StringRef part) {
    if (!isEncoded)
      return;
    bool isWhole = part.size() == word.size();
    if (!isWhole)
      if (auto known = cache.find(part)) {
        llvm::append_range(ids, *known);
        return;
      }
    size_t begin = ids.size();
    isEncoded = parts.model->encode(part, ids, error);
    if (isEncoded && !isWhole)
      cache.add(part, ArrayRef(ids).drop_front(begin));
  });
  if (isEncoded)
    cache.add(word, ArrayRef(ids).drop_front(before));
  return isEncoded;
}

bool HuggingFaceTokenizer::encodeStretch(Stretch stretch, WordCache &cache,
                                         std::vector<int32_t> &ids,
                                         std::string &error) const {
  Words words(std::move(stretch));
  if (parts.preTokenizer && !parts.preTokenizer->apply(words, error))
    return false;
  for (Words::Range range : words.ranges)
    if (!encodeWord(words.textOf(range), cache, ids, error))
      return false;
  return true;
}

bool HuggingFaceTokenizer::encodePart(StringRef part, bool isFirst,
                                      std::vector<int32_t> &ids,
                                      std::string &error) const {
  std::string escaped = escapeInvalid(part);
  StringRef text = escaped;
  WordCache cache;
  for (const Span &span : parts.added.inText().split(text)) {
    if (span.id) {
      ids.push_back(*span.id);
      continue;
    }
    bool isBegin = span.begin == 0;
    Stretch stretch{text.slice(span.begin, span.end).str(), isFirst && isBegin,
                    !isFirst && isBegin};
    if (parts.normalizer && !parts.normalizer->apply(stretch, error))
      return false;
    StringRef normal = stretch.text;
    for (const Span &inner : parts.added.inNormalizedText().split(normal)) {
      if (inner.id) {
        ids.push_back(*inner.id);
        continue;
      }
      Stretch piece{normal.slice(inner.begin, inner.end).str(),
                    stretch.isFirst && inner.begin == 0,
                    stretch.continues && inner.begin == 0};
      if (!encodeStretch(std::move(piece), cache, ids, error))
        return false;
    }
  }
  return true;
}

/// What is decoded of `id`: nothing of markers, unless they are shown, and of
/// ids that no token has. As in the library, a token is a marker if its text is
/// that of one, which the text of a normalized marker may not be.
std::optional<std::string>
HuggingFaceTokenizer::textOf(int32_t id, bool showMarkers) const {
  assert(id >= 0 && unsigned(id) < vocabulary());
  std::optional<StringRef> text;
  if (const AddedToken *added = parts.added.find(id))
    text = added->normal;
  else
    text = parts.model->vocabulary().textOf(id);
  if (text && !showMarkers)
    if (std::optional<int32_t> same = parts.added.idOf(*text);
        same && parts.added.find(*same)->isSpecial)
      return std::nullopt;
  return text ? std::optional(text->str()) : std::nullopt;
}

std::string HuggingFaceTokenizer::decode(ArrayRef<int32_t> ids,
                                         bool showMarkers) const {
  Texts texts;
  for (int32_t id : ids)
    if (std::optional<std::string> text = textOf(id, showMarkers))
      texts.push_back(std::move(*text));
  return parts.decoding ? parts.decoding->decode(std::move(texts),
                                                 /*isStart=*/true)
                        : llvm::join(texts, " ");
}

bool HuggingFaceTokenizer::appendBytes(int32_t id, bool atStart,
                                       std::string &bytes) const {
  std::optional<std::string> text = textOf(id, /*showMarkers=*/false);
  if (!text)
    return atStart;
  if (parts.decoding)
    bytes += parts.decoding->decode({std::move(*text)}, atStart);
  else
    bytes += (atStart ? "" : " ") + *text;
  return false;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Parts readParts(const json::Object &object, ReadError &error) {
  Parts parts;
  Fields fields(object, "", error);
  fields.ignore("version");
  // Which part of a text is used, is up to whoever encodes it.
  fields.ignore("truncation");
  fields.ignore("padding");
  if (std::optional<Fields> normalizer = fields.optionalFields("normalizer"))
    parts.normalizer = readNormalizer(*normalizer);
  if (std::optional<Fields> splitter = fields.optionalFields("pre_tokenizer"))
    parts.preTokenizer = readPreTokenizer(*splitter);
  Fields model = fields.fields("model");
  if (!error)
    parts.model = readModel(model);
  if (error)
    return parts;
  parts.added.read(fields, parts.model->vocabulary(), parts.normalizer.get());
  if (std::optional<Fields> markers = fields.optionalFields("post_processor"))
    parts.markers = readPostProcessor(*markers, parts.idCount());
  if (std::optional<Fields> decoder = fields.optionalFields("decoder")) {
    parts.decoding = readDecoder(*decoder);
  }
  if (!error)
    fields.finish();
  return parts;
}

/// Reports that the JSON text of `file` is wrong at `error`.
static void reportJson(const MappedFile &file, StringRef path,
                       const JsonError &error, Diagnostics &diags) {
  // Diagnostics outlive the mapping.
  StringRef text =
      diags.addBuffer(MemoryBuffer::getMemBufferCopy(file->getBuffer(), path));
  auto place =
      SMLoc::getFromPointer(text.data() + std::min(error.offset, text.size()));
  diags.report({place, place}, diag::BadTokenizer, error.message);
}

/// `"<s>"` or `{"content": "<s>", ..}`; nothing for null.
static std::optional<StringRef> tokenText(const json::Value *value) {
  if (!value)
    return std::nullopt;
  if (const json::Object *token = value->getAsObject())
    return token->getString("content");
  return value->getAsString();
}

/// The value in the file `name` beside the tokenizer at `path`, where there is
/// such a file.
struct FileBeside {
  SmallString<128> path;
  std::optional<json::Value> value;
  bool isBroken = false; ///< with the reason reported
};
static FileBeside readBeside(StringRef path, StringRef name,
                             Diagnostics &diags) {
  FileBeside file;
  file.path = sys::path::parent_path(path);
  sys::path::append(file.path, name);
  if (sys::fs::exists(file.path)) {
    file.value = readJson(file.path, diag::BadTokenizer, diags);
    file.isBroken = !file.value;
  }
  return file;
}

/// The markers by tokenizer_config.json, if there is one, and by the
/// post-processor otherwise.
static bool findMarkers(Parts &parts, StringRef path, Diagnostics &diags) {
  if (!parts.markers.before.empty())
    parts.beginning = parts.markers.before.front();
  if (!parts.markers.after.empty())
    parts.end = parts.markers.after.back();
  FileBeside config = readBeside(path, "tokenizer_config.json", diags);
  if (!config.value)
    return !config.isBroken;
  const json::Object *object = config.value->getAsObject();
  if (!object) {
    diags.reportFile(config.path, diag::BadTokenizer, "it is not an object");
    return false;
  }
  for (auto [key, id] : {std::pair("bos_token", &parts.beginning),
                         std::pair("eos_token", &parts.end)}) {
    if (!object->get(key))
      continue;
    id->reset();
    std::optional<StringRef> text = tokenText(object->get(key));
    if (!text)
      continue;
    *id = parts.added.idOf(*text);
    if (!*id)
      *id = parts.model->vocabulary().idOf(*text);
    if (!*id) {
      diags.reportFile(config.path, diag::BadTokenizer,
                       "`" + std::string(key) + "`, `" + text->str() +
                           "`, is not in the vocabulary");
      return false;
    }
  }
  return true;
}

/// `eos_token_id` of generation_config.json, or where there is no such file of
/// config.json, as in transformers: a number, or several. It can name ids of
/// the model that the tokenizer does not have.
static bool findOtherEnds(Parts &parts, StringRef path, Diagnostics &diags) {
  FileBeside config = readBeside(path, "generation_config.json", diags);
  if (!config.value && !config.isBroken)
    config = readBeside(path, "config.json", diags);
  if (!config.value)
    return !config.isBroken;
  const json::Object *object = config.value->getAsObject();
  const json::Value *ends = object ? object->get("eos_token_id") : nullptr;
  if (object && (!ends || ends->kind() == json::Value::Null))
    return true;
  auto add = [&](const json::Value &id) {
    std::optional<int64_t> number = id.getAsInteger();
    if (number && isInt<32>(*number))
      parts.otherEnds.push_back(int32_t(*number));
    return number && isInt<32>(*number);
  };
  const json::Array *list = ends ? ends->getAsArray() : nullptr;
  if (object && (list ? llvm::all_of(*list, add) : add(*ends)))
    return true;
  diags.reportFile(config.path, diag::BadTokenizer,
                   object ? "its `eos_token_id` is neither a token id nor a "
                            "list of token ids"
                          : "it is not an object");
  return false;
}

std::unique_ptr<Tokenizer> anec::openHuggingFace(const MappedFile &file,
                                                 StringRef path,
                                                 Diagnostics &diags) {
  JsonError wrong;
  std::optional<json::Value> value = parseJson(file->getBuffer(), wrong);
  if (!value) {
    reportJson(file, path, wrong, diags);
    return nullptr;
  }
  ReadError error;
  Parts parts;
  if (const json::Object *object = value->getAsObject())
    parts = readParts(*object, error);
  else
    error.malformed("it is not an object");
  if (error) {
    error.report(path, diags);
    return nullptr;
  }
  if (!findMarkers(parts, path, diags) || !findOtherEnds(parts, path, diags))
    return nullptr;
  return std::make_unique<HuggingFaceTokenizer>(std::move(parts), path.str(),
                                                sha256(bytesOf(*file)));
}
