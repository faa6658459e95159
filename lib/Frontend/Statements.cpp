//===- Statements.cpp - the statements of a body --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "lib/Frontend/Diags.h"
#include "lib/IR/Diags.h"
#include "lib/IR/Names.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Stored.h"
#include "lib/Ops/Rows/Constants.h"

using namespace anec;
using namespace anec::frontend;

BodyLowering::BodyLowering(FileLowering &file, const Signature &own,
                           Function &function, BodyLowering *outer)
    : file(file), diags(file.diags), decl(own.decl), block(own.decl), own(&own),
      function(&function), outer(outer) {
  makeBuilder();
}

void BodyLowering::makeBuilder() {
  builder.emplace(*function, &diags);
  builder->setDescribe([&file = file](const Value &value) {
    return file.dimensions.describe(value);
  });
}

void BodyLowering::run() {
  size_t errorsBefore = diags.errorCount();
  lowerParameters();
  lowerStatements(decl->body);
  if (llvm::none_of(decl->body, llvm::IsaPred<ast::ReturnStatement>))
    diags.report(decl->closeBrace, diag::MissingReturn, decl->name.text)
        .note(decl->header, diag::DeclaredHere, decl->name.text);
  // After an error, a name that seems unused can be used in invalid code.
  if (diags.errorCount() == errorsBefore && function->numResults() != 0)
    warnUnused();
}

void BodyLowering::lowerParameters() {
  auto number = own->numbers.begin();
  for (auto [parameter, type, kind] :
       llvm::zip(decl->parameters, own->parameters, own->kinds)) {
    Term term;
    if (kind) {
      if (number != own->numbers.end())
        term = Term::ofNumber(*number++, parameter.name.range());
    } else if (type) {
      Value *value = function->addParameter(type->type, parameter.name.text);
      value->declared = parameter.name.range();
      file.dimensions.set(value, type->spellings);
      named.insert(value);
      term = Term::ofTensor(value, parameter.name.range());
    }
    bind(parameter.name, Binding::Parameter, std::move(term));
  }
}

/// A name has one meaning in a block, except names that a `repeat` carries.
void BodyLowering::bind(const ast::Name &name, Binding::Kind kind, Term term) {
  if (name.text == "_")
    return;
  const Binding *previous = nullptr;
  if (auto it = file.config.find(name.text); it != file.config.end())
    previous = &it->second;
  if (auto it = file.constants.find(name.text); it != file.constants.end())
    previous = &it->second;
  for (BodyLowering *body = this; body && !previous; body = body->outer) {
    auto it = body->names.find(name.text);
    if (it == body->names.end())
      continue;
    if (body == this && it->second.kind == Binding::Carried) {
      it->second.term = std::move(term);
      return;
    }
    previous = &it->second;
  }
  if (!previous) {
    names.insert({name.text, Binding{kind, std::move(term), name.range()}});
    return;
  }
  diags.report(name.range(), diag::AlreadyDefined, name.text)
      .note(previous->declared, diag::PreviousDefinition, name.text);
}

void BodyLowering::lowerStatements(
    llvm::ArrayRef<ast::Statement *> statements) {
  for (auto [index, statement] : llvm::enumerate(statements)) {
    switch (statement->kind) {
    case ast::Statement::Weight:
      lowerWeight(llvm::cast<ast::WeightStatement>(statement));
      break;
    case ast::Statement::Let:
      lowerLet(llvm::cast<ast::LetStatement>(statement));
      break;
    case ast::Statement::Repeat:
      lowerRepeat(llvm::cast<ast::RepeatStatement>(statement));
      break;
    case ast::Statement::Return:
      lowerReturn(llvm::cast<ast::ReturnStatement>(statement));
      if (index + 1 != statements.size()) {
        diags.report(statements[index + 1]->range, diag::AfterReturn)
            .note(statement->range, diag::ReturnsHere);
        return;
      }
    }
  }
}

