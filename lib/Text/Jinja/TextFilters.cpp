//===- TextFilters.cpp - filters of texts ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Characters.h"
#include "TextParts.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;

/// What is filtered, as a text.
static std::string input(Call &call) { return call.eval.str(call.self); }

template <Case to>
static Value changeCase(Call &call) {
  std::string text = input(call);
  call.eval.spend(text.size() / 4);
  return call.eval.text(withCase(text, to), call.self.isMarkup());
}

/// Words begin behind white space, dashes and brackets.
static Value title(Call &call) {
  std::string text = input(call), out, word;
  call.eval.spend(text.size() / 4);
  auto finish = [&] {
    if (word.empty())
      return;
    size_t first = hf::characterSize(word);
    out += withCase(StringRef(word).take_front(first), Case::Upper);
    out += withCase(StringRef(word).drop_front(first), Case::Lower);
    word.clear();
  };
  bool wasBetween = false;
  for (StringRef rest = text; !rest.empty();) {
    uint32_t c = takeCharacter(rest);
    bool isBetween =
        isSpace(c) || (c < 0x80 && StringRef("-({[<").contains(char(c)));
    if (isBetween != wasBetween)
      finish();
    wasBetween = isBetween;
    appendCharacter(word, c);
  }
  finish();
  return call.eval.text(std::move(out));
}

static Value trim(Call &call) {
  std::string text = input(call);
  const Value &set = call[0];
  if (!set.isNone() && !set.isText())
    return call.fail("what is trimmed is not a str");
  call.eval.spendOn(text);
  StringRef kept = set.isNone() ? stripped(text, true, true)
                                : stripped(text, true, true, set.text());
  return call.eval.text(kept.str(), call.self.isMarkup());
}

static Value replace(Call &call) {
  const Value &count = call[2];
  if (!count.isNone() && !count.isInteger())
    return call.fail("the count is not an int");
  return call.eval.text(replaced(call.eval, input(call), call.eval.str(call[0]),
                                 call.eval.str(call[1]),
                                 count.isNone() ? -1 : count.asInteger()));
}

static Value indent(Call &call) {
  if (!call.self.isText()) {
    call.eval.failUndefined(call.self);
    return call.fail("a " + call.self.typeName() + " has no lines");
  }
  std::string by = call[0].isText()
                       ? call[0].text().str()
                       : justified(call.eval, "", call.integer(0), " ", '<');
  std::string text = input(call) + "\n";
  if (!call.eval.reserve(text.size() +
                         2 * sizeof(StringRef) * StringRef(text).count('\n')))
    return {};
  bool first = call[1].isTrue(), blank = call[2].isTrue();
  TextBuilder out(call.eval);
  for (auto [index, line] : enumerate(lines(text))) {
    if (call.eval.failed())
      return {};
    if (index)
      out += "\n";
    if (index ? blank || !line.empty() : first)
      out += by;
    out += line;
  }
  return call.eval.text(out.take(), call.self.isMarkup());
}

static Value center(Call &call) {
  return call.eval.text(
      justified(call.eval, input(call), call.integer(0), " ", '^'),
      call.self.isMarkup());
}

static Value format(Call &call) {
  if (!call.rest.empty() && !call.named.empty())
    return call.fail("arguments have names, or none has");
  Value arguments;
  if (call.named.empty()) {
    arguments = call.eval.list(call.rest, Sequence::Kind::Tuple);
  } else {
    Ref<Dict> made(new Dict);
    for (auto &[name, value] : call.named)
      made->set(call.eval.text(name), value);
    arguments = call.eval.dict(std::move(made));
  }
  Value self = call.self.isText() ? call.self : call.eval.text(input(call));
  return call.eval.failed() ? Value() : call.eval.interpolate(self, arguments);
}

static Value string(Call &call) {
  return call.self.isText() ? call.self : call.eval.text(input(call));
}
static Value safe(Call &call) { return call.eval.text(input(call), true); }

static Value escape(Call &call) {
  if (call.self.isMarkup())
    return call.self;
  return call.eval.text(escaped(input(call)), true);
}
static Value forceEscape(Call &call) {
  return call.eval.text(escaped(input(call)), true);
}

static Value stripTags(Call &call) {
  return call.eval.text(withoutTags(call.eval, input(call)));
}

static Value truncate(Call &call) {
  int64_t most = call.integer(0),
          leeway = call[3].isNone() ? 5 : call.integer(3);
  // Anything that has a length, until it is used.
  std::optional<int64_t> endLength = call.eval.length(call[2]);
  int64_t kept = most - endLength.value_or(0);
  if (endLength && (kept < 0 || leeway < 0))
    return call.fail("the length is less than that of the end");
  // Anything that is short enough stays what it is.
  std::optional<int64_t> length = call.eval.length(call.self);
  if (!length || *length <= most + leeway)
    return call.self;
  StringRef end = call.text(2);
  if (!call.self.isText())
    return call.fail("a " + call.self.typeName() + " is not a str");
  StringRef text = call.self.text();
  text = text.take_front(offsetOf(text, size_t(kept)));
  if (size_t space = text.rfind(' ');
      !call[1].isTrue() && space != StringRef::npos)
    text = text.take_front(space);
  return call.eval.text((text + end).str(), call.self.isMarkup());
}

