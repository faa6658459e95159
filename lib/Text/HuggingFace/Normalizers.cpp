//===- Normalizers.cpp - what changes a text before it is split -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Normalizers.h"
#include "Regex.h"
#include "Unicode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec::hf;
using namespace llvm;

Normalizer::~Normalizer() = default;

std::optional<Regex> anec::hf::readPattern(Fields fields) {
  std::optional<std::string> text = fields.optionalText("String");
  std::optional<std::string> regex = fields.optionalText("Regex");
  fields.finish();
  if (text.has_value() == regex.has_value() || (text && text->empty()))
    fields.error().malformed("`" + fields.path() +
                             "` is neither a `String` nor a `Regex`");
  if (fields.error())
    return std::nullopt;
  std::string reason;
  std::optional<Regex> compiled =
      Regex::compile(regex ? *regex : quotePattern(*text), reason);
  if (!compiled)
    fields.error().unknownPattern(fields.path(), reason);
  return compiled;
}

namespace {

class NormalizerSequence : public Normalizer {
public:
  explicit NormalizerSequence(std::vector<std::unique_ptr<Normalizer>> steps)
      : steps(std::move(steps)) {}
  bool apply(Stretch &stretch, std::string &error) const override {
    return llvm::all_of(
        steps, [&](const auto &step) { return step->apply(stretch, error); });
  }

private:
  std::vector<std::unique_ptr<Normalizer>> steps;
};

/// A function from text to text.
class Mapping : public Normalizer {
public:
  explicit Mapping(std::string (*map)(StringRef)) : map(map) {}
  bool apply(Stretch &stretch, std::string &) const override {
    stretch.text = map(stretch.text);
    return true;
  }

private:
  std::string (*map)(StringRef);
};

class Prepend : public Normalizer {
public:
  explicit Prepend(std::string prefix) : prefix(std::move(prefix)) {}
  bool apply(Stretch &stretch, std::string &) const override {
    if (!stretch.text.empty() && !stretch.continues)
      stretch.text.insert(0, prefix);
    return true;
  }

private:
  std::string prefix;
};

class ReplaceNormalizer : public Normalizer {
public:
  ReplaceNormalizer(Regex pattern, std::string content)
      : pattern(std::move(pattern)), content(std::move(content)) {}
  bool apply(Stretch &stretch, std::string &error) const override {
    return pattern.replaceMatches(stretch.text, content, error);
  }

private:
  Regex pattern;
  std::string content;
};

/// A pattern without special characters.
class ReplaceText : public Normalizer {
public:
  ReplaceText(std::string from, std::string to)
      : from(std::move(from)), to(std::move(to)) {}
  bool apply(Stretch &stretch, std::string &) const override {
    std::string replaced;
    StringRef text = stretch.text;
    for (size_t at = 0; at < text.size();) {
      size_t found = std::min(text.find(from, at), text.size());
      replaced += text.slice(at, found);
      if (found < text.size())
        replaced += to;
      at = found + from.size();
    }
    stretch.text = std::move(replaced);
    return true;
  }

private:
  std::string from, to;
};

class StripNormalizer : public Normalizer {
public:
  StripNormalizer(bool left, bool right) : left(left), right(right) {}
  bool apply(Stretch &stretch, std::string &) const override {
    StringRef text = stretch.text;
    if (left && !stretch.continues)
      while (!text.empty()) {
        StringRef next = text;
        if (!isSpace(takeCharacter(next)))
          break;
        text = next;
      }
    if (right)
      while (!text.empty() && isSpace(lastCharacter(text)))
        do
          text = text.drop_back();
        while (!text.empty() && (uint8_t(text.end()[0]) & 0xC0) == 0x80);
    stretch.text = text.str();
    return true;
  }

private:
  bool left, right;
};

} // namespace

//===----------------------------------------------------------------------===//
// Mappings
//===----------------------------------------------------------------------===//

