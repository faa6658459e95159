//===- NumberFilters.cpp - filters of numbers, and of any value -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Characters.h"
#include "Evaluator.h"
#include "NumberText.h"
#include "Print.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <cstdio>

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;

//===----------------------------------------------------------------------===//
// Numbers in texts
//===----------------------------------------------------------------------===//

/// `text` without white space around it and `_` between digits; nothing if
/// there is another `_`.
static std::optional<std::string> plainNumber(StringRef text) {
  text = stripped(text, true, true);
  std::string plain;
  for (auto [index, c] : enumerate(text)) {
    if (c != '_') {
      plain += c;
      continue;
    }
    bool isBetween = index > 0 && index + 1 < text.size() &&
                     isAlnum(text[index - 1]) && isAlnum(text[index + 1]);
    if (!isBetween)
      return std::nullopt;
  }
  return plain;
}

std::optional<Whole> anec::jinja::integerOf(StringRef text, int64_t base) {
  std::optional<std::string> plain = plainNumber(text);
  StringRef digits = plain ? StringRef(*plain) : StringRef();
  bool isNegative = digits.consume_front("-");
  if (!isNegative)
    digits.consume_front("+");
  for (auto [prefix, of] :
       {std::pair<StringRef, int64_t>("0x", 16), {"0o", 8}, {"0b", 2}})
    if ((base == of || base == 0) && digits.size() > 2 &&
        digits.consume_front_insensitive(prefix))
      base = of;
  if (base == 0)
    base = 10;
  auto valueOf = [](char c) -> int64_t {
    return isDigit(c) ? c - '0' : isAlpha(c) ? toLower(c) - 'a' + 10 : 99;
  };
  if (digits.empty() || base < 2 || base > 36 ||
      !all_of(digits, [&](char c) { return valueOf(c) < base; }))
    return std::nullopt;
  std::optional<Whole> number = Whole::of(digits, unsigned(base));
  return number && isNegative ? -*number : number;
}

std::optional<double> anec::jinja::floatOf(StringRef text) {
  std::optional<std::string> plain = plainNumber(text);
  if (!plain)
    return std::nullopt;
  StringRef digits = *plain;
  bool isNegative = digits.consume_front("-");
  if (!isNegative)
    digits.consume_front("+");
  double number = 0;
  if (digits.equals_insensitive("inf") || digits.equals_insensitive("infinity"))
    number = INFINITY;
  else if (digits.equals_insensitive("nan"))
    number = NAN;
  else if (digits.empty() ||
           digits.find_first_not_of("0123456789.eE+-") != StringRef::npos)
    return std::nullopt;
  else {
    char *end = nullptr;
    std::string copy = digits.str();
    if (copy[0] == '+' || copy[0] == '-')
      return std::nullopt;
    number = std::strtod(copy.c_str(), &end);
    if (end != copy.c_str() + copy.size())
      return std::nullopt;
  }
  return isNegative ? -number : number;
}

//===----------------------------------------------------------------------===//
// Filters
//===----------------------------------------------------------------------===//

static Value integer(Call &call) {
  const Value &value = call.self;
  auto ofFloat = [&](double number) {
    return std::isnan(number)   ? call[0]
           : std::isinf(number) ? call.fail("an infinite number is not an int")
                                : call.eval.integer(Whole::of(number));
  };
  if (call.eval.failUndefined(value))
    return {};
  if (value.isWhole())
    return value.is(VK::Bool) ? Value::of(value.asInteger()) : value;
  if (value.is(VK::Float))
    return ofFloat(value.asNumber());
  if (!value.isText())
    return call[0];
  size_t size = std::min<size_t>(value.text().size(), Whole::mostBits);
  if (!call.eval.spend(1 + size * size / 600))
    return {};
  if (std::optional<Whole> made = integerOf(value.text(), call.integer(1)))
    return call.eval.integer(*made);
  std::optional<double> number = floatOf(value.text());
  return number && std::isfinite(*number) ? ofFloat(*number) : call[0];
}

/// A number as a float.
static Value asFloat(Call &call, const Value &value) {
  double number = value.asNumber();
  return value.isBig() && !std::isfinite(number)
             ? call.fail("a number is too large")
             : Value::of(number);
}

static Value floating(Call &call) {
  if (call.eval.failUndefined(call.self))
    return {};
  if (call.self.isNumber())
    return asFloat(call, call.self);
  if (call.self.isText())
    if (std::optional<double> number = floatOf(call.self.text()))
      return Value::of(*number);
  return call.has(0) ? call[0] : Value::of(0.0);
}

static Value absolute(Call &call) {
  if (call.self.is(VK::Float))
    return Value::of(std::abs(call.self.asNumber()));
  if (call.self.isWhole())
    return call.eval.integer({false, call.self.asWhole().size});
  call.eval.failUndefined(call.self);
  return call.fail("a " + call.self.typeName() + " is not a number");
}

/// An integer that is rounded to a power of 10; half to an even multiple of it,
/// as Python does.
static Value roundedInteger(Call &call, int64_t precision) {
  Value unit = call.eval.binary(Operator::Power, Value::of(int64_t(10)),
                                Value::of(-precision));
  if (call.eval.failed() || !call.eval.spend(100))
    return {};
  auto [floor, rest] = divide(call.self.asWhole(), unit.asWhole());
  std::strong_ordering half = rest + rest <=> unit.asWhole();
  if (half > 0 || (half == 0 && floor.size[0]))
    floor = floor + Whole::of(int64_t(1));
  return call.eval.integer(floor * unit.asWhole());
}

