//===- Models.cpp - calls of blocks, and repeat ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Lowers calls of blocks, and `repeat`, which only models have. Its body
/// becomes a separate function:
///
///   repeat i in 0..layers { x = attention[i](x); }
///   ==>
///   host @m.repeat0(%i, %x) -> (%r) {role = body, of = "m"} {
///     %r = call @attention[%i](%x)
///     return %r
///   }
///   %x = repeat(%x) {body = "m.repeat0", from = 0, to = layers}
///
/// Names that the body rebinds are carried between iterations; those that it
/// only reads follow as further operands.
///
//===----------------------------------------------------------------------===//

#include "Hints.h"
#include "Lowering.h"
#include "lib/Frontend/Diags.h"
#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Rows/Host.h"

using namespace anec;
using namespace anec::frontend;

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// `attention[i]` and `attention` would be different weights of one layer.
bool BodyLowering::checkIndexing(const ast::ReferenceExpr *expr,
                                 Signature &callee) {
  // Called in a block, a layer has weights of its own there.
  bool inModel = function->kind == FunctionKind::Host;
  const ast::ReferenceExpr *&first =
      file.firstCalls[{inModel ? nullptr : block, callee.decl}];
  if (!first)
    first = expr;
  if (!first->index == !expr->index)
    return true;
  diags.report(expr->range, diag::MixedIndexing, expr->name.text)
      .note(first->range, diag::FirstCall);
  return false;
}

std::optional<std::vector<Term>>
BodyLowering::fitArguments(const ast::ReferenceExpr *expr,
                           const ast::FunctionDecl &callee) {
  std::vector<Term> terms(callee.parameters.size());
  llvm::SmallVector<bool, 4> given(callee.parameters.size());
  bool sawNamed = false;
  for (auto [position, argument] : llvm::enumerate(expr->arguments)) {
    Term term = lower(argument.value);
    size_t index = position;
    if (const ast::Name &name = argument.parameter; !name.text.empty()) {
      sawNamed = true;
      auto *parameter =
          llvm::find_if(callee.parameters, [&](const ast::Parameter &p) {
            return p.name.text == name.text;
          });
      if (parameter == callee.parameters.end()) {
        auto report = diags.report(name.range(), diag::UnknownParameter,
                                   expr->name.text, name.text);
        Suggestion suggestion(name.text);
        for (const ast::Parameter &candidate : callee.parameters)
          suggestion.consider(candidate.name.text);
        if (!noteInstead(report, name, "", suggestion))
          report.note(callee.header, diag::DeclaredHere, expr->name.text);
        return std::nullopt;
      }
      index = parameter - callee.parameters.begin();
    } else if (sawNamed) {
      diags.report(argument.value->range, diag::PositionalAfterNamed,
                   expr->name.text);
      return std::nullopt;
    }
    if (index >= terms.size())
      continue; // counted below
    if (given[index]) {
      diags
          .report(argument.value->range, diag::DuplicateArgument,
                  expr->name.text, callee.parameters[index].name.text)
          .note(terms[index].range, diag::FirstArgument);
      return std::nullopt;
    }
    given[index] = true;
    terms[index] = std::move(term);
  }
  if (expr->arguments.size() == terms.size())
    return terms;
  diags
      .report(expr->range, diag::ArgumentCount, expr->name.text,
              counted(terms.size(), "argument"), expr->arguments.size())
      .note(callee.header, diag::DeclaredHere, expr->name.text);
  return std::nullopt;
}

/// A block accepts only tensors of exactly its declared types.
bool BodyLowering::checkArguments(const ast::ReferenceExpr *expr,
                                  const Signature &callee,
                                  llvm::ArrayRef<Term> terms,
                                  llvm::SmallVectorImpl<Value *> &operands,
                                  std::vector<frontend::Number> &numbers) {
  bool ok = true;
  for (auto [index, term] : llvm::enumerate(terms)) {
    const auto &declared = callee.parameters[index];
    std::optional<Number::Kind> kind = callee.kinds[index];
    if (term.isPoison() || !(declared || kind)) {
      ok = false;
      continue;
    }
    if (kind && term.kind == Term::Number &&
        (kind == Number::Float || term.number.isInteger)) {
      numbers.push_back(kind == Number::Int
                            ? term.number
                            : Number::ofDecimal(term.number.asDouble()));
      continue;
    }
    if (declared && term.kind == Term::Tensor &&
        term.tensor->type == declared->type) {
      operands.push_back(term.tensor);
      continue;
    }
    const ast::Name &parameter = callee.decl->parameters[index].name;
    diags
        .report(
            term.range, diag::ArgumentMismatch, parameter.text, expr->name.text,
            declared ? Dimensions::describe(declared->type, declared->spellings)
                     : callee.decl->parameters[index].type.dtype.text.str(),
            inWords(term, file.dimensions))
        .note(parameter.range(), diag::DeclaredHere, parameter.text);
    ok = false;
  }
  return ok;
}

