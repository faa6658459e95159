//===- PreTokenizers.cpp - what splits a text into words ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PreTokenizers.h"
#include "Regex.h"
#include "Unicode.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::hf;
using namespace llvm;

PreTokenizer::~PreTokenizer() = default;

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

namespace {
/// A part of a word, which may be empty.
struct Part {
  size_t begin, end;
  bool isMatch;
};
} // namespace

/// Merges a match with the part that is before it in `parts`, unless that is a
/// match too.
static std::vector<Part> mergeMatches(ArrayRef<Part> parts, bool forward) {
  std::vector<Part> merged;
  bool afterMatch = false;
  for (size_t index = 0; index < parts.size(); ++index) {
    const Part &part = parts[forward ? index : parts.size() - 1 - index];
    if (part.isMatch && !afterMatch && !merged.empty()) {
      merged.back().begin = std::min(merged.back().begin, part.begin);
      merged.back().end = std::max(merged.back().end, part.end);
    } else {
      merged.push_back(part);
    }
    afterMatch = part.isMatch;
  }
  if (!forward)
    std::reverse(merged.begin(), merged.end());
  return merged;
}

static std::vector<Part> mergeContiguous(ArrayRef<Part> parts) {
  std::vector<Part> merged;
  for (const Part &part : parts)
    if (!merged.empty() && merged.back().isMatch == part.isMatch)
      merged.back().end = part.end;
    else
      merged.push_back(part);
  return merged;
}

bool anec::hf::splitWords(Words &words, Matcher match, Split split,
                          bool inverts) {
  std::vector<Words::Range> ranges;
  std::vector<Part> parts;
  for (Words::Range range : words.ranges) {
    parts.clear();
    size_t done = 0, size = range.end - range.begin;
    auto take = [&](size_t begin, size_t end) {
      if (done < begin)
        parts.push_back({done, begin, inverts});
      parts.push_back({begin, end, !inverts});
      done = end;
    };
    if (!match(words.textOf(range), take))
      return false;
    if (done < size)
      parts.push_back({done, size, inverts});
    if (split == Split::MergedWithPrevious || split == Split::MergedWithNext)
      parts = mergeMatches(parts, split == Split::MergedWithPrevious);
    if (split == Split::Contiguous)
      parts = mergeContiguous(parts);
    for (const Part &part : parts)
      if (part.begin < part.end && !(split == Split::Removed && part.isMatch))
        ranges.push_back({range.begin + part.begin, range.begin + part.end});
  }
  words.ranges = std::move(ranges);
  return true;
}

