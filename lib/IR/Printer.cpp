//===- Printer.cpp - prints the textual form ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CallForm.h"
#include "lib/IR/Builder.h"
#include "lib/IR/DerivedConstant.h"
#include "lib/IR/Names.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>

using namespace anec;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Longer arrays are written as hexadecimal bytes unless all elements are
/// equal.
static constexpr int64_t maxSpelledElements = 16;

static std::string spellString(llvm::StringRef value) {
  std::string text = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\')
      text += '\\';
    if (c == '\n')
      text += "\\n";
    else
      text += c;
  }
  return text + "\"";
}

static std::string spellElement(const Constant &constant, int64_t index) {
  DType dtype = constant.dtype();
  if (dtype == DType::String)
    return spellString(constant.asStrings()[index]);
  double value = constant.doubleAt(index);
  if (dtype == DType::Bool)
    return value != 0 ? "true" : "false";
  if (dtype == DType::FP64)
    return fmt::format("{}", value);
  if (isFloat(dtype))
    return fmt::format("{}", float(value));
  int64_t number = constant.intAt(index);
  return isSigned(dtype) ? fmt::format("{}", number)
                         : fmt::format("{}", uint64_t(number));
}

static std::string spellElements(const Constant &constant) {
  std::string text;
  for (int64_t index = 0; index < constant.numElements(); ++index) {
    if (index != 0)
      text += ", ";
    text += spellElement(constant, index);
  }
  return text;
}

static bool isSplat(const Constant &constant) {
  if (constant.dtype() == DType::String || constant.numElements() < 2)
    return false;
  unsigned width = bitWidth(constant.storedDType()) / 8;
  llvm::ArrayRef<uint8_t> bytes = constant.bytes();
  if (width == 0)
    return false;
  for (size_t at = width; at < bytes.size(); at += width)
    if (bytes.slice(at, width) != bytes.take_front(width))
      return false;
  return true;
}

/// The constant with elements stored in the declared type.
static ConstantRef asDeclared(const Constant &constant) {
  if (constant.storedDType() == constant.dtype())
    return &constant;
  return Constant::fromDoubles(constant.type(), constant.asDoubles());
}

std::string anec::spellConstant(const Constant &constant) {
  const TensorType &type = constant.type();
  bool plain = type.dtype == DType::Int32 || type.dtype == DType::Bool ||
               type.dtype == DType::String;
  if (plain && type.rank() == 0)
    return spellElement(constant, 0);
  if (plain && type.rank() == 1)
    return "[" + spellElements(constant) + "]";
  if (constant.origin())
    return type.str() + " blob(" + spellString(constant.origin()->path) + ", " +
           std::to_string(constant.origin()->offset) + ")";
  if (std::optional<double> number = derivedNumber(constant))
    return type.str() + " derived(" + fmt::format("{}", *number) + ")";
  if (constant.numElements() <= maxSpelledElements ||
      type.dtype == DType::String)
    return type.str() + "(" + spellElements(constant) + ")";
  if (isSplat(constant))
    return type.str() + " splat(" + spellElement(constant, 0) + ")";
  return type.str() + " hex(\"" +
         llvm::toHex(asDeclared(constant)->bytes(), /*LowerCase=*/true) + "\")";
}

//===----------------------------------------------------------------------===//
// Ops and functions
//===----------------------------------------------------------------------===//

static bool isDefault(const Op &op, const ParamDef &param,
                      const Constant &value) {
  ConstantRef fallback = defaultConstant(op.def(), param, op.operandValues());
  return fallback && fallback->equals(value);
}

/// A float scalar needs no type when a bare number would get the same element
/// type.
static std::string spellAttribute(const Op &op, const ParamDef &param,
                                  const Constant &value) {
  if (isFloat(value.dtype()) && value.type().isScalar() &&
      !derivedNumber(value) &&
      value.dtype() == literalDType(op.def(), param, op.operandValues())) {
    std::string number = spellElement(value, 0);
    // Without a point or exponent it would be read as an integer, which has no
    // -0.
    if (number.find_first_of(".en") == std::string::npos)
      number += ".0";
    return number;
  }
  return spellConstant(value);
}

static void printConstants(const Op &op, llvm::raw_ostream &out) {
  bool first = true;
  unsigned slot = 0;
  for (const ParamDef &param : op.def().parameters()) {
    if (!param.isConstant())
      continue;
    const Constant *value = op.constants()[slot].get();
    if (isWrittenApart(op.def(), slot++) || !value ||
        isDefault(op, param, *value))
      continue;
    out << (first ? " {" : ", ") << param.name << " = "
        << spellAttribute(op, param, *value);
    first = false;
  }
  if (!first)
    out << '}';
}

static void printBlock(const Function &block, llvm::raw_ostream &out,
                       unsigned depth);

