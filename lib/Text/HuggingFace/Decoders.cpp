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
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

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

/// What WordPiece's and CTC's cleanup does.
static std::string cleanUp(std::string text) {
  static constexpr struct {
    StringLiteral from, to;
  } tidied[] = {{" .", "."},     {" ?", "?"},           {" !", "!"},
                {" ,", ","},     {" ' ", "'"},          {" n't", "n't"},
                {" 'm", "'m"},   {" do not", " don't"}, {" 's", "'s"},
                {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto &pair : tidied)
    text = replaceAll(text, pair.from, pair.to);
  return text;
}

/// `bytes` with U+FFFD for each part that is no UTF-8: for the bytes of a
/// character that is not whole one.
static std::string replaceInvalidParts(StringRef bytes) {
  std::vector<UTF32> characters(bytes.size());
  auto *source = reinterpret_cast<const UTF8 *>(bytes.data());
  UTF32 *begin = characters.data(), *end = begin;
  (void)ConvertUTF8toUTF32(&source, source + bytes.size(), &end,
                           begin + characters.size(), lenientConversion);
  std::string text;
  for (UTF32 *character = begin; character != end; ++character)
    appendCharacter(text, *character);
  return text;
}

static void fuse(Texts &texts) { texts = {llvm::join(texts, "")}; }

namespace {

/// A step that changes each text on its own.
class EachText : public Decoder {
public:
  void apply(Texts &texts, bool isStart) const final {
    for (std::string &text : texts) {
      change(text, isStart);
      isStart = false;
    }
  }
  virtual void change(std::string &text, bool isFirst) const = 0;
};

class Fuse : public Decoder {
public:
  void apply(Texts &texts, bool) const override { fuse(texts); }
};

/// Characters for bytes; a text with other characters stays.
class ByteLevelDecoder : public Decoder {
public:
  void apply(Texts &texts, bool) const override {
    for (std::string &text : texts)
      toBytes(text);
    fuse(texts);
    if (isReplacing)
      texts.front() = replaceInvalidParts(texts.front());
  }
  void isSeen() override { isReplacing = true; }

private:
  bool isReplacing = false;
  static void toBytes(std::string &text) {
    std::string bytes;
    for (StringRef rest = text; !rest.empty();) {
      std::optional<uint8_t> byte = byteOfCharacter(takeCharacter(rest));
      if (!byte)
        return;
      bytes += char(*byte);
    }
    text = std::move(bytes);
  }
};

/// `<0x0A>`. Bytes in a row that are UTF-8 become one text.
class ByteFallback : public Decoder {
public:
  void apply(Texts &texts, bool) const override {
    Texts changed;
    std::string bytes;
    auto endRow = [&] {
      const char *end = bytes.data() + bytes.size();
      auto *first = reinterpret_cast<const UTF8 *>(bytes.data());
      if (isLegalUTF8String(&first, reinterpret_cast<const UTF8 *>(end)))
        changed.push_back(bytes);
      else
        for (char byte : bytes)
          changed.push_back(isReplacing ? "\xEF\xBF\xBD"
                                        : std::string(1, byte));
      bytes.clear();
    };
    for (std::string &text : texts) {
      if (std::optional<uint8_t> byte = byteOf(text)) {
        bytes += char(*byte);
        continue;
      }
      if (!bytes.empty())
        endRow();
      changed.push_back(std::move(text));
    }
    if (!bytes.empty())
      endRow();
    texts = std::move(changed);
  }
  void isSeen() override { isReplacing = true; }

private:
  bool isReplacing = false;
  static std::optional<uint8_t> byteOf(StringRef text) {
    uint8_t byte = 0;
    if (text.size() != 6 || !text.starts_with("<0x") || !text.ends_with(">") ||
        text.slice(3, 5).getAsInteger(16, byte))
      return std::nullopt;
    return byte;
  }
};

class MetaspaceDecoder : public EachText {
public:
  MetaspaceDecoder(std::string mark, bool hasPrefix, bool isFused)
      : mark(std::move(mark)), hasPrefix(hasPrefix), isFused(isFused) {}
  void change(std::string &text, bool isFirst) const override {
    // Of the first text, the library removes all marks.
    bool removes = hasPrefix && (isFirst || isFused);
    text = replaceAll(text, mark, removes ? "" : " ");
  }

private:
  std::string mark;
  bool hasPrefix, isFused;
};

class ReplaceDecoder : public EachText {
public:
  ReplaceDecoder(std::string from, std::string to)
      : from(std::move(from)), to(std::move(to)) {}
  void change(std::string &text, bool) const override {
    text = replaceAll(text, from, to);
  }

private:
  std::string from, to;
};

class ReplaceMatches : public EachText {
public:
  ReplaceMatches(Regex pattern, std::string to)
      : pattern(std::move(pattern)), to(std::move(to)) {}
  void change(std::string &text, bool) const override {
    // A text that takes too long stays.
    std::string error;
    (void)pattern.replaceMatches(text, to, error);
  }

private:
  Regex pattern;
  std::string to;
};

/// Removes a character at the ends of each text, or of the fused one.
class StripDecoder : public EachText {
public:
  StripDecoder(std::string character, unsigned start, unsigned stop,
               bool isFused)
      : character(std::move(character)), start(start), stop(stop),
        isFused(isFused) {}
  void change(std::string &text, bool isFirst) const override {
    StringRef rest = text;
    if (!isFused || isFirst)
      for (unsigned count = 0; count < start; ++count)
        if (!rest.consume_front(character))
          break;
    for (unsigned count = 0; count < stop; ++count)
      if (!rest.consume_back(character))
        break;
    text = rest.str();
  }

private:
  std::string character;
  unsigned start, stop;
  bool isFused;
};

/// Spaces between words, which pieces with the prefix continue.
class WordPieceDecoder : public EachText {
public:
  WordPieceDecoder(std::string prefix, bool cleans, bool isFused)
      : prefix(std::move(prefix)), cleans(cleans), isFused(isFused) {}
  void change(std::string &text, bool isFirst) const override {
    StringRef rest = text;
    std::string result;
    if (!isFirst && !isFused && (prefix.empty() || !rest.consume_front(prefix)))
      result = " ";
    result += rest;
    text = cleans ? cleanUp(std::move(result)) : std::move(result);
  }

private:
  std::string prefix;
  bool cleans, isFused;
};

/// Spaces for the ends of words, but not at the end of the text.
class BpeSuffix : public Decoder {
public:
  explicit BpeSuffix(std::string suffix) : suffix(std::move(suffix)) {}
  void apply(Texts &texts, bool) const override {
    for (std::string &text : texts)
      text = replaceAll(text, suffix, &text == &texts.back() ? "" : " ");
  }

private:
  std::string suffix;
};

/// What a recogniser of speech writes: of equal texts in a row one counts, and
/// the padding between them does not.
class Ctc : public Decoder {
public:
  Ctc(std::string padding, std::string delimiter, bool cleans)
      : padding(std::move(padding)), delimiter(std::move(delimiter)),
        cleans(cleans) {}
  void apply(Texts &texts, bool) const override {
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    for (std::string &text : texts) {
      text = replaceAll(text, padding, "");
      if (cleans)
        text = replaceAll(cleanUp(std::move(text)), delimiter, " ");
    }
    llvm::erase_if(texts, [](const std::string &text) { return text.empty(); });
  }

private:
  std::string padding, delimiter;
  bool cleans;
};

/// The steps so far.
struct Chain {
  Decoding decoding;
  bool isFused = false; ///< what follows sees the text as one
  /// What follows sees the bytes of several ids as one text.
  bool hasJoinedBytes = false;

  template <typename Step, typename... Args>
  void add(Args &&...args) {
    decoding.steps.push_back(
        std::make_unique<Step>(std::forward<Args>(args)...));
  }
  /// The next step depends on more than one id, if it sees the fused text.
  void seesFused() { decoding.isWhole |= isFused; }
  /// The next step changes a text otherwise than the parts that it came from.
  void seesText() { decoding.isWhole |= hasJoinedBytes && !isFused; }
};

struct DecoderRow {
  StringLiteral type;
  void (*read)(Fields &fields, Chain &chain);
};

} // namespace

static void readAnyDecoder(Fields &fields, Chain &chain);

static void readDecoderSequence(Fields &fields, Chain &chain) {
  fields.forEachObject("decoders",
                       [&](Fields &step) { readAnyDecoder(step, chain); });
}

static void readByteLevelDecoder(Fields &fields, Chain &chain) {
  fields.ignore("add_prefix_space");
  fields.ignore("trim_offsets");
  fields.ignore("use_regex");
  chain.seesFused();
  chain.seesText();
  chain.add<ByteLevelDecoder>();
  chain.isFused = true;
}

static void readByteFallback(Fields &, Chain &chain) {
  chain.seesFused();
  chain.seesText();
  chain.add<ByteFallback>();
  chain.decoding.hasByteIds = true;
  chain.hasJoinedBytes = true;
}

static void readFuse(Fields &, Chain &chain) {
  chain.add<Fuse>();
  chain.isFused = true;
}

/// The text of `name`, which must not be empty.
static std::string readNonempty(Fields &fields, StringRef name,
                                std::optional<StringRef> byDefault) {
  std::string text = fields.text(name, byDefault);
  if (text.empty() && !fields.error())
    fields.error().malformed("`" + fields.pathOf(name) + "` is empty");
  return text;
}

static void readMetaspaceDecoder(Fields &fields, Chain &chain) {
  std::string mark = readNonempty(fields, "replacement", "\xE2\x96\x81");
  bool adds = fields.flag("add_prefix_space", true);
  std::string scheme = fields.text("prepend_scheme", "always");
  fields.ignore("split");
  fields.ignore("str_rep");
  chain.seesText();
  chain.add<MetaspaceDecoder>(mark, adds && scheme != "never", chain.isFused);
}

static void readReplaceDecoder(Fields &fields, Chain &chain) {
  std::string content = fields.text("content");
  Fields pattern = fields.fields("pattern");
  std::optional<std::string> text = pattern.optionalText("String");
  std::optional<Regex> compiled = readPattern(pattern);
  if (!compiled)
    return;
  chain.seesText();
  // A single character is of one id.
  if (!text || text->empty() || characterSize(*text) != text->size())
    chain.seesFused();
  if (text)
    chain.add<ReplaceDecoder>(*text, content);
  else
    chain.add<ReplaceMatches>(std::move(*compiled), content);
}

static void readStripDecoder(Fields &fields, Chain &chain) {
  std::string character = readNonempty(fields, "content", std::nullopt);
  unsigned start = unsigned(fields.number("start", 0, 1000));
  unsigned stop = unsigned(fields.number("stop", 0, 1000));
  chain.seesText();
  if (start > 1 || stop > 0)
    chain.seesFused();
  chain.add<StripDecoder>(character, start, stop, chain.isFused);
}

static void readWordPieceDecoder(Fields &fields, Chain &chain) {
  std::string prefix = fields.text("prefix", "##");
  bool cleans = fields.flag("cleanup", true);
  chain.seesText();
  if (cleans)
    chain.seesFused();
  chain.add<WordPieceDecoder>(prefix, cleans, chain.isFused);
}

static void readBpeDecoder(Fields &fields, Chain &chain) {
  chain.add<BpeSuffix>(readNonempty(fields, "suffix", "</w>"));
  chain.decoding.isWhole = true;
}

static void readCtc(Fields &fields, Chain &chain) {
  std::string padding = readNonempty(fields, "pad_token", "<pad>");
  std::string delimiter = readNonempty(fields, "word_delimiter_token", "|");
  chain.add<Ctc>(padding, delimiter, fields.flag("cleanup", true));
  chain.decoding.isWhole = true;
}

static constexpr DecoderRow decoderTypes[] = {
    {"Sequence", readDecoderSequence},
    {"ByteLevel", readByteLevelDecoder},
    {"Metaspace", readMetaspaceDecoder},
    {"ByteFallback", readByteFallback},
    {"Fuse", readFuse},
    {"Strip", readStripDecoder},
    {"Replace", readReplaceDecoder},
    {"WordPiece", readWordPieceDecoder},
    {"BPEDecoder", readBpeDecoder},
    {"CTC", readCtc},
};

static void readAnyDecoder(Fields &fields, Chain &chain) {
  std::string type = fields.text("type");
  const DecoderRow *found = llvm::find_if(
      decoderTypes, [&](const DecoderRow &row) { return row.type == type; });
  if (found == std::end(decoderTypes)) {
    fields.error().unknownType("decoder", type, typesOf(decoderTypes));
    return;
  }
  found->read(fields, chain);
  if (!fields.error())
    fields.finish();
}

Decoding anec::hf::readDecoder(Fields &fields) {
  Chain chain;
  readAnyDecoder(fields, chain);
  auto &steps = chain.decoding.steps;
  if (chain.decoding.isWhole && !steps.empty())
    for (auto &step : drop_end(steps))
      step->isSeen();
  return std::move(chain.decoding);
}

std::string Decoding::decode(Texts texts, bool isStart) const {
  for (const auto &step : steps)
    step->apply(texts, isStart);
  return llvm::join(texts, "");
}
