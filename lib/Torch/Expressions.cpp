//===- Expressions.cpp - expressions over symbolic extents ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Expressions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace anec;
using namespace anec::torch;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

using Numbers = llvm::ArrayRef<int64_t>;
using Result = std::optional<int64_t>;

static Result add(Numbers x) {
  int64_t sum = 0;
  for (int64_t number : x)
    if (llvm::AddOverflow(sum, number, sum))
      return std::nullopt;
  return sum;
}

static Result multiply(Numbers x) {
  int64_t product = 1;
  for (int64_t number : x)
    if (llvm::MulOverflow(product, number, product))
      return std::nullopt;
  return product;
}

static bool canDivide(Numbers x) {
  return x[1] != 0 && !(x[0] == INT64_MIN && x[1] == -1);
}

static Result floorDivide(Numbers x) {
  if (!canDivide(x))
    return std::nullopt;
  int64_t quotient = x[0] / x[1];
  return quotient - (x[0] % x[1] != 0 && (x[0] < 0) != (x[1] < 0));
}

static Result cleanDivide(Numbers x) {
  return canDivide(x) && x[0] % x[1] == 0 ? Result(x[0] / x[1]) : std::nullopt;
}

static Result modulo(Numbers x) {
  if (!canDivide(x))
    return std::nullopt;
  int64_t rest = x[0] % x[1];
  return rest != 0 && (rest < 0) != (x[1] < 0) ? rest + x[1] : rest;
}

static Result power(Numbers x) {
  if (x[1] < 0 || x[1] > 64)
    return std::nullopt;
  std::vector<int64_t> factors(size_t(x[1]), x[0]);
  return multiply(factors);
}

static Result largest(Numbers x) {
  return *std::max_element(x.begin(), x.end());
}
static Result smallest(Numbers x) {
  return *std::min_element(x.begin(), x.end());
}
static Result same(Numbers x) { return x[0]; }
static Result modularIndex(Numbers x) {
  Result quotient = floorDivide(x.take_front(2));
  return quotient ? modulo({*quotient, x[2]}) : std::nullopt;
}
static Result isEqual(Numbers x) { return x[0] == x[1]; }
static Result isUnequal(Numbers x) { return x[0] != x[1]; }
static Result isGreater(Numbers x) { return x[0] > x[1]; }
static Result isLess(Numbers x) { return x[0] < x[1]; }
static Result isAtLeast(Numbers x) { return x[0] >= x[1]; }
static Result isAtMost(Numbers x) { return x[0] <= x[1]; }
static Result choose(Numbers x) { return x[0] ? x[1] : x[2]; }

namespace {
struct FunctionRow {
  llvm::StringLiteral name;
  Result (*evaluate)(Numbers operands);
  unsigned least, most;
  llvm::StringLiteral infix = "";
};
} // namespace

static constexpr unsigned any = ~0u;

static constexpr FunctionRow functionTable[] = {
    {"Add", add, 1, any, " + "},
    {"CleanDiv", cleanDivide, 2, 2, "/"},
    {"Equality", isEqual, 2, 2, " == "},
    {"FloorDiv", floorDivide, 2, 2, "//"},
    {"GreaterThan", isAtLeast, 2, 2, " >= "},
    {"Identity", same, 1, 1},
    {"IntTrueDiv", cleanDivide, 2, 2, "/"},
    {"LessThan", isAtMost, 2, 2, " <= "},
    {"Max", largest, 1, any},
    {"Min", smallest, 1, any},
    {"Mod", modulo, 2, 2, "%"},
    {"ModularIndexing", modularIndex, 3, 3},
    {"Mul", multiply, 1, any, "*"},
    {"Pow", power, 2, 2, "**"},
    {"PythonMod", modulo, 2, 2, "%"},
    {"StrictGreaterThan", isGreater, 2, 2, " > "},
    {"StrictLessThan", isLess, 2, 2, " < "},
    {"Unequality", isUnequal, 2, 2, " != "},
    {"Where", choose, 3, 3},
};

