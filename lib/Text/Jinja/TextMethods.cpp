//===- TextMethods.cpp - the methods of texts -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Characters.h"
#include "TextParts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;

/// A text from one of `call`, which stays HTML.
static Value made(Call &call, std::string text) {
  return call.eval.text(std::move(text), call.self.isMarkup());
}

/// An argument, escaped where the text is HTML and it is not.
static std::string part(Call &call, size_t index) {
  StringRef text = call.text(index);
  return call.self.isMarkup() && !call[index].isMarkup() ? escaped(text)
                                                         : text.str();
}

template <Case to>
static Value changeCaseMethod(Call &call) {
  StringRef text = call.self.text();
  call.eval.spend(text.size() / 4);
  return made(call, withCase(text, to));
}

template <Property property>
static Value has(Call &call) {
  call.eval.spend(call.self.text().size() / 8);
  return Value::of(hasProperty(call.self.text(), property));
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

template <bool left, bool right>
static Value strip(Call &call) {
  StringRef text = call.self.text();
  call.eval.spendOn(text);
  if (call[0].isNone())
    return made(call, stripped(text, left, right).str());
  return made(call, stripped(text, left, right, part(call, 0)).str());
}

/// Where the arguments from `first` on limit the text: offsets. False if the
/// part begins behind the end of the text, where nothing is found.
static bool bounds(Call &call, size_t first, size_t &begin, size_t &end) {
  StringRef text = call.self.text();
  int64_t size = int64_t(countCharacters(text)), from = 0, to = size;
  call.eval.spendOn(text);
  for (auto [index, into] :
       {std::pair<size_t, int64_t *>(first, &from), {first + 1, &to}}) {
    if (!call.has(index) || call[index].isNone())
      continue;
    int64_t at = call.integer(index);
    *into = at < 0 ? std::max<int64_t>(at, -size - 1) + size : at;
    *into = std::max<int64_t>(*into, 0);
  }
  to = std::min(to, size);
  if (from > to)
    return false;
  begin = offsetOf(text, size_t(from));
  end = offsetOf(text, size_t(to));
  return true;
}

template <bool atStart>
static Value hasEnd(Call &call) {
  size_t begin = 0, end = 0;
  if (!bounds(call, 1, begin, end))
    return Value::of(false);
  StringRef text = call.self.text().slice(begin, end);
  auto isEnd = [&](const Value &value) {
    if (!value.isText()) {
      call.eval.failUndefined(value);
      call.fail("a " + value.typeName() + " is not a str");
      return false;
    }
    return atStart ? text.starts_with(value.text())
                   : text.ends_with(value.text());
  };
  if (call[0].isTuple())
    return Value::of(any_of(call[0].sequence().items, isEnd));
  return Value::of(isEnd(call[0]));
}

template <bool atStart>
static Value removeEnd(Call &call) {
  StringRef text = call.self.text();
  std::string end = part(call, 0);
  if (atStart)
    text.consume_front(end);
  else
    text.consume_back(end);
  return made(call, text.str());
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

template <bool fromRight, bool mustBe>
static Value find(Call &call) {
  size_t begin = 0, end = 0;
  StringRef wanted = call.text(0);
  size_t at = StringRef::npos;
  if (bounds(call, 1, begin, end)) {
    StringRef text = call.self.text().slice(begin, end);
    call.eval.spendOnFinding(text, wanted);
    if (fromRight)
      call.eval.spend(text.size() * wanted.size() / 256);
    at = fromRight ? text.rfind(wanted) : findPart(text, wanted);
  }
  if (at != StringRef::npos)
    return Value::of(
        int64_t(countCharacters(call.self.text().take_front(begin + at))));
  return mustBe ? call.fail("the part is not found") : Value::of(int64_t(-1));
}

static Value countMethod(Call &call) {
  size_t begin = 0, end = 0;
  StringRef wanted = call.text(0);
  if (!bounds(call, 1, begin, end))
    return Value::of(int64_t(0));
  StringRef text = call.self.text().slice(begin, end);
  if (wanted.empty())
    return Value::of(int64_t(countCharacters(text)) + 1);
  int64_t found = 0;
  call.eval.spendOnFinding(text, wanted);
  for (size_t at = findPart(text, wanted);
       at != StringRef::npos && call.eval.spend(1);
       at = findPart(text, wanted)) {
    ++found;
    text = text.drop_front(at + wanted.size());
    call.eval.spend(wanted.size() / 16);
  }
  return Value::of(found);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static Value replaceMethod(Call &call) {
  return made(call, replaced(call.eval, call.self.text(), part(call, 0),
                             part(call, 1), call.integer(2)));
}

static Value partsOf(Call &call, ArrayRef<StringRef> parts) {
  List items;
  call.eval.reserve(parts.size() * (sizeof(Value) + sizeof(Text)));
  for (StringRef each : parts)
    if (!call.eval.failed())
      items.push_back(made(call, each.str()));
  return call.eval.list(std::move(items));
}

template <bool fromRight>
static Value split(Call &call) {
  if (call[0].isNone())
    return partsOf(call, splitParts(call.eval, call.self.text(), nullptr,
                                    call.integer(1), fromRight));
  std::string separator = call.text(0).str();
  if (separator.empty())
    return call.fail("the separator is empty");
  return partsOf(call, splitParts(call.eval, call.self.text(), &separator,
                                  call.integer(1), fromRight));
}

static Value splitLines(Call &call) {
  call.eval.spendOn(call.self.text());
  return partsOf(call, lines(call.self.text(), call[0].isTrue()));
}

template <bool fromRight>
static Value partition(Call &call) {
  StringRef text = call.self.text(), separator = call.text(0);
  if (separator.empty())
    return call.fail("the separator is empty");
  call.eval.spendOnFinding(text, separator);
  if (fromRight)
    call.eval.spend(text.size() * separator.size() / 256);
  size_t at = fromRight ? text.rfind(separator) : findPart(text, separator);
  StringRef parts[3] = {text, "", ""};
  if (at != StringRef::npos) {
    parts[0] = text.take_front(at);
    parts[1] = separator;
    parts[2] = text.drop_front(at + separator.size());
  } else if (fromRight) {
    std::swap(parts[0], parts[2]);
  }
  List items;
  for (StringRef each : parts)
    items.push_back(made(call, each.str()));
  return call.eval.list(std::move(items), Sequence::Kind::Tuple);
}

static Value joinMethod(Call &call) {
  Evaluator &eval = call.eval;
  TextBuilder out(eval);
  Ref<Iterator> items = eval.iterate(call[0]);
  for (size_t index = 0; items && !eval.failed(); ++index) {
    std::optional<Value> item = eval.next(*items);
    if (!item)
      break;
    if (index)
      out += call.self.text();
    if (!item->isText() && !call.self.isMarkup()) {
      eval.failUndefined(*item);
      return call.fail("a " + item->typeName() + " is not a str");
    }
    out += call.self.isMarkup() && !item->isMarkup() ? escaped(eval.str(*item))
                                                     : item->text().str();
  }
  return made(call, out.take());
}

//===----------------------------------------------------------------------===//
// Widths
//===----------------------------------------------------------------------===//

template <char place>
static Value justify(Call &call) {
  std::string fill = call[1].text().empty() ? " " : part(call, 1);
  if (countCharacters(call.text(1)) > 1)
    return call.fail("what fills is not a single character");
  return made(call, justified(call.eval, call.self.text(), call.integer(0),
                              fill, place));
}

static Value zeroFill(Call &call) {
  StringRef text = call.self.text(), sign;
  if (text.starts_with("-") || text.starts_with("+"))
    sign = text.take_front(1);
  int64_t width = call.integer(0) - int64_t(sign.size());
  return made(call,
              sign.str() + justified(call.eval, text.drop_front(sign.size()),
                                     width, "0", '>'));
}

static Value expandTabs(Call &call) {
  int64_t size = std::clamp<int64_t>(call.integer(0), 0, 1000);
  TextBuilder out(call.eval);
  int64_t column = 0;
  for (StringRef rest = call.self.text(); !rest.empty();) {
    StringRef character = rest.take_front(hf::characterSize(rest));
    rest = rest.drop_front(character.size());
    if (character == "\t") {
      int64_t blanks = size ? size - column % size : 0;
      out += std::string(size_t(blanks), ' ');
      column += blanks;
      continue;
    }
    column = character == "\n" || character == "\r" ? 0 : column + 1;
    out += character;
  }
  return made(call, out.take());
}

//===----------------------------------------------------------------------===//
// Formats and HTML
//===----------------------------------------------------------------------===//

static Value formatMethod(Call &call) {
  return call.eval.format(call.self, call.rest, call.named);
}

static Value formatMap(Call &call) {
  if (!call[0].is(VK::Dict))
    return call.fail("a " + call[0].typeName() + " is not a dict");
  Named named;
  for (const auto &[key, value] : call[0].dict().entries)
    if (key.isText())
      named.emplace_back(key.text().str(), value);
  return call.eval.format(call.self, {}, named);
}

static Value unescape(Call &call) {
  if (!call.self.isMarkup())
    return call.fail("is for HTML alone");
  return call.eval.text(unescaped(call.eval, call.self.text()));
}

static Value stripTagsMethod(Call &call) {
  if (!call.self.isMarkup())
    return call.fail("is for HTML alone");
  return call.eval.text(withoutTags(call.eval, call.self.text()));
}

static Value unsupportedMethod(Call &call) {
  return call.fail("is not supported");
}

static constexpr CallRow textMethodsTable[] = {
    {"capitalize", "", changeCaseMethod<Case::Capital>},
    {"casefold", "", changeCaseMethod<Case::Folded>},
    {"center", "width, fillchar=, /", justify<'^'>},
    {"count", "sub, start?, end?, /", countMethod},
    {"encode", "encoding=utf-8, errors=strict", unsupportedMethod},
    {"endswith", "suffix, start?, end?, /", hasEnd<false>},
    {"expandtabs", "tabsize=8", expandTabs},
    {"find", "sub, start?, end?, /", find<false, false>},
    {"format", "*, **", formatMethod},
    {"format_map", "mapping, /", formatMap},
    {"index", "sub, start?, end?, /", find<false, true>},
    {"join", "iterable, /", joinMethod},
    {"ljust", "width, fillchar=, /", justify<'<'>},
    {"lower", "", changeCaseMethod<Case::Lower>},
    {"lstrip", "chars=none, /", strip<true, false>},
    {"maketrans", "*", unsupportedMethod},
    {"partition", "sep, /", partition<false>},
    {"removeprefix", "prefix, /", removeEnd<true>},
    {"removesuffix", "suffix, /", removeEnd<false>},
    {"replace", "old, new, count=-1, /", replaceMethod},
    {"rfind", "sub, start?, end?, /", find<true, false>},
    {"rindex", "sub, start?, end?, /", find<true, true>},
    {"rjust", "width, fillchar=, /", justify<'>'>},
    {"rpartition", "sep, /", partition<true>},
    {"rsplit", "sep=none, maxsplit=-1", split<true>},
    {"rstrip", "chars=none, /", strip<false, true>},
    {"split", "sep=none, maxsplit=-1", split<false>},
    {"splitlines", "keepends=false", splitLines},
    {"startswith", "prefix, start?, end?, /", hasEnd<true>},
    {"strip", "chars=none, /", strip<true, true>},
    {"striptags", "", stripTagsMethod},
    {"swapcase", "", changeCaseMethod<Case::Swapped>},
    {"title", "", changeCaseMethod<Case::Title>},
    {"translate", "table, /", unsupportedMethod},
    {"unescape", "", unescape},
    {"upper", "", changeCaseMethod<Case::Upper>},
    {"zfill", "width, /", zeroFill},
};
ArrayRef<CallRow> anec::jinja::textMethods() { return textMethodsTable; }

static constexpr CallRow predicates[] = {
    {"isalnum", "", has<Property::Alnum>},
    {"isalpha", "", has<Property::Alpha>},
    {"isascii", "", has<Property::Ascii>},
    {"isdecimal", "", has<Property::Decimal>},
    {"isdigit", "", has<Property::Digit>},
    {"isidentifier", "", has<Property::Identifier>},
    {"islower", "", has<Property::Lower>},
    {"isnumeric", "", has<Property::Numeric>},
    {"isprintable", "", has<Property::Printable>},
    {"isspace", "", has<Property::Space>},
    {"istitle", "", has<Property::Title>},
    {"isupper", "", has<Property::Upper>},
};
ArrayRef<CallRow> anec::jinja::textPredicates() { return predicates; }