static void printOp(const Op &op, const ValueNames &names,
                    llvm::raw_ostream &out, unsigned depth = 1) {
  out.indent(2 * depth);
  llvm::interleaveComma(op.resultValues(), out, [&](const Value *value) {
    out << '%' << names[value];
  });
  if (op.numResults() != 0)
    out << " = ";
  out << op.def().name;
  llvm::SmallVector<Value *, 4> operands = op.operandValues();
  if (op.def().has(trait::Call)) {
    out << " @" << op.get(param::callee);
    if (operands[0])
      out << "[%" << names[operands[0]] << ']';
    operands.erase(operands.begin());
  }
  out << '(';
  while (!operands.empty() && !operands.back())
    operands.pop_back();
  llvm::interleaveComma(operands, out, [&](const Value *value) {
    if (value)
      out << '%' << names[value];
    else
      out << "none";
  });
  out << ')';
  printConstants(op, out);
  if (op.numResults() != 0)
    out << " : ";
  llvm::interleaveComma(op.resultValues(), out,
                        [&](const Value *value) { out << value->type.str(); });
  for (const auto &block : blocksOf(op))
    printBlock(*block, out, depth);
  out << '\n';
}

/// ` (%x: fp16[4]) {`, the ops, `return %y`, `}`. Names are of the block only.
static void printBlock(const Function &block, llvm::raw_ostream &out,
                       unsigned depth) {
  ValueNames names(block);
  out << " (";
  llvm::interleaveComma(block.parameters(), out, [&](const auto &param) {
    out << '%' << names[param.get()] << ": " << param->type.str();
  });
  out << ") {\n";
  for (const Op &op : block.body())
    printOp(op, names, out, depth + 1);
  out.indent(2 * depth + 2) << "return";
  for (unsigned index = 0; index < block.numResults(); ++index)
    out << (index ? ", %" : " %") << names[block.result(index)];
  out << '\n';
  out.indent(2 * depth) << '}';
}

/// The type of a parameter: `fp16[4]`, `state<fp16[4]>`, or
/// `buffer<fp16[2, 4], strides = [32, 1], interleave = [1, 1]>`.
static std::string spellParameterType(const Value &param) {
  std::string type = param.type.str();
  switch (param.holder) {
  case Holder::Tensor:
    return type;
  case Holder::State:
    return "state<" + type + ">";
  case Holder::Buffer: {
    BufferLayout layout = param.bufferLayout();
    return "buffer<" + type + ", strides = " + shapeToString(layout.strides) +
           ", interleave = " + shapeToString(layout.interleave) + ">";
  }
  }
  return type;
}

/// ` {role = target}`; nothing for the default.
static std::string spellRole(ValueRole role, RolePlace place) {
  if (role == defaultRole(place))
    return "";
  return " {role = " + spelling(role).str() + "}";
}

/// The same for a parameter, with how a random mask is drawn.
static std::string spellRole(const Value &param) {
  std::string text = spellRole(param.role(), RolePlace::Parameter);
  if (!param.mask)
    return text;
  text.pop_back();
  text += fmt::format(", keep = {}", param.mask->keep);
  return text + (param.mask->scaled ? ", scaled = true}" : "}");
}

/// ` {role = train, of = "llama"}`, without the parts that are defaults.
static std::string spellRole(const Function &function) {
  llvm::SmallVector<std::string, 2> parts;
  if (function.role != FunctionRole::Forward)
    parts.push_back("role = " + spelling(function.role).str());
  if (function.of() != function.name)
    parts.push_back("of = " + spellString(function.of()));
  return parts.empty() ? "" : " {" + llvm::join(parts, ", ") + "}";
}

void anec::printIR(const Function &function, llvm::raw_ostream &out) {
  ValueNames names(function);
  out << spelling(function.kind) << " @" << function.name;
  if (function.opset != "ios18")
    out << '<' << function.opset << '>';
  out << '(';
  llvm::interleaveComma(function.parameters(), out, [&](const auto &param) {
    out << '%' << names[param.get()] << ": " << spellParameterType(*param);
    if (param->holder != Holder::State)
      out << spellRole(*param);
  });
  out << ") -> (";
  for (unsigned index = 0; index < function.numResults(); ++index)
    out << (index ? ", %" : "%") << function.resultNames()[index] << ": "
        << function.result(index)->type.str()
        << spellRole(function.resultRoles()[index], RolePlace::Result);
  out << ')' << spellRole(function);
  if (function.isDeclaration()) {
    out << '\n';
    return;
  }
  out << " {\n";
  for (const Op &op : function.body())
    printOp(op, names, out);
  out << "  return ";
  llvm::interleaveComma(function.resultValues(), out, [&](const Value *value) {
    out << '%' << names[value];
  });
  out << "\n}\n";
}

void anec::printIR(const Module &module, llvm::raw_ostream &out) {
  bool first = true;
  if (module.version != "1.3" || !module.buildInfo.empty()) {
    out << "program " << spellString(module.version) << " {";
    llvm::interleaveComma(module.buildInfo, out, [&](const auto &entry) {
      out << spellString(entry.first) << " = " << spellString(entry.second);
    });
    out << "}\n";
    first = false;
  }
  for (const auto &function : module.functions) {
    if (!first)
      out << '\n';
    printIR(*function, out);
    first = false;
  }
}
