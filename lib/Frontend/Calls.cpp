//===- Calls.cpp - calls of built-in ops ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Lowering a call matches its arguments to the parameters of the op's row, in
/// the row's order or by name, and leaves the rest to Builder.
///
//===----------------------------------------------------------------------===//

#include "Hints.h"
#include "Lowering.h"
#include "OpNames.h"
#include "lib/Frontend/Diags.h"
#include "lib/IR/Diags.h"
#include "lib/Ops/Rows/Cast.h"

using namespace anec;
using namespace anec::frontend;

const OpDef *FileLowering::findOp(llvm::StringRef name) const {
  return findCallable(ops, name);
}

void FileLowering::warnOfShadow(const ast::ReferenceExpr *call,
                                const ast::FunctionDecl &callee) {
  llvm::StringRef name = callee.name.text;
  bool isBuiltin = findOp(name) || isNumberFunction(name) || name == "iota";
  if (isBuiltin && shadowing.insert(&callee).second)
    diags.report(callee.name.range(), diag::ShadowedOp, name)
        .note(call->range, diag::CalledHere, name);
}

Term BodyLowering::lowerCall(const ast::ReferenceExpr *expr) {
  llvm::StringRef name = expr->name.text;
  auto callee = file.signatures.find(name);
  bool known = callee != file.signatures.end();
  if (known)
    file.warnOfShadow(expr, *callee->second.decl);
  if (known && callee->second.decl->kind == ast::FunctionDecl::Fn)
    return lowerFnCall(expr, callee->second);
  if (!function) {
    if (isNumberFunction(name))
      return lowerNumberFunction(expr, lowerArguments(expr));
    diags.report(expr->range, diag::CallInConfig, name);
    return {};
  }
  if (known)
    return lowerBlockCall(expr, callee->second);
  if (expr->index) {
    diags.report(expr->range, diag::IndexedValue, name);
    return {};
  }
  if (name == "iota")
    return lowerIota(expr);
  const OpDef *def = file.findOp(name);
  if (def || isNumberFunction(name)) {
    std::vector<Term> terms = lowerArguments(expr);
    bool numbers = llvm::all_of(
        terms, [](const Term &term) { return term.kind == Term::Number; });
    return isNumberFunction(name) && (numbers || !def)
               ? lowerNumberFunction(expr, terms)
               : lowerBuiltin(expr, *def, std::move(terms));
  }

  if (Binding *binding = findName(name)) {
    diags.report(expr->name.range(), diag::CalledValue, name)
        .note(binding->declared, diag::DeclaredHere, name);
    return {};
  }
  Suggestion suggestion(name);
  for (const OpDef *row : file.ops.all()) {
    if (row->has(trait::NotCallable))
      continue;
    suggestion.consider(row->name);
    suggestion.consider(nameInLanguage(*row));
  }
  for (const auto &entry : file.signatures)
    suggestion.consider(entry.getKey());
  auto report = diags.report(expr->name.range(), diag::UnknownOp, name);
  noteInstead(report, expr->name, opFor(name), suggestion);
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

  GivenTerms terms() const { return given; }

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

/// "`x` and `axis`"
static std::string listOf(llvm::ArrayRef<ParamDef> parameters) {
  std::string text;
  for (auto [index, param] : llvm::enumerate(parameters)) {
    if (index)
      text += index + 1 == parameters.size() ? " and " : ", ";
    text += "`" + param.name.str() + "`";
  }
  return text;
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
  if (!noteInstead(report, name, parameterFor(name.text, parameters),
                   suggestion))
    report.note(name.range(), diag::HasParameters, call->name.text,
                listOf(parameters));
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
      term.kind != Term::Tensor && !term.isPoison())
    ++next;
  if (next == parameters.size()) {
    diags.report(term.range, diag::TooManyArguments, call->name.text,
                 counted(parameters.size(), "argument"));
    return false;
  }
  bool stays = parameters[next].kind == ParamKind::Variadic &&
               (term.kind == Term::Tensor || term.isPoison());
  bool ok = fill(next, std::move(term));
  next += !stays;
  return ok;
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

/// `cast(0.1, fp32)` rounds once: the literal has the float type at once.
static std::optional<DType> castType(const OpDef &def, GivenTerms given) {
  if (&def != &ops::Cast || given[1].empty())
    return std::nullopt;
  std::optional<DType> dtype = parseDType(given[1].front().text);
  return dtype && isFloat(*dtype) && !isMinifloat(*dtype) ? dtype
                                                          : std::nullopt;
}

Term BodyLowering::lowerBuiltin(const ast::ReferenceExpr *expr,
                                const OpDef &def, std::vector<Term> terms) {
  ArgumentFitter arguments(expr, def, diags);
  llvm::SmallVector<NamedInteger, 4> hints;
  bool ok = true;
  for (auto [argument, term] : llvm::zip_equal(expr->arguments, terms)) {
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
  GivenTerms given = arguments.terms();
  for (auto [index, param] : llvm::enumerate(def.parameters())) {
    if (param.isConstant()) {
      constants.push_back(fitConstant(expr, def, given, param, ok));
      continue;
    }
    if (given[index].empty() && param.kind != ParamKind::Variadic)
      operands.push_back(nullptr);
    std::optional<DType> dtype = castType(def, given);
    if (!dtype)
      dtype = literalType(def, given, param);
    for (const Term &term : given[index]) {
      operands.push_back(fitTensor(expr, param, term, dtype));
      ok &= operands.back() != nullptr;
    }
  }
  return ok ? build(def, operands, constants, expr->range, expr->name.text,
                    hints)
            : Term();
}
