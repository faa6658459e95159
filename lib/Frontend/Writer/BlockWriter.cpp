//===- BlockWriter.cpp - the statements of a function ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BlockWriter.h"
#include "../OpNames.h"
#include "Literals.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/WeightName.h"
#include "lib/Ops/Ops.h"
#include "lib/Ops/Params/Stored.h"
#include "lib/Ops/Rows/Constants.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace anec;
using namespace anec::frontend;

/// An expression longer than this gets a name.
static constexpr size_t mostInside = 60;

/// The words that nothing in a program can be called.
static constexpr llvm::StringLiteral keywords[] = {
    "import", "config", "fn",    "kernel", "layer", "model", "frozen", "weight",
    "const",  "repeat", "in",    "return", "and",   "or",    "not",    "true",
    "false",  "fp16",   "fp32",  "int32",  "bool",  "int8",  "uint8",  "int16",
    "uint16", "int",    "float", "iota",   "inf",   "nan"};

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string anec::frontend::typeText(const TensorType &type) {
  std::string text = spelling(type.dtype).str();
  if (type.isScalar())
    return text;
  std::vector<std::string> extents;
  for (int64_t extent : type.shape)
    extents.push_back(std::to_string(extent));
  return text + "[" + llvm::join(extents, ", ") + "]";
}