void anec::hf::splitAtCharacters(Words &words,
                                 function_ref<bool(uint32_t)> matches,
                                 Split split) {
  (void)splitWords(
      words,
      [&](StringRef text, function_ref<void(size_t, size_t)> take) {
        for (StringRef rest = text; !rest.empty();) {
          size_t begin = text.size() - rest.size();
          if (matches(takeCharacter(rest)))
            take(begin, text.size() - rest.size());
        }
        return true;
      },
      split);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {

class PreTokenizerSequence : public PreTokenizer {
public:
  explicit PreTokenizerSequence(
      std::vector<std::unique_ptr<PreTokenizer>> steps)
      : steps(std::move(steps)) {}
  bool apply(Words &words, std::string &error) const override {
    return llvm::all_of(
        steps, [&](const auto &step) { return step->apply(words, error); });
  }

private:
  std::vector<std::unique_ptr<PreTokenizer>> steps;
};

class SplitAtPattern : public PreTokenizer {
public:
  SplitAtPattern(Regex pattern, Split split, bool inverts)
      : pattern(std::move(pattern)), split(split), inverts(inverts) {}
  bool apply(Words &words, std::string &error) const override {
    return splitWords(
        words,
        [&](StringRef text, function_ref<void(size_t, size_t)> take) {
          return pattern.forEachMatch(text, take, error);
        },
        split, inverts);
  }

private:
  Regex pattern;
  Split split;
  bool inverts;
};

/// Splits at sets of characters, one after the other.
class SplitAtCharacters : public PreTokenizer {
public:
  struct Rule {
    bool (*matches)(uint32_t);
    Split split;
  };
  explicit SplitAtCharacters(std::vector<Rule> rules)
      : rules(std::move(rules)) {}
  bool apply(Words &words, std::string &) const override {
    for (const Rule &rule : rules)
      splitAtCharacters(words, rule.matches, rule.split);
    return true;
  }

private:
  std::vector<Rule> rules;
};

/// Words of word characters, and words of characters that are neither these nor
/// spaces.
class Whitespace : public PreTokenizer {
public:
  bool apply(Words &words, std::string &) const override {
    auto kindOf = [](uint32_t character) {
      return isWordCharacter(character) ? 1 : isSpace(character) ? 0 : 2;
    };
    return splitWords(
        words,
        [&](StringRef text, function_ref<void(size_t, size_t)> take) {
          size_t begin = 0;
          int last = 0;
          for (StringRef rest = text; !rest.empty();) {
            size_t at = text.size() - rest.size();
            int kind = kindOf(takeCharacter(rest));
            if (kind != last) {
              if (last != 0)
                take(begin, at);
              begin = at;
              last = kind;
            }
          }
          if (last != 0)
            take(begin, text.size());
          return true;
        },
        Split::Removed, /*inverts=*/true);
  }
};

/// Words of a number of characters.
class FixedLength : public PreTokenizer {
public:
  explicit FixedLength(int64_t length) : length(length) {}
  bool apply(Words &words, std::string &) const override {
    return splitWords(
        words,
        [&](StringRef text, function_ref<void(size_t, size_t)> take) {
          StringRef rest = text;
          while (!rest.empty()) {
            size_t begin = text.size() - rest.size();
            for (int64_t i = 0; i < length && !rest.empty(); ++i)
              (void)takeCharacter(rest);
            take(begin, text.size() - rest.size());
          }
          return true;
        },
        Split::Isolated);
  }

private:
  int64_t length;
};

class Delimiter : public PreTokenizer {
public:
  explicit Delimiter(uint32_t delimiter) : delimiter(delimiter) {}
  bool apply(Words &words, std::string &) const override {
    splitAtCharacters(
        words, [&](uint32_t character) { return character == delimiter; },
        Split::Removed);
    return true;
  }

private:
  uint32_t delimiter;
};

} // namespace

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static Split readSplit(Fields &fields,
                       std::optional<StringRef> byDefault = std::nullopt) {
  static constexpr struct {
    StringLiteral text;
    Split split;
  } kinds[] = {{"Removed", Split::Removed},
               {"Isolated", Split::Isolated},
               {"MergedWithPrevious", Split::MergedWithPrevious},
               {"MergedWithNext", Split::MergedWithNext},
               {"Contiguous", Split::Contiguous}};
  std::string behavior = fields.text("behavior", byDefault);
  for (const auto &kind : kinds)
    if (kind.text == behavior)
      return kind.split;
  fields.error().unknownValue(fields.pathOf("behavior"), behavior);
  return Split::Isolated;
}

static std::unique_ptr<PreTokenizer> readPreTokenizerSequence(Fields &fields) {
  std::vector<std::unique_ptr<PreTokenizer>> steps;
  fields.forEachObject("pretokenizers", [&](Fields &step) {
    steps.push_back(readPreTokenizer(step));
  });
  return std::make_unique<PreTokenizerSequence>(std::move(steps));
}

static std::unique_ptr<PreTokenizer> readSplitType(Fields &fields) {
  Split split = readSplit(fields);
  bool inverts = fields.flag("invert", false);
  std::optional<Regex> pattern = readPattern(fields.fields("pattern"));
  if (!pattern)
    return nullptr;
  return std::make_unique<SplitAtPattern>(std::move(*pattern), split, inverts);
}

static std::unique_ptr<PreTokenizer>
splitAt(std::vector<SplitAtCharacters::Rule> rules) {
  return std::make_unique<SplitAtCharacters>(std::move(rules));
}

static std::unique_ptr<PreTokenizer> readWhitespace(Fields &) {
  return std::make_unique<Whitespace>();
}
static std::unique_ptr<PreTokenizer> readWhitespaceSplit(Fields &) {
  return splitAt({{isSpace, Split::Removed}});
}
static std::unique_ptr<PreTokenizer> readDigits(Fields &fields) {
  bool each = fields.flag("individual_digits", false);
  return splitAt({{isNumeric, each ? Split::Isolated : Split::Contiguous}});
}
static std::unique_ptr<PreTokenizer> readPunctuation(Fields &fields) {
  return splitAt({{isPunctuation, readSplit(fields, "Isolated")}});
}
static std::unique_ptr<PreTokenizer> readBertPreTokenizer(Fields &) {
  return splitAt({{isSpace, Split::Removed}, {isPunctuation, Split::Isolated}});
}
static std::unique_ptr<PreTokenizer> readDelimiter(Fields &fields) {
  std::string text = fields.text("delimiter");
  StringRef rest = text;
  uint32_t character = rest.empty() ? 0 : takeCharacter(rest);
  if (!rest.empty() || text.empty())
    fields.error().malformed("`" + fields.pathOf("delimiter") +
                             "` is not one character");
  return std::make_unique<Delimiter>(character);
}

static std::unique_ptr<PreTokenizer> readFixedLength(Fields &fields) {
  return std::make_unique<FixedLength>(fields.number("length", 1, 1 << 20, 5));
}

static constexpr PreTokenizerRow preTokenizerTypes[] = {
    {"Sequence", readPreTokenizerSequence},
    {"Split", readSplitType},
    {"Whitespace", readWhitespace},
    {"WhitespaceSplit", readWhitespaceSplit},
    {"Digits", readDigits},
    {"Punctuation", readPunctuation},
    {"BertPreTokenizer", readBertPreTokenizer},
    {"CharDelimiterSplit", readDelimiter},
    {"FixedLength", readFixedLength},
};

std::unique_ptr<PreTokenizer> anec::hf::readPreTokenizer(Fields &fields) {
  std::string type = fields.text("type");
  const PreTokenizerRow *found = nullptr;
  for (const PreTokenizerRow &row : preTokenizerTypes)
    if (row.type == type)
      found = &row;
  const PreTokenizerRow *others[] = {&byteLevelRow, &metaspaceRow, &scriptsRow};
  for (const PreTokenizerRow *row : others)
    if (row->type == type)
      found = row;
  std::unique_ptr<PreTokenizer> result;
  if (found)
    result = found->read(fields);
  else
    fields.error().unknownType("pre_tokenizer", type,
                               typesOf(preTokenizerTypes, others));
  if (!fields.error())
    fields.finish();
  return fields.error() ? nullptr : std::move(result);
}
