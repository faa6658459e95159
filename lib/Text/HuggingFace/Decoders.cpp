//===- Decoders.cpp - from the texts of ids to text -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Decoders.h"
#include "Normalizers.h"
#include "PreTokenizers.h"
#include "Regex.h"
#include "Unicode.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::hf;
using namespace llvm;

Decoder::~Decoder() = default;

static std::string replaceAll(StringRef text, StringRef from, StringRef to) {
  std::string replaced;
  while (!text.empty()) {
    size_t found = std::min(text.find(from), text.size());
    replaced += text.take_front(found);
    if (found < text.size())
      replaced += to;
    text = text.drop_front(std::min(text.size(), found + from.size()));
  }
  return replaced;
}

namespace {

/// Characters for bytes; a token with other characters is text.
class ByteLevel : public Decoder {
public:
  void apply(DecodedToken &token) const override {
    std::string bytes;
    for (StringRef rest = token.text; !rest.empty();) {
      std::optional<uint8_t> byte = byteOfCharacter(takeCharacter(rest));
      if (!byte)
        return;
      bytes += char(*byte);
    }
    token.text = std::move(bytes);
  }
};

/// `<0x0A>`
class ByteFallback : public Decoder {
public:
  void apply(DecodedToken &token) const override {
    StringRef text = token.text;
    uint8_t byte = 0;
    if (text.size() == 6 && text.starts_with("<0x") && text.ends_with(">") &&
        !text.slice(3, 5).getAsInteger(16, byte))
      token.text.assign(1, char(byte));
  }
};

class Metaspace : public Decoder {
public:
  Metaspace(std::string mark, bool hasPrefix, bool isFused)
      : mark(std::move(mark)), hasPrefix(hasPrefix), isFused(isFused) {}
  void apply(DecodedToken &token) const override {
    // Of the first token, the library removes all marks.
    bool removes = hasPrefix && (token.isFirst || isFused);
    token.text = replaceAll(token.text, mark, removes ? "" : " ");
  }

private:
  std::string mark;
  bool hasPrefix, isFused;
};

class Replace : public Decoder {
public:
  Replace(std::string from, std::string to)
      : from(std::move(from)), to(std::move(to)) {}
  void apply(DecodedToken &token) const override {
    token.text = replaceAll(token.text, from, to);
  }

private:
  std::string from, to;
};

class ReplaceMatches : public Decoder {
public:
  ReplaceMatches(Regex pattern, std::string to)
      : pattern(std::move(pattern)), to(std::move(to)) {}
  void apply(DecodedToken &token) const override {
    // What takes too long for the text of a token stays.
    std::string error;
    (void)pattern.replaceMatches(token.text, to, error);
  }

private:
  Regex pattern;
  std::string to;
};

/// Removes a character at the ends of each token, or at the begin of the text.
class Strip : public Decoder {
public:
  Strip(std::string character, unsigned start, unsigned stop, bool isFused)
      : character(std::move(character)), start(start), stop(stop),
        isFused(isFused) {}
  void apply(DecodedToken &token) const override {
    StringRef text = token.text;
    if (!isFused || token.isFirst)
      for (unsigned count = 0; count < start; ++count)
        if (!text.consume_front(character))
          break;
    for (unsigned count = 0; count < stop; ++count)
      if (!text.consume_back(character))
        break;
    token.text = text.str();
  }

private:
  std::string character;
  unsigned start, stop;
  bool isFused;
};

/// Spaces between words, which pieces with the prefix continue.
class WordPiece : public Decoder {
public:
  WordPiece(std::string prefix, bool cleans)
      : prefix(std::move(prefix)), cleans(cleans) {}
  void apply(DecodedToken &token) const override {
    StringRef text = token.text;
    std::string result;
    if (!token.isFirst && (prefix.empty() || !text.consume_front(prefix)))
      result = " ";
    result += text;
    static constexpr struct {
      StringLiteral from, to;
    } tidied[] = {{" .", "."},     {" ?", "?"},           {" !", "!"},
                  {" ,", ","},     {" ' ", "'"},          {" n't", "n't"},
                  {" 'm", "'m"},   {" do not", " don't"}, {" 's", "'s"},
                  {" 've", "'ve"}, {" 're", "'re"}};
    if (cleans)
      for (const auto &pair : tidied)
        result = replaceAll(result, pair.from, pair.to);
    token.text = std::move(result);
  }

private:
  std::string prefix;
  bool cleans;
};

/// The steps so far.
struct Chain {
  std::vector<std::unique_ptr<Decoder>> steps;
  bool isFused = false; ///< what follows sees the text as one token
};

struct Row {
  StringLiteral type;
  void (*read)(Fields &fields, Chain &chain);
};

} // namespace

