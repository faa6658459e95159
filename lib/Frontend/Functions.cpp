//===- Functions.cpp - functions of numbers, and iota ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Functions that the compiler evaluates: `sqrt`, `min`, `ceil`, ... of numbers
/// are numbers. Some share their name with an op, which they are when an
/// argument is a tensor.
///
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "lib/Frontend/Diags.h"
#include "lib/IR/Diags.h"
#include "lib/Ops/Rows/Fill.h"
#include <cmath>

using namespace anec;
using namespace anec::frontend;

namespace {
struct NumberFunction {
  /// What the result is: a decimal, an integer, or what the arguments are.
  enum Result : uint8_t { Decimal, Integer, Same };
  llvm::StringLiteral name;
  unsigned least, most; ///< arguments
  Result result;
  /// Of decimals.
  double (*apply)(double, double);
  /// Of integers; null when they are taken as decimals.
  int64_t (*applyToIntegers)(int64_t, int64_t);
};
} // namespace

static double modulo(double a, double b) { return a - b * std::floor(a / b); }

/// `min` and `max` of many are those of two, repeated.
static constexpr NumberFunction functions[] = {
    {"abs", 1, 1, NumberFunction::Same,
     [](double a, double) { return std::fabs(a); },
     [](int64_t a, int64_t) { return a < 0 ? -a : a; }},
    {"ceil", 1, 1, NumberFunction::Integer,
     [](double a, double) { return std::ceil(a); },
     [](int64_t a, int64_t) { return a; }},
    {"exp", 1, 1, NumberFunction::Decimal,
     [](double a, double) { return std::exp(a); }, nullptr},
    {"floor", 1, 1, NumberFunction::Integer,
     [](double a, double) { return std::floor(a); },
     [](int64_t a, int64_t) { return a; }},
    {"floor_div", 2, 2, NumberFunction::Integer,
     [](double a, double b) { return std::floor(a / b); }, floorQuotient},
    {"log", 1, 1, NumberFunction::Decimal,
     [](double a, double) { return std::log(a); }, nullptr},
    {"log2", 1, 1, NumberFunction::Decimal,
     [](double a, double) { return std::log2(a); }, nullptr},
    {"max", 2, ~0u, NumberFunction::Same,
     [](double a, double b) { return std::fmax(a, b); },
     [](int64_t a, int64_t b) { return std::max(a, b); }},
    {"min", 2, ~0u, NumberFunction::Same,
     [](double a, double b) { return std::fmin(a, b); },
     [](int64_t a, int64_t b) { return std::min(a, b); }},
    {"mod", 2, 2, NumberFunction::Same, modulo,
     [](int64_t a, int64_t b) { return a - b * floorQuotient(a, b); }},
    {"round", 1, 1, NumberFunction::Integer,
     [](double a, double) { return std::nearbyint(a); },
     [](int64_t a, int64_t) { return a; }},
    {"sqrt", 1, 1, NumberFunction::Decimal,
     [](double a, double) { return std::sqrt(a); }, nullptr},
};

static const NumberFunction *findFunction(llvm::StringRef name) {
  auto *it = llvm::find_if(functions, [&](const NumberFunction &function) {
    return function.name == name;
  });
  return it == std::end(functions) ? nullptr : it;
}

bool frontend::isNumberFunction(llvm::StringRef name) {
  return findFunction(name);
}

