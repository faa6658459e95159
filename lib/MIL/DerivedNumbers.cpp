//===- DerivedNumbers.cpp - exact numbers beside those of a text ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DerivedNumbers.h"
#include "Number.h"
#include "lib/IR/DerivedConstant.h"
#include "lib/IR/ParamNames.h"
#include "lib/MIL/Spelling.h"
#include "lib/Ops/Rows/Constants.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

bool mil::hasDerivedNumbers(const Function &function) {
  return any_of(function.body(), [](const Op &op) {
    return op.is(ops::Const) && derivedNumber(*op.constant(param::val));
  });
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void DerivedNumbers::beginFunction(StringRef name, StringRef opset,
                                   ArrayRef<WrittenDeclaration> parameters) {
  function = name.str();
}

void DerivedNumbers::addStatement(const WrittenStatement &statement) {
  for (const WrittenBlock &block : statement.blocks)
    block.emit();
  if (statement.def != &ops::Const)
    return;
  for (const WrittenArgument &attribute : statement.attributes) {
    const Constant *value =
        attribute.constant ? attribute.constant->value : nullptr;
    std::optional<double> number = value ? derivedNumber(*value) : std::nullopt;
    if (!number)
      continue;
    raw_string_ostream out(numbers);
    out << (numbers.empty() ? "" : " ") << function << '.'
        << statement.results.front().name << '=';
    writeFloat(out, *number);
  }
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The numbers of an entry by `function.name`; words that are none are ignored,
/// as other entries are.
static StringMap<double> parseNumbers(StringRef text) {
  StringMap<double> numbers;
  SmallVector<StringRef, 16> words;
  text.split(words, ' ', -1, false);
  for (StringRef word : words) {
    auto [name, literal] = word.rsplit('=');
    if (std::optional<double> number = parseFloat(literal, DType::FP64))
      numbers[name] = *number;
  }
  return numbers;
}

void mil::restoreDerivedNumbers(Module &module) {
  StringMap<double> numbers;
  for (const auto &[key, text] : module.buildInfo)
    if (key == derivedNumbersKey)
      numbers = parseNumbers(text);
  erase_if(module.buildInfo,
           [](const auto &entry) { return entry.first == derivedNumbersKey; });
  if (numbers.empty())
    return;
  for (const auto &function : module.functions)
    for (Op &op : function->body()) {
      if (!op.is(ops::Const))
        continue;
      auto found = numbers.find(function->name + "." + op.result()->name);
      if (found == numbers.end())
        continue;
      const Constant &rounded = *op.constant(param::val);
      ConstantRef exact = rounded.numElements() == 1
                              ? derivedConstant(rounded.type(), found->second)
                              : nullptr;
      if (exact && exact->doubleAt(0) == rounded.doubleAt(0))
        op.setConstant(param::val, std::move(exact));
    }
}
