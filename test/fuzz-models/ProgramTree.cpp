//===- ProgramTree.cpp - a program that can be printed and shrunk ---------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProgramTree.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec::fuzz;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static std::string inBrackets(const Extent &extent) {
  bool isSum = extent.text.find('+') != std::string::npos;
  return isSum ? "(" + extent.text + ")" : extent.text;
}

Extent anec::fuzz::operator*(const Extent &lhs, const Extent &rhs) {
  if (lhs.isOne())
    return rhs;
  if (rhs.isOne())
    return lhs;
  return {inBrackets(lhs) + " * " + inBrackets(rhs), lhs.value * rhs.value};
}

Extent anec::fuzz::operator+(const Extent &lhs, const Extent &rhs) {
  return {lhs.text + " + " + rhs.text, lhs.value + rhs.value};
}

std::string anec::fuzz::listText(const Extents &extents) {
  std::vector<std::string> texts;
  for (const Extent &extent : extents)
    texts.push_back(extent.text);
  return "[" + llvm::join(texts, ", ") + "]";
}

int64_t TreeType::elements() const {
  int64_t count = 1;
  for (const Extent &extent : shape)
    count *= extent.value;
  return count;
}

std::string TreeType::text() const {
  return shape.empty() ? dtype : dtype + listText(shape);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static std::string joinTexts(const std::vector<Expr> &exprs) {
  std::vector<std::string> texts;
  for (const Expr &expr : exprs)
    texts.push_back(expr.text());
  return llvm::join(texts, ", ");
}

std::string Expr::text() const {
  if (!callee.empty()) {
    std::string at = index.empty() ? "" : "[" + index + "]";
    return callee + at + "(" + joinTexts(operands) + ")";
  }
  std::string result;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '$') {
      result += form[i];
      continue;
    }
    result += operands[form[++i] - '0'].text();
  }
  return result;
}

static void print(const std::vector<Statement> &statements, std::string indent,
                  std::string &out) {
  for (const Statement &statement : statements) {
    if (statement.isRepeat()) {
      out += indent + "repeat " + statement.variable + " in " +
             std::to_string(statement.from) + ".." +
             std::to_string(statement.to) + " {\n";
      print(statement.body, indent + "  ", out);
      out += indent + "}\n";
      continue;
    }
    std::vector<std::string> names;
    for (const Name &name : statement.names)
      names.push_back(name.name);
    out += indent + llvm::join(names, ", ") + " = " + statement.value.text() +
           ";\n";
  }
}

static std::string resultTypes(const Block &block) {
  std::vector<std::string> types;
  for (const Expr &result : block.results)
    types.push_back(result.type.text());
  return types.size() == 1 ? types[0] : "(" + llvm::join(types, ", ") + ")";
}

std::string Program::text() const {
  std::string out;
  if (!config.empty()) {
    out += "config {";
    for (const auto &[name, value] : config)
      out += " " + name + " = " + std::to_string(value) + ";";
    out += " }\n";
  }
  for (const Block &block : blocks) {
    std::vector<std::string> parameters;
    for (const Name &parameter : block.parameters)
      parameters.push_back(parameter.name + ": " + parameter.type.text());
    out += "\n" + block.kind + " " + block.name + "(" +
           llvm::join(parameters, ", ") + ") -> " + resultTypes(block) + " {\n";
    for (const Name &weight : block.weights)
      out += "  weight " + weight.name + ": " + weight.type.text() + ";\n";
    print(block.body, "  ", out);
    out += "  return " + joinTexts(block.results) + ";\n}\n";
  }
  return out;
}

Block *Program::find(llvm::StringRef name) {
  auto it = llvm::find_if(
      blocks, [&](const Block &block) { return block.name == name; });
  return it == blocks.end() ? nullptr : &*it;
}

//===----------------------------------------------------------------------===//
// Walking
//===----------------------------------------------------------------------===//

static void walk(Expr &expr, const std::vector<Name> &scope,
                 const ExprVisitor &visit) {
  visit(expr, scope);
  for (Expr &operand : expr.operands)
    walk(operand, scope, visit);
}

static void walk(std::vector<Statement> &statements, std::vector<Name> &scope,
                 const ExprVisitor &visit) {
  for (Statement &statement : statements) {
    if (statement.isRepeat()) {
      // What the body defines is local to it; what it carries is there already.
      std::vector<Name> inside = scope;
      walk(statement.body, inside, visit);
      continue;
    }
    walk(statement.value, scope, visit);
    for (const Name &name : statement.names)
      if (name.name != "_")
        scope.push_back(name);
  }
}

void anec::fuzz::forEachExpr(Block &block, const ExprVisitor &visit) {
  std::vector<Name> scope = block.parameters;
  scope.insert(scope.end(), block.weights.begin(), block.weights.end());
  walk(block.body, scope, visit);
  for (Expr &result : block.results)
    walk(result, scope, visit);
}

void anec::fuzz::substitute(Block &block, llvm::StringRef name,
                            const Expr &value) {
  forEachExpr(block, [&](Expr &expr, const std::vector<Name> &) {
    if (expr.isName() && expr.form == name)
      expr = value;
  });
}

unsigned anec::fuzz::countUses(Block &block, llvm::StringRef name) {
  unsigned count = 0;
  forEachExpr(block, [&](Expr &expr, const std::vector<Name> &) {
    count += expr.isName() && expr.form == name;
  });
  return count;
}