Term BodyLowering::lowerBlockCall(const ast::ReferenceExpr *expr,
                                  Signature &callee) {
  const ast::FunctionDecl &block = *callee.decl;
  if (block.kind == ast::FunctionDecl::Model) {
    diags.report(expr->range, diag::CalledModel)
        .note(block.header, diag::DeclaredHere, expr->name.text);
    return {};
  }
  bool ok = checkIndexing(expr, callee);
  Term index;
  if (expr->index) {
    index = lowerIndex(expr->index);
    ok &= !index.isPoison();
  }
  std::optional<std::vector<Term>> terms = fitArguments(expr, block);
  llvm::SmallVector<Value *, 4> arguments;
  std::vector<frontend::Number> numbers;
  ok &= terms && checkArguments(expr, callee, *terms, arguments, numbers);
  ok &= llvm::all_of(callee.results,
                     [](const auto &result) { return result.has_value(); });
  if (!ok)
    return {};
  bool inModel = function->kind == FunctionKind::Host;
  Signature *target = &callee;
  // A layer is lowered when it is called first in another, or with numbers.
  if (!(inModel && numbers.empty())) {
    if (!file.canInline(expr, block))
      return {};
    target = &file.specialize(callee, numbers, expr->range);
    if (target->state == Signature::Failed)
      return {}; // reported there
  }
  if (inModel)
    return callBlock(expr, *target, arguments, index);
  std::optional<int64_t> instance;
  if (expr->index)
    instance = index.number.integer;
  return inlineBlock(expr, *target, arguments, instance);
}

/// A call that stays one, in a model.
Term BodyLowering::callBlock(const ast::ReferenceExpr *expr,
                             const Signature &callee,
                             llvm::ArrayRef<Value *> arguments,
                             const Term &index) {
  llvm::SmallVector<Value *, 4> operands = {index.tensor};
  if (index.kind == Term::Number)
    operands[0] = literal(index, DType::Int32);
  llvm::append_range(operands, arguments);
  std::vector<std::string> types;
  for (const auto &result : callee.results)
    types.push_back(result->type.str());
  builder->setRange(expr->range);
  TensorType list(DType::String, {int64_t(types.size())});
  Op *op = builder->create(
      ops::Call, operands,
      {{param::callee, Constant::string(callee.name)},
       {param::results, Constant::strings(list, std::move(types))}});
  if (!op)
    return {};
  Term several{Term::Several, expr->range};
  for (auto [result, declared] :
       llvm::zip(op->resultValues(), callee.results)) {
    file.dimensions.set(result, declared->spellings);
    several.elements.push_back(Term::ofTensor(result, expr->range));
  }
  return op->numResults() == 1 ? several.elements[0] : several;
}

//===----------------------------------------------------------------------===//
// Repeat
//===----------------------------------------------------------------------===//

/// The names that `statements` bind and that are already bound here.
void BodyLowering::findCarried(
    llvm::ArrayRef<ast::Statement *> statements,
    llvm::SmallVectorImpl<llvm::StringRef> &carried) {
  for (const ast::Statement *statement : statements) {
    if (auto *repeat = llvm::dyn_cast<ast::RepeatStatement>(statement))
      findCarried(repeat->body, carried);
    auto *let = llvm::dyn_cast<ast::LetStatement>(statement);
    if (!let)
      continue;
    for (const ast::Name &name : let->names) {
      auto it = names.find(name.text);
      if (it != names.end() && it->second.kind != Binding::Weight &&
          it->second.kind != Binding::LoopVariable &&
          !llvm::is_contained(carried, name.text))
        carried.push_back(name.text);
    }
  }
}

