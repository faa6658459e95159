//===- FunctionBinder.cpp - MIL statements to ops -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/MIL/FunctionBinder.h"
#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/Spelling.h"
#include "lib/Ops/Diags.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Support/Diags.h"
#include "lib/Support/Suggestion.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

FunctionBinder::FunctionBinder(Module &module, const OpTable &ops,
                               RequestedShapes &requested, Diagnostics &diags,
                               ModelDescription *description)
    : module(module), ops(ops), requested(requested), diags(diags),
      description(description), errorsBefore(diags.errorCount()) {}

bool FunctionBinder::begin(StringRef name, SourceRange range) {
  if (Function *previous = module.findFunction(name)) {
    diags.report(range, diag::DuplicateFunction, name)
        .note(previous->range, diag::PreviousDefinition, name);
    return false;
  }
  symbols.clear();
  flexible.clear();
  flexibleShapes = FlexibleShapes();
  results.clear();
  resultNames.clear();
  resultsKnown = true;
  ofBlocks = 0;
  anyEmpty = false;
  readInputs.clear();
  demandSteps = mostDemandSteps;
  computedValues.clear();
  computedOps.clear();
  function = module.addFunction(FunctionKind::Kernel, name, range);
  builder.emplace(*function, &diags);
  builder->setDescribe([](const Value &value) { return spellType(value); });
  return true;
}

void FunctionBinder::checkOpset(StringRef opset, SourceRange range) {
  StringRef digits = opset;
  unsigned number = 0;
  constexpr unsigned first = 15;
  if (!digits.consume_front("ios") || digits.getAsInteger(10, number) ||
      number < first)
    diags.report(range, diag::UnknownOpset, opset);
}

void FunctionBinder::setOpset(StringRef opset, SourceRange range) {
  checkOpset(opset, range);
  function->opset = opset.str();
}

void FunctionBinder::addParameter(ResultDeclaration parameter, bool isValid) {
  ParsedType &type = parameter.type;
  Value *value = function->addParameter(type.tensor, parameter.name);
  value->declared = parameter.range;
  value->holder = type.holder();
  value->layout = std::move(type.layout);
  if (isValid)
    flexible.push_back({value, type.tensor, type.range});
  define(parameter.name, parameter.range, isValid ? value : nullptr);
}

/// Chooses shapes for the parameters with unknown extents.
void FunctionBinder::bindParameterShapes() {
  for (const FlexibleParameter &parameter : flexible) {
    const InputShape *wanted = requested.find(parameter.value->name);
    const Shape &declared = parameter.declared.shape;
    bool known = !is_contained(declared, unknownExtent);
    if (known && (!wanted || wanted->isHint || declared == wanted->shape))
      continue;
    if (known)
      diags.report(parameter.typeRange, diag::ShapeDoesNotFit,
                   parameter.value->name, spellType(*parameter.value),
                   shapeToString(wanted->shape));
    else if (!flexibleShapes.choose(parameter, wanted, diags))
      symbols[parameter.value->name].value = nullptr;
  }
  for (const FlexibleParameter &parameter : flexible)
    fixParameter(*parameter.value);
}

/// A parameter with fixed numbers is a constant.
void FunctionBinder::fixParameter(Value &parameter) {
  const InputValue *fixed = requested.findFixed(parameter.name);
  Symbol &symbol = symbols[parameter.name];
  if (!fixed || !symbol.value)
    return;
  SourceRange range = parameter.declared;
  ConstantRef value =
      parameter.holder == Holder::Tensor
          ? RequestedShapes::fit(*fixed, parameter.type, range, diags)
          : nullptr;
  if (!value)
    return;
  symbol.value = makeConst(value, parameter.name, range);
  symbol.constant = std::move(value);
  function->eraseParameter(parameter.index());
}

