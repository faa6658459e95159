//===- FormatSpec.cpp - how a value is formatted --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FormatSpec.h"
#include "Characters.h"
#include "Print.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <cstdio>

using namespace anec::jinja;
using namespace llvm;

std::optional<int64_t> anec::jinja::takeNumber(StringRef &text, int64_t most) {
  StringRef digits = text.take_while([](char c) { return isDigit(c); });
  text = text.drop_front(digits.size());
  int64_t number = 0;
  if (!digits.empty() && (digits.getAsInteger(10, number) || number > most))
    return std::nullopt;
  return number;
}

std::string FormatSpec::padded(StringRef text, char usual) const {
  size_t size = countCharacters(text);
  if (width <= int64_t(size))
    return text.str();
  size_t missing = size_t(width) - size;
  char where = align ? align : usual;
  size_t left = where == '<' ? 0 : where == '^' ? missing / 2 : missing;
  auto fills = [&](size_t count) {
    std::string made;
    while (count-- > 0)
      made += fill;
    return made;
  };
  if (where == '=') {
    size_t sign =
        text.starts_with("-") || text.starts_with("+") || text.starts_with(" ")
            ? 1
            : 0;
    StringRef digits = text.drop_front(sign);
    if (digits.starts_with_insensitive("0x") ||
        digits.starts_with_insensitive("0o") ||
        digits.starts_with_insensitive("0b"))
      sign += 2;
    return text.take_front(sign).str() + fills(missing) +
           text.drop_front(sign).str();
  }
  return fills(left) + text.str() + fills(missing - left);
}

/// `digits` with a separator between groups.
static std::string grouped(StringRef digits, char separator, size_t size) {
  if (!separator)
    return digits.str();
  std::string made;
  for (auto [index, digit] : enumerate(digits)) {
    if (index && (digits.size() - index) % size == 0)
      made += separator;
    made += digit;
  }
  return made;
}

static std::string signOf(bool isNegative, char sign) {
  return isNegative ? "-" : sign == '-' ? "" : std::string(1, sign);
}

std::string FormatSpec::integer(const Whole &number) const {
  std::string digits, prefix;
  switch (type) {
  case 'x':
  case 'X':
    digits = number.digits(16);
    prefix = type == 'x' ? "0x" : "0X";
    if (type == 'X')
      digits = StringRef(digits).upper();
    break;
  case 'o':
  case 'b':
    digits = number.digits(type == 'o' ? 8 : 2);
    prefix = type == 'o' ? "0o" : "0b";
    break;
  default:
    digits = number.digits(10);
  }
  if (int64_t(digits.size()) < precision)
    digits.insert(0, size_t(precision) - digits.size(), '0');
  std::string text = signOf(number.isNegative, sign);
  if (isAlternate)
    text += prefix;
  return padded(text + grouped(digits, grouping, prefix.empty() ? 3 : 4), '>');
}

std::string FormatSpec::real(double number) const {
  std::string text = signOf(std::signbit(number), sign), tail;
  double size = std::abs(number);
  char letter = type ? type : 'g';
  if (letter == 'n')
    letter = 'g';
  if (letter == '%') {
    size *= 100;
    letter = 'f';
    tail = "%";
  }
  bool isUpper = (letter >= 'A' && letter <= 'Z');
  std::string digits;
  if (std::isnan(size) || std::isinf(size)) {
    digits = std::isnan(size) ? "nan" : "inf";
    if (isUpper)
      digits = StringRef(digits).upper();
  } else if (!type && precision < 0) {
    digits = floatText(size);
  } else {
    std::string form = isAlternate ? "%#.*" : "%.*";
    form += letter;
    char buffer[800];
    int used = precision < 0 ? 6 : int(precision);
    std::snprintf(buffer, sizeof(buffer), form.c_str(), used, size);
    digits = buffer;
    if (!type && !StringRef(digits).contains('.') &&
        !StringRef(digits).contains('e'))
      digits += ".0";
  }
  size_t whole =
      StringRef(digits).take_while([](char c) { return isDigit(c); }).size();
  text += grouped(StringRef(digits).take_front(whole), grouping, 3);
  text += digits.substr(whole);
  return padded(text + tail, '>');
}
