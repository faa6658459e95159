//===- ProgramStatistics.cpp - ops and types of a program -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProgramStatistics.h"
#include "OperationNames.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Params/Quantization.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Constexpr.h"
#include "lib/Ops/Rows/ConstexprLookup.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace anec;
using namespace anec::coreml;
using namespace anec::mil;
using llvm::ArrayRef;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static std::string spellElement(DType dtype) {
  StringRef family = isFloat(dtype)    ? "Float"
                     : isSigned(dtype) ? "Int"
                                       : "UInt";
  return family.str() + std::to_string(bitWidth(dtype));
}

std::string coreml::describeTypes(const std::set<std::string> &types) {
  if (types.size() < 2)
    return types.empty() ? "" : *types.begin();
  return "Mixed (" + llvm::join(types, ", ") + ")";
}

void ProgramStatistics::addComputed(const TensorType &type) {
  if (isFloat(type.dtype) || isInteger(type.dtype))
    all.back().computed.insert(spellElement(type.dtype));
}

/// The type of a constant in place, or of a value.
const TensorType *
ProgramStatistics::typeOf(const WrittenArgument &argument) const {
  if (argument.constant)
    return &argument.constant->type;
  auto found = types.find(argument.values[0]);
  return found == types.end() ? nullptr : &found->second;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Of the arrays that an op unpacks, the largest one.
const TensorType *
ProgramStatistics::mainArray(const WrittenStatement &statement) {
  const TensorType *largest = nullptr;
  for (ArrayRef<WrittenArgument> arguments :
       {ArrayRef(statement.arguments), ArrayRef(statement.attributes)})
    for (const WrittenArgument &argument : arguments) {
      const TensorType *type = typeOf(argument);
      if (type && (!largest || type->numElements() > largest->numElements()))
        largest = type;
    }
  return largest;
}

/// The bits of each index into the table of `statement`. Indices of the oldest
/// form are packed as bytes.
static unsigned indexBits(const WrittenStatement &statement, DType indices) {
  for (const WrittenArgument &attribute : statement.attributes)
    if (attribute.name == param::lut)
      return llvm::Log2_64_Ceil(
          uint64_t(attribute.constant->type.numElements()));
  return bitWidth(indices);
}

/// Notes what an op unpacks instead of the arrays that it takes.
void ProgramStatistics::addUnpacked(const WrittenStatement &statement) {
  for (const WrittenArgument &argument : statement.arguments)
    for (StringRef name : argument.values)
      stored.erase(name);
  const OpDef *def = statement.def;
  const TensorType *array = mainArray(statement);
  if (!array)
    return;
  std::string form = spellElement(array->dtype);
  if (def == &ops::ConstexprLutToDense || def == &ops::ConstexprLutToSparse)
    form = "Palettized (" + std::to_string(indexBits(statement, array->dtype)) +
           " bits)";
  else if (def == &ops::ConstexprSparseToDense)
    form = "Sparse";
  all.back().stored.insert(form);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void ProgramStatistics::beginFunction(StringRef name, StringRef opset,
                                      ArrayRef<WrittenDeclaration> parameters) {
  all.emplace_back().name = name.str();
  types.clear();
  stored.clear();
  this->opset = 0;
  opset.substr(StringRef("ios").size()).getAsInteger(10, this->opset);
  for (const WrittenDeclaration &parameter : parameters)
    types[parameter.name] = parameter.type;
  next.beginFunction(name, opset, parameters);
}

void ProgramStatistics::addStatement(const WrittenStatement &statement) {
  for (const WrittenDeclaration &result : statement.results)
    types[result.name] = result.type;
  const OpDef *def = statement.def;
  if (def == &ops::Const) {
    const WrittenConstant &value = *statement.attributes[0].constant;
    if (!value.value)
      stored[statement.label] = spellElement(value.type.dtype);
    return next.addStatement(statement);
  }
  ++all.back().operations[histogramName(statement.opName, def, opset)];
  if (def && def->has(trait::Constexpr)) {
    addUnpacked(statement);
  } else {
    for (const WrittenArgument &argument : statement.arguments)
      if (const TensorType *type = typeOf(argument))
        addComputed(*type);
    for (const WrittenDeclaration &result : statement.results)
      addComputed(result.type);
  }
  next.addStatement(statement);
}

void ProgramStatistics::endFunction(ArrayRef<StringRef> results) {
  for (const auto &entry : stored)
    all.back().stored.insert(entry.second);
  next.endFunction(results);
}
