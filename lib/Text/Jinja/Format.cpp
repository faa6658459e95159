//===- Format.cpp - texts with fields -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `"%d of %s" % (3, "q")` and `"{} of {x}".format(3, x="q")`.
///
//===----------------------------------------------------------------------===//

#include "Characters.h"
#include "FormatSpec.h"
#include "Print.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;

/// An int; an error if Python does not print so many digits.
static std::string formattedWhole(Evaluator &eval, const FormatSpec &spec,
                                  const Whole &number) {
  if (!eval.spend(number.workOfDigits()))
    return "";
  std::string made = spec.integer(number);
  bool isDecimal = !StringRef("xXob").contains(spec.type ? spec.type : 'd');
  if (isDecimal && number.isTooLong())
    eval.fail("an integer is too large to be printed");
  return made;
}

static std::string formattedReal(Evaluator &eval, const FormatSpec &spec,
                                 const Value &value) {
  double number = value.asNumber();
  if (value.isBig() && !std::isfinite(number))
    eval.fail("an integer is too large for a float");
  return spec.real(number);
}

//===----------------------------------------------------------------------===//
// Percent signs
//===----------------------------------------------------------------------===//

namespace {
class Interpolation {
public:
  Interpolation(Evaluator &eval, const Value &format, const Value &arguments)
      : eval(eval), out(eval), format(format), given(arguments) {
    if (given.isTuple())
      count = given.sequence().items.size();
  }
  Value run();

private:
  const Value *nextArgument();
  bool number(StringRef &text, int64_t most, int64_t &into, FormatSpec &spec);
  bool field(StringRef &rest);
  std::string formatted(FormatSpec &spec, const Value &value);

  Evaluator &eval;
  TextBuilder out;
  const Value &format, &given;
  size_t count = 1, used = 0;
};
} // namespace

const Value *Interpolation::nextArgument() {
  if (used >= count) {
    eval.fail("`%`: there are too few arguments for the text");
    return nullptr;
  }
  size_t index = used++;
  return given.isTuple() ? &given.sequence().items[index] : &given;
}

/// A width or a precision, which can be an argument.
bool Interpolation::number(StringRef &text, int64_t most, int64_t &into,
                           FormatSpec &spec) {
  if (text.consume_front("*")) {
    const Value *value = nextArgument();
    if (!value)
      return false;
    if (!value->isInteger())
      return eval.fail("`%*` takes an int"), false;
    into = value->asInteger();
    if (into < 0 && &into == &spec.width) {
      spec.align = '<';
      into = into == INT64_MIN ? INT64_MAX : -into;
    }
    into = std::max<int64_t>(into, 0);
  } else {
    std::optional<int64_t> number = takeNumber(text, most);
    into = number.value_or(INT64_MAX);
  }
  if (into > most)
    eval.fail("`%`: a width or a precision is larger than " + Twine(most));
  return !eval.failed();
}

std::string Interpolation::formatted(FormatSpec &spec, const Value &value) {
  switch (spec.type) {
  case 's':
  case 'r':
  case 'a': {
    std::string text = spec.type == 's' ? eval.str(value) : eval.repr(value);
    if (spec.type == 'a' && value.isText())
      text = textRepr(value.text(), true);
    if (spec.precision >= 0)
      text.resize(offsetOf(text, size_t(spec.precision)));
    if (format.isMarkup() && !value.isMarkup())
      text = escaped(text);
    spec.fill = " ";
    if (spec.align == '=')
      spec.align = '>';
    return spec.padded(text, '>');
  }
  case 'c':
    spec.fill = " ";
    if (value.isText() && countCharacters(value.text()) == 1)
      return spec.padded(value.text(), '>');
    if (value.isInteger() && value.asInteger() >= 0 &&
        value.asInteger() <= 0x10FFFF) {
      std::string character;
      appendCharacter(character, uint32_t(value.asInteger()));
      return spec.padded(character, '>');
    }
    eval.fail("`%c` takes an int or a character");
    return "";
  case 'd':
  case 'i':
  case 'u':
  case 'x':
  case 'X':
  case 'o': {
    bool isDecimal = !StringRef("xXo").contains(spec.type);
    if (isDecimal)
      spec.type = 'd';
    if (value.isWhole())
      return formattedWhole(eval, spec, value.asWhole());
    if (value.is(VK::Float) && isDecimal && std::isfinite(value.asNumber()))
      return formattedWhole(eval, spec, Whole::of(value.asNumber()));
    break;
  }
  default:
    if (value.isNumber())
      return formattedReal(eval, spec, value);
  }
  eval.failUndefined(value);
  eval.fail("`%" + Twine(spec.type) + "` takes a number, and there is a " +
            value.typeName());
  return "";
}

