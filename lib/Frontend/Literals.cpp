//===- Literals.cpp - constants from literals -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The element types of literals, and the constants that are made of them. A
/// tensor beside a literal determines its type; without one, the literals of a
/// call do:
///
///   maximum(x, 0)          the type of x
///   exp2([0.25, 0.5])      fp16
///   range_1d(8, 0, 1)      int32
///   range_1d(8, 0, 0.5)    fp16, for all three
///
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "lib/Frontend/Diags.h"
#include "lib/IR/Elements.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Constants.h"
#include <cmath>

using namespace anec;
using namespace anec::frontend;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {

/// What the literals of some parameters are.
struct LiteralKinds {
  bool boolean = false, decimal = false;

  void add(const Term &term) {
    boolean |= term.kind == Term::Boolean;
    decimal |= term.kind == Term::Number && !term.number.isInteger;
    for (const Term &element : term.elements)
      add(element);
  }
  /// The type of `allowed` that they have without a tensor beside them.
  std::optional<DType> typeIn(DTypeSet allowed) const {
    if (boolean && allowed.contains(DType::Bool))
      return DType::Bool;
    bool takesFloats =
        allowed.contains(DType::FP16) || allowed.contains(DType::FP32);
    if (allowed.contains(DType::Int32) && !(decimal && takesFloats))
      return DType::Int32;
    if (allowed.contains(DType::UInt32))
      return DType::UInt32;
    if (takesFloats)
      return allowed.contains(DType::FP16) ? DType::FP16 : DType::FP32;
    return boolean || !allowed.contains(DType::Bool)
               ? std::nullopt
               : std::optional(DType::Bool);
  }
};

} // namespace

bool frontend::isLiteral(const Term &term) {
  if (term.kind == Term::List)
    return !term.elements.empty() && llvm::all_of(term.elements, isLiteral);
  return term.kind == Term::Number || term.kind == Term::Boolean;
}

DType frontend::ownType(const Term &literal) {
  LiteralKinds kinds;
  kinds.add(literal);
  return *kinds.typeIn({DType::Bool, DType::FP16, DType::Int32});
}

/// A number whose default is a decimal is one: `fill(shape = [4], value = 1)`.
static bool isDecimal(const ParamDef &param) {
  return param.isConstant() && param.fallback.contains('.');
}

std::optional<DType> frontend::literalType(const OpDef &def, GivenTerms given,
                                           const ParamDef &param) {
  LiteralKinds kinds;
  for (auto [index, other] : llvm::enumerate(def.parameters())) {
    bool tied = other.typeVar && other.typeVar == param.typeVar;
    if (!tied && &other != &param)
      continue;
    for (const Term &term : given[index]) {
      if (term.kind == Term::Tensor && tied)
        return term.tensor->type.dtype;
      kinds.add(term);
    }
    kinds.decimal |= isDecimal(other);
  }
  return kinds.typeIn(param.dtypes);
}