/// The weights of a layer are the same whatever numbers it is called with.
bool BodyLowering::checkWeight(const ast::Name &name, const WrittenType &type) {
  if (own->numbers.empty())
    return true;
  std::string path = (decl->name.text + "." + name.text).str();
  auto [it, isNew] = file.weights.insert({path, {type, own->firstCall}});
  const WrittenType &first = it->second.type;
  if (isNew || first.type == type.type)
    return true;
  auto report = diags.report(name.range(), diag::WeightTypes, name.text,
                             Dimensions::describe(type.type, type.spellings),
                             Dimensions::describe(first.type, first.spellings));
  if (it->second.firstCall.isValid())
    report.note(it->second.firstCall, diag::FirstCall);
  return false;
}

void BodyLowering::lowerWeight(const ast::WeightStatement *statement) {
  if (outer || isUnrolling) {
    diags.report(statement->range, diag::WeightInRepeat);
    return;
  }
  std::optional<WrittenType> type = lowerType(statement->type);
  if (type && !isFloat(type->type.dtype)) {
    diags.report(statement->type.dtype.range(), diag::WeightElementType,
                 statement->type.dtype.text);
    type.reset();
  }
  if (type && type->type.isScalar()) {
    diags.report(statement->type.range, diag::ScalarWeight);
    type.reset();
  }
  for (const ast::Name &name : statement->names) {
    Term term;
    if (type && checkWeight(name, *type)) {
      builder->setRange(name.range());
      std::string path = (decl->name.text + "." + name.text).str();
      Value *value = builder->build(
          ops::Weight, {},
          {{param::name, Constant::string(path)},
           {param::dtype, Constant::string(statement->type.dtype.text)},
           {param::shape, Constant::int32s(type->type.shape)},
           {param::frozen, statement->frozen}},
          name.text);
      if (value) {
        file.dimensions.set(value, type->spellings);
        named.insert(value);
        term = Term::ofTensor(value, name.range());
      }
    }
    bind(name, Binding::Weight, std::move(term));
  }
}

/// What `value` is computed from that is no constant: a parameter, a weight, or
/// the result of a call. Null when there is nothing.
static const Value *findInput(const Value *value,
                              llvm::DenseSet<const Value *> &seen) {
  if (!seen.insert(value).second)
    return nullptr;
  const Op *op = value->definingOp();
  if (!op || op->is(ops::Weight) || !op->def().eval)
    return value;
  for (const Value *operand : op->operandValues())
    if (const Value *found = operand ? findInput(operand, seen) : nullptr)
      return found;
  return nullptr;
}

/// The value of `const NAME = ...`: a list becomes a tensor, and a tensor has
/// no inputs.
Term BodyLowering::lowerConst(llvm::ArrayRef<ast::Name> names,
                              const ast::Expr *expr) {
  Term term = lower(expr);
  if (term.kind == Term::List && isLiteral(term)) {
    Value *value = literal(term, ownType(term));
    return value ? Term::ofTensor(value, term.range) : Term();
  }
  llvm::DenseSet<const Value *> seen;
  for (const Term &part : term.kind == Term::Several
                              ? llvm::ArrayRef<Term>(term.elements)
                              : llvm::ArrayRef<Term>(term)) {
    const Value *input =
        part.kind == Term::Tensor ? findInput(part.tensor, seen) : nullptr;
    if (!input)
      continue;
    diags.report(expr->range, diag::ConstInput, names.front().text,
                 input->name.empty() ? "a value that is computed when it runs"
                                     : "`" + input->name + "`");
    return {};
  }
  return term;
}

