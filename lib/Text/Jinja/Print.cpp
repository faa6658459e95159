//===- Print.cpp - str(), repr() and json.dumps() -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Print.h"
#include "Characters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace anec::jinja;
using namespace llvm;
using VK = Value::Kind;
using SK = Sequence::Kind;

//===----------------------------------------------------------------------===//
// Numbers and texts
//===----------------------------------------------------------------------===//

std::string anec::jinja::floatText(double number) {
  if (std::isnan(number))
    return "nan";
  if (std::isinf(number))
    return number < 0 ? "-inf" : "inf";
  // The fewest digits that are read as the same number.
  char buffer[40];
  bool isNormal = number == 0 || std::abs(number) >= 2.3e-308;
  for (int digits = isNormal ? 14 : 0; digits <= 16; ++digits) {
    std::snprintf(buffer, sizeof(buffer), "%.*e", digits, number);
    if (std::strtod(buffer, nullptr) == number)
      break;
  }
  auto [mantissa, power] = StringRef(buffer).split('e');
  int exponent = 0;
  power.consume_front("+");
  power.getAsInteger(10, exponent);
  std::string text = mantissa.consume_front("-") ? "-" : "";
  std::string digits = (mantissa.take_front(1) + mantissa.substr(2)).str();
  digits.resize(std::max<size_t>(StringRef(digits).rtrim('0').size(), 1));
  if (exponent < -4 || exponent >= 16) {
    text += digits[0];
    if (digits.size() > 1)
      text += "." + digits.substr(1);
    std::snprintf(buffer, sizeof(buffer), "e%+03d",
                  std::clamp(exponent, -999, 999));
    return text + buffer;
  }
  if (exponent < 0)
    return text + "0." + std::string(size_t(-exponent - 1), '0') + digits;
  size_t whole = size_t(exponent) + 1;
  if (digits.size() <= whole)
    return text + digits + std::string(whole - digits.size(), '0') + ".0";
  return text + digits.substr(0, whole) + "." + digits.substr(whole);
}

/// `\xNN`, `\uNNNN` or `\UNNNNNNNN`.
static std::string escapeOf(uint32_t character) {
  char buffer[16];
  const char *form = character < 0x100     ? "\\x%02x"
                     : character < 0x10000 ? "\\u%04x"
                                           : "\\U%08x";
  std::snprintf(buffer, sizeof(buffer), form, unsigned(character));
  return buffer;
}

std::string anec::jinja::textRepr(StringRef text, bool isAscii) {
  char quote = text.contains('\'') && !text.contains('"') ? '"' : '\'';
  std::string out(1, quote);
  for (StringRef rest = text; !rest.empty();) {
    uint32_t character = takeCharacter(rest);
    if (character == uint32_t(quote) || character == '\\')
      out += {'\\', char(character)};
    else if (character == '\n')
      out += "\\n";
    else if (character == '\r')
      out += "\\r";
    else if (character == '\t')
      out += "\\t";
    else if (isPrintable(character) && (!isAscii || character < 0x80))
      appendCharacter(out, character);
    else
      out += escapeOf(character);
  }
  return out + quote;
}

static void appendUnit(std::string &out, uint32_t unit) {
  char buffer[16];
  std::snprintf(buffer, sizeof(buffer), "\\u%04x", unsigned(unit));
  out += buffer;
}