static Value round(Call &call) {
  StringRef method = call.text(1);
  int64_t precision = call.integer(0);
  if (method != "common" && method != "ceil" && method != "floor")
    return call.fail("the method is not one of common, ceil and floor");
  if (!call.self.isNumber()) {
    call.eval.failUndefined(call.self);
    return call.fail("a " + call.self.typeName() + " is not a number");
  }
  if (std::abs(precision) > 400)
    return call.fail("the precision is too large");
  double number = call.self.asNumber();
  if (method != "common" && call.self.isWhole() && precision >= 0)
    return asFloat(call, call.self);
  if (method != "common") {
    double unit = std::pow(10.0, double(precision));
    double scaled = number * unit;
    if (!std::isfinite(scaled))
      return call.fail("an infinite number is not an int");
    // Python's ceil and floor are integers, which have no -0.
    scaled = (method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) + 0.0;
    return Value::of(scaled / unit);
  }
  if (call.self.isWhole() && precision < 0)
    return roundedInteger(call, precision);
  if (call.self.isWhole())
    return call.self.isBig() ? call.self : Value::of(call.self.asInteger());
  if (!std::isfinite(number) || precision > 340)
    return call.self;
  if (precision < 0) {
    double unit = std::pow(10.0, double(-precision));
    return Value::of(std::nearbyint(number / unit) * unit);
  }
  char buffer[800];
  std::snprintf(buffer, sizeof(buffer), "%.*f", int(precision), number);
  return Value::of(std::strtod(buffer, nullptr));
}

static Value fileSize(Call &call) {
  double bytes = 0;
  if (call.self.isNumber()) {
    bytes = asFloat(call, call.self).asNumber();
  } else {
    std::optional<double> number =
        call.self.isText() ? floatOf(call.self.text()) : std::nullopt;
    call.eval.failUndefined(call.self);
    if (!number)
      return call.fail("this is not a number");
    bytes = *number;
  }
  bool isBinary = call[0].isTrue();
  double base = isBinary ? 1024 : 1000;
  if (bytes == 1)
    return call.eval.text("1 Byte");
  if (bytes < base)
    return call.eval.text(itostr(int64_t(bytes)) + " Bytes");
  double unit = base * base;
  size_t index = 0;
  for (; index + 1 < 8 && bytes >= unit; ++index)
    unit *= base;
  char buffer[400];
  std::snprintf(buffer, sizeof(buffer), "%.1f %c%s", base * bytes / unit,
                (isBinary ? "KMGTPEZY" : "kMGTPEZY")[index],
                isBinary ? "iB" : "B");
  return call.eval.text(buffer);
}

static Value fallback(Call &call) {
  bool isMissing =
      call.self.isUndefined() || (call[1].isTrue() && !call.self.isTrue());
  return isMissing ? call[0] : call.self;
}

static Value toJson(Call &call) {
  Evaluator::JsonForm form;
  form.isAscii = call[0].isTrue();
  form.isSorted = call[3].isTrue();
  if (call[1].isText())
    form.indent = call[1].text().str();
  else if (!call[1].isNone())
    form.indent =
        std::string(size_t(std::clamp<int64_t>(call.integer(1), 0, 1000)), ' ');
  if (form.indent)
    form.comma = ",";
  if (!call[2].isNone()) {
    List pair = call.eval.items(call[2]);
    // A text alone has no use for them.
    bool areTexts = pair.size() == 2 && pair[0].isText() && pair[1].isText();
    if (pair.size() != 2 || (!areTexts && !call.self.isText()))
      return call.fail("`separators` are two texts");
    if (areTexts) {
      form.comma = pair[0].text().str();
      form.colon = pair[1].text().str();
    }
  }
  std::string made = call.eval.json(call.self, form);
  return call.eval.failed() ? Value() : call.eval.text(std::move(made));
}

static Value prettyPrint(Call &call) {
  return call.eval.text(prettyText(call.eval, call.self));
}

static Value attributeFilter(Call &call) {
  StringRef name = call.text(0);
  // An attribute alone: no item of a dict.
  if (call.eval.failUndefined(call.self))
    return {};
  if (call.self.is(VK::Dict) && !findMethod(call.self, name))
    return call.eval.undefined("a dict has no attribute `" + name + "`");
  return call.eval.member(call.self, name);
}

static constexpr CallRow numberFiltersTable[] = {
    {"abs", "", absolute},
    {"attr", "name", attributeFilter},
    {"d", "default_value=, boolean=false", fallback},
    {"default", "default_value=, boolean=false", fallback},
    {"filesizeformat", "binary=false", fileSize},
    {"float", "default?", floating},
    {"int", "default=0, base=10", integer},
    {"pprint", "", prettyPrint},
    {"round", "precision=0, method=common", round},
    {"tojson",
     "ensure_ascii=false, indent=none, separators=none, "
     "sort_keys=false",
     toJson},
};
ArrayRef<CallRow> anec::jinja::numberFilters() { return numberFiltersTable; }