static const FunctionRow *functionRow(StringRef name) {
  for (const FunctionRow &row : functionTable)
    if (row.name == name)
      return &row;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace anec::torch {

class ExpressionParser {
public:
  explicit ExpressionParser(StringRef text) : text(text) {}
  std::unique_ptr<Expression> parseAll() {
    std::unique_ptr<Expression> result = parse(0);
    return text.trim().empty() ? std::move(result) : nullptr;
  }

private:
  static constexpr unsigned deepest = 64;

  StringRef takeWord() {
    text = text.ltrim();
    StringRef word = text.take_while(
        [](char c) { return llvm::isAlnum(c) || c == '_' || c == '-'; });
    text = text.drop_front(word.size());
    return word;
  }
  bool take(char c) {
    text = text.ltrim();
    return text.consume_front(StringRef(&c, 1));
  }
  std::unique_ptr<Expression> parse(unsigned depth);
  bool parseSymbol(Expression &result);

  StringRef text;
};

} // namespace anec::torch

/// `'s10', positive=True, integer=True)`.
bool ExpressionParser::parseSymbol(Expression &result) {
  if (!take('\''))
    return false;
  result.symbol = text.take_until([](char c) { return c == '\''; });
  text = text.drop_front(result.symbol.size());
  if (!take('\''))
    return false;
  while (take(','))
    if (takeWord().empty() || !take('=') || takeWord().empty())
      return false;
  return take(')') && !result.symbol.empty();
}

std::unique_ptr<Expression> ExpressionParser::parse(unsigned depth) {
  auto result = std::make_unique<Expression>();
  result->function = takeWord();
  if (depth == deepest || !take('('))
    return nullptr;
  if (result->function == "Symbol")
    return parseSymbol(*result) ? std::move(result) : nullptr;
  if (result->function == "Integer")
    return !takeWord().getAsInteger(10, result->number) && take(')')
               ? std::move(result)
               : nullptr;
  const FunctionRow *row = functionRow(result->function);
  if (!row)
    return nullptr;
  do {
    result->operands.push_back(parse(depth + 1));
    if (!result->operands.back())
      return nullptr;
  } while (take(','));
  size_t count = result->operands.size();
  return take(')') && count >= row->least && count <= row->most
             ? std::move(result)
             : nullptr;
}

std::unique_ptr<Expression> Expression::parse(StringRef text) {
  return ExpressionParser(text).parseAll();
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Result Expression::evaluate(const Symbols &symbols) const {
  if (function == "Integer")
    return number;
  if (function == "Symbol") {
    auto found = symbols.find(symbol);
    return found == symbols.end() ? std::nullopt : Result(found->second);
  }
  std::vector<int64_t> numbers;
  for (const std::unique_ptr<Expression> &operand : operands) {
    Result result = operand->evaluate(symbols);
    if (!result)
      return std::nullopt;
    numbers.push_back(*result);
  }
  return functionRow(function)->evaluate(numbers);
}

void Expression::collect(std::vector<StringRef> &names) const {
  if (!symbol.empty() && !llvm::is_contained(names, symbol))
    names.push_back(symbol);
  for (const std::unique_ptr<Expression> &operand : operands)
    operand->collect(names);
}

std::string Expression::str() const {
  if (function == "Integer")
    return std::to_string(number);
  if (function == "Symbol")
    return symbol.str();
  const FunctionRow &row = *functionRow(function);
  StringRef between = row.infix;
  if (between.empty())
    between = ", ";
  std::string text;
  for (const std::unique_ptr<Expression> &operand : operands) {
    bool isWrapped = !row.infix.empty() && !operand->operands.empty();
    text += (text.empty() ? "" : between.str()) +
            (isWrapped ? "(" + operand->str() + ")" : operand->str());
  }
  return row.infix.empty() ? function.lower() + "(" + text + ")" : text;
}