/// Adds the parameters of a `repeat`'s body: the index, then the carried
/// values.
bool BodyLowering::bindCarried(const ast::RepeatStatement *statement,
                               LoopRange range,
                               llvm::ArrayRef<llvm::StringRef> carried) {
  Value *index = function->addParameter(DType::Int32, statement->variable.text);
  index->declared = statement->variable.range();
  named.insert(index);
  file.loopVariables[index] = range;
  bind(statement->variable, Binding::LoopVariable,
       Term::ofTensor(index, statement->variable.range()));
  bool ok = true;
  for (llvm::StringRef name : carried) {
    Binding &around = outer->names.find(name)->second;
    around.used = true;
    Binding inside{Binding::Carried, {}, around.declared, true};
    if (around.term.kind == Term::Tensor) {
      Value *value = function->addParameter(around.term.tensor->type, name);
      value->declared = around.declared;
      if (const Spellings *known = file.dimensions.find(around.term.tensor))
        file.dimensions.set(value, Spellings(*known));
      named.insert(value);
      inside.term = Term::ofTensor(value, around.declared);
    } else if (!around.term.isPoison()) {
      diags.report(around.declared, diag::CarriedNumber, name)
          .note(statement->range, diag::CarriedBy);
    }
    ok &= !inside.term.isPoison();
    names.insert({name, std::move(inside)});
  }
  return ok;
}

bool BodyLowering::setCarriedResults(llvm::ArrayRef<llvm::StringRef> carried) {
  bool ok = true;
  llvm::SmallVector<Value *, 4> values;
  for (auto [index, name] : llvm::enumerate(carried)) {
    const Term &term = names.find(name)->second.term;
    if (term.isPoison())
      return false;
    const Value &before = *function->parameters()[index + 1];
    if (term.kind == Term::Tensor && term.tensor->type == before.type) {
      values.push_back(term.tensor);
      continue;
    }
    diags
        .report(term.range, diag::CarriedType, name,
                file.dimensions.describe(before),
                inWords(term, file.dimensions))
        .note(before.declared, diag::PreviousDefinition, name);
    ok = false;
  }
  if (ok)
    function->setResults(values, carried);
  return ok;
}

void BodyLowering::lowerRepeat(const ast::RepeatStatement *statement) {
  if (function->kind != FunctionKind::Host) {
    diags.report(statement->range, diag::RepeatOutsideModel);
    return;
  }
  size_t errorsBefore = diags.errorCount();
  std::optional<int64_t> from = lowerInteger(statement->from);
  std::optional<int64_t> to = lowerInteger(statement->to);
  LoopRange range;
  if (from && to && (*from < 0 || *to <= *from || *to > INT32_MAX))
    diags.report({statement->from->range.Start, statement->to->range.End},
                 diag::RepeatRange, *from, *to);
  else if (from && to)
    range = {*from, *to - 1};
  llvm::SmallVector<llvm::StringRef, 4> carried;
  findCarried(statement->body, carried);
  if (diags.errorCount() == errorsBefore && !carried.empty() &&
      isUnrolled(statement, range))
    return lowerUnrolled(statement, range, carried);

  Function *body = file.module->addFunction(
      FunctionKind::Host,
      (decl->name.text + ".repeat" + llvm::Twine(file.repeats++)).str(),
      statement->range);
  body->setRole(FunctionRole::Body, decl->name.text);
  BodyLowering inside(file, *own, *body, this);
  bool ok = inside.bindCarried(statement, range, carried);
  inside.lowerStatements(statement->body);
  ok = ok && inside.setCarriedResults(carried);
  if (carried.empty() && diags.errorCount() == errorsBefore)
    diags.report(statement->range, diag::RepeatCarriesNothing);
  if (diags.errorCount() == errorsBefore)
    inside.warnUnused();
  else
    ok = false;

  Op *op = nullptr;
  if (ok) {
    llvm::SmallVector<Value *, 4> operands;
    for (llvm::StringRef name : carried)
      operands.push_back(names.find(name)->second.term.tensor);
    llvm::append_range(operands, inside.captured);
    builder->setRange(statement->range);
    op = builder->create(ops::Repeat, operands,
                         {{param::body, Constant::string(body->name)},
                          {param::from, *from},
                          {param::to, *to},
                          {param::carried, int64_t(carried.size())}});
  }
  for (auto [index, name] : llvm::enumerate(carried)) {
    Binding &binding = names.find(name)->second;
    if (!op) {
      binding.term = {};
      continue;
    }
    Value *result = op->result(index);
    result->name = name.str();
    named.insert(result);
    if (const Spellings *known = file.dimensions.find(binding.term.tensor))
      file.dimensions.set(result, Spellings(*known));
    binding.term = Term::ofTensor(result, binding.declared);
  }
}