static std::string stripAccents(StringRef text) {
  std::string stripped = text.str();
  mapCharacters(stripped, [](uint32_t character, std::string &out) {
    if (!isMark(character))
      appendCharacter(out, character);
  });
  return stripped;
}

/// The normalization of neural machine translation: no control characters, and
/// spaces for other invisible ones.
static std::string nmt(StringRef text) {
  std::string normal = text.str();
  mapCharacters(normal, [](uint32_t character, std::string &out) {
    if ((character >= 1 && character <= 8) || character == 0xB ||
        (character >= 0xE && character <= 0x1F) || character == 0x7F ||
        character == 0x8F || character == 0x9F)
      return;
    bool isSpace = character == 0x9 || character == 0xA || character == 0xC ||
                   character == 0xD || character == 0x1680 ||
                   (character >= 0x200B && character <= 0x200F) ||
                   character == 0x2028 || character == 0x2029 ||
                   character == 0x2581 || character == 0xFEFF ||
                   character == 0xFFFD;
    appendCharacter(out, isSpace ? ' ' : character);
  });
  return normal;
}

template <NormalForm form>
static std::string inForm(StringRef text) {
  return normalForm(text, form);
}

/// What has no parameters.
template <std::string (*map)(StringRef)>
static std::unique_ptr<Normalizer> readMapping(Fields &) {
  return std::make_unique<Mapping>(map);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static std::unique_ptr<Normalizer> readNormalizerSequence(Fields &fields) {
  std::vector<std::unique_ptr<Normalizer>> steps;
  fields.forEachObject("normalizers", [&](Fields &step) {
    steps.push_back(readNormalizer(step));
  });
  return std::make_unique<NormalizerSequence>(std::move(steps));
}

static std::unique_ptr<Normalizer> readPrepend(Fields &fields) {
  return std::make_unique<Prepend>(fields.text("prepend"));
}

static std::unique_ptr<Normalizer> readReplaceNormalizer(Fields &fields) {
  std::string content = fields.text("content");
  Fields pattern = fields.fields("pattern");
  std::optional<std::string> text = pattern.optionalText("String");
  std::optional<Regex> compiled = readPattern(pattern);
  if (!compiled)
    return nullptr;
  if (text)
    return std::make_unique<ReplaceText>(*text, std::move(content));
  return std::make_unique<ReplaceNormalizer>(std::move(*compiled),
                                             std::move(content));
}

static std::unique_ptr<Normalizer> readStripNormalizer(Fields &fields) {
  bool left = fields.flag("strip_left"), right = fields.flag("strip_right");
  return std::make_unique<StripNormalizer>(left, right);
}

static constexpr NormalizerRow normalizerTypes[] = {
    {"Sequence", readNormalizerSequence},
    {"NFC", readMapping<inForm<NormalForm::NFC>>},
    {"NFD", readMapping<inForm<NormalForm::NFD>>},
    {"NFKC", readMapping<inForm<NormalForm::NFKC>>},
    {"NFKD", readMapping<inForm<NormalForm::NFKD>>},
    {"Lowercase", readMapping<lowerCase>},
    {"StripAccents", readMapping<stripAccents>},
    {"Nmt", readMapping<nmt>},
    {"Prepend", readPrepend},
    {"Replace", readReplaceNormalizer},
    {"Strip", readStripNormalizer},
};

std::unique_ptr<Normalizer> anec::hf::readNormalizer(Fields &fields) {
  std::string type = fields.text("type");
  std::unique_ptr<Normalizer> result;
  const NormalizerRow *found = nullptr;
  for (const NormalizerRow &row : normalizerTypes)
    if (row.type == type)
      found = &row;
  const NormalizerRow *others[] = {&bertNormalizerRow, &byteLevelNormalizerRow,
                                   &precompiledRow};
  for (const NormalizerRow *row : others)
    if (row->type == type)
      found = row;
  if (found)
    result = found->read(fields);
  else
    fields.error().unknownType("normalizer", type,
                               typesOf(normalizerTypes, others));
  if (!fields.error())
    fields.finish();
  return fields.error() ? nullptr : std::move(result);
}