void FunctionBinder::addResult(StringRef name, SourceRange range) {
  Symbol *symbol = lookup(name, range);
  resultsKnown &= symbol && symbol->value;
  if (resultsKnown && symbol->isList)
    resultsKnown = unsupported(range, "a list as a result");
  if (resultsKnown && symbol->value->holder == Holder::State) {
    diags.report(range, diag::ResultHolder, name,
                 describe(symbol->value->holder));
    resultsKnown = false;
  }
  if (resultsKnown && symbol->value->type.numElements() == 0) {
    diags.report(range, diag::NoElements, name, spellType(*symbol->value));
    resultsKnown = false;
  }
  if (!resultsKnown)
    return;
  results.push_back(symbol->value);
  resultNames.push_back(name);
  if (!symbol->classes || !description)
    return;
  FeatureDescription &label = description->of(function->name).outputOf(name);
  label.type = spelling(symbol->classes->dtype()).str();
  label.classes = symbol->classes;
}

/// Erases ops and constants that were only used to compute constant parameters,
/// from the last to the first, since erasing an op can make earlier ones
/// unused.
void FunctionBinder::eraseFoldedOps() {
  if (computedOps.empty())
    return;
  for (Op &op : make_early_inc_range(reverse(function->body()))) {
    bool unused = none_of(op.resultValues(),
                          [](const Value *value) { return value->hasUses(); });
    if (!unused || !computedOps.lookup(&op))
      continue;
    for (const Value *operand : op.operandValues()) {
      const Op *source = operand ? operand->definingOp() : nullptr;
      if (source && (computedOps.contains(source) || source->is(ops::Const)))
        computedOps[source] = true;
    }
    op.erase();
  }
}

void FunctionBinder::eraseFoldedConstants() {
  for (auto &[name, symbol] : symbols)
    if (symbol.folded && symbol.value && !symbol.value->hasUses())
      symbol.value->definingOp()->erase();
}

void FunctionBinder::finish() {
  if (resultsKnown)
    function->setResults(results, resultNames);
  eraseFoldedConstants();
  eraseFoldedOps();
}

bool FunctionBinder::isHopeless(SourceRange range) {
  // For input that is not MIL, more errors would not help.
  constexpr size_t maxErrors = 50;
  if (diags.errorCount() - errorsBefore < maxErrors)
    return false;
  diags.report(range, diag::TooManyErrors);
  return true;
}

bool FunctionBinder::unsupported(SourceRange range, StringRef what) {
  diags.report(range, diag::Unsupported, what);
  return false;
}

/// Whether `name` is an annotation of functions and ops in dumps of Core ML's
/// compiler.
static bool isAnalysis(StringRef name) {
  return StringSwitch<bool>(name)
      .Cases("BackendSupport", "EstimatedRuntime", "SelectedBackend", true)
      .Cases("ValidationMessage", "milId", true)
      .Default(name.ends_with("_ms") &&
               (name.starts_with("Launch_") || name.starts_with("Src_")));
}