static std::string jsonText(StringRef text, bool isAscii) {
  std::string out = "\"";
  for (StringRef rest = text; !rest.empty();) {
    uint32_t character = takeCharacter(rest);
    static constexpr std::pair<char, StringLiteral> escapes[] = {
        {'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\n"}, {'\r', "\\r"},
        {'\t', "\\t"}, {'\f', "\\f"},  {'\b', "\\b"}};
    const auto *escape = find_if(escapes, [&](const auto &each) {
      return uint32_t(each.first) == character;
    });
    if (escape != std::end(escapes)) {
      out += escape->second;
    } else if (character < 0x20 || (isAscii && character >= 0x7F)) {
      if (character >= 0x10000) {
        appendUnit(out, 0xD800 + ((character - 0x10000) >> 10));
        appendUnit(out, 0xDC00 + ((character - 0x10000) & 0x3FF));
      } else {
        appendUnit(out, character);
      }
    } else {
      appendCharacter(out, character);
    }
  }
  return out + "\"";
}

//===----------------------------------------------------------------------===//
// str() and repr()
//===----------------------------------------------------------------------===//

namespace {
class Printer {
public:
  explicit Printer(Evaluator &eval) : eval(eval), out(eval) {}
  void print(const Value &value);
  std::string take() { return out.take(); }

private:
  void printItems(const List &items);
  void printSequence(const Sequence &sequence);
  void printDict(const Dict &dict);
  void printFunction(const Callable &function);

  Evaluator &eval;
  TextBuilder out;
  unsigned spaces = 0; ///< of namespaces, which can be in themselves
};
} // namespace

void Printer::printItems(const List &items) {
  for (auto [index, item] : enumerate(items)) {
    if (eval.failed())
      return;
    if (index)
      out += ", ";
    print(item);
  }
}

void Printer::printSequence(const Sequence &sequence) {
  switch (sequence.kind) {
  case SK::List:
    out += "[";
    printItems(sequence.items);
    out += "]";
    return;
  case SK::Tuple:
  case SK::Group:
    out += "(";
    printItems(sequence.items);
    out += sequence.items.size() == 1 ? ",)" : ")";
    return;
  case SK::Range:
    out += "range(" + itostr(sequence.start) + ", " + itostr(sequence.stop);
    if (sequence.step != 1)
      out += ", " + itostr(sequence.step);
    out += ")";
    return;
  case SK::Keys:
  case SK::Values:
  case SK::Items:
    out += sequence.kind == SK::Keys     ? "dict_keys(["
           : sequence.kind == SK::Values ? "dict_values(["
                                         : "dict_items([";
    printItems(sequence.items);
    out += "])";
  }
}

void Printer::printDict(const Dict &dict) {
  out += "{";
  for (auto [index, entry] : enumerate(dict.entries)) {
    if (eval.failed())
      return;
    if (index)
      out += ", ";
    print(entry.first);
    out += ": ";
    print(entry.second);
  }
  out += "}";
}

void Printer::printFunction(const Callable &function) {
  if (function.isMacro())
    out += function.name.empty()
               ? "<Macro anonymous>"
               : "<Macro " + textRepr(function.name, false) + ">";
  else if (function.row)
    out += ("<function " + function.row->name + ">").str();
  else
    out += "<function>";
}

void Printer::print(const Value &value) {
  switch (value.kind()) {
  case VK::Undefined:
    out += "Undefined";
    return;
  case VK::None:
    out += "None";
    return;
  case VK::Bool:
    out += value.isTrue() ? "True" : "False";
    return;
  case VK::Integer:
  case VK::BigInteger:
    out += eval.digits(value);
    return;
  case VK::Float:
    out += floatText(value.asNumber());
    return;
  case VK::Text:
    if (!eval.spendOn(value.text()) || !eval.reserve(value.text().size()))
      return;
    if (value.isMarkup())
      out += "Markup(";
    out += textRepr(value.text(), false);
    if (value.isMarkup())
      out += ")";
    return;
  case VK::Sequence:
    printSequence(value.sequence());
    return;
  case VK::Dict:
    printDict(value.dict());
    return;
  case VK::Namespace:
    if (++spaces > 20) {
      eval.fail("a namespace that is in itself cannot be printed");
      return;
    }
    out += "<Namespace ";
    printDict(*value.space().members);
    out += ">";
    --spaces;
    return;
  case VK::Iterator:
    out += "<generator object>";
    return;
  case VK::Callable:
    printFunction(value.callable());
    return;
  case VK::Loop:
    out += "<LoopContext " + itostr(value.loop().index0 + 1) + "/" +
           itostr(eval.lengthOf(value.loop())) + ">";
    return;
  }
}

std::string Evaluator::digits(const Value &integer) {
  if (!integer.isBig())
    return itostr(integer.asInteger());
  const Whole &number = integer.big();
  std::optional<std::string> made;
  if (spend(number.workOfDigits()))
    made = number.text();
  if (!made)
    fail("an integer is too large to be printed");
  return made.value_or("");
}

std::string Evaluator::repr(const Value &value) {
  Printer printer(*this);
  printer.print(value);
  return printer.take();
}

std::string Evaluator::str(const Value &value) {
  if (value.isUndefined())
    return "";
  if (value.isText()) {
    spendOn(value.text());
    return reserve(value.text().size()) ? value.text().str() : "";
  }
  return repr(value);
}

//===----------------------------------------------------------------------===//
// json.dumps()
//===----------------------------------------------------------------------===//

namespace {
class JsonPrinter {
public:
  JsonPrinter(Evaluator &eval, const Evaluator::JsonForm &form)
      : eval(eval), form(form), out(eval) {}
  void print(const Value &value, unsigned depth);
  std::string take() { return out.take(); }

private:
  void line(unsigned depth);
  void printDict(const Dict &dict, unsigned depth);
  std::string leaf(const Value &value, bool isKey);

  Evaluator &eval;
  const Evaluator::JsonForm &form;
  TextBuilder out;
};
} // namespace

void JsonPrinter::line(unsigned depth) {
  if (!form.indent)
    return;
  out += "\n";
  for (unsigned at = 0; at < depth && !eval.failed(); ++at)
    out += *form.indent;
}

std::string JsonPrinter::leaf(const Value &value, bool isKey) {
  switch (value.kind()) {
  case VK::None:
    return "null";
  case VK::Bool:
    return value.isTrue() ? "true" : "false";
  case VK::Integer:
  case VK::BigInteger:
    return eval.digits(value);
  case VK::Float: {
    std::string text = floatText(value.asNumber());
    return text == "nan"    ? "NaN"
           : text == "inf"  ? "Infinity"
           : text == "-inf" ? "-Infinity"
                            : text;
  }
  default:
    eval.failUndefined(value);
    eval.fail("`tojson`: a " + value.typeName() +
              (isKey ? " is not a key of JSON" : " is not JSON"));
    return "";
  }
}

void JsonPrinter::printDict(const Dict &dict, unsigned depth) {
  std::vector<const std::pair<Value, Value> *> entries;
  for (const auto &entry : dict.entries)
    entries.push_back(&entry);
  if (form.isSorted)
    stable_sort(entries, [&](const auto *lhs, const auto *rhs) {
      return eval.less(lhs->first, rhs->first);
    });
  out += "{";
  for (auto [index, entry] : enumerate(entries)) {
    if (eval.failed())
      return;
    if (index)
      out += form.comma;
    line(depth + 1);
    const Value &key = entry->first;
    eval.spendOn(key.isText() ? key.text() : "");
    out += jsonText(key.isText() ? key.text().str() : leaf(key, true),
                    form.isAscii);
    out += form.colon;
    print(entry->second, depth + 1);
  }
  line(depth);
  out += "}";
}

void JsonPrinter::print(const Value &value, unsigned depth) {
  if (value.isText()) {
    if (eval.spendOn(value.text()) && eval.reserve(value.text().size()))
      out += jsonText(value.text(), form.isAscii);
  } else if (value.is(VK::Dict)) {
    if (value.dict().entries.empty())
      out += "{}";
    else
      printDict(value.dict(), depth);
  } else if (value.isList() || value.isTuple()) {
    const List &items = value.sequence().items;
    out += "[";
    for (auto [index, item] : enumerate(items)) {
      if (eval.failed())
        return;
      if (index)
        out += form.comma;
      line(depth + 1);
      print(item, depth + 1);
    }
    if (!items.empty())
      line(depth);
    out += "]";
  } else {
    out += leaf(value, false);
  }
}

std::string Evaluator::json(const Value &value, const JsonForm &form) {
  JsonPrinter printer(*this, form);
  printer.print(value, 0);
  return printer.take();
}
