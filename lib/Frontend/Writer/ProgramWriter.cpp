//===- ProgramWriter.cpp - a module as a program --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Frontend/ProgramWriter.h"
#include "../OpNames.h"
#include "Arguments.h"
#include "BlockWriter.h"
#include "Literals.h"
#include "lib/Frontend/Diags.h"
#include "lib/Frontend/Frontend.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/WeightName.h"
#include "lib/Ops/Ops.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace anec;
using namespace anec::frontend;

namespace {

class ProgramMaker {
public:
  ProgramMaker(Module &module, Diagnostics &diags)
      : module(module), diags(diags) {}

  std::optional<WrittenProgram> run(llvm::StringRef heading);

private:
  bool canBeWritten() const;
  bool refuse(SourceRange range, llvm::StringRef what,
              llvm::StringRef name) const {
    diags.report(range, diag::NotInLanguage, what, name);
    return false;
  }
  void writeLayer(const Function &layer);
  void writeEntry();
  void addCall(BlockWriter &block, const Op &call, llvm::StringRef instance);
  void addRepeat(BlockWriter &block, const Op &repeat);
  void addTurns(BlockWriter &block, const Op &repeat);
  std::string callText(const Op &call, llvm::StringRef instance,
                       llvm::ArrayRef<std::string> arguments) const;
  void noteInstance(const Op &call, std::optional<int64_t> instance);
  void noteWeights(const Function &function);
  std::string signature(llvm::StringRef kind, const Function &function,
                        BlockWriter &block, bool namesResults) const;

  Module &module;
  Diagnostics &diags;
  Function *entry = nullptr;
  bool isModel = false;
  ProgramConstants constants;
  WrittenProgram program;
  std::string blocks;
  /// The layers and instances that are called; -1 for none.
  std::set<std::pair<std::string, int64_t>> called;
  /// The names of weights in the program and in the module, by function.
  llvm::StringMap<std::vector<std::pair<std::string, std::string>>> weights;
};

} // namespace

//===----------------------------------------------------------------------===//
// What a program can say
//===----------------------------------------------------------------------===//

/// Whether a constant has an expression, or can be a weight: integers that fp16
/// has, since the program can be compiled in it.
static bool hasForm(const Constant &value) {
  if (isFloat(value.dtype()) || value.dtype() == DType::Bool ||
      value.dtype() == DType::String || constantExpression(value))
    return true;
  constexpr int64_t most = 2048;
  for (int64_t i = 0; i < value.numElements(); ++i)
    if (value.intAt(i) > most || value.intAt(i) < -most)
      return false;
  return true;
}

