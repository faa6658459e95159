//===- Metaspace.cpp - words that begin with a mark for a space -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PreTokenizers.h"
#include "Unicode.h"

using namespace anec::hf;
using namespace llvm;

namespace {
enum class Prefix : uint8_t { Always, First, Never };

class MetaspacePreTokenizer : public PreTokenizer {
public:
  MetaspacePreTokenizer(std::string mark, Prefix prefix, bool splits)
      : mark(std::move(mark)), prefix(prefix), splits(splits) {}

  bool apply(Words &words, std::string &) const override {
    std::string text;
    const Stretch &stretch = words.stretch;
    for (Words::Range &range : words.ranges) {
      StringRef word = words.textOf(range);
      bool isFirst = range.begin == 0;
      bool adds = prefix == Prefix::Always
                      ? !(stretch.continues && isFirst)
                      : prefix == Prefix::First && stretch.isFirst && isFirst;
      size_t begin = text.size();
      if (adds && !word.starts_with(" ") && !word.starts_with(mark))
        text += mark;
      for (char byte : word) {
        if (byte == ' ')
          text += mark;
        else
          text += byte;
      }
      range = {begin, text.size()};
    }
    words.stretch.text = std::move(text);
    StringRef markText = mark;
    uint32_t character = takeCharacter(markText);
    if (splits)
      splitAtCharacters(
          words, [&](uint32_t other) { return other == character; },
          Split::MergedWithNext);
    return true;
  }

private:
  std::string mark;
  Prefix prefix;
  bool splits;
};
} // namespace

static std::unique_ptr<PreTokenizer> readMetaspacePreTokenizer(Fields &fields) {
  std::string mark = fields.text("replacement", "\xE2\x96\x81");
  bool adds = fields.flag("add_prefix_space", true);
  std::string scheme = fields.text("prepend_scheme", "always");
  bool splits = fields.flag("split", true);
  fields.ignore("str_rep"); // of old files
  static constexpr struct {
    StringLiteral text;
    Prefix prefix;
  } schemes[] = {{"always", Prefix::Always},
                 {"first", Prefix::First},
                 {"never", Prefix::Never}};
  std::optional<Prefix> prefix;
  for (const auto &row : schemes)
    if (row.text == scheme)
      prefix = row.prefix;
  if (!prefix)
    fields.error().unknownValue(fields.pathOf("prepend_scheme"), scheme);
  if (mark.empty() || characterSize(mark) != mark.size())
    fields.error().malformed("`" + fields.pathOf("replacement") +
                             "` is not one character");
  if (fields.error())
    return nullptr;
  return std::make_unique<MetaspacePreTokenizer>(
      mark, adds ? *prefix : Prefix::Never, splits);
}

constinit const PreTokenizerRow anec::hf::metaspaceRow = {
    "Metaspace", readMetaspacePreTokenizer};