void BodyLowering::lowerLet(const ast::LetStatement *statement) {
  Term term = statement->isConst
                  ? lowerConst(statement->names, statement->value)
                  : lower(statement->value);
  if (term.isPoison()) {
    for (const ast::Name &name : statement->names)
      bind(name, Binding::Variable, {});
    return;
  }
  size_t results = term.kind == Term::Several ? term.elements.size() : 1;
  if (results != statement->names.size()) {
    diags.report(statement->value->range, diag::ResultNames,
                 counted(results, "result"),
                 counted(statement->names.size(), "name"));
    term = {};
  }
  for (auto [index, name] : llvm::enumerate(statement->names)) {
    Term value = term.kind == Term::Several ? term.elements[index] : term;
    if (value.kind == Term::String ||
        (value.kind == Term::List && !isLiteral(value))) {
      diags.report(value.range, diag::NotAValue,
                   inWords(value, file.dimensions));
      value = {};
    }
    // A computed value keeps its first name.
    if (value.kind == Term::Tensor && name.text != "_" &&
        named.insert(value.tensor).second)
      value.tensor->name = name.text.str();
    bind(name, Binding::Variable, std::move(value));
  }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

bool BodyLowering::checkResult(const Term &term, unsigned index) {
  if (term.isPoison() || !own->results[index])
    return false;
  const WrittenType &declared = *own->results[index];
  bool fits = term.kind == Term::Tensor && term.tensor->type == declared.type;
  if (!fits)
    diags
        .report(term.range, diag::ReturnMismatch,
                Dimensions::describe(declared.type, declared.spellings),
                inWords(term, file.dimensions))
        .note(decl->results[index].type.range, diag::ResultDeclaredHere);
  return fits;
}

/// Outputs have their declared names, or those of the returned variables.
static llvm::StringRef outputName(const ast::Result &declared,
                                  const ast::Expr *expr) {
  if (!declared.name.text.empty())
    return declared.name.text;
  auto *reference = llvm::dyn_cast<ast::ReferenceExpr>(expr);
  return reference && !reference->isCall ? reference->name.text : "output";
}

void BodyLowering::lowerReturn(const ast::ReturnStatement *statement) {
  if (outer || isUnrolling) {
    diags.report(statement->range, diag::ReturnInRepeat);
    return;
  }
  if (decl->kind == ast::FunctionDecl::Fn)
    return returnInlined(statement);
  llvm::SmallVector<Term, 2> terms;
  for (const ast::Expr *expr : statement->values)
    terms.push_back(lower(expr));
  if (terms.size() != decl->results.size()) {
    diags
        .report(statement->range, diag::ReturnedCount, decl->name.text,
                counted(decl->results.size(), "result"), terms.size())
        .note(decl->header, diag::DeclaredHere, decl->name.text);
    return;
  }
  bool ok = true;
  for (auto [index, term] : llvm::enumerate(terms))
    ok &= checkResult(term, index);
  if (!ok)
    return;

  NameSet taken;
  for (const auto &parameter : function->parameters())
    taken.unique(parameter->name);
  llvm::SmallVector<Value *, 2> values;
  llvm::SmallVector<llvm::StringRef, 2> outputs;
  // A model's first result is its loss.
  bool isModel = decl->kind == ast::FunctionDecl::Model;
  llvm::SmallVector<ValueRole, 2> roles(
      terms.size(), isModel ? ValueRole::Metric : ValueRole::Output);
  if (isModel)
    roles[0] = ValueRole::Loss;
  for (auto [declared, expr, term] :
       llvm::zip(decl->results, statement->values, terms)) {
    values.push_back(term.tensor);
    outputs.push_back(taken.unique(outputName(declared, expr)));
  }
  function->setResults(values, outputs, roles);
}

void BodyLowering::warnUnused() {
  for (const auto &[name, binding] : names) {
    if (binding.used || name.starts_with("_"))
      continue;
    switch (binding.kind) {
    case Binding::Parameter:
      diags.report(binding.declared, diag::UnusedParameter, name);
      break;
    case Binding::Weight:
      diags.report(binding.declared, diag::UnusedWeight, name);
      break;
    case Binding::Variable:
      diags.report(binding.declared, diag::UnusedVariable, name);
      break;
    case Binding::Carried:
    case Binding::LoopVariable:
      break;
    }
  }
}