/// The element type of a constant that is tied to no other parameter: that of
/// the first operand that the constant can share, or that of its literal.
static std::optional<DType> untiedType(const OpDef &def, GivenTerms given,
                                       const ParamDef &param,
                                       llvm::ArrayRef<Term> terms) {
  for (auto [index, other] : llvm::enumerate(def.parameters())) {
    if (other.isConstant() || given[index].empty() ||
        !param.dtypes.contains(DType::FP32))
      continue;
    const Term &term = given[index].front();
    std::optional<DType> dtype = term.kind == Term::Tensor
                                     ? term.tensor->type.dtype
                                     : literalType(def, given, other);
    if (dtype && param.dtypes.contains(*dtype))
      return dtype;
  }
  LiteralKinds kinds;
  for (const Term &term : terms)
    kinds.add(term);
  return kinds.typeIn(param.dtypes);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Whether `number` is a value of `dtype`; for floats, rounding is fine.
static bool fits(const Number &number, DType dtype) {
  if (isFloat(dtype))
    return std::isfinite(roundToDType(number.asDouble(), dtype)) ||
           !std::isfinite(number.asDouble());
  return number.isInteger && isInteger(dtype) &&
         fitsInto(dtype, number.integer);
}

static bool vanishes(double number, DType dtype) {
  return number != 0 && isFloat(dtype) && roundToDType(number, dtype) == 0;
}

/// The value of a number or truth value as an element of `dtype`; nothing, with
/// the reason reported, when it is none. One that becomes 0 is warned of.
std::optional<double> BodyLowering::element(const Term &term, DType dtype) {
  if (term.kind == Term::Boolean && dtype == DType::Bool)
    return term.boolean;
  if (term.kind != Term::Number || !fits(term.number, dtype)) {
    diags.report(term.range, diag::LiteralType, inWords(term, file.dimensions),
                 spelling(dtype));
    return std::nullopt;
  }
  double number = term.number.asDouble();
  if (vanishes(number, dtype))
    diags.report(term.range, diag::LiteralUnderflow, term.number.str(),
                 spelling(dtype), smallestNormal(dtype));
  return number;
}

//===----------------------------------------------------------------------===//
// Constant tensors
//===----------------------------------------------------------------------===//

/// The numbers and truth values of nested lists in order, and their shape.
bool BodyLowering::flatten(const Term &term, unsigned depth, Shape &shape,
                           std::vector<const Term *> &leaves) {
  if (term.kind != Term::List) {
    leaves.push_back(&term);
    return true;
  }
  int64_t extent = int64_t(term.elements.size());
  if (depth == shape.size())
    shape.push_back(extent);
  if (shape[depth] != extent || extent == 0) {
    diags.report(term.range, diag::RaggedList, counted(extent, "element"),
                 extent == 0 ? "an array has at least one"
                             : "the lists before it have " +
                                   std::to_string(shape[depth]));
    return false;
  }
  return llvm::all_of(term.elements, [&](const Term &element) {
    return flatten(element, depth + 1, shape, leaves);
  });
}

Value *BodyLowering::literal(const Term &term, DType dtype) {
  Shape shape;
  std::vector<const Term *> leaves;
  if (!flatten(term, 0, shape, leaves))
    return nullptr;
  std::vector<double> values;
  for (const Term *leaf : leaves) {
    std::optional<double> value = element(*leaf, dtype);
    if (!value)
      return nullptr;
    values.push_back(*value);
  }
  builder->setRange(term.range);
  return builder->build(
      ops::Const, {},
      {{param::val, Constant::fromDoubles(TensorType(dtype, shape), values)}});
}

//===----------------------------------------------------------------------===//
// Constant parameters
//===----------------------------------------------------------------------===//

/// The domain of a constant parameter, in terms of the language.
static std::string domainInWords(const ParamDef &param) {
  auto of = [&](llvm::StringRef one, llvm::StringRef several) {
    if (param.rank == 0)
      return one.str();
    return (param.rank == 1 ? "a list of " : "lists of ") + several.str();
  };
  if (param.dtypes.contains(DType::Bool) && !param.dtypes.contains(DType::FP16))
    return of("`true` or `false`", "`true` and `false`");
  if (param.dtypes.contains(DType::String))
    return of("a string", "strings");
  if (param.dtypes.contains(DType::FP16) || param.dtypes.contains(DType::FP32))
    return of("a number", "numbers");
  return of("an integer", "integers");
}

/// Whether a term of this kind can be an element of a constant for `param`.
static bool takes(const ParamDef &param, const Term &term) {
  switch (term.kind) {
  case Term::Boolean:
    return param.dtypes.contains(DType::Bool);
  case Term::String:
    return param.dtypes.contains(DType::String);
  case Term::Number:
    return param.dtypes.contains(DType::FP16) ||
           param.dtypes.contains(DType::FP32) ||
           (param.dtypes.contains(DType::Int32) &&
            fits(term.number, DType::Int32)) ||
           (param.dtypes.contains(DType::UInt32) &&
            fits(term.number, DType::UInt32));
  default:
    return false;
  }
}

/// The constant of `shape` from literals that `param` takes; null, with the
/// reason reported, when one does not fit in `dtype`.
ConstantRef BodyLowering::makeConstant(llvm::ArrayRef<const Term *> terms,
                                       const Shape &shape,
                                       const ParamDef &param,
                                       std::optional<DType> dtype) {
  if (!terms.empty() && terms[0]->kind == Term::String) {
    std::vector<std::string> strings;
    for (const Term *term : terms)
      strings.push_back(term->text.str());
    return Constant::strings({DType::String, shape}, std::move(strings));
  }
  DType wanted = dtype.value_or(DType::Int32);
  std::vector<double> values;
  for (const Term *each : terms) {
    const Term &term = *each;
    if (param.offZero && vanishes(term.number.asDouble(), wanted)) {
      values.push_back(smallestNormal(wanted));
      diags.report(term.range, diag::EpsilonRaised, param.name,
                   term.number.str(), spelling(wanted), values.back());
      continue;
    }
    std::optional<double> value = element(term, wanted);
    if (!value)
      return nullptr;
    values.push_back(*value);
  }
  return Constant::fromDoubles({wanted, shape}, values);
}

/// The value of a default that the row's own conversion would get wrong: its
/// type follows from other literals, or it would become 0.
ConstantRef BodyLowering::changedDefault(const ast::ReferenceExpr *expr,
                                         const OpDef &def, GivenTerms given,
                                         const ParamDef &param) {
  double number = 0;
  if (param.fallback.getAsDouble(number) || param.rank != 0)
    return nullptr;
  if (param.offZero) {
    std::optional<DType> dtype = untiedType(def, given, param, {});
    if (!dtype || !vanishes(number, *dtype))
      return nullptr;
    double raised = smallestNormal(*dtype);
    if (file.remarks)
      diags.report(expr->range, diag::EpsilonRaised, param.name,
                   Number::ofDecimal(number).str(), spelling(*dtype), raised);
    return Constant::scalar(*dtype, raised);
  }
  bool isTied = llvm::any_of(def.parameters(), [&](const ParamDef &other) {
    return !other.isConstant() && other.typeVar == param.typeVar;
  });
  if (isTied || !param.typeVar || !param.dtypes.contains(DType::FP16))
    return nullptr;
  std::optional<DType> dtype = literalType(def, given, param);
  return dtype ? Constant::fromDoubles(*dtype, number) : nullptr;
}

/// The constant for a constant parameter; null when there is no argument, or,
/// with the reason reported, when it does not fit.
ConstantRef BodyLowering::fitConstant(const ast::ReferenceExpr *expr,
                                      const OpDef &def, GivenTerms given,
                                      const ParamDef &param, bool &ok) {
  llvm::ArrayRef<Term> terms = given[&param - def.parameters().data()];
  if (terms.empty())
    return changedDefault(expr, def, given, param);
  const Term &term = terms[0];
  if (term.kind == Term::Tensor && term.tensor->definingOp() &&
      term.tensor->definingOp()->is(ops::Const))
    return term.tensor->definingOp()->constant(param::val);
  // A single integer can be used as a list of one.
  bool list = term.kind == Term::List;
  Shape shape;
  std::vector<const Term *> elements;
  if (param.rank >= 0 && list) {
    shape.push_back(int64_t(term.elements.size()));
    for (const Term &element : term.elements)
      elements.push_back(&element);
  } else if (!flatten(term, 0, shape, elements)) {
    ok = false;
    return nullptr;
  }
  if (!list && param.rank == 1)
    shape.push_back(1);
  if ((list && param.rank == 0) ||
      !llvm::all_of(elements,
                    [&](const Term *each) { return takes(param, *each); })) {
    diags.report(term.range, diag::ArgumentType, expr->name.text, param.name,
                 domainInWords(param), inWords(term, file.dimensions));
    ok = false;
    return nullptr;
  }
  ConstantRef constant =
      makeConstant(elements, shape, param,
                   param.typeVar ? literalType(def, given, param)
                                 : untiedType(def, given, param, terms));
  ok &= constant != nullptr;
  return constant;
}
