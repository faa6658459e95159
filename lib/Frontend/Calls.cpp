//===- Calls.cpp - calls of built-in ops ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Lowering a call matches its arguments to the parameters of the op's row, in
/// the row's order or by name, converts literals to constants of the
/// parameter's domain, and leaves the rest to Builder.
///
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "anec/Frontend/Diags.h"
#include "anec/IR/Diags.h"
#include "anec/IR/Elements.h"
#include "anec/Ops/Ops.h"
#include <cmath>

using namespace anec;
using namespace anec::frontend;

namespace {
/// A name in the language for an op with another name in MIL.
struct Alias {
  llvm::StringLiteral name;
  const OpDef *op;
};
} // namespace

static constexpr Alias aliases[] = {
    {"gather", &ops::Embed},      {"max", &ops::ReduceMax},
    {"mean", &ops::ReduceMean},   {"min", &ops::ReduceMin},
    {"slice", &ops::SliceBySize}, {"sum", &ops::ReduceSum},
    {"take", &ops::Gather},
};

const OpDef *FileLowering::findOp(llvm::StringRef name) const {
  for (const Alias &alias : aliases)
    if (alias.name == name)
      return alias.op;
  const OpDef *def = ops.find(name);
  return def && !def->has(trait::NotCallable) ? def : nullptr;
}

Term BodyLowering::lowerCall(const ast::ReferenceExpr *expr) {
  llvm::StringRef name = expr->name.text;
  if (!function) {
    diags.report(expr->range, diag::CallInConfig, name);
    return {};
  }
  if (auto it = file.signatures.find(name); it != file.signatures.end())
    return lowerBlockCall(expr, it->second);
  if (expr->index) {
    diags.report(expr->range, diag::IndexedValue, name);
    return {};
  }
  if (const OpDef *def = file.findOp(name))
    return lowerBuiltin(expr, *def);

  if (Binding *binding = findName(name)) {
    diags.report(expr->name.range(), diag::CalledValue, name)
        .note(binding->declared, diag::DeclaredHere, name);
    return {};
  }
  Suggestion suggestion(name);
  for (const OpDef *row : file.ops.all())
    if (!row->has(trait::NotCallable))
      suggestion.consider(row->name);
  for (const Alias &alias : aliases)
    suggestion.consider(alias.name);
  for (const auto &entry : file.signatures)
    suggestion.consider(entry.getKey());
  auto report = diags.report(expr->name.range(), diag::UnknownOp, name);
  suggestion.note(report, expr->name.range());
  return {};
}

