//===- TextParts.cpp - texts from parts of texts --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TextParts.h"
#include "Characters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec::jinja;
using namespace llvm;

std::string anec::jinja::replaced(Evaluator &eval, StringRef text,
                                  StringRef from, StringRef to, int64_t count) {
  TextBuilder out(eval);
  eval.spendOnFinding(text, from);
  if (from.empty()) { // before every character, and at the end
    bool isFirst = true;
    for (; count != 0 && !eval.failed(); --count) {
      if (!isFirst) {
        size_t size = hf::characterSize(text);
        out += text.take_front(size);
        text = text.drop_front(size);
      }
      isFirst = false;
      out += to;
      if (text.empty())
        break;
    }
    out += text;
    return out.take();
  }
  for (; count != 0 && !eval.failed(); --count) {
    size_t at = findPart(text, from);
    if (at == StringRef::npos || !eval.spend(1 + from.size() / 16))
      break;
    out += text.take_front(at);
    out += to;
    text = text.drop_front(at + from.size());
  }
  out += text;
  return out.take();
}

static std::vector<StringRef> splitAtSpace(Evaluator &eval, StringRef text,
                                           int64_t most, bool fromRight) {
  std::vector<StringRef> parts;
  text = stripped(text, !fromRight, fromRight);
  while (!text.empty() && eval.spend(1)) {
    if (most-- == 0) {
      parts.push_back(text);
      break;
    }
    StringRef rest = text;
    if (fromRight) {
      while (!rest.empty() && !isSpace(hf::lastCharacter(rest))) {
        while (rest.size() > 1 && (uint8_t(rest.back()) & 0xC0) == 0x80)
          rest = rest.drop_back();
        rest = rest.drop_back();
      }
      parts.push_back(text.drop_front(rest.size()));
      text = stripped(rest, false, true);
      continue;
    }
    size_t end = text.size();
    while (!rest.empty()) {
      size_t at = text.size() - rest.size();
      if (isSpace(takeCharacter(rest))) {
        end = at;
        break;
      }
    }
    parts.push_back(text.take_front(end));
    text = stripped(text.drop_front(end), true, false);
  }
  // What is left is white space alone.
  while (!parts.empty() && parts.back().empty())
    parts.pop_back();
  return parts;
}

std::vector<StringRef> anec::jinja::splitParts(Evaluator &eval, StringRef text,
                                               const std::string *separator,
                                               int64_t most, bool fromRight) {
  eval.spendOnFinding(text, separator ? *separator : "");
  std::vector<StringRef> parts;
  if (!separator) {
    parts = splitAtSpace(eval, text, most, fromRight);
  } else {
    while (most-- != 0 && eval.spend(1 + separator->size() / 16)) {
      size_t at =
          fromRight ? text.rfind(*separator) : findPart(text, *separator);
      if (fromRight) // a long separator is compared at each place
        eval.spend(std::min(text.size(), text.size() - at) * separator->size() /
                   256);
      if (at == StringRef::npos)
        break;
      StringRef left = text.take_front(at),
                right = text.drop_front(at + separator->size());
      parts.push_back(fromRight ? right : left);
      text = fromRight ? left : right;
    }
    parts.push_back(text);
  }
  if (fromRight)
    std::reverse(parts.begin(), parts.end());
  return parts;
}

std::string anec::jinja::justified(Evaluator &eval, StringRef text,
                                   int64_t width, StringRef fill, char place) {
  int64_t missing = width - int64_t(countCharacters(text));
  if (missing <= 0)
    return text.str();
  if (uint64_t(missing) > Budget::mostBytes ||
      !eval.reserve(size_t(missing) * fill.size()))
    return eval.reserve(SIZE_MAX) ? "" : "";
  // As Python: of an odd number, the left side has one more if the width is
  // odd.
  int64_t left = place == '<'   ? 0
                 : place == '>' ? missing
                                : missing / 2 + (missing & width & 1);
  TextBuilder out(eval);
  for (int64_t at = 0; at < left && !eval.failed(); ++at)
    out += fill;
  out += text;
  for (int64_t at = left; at < missing && !eval.failed(); ++at)
    out += fill;
  return out.take();
}

//===----------------------------------------------------------------------===//
// Wrapping
//===----------------------------------------------------------------------===//

/// Where words can be parted, as Python's textwrap has it.
static std::vector<std::u32string> chunksOf(std::u32string_view text,
                                            bool atHyphens) {
  auto at = [&](size_t index) -> uint32_t {
    return index < text.size() ? text[index] : 0;
  };
  auto isBlank = [&](size_t index) {
    uint32_t c = at(index);
    return index < text.size() && ((c >= 9 && c <= 13) || c == ' ');
  };
  auto isWord = [&](size_t index) {
    return index < text.size() && isWordPart(at(index));
  };
  auto isLetter = [&](size_t index) {
    return isWord(index) && !hf::isNumeric(at(index));
  };
  auto isInWord = [&](size_t index) {
    uint32_t c = at(index);
    return isWord(index) ||
           (c && c < 0x80 && StringRef("!\"'&.,?").contains(char(c)));
  };
  // Two or more dashes, and a word behind them.
  auto dashes = [&](size_t index) -> size_t {
    size_t end = index;
    while (at(end) == '-')
      ++end;
    return end >= index + 2 && isWord(end) ? end - index : 0;
  };
  auto endsWord = [&](size_t begin, size_t end) -> size_t {
    if (end == text.size() || isBlank(end))
      return end;
    if (!atHyphens)
      return 0;
    if (at(end) == '-' &&
        ((end >= 2 && isLetter(end - 1) && isLetter(end - 2)) ||
         (end >= 3 && isLetter(end - 1) && at(end - 2) == '-' &&
          isLetter(end - 3))) &&
        isLetter(end + 1) &&
        (isLetter(end + 2) || (at(end + 2) == '-' && isLetter(end + 3))))
      return end + 1;
    return isInWord(end - 1) && dashes(end) ? end : 0;
  };
  std::vector<std::u32string> chunks;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (isBlank(end))
      ++end;
    if (end == begin && atHyphens && begin > 0 && isInWord(begin - 1))
      end += dashes(begin);
    if (end == begin)
      for (++end;; ++end)
        if (size_t there = endsWord(begin, end)) {
          end = there;
          break;
        }
    chunks.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  std::reverse(chunks.begin(), chunks.end());
  return chunks;
}

