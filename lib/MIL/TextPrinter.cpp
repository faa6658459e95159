//===- TextPrinter.cpp - prints MIL text ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TextPrinter.h"
#include "ReservedNames.h"
#include "anec/IR/Builder.h"
#include "anec/Ops/Ops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace anec;
using namespace anec::mil;
using namespace llvm;

static constexpr StringLiteral indent = "        ";

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

/// The name of the const with a parameter's value, which is printed when it is
/// first used.
StringRef TextPrinter::nameParameter(const Slot &slot, const Constant &value) {
  std::string text = spellConstant(value);
  auto [known, isNew] =
      parameters.try_emplace((slot.name() + " = " + text).str(), "");
  if (isNew) {
    known->second = names->all().unique(parameterName(slot.name(), value));
    printConst(value.type(), known->second, text);
  }
  return known->second;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

ArrayRef<TextPrinter::Slot> TextPrinter::slotsOf(const OpDef &def) {
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

std::string TextPrinter::spellConstant(const Constant &value) const {
  std::string text;
  raw_string_ostream stream(text);
  if (std::optional<WeightPlace> place = weights.find(value))
    writeBlob(stream, value.type(), place->path, place->offset, scalars);
  else
    writeValue(stream, value, scalars);
  return text;
}

void TextPrinter::printNameAttribute(StringRef name) {
  out << "name = ";
  writeType(out, {DType::String}, scalars);
  out << "(\"" << name << "\")";
}

void TextPrinter::printConst(const TensorType &type, StringRef name,
                             StringRef value) {
  out << indent;
  writeType(out, type, scalars);
  out << ' ' << name << " = const()[";
  printNameAttribute(name);
  out << ", val = " << value << "];\n";
}

void TextPrinter::printDeclarations(const Op &op) {
  out << indent;
  interleaveComma(op.resultValues(), out, [&](const Value *result) {
    writeType(out, *result, scalars);
    out << ' ' << nameOf(result);
  });
  if (op.numResults() != 0)
    out << " = ";
  out << op.def().name;
  if (!op.def().opsetTag.empty())
    out << '<' << op.def().opsetTag << '>';
  out << '(';
}

/// Whether the op has inline constants instead of names.
static bool isInPlace(const Op &op) { return !op.def().opsetTag.empty(); }

void TextPrinter::printArgument(const Op &op, const Slot &slot) {
  out << slot.name() << " = ";
  if (slot.isConstant()) {
    const Constant &value = *op.constants()[slot.index];
    out << (isInPlace(op) ? spellConstant(value)
                          : nameParameter(slot, value).str());
    return;
  }
  if (!slot.isVariadic()) {
    out << nameOf(op.operand(slot.index));
    return;
  }
  out << '(';
  interleaveComma(seq(slot.index, op.numOperands()), out,
                  [&](unsigned index) { out << nameOf(op.operand(index)); });
  out << ')';
}

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

/// The value of a `const` or `weight`.
std::string TextPrinter::spellStored(const Op &op) const {
  if (op.is(ops::Const))
    return spellConstant(*op.constant(param::val));
  WeightPlace place = weights.find(op);
  std::string text;
  raw_string_ostream stream(text);
  writeBlob(stream, op.result()->type, place.path, place.offset, scalars);
  return text;
}

/// Whether the op has an argument in the slot that the opset supports. A
/// parameter of a later opset is omitted when it has its default value.
bool TextPrinter::isPrinted(const Op &op, const Slot &slot,
                            StringRef opset) const {
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

void TextPrinter::printInAttributes(const Op &op, StringRef opset) {
  printDeclarations(op);
  out << ")[";
  bool first = true;
  bool named = false;
  auto separate = [&] {
    if (!std::exchange(first, false))
      out << ", ";
  };
  auto printName = [&] {
    if (std::exchange(named, true))
      return;
    separate();
    printNameAttribute(nameOf(op.result()));
  };
  for (const Slot &slot : slotsOf(op.def())) {
    if (!isPrinted(op, slot, opset))
      continue;
    if (slot.name() > "name")
      printName();
    separate();
    out << slot.name() << " = "
        << (slot.isConstant()
                ? spellConstant(*op.constants()[slot.index])
                : spellStored(*op.operand(slot.index)->definingOp()));
  }
  printName();
  out << "];\n";
}

void TextPrinter::printOp(const Op &op, StringRef opset) {
  if (op.def().has(trait::Stored)) {
    if (!isInAttributes(op, opset))
      printConst(op.result()->type, nameOf(op.result()), spellStored(op));
    return;
  }
  if (takesAttributes(op, opset))
    return printInAttributes(op, opset);

  SmallVector<const Slot *, 8> present;
  for (const Slot &slot : slotsOf(op.def())) {
    if (!isPrinted(op, slot, opset))
      continue;
    if (slot.isConstant() && !isInPlace(op))
      nameParameter(slot, *op.constants()[slot.index]);
    present.push_back(&slot);
  }
  printDeclarations(op);
  interleaveComma(present, out,
                  [&](const Slot *slot) { printArgument(op, *slot); });
  out << ")[";
  // Names of ops are unique, as those of values.
  printNameAttribute(op.numResults() ? nameOf(op.result())
                                     : names->all().unique(op.def().name));
  out << "];\n";
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void TextPrinter::printHeader(
    StringRef version,
    ArrayRef<std::pair<std::string, std::string>> buildInfo) {
  std::string stringType = spellType({DType::String}, scalars);
  out << "program(" << version << ")\n[buildInfo = dict<" << stringType << ", "
      << stringType << ">({";
  interleaveComma(buildInfo, out, [&](const auto &entry) {
    out << '{';
    writeString(out, entry.first);
    out << ", ";
    writeString(out, entry.second);
    out << '}';
  });
  out << "})]\n{\n";
}

/// A result has its name in the function's interface. A parameter, or a value
/// that already is another result, gets its second name from an `identity`.
void TextPrinter::printResults(const Function &function) {
  SmallVector<StringRef, 4> printed;
  for (unsigned index = 0; index < function.numResults(); ++index) {
    const Value *value = function.result(index);
    std::string wanted = sanitizeName(function.resultNames()[index], "result");
    printed.push_back(nameOf(value));
    // Buffers are not copied: they keep their names.
    if (wanted == printed.back() || names->all().contains(wanted) ||
        isReservedName(wanted) || value->holder != Holder::Tensor)
      continue;
    StringRef name = names->all().unique(wanted);
    out << indent;
    writeType(out, value->type, scalars);
    out << ' ' << name << " = identity(x = " << printed.back() << ")[";
    printNameAttribute(name);
    out << "];\n";
    printed.back() = name;
  }
  out << "    } -> (";
  interleaveComma(printed, out);
  out << ");\n";
}

void TextPrinter::printFunction(const Function &function, StringRef name,
                                StringRef opset) {
  names.emplace(function, isReservedName);
  parameters.clear();
  out << "    func " << name << '<' << opset << ">(";
  interleaveComma(function.parameters(), out, [&](const auto &parameter) {
    writeType(out, *parameter, scalars);
    out << ' ' << nameOf(parameter.get());
  });
  out << ") {\n";
  for (const Op &op : function.body())
    printOp(op, opset);
  printResults(function);
}
