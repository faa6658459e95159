//===- Classifier.cpp - classifiers that are written ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Classifier.h"
#include "ValueWriter.h"
#include "anec/IR/Builder.h"
#include "anec/Ops/Ops.h"

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
// In the package
//===----------------------------------------------------------------------===//

static proto::NamedValueType named(StringRef name, proto::ValueType type) {
  proto::NamedValueType message;
  message.name = name.str();
  message.type.make() = std::move(type);
  return message;
}

static proto::ValueType dictionary(proto::ValueType key,
                                   proto::ValueType value) {
  proto::ValueType message;
  message.chosen = proto::ValueType::Dictionary;
  message.dictionaryType.make().keyType.make() = std::move(key);
  message.dictionaryType.make().valueType.make() = std::move(value);
  return message;
}

/// A list of scalars.
static proto::Value listOf(const Constant &values) {
  proto::Value message;
  proto::ValueType &type = message.type.make();
  type.chosen = proto::ValueType::List;
  type.listType.make().type.make() = tensorType({values.dtype()});
  proto::Dimension &length = type.listType.make().length.make();
  length.chosen = proto::Dimension::Constant;
  length.constant.make().size = uint64_t(values.numElements());
  message.chosen = proto::Value::Immediate;
  proto::ImmediateValue &immediate = message.immediate.make();
  immediate.chosen = proto::ImmediateValue::List;
  for (int64_t i = 0; i < values.numElements(); ++i)
    immediate.list.make().values.push_back(
        values.dtype() == DType::String
            ? stringValue(values.asStrings()[size_t(i)])
            : valueOf(*values.part(i, {})));
  return message;
}

proto::Operation coreml::classifyOperation(const Classifier &classifier,
                                           StringRef probabilities) {
  proto::Operation message;
  message.type = "classify";
  proto::Binding &value =
      message.inputs["probabilities"].arguments.emplace_back();
  value.chosen = proto::Binding::Name;
  value.name = probabilities.str();
  proto::Binding &classes = message.inputs["classes"].arguments.emplace_back();
  classes.chosen = proto::Binding::Immediate;
  classes.value.make() = listOf(*classifier.classes);
  proto::ValueType key = tensorType({classifier.classes->dtype()});
  message.outputs.push_back(named(classifier.label, key));
  message.outputs.push_back(named(classifier.probabilities,
                                  dictionary(key, tensorType({DType::FP64}))));
  message.attributes["name"] = stringValue(classifier.label);
  return message;
}