/// The field behind a percent sign.
bool Interpolation::field(StringRef &rest) {
  FormatSpec spec;
  const Value *value = nullptr;
  if (rest.consume_front("(")) {
    size_t end = 0, open = 1;
    for (; end < rest.size() && open; ++end)
      open += (rest[end] == '(') - (rest[end] == ')');
    if (open || !given.is(VK::Dict))
      return eval.fail("`%(name)` needs a dict of arguments"), false;
    StringRef name = rest.take_front(end - 1);
    rest = rest.drop_front(end);
    value = given.dict().find(name);
    if (!value)
      return eval.fail("`%(" + name + ")`: there is no such argument"), false;
    used = count;
  }
  for (bool goesOn = true; goesOn && !rest.empty();) {
    char flag = rest.front();
    goesOn = StringRef("-+ #0").contains(flag);
    if (!goesOn)
      break;
    rest = rest.drop_front();
    if (flag == '-')
      spec.align = '<';
    else if (flag == '#')
      spec.isAlternate = true;
    else if (flag == '0')
      spec.fill = "0";
    else if (spec.sign != '+')
      spec.sign = flag;
  }
  if (!number(rest, FormatSpec::widest, spec.width, spec))
    return false;
  if (rest.consume_front(".") &&
      !number(rest, FormatSpec::finest, spec.precision, spec))
    return false;
  while (rest.starts_with("l") || rest.starts_with("h") ||
         rest.starts_with("L"))
    rest = rest.drop_front();
  if (spec.align == '<')
    spec.fill = " ";
  else if (spec.fill == "0")
    spec.align = '=';
  spec.type = rest.empty() ? '\0' : rest.front();
  if (rest.empty() || !StringRef("diuxXoeEfFgGcrsa%").contains(spec.type))
    return eval.fail("`%`: the text has a field that is not a format"), false;
  rest = rest.drop_front();
  if (spec.type == '%') {
    out += "%";
    return true;
  }
  if (!value)
    value = nextArgument();
  if (value)
    out += formatted(spec, *value);
  return !eval.failed();
}

Value Interpolation::run() {
  StringRef rest = format.text();
  while (!rest.empty() && !eval.failed()) {
    size_t at = std::min(rest.find('%'), rest.size());
    out += rest.take_front(at);
    rest = rest.drop_front(at);
    if (rest.consume_front("%") && !field(rest))
      break;
  }
  bool isMapping = given.is(VK::Dict) || given.isList() ||
                   given.isUndefined() ||
                   (given.is(VK::Sequence) && !given.isTuple());
  if (!eval.failed() && used < count && !isMapping)
    eval.fail("`%`: there are more arguments than the text has fields");
  return eval.failed() ? Value() : eval.text(out.take(), format.isMarkup());
}

Value Evaluator::interpolate(const Value &format, const Value &arguments) {
  return Interpolation(*this, format, arguments).run();
}

//===----------------------------------------------------------------------===//
// Braces
//===----------------------------------------------------------------------===//