static void readType(Fields &fields, Chain &chain);

/// Refuses a step that must see the whole text, since a text is decoded as its
/// ids come. Returns false when there is nothing to refuse.
static bool refuseWholeText(Fields &fields, const Chain &chain,
                            const Twine &what) {
  if (chain.isFused)
    fields.error().notSupported(what + " for a whole text");
  return chain.isFused;
}

static void readSequence(Fields &fields, Chain &chain) {
  fields.forEachObject("decoders",
                       [&](Fields &step) { readType(step, chain); });
}

static void readByteLevel(Fields &fields, Chain &chain) {
  fields.ignore("add_prefix_space");
  fields.ignore("trim_offsets");
  fields.ignore("use_regex");
  if (refuseWholeText(fields, chain, "decoder type `ByteLevel`"))
    return;
  chain.steps.push_back(std::make_unique<ByteLevel>());
  chain.isFused = true;
}

static void readByteFallback(Fields &fields, Chain &chain) {
  if (refuseWholeText(fields, chain, "decoder type `ByteFallback`"))
    return;
  chain.steps.push_back(std::make_unique<ByteFallback>());
}

static void readFuse(Fields &, Chain &chain) { chain.isFused = true; }

static void readMetaspace(Fields &fields, Chain &chain) {
  std::string mark = fields.text("replacement", "\xE2\x96\x81");
  bool adds = fields.flag("add_prefix_space", true);
  std::string scheme = fields.text("prepend_scheme", "always");
  fields.ignore("split");
  fields.ignore("str_rep");
  if (mark.empty())
    fields.error().malformed("`" + fields.pathOf("replacement") + "` is empty");
  else
    chain.steps.push_back(std::make_unique<Metaspace>(
        mark, adds && scheme != "never", chain.isFused));
}

static void readReplace(Fields &fields, Chain &chain) {
  std::string content = fields.text("content");
  Fields pattern = fields.fields("pattern");
  std::optional<std::string> text = pattern.optionalText("String");
  std::optional<Regex> compiled = readPattern(pattern);
  if (!compiled)
    return;
  // A single character is never in two tokens.
  bool isCharacter =
      text && !text->empty() && characterSize(*text) == text->size();
  if (!isCharacter &&
      refuseWholeText(fields, chain, "`" + fields.pathOf("pattern") + "`"))
    return;
  if (text)
    chain.steps.push_back(std::make_unique<Replace>(*text, content));
  else
    chain.steps.push_back(
        std::make_unique<ReplaceMatches>(std::move(*compiled), content));
}

static void readStrip(Fields &fields, Chain &chain) {
  std::string character = fields.text("content");
  unsigned start = unsigned(fields.number("start", 0, 1000));
  unsigned stop = unsigned(fields.number("stop", 0, 1000));
  if (character.empty())
    fields.error().malformed("`" + fields.pathOf("content") + "` is empty");
  // A text is decoded as its ids come.
  if (chain.isFused && (start > 1 || stop > 0))
    fields.error().notSupported("`" + fields.path() +
                                "` of type `Strip` for "
                                "more than one character at the begin of a "
                                "text");
  if (!fields.error())
    chain.steps.push_back(
        std::make_unique<Strip>(character, start, stop, chain.isFused));
}

static void readWordPiece(Fields &fields, Chain &chain) {
  std::string prefix = fields.text("prefix", "##");
  bool cleans = fields.flag("cleanup", true);
  if (cleans &&
      refuseWholeText(fields, chain, "`" + fields.pathOf("cleanup") + "`"))
    return;
  // The first token stays as it is.
  if (chain.isFused)
    return;
  chain.steps.push_back(std::make_unique<WordPiece>(prefix, cleans));
}

static constexpr Row rows[] = {
    {"Sequence", readSequence},   {"ByteLevel", readByteLevel},
    {"Metaspace", readMetaspace}, {"ByteFallback", readByteFallback},
    {"Fuse", readFuse},           {"Strip", readStrip},
    {"Replace", readReplace},     {"WordPiece", readWordPiece},
};

static void readType(Fields &fields, Chain &chain) {
  std::string type = fields.text("type");
  const Row *found =
      llvm::find_if(rows, [&](const Row &row) { return row.type == type; });
  if (found == std::end(rows)) {
    fields.error().notSupported("decoder type `" + type + "`");
    return;
  }
  found->read(fields, chain);
  if (!fields.error())
    fields.finish();
}

std::vector<std::unique_ptr<Decoder>> anec::hf::readDecoder(Fields &fields) {
  Chain chain;
  readType(fields, chain);
  return std::move(chain.steps);
}
