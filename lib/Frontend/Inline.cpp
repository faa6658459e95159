//===- Inline.cpp - calls that become part of the caller ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A call of a `fn` lowers its body again, with the arguments as its names: the
/// types of its values, and its errors, depend on the call.
///
/// A layer or kernel has declared types, so it is lowered once. Where a layer
/// or kernel calls it, its ops are copied; its weights become weights of the
/// caller:
///
///   layer @block(%x) -> (%y) {
///     %wq = weight() {name = "block.attention.wq", ...}
///
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "lib/Frontend/Diags.h"
#include "lib/IR/Clone.h"
#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Rows/Constants.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace anec::frontend;

/// How deep expressions and the bodies they call can nest: every level uses
/// stack.
static constexpr unsigned maxDepth = 300;
/// How many ops and expressions can be inlined in a file: their number can grow
/// exponentially with the length of the file.
static constexpr size_t maxInlined = 1 << 18;

bool FileLowering::canInline(const ast::ReferenceExpr *call,
                             const ast::FunctionDecl &callee) {
  auto it = llvm::find(active, &callee);
  if (it != active.end()) {
    std::string through;
    for (const ast::FunctionDecl *other :
         llvm::make_range(std::next(it), active.end()))
      through += (through.empty() ? " through `" : ", `") +
                 other->name.text.str() + "`";
    diags.report(call->range, diag::RecursiveCall, callee.name.text, through)
        .note(callee.header, diag::DeclaredHere, callee.name.text);
    return false;
  }
  bool isDeep = depth > maxDepth;
  if (!isDeep && inlined <= maxInlined)
    return true;
  // Other calls have the same problem.
  if (!std::exchange(exceeded, true)) {
    if (isDeep)
      diags.report(call->range, diag::CallsTooDeep, maxDepth);
    else
      diags.report(call->range, diag::InlinedTooLarge, maxInlined);
  }
  return false;
}

//===----------------------------------------------------------------------===//
// fn
//===----------------------------------------------------------------------===//

/// What can be checked of a `fn` without a call.
static bool checkFn(const ast::FunctionDecl &fn, Diagnostics &diags) {
  size_t errorsBefore = diags.errorCount();
  for (const ast::Statement *statement : fn.body) {
    if (statement->kind == ast::Statement::Weight)
      diags.report(statement->range, diag::WeightInFn);
    else if (statement->kind == ast::Statement::Repeat)
      diags.report(statement->range, diag::RepeatOutsideModel);
  }
  if (llvm::none_of(fn.body, llvm::IsaPred<ast::ReturnStatement>))
    diags.report(fn.closeBrace, diag::MissingReturn, fn.name.text)
        .note(fn.header, diag::DeclaredHere, fn.name.text);
  return diags.errorCount() == errorsBefore;
}

void FileLowering::collectFns() {
  for (const ast::FunctionDecl &decl : file.functions) {
    if (decl.kind != ast::FunctionDecl::Fn)
      continue;
    auto [it, isNew] = signatures.insert(
        {decl.name.text, Signature{&decl, decl.name.text.str()}});
    if (isNew && !checkFn(decl, diags))
      it->second.state = Signature::Failed;
  }
}

BodyLowering::BodyLowering(FileLowering &file, const ast::FunctionDecl &fn,
                           BodyLowering &caller)
    : file(file), diags(file.diags), decl(&fn), block(caller.block),
      own(caller.own), function(caller.function) {
  visibleConstants = caller.visibleConstants;
  if (function)
    makeBuilder();
}

Term BodyLowering::runInlined(const std::vector<Term> &arguments) {
  size_t errorsBefore = diags.errorCount();
  for (auto [parameter, term] : llvm::zip_equal(decl->parameters, arguments)) {
    // The caller's values keep their names.
    if (term.kind == Term::Tensor)
      named.insert(term.tensor);
    for (const Term &element : term.elements)
      if (element.kind == Term::Tensor)
        named.insert(element.tensor);
    bind(parameter.name, Binding::Parameter, term);
  }
  lowerStatements(decl->body);
  if (diags.errorCount() != errorsBefore || returned.isPoison())
    return {};
  if (file.checked.insert(decl).second)
    warnUnused();
  return std::move(returned);
}

