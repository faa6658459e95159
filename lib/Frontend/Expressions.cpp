//===- Expressions.cpp - names, lists, types ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Hints.h"
#include "Lowering.h"
#include "lib/Frontend/Diags.h"
#include "lib/IR/Diags.h"
#include "lib/IR/OpDef.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace anec;
using namespace anec::frontend;
using llvm::dyn_cast;

std::string frontend::inWords(const Term &term, const Dimensions &dimensions) {
  switch (term.kind) {
  case Term::Tensor:
    return "the tensor `" + dimensions.describe(*term.tensor) + "`";
  case Term::Number:
    return "the number " + term.number.str();
  case Term::Boolean:
    return term.boolean ? "`true`" : "`false`";
  case Term::String:
    return "a string";
  case Term::List:
    return "a list";
  case Term::Several:
    return counted(term.elements.size(), "result");
  case Term::Poison:
    break;
  }
  return "nothing";
}

std::string frontend::counted(size_t count, llvm::StringRef one) {
  return std::to_string(count) + " " + one.str() + (count == 1 ? "" : "s");
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Term BodyLowering::lower(const ast::Expr *expr) {
  llvm::SaveAndRestore depth(file.depth, file.depth + 1);
  file.inlined += decl && decl->kind == ast::FunctionDecl::Fn;
  switch (expr->kind) {
  case ast::Expr::Integer:
    return Term::ofNumber(
        Number::ofInteger(llvm::cast<ast::IntegerExpr>(expr)->value),
        expr->range);
  case ast::Expr::Decimal:
    return Term::ofNumber(
        Number::ofDecimal(llvm::cast<ast::DecimalExpr>(expr)->value),
        expr->range);
  case ast::Expr::String: {
    Term term{Term::String, expr->range};
    term.text = llvm::cast<ast::StringExpr>(expr)->value;
    return term;
  }
  case ast::Expr::Boolean: {
    Term term{Term::Boolean, expr->range};
    term.boolean = llvm::cast<ast::BooleanExpr>(expr)->value;
    return term;
  }
  case ast::Expr::List:
    return lowerList(llvm::cast<ast::ListExpr>(expr));
  case ast::Expr::Reference: {
    auto *reference = llvm::cast<ast::ReferenceExpr>(expr);
    return reference->isCall ? lowerCall(reference) : lowerName(reference);
  }
  case ast::Expr::Part:
    return lowerPart(llvm::cast<ast::PartExpr>(expr));
  case ast::Expr::Typed:
    return lowerTyped(llvm::cast<ast::TypedExpr>(expr));
  case ast::Expr::Not:
    return lowerNot(llvm::cast<ast::NotExpr>(expr));
  case ast::Expr::Negation:
    return lowerNegation(llvm::cast<ast::NegationExpr>(expr));
  case ast::Expr::Binary:
    return lowerChain(llvm::cast<ast::BinaryExpr>(expr));
  }
  return {};
}

/// The elements of a list are of one kind: numbers, strings, booleans, tensors
/// or lists.
Term BodyLowering::lowerList(const ast::ListExpr *expr) {
  Term list{Term::List, expr->range};
  for (const ast::Expr *element : expr->elements) {
    Term term = lower(element);
    if (term.isPoison())
      list.kind = Term::Poison;
    list.elements.push_back(std::move(term));
  }
  if (list.isPoison() || list.elements.empty())
    return list;
  const Term &first = list.elements.front();
  for (const Term &term : list.elements) {
    bool several = term.kind == Term::Several;
    if (term.kind == first.kind && !several)
      continue;
    std::string found = inWords(term, file.dimensions);
    if (several)
      diags.report(term.range, diag::NestedList, found);
    else
      diags
          .report(term.range, diag::MixedList, found,
                  inWords(first, file.dimensions))
          .note(first.range, diag::FirstElement);
    list.kind = Term::Poison;
    return list;
  }
  return list;
}

Term BodyLowering::lowerName(const ast::ReferenceExpr *expr) {
  if (Binding *binding = findName(expr->name.text)) {
    binding->used = true;
    Term term = binding->term;
    term.range = expr->range;
    return term;
  }
  if (function && parseDType(expr->name.text)) {
    // `cast(x, fp32)`: an element type is passed by its name.
    Term term{Term::String, expr->range};
    term.text = expr->name.text;
    return term;
  }
  if (std::optional<Number> number = namedNumber(expr->name.text);
      function && number) {
    Term term{Term::Number, expr->range};
    term.number = *number;
    return term;
  }
  reportUnknownName(expr->name);
  return {};
}

void BodyLowering::reportUnknownName(const ast::Name &name) {
  if (auto it = file.signatures.find(name.text); it != file.signatures.end()) {
    diags.report(name.range(), diag::BlockIsNoValue, name.text)
        .note(it->second.decl->header, diag::DeclaredHere, name.text);
    return;
  }
  if (function && file.findOp(name.text)) {
    diags.report(name.range(), diag::OpIsNoValue, name.text);
    return;
  }
  Suggestion suggestion(name.text);
  for (BodyLowering *body = this; body; body = body->outer)
    for (const auto &[candidate, binding] : body->names)
      suggestion.consider(candidate);
  for (const auto &[candidate, binding] : file.config)
    suggestion.consider(candidate);
  for (const auto &[candidate, binding] : file.constants)
    suggestion.consider(candidate);
  auto report = diags.report(
      name.range(), function ? diag::UnknownName : diag::UnknownConfigName,
      name.text);
  noteInstead(report, name, function ? elementTypeFor(name.text) : "",
              suggestion);
}

/// A constant of the file becomes a value of each body that uses it.
Binding *BodyLowering::findConstant(llvm::StringRef name) {
  auto it = file.constants.find(name);
  size_t index = it - file.constants.begin();
  if (!function || index >= std::min(visibleConstants, file.constants.size()))
    return nullptr;
  const ast::ConstantDecl &constant =
      *llvm::find_if(file.file.constants, [&](const ast::ConstantDecl &decl) {
        return decl.name.text == name;
      });
  bool isFirst = !it->second.used;
  it->second.used = true;
  Term term;
  // A mistake in it is reported once.
  if (isFirst || !it->second.term.isPoison()) {
    BodyLowering inside(file, *own, *function);
    inside.visibleConstants = index;
    term = inside.lowerConst(constant.name, constant.value);
    if (term.kind == Term::Tensor && named.insert(term.tensor).second)
      term.tensor->name = name.str();
    it->second.term = term;
  }
  Binding binding{Binding::Variable, std::move(term), constant.name.range(),
                  true};
  return &names.insert({name, std::move(binding)}).first->second;
}

Binding *BodyLowering::findName(llvm::StringRef name) {
  if (auto it = names.find(name); it != names.end())
    return &it->second;
  if (auto it = file.config.find(name); it != file.config.end())
    return &it->second;
  if (Binding *constant = findConstant(name))
    return constant;
  Binding *around = outer ? outer->findName(name) : nullptr;
  if (!around)
    return nullptr;
  // A function can use only its own values: the body of a `repeat` gets values
  // of the enclosing body as parameters.
  around->used = true;
  Binding imported = *around;
  if (imported.term.kind == Term::Tensor) {
    Value *source = around->term.tensor;
    Value *parameter = function->addParameter(source->type, name);
    parameter->declared = source->range();
    if (const Spellings *spellings = file.dimensions.find(source))
      file.dimensions.set(parameter, Spellings(*spellings));
    captured.push_back(source);
    if (auto it = file.loopVariables.find(source);
        it != file.loopVariables.end()) {
      LoopRange range = it->second;
      file.loopVariables[parameter] = range;
    }
    named.insert(parameter);
    imported.term.tensor = parameter;
  }
  return &names.insert({name, imported}).first->second;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::optional<int64_t> BodyLowering::lowerInteger(const ast::Expr *expr) {
  Term term = lower(expr);
  if (term.isPoison())
    return std::nullopt;
  if (term.kind == Term::Number && term.number.isInteger)
    return term.number.integer;
  diags.report(expr->range, diag::ExpectedInteger,
               inWords(term, file.dimensions));
  return std::nullopt;
}

/// How an extent is written; empty for a plain number, or for text that is too
/// long for a message or has several lines.
static llvm::StringRef spellingOf(const ast::Expr *expr) {
  llvm::StringRef text = ast::Name::textOf(expr->range);
  if (llvm::isa<ast::IntegerExpr>(expr) || text.size() > 40 ||
      text.contains('\n'))
    return {};
  return text;
}

std::optional<DType> BodyLowering::lowerElementType(const ast::Name &name) {
  static constexpr DType allowed[] = {DType::FP16,  DType::FP32,  DType::Int32,
                                      DType::Bool,  DType::Int8,  DType::UInt8,
                                      DType::Int16, DType::UInt16};
  std::optional<DType> dtype = parseDType(name.text);
  if (dtype && llvm::is_contained(allowed, *dtype))
    return dtype;
  auto report = diags.report(name.range(), diag::UnknownElementType, name.text);
  Suggestion suggestion(name.text);
  for (DType candidate : allowed)
    suggestion.consider(spelling(candidate));
  noteInstead(report, name, elementTypeFor(name.text), suggestion);
  return std::nullopt;
}

/// A literal with its element type is a tensor.
Term BodyLowering::lowerTyped(const ast::TypedExpr *expr) {
  Term literal = lower(expr->value);
  if (!function) {
    diags.report(expr->range, diag::ConfigNumber,
                 "a literal with an element type");
    return {};
  }
  std::optional<DType> dtype = lowerElementType(expr->dtype);
  if (!dtype || literal.isPoison())
    return {};
  if (!isLiteral(literal)) {
    diags.report(literal.range, diag::TypedValue,
                 inWords(literal, file.dimensions), expr->dtype.text);
    return {};
  }
  Value *value = this->literal(literal, *dtype);
  return value ? Term::ofTensor(value, expr->range) : Term();
}

std::optional<WrittenType> BodyLowering::lowerType(const ast::Type &type) {
  std::optional<DType> dtype = lowerElementType(type.dtype);
  bool ok = dtype.has_value();
  WrittenType written;
  for (const ast::Expr *expr : type.extents) {
    std::optional<int64_t> extent = lowerInteger(expr);
    if (extent && (*extent < 1 || *extent > INT32_MAX)) {
      diags.report(expr->range, diag::ExtentOutOfRange, *extent);
      extent.reset();
    }
    ok &= extent.has_value();
    written.type.shape.push_back(extent.value_or(1));
    written.spellings.push_back(spellingOf(expr));
  }
  if (!ok)
    return std::nullopt;
  written.type.dtype = *dtype;
  if (!checkedNumElements(written.type.shape)) {
    diags.report(type.range, diag::TypeTooLarge, written.type.str());
    return std::nullopt;
  }
  return written;
}