namespace {
class Formatter {
public:
  Formatter(Evaluator &eval, bool isMarkup, const List &items,
            const Named &named)
      : eval(eval), isMarkup(isMarkup), items(items), named(named) {}
  std::string run(StringRef text, unsigned depth);

private:
  Value fieldOf(StringRef name);
  std::string formatted(const Value &value, StringRef text);
  bool parse(StringRef text, FormatSpec &spec);
  std::string replaced(StringRef field, unsigned depth);

  Evaluator &eval;
  bool isMarkup;
  const List &items;
  const Named &named;
  int64_t next = 0; ///< -1 where fields have numbers
};
} // namespace

/// The value of `0.name[key]`.
Value Formatter::fieldOf(StringRef name) {
  StringRef first =
      name.take_until([](char c) { return c == '.' || c == '['; });
  StringRef rest = name.drop_front(first.size());
  int64_t index = 0;
  Value value;
  bool isNumbered = !first.empty() && !first.getAsInteger(10, index);
  if (first.empty() || isNumbered) {
    if (first.empty() ? next < 0 : next > 0)
      return eval.fail(
          "`format`: some fields have numbers, and some have none");
    if (first.empty())
      index = next++;
    else
      next = -1;
    if (index < 0 || size_t(index) >= items.size())
      return eval.fail("`format`: there is no argument " + Twine(index));
    value = items[size_t(index)];
  } else {
    const Value *found = nullptr;
    for (const auto &[key, each] : named)
      if (key == first)
        found = &each;
    if (!found)
      return eval.fail("`format`: there is no argument `" + first + "`");
    value = *found;
  }
  while (!rest.empty() && !eval.failed()) {
    if (rest.consume_front(".")) {
      StringRef key =
          rest.take_until([](char c) { return c == '.' || c == '['; });
      rest = rest.drop_front(key.size());
      value = eval.member(value, key);
      continue;
    }
    size_t end = rest.find(']');
    if (!rest.consume_front("[") || end == StringRef::npos)
      return eval.fail("`format`: `" + name + "` is not a field");
    StringRef key = rest.take_front(end - 1);
    rest = rest.drop_front(end);
    bool isIndex = !key.empty() && !key.getAsInteger(10, index);
    value = eval.item(value, isIndex ? Value::of(index) : eval.text(key.str()));
  }
  return value;
}

/// `[[fill]align][sign][#][0][width][grouping][.precision][type]`
bool Formatter::parse(StringRef text, FormatSpec &spec) {
  auto isAlign = [](StringRef at) {
    return !at.empty() && StringRef("<>=^").contains(at.front());
  };
  if (!text.empty()) {
    size_t size = hf::characterSize(text);
    if (isAlign(text.drop_front(size))) {
      spec.fill = text.take_front(size).str();
      text = text.drop_front(size);
    }
  }
  if (isAlign(text)) {
    spec.align = text.front();
    text = text.drop_front();
  }
  if (!text.empty() && StringRef("+- ").contains(text.front())) {
    spec.sign = text.front();
    text = text.drop_front();
  }
  spec.isAlternate = text.consume_front("#");
  if (text.consume_front("0") && !spec.align) {
    spec.fill = "0";
    spec.align = '=';
  }
  std::optional<int64_t> width = takeNumber(text, FormatSpec::widest);
  if (text.starts_with(",") || text.starts_with("_")) {
    spec.grouping = text.front();
    text = text.drop_front();
  }
  std::optional<int64_t> precision = -1;
  bool hasDigits = true;
  if (text.consume_front(".")) {
    hasDigits = !text.empty() && isDigit(text.front());
    precision = takeNumber(text, FormatSpec::finest);
  }
  if (!text.empty()) {
    spec.type = text.front();
    text = text.drop_front();
  }
  spec.width = width.value_or(0);
  spec.precision = precision.value_or(0);
  return width && precision && hasDigits && text.empty();
}