Term BodyLowering::lowerFnCall(const ast::ReferenceExpr *expr,
                               const Signature &callee) {
  const ast::FunctionDecl &fn = *callee.decl;
  if (expr->index) {
    diags.report(expr->range, diag::IndexedFn, fn.name.text)
        .note(fn.header, diag::DeclaredHere, fn.name.text);
    return {};
  }
  std::optional<std::vector<Term>> arguments = fitArguments(expr, fn);
  if (!arguments || callee.state == Signature::Failed)
    return {};
  bool ok = true;
  for (auto [index, term] : llvm::enumerate(*arguments)) {
    ok &= !term.isPoison();
    if (term.kind != Term::Several)
      continue;
    diags.report(term.range, diag::ArgumentType, fn.name.text,
                 fn.parameters[index].name.text, "one value",
                 inWords(term, file.dimensions));
    ok = false;
  }
  if (!ok || !file.canInline(expr, fn))
    return {};

  size_t before = diags.all().size();
  file.active.push_back(&fn);
  Term result = BodyLowering(file, fn, *this).runInlined(*arguments);
  file.active.pop_back();
  diags.noteSince(before, expr->range, diag::CalledHere(fn.name.text));
  result.range = expr->range;
  if (result.kind == Term::Several)
    for (Term &element : result.elements)
      element.range = expr->range;
  return result;
}

/// Sets what a call of the `fn` gives.
void BodyLowering::returnInlined(const ast::ReturnStatement *statement) {
  returned = {Term::Several, statement->range};
  bool ok = true;
  for (const ast::Expr *expr : statement->values) {
    Term term = lower(expr);
    ok &= !term.isPoison();
    if (term.kind == Term::Several && statement->values.size() != 1) {
      diags.report(term.range, diag::ReturnedSeveral,
                   inWords(term, file.dimensions));
      ok = false;
    }
    returned.elements.push_back(std::move(term));
  }
  if (!ok)
    returned = {};
  else if (statement->values.size() == 1)
    returned = Term(returned.elements[0]);
}

//===----------------------------------------------------------------------===//
// Layers and kernels
//===----------------------------------------------------------------------===//

/// `attention.window_128`: the parameters and their numbers, in letters, digits
/// and `_`.
static std::string specializedName(const Signature &callee,
                                   const std::vector<Number> &numbers,
                                   const Module &module) {
  std::string name = callee.name;
  auto number = numbers.begin();
  for (auto [parameter, kind] :
       llvm::zip(callee.decl->parameters, callee.kinds)) {
    if (!kind)
      continue;
    std::string spelled = (number++)->str();
    for (char &letter : spelled)
      if (!llvm::isAlnum(letter))
        letter = '_';
    name += "." + parameter.name.text.str() + "_" + spelled;
  }
  std::string unique = name;
  for (unsigned count = 1; module.findFunction(unique); ++count)
    unique = name + "_" + std::to_string(count);
  return unique;
}

Signature &FileLowering::specialize(Signature &callee,
                                    const std::vector<Number> &numbers,
                                    SourceRange call) {
  if (numbers.empty()) {
    lowerBlock(callee);
    return callee;
  }
  std::string key = callee.name;
  for (const Number &number : numbers)
    key += " " + number.str();
  auto [it, isNew] = specializations.insert({key, callee});
  Signature &special = it->second;
  if (!isNew)
    return special;
  special.name = specializedName(callee, numbers, *module);
  special.numbers = numbers;
  special.firstCall = call;
  size_t before = diags.all().size();
  lowerBlock(special);
  diags.noteSince(before, call, diag::CalledHere(callee.name));
  return special;
}

/// A weight of this block with the name `path`, for that of a called block.
Value *BodyLowering::ownWeight(const Op &weight, const std::string &path) {
  Value *&own = file.inlinedWeights[function][path];
  if (own)
    return own;
  Op *copy = copyOp(weight, weight.operandValues());
  copy->setConstant(param::name, Constant::string(path));
  function->insert(copy);
  return own = copy->result();
}

/// Copies the ops of `callee`, with `operands` as its parameters. `instance` is
/// the index of the call.
Term BodyLowering::inlineBlock(const ast::ReferenceExpr *expr,
                               const Signature &callee,
                               llvm::ArrayRef<Value *> operands,
                               std::optional<int64_t> instance) {
  std::string prefix = (block->name.text + "." + callee.decl->name.text).str();
  if (instance)
    prefix += "." + std::to_string(*instance);

  ValueMap map;
  const Function &body = *callee.function;
  for (auto [parameter, operand] : llvm::zip_equal(body.parameters(), operands))
    map[parameter.get()] = operand;
  file.inlined += body.body().size();
  for (const Op &op : body.body()) {
    if (op.is(ops::Weight))
      // `attention.wq` becomes `block.attention.wq`.
      map[op.result()] =
          ownWeight(op, prefix + op.get(param::name)
                                     .drop_front(callee.decl->name.text.size())
                                     .str());
    else
      cloneOp(op, *function, map);
    for (const Value *result : op.resultValues())
      if (const Spellings *known = file.dimensions.find(result))
        file.dimensions.set(map[result], Spellings(*known));
  }
  Term several{Term::Several, expr->range};
  for (const Value *result : body.resultValues())
    several.elements.push_back(Term::ofTensor(map.lookup(result), expr->range));
  return several.elements.size() == 1 ? Term(several.elements[0]) : several;
}
