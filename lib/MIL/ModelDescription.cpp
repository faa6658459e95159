//===- ModelDescription.cpp - what a model says of itself -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/MIL/ModelDescription.h"

using namespace anec;
using llvm::StringRef;

template <typename Named>
static const Named *pointerByName(const std::vector<Named> &all,
                                  StringRef name) {
  for (const Named &one : all)
    if (one.name == name)
      return &one;
  return nullptr;
}

const FeatureDescription *FunctionDescription::input(StringRef wanted) const {
  return pointerByName(inputs, wanted);
}

const FeatureDescription *FunctionDescription::output(StringRef wanted) const {
  return pointerByName(outputs, wanted);
}

FeatureDescription &FunctionDescription::outputOf(StringRef wanted) {
  for (FeatureDescription &known : outputs)
    if (known.name == wanted)
      return known;
  outputs.emplace_back().name = wanted.str();
  return outputs.back();
}

const FunctionDescription *ModelDescription::find(StringRef function) const {
  return pointerByName(functions, function);
}

FunctionDescription &ModelDescription::of(StringRef function) {
  for (FunctionDescription &known : functions)
    if (known.name == function)
      return known;
  functions.emplace_back().name = function.str();
  return functions.back();
}