bool ProgramMaker::canBeWritten() const {
  if (entry->parameters().empty()) {
    diags.report(entry->range, diag::ProgramWithoutInputs, entry->name);
    return false;
  }
  for (const auto &function : module.functions) {
    for (const auto &parameter : function->parameters())
      if (parameter->holder != Holder::Tensor)
        return refuse(parameter->declared, describe(parameter->holder),
                      parameter->name);
    for (const Op &op : function->body()) {
      if (op.is(ops::Const) && !hasForm(*op.constant(param::val)))
        return refuse(op.range(), "a constant of the type",
                      op.result()->type.str());
      bool isWritten = op.is(ops::Const) || op.is(ops::Weight) ||
                       op.is(ops::Call) || op.is(ops::Repeat) ||
                       !op.def().has(trait::NotCallable);
      if (!isWritten)
        return refuse(op.range(), "the op", op.def().name);
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

void ProgramMaker::noteInstance(const Op &call,
                                std::optional<int64_t> instance) {
  called.insert({call.get(param::callee).str(), instance.value_or(-1)});
}

/// Remembers what the weights that `block` has named are in the module.
static std::vector<std::pair<std::string, std::string>>
weightsOf(const Function &function, BlockWriter &block) {
  std::vector<std::pair<std::string, std::string>> result;
  for (const Op &op : function.body())
    if (op.is(ops::Weight))
      result.push_back(
          {block.use(*op.result()).text, op.get(param::name).str()});
  return result;
}

/// Adds the names of all arrays. Weights of layers that a kernel calls are its
/// own.
void ProgramMaker::noteWeights(const Function &function) {
  std::string before = isModel || &function == entry
                           ? function.name
                           : entry->name + "." + function.name;
  for (const auto &[own, array] : weights[function.name])
    for (const auto &[name, instance] : called) {
      if (name != function.name)
        continue;
      std::string number = instance < 0 ? "" : "." + std::to_string(instance);
      program.weights.push_back(
          {before + number + "." + own,
           instanceName(array, instance < 0 ? std::nullopt
                                            : std::optional(instance))});
    }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

std::string ProgramMaker::signature(llvm::StringRef kind,
                                    const Function &function,
                                    BlockWriter &block,
                                    bool namesResults) const {
  std::vector<std::string> parameters, results;
  NameSet names;
  for (const auto &parameter : function.parameters())
    parameters.push_back(block.use(*parameter).text + ": " +
                         typeText(parameter->type));
  for (auto [value, name] :
       llvm::zip_equal(function.resultValues(), function.resultNames()))
    results.push_back(
        (namesResults ? names.unique(identifier(name, "output")).str() + ": "
                      : "") +
        typeText(value->type));
  bool hasList = namesResults || results.size() != 1;
  std::string open = hasList ? " -> (" : " -> ", close = hasList ? ") {" : " {";
  std::string head = kind.str() + " " + function.name + "(";
  std::string whole = head + llvm::join(parameters, ", ") + ")" + open +
                      llvm::join(results, ", ") + close;
  if (whole.size() <= lineWidth)
    return whole;
  return wrap(head, parameters, ")", "    ") + "\n   " +
         wrap(open, results, close, "        ");
}

void ProgramMaker::writeLayer(const Function &layer) {
  BlockWriter block(layer, constants);
  std::string head = signature("layer", layer, block, false);
  block.declareWeights();
  weights[layer.name] = weightsOf(layer, block);
  for (const Op &op : layer.body())
    block.addOp(op);
  block.addReturn();
  blocks += head + "\n" + block.text() + "}\n\n";
}

std::string
ProgramMaker::callText(const Op &call, llvm::StringRef instance,
                       llvm::ArrayRef<std::string> arguments) const {
  std::string text = call.get(param::callee).str();
  if (!instance.empty())
    text += "[" + instance.str() + "]";
  return text + "(" + llvm::join(arguments, ", ") + ")";
}

/// The arguments of a call that are not its instance.
static std::vector<std::string> argumentsOf(BlockWriter &block,
                                            const Op &call) {
  std::vector<std::string> arguments;
  for (unsigned slot = 1; slot < call.numOperands(); ++slot)
    arguments.push_back(block.use(*call.operand(slot)).text);
  return arguments;
}

void ProgramMaker::addCall(BlockWriter &block, const Op &call,
                           llvm::StringRef instance) {
  llvm::SmallVector<const Value *, 4> results(call.resultValues());
  block.define(results, callText(call, instance, argumentsOf(block, call)));
}

namespace {
/// A `repeat` of one call.
struct RepeatedCall {
  const Function &body;
  const Op &call;
  size_t carried;

  /// The operand of the `repeat` that an argument of the call is.
  size_t operandOf(size_t argument) const {
    return call.operand(unsigned(argument + 1))->index() - 1;
  }
  /// The carried value that a result of the call is; nothing for none.
  std::optional<size_t> carriedOf(size_t result) const {
    for (size_t i = 0; i < carried; ++i)
      if (body.result(unsigned(i)) == call.result(unsigned(result)))
        return i;
    return std::nullopt;
  }
};
} // namespace

static RepeatedCall repeatedCall(const Module &module, const Op &repeat) {
  const Function &body = *module.findFunction(repeat.get(param::body));
  const Op &call = *llvm::find_if(
      body.body(), [](const Op &op) { return op.is(ops::Call); });
  return {body, call, size_t(repeat.get(param::carried))};
}

/// `repeat i in 0..4 { x = h[i](x); }`
void ProgramMaker::addRepeat(BlockWriter &block, const Op &repeat) {
  RepeatedCall repeated = repeatedCall(module, repeat);
  std::vector<std::string> inside;
  for (auto [index, operand] : llvm::enumerate(repeat.operandValues())) {
    std::string text = block.use(*operand).text;
    bool isOwn = operand->definingOp() && operand->hasOneUse() &&
                 block.isNamed(*operand);
    if (index < repeated.carried && !isOwn) {
      std::string name = block.unique("x");
      block.add("  " + name + " = " + text + ";");
      text = name;
    }
    inside.push_back(text);
  }
  std::vector<std::string> arguments, left;
  for (size_t i = 0; i + 1 < repeated.call.numOperands(); ++i)
    arguments.push_back(inside[repeated.operandOf(i)]);
  for (size_t i = 0; i < repeated.call.numResults(); ++i)
    left.push_back(inside[*repeated.carriedOf(i)]);
  bool indexed = repeated.call.operand(0u);
  std::string turn = block.unique("i");
  block.add("  repeat " + turn + " in 0.." +
            std::to_string(repeat.get(param::to)) + " { " +
            llvm::join(left, ", ") + " = " +
            callText(repeated.call, indexed ? turn : "", arguments) + "; }");
  for (size_t i = 0; i < repeated.carried; ++i)
    block.setName(*repeat.result(unsigned(i)), inside[i]);
  for (int64_t i = 0; i < repeat.get(param::to); ++i)
    noteInstance(repeated.call, indexed ? std::optional(i) : std::nullopt);
}

/// The calls one by one: kernels have no `repeat`.
void ProgramMaker::addTurns(BlockWriter &block, const Op &repeat) {
  RepeatedCall repeated = repeatedCall(module, repeat);
  std::vector<std::string> values;
  for (const Value *operand : repeat.operandValues())
    values.push_back(block.use(*operand).text);
  bool indexed = repeated.call.operand(0u);
  for (int64_t turn = 0; turn < repeat.get(param::to); ++turn) {
    std::vector<std::string> arguments, left;
    for (size_t i = 0; i + 1 < repeated.call.numOperands(); ++i)
      arguments.push_back(values[repeated.operandOf(i)]);
    for (size_t i = 0; i < repeated.call.numResults(); ++i) {
      left.push_back(block.unique("x"));
      values[*repeated.carriedOf(i)] = left.back();
    }
    block.add("  " + llvm::join(left, ", ") + " = " +
              callText(repeated.call, indexed ? std::to_string(turn) : "",
                       arguments) +
              ";");
    noteInstance(repeated.call, indexed ? std::optional(turn) : std::nullopt);
  }
  for (size_t i = 0; i < repeated.carried; ++i)
    block.setName(*repeat.result(unsigned(i)), values[i]);
}

void ProgramMaker::writeEntry() {
  BlockWriter block(*entry, constants);
  std::string head =
      signature(isModel ? "model" : "kernel", *entry, block, !isModel);
  block.declareWeights();
  weights[entry->name] = weightsOf(*entry, block);
  called.insert({entry->name, -1});
  for (const Op &op : entry->body()) {
    if (op.is(ops::Repeat)) {
      isModel ? addRepeat(block, op) : addTurns(block, op);
    } else if (op.is(ops::Call)) {
      std::string instance;
      std::optional<int64_t> number;
      if (const Value *index = op.operand(0u)) {
        number = index->definingOp()->constant(param::val)->intAt(0);
        instance = std::to_string(*number);
      }
      addCall(block, op, instance);
      noteInstance(op, number);
    } else {
      block.addOp(op);
    }
  }
  block.addReturn();
  blocks += head + "\n" + block.text() + "}\n";
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// Gives the functions names that a program can have.
static void renameFunctions(Module &module) {
  NameSet names;
  for (const auto &function : module.functions) {
    if (function->role == FunctionRole::Body)
      continue;
    std::string old = function->name;
    std::string wanted = identifier(old, "net");
    if (wanted == "model_")
      wanted = "net";
    if (findCallable(opTable(), wanted)) // whose calls would be this layer's
      wanted += "_layer";
    std::string now = names.unique(wanted).str();
    for (const auto &caller : module.functions)
      for (Op &op : caller->body())
        if (op.is(ops::Call) && op.get(param::callee) == old)
          op.setConstant(param::callee, Constant::string(now));
    function->name = now;
  }
}

std::optional<WrittenProgram> ProgramMaker::run(llvm::StringRef heading) {
  // A program of one function is that kernel.
  entry = module.functions.front().get();
  for (const auto &function : module.functions)
    if (function->isEntry())
      entry = function.get();
  if (!canBeWritten())
    return std::nullopt;
  isModel = entry->resultOf(ValueRole::Loss).has_value();
  renameFunctions(module);
  for (auto &[name, value] : makeArguments(module, *entry))
    program.constants.push_back({name, std::move(value)});
  for (const auto &function : module.functions)
    if (function.get() != entry && function->role != FunctionRole::Body)
      writeLayer(*function);
  writeEntry();
  for (const auto &function : module.functions)
    if (function->role != FunctionRole::Body)
      noteWeights(*function);
  llvm::SmallVector<llvm::StringRef, 8> lines;
  heading.split(lines, '\n');
  for (llvm::StringRef line : lines)
    program.text += line.empty() ? "//\n" : "// " + line.str() + "\n";
  std::string outside = constants.text();
  program.text += "\n" + outside + (outside.empty() ? "" : "\n") + blocks;
  if (program.text.size() > maxTextSize) {
    diags.report(entry->range, diag::ProgramTooLong,
                 int64_t(program.text.size()));
    return std::nullopt;
  }
  return std::move(program);
}

std::optional<WrittenProgram> anec::writeProgram(Module &module,
                                                 llvm::StringRef heading,
                                                 Diagnostics &diags) {
  return ProgramMaker(module, diags).run(heading);
}