static Value wordWrap(Call &call) {
  if (!call.self.isText()) {
    call.eval.failUndefined(call.self);
    return call.fail("a " + call.self.typeName() + " is not a str");
  }
  int64_t width = call.integer(0);
  if (width <= 0)
    return call.fail("the width is not positive");
  std::string between = call[2].isNone() ? "\n" : call.text(2).str();
  // Each chunk is a text of its own for a while.
  size_t size = call.self.text().size();
  if (!call.eval.spend(size) || !call.eval.reserve(24 * size))
    return {};
  TextBuilder out(call.eval);
  for (auto [index, line] : enumerate(lines(call.self.text()))) {
    if (index)
      out += between;
    for (auto [part, text] : enumerate(wrapped(
             call.eval, line, width, call[1].isTrue(), call[3].isTrue()))) {
      if (part)
        out += between;
      out += text;
    }
  }
  return call.eval.text(out.take());
}

static Value wordCount(Call &call) {
  std::string text = input(call);
  call.eval.spend(text.size() / 8);
  int64_t count = 0;
  bool wasWord = false;
  for (StringRef rest = text; !rest.empty();) {
    bool isWord = isWordPart(takeCharacter(rest));
    count += isWord && !wasWord;
    wasWord = isWord;
  }
  return Value::of(count);
}

static Value urlEncode(Call &call) {
  Evaluator &eval = call.eval;
  if (!call.self.is(VK::Sequence) && !call.self.is(VK::Dict) &&
      !call.self.is(VK::Iterator) && !call.self.isUndefined())
    return eval.text(urlQuoted(input(call), false));
  TextBuilder out(eval);
  auto add = [&](const Value &key, const Value &value) {
    if (out.size())
      out += "&";
    out += urlQuoted(eval.str(key), true);
    out += "=";
    out += urlQuoted(eval.str(value), true);
  };
  if (call.self.is(VK::Dict)) {
    for (const auto &[key, value] : call.self.dict().entries)
      add(key, value);
    return eval.text(out.take());
  }
  for (const Value &item : eval.items(call.self)) {
    List pair = eval.items(item);
    if (pair.size() != 2)
      return call.fail("an item is not a pair");
    add(pair[0], pair[1]);
  }
  return eval.text(out.take());
}

static Value xmlAttributes(Call &call) {
  if (!call.self.is(VK::Dict)) {
    call.eval.failUndefined(call.self);
    return call.fail("a " + call.self.typeName() + " is not a dict");
  }
  TextBuilder out(call.eval);
  for (const auto &[key, value] : call.self.dict().entries) {
    if (value.isNone() || value.isUndefined())
      continue;
    if (!key.isText() ||
        key.text().find_first_of(" \t\n\r\f\v/>=") != StringRef::npos)
      return call.fail("a key is not a name of an attribute");
    if (out.size() || call[0].isTrue())
      out += " ";
    std::string text = call.eval.str(value);
    out += (key.isMarkup() ? key.text().str() : escaped(key.text())) + "=\"" +
           (value.isMarkup() ? text : escaped(text)) + "\"";
  }
  return call.eval.text(out.take());
}

static Value unsupported(Call &call) { return call.fail("is not supported"); }

static constexpr CallRow textFiltersTable[] = {
    {"capitalize", "", changeCase<Case::Capital>},
    {"center", "width=80", center},
    {"e", "", escape},
    {"escape", "", escape},
    {"forceescape", "", forceEscape},
    {"format", "*, **", format},
    {"indent", "width=4, first=false, blank=false", indent},
    {"lower", "", changeCase<Case::Lower>},
    {"replace", "old, new, count=none", replace},
    {"safe", "", safe},
    {"string", "", string},
    {"striptags", "", stripTags},
    {"title", "", title},
    {"trim", "chars=none", trim},
    {"truncate", "length=255, killwords=false, end=..., leeway=none", truncate},
    {"upper", "", changeCase<Case::Upper>},
    {"urlencode", "", urlEncode},
    {"urlize", "*, **", unsupported},
    {"wordcount", "", wordCount},
    {"wordwrap",
     "width=79, break_long_words=true, wrapstring=none, break_on_hyphens=true",
     wordWrap},
    {"xmlattr", "autospace=true", xmlAttributes},
};
ArrayRef<CallRow> anec::jinja::textFilters() { return textFiltersTable; }