std::vector<std::string> anec::jinja::wrapped(Evaluator &eval, StringRef line,
                                              int64_t width, bool breaksWords,
                                              bool breaksAtHyphens) {
  std::vector<std::u32string> chunks = chunksOf(decoded(line), breaksAtHyphens);
  std::vector<std::string> lines;
  auto isBlank = [](const std::u32string &chunk) {
    return all_of(chunk, [](char32_t c) { return isSpace(c); });
  };
  size_t most = size_t(width);
  while (!chunks.empty() && eval.spend(4)) {
    std::vector<std::u32string> current;
    size_t size = 0;
    if (!lines.empty() && isBlank(chunks.back()))
      chunks.pop_back();
    while (!chunks.empty() && size + chunks.back().size() <= most) {
      size += chunks.back().size();
      current.push_back(std::move(chunks.back()));
      chunks.pop_back();
    }
    if (!chunks.empty() && chunks.back().size() > most) {
      std::u32string &chunk = chunks.back();
      eval.spend(chunk.size() / 16);
      if (breaksWords) {
        size_t end = most - size;
        if (breaksAtHyphens && chunk.size() > end && end > 0) {
          size_t hyphen = chunk.rfind(U'-', end - 1);
          if (hyphen != std::u32string::npos && hyphen > 0 &&
              chunk.find_first_not_of(U'-') < hyphen)
            end = hyphen + 1;
        }
        current.push_back(chunk.substr(0, end));
        chunk.erase(0, end);
      } else if (current.empty()) {
        current.push_back(std::move(chunk));
        chunks.pop_back();
      }
    }
    if (!current.empty() && isBlank(current.back()))
      current.pop_back();
    if (current.empty())
      continue;
    std::string text;
    for (const std::u32string &part : current)
      text += encoded(part);
    lines.push_back(std::move(text));
  }
  return lines;
}

//===----------------------------------------------------------------------===//
// HTML
//===----------------------------------------------------------------------===//

std::string anec::jinja::unescaped(Evaluator &eval, StringRef text) {
  static constexpr std::pair<StringLiteral, StringLiteral> names[] = {
      {"amp", "&"},   {"lt", "<"},   {"gt", ">"},
      {"quot", "\""}, {"apos", "'"}, {"nbsp", "\xC2\xA0"}};
  std::string out;
  while (!text.empty()) {
    size_t at = std::min(text.find('&'), text.size());
    out += text.take_front(at);
    text = text.drop_front(at);
    if (text.empty())
      break;
    StringRef name = text.drop_front().take_while(
        [](char c) { return isAlnum(c) || c == '#'; });
    StringRef digits = name;
    uint32_t code = 0;
    const auto *known =
        find_if(names, [&](const auto &each) { return each.first == name; });
    if (known != std::end(names)) {
      out += known->second;
    } else if (digits.consume_front("#") &&
               !(digits.consume_front_insensitive("x")
                     ? digits.getAsInteger(16, code)
                     : digits.getAsInteger(10, code)) &&
               code > 0x9F && code <= 0x10FFFF) {
      appendCharacter(out, code);
    } else if (code >= 0x20 && code < 0x7F) {
      out += char(code);
    } else if (!name.empty()) {
      eval.fail("the entity `&" + name + "` is not supported");
      return "";
    } else {
      out += '&';
    }
    text = text.drop_front(1 + name.size());
    if (!name.empty())
      text.consume_front(";");
  }
  return out;
}

std::string anec::jinja::withoutTags(Evaluator &eval, StringRef text) {
  std::string rest = text.str();
  for (auto [open, close] :
       {std::pair<StringRef, StringRef>("<!--", "-->"), {"<", ">"}})
    while (eval.spendOn(rest)) {
      size_t begin = StringRef(rest).find(open),
             end = StringRef(rest).find(close, begin);
      if (begin == StringRef::npos || end == StringRef::npos)
        break;
      rest.erase(begin, end + close.size() - begin);
    }
  std::vector<StringRef> words = splitParts(eval, rest, nullptr, -1, false);
  return unescaped(eval, join(words, " "));
}

std::string anec::jinja::urlQuoted(StringRef text, bool isQuery) {
  std::string out;
  for (char c : text) {
    if (isAlnum(c) || StringRef("_.-~").contains(c) || (c == '/' && !isQuery))
      out += c;
    else if (c == ' ' && isQuery)
      out += '+';
    else
      out += "%" + std::string(1, hexdigit(uint8_t(c) >> 4)) +
             hexdigit(uint8_t(c) & 15);
  }
  return out;
}