std::string Formatter::formatted(const Value &value, StringRef text) {
  if (text.empty())
    return eval.str(value);
  FormatSpec spec;
  auto wrong = [&](const Twine &why) {
    eval.fail("`format`: `" + text + "` is not a format of a " +
              value.typeName() + why);
    return "";
  };
  if (!parse(text, spec))
    return wrong("");
  if (value.isText()) {
    if ((spec.type && spec.type != 's') || spec.align == '=' ||
        spec.sign != '-' || spec.isAlternate || spec.grouping)
      if (spec.fill != "0" || spec.align != '=')
        return wrong("");
    if (spec.align == '=')
      spec.align = '<';
    std::string made = eval.str(value);
    if (spec.precision >= 0)
      made.resize(offsetOf(made, size_t(spec.precision)));
    return spec.padded(made, '<');
  }
  bool isOfFloats = spec.type && StringRef("eEfFgG%").contains(spec.type);
  if (value.isWhole() && !isOfFloats) {
    if (spec.precision >= 0 ||
        (spec.type && !StringRef("bdoxXnc").contains(spec.type)))
      return wrong("");
    if (spec.type != 'c')
      return formattedWhole(eval, spec, value.asWhole());
    std::string character;
    if (value.isBig() || value.asInteger() < 0 || value.asInteger() > 0x10FFFF)
      return wrong("");
    appendCharacter(character, uint32_t(value.asInteger()));
    return spec.padded(character, '<');
  }
  if (value.isNumber() && (!spec.type || isOfFloats || spec.type == 'n'))
    return formattedReal(eval, spec, value);
  return wrong("");
}

/// The text of `name!conversion:spec`.
std::string Formatter::replaced(StringRef field, unsigned depth) {
  // A key in brackets can have any of these.
  size_t end = 0;
  for (bool inBrackets = false; end < field.size(); ++end) {
    if (field[end] == '[')
      inBrackets = true;
    else if (field[end] == ']')
      inBrackets = false;
    else if (!inBrackets && (field[end] == '!' || field[end] == ':'))
      break;
  }
  Value value = fieldOf(field.take_front(end));
  StringRef rest = field.drop_front(end);
  if (eval.failed())
    return "";
  if (rest.consume_front("!")) {
    char conversion = rest.empty() ? '\0' : rest.front();
    rest = rest.drop_front(rest.empty() ? 0 : 1);
    if (!conversion || !StringRef("sra").contains(conversion) ||
        (!rest.empty() && rest.front() != ':')) {
      eval.fail("`format`: `" + field + "` has no known conversion");
      return "";
    }
    std::string text = conversion == 's' ? eval.str(value)
                       : conversion == 'a' && value.isText()
                           ? textRepr(value.text(), true)
                           : eval.repr(value);
    value = eval.text(std::move(text));
  }
  rest.consume_front(":");
  std::string text = formatted(value, run(rest, depth + 1));
  return isMarkup && !value.isMarkup() && depth == 0 ? escaped(text) : text;
}

std::string Formatter::run(StringRef text, unsigned depth) {
  TextBuilder out(eval);
  if (depth > 2)
    eval.fail("`format`: fields are in each other");
  while (!text.empty() && !eval.failed()) {
    StringRef plain =
        text.take_until([](char c) { return c == '{' || c == '}'; });
    out += plain;
    text = text.drop_front(plain.size());
    if (text.starts_with("{{") || text.starts_with("}}")) {
      out += text.take_front(1);
      text = text.drop_front(2);
      continue;
    }
    if (text.empty())
      break;
    if (!text.consume_front("{")) {
      eval.fail("`format`: a `}` is alone");
      break;
    }
    size_t end = 0, open = 1;
    while (end < text.size() &&
           (open += (text[end] == '{') - (text[end] == '}')) > 0)
      ++end;
    if (open) {
      eval.fail("`format`: a `{` is alone");
      break;
    }
    out += replaced(text.take_front(end), depth);
    text = text.drop_front(end + 1);
  }
  return out.take();
}

Value Evaluator::format(const Value &format, const List &items,
                        const Named &named) {
  std::string made =
      Formatter(*this, format.isMarkup(), items, named).run(format.text(), 0);
  return failed() ? Value() : text(std::move(made), format.isMarkup());
}
