//===- Emitter.cpp - functions to statements ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "ReservedNames.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/MIL/Spelling.h"
#include "lib/Ops/Control.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Constexpr.h"
#include "lib/Ops/Rows/Control.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace anec;
using namespace anec::mil;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// An element as part of a name.
static std::string elementInName(const Constant &value, int64_t index) {
  if (value.dtype() == DType::String)
    return sanitizeName(StringRef(value.asStrings()[index]).take_front(40),
                        "empty");
  double element = value.doubleAt(index);
  if (value.dtype() == DType::Bool)
    return element != 0 ? "true" : "false";
  std::string text;
  raw_string_ostream(text) << format("%.6g", std::fabs(element));
  for (char &c : text)
    if (!isAlnum(c))
      c = '_';
  return (std::signbit(element) ? "minus_" : "") + text;
}

/// `axis_1`, `perm_0_1_3_2`, `pad_type_valid`; long arrays are not spelled out.
static std::string parameterName(StringRef parameter, const Constant &value) {
  constexpr int64_t mostElements = 6;
  std::string name = parameter.str();
  if (value.numElements() <= mostElements)
    for (int64_t index = 0; index < value.numElements(); ++index)
      name += "_" + elementInName(value, index);
  return name;
}

/// The name of the const with a parameter's value, which is written when it is
/// first used.
StringRef Emitter::nameParameter(const Slot &slot, const Constant &value) {
  WrittenConstant placed = place(value);
  std::string text;
  raw_string_ostream stream(text);
  stream << slot.name() << " = ";
  if (placed.value)
    writeValue(stream, value, Scalars::Bare);
  else
    writeBlob(stream, placed.type, placed.path, placed.offset, Scalars::Bare);
  auto [known, isNew] = parameters.try_emplace(text, "");
  if (isNew) {
    known->second = names->all().unique(parameterName(slot.name(), value));
    emitConst(known->second, placed);
  }
  return known->second;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

WrittenConstant Emitter::place(const Constant &value) const {
  if (std::optional<WeightPlace> place = weights.find(value))
    return {value.type(), nullptr, place->path, place->offset};
  return {value.type(), &value, "", 0};
}

/// The value of a `const` or `weight`.
WrittenConstant Emitter::placeStored(const Op &op) const {
  if (op.is(ops::Const))
    return place(*op.constant(param::val));
  WeightPlace place = weights.find(op);
  return {op.result()->type, nullptr, place.path, place.offset};
}

void Emitter::emitConst(StringRef name, WrittenConstant value) {
  WrittenStatement statement;
  statement.label = name;
  statement.opName = ops::Const.name;
  statement.def = &ops::Const;
  statement.results.push_back({name, value.type, nullptr});
  WrittenArgument &attribute = statement.attributes.emplace_back();
  attribute.name = "val";
  attribute.constant = std::move(value);
  sink.addStatement(statement);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

ArrayRef<Emitter::Slot> Emitter::slotsOf(const OpDef &def) {
  auto [it, inserted] = slots.try_emplace(&def);
  if (!inserted)
    return it->second;
  unsigned values = 0, constants = 0;
  for (const ParamDef &param : def.parameters())
    it->second.push_back({&param, param.isConstant() ? constants++ : values++});
  llvm::sort(it->second, [](const Slot &lhs, const Slot &rhs) {
    return lhs.name() < rhs.name();
  });
  return it->second;
}

/// Whether the op has inline constants instead of names.
static bool isInPlace(const Op &op) { return !op.def().opsetTag.empty(); }

/// Whether the operand, if there is one, is a `const` or `weight`.
static bool isStored(const Value *value) {
  const Op *op = value ? value->definingOp() : nullptr;
  return !value || (op && op->def().has(trait::Stored));
}

/// The ops that unpack weights had all their arguments in the attribute list
/// until ios18. The `shape` parameter distinguishes older ops from their ios18
/// versions; constexpr_affine_dequantize has no ios18 version.
static bool takesAttributes(const Op &op, StringRef opset) {
  const OpDef &def = op.def();
  if (!def.has(trait::Constexpr) || !all_of(op.operandValues(), isStored))
    return false;
  if (def.constantSlot(param::shape) >= 0)
    return op.constant(param::shape);
  return op.is(ops::ConstexprAffineDequantize) ||
         (op.is(ops::ConstexprCast) && opset < "ios18");
}

/// Whether the constant is only used in attribute lists.
static bool isInAttributes(const Op &op, StringRef opset) {
  const Operand *use = op.result()->firstUse();
  for (const Operand *other = use; other; other = other->nextUse())
    if (!other->owner() || !takesAttributes(*other->owner(), opset))
      return false;
  return use != nullptr;
}

/// Whether the op has an argument in the slot that the opset supports. A
/// parameter of a later opset is omitted when it has its default value.
bool Emitter::isPresent(const Op &op, const Slot &slot, StringRef opset) const {
  if (!slot.isConstant())
    return slot.isVariadic() || op.operand(slot.index);
  const ConstantRef &value = op.constants()[slot.index];
  unsigned known = 0;
  if (!value || !opset.consume_front("ios") || opset.getAsInteger(10, known) ||
      known >= slot.param->opset)
    return value != nullptr;
  ConstantRef fallback =
      defaultConstant(op.def(), *slot.param, op.operandValues());
  return !fallback || !fallback->equals(*value);
}

/// The statement without its arguments.
WrittenStatement Emitter::begin(const Op &op) {
  WrittenStatement statement;
  // Names of ops are unique, as those of values.
  statement.label = op.numResults() ? nameOf(op.result())
                                    : names->all().unique(op.def().name);
  statement.opName = op.def().name;
  statement.def = &op.def();
  statement.opsetTag = op.def().opsetTag;
  for (const Value *result : op.resultValues())
    statement.results.push_back({nameOf(result), result->type, result});
  return statement;
}

WrittenArgument Emitter::argument(const Op &op, const Slot &slot) {
  WrittenArgument argument;
  argument.name = slot.name();
  argument.isVariadic = slot.isVariadic();
  if (slot.isConstant()) {
    const Constant &value = *op.constants()[slot.index];
    if (isInPlace(op))
      argument.constant = place(value);
    else
      argument.values.push_back(nameParameter(slot, value));
  } else if (!slot.isVariadic()) {
    argument.values.push_back(nameOf(op.operand(slot.index)));
  } else {
    for (unsigned index : seq(slot.index, op.numOperands()))
      argument.values.push_back(nameOf(op.operand(index)));
  }
  return argument;
}

void Emitter::emitInAttributes(const Op &op, StringRef opset) {
  WrittenStatement statement = begin(op);
  for (const Slot &slot : slotsOf(op.def())) {
    if (!isPresent(op, slot, opset))
      continue;
    WrittenArgument &attribute = statement.attributes.emplace_back();
    attribute.name = slot.name();
    attribute.constant =
        slot.isConstant() ? place(*op.constants()[slot.index])
                          : placeStored(*op.operand(slot.index)->definingOp());
  }
  sink.addStatement(statement);
}

void Emitter::emitOp(const Op &op, StringRef opset) {
  if (op.def().has(trait::Stored)) {
    if (!isInAttributes(op, opset))
      emitConst(nameOf(op.result()), placeStored(op));
    return;
  }
  if (takesAttributes(op, opset))
    return emitInAttributes(op, opset);
  if (blocksSlot(op.def()) >= 0)
    return emitWithBlocks(op, opset);
  // The parameters first: they are statements of their own.
  SmallVector<WrittenArgument, 8> arguments;
  for (const Slot &slot : slotsOf(op.def()))
    if (isPresent(op, slot, opset))
      arguments.push_back(argument(op, slot));
  WrittenStatement statement = begin(op);
  statement.arguments = std::move(arguments);
  sink.addStatement(statement);
}

/// Writes an `identity` called `name`, and returns the name.
StringRef Emitter::emitCopy(const Value *value, StringRef name) {
  WrittenStatement statement;
  statement.label = name;
  statement.opName = ops::Identity.name;
  statement.def = &ops::Identity;
  statement.results.push_back({name, value->type, nullptr});
  WrittenArgument &argument = statement.arguments.emplace_back();
  argument.name = "x";
  argument.values.push_back(nameOf(value));
  sink.addStatement(statement);
  return name;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Blocks of MIL see the values around them, except those that a loop carries.
void Emitter::emitWithBlocks(const Op &op, StringRef opset) {
  bool isLoop = op.is(ops::WhileLoop);
  size_t carried = isLoop ? op.get(param::carried) : 1;
  WrittenStatement statement = begin(op);
  WrittenArgument &argument = statement.arguments.emplace_back();
  argument.name = isLoop ? "loop_vars" : "pred";
  argument.isVariadic = isLoop;
  for (unsigned slot : seq<unsigned>(0, carried))
    argument.values.push_back(nameOf(op.operand(slot)));
  for (const auto &block : blocksOf(op)) {
    size_t own = isLoop ? carried : 0;
    WrittenBlock &written = statement.blocks.emplace_back();
    for (const auto &param : block->parameters()) {
      if (param->index() >= own) {
        names->addParameter(param.get(), op.operand(param->index()));
        continue;
      }
      // The blocks of a loop have the same inputs, as those of coremltools.
      if (statement.blocks.size() == 1)
        names->addParameter(param.get());
      else
        names->addParameter(
            param.get(), blocksOf(op)[0]->parameters()[param->index()].get());
      written.inputs.push_back({nameOf(param.get()), param->type, param.get()});
    }
    written.emit = [this, block = block.get(), opset] {
      return emitBlock(*block, opset);
    };
  }
  sink.addStatement(statement);
}

/// The statements of a block, and its results, each once.
SmallVector<StringRef, 4> Emitter::emitBlock(const Function &block,
                                             StringRef opset) {
  StringMap<StringRef> around = parameters;
  names->addBlock(block);
  for (const Op &op : block.body())
    emitOp(op, opset);
  SmallVector<StringRef, 4> results;
  for (const Value *value : block.resultValues()) {
    StringRef name = nameOf(value);
    if (is_contained(results, name))
      name = emitCopy(value, names->all().unique((name + "_copy").str()));
    results.push_back(name);
  }
  parameters = std::move(around);
  return results;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// A result has its name in the function's interface. A parameter, or a value
/// that already is another result, gets its second name from an `identity`.
void Emitter::emitResults(const Function &function) {
  SmallVector<StringRef, 4> results;
  for (unsigned index = 0; index < function.numResults(); ++index) {
    const Value *value = function.result(index);
    std::string wanted = sanitizeName(function.resultNames()[index], "result");
    results.push_back(nameOf(value));
    // Buffers are not copied: they keep their names.
    if (wanted == results.back() || names->all().contains(wanted) ||
        isReservedName(wanted) || value->holder != Holder::Tensor)
      continue;
    results.back() = emitCopy(value, names->all().unique(wanted));
  }
  sink.endFunction(results);
}

void Emitter::emit(const Function &function, StringRef name, StringRef opset) {
  names.emplace(function, isReservedName);
  parameters.clear();
  SmallVector<WrittenDeclaration, 8> declarations;
  for (const auto &parameter : function.parameters())
    declarations.push_back(
        {nameOf(parameter.get()), parameter->type, parameter.get()});
  sink.beginFunction(name, opset, declarations);
  for (const Op &op : function.body())
    emitOp(op, opset);
  emitResults(function);
}
