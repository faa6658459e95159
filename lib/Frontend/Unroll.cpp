//===- Unroll.cpp - repeats whose variable is a number --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The body of a `repeat` is lowered once, as long as its variable only
/// chooses instances of layers. Where it is a number, such as a rate, a width
/// or a position, the statements are lowered for each of its values:
///
///   repeat i in 0..2 { x = block[i](x, window = 4 * (i + 1)); }
///
///   %x_1 = call @block.window_4[0](%x)
///   %x_2 = call @block.window_8[1](%x_1)
///
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "lib/Frontend/Diags.h"

using namespace anec;
using namespace anec::frontend;

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

namespace {

/// Looks for uses of a name as a number: all but those in the index of a layer.
class NumberUses {
public:
  explicit NumberUses(const ast::File &file) : file(file) {}

  bool has(llvm::ArrayRef<ast::Statement *> statements, llvm::StringRef name) {
    return llvm::any_of(statements, [&](const ast::Statement *statement) {
      return has(*statement, name);
    });
  }

private:
  bool has(const ast::Statement &statement, llvm::StringRef name) {
    switch (statement.kind) {
    case ast::Statement::Let:
      return has(llvm::cast<ast::LetStatement>(&statement)->value, name);
    case ast::Statement::Repeat: {
      auto *repeat = llvm::cast<ast::RepeatStatement>(&statement);
      return has(repeat->from, name) || has(repeat->to, name) ||
             has(repeat->body, name);
    }
    case ast::Statement::Return:
      return llvm::any_of(
          llvm::cast<ast::ReturnStatement>(&statement)->values,
          [&](const ast::Expr *value) { return has(value, name); });
    case ast::Statement::Weight:
      return false;
    }
    return false;
  }

  bool has(const ast::Expr *expr, llvm::StringRef name) {
    // Chains are long on the left.
    while (auto *binary = llvm::dyn_cast<ast::BinaryExpr>(expr)) {
      if (has(binary->rhs, name))
        return true;
      expr = binary->lhs;
    }
    if (auto *list = llvm::dyn_cast<ast::ListExpr>(expr))
      return llvm::any_of(list->elements, [&](const ast::Expr *element) {
        return has(element, name);
      });
    if (auto *part = llvm::dyn_cast<ast::PartExpr>(expr))
      return has(part->value, name) ||
             llvm::any_of(part->positions, [&](const ast::Position &position) {
               return (position.begin && has(position.begin, name)) ||
                      (position.end && has(position.end, name));
             });
    if (auto *typed = llvm::dyn_cast<ast::TypedExpr>(expr))
      return has(typed->value, name);
    if (auto *negation = llvm::dyn_cast<ast::NegationExpr>(expr))
      return has(negation->operand, name);
    if (auto *negation = llvm::dyn_cast<ast::NotExpr>(expr))
      return has(negation->operand, name);
    auto *reference = llvm::dyn_cast<ast::ReferenceExpr>(expr);
    if (!reference)
      return false;
    return reference->isCall ? hasArgument(*reference, name)
                             : reference->name.text == name;
  }

  bool hasArgument(const ast::ReferenceExpr &call, llvm::StringRef name) {
    const ast::FunctionDecl *fn = findFn(call.name.text);
    for (auto [place, argument] : llvm::enumerate(call.arguments)) {
      auto *passed = llvm::dyn_cast<ast::ReferenceExpr>(argument.value);
      bool isName = passed && !passed->isCall && passed->name.text == name;
      if (!fn || !isName) {
        if (has(argument.value, name))
          return true;
        continue;
      }
      // What the function does with it.
      llvm::StringRef parameter = argument.parameter.text;
      if (parameter.empty() && place < fn->parameters.size())
        parameter = fn->parameters[place].name.text;
      if (isNumberIn(*fn, parameter))
        return true;
    }
    return false;
  }

  bool isNumberIn(const ast::FunctionDecl &fn, llvm::StringRef parameter) {
    // A function that calls itself is an error of its own.
    auto [known, isNew] = numbers.try_emplace({&fn, parameter}, false);
    if (!isNew)
      return known->second;
    bool isNumber = has(fn.body, parameter);
    numbers[{&fn, parameter}] = isNumber;
    return isNumber;
  }

  const ast::FunctionDecl *findFn(llvm::StringRef name) const {
    for (const ast::FunctionDecl &decl : file.functions)
      if (decl.kind == ast::FunctionDecl::Fn && decl.name.text == name)
        return &decl;
    return nullptr;
  }

  const ast::File &file;
  /// Whether a function uses a parameter as a number, for those looked at.
  llvm::DenseMap<std::pair<const ast::FunctionDecl *, llvm::StringRef>, bool>
      numbers;
};

} // namespace

/// More would be a program that nobody waits for.
static constexpr int64_t mostIterations = 1024;

bool BodyLowering::isUnrolled(const ast::RepeatStatement *statement,
                              LoopRange range) const {
  return range.last - range.first < mostIterations &&
         NumberUses(file.file).has(statement->body, statement->variable.text);
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

/// The names that the statements themselves bind.
static void findLocals(llvm::ArrayRef<ast::Statement *> statements,
                       llvm::SmallVectorImpl<llvm::StringRef> &locals) {
  for (const ast::Statement *statement : statements)
    if (auto *let = llvm::dyn_cast<ast::LetStatement>(statement))
      for (const ast::Name &name : let->names)
        locals.push_back(name.text);
}

void BodyLowering::lowerUnrolled(const ast::RepeatStatement *statement,
                                 LoopRange range,
                                 llvm::ArrayRef<llvm::StringRef> carried) {
  llvm::SmallVector<Binding::Kind, 4> kinds;
  for (llvm::StringRef name : carried) {
    Binding &binding = names.find(name)->second;
    kinds.push_back(binding.kind);
    binding.kind = Binding::Carried;
    binding.used = true;
  }
  llvm::SmallVector<llvm::StringRef, 8> locals = {statement->variable.text};
  findLocals(statement->body, locals);
  llvm::erase_if(locals, [&](llvm::StringRef name) {
    return llvm::is_contained(carried, name);
  });
  size_t errors = diags.errorCount();
  bool wasUnrolling = isUnrolling;
  isUnrolling = true;
  for (int64_t i = range.first; i <= range.last; ++i) {
    bind(statement->variable, Binding::LoopVariable,
         Term::ofNumber(Number::ofInteger(i), statement->variable.range()));
    lowerStatements(statement->body);
    for (llvm::StringRef name : locals)
      if (auto it = names.find(name);
          it != names.end() && it->second.kind != Binding::Carried)
        names.erase(it);
    // What is wrong is so for each value, nearly always.
    if (diags.errorCount() != errors)
      break;
  }
  isUnrolling = wasUnrolling;
  for (auto [name, kind] : llvm::zip_equal(carried, kinds))
    names.find(name)->second.kind = kind;
}