bool frontend::givesInteger(llvm::StringRef function, bool ofIntegers) {
  const NumberFunction *row = findFunction(function);
  return row && (row->result == NumberFunction::Integer ||
                 (row->result == NumberFunction::Same && ofIntegers));
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// `ceil(a / b)` and `floor(a / b)` of integers are exact, whether or not b
/// divides a.
Term BodyLowering::lowerQuotient(const ast::ReferenceExpr *expr,
                                 const ast::BinaryExpr *quotient) {
  Term lhs = lower(quotient->lhs), rhs = lower(quotient->rhs);
  auto isInteger = [](const Term &term) {
    return term.kind == Term::Number && term.number.isInteger;
  };
  if (!isInteger(lhs) || !isInteger(rhs) || rhs.number.integer == 0 ||
      lhs.number.integer == INT64_MIN)
    return lowerBinary(quotient, lhs, rhs);
  int64_t a = lhs.number.integer, b = rhs.number.integer;
  bool up = expr->name.text == "ceil";
  return Term::ofNumber(
      Number::ofInteger(up ? -floorQuotient(-a, b) : floorQuotient(a, b)),
      quotient->range);
}

std::vector<Term> BodyLowering::lowerArguments(const ast::ReferenceExpr *expr) {
  bool rounds = expr->name.text == "ceil" || expr->name.text == "floor";
  std::vector<Term> terms;
  for (const ast::Argument &argument : expr->arguments) {
    auto *binary = llvm::dyn_cast<ast::BinaryExpr>(argument.value);
    terms.push_back(rounds && binary && binary->op.text == "/"
                        ? lowerQuotient(expr, binary)
                        : lower(argument.value));
  }
  return terms;
}

/// The function's value; nothing, with what the value is instead in `problem`,
/// if it is not a number of the language.
static std::optional<Number> apply(const NumberFunction &function,
                                   const Number &a, const Number &b,
                                   llvm::StringRef &problem) {
  auto refuse = [&](llvm::StringRef what) {
    problem = what;
    return std::nullopt;
  };
  if (function.applyToIntegers && a.isInteger && b.isInteger) {
    bool divides = function.least == 2 && function.most == 2 && b.integer == 0;
    if (divides)
      return refuse("not a number");
    if (a.integer == INT64_MIN)
      return refuse("not an integer of 64 bits");
    return Number::ofInteger(function.applyToIntegers(a.integer, b.integer));
  }
  double result = function.apply(a.asDouble(), b.asDouble());
  if (std::isnan(result))
    return refuse("not a number");
  if (function.result == NumberFunction::Integer) {
    if (std::fabs(result) >= 0x1p63)
      return refuse("not an integer of 64 bits");
    return Number::ofInteger(int64_t(result));
  }
  // What is computed of `inf` need not be finite.
  if (std::isinf(result) && std::isfinite(a.asDouble()) &&
      std::isfinite(b.asDouble()))
    return refuse("infinite");
  return Number::ofDecimal(result);
}

/// `2, -1.5`
static std::string spell(llvm::ArrayRef<Term> numbers) {
  std::string text;
  for (const Term &term : numbers)
    text += (text.empty() ? "" : ", ") + term.number.str();
  return text;
}

Term BodyLowering::lowerNumberFunction(const ast::ReferenceExpr *expr,
                                       llvm::ArrayRef<Term> terms) {
  const NumberFunction &function = *findFunction(expr->name.text);
  for (auto [argument, term] : llvm::zip_equal(expr->arguments, terms)) {
    if (term.isPoison())
      return {};
    if (!argument.parameter.text.empty()) {
      diags.report(argument.parameter.range(), diag::UnknownParameter,
                   function.name, argument.parameter.text);
      return {};
    }
    if (term.kind != Term::Number) {
      diags.report(term.range, diag::FunctionArgument, function.name,
                   inWords(term, file.dimensions));
      return {};
    }
  }
  if (terms.size() < function.least || terms.size() > function.most) {
    diags.report(expr->range, diag::FunctionArguments, function.name,
                 (function.most == ~0u ? "at least " : "") +
                     counted(function.least, "argument"),
                 terms.size());
    return {};
  }
  Number none = Number::ofInteger(0);
  llvm::StringRef problem;
  std::optional<Number> result =
      apply(function, terms[0].number,
            terms.size() > 1 ? terms[1].number : none, problem);
  for (const Term &term : terms.drop_front(std::min<size_t>(2, terms.size())))
    if (result)
      result = apply(function, *result, term.number, problem);
  if (result)
    return Term::ofNumber(*result, expr->range);
  diags.report(expr->range, diag::FunctionDomain, function.name, spell(terms),
               problem);
  return {};
}

//===----------------------------------------------------------------------===//
// iota
//===----------------------------------------------------------------------===//

/// `iota(n, dtype)`: 0, 1, ..., n - 1.
Term BodyLowering::lowerIota(const ast::ReferenceExpr *expr) {
  llvm::ArrayRef<ast::Argument> arguments = expr->arguments;
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    llvm::StringRef name = argument.parameter.text;
    if (name.empty() || (index == 1 && name == "dtype"))
      continue;
    diags.report(argument.parameter.range(), diag::UnknownParameter, "iota",
                 name);
    return {};
  }
  if (arguments.empty() || arguments.size() > 2) {
    diags.report(expr->range, diag::ArgumentCount, "iota",
                 "a count and an element type", arguments.size());
    return {};
  }
  std::optional<int64_t> count = lowerInteger(arguments[0].value);
  DType dtype = DType::Int32;
  if (arguments.size() == 2) {
    Term type = lower(arguments[1].value);
    if (type.isPoison())
      return {};
    std::optional<DType> given =
        type.kind == Term::String ? parseDType(type.text) : std::nullopt;
    if (!given || !numbers.contains(*given)) {
      diags.report(arguments[1].value->range, diag::ArgumentType, "iota",
                   "dtype", "`int32`, `fp16` or `fp32`",
                   type.kind == Term::String ? "`" + type.text.str() + "`"
                                             : inWords(type, file.dimensions));
      return {};
    }
    dtype = *given;
  }
  if (!count)
    return {};
  // Beyond, not every integer is a number of the type.
  int64_t exact = isFloat(dtype)
                      ? int64_t(1) << (facts(dtype).mantissaBits() + 1)
                      : INT32_MAX;
  if (*count < 1 || *count > INT32_MAX) {
    diags.report(arguments[0].value->range, diag::ExtentOutOfRange, *count);
    return {};
  }
  if (*count > exact) {
    diags.report(expr->range, diag::IotaInexact, spelling(dtype), *count);
    return {};
  }
  return build(ops::Range1d, {},
               {Constant::scalar(dtype, double(*count)),
                Constant::scalar(dtype, 0), Constant::scalar(dtype, 1)},
               expr->range, "iota");
}