std::string anec::frontend::wrap(const std::string &first,
                                 llvm::ArrayRef<std::string> words,
                                 const std::string &last,
                                 const std::string &indent) {
  std::string text, line = first;
  for (auto [index, word] : llvm::enumerate(words)) {
    std::string piece = word + (index + 1 < words.size() ? "," : last);
    bool isFirst = line == first || line == indent;
    if (!isFirst && line.size() + 1 + piece.size() > lineWidth) {
      text += line + "\n";
      line = indent;
      isFirst = true;
    }
    line += (isFirst ? "" : " ") + piece;
  }
  return text + line;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

std::string anec::frontend::identifier(llvm::StringRef name,
                                       llvm::StringRef fallback) {
  std::string spelled = sanitizeName(name, fallback);
  return llvm::is_contained(keywords, spelled) ? spelled + "_" : spelled;
}

ProgramConstants::ProgramConstants() {
  for (llvm::StringRef keyword : keywords)
    names.unique(keyword);
}

llvm::StringRef ProgramConstants::nameOf(const Constant &value,
                                         llvm::StringRef wanted) {
  for (const Named &named : all)
    if (named.value->equals(value))
      return named.name;
  all.push_back({names.unique(identifier(wanted, "constant")).str(),
                 *constantExpression(value), ConstantRef(&value)});
  return all.back().name;
}

std::string ProgramConstants::text() const {
  std::string text;
  for (const Named &named : all)
    text += "const " + named.name + " = " + named.expression + ";\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

BlockWriter::BlockWriter(const Function &function, ProgramConstants &constants)
    : function(function), constants(constants) {
  for (llvm::StringRef keyword : keywords)
    names.unique(keyword);
  // Constants outside of the block keep their names in it.
  for (const Op &op : function.body()) {
    if (!op.is(ops::Const))
      continue;
    const Constant &value = *op.constant(param::val);
    if (!isInline(value))
      setName(*op.result(),
              constants.nameOf(value, displayName(*op.result())).str());
  }
  // Only a layer may call its parameters otherwise.
  for (const auto &parameter : function.parameters())
    setName(*parameter, function.kind == FunctionKind::Layer
                            ? nameFor(*parameter, "")
                            : unique(parameter->name));
}

std::string BlockWriter::unique(llvm::StringRef wanted) {
  std::string name;
  do
    name = names.unique(identifier(wanted, "x")).str();
  while (constants.contains(name));
  return name;
}

/// `q_proj` of `layers.{0..3}.self_attn.q_proj.weight`: the module that a
/// weight of the op is in, or of what is written inside of it.
std::string BlockWriter::hintOf(const Op &op) const {
  std::string hint;
  for (const Value *operand : op.operandValues()) {
    const Op *def = operand ? operand->definingOp() : nullptr;
    if (def && def->is(ops::Weight)) {
      llvm::StringRef name = def->get(param::name);
      llvm::StringRef member = memberOf(name);
      llvm::StringRef module =
          memberOf(name.drop_back(std::min(name.size(), member.size() + 1)));
      if (canBeInstance(module) && !module.empty() &&
          !llvm::isDigit(module.front()))
        return module.str();
    }
    auto it = operand ? waiting.find(operand) : waiting.end();
    if (hint.empty() && it != waiting.end())
      hint = it->second.hint;
  }
  return hint;
}

std::string BlockWriter::nameFor(const Value &value, llvm::StringRef hint) {
  std::string name = identifier(hint.empty() ? displayName(value) : hint, "y");
  // `softmax = softmax(x)` is a program, but hard to read.
  return unique(findCallable(opTable(), name) ? "y" : name);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void BlockWriter::declareWeights() {
  llvm::MapVector<std::string, std::vector<std::string>,
                  std::map<std::string, unsigned>>
      all;
  for (const Op &op : function.body()) {
    if (!op.is(ops::Weight))
      continue;
    setName(*op.result(), unique(op.result()->name));
    std::string kind = op.get(param::frozen) ? "frozen weight " : "weight ";
    all[kind + typeText(op.result()->type)].push_back(named[op.result()]);
  }
  for (const auto &[key, members] : all) {
    size_t type = key.rfind("weight ") + 7;
    add(wrap("  " + key.substr(0, type), members, ": " + key.substr(type) + ";",
             "      "));
  }
}

Expression BlockWriter::peek(const Value &value) const {
  if (auto it = waiting.find(&value); it != waiting.end())
    return it->second.expression;
  if (auto it = named.find(&value); it != named.end())
    return {it->second};
  const Op *def = value.definingOp();
  assert(def && def->is(ops::Const) && "used before it is written");
  return {"(" + *constantExpression(*def->constant(param::val)) + ")"};
}

Expression BlockWriter::use(const Value &value) {
  Expression result = peek(value);
  waiting.erase(&value);
  return result;
}

size_t BlockWriter::waitingSize(llvm::ArrayRef<Value *> operands) const {
  size_t size = 0;
  for (const Value *operand : operands)
    if (auto it = waiting.find(operand); it != waiting.end())
      size += it->second.expression.text.size();
  return size;
}

size_t BlockWriter::flushOne(llvm::ArrayRef<Value *> operands) {
  const Value *longest = nullptr;
  size_t most = 0;
  for (const Value *operand : operands) {
    auto it = operand ? waiting.find(operand) : waiting.end();
    if (it != waiting.end() && it->second.expression.text.size() > most) {
      most = it->second.expression.text.size();
      longest = operand;
    }
  }
  if (!longest)
    return 0;
  Waiting value = std::move(waiting.find(longest)->second);
  waiting.erase(longest);
  std::string name = nameFor(*longest, value.hint);
  add("  " + name + " = " + value.expression.text + ";");
  setName(*longest, name);
  return most;
}

void BlockWriter::define(llvm::ArrayRef<const Value *> results,
                         const std::string &text) {
  std::vector<std::string> left;
  for (const Value *result : results) {
    if (result->hasUses()) {
      left.push_back(nameFor(*result, ""));
      setName(*result, left.back());
    } else {
      left.push_back("_");
    }
  }
  add("  " + llvm::join(left, ", ") + " = " + text + ";");
}

void BlockWriter::addOp(const Op &op) {
  if (op.is(ops::Const) || op.is(ops::Weight))
    return;
  llvm::SmallVector<Value *, 4> operands = op.operandValues();
  // A part is taken of a name.
  if (partOf(op) && waiting.contains(op.operand(0u)))
    flushOne(op.operand(0u));
  // What does not fit into a line for sure first, so that it is spelled once.
  constexpr size_t most = lineWidth - 16;
  for (size_t size = waitingSize(operands); size > most;)
    size -= flushOne(operands);
  auto text = [&] {
    return expressionOf(op, [&](const Value &value) { return peek(value); });
  };
  Expression expression = text();
  while (expression.text.size() > most && flushOne(operands))
    expression = text();
  std::string hint = hintOf(op);
  for (const Value *operand : operands)
    if (operand)
      waiting.erase(operand);
  const Value &result = *op.result();
  if (op.numResults() != 1) {
    llvm::SmallVector<const Value *, 3> results(op.resultValues());
    return define(results, expression.text);
  }
  size_t mostWaiting = result.user() ? mostInside : most;
  if (result.hasOneUse() && expression.text.size() <= mostWaiting) {
    waiting[&result] = {std::move(expression), std::move(hint)};
    return;
  }
  std::string name = nameFor(result, hint);
  add("  " + name + " = " + expression.text + ";");
  setName(result, name);
}

void BlockWriter::addReturn() {
  std::vector<std::string> values;
  for (const Value *result : function.resultValues())
    values.push_back(use(*result).text);
  add(wrap("  return ", values, ";", "      "));
}

std::string BlockWriter::text() const { return llvm::join(lines, "\n") + "\n"; }