void FunctionBinder::ignoreAttribute(StringRef name, SourceRange range) {
  if (isAnalysis(name)) {
    if (!std::exchange(ignoredAnalysis, true))
      diags.report(range, diag::IgnoredAnalysis, name);
  } else if (ignoredAttributes.try_emplace(name, true).second) {
    diags.report(range, diag::IgnoredAttribute, name);
  }
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Symbol *FunctionBinder::lookup(StringRef name, SourceRange range) {
  auto it = symbols.find(name);
  if (it != symbols.end())
    return &it->second;
  // Searching all names of a large program would be slow.
  constexpr size_t mostCandidates = 10000;
  Suggestion suggestion(name);
  if (symbols.size() <= mostCandidates)
    for (const auto &known : symbols)
      if (known.second.range.isValid())
        suggestion.consider(known.first);
  suggestion.note(diags.report(range, diag::UndefinedName, name), range);
  symbols.insert({name, Symbol()}); // report it only once
  return nullptr;
}

Symbol &FunctionBinder::define(StringRef name, SourceRange range,
                               Value *value) {
  auto [it, inserted] = symbols.insert({name, Symbol()});
  Symbol &symbol = it->second;
  if (!inserted && symbol.range.isValid())
    diags.report(range, diag::NameTaken, name)
        .note(symbol.range, diag::PreviousDefinition, name);
  else if (!inserted) // used above, and already reported there
    value = nullptr;
  symbol = Symbol();
  symbol.range = range;
  symbol.value = value;
  return symbol;
}

//===----------------------------------------------------------------------===//
// Declared types
//===----------------------------------------------------------------------===//

/// Whether `declared` is a valid declaration for a tensor of `type`.
static bool isDeclared(const ParsedType &declared, const TensorType &type) {
  if (!declared.unknownExtents)
    return declared.tensor == type;
  return declared.tensor.dtype == type.dtype &&
         equal(declared.tensor.shape, type.shape,
               [](int64_t extent, int64_t actual) {
                 return extent == unknownExtent || extent == actual;
               });
}

static bool isDeclared(const ParsedType &declared, const Value &value) {
  if (declared.holder() != value.holder || !isDeclared(declared, value.type))
    return false;
  return value.holder != Holder::Buffer ||
         *declared.layout == value.bufferLayout();
}

static std::string spell(const ParsedType &type) {
  std::string text;
  if (type.kind == ParsedType::Buffer) {
    raw_string_ostream out(text);
    writeBufferType(out, type.tensor, *type.layout);
    return text;
  }
  bool isState = type.kind == ParsedType::State;
  return (isState ? "state<" : "") +
         spellType(type.tensor, isState ? Scalars::RankZero : Scalars::Bare) +
         (isState ? ">" : "");
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// A `const` op, which is always valid.
Value *FunctionBinder::makeConst(const ConstantRef &value, StringRef name,
                                 SourceRange range) {
  Op *op = Op::create(ops::Const, {}, value, value->type(), name, range);
  function->insert(op);
  return op->result();
}

bool FunctionBinder::bindConst(const Statement &statement) {
  ConstantRef value;
  SourceRange valueRange;
  for (const Argument &attribute : statement.attributes) {
    if (attribute.name != param::val)
      continue;
    if (value) {
      diags.report(attribute.range, diag::DuplicateParameter, ops::Const.name,
                   param::val);
      return false;
    }
    value = attribute.values[0].constant;
    valueRange = attribute.values[0].range;
  }
  if (!statement.arguments.empty()) {
    diags.report(statement.arguments[0].range, diag::UnknownParameter,
                 ops::Const.name, statement.arguments[0].name);
    return false;
  }
  if (!value) {
    diags.report(statement.range, diag::MissingConstant, ops::Const.name,
                 param::val);
    return false;
  }
  if (statement.results.size() != 1) {
    diags.report(statement.range, diag::ResultCount, ops::Const.name, 1,
                 statement.results.size());
    return false;
  }
  const ResultDeclaration &result = statement.results[0];
  if (!isDeclared(result.type, value->type())) {
    diags.report(result.type.range, diag::ResultType, result.name,
                 spell(result.type), "const", spellType(value->type()));
    return false;
  }
  Symbol &symbol = define(result.name, result.range,
                          makeConst(value, result.name, statement.range));
  anyEmpty |= value->numElements() == 0;
  symbol.constant = std::move(value);
  return true;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The constant parameter in `slot`.
static const ParamDef &constantParam(const OpDef &def, unsigned slot) {
  for (const ParamDef &param : def.parameters())
    if (param.isConstant() && slot-- == 0)
      return param;
  llvm_unreachable("no such slot");
}

bool FunctionBinder::bindConstant(const OpDef &def, unsigned slot,
                                  const Argument &argument) {
  const ArgumentValue &value = argument.values[0];
  if (argument.values.size() != 1) {
    diags.report(argument.range, diag::SeveralValues, def.name, argument.name,
                 argument.values.size());
    return false;
  }
  ConstantRef constant = value.constant;
  if (!value.name.empty()) {
    Symbol *symbol = lookup(value.name, value.range);
    if (!symbol || !symbol->value)
      return false;
    constant = symbol->constant;
    symbol->folded |= constant != nullptr;
    if (auto op = computedOps.find(symbol->value->definingOp());
        op != computedOps.end()) {
      constant = computedValues.lookup(symbol->value);
      op->second = true;
    }
    if (!constant)
      constant = demand(symbol->value);
    if (!constant && isDecidedInLoop(symbol->value))
      return false;
    if (!constant)
      explainUnknown(diags.report(value.range, diag::NotConstant, def.name,
                                  argument.name, value.name),
                     value.range, symbol->value);
  } else if (!constant || value.isList) {
    return unsupported(value.range, "a value that is not a tensor");
  }
  if (!constant)
    return false;
  // Zeros can replace missing weights, but not values that shapes depend on.
  if (constant->origin() && constant->origin()->missing &&
      constantParam(def, slot).rank >= 0) {
    diags.report(value.range, diag::UnknownWeight, argument.name);
    return false;
  }
  constants[slot] = std::move(constant);
  return true;
}

/// The value of an argument; an immediate one becomes a `const` called `name`.
/// Returns null after an error.
Value *FunctionBinder::bindValue(const ArgumentValue &value, StringRef name) {
  if (value.constant && !value.isList)
    return makeConst(value.constant, name, value.range);
  if (value.name.empty()) {
    unsupported(value.range, "a value that is not a tensor");
    return nullptr;
  }
  Symbol *symbol = lookup(value.name, value.range);
  if (symbol && symbol->isList) {
    unsupported(value.range, "a list here");
    return nullptr;
  }
  return symbol ? symbol->value : nullptr;
}

/// Binds the one value of a parameter, or all values of a variadic one.
bool FunctionBinder::bindValues(const OpDef &def, unsigned slot,
                                const Argument &argument,
                                const Statement &statement) {
  bool variadic = def.isVariadic() && slot + 1 == def.numValueParams();
  if (!variadic && argument.values.size() != 1) {
    diags.report(argument.range, diag::SeveralValues, def.name, argument.name,
                 argument.values.size());
    return false;
  }
  if (operands.size() < slot + argument.values.size())
    operands.resize(slot + argument.values.size());
  bool ok = true;
  for (const ArgumentValue &value : argument.values) {
    SmallString<64> name(statement.results.empty() ? statement.opName
                                                   : statement.results[0].name);
    name += '_';
    name += argument.name;
    Value *operand = bindValue(value, name);
    ok &= operand != nullptr;
    operands[slot++] = operand;
  }
  return ok;
}

/// Whether the argument is known at compile time. Some parameters can also be
/// computed.
bool FunctionBinder::isConstant(const Argument &argument) const {
  const ArgumentValue &value = argument.values[0];
  if (argument.values.size() != 1 || value.name.empty())
    return true;
  auto it = symbols.find(value.name);
  return it != symbols.end() && it->second.value &&
         (it->second.constant || computedValues.contains(it->second.value));
}

bool FunctionBinder::bindArgument(const OpDef &def, const Argument &argument,
                                  const Statement &statement) {
  if (is_contained(given, argument.name)) {
    diags.report(argument.range, diag::DuplicateParameter, def.name,
                 argument.name);
    return false;
  }
  given.push_back(argument.name);
  int constantSlot = def.findConstantParam(argument.name);
  int valueSlot = def.findValueParam(argument.name);
  if (constantSlot >= 0 && (valueSlot < 0 || isConstant(argument)))
    return bindConstant(def, constantSlot, argument);
  if (valueSlot >= 0)
    return bindValues(def, valueSlot, argument, statement);
  reportUnknownParameter(def, argument);
  return false;
}

void FunctionBinder::reportUnknownParameter(const OpDef &def,
                                            const Argument &argument) {
  Suggestion suggestion(argument.name);
  for (const ParamDef &param : def.parameters())
    if (!is_contained(given, StringRef(param.name)))
      suggestion.consider(param.name);
  suggestion.note(diags.report(argument.range, diag::UnknownParameter, def.name,
                               argument.name),
                  argument.range);
}

/// The ops that unpack weights have all their arguments in the attribute list.
/// Attributes other than the name are annotations of Apple's tools.
bool FunctionBinder::bindAttributes(const OpDef &def,
                                    const Statement &statement) {
  bool ok = true;
  for (const Argument &attribute : statement.attributes) {
    if (attribute.name == "name")
      continue;
    bool isParameter = def.findConstantParam(attribute.name) >= 0 ||
                       def.findValueParam(attribute.name) >= 0;
    if (isParameter || statement.arguments.empty())
      ok &= bindArgument(def, attribute, statement);
    else
      ignoreAttribute(attribute.name, attribute.range);
  }
  return ok;
}

bool FunctionBinder::bindArguments(const OpDef &def,
                                   const Statement &statement) {
  operands.clear();
  operands.resize(def.isVariadic() ? def.numValueParams() - 1
                                   : def.numValueParams());
  constants.assign(def.numConstantParams(), nullptr);
  given.clear();
  bool ok = true;
  for (const Argument &argument : statement.arguments)
    ok &= bindArgument(def, argument, statement);
  return bindAttributes(def, statement) && ok;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

const OpDef *FunctionBinder::findOp(const Statement &statement) {
  auto [it, inserted] = knownOps.try_emplace(statement.opName, nullptr);
  if (inserted)
    it->second = ops.find(statement.opName);
  // anec's own ops are in the same table, but are not MIL.
  if (it->second && it->second->has(trait::Mil))
    return it->second;
  for (const UnsupportedOp &op : ops.unsupported())
    if (op.name == statement.opName) {
      diags.report(statement.opRange, diag::UnsupportedOp, op.name, op.reason);
      return nullptr;
    }
  Diagnostics::Report report =
      diags.report(statement.opRange, diag::UnknownOp, statement.opName);
  StringRef near = ops.suggest(statement.opName);
  const OpDef *nearOp = near.empty() ? nullptr : ops.find(near);
  if (nearOp && nearOp->has(trait::Mil))
    report.note(statement.opRange, diag::DidYouMean, near);
  return nullptr;
}

/// The results of ops are tensors, states and buffers.
bool FunctionBinder::areValues(const Statement &statement) {
  for (const ResultDeclaration &result : statement.results) {
    const ParsedType &type = result.type;
    if (!type.isValue())
      return unsupported(type.range, "a value that is not a tensor");
    if (type.unknownExtents && type.kind != ParsedType::Tensor)
      return unsupported(
          type.range,
          (anec::describe(type.holder()) + " of unknown extents").str());
  }
  return true;
}

/// The declared type must equal the result's type.
bool FunctionBinder::checkResult(const Statement &statement, unsigned index,
                                 const Value &value) {
  const ResultDeclaration &result = statement.results[index];
  if (isDeclared(result.type, value))
    return true;
  diags.report(result.type.range, diag::ResultType, result.name,
               spell(result.type), statement.opName, spellType(value));
  return false;
}

/// MIL joins scalars to a list, which is what `stack` does with them.
static const OpDef *joinScalars(const OpDef &def, ArrayRef<Value *> operands,
                                SmallVectorImpl<ConstantRef> &constants) {
  auto isScalar = [](const Value *value) {
    return value && value->type.shape.empty();
  };
  if (&def != &ops::Concat || operands.empty() || !all_of(operands, isScalar))
    return &def;
  constants.resize(ops::Stack.numConstantParams());
  return &ops::Stack;
}

bool FunctionBinder::bindOp(const Statement &statement) {
  const OpDef *def = findOp(statement);
  if (def && chosenBlocks && def->has(trait::SideEffect))
    return refuse(statement, "it is in a block that is not always run");
  if (!def || !areValues(statement) || !bindArguments(*def, statement))
    return false;
  if (!statement.blocks.empty())
    return unsupported(statement.opRange, "an op with blocks of its own");
  def = joinScalars(*def, operands, constants);
  SmallVector<StringRef, 2> names;
  for (const ResultDeclaration &result : statement.results)
    names.push_back(result.name);
  builder->setRange(statement.range);
  Op *op = builder->createWithSlots(*def, operands, constants, names);
  if (!op)
    return false;
  if (op->numResults() != statement.results.size()) {
    diags.report(statement.range, diag::ResultCount, def->name,
                 op->numResults(), statement.results.size());
    return false;
  }
  bool ok = true;
  for (unsigned index = 0; index < op->numResults(); ++index)
    ok &= checkResult(statement, index, *op->result(index));
  for (unsigned index = 0; index < op->numResults(); ++index)
    define(statement.results[index].name, statement.results[index].range,
           ok ? op->result(index) : nullptr);
  if (ok)
    computeValues(*op);
  return true;
}

/// The value, if it is known. Shapes and values computed from them are small,
/// so weights are ignored.
const Constant *FunctionBinder::knownValue(const Value *value) const {
  constexpr int64_t mostElements = 256;
  if (value->type.numElements() > mostElements ||
      value->type.dtype == DType::String)
    return nullptr;
  const Op *op = value->definingOp();
  const Constant *known = op && op->is(ops::Const)
                              ? op->constant(param::val)
                              : computedValues.lookup(value).get();
  return known && known->origin() && known->origin()->missing ? nullptr : known;
}

/// A program written with unknown extents computes shapes from constants and
/// from extents that are known now.
void FunctionBinder::computeValues(const Op &op) {
  assert(none_of(op.resultValues(),
                 [&](const Value *value) {
                   return computedValues.contains(value);
                 }) &&
         "an erased op, at the same address, was not forgotten");
  bool ofType = op.is(ops::ShapeOf);
  auto isKnown = [&](const Value *operand) {
    return !operand || ofType || knownValue(operand);
  };
  auto isSmall = [](const Value *result) {
    constexpr int64_t mostElements = 256;
    return result->type.numElements() <= mostElements;
  };
  for (unsigned slot = 0; slot < op.numOperands(); ++slot)
    if (!isKnown(op.operand(slot)))
      return;
  if (op.def().has(trait::SideEffect) || !all_of(op.resultValues(), isSmall))
    return;

  std::vector<RefTensor> operands(op.numOperands()), results;
  SmallVector<const RefTensor *, 4> in(op.numOperands());
  for (unsigned slot = 0; slot < op.numOperands(); ++slot)
    if (const Value *operand = op.operand(slot)) {
      operands[slot].type = operand->type;
      if (!ofType)
        operands[slot].data = knownValue(operand)->asDoubles();
      in[slot] = &operands[slot];
    }
  for (const Value *result : op.resultValues())
    results.push_back(
        {result->type, std::vector<double>(result->type.numElements())});
  EvalContext ctx{op.def(), op.constants(), in, results};
  op.def().eval(ctx);
  for (auto [value, tensor] : zip_equal(op.resultValues(), results))
    computedValues[value] = Constant::fromDoubles(tensor.type, tensor.data);
  computedOps[&op] = false;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

bool FunctionBinder::bindStatement(const Statement &statement) {
  builder->setRange(statement.range);
  if (statement.opName == ops::Const.name)
    return bindConst(statement);
  if (anyEmpty && hasEmptyArgument(statement) && statement.blocks.empty())
    return bindWithoutElements(statement);
  if (Special special = findSpecial(statement.opName))
    return (this->*special)(statement);
  return bindOp(statement);
}

void FunctionBinder::bind(const Statement &statement) {
  ofBlocks += depth != 0;
  if (bindStatement(statement))
    return;
  for (const ResultDeclaration &result : statement.results)
    define(result.name, result.range, nullptr);
}
