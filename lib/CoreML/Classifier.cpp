//===- Classifier.cpp - classifiers that are written ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Classifier.h"
#include "lib/IR/Builder.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Shape.h"

using namespace anec;
using namespace anec::coreml;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// In the IR
//===----------------------------------------------------------------------===//

/// The index of the other result that is `value`; nothing if there is none.
static std::optional<unsigned>
resultThatIs(const Function &function, const Value *value, unsigned other) {
  for (unsigned index = 0; index < function.numResults(); ++index)
    if (index != other && function.result(index) == value)
      return index;
  return std::nullopt;
}

static void eraseIfUnused(Op *op) {
  if (!op->result()->hasUses())
    op->erase();
}

std::optional<Classifier>
coreml::takeClassifier(Function &function,
                       const FunctionDescription &described) {
  for (unsigned index = 0; index < function.numResults(); ++index) {
    StringRef label = function.resultNames()[index];
    const FeatureDescription *feature = described.output(label);
    Op *argmax = function.result(index)->definingOp();
    if (!feature || !feature->classes || !argmax ||
        !argmax->is(ops::ReduceArgmax))
      continue;
    Value *flat = argmax->operand(0);
    std::optional<unsigned> all = resultThatIs(function, flat, index);
    if (!all)
      continue;
    Classifier classifier{label.str(), function.resultNames()[*all],
                          feature->classes};
    Op *reshape = flat->definingOp();
    bool isReshaped = reshape && reshape->is(ops::Reshape);
    Value *probabilities = isReshaped ? reshape->operand(0) : flat;
    Builder builder(function);
    builder.setRange(argmax->range());
    for (unsigned result : {index, *all})
      function.setResult(result,
                         builder.build(ops::Identity, {probabilities}, {},
                                       function.resultNames()[result]));
    eraseIfUnused(argmax);
    if (isReshaped)
      eraseIfUnused(reshape);
    // Both names are for results of `classify`.
    if (classifier.has(probabilities->name))
      probabilities->name += "_values";
    return classifier;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// In the program
//===----------------------------------------------------------------------===//

mil::WrittenStatement coreml::classifyStatement(const Classifier &classifier,
                                                StringRef probabilities) {
  mil::WrittenStatement statement;
  statement.label = classifier.label;
  statement.opName = "classify";
  TensorType key{classifier.classes->dtype()};
  statement.results.push_back({.name = classifier.label, .type = key});
  statement.results.push_back(
      {.name = classifier.probabilities, .type = key, .isDictionary = true});
  mil::WrittenArgument &classes = statement.arguments.emplace_back();
  classes.name = "classes";
  classes.constant = {classifier.classes->type(), classifier.classes.get()};
  classes.isList = true;
  mil::WrittenArgument &value = statement.arguments.emplace_back();
  value.name = "probabilities";
  value.values.push_back(probabilities);
  return statement;
}