Term BodyLowering::build(const OpDef &def, llvm::ArrayRef<Value *> operands,
                         llvm::ArrayRef<ConstantRef> constants,
                         SourceRange range, llvm::StringRef writtenAs,
                         llvm::ArrayRef<NamedInteger> hints) {
  builder->setRange(range);
  builder->setWrittenAs(writtenAs);
  Op *op = builder->createWithSlots(def, operands, constants, {});
  if (!op)
    return {};
  file.dimensions.derive(*op, hints);
  if (op->numResults() == 1)
    return Term::ofTensor(op->result(), range);
  Term term{Term::Several, range};
  for (Value *result : op->resultValues())
    term.elements.push_back(Term::ofTensor(result, range));
  return term;
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

/// Whether `number` is a value of `dtype`; for floats, rounding is fine.
static bool fits(const Number &number, DType dtype) {
  if (isFloat(dtype))
    return std::isfinite(roundToDType(number.asDouble(), dtype));
  return number.isInteger && isInteger(dtype) &&
         fitsInto(dtype, number.integer);
}

Value *BodyLowering::literal(const Term &term, DType dtype) {
  bool list = term.kind == Term::List;
  std::vector<double> values;
  for (const Term &element : list ? llvm::ArrayRef<Term>(term.elements)
                                  : llvm::ArrayRef<Term>(term)) {
    if (element.kind == Term::Boolean && dtype == DType::Bool) {
      values.push_back(element.boolean);
      continue;
    }
    if (element.kind != Term::Number || !fits(element.number, dtype)) {
      diags.report(element.range, diag::LiteralType,
                   inWords(element, file.dimensions), spelling(dtype));
      return nullptr;
    }
    values.push_back(element.number.asDouble());
  }
  TensorType type(dtype);
  if (list)
    type.shape.push_back(values.size());
  builder->setRange(term.range);
  return builder->build(ops::Const, {},
                        {{param::val, Constant::fromDoubles(type, values)}});
}

/// The domain of a constant parameter, in terms of the language.
static std::string domainInWords(const ParamDef &param) {
  bool list = param.rank == 1;
  if (param.dtypes.contains(DType::Bool))
    return list ? "a list of `true` and `false`" : "`true` or `false`";
  if (param.dtypes.contains(DType::String))
    return list ? "a list of strings" : "a string";
  if (param.dtypes.contains(DType::FP16) || param.dtypes.contains(DType::FP32))
    return list ? "a list of numbers" : "a number";
  return list ? "a list of integers" : "an integer";
}

/// The constant for `param` from one literal or a list of literals; null when
/// it is outside the parameter's domain.
static ConstantRef makeConstant(llvm::ArrayRef<Term> terms, bool list,
                                const ParamDef &param) {
  bool takesFloats =
      param.dtypes.contains(DType::FP16) || param.dtypes.contains(DType::FP32);
  DType integerType =
      param.dtypes.contains(DType::Int32) ? DType::Int32 : DType::UInt32;
  llvm::SmallVector<bool, 4> booleans;
  std::vector<double> integers, decimals;
  std::vector<std::string> strings;
  for (const Term &term : terms) {
    if (term.kind == Term::Boolean && param.dtypes.contains(DType::Bool))
      booleans.push_back(term.boolean);
    else if (term.kind == Term::String && param.dtypes.contains(DType::String))
      strings.push_back(term.text.str());
    else if (term.kind == Term::Number && takesFloats)
      decimals.push_back(term.number.asDouble());
    else if (term.kind == Term::Number && fits(term.number, integerType) &&
             param.dtypes.contains(integerType))
      integers.push_back(term.number.asDouble());
    else
      return nullptr;
  }
  Shape shape;
  if (list)
    shape.push_back(terms.size());
  if (!booleans.empty())
    return list ? Constant::booleans(booleans) : Constant::boolean(booleans[0]);
  if (!strings.empty())
    return list ? Constant::strings({DType::String, shape}, std::move(strings))
                : Constant::string(strings[0]);
  // Builder rounds to the element type of the operands.
  if (!decimals.empty())
    return Constant::fromDoubles({DType::FP64, shape}, decimals);
  return Constant::fromDoubles({integerType, shape}, integers);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {

/// The arguments of a call, by parameter.
class ArgumentFitter {
public:
  ArgumentFitter(const ast::ReferenceExpr *call, const OpDef &def,
                 Diagnostics &diags)
      : call(call), parameters(def.parameters()), diags(diags),
        given(parameters.size()) {}

  bool add(const ast::Argument &argument, Term term);

  llvm::ArrayRef<Term> operator[](size_t parameter) const {
    return given[parameter];
  }

private:
  const ast::ReferenceExpr *call;
  llvm::ArrayRef<ParamDef> parameters;
  Diagnostics &diags;
  std::vector<std::vector<Term>> given;
  size_t next = 0;
  bool sawNamed = false;

  bool addNamed(const ast::Name &name, Term term);
  bool fill(size_t index, Term term);
};

} // namespace

bool ArgumentFitter::fill(size_t index, Term term) {
  // A variadic parameter accepts a list of tensors, or individual tensors.
  if (parameters[index].kind == ParamKind::Variadic &&
      term.kind == Term::List) {
    given[index] = std::move(term.elements);
    return true;
  }
  given[index].push_back(std::move(term));
  return true;
}

bool ArgumentFitter::addNamed(const ast::Name &name, Term term) {
  sawNamed = true;
  for (auto [index, param] : llvm::enumerate(parameters)) {
    if (param.name != name.text)
      continue;
    if (given[index].empty())
      return fill(index, std::move(term));
    diags
        .report(name.range(), diag::DuplicateArgument, call->name.text,
                name.text)
        .note(given[index].front().range, diag::FirstArgument);
    return false;
  }
  auto report = diags.report(name.range(), diag::UnknownParameter,
                             call->name.text, name.text);
  Suggestion suggestion(name.text);
  for (const ParamDef &param : parameters)
    suggestion.consider(param.name);
  suggestion.note(report, name.range());
  return false;
}

bool ArgumentFitter::add(const ast::Argument &argument, Term term) {
  if (!argument.parameter.text.empty())
    return addNamed(argument.parameter, std::move(term));
  if (sawNamed) {
    diags.report(term.range, diag::PositionalAfterNamed, call->name.text);
    return false;
  }
  if (next < parameters.size() &&
      parameters[next].kind == ParamKind::Variadic && !given[next].empty() &&
      term.kind != Term::Tensor)
    ++next;
  if (next == parameters.size()) {
    diags.report(term.range, diag::TooManyArguments, call->name.text,
                 counted(parameters.size(), "argument"));
    return false;
  }
  bool stays =
      parameters[next].kind == ParamKind::Variadic && term.kind == Term::Tensor;
  bool ok = fill(next, std::move(term));
  next += !stays;
  return ok;
}

/// The element type of literals for `param`, determined by the tensors among
/// the arguments.
static std::optional<DType> elementTypeFor(const OpDef &def,
                                           const ArgumentFitter &arguments,
                                           const ParamDef &param) {
  for (auto [index, other] : llvm::enumerate(def.parameters()))
    for (const Term &term : arguments[index])
      if (term.kind == Term::Tensor && param.typeVar &&
          other.typeVar == param.typeVar)
        return term.tensor->type.dtype;
  // Without one, integers and booleans have the type of their spelling.
  if (param.dtypes.contains(DType::Int32))
    return DType::Int32;
  if (param.dtypes.contains(DType::Bool))
    return DType::Bool;
  return std::nullopt;
}

/// The constant for a constant parameter; null when there is no argument, or,
/// with the reason reported, when it does not fit.
ConstantRef BodyLowering::fitConstant(const ast::ReferenceExpr *expr,
                                      const ParamDef &param,
                                      llvm::ArrayRef<Term> terms, bool &ok) {
  if (terms.empty())
    return nullptr;
  // A single integer can be used as a list of one.
  bool list = terms[0].kind == Term::List;
  bool wraps = !list && param.rank == 1;
  ConstantRef constant;
  if (list ? param.rank != 0 : true)
    constant = makeConstant(list ? llvm::ArrayRef(terms[0].elements)
                                 : terms.take_front(1),
                            list || wraps, param);
  if (!constant) {
    diags.report(terms[0].range, diag::ArgumentType, expr->name.text,
                 param.name, domainInWords(param),
                 inWords(terms[0], file.dimensions));
    ok = false;
  }
  return constant;
}

/// The value for a value parameter; null, with the reason reported, when `term`
/// is not a value and cannot be converted to one of element type `dtype`.
Value *BodyLowering::fitTensor(const ast::ReferenceExpr *expr,
                               const ParamDef &param, const Term &term,
                               std::optional<DType> dtype) {
  if (term.kind == Term::Tensor)
    return term.tensor;
  bool isLiteral =
      term.kind == Term::Number || term.kind == Term::Boolean ||
      (term.kind == Term::List && param.kind != ParamKind::Variadic);
  if (isLiteral && dtype)
    return literal(term, *dtype);
  diags.report(term.range, diag::ArgumentType, expr->name.text, param.name,
               "a tensor", inWords(term, file.dimensions));
  return nullptr;
}

Term BodyLowering::lowerBuiltin(const ast::ReferenceExpr *expr,
                                const OpDef &def) {
  ArgumentFitter arguments(expr, def, diags);
  llvm::SmallVector<NamedInteger, 4> hints;
  bool ok = true;
  for (const ast::Argument &argument : expr->arguments) {
    Term term = lower(argument.value);
    ok &= !term.isPoison();
    if (term.kind == Term::Number && term.number.isInteger &&
        !llvm::isa<ast::IntegerExpr>(argument.value))
      hints.push_back(
          {ast::Name::textOf(argument.value->range), term.number.integer});
    ok &= arguments.add(argument, std::move(term));
  }
  if (!ok)
    return {};

  llvm::SmallVector<Value *, 4> operands;
  llvm::SmallVector<ConstantRef, 4> constants;
  for (auto [index, param] : llvm::enumerate(def.parameters())) {
    llvm::ArrayRef<Term> terms = arguments[index];
    if (param.isConstant()) {
      constants.push_back(fitConstant(expr, param, terms, ok));
      continue;
    }
    if (terms.empty() && param.kind != ParamKind::Variadic)
      operands.push_back(nullptr);
    for (const Term &term : terms) {
      operands.push_back(
          fitTensor(expr, param, term, elementTypeFor(def, arguments, param)));
      ok &= operands.back() != nullptr;
    }
  }
  return ok ? build(def, operands, constants, expr->range, expr->name.text,
                    hints)
            : Term();
}
