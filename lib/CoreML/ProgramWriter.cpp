//===- ProgramWriter.cpp - statements to ML programs ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProgramWriter.h"
#include "ValueWriter.h"

using namespace anec;
using namespace anec::coreml;
using namespace anec::mil;
using namespace anec::protobuf;
using llvm::ArrayRef;
using llvm::StringRef;

ProgramWriter::ProgramWriter(const Deployment &deployment)
    : deployment(deployment) {
  appendTag(program, proto::program::Version, Wire::Varint);
  appendNumber(program, Wire::Varint, 1);
}

void ProgramWriter::addBuildInfo(
    ArrayRef<std::pair<std::string, std::string>> buildInfo) {
  proto::Value message;
  proto::ValueType &type = message.type.make();
  type.chosen = proto::ValueType::Dictionary;
  type.dictionaryType.make().keyType.make() = tensorType({DType::String});
  type.dictionaryType.make().valueType.make() = tensorType({DType::String});
  message.chosen = proto::Value::Immediate;
  proto::ImmediateValue &immediate = message.immediate.make();
  immediate.chosen = proto::ImmediateValue::Dictionary;
  for (const auto &[key, value] : buildInfo) {
    proto::KeyValuePair &pair =
        immediate.dictionary.make().values.emplace_back();
    pair.key.make() = stringValue(key);
    pair.value.make() = stringValue(value);
  }
  appendEntry(program, proto::program::Attributes, "buildInfo",
              serialize(message));
}

static proto::NamedValueType named(const WrittenDeclaration &declaration) {
  proto::NamedValueType message;
  message.name = declaration.name.str();
  message.type.make() = typeOf(declaration);
  return message;
}

void ProgramWriter::beginFunction(StringRef name, StringRef,
                                  ArrayRef<WrittenDeclaration> parameters) {
  functionName = name.str();
  inputs.clear();
  operations.clear();
  for (const WrittenDeclaration &parameter : parameters)
    appendBytes(inputs, proto::function::Inputs, serialize(named(parameter)));
}

static proto::Argument argumentOf(const WrittenArgument &argument) {
  proto::Argument message;
  if (argument.constant) {
    proto::Binding &binding = message.arguments.emplace_back();
    binding.chosen = proto::Binding::Immediate;
    binding.value.make() = argument.isList ? listOf(*argument.constant->value)
                                           : valueOf(*argument.constant);
  }
  for (StringRef value : argument.values) {
    proto::Binding &binding = message.arguments.emplace_back();
    binding.chosen = proto::Binding::Name;
    binding.name = value.str();
  }
  return message;
}

/// A block, serialized. Its statements come while it is made.
std::string ProgramWriter::blockOf(const WrittenBlock &block) {
  std::string message;
  for (const WrittenDeclaration &input : block.inputs)
    appendBytes(message, proto::block::Inputs, serialize(named(input)));
  std::string around = std::exchange(operations, "");
  for (StringRef result : block.emit())
    appendBytes(message, proto::block::Outputs, result);
  message += std::exchange(operations, std::move(around));
  return message;
}

void ProgramWriter::addStatement(const WrittenStatement &statement) {
  proto::Operation message;
  message.type = statement.opName.str();
  for (const WrittenArgument &argument : statement.arguments)
    message.inputs[argument.name.str()] = argumentOf(argument);
  for (const WrittenDeclaration &result : statement.results)
    message.outputs.push_back(named(result));
  message.attributes["name"] = stringValue(statement.label);
  for (const WrittenArgument &attribute : statement.attributes)
    message.attributes[attribute.name.str()] = valueOf(*attribute.constant);
  for (const WrittenBlock &block : statement.blocks)
    message.blocks.push_back(blockOf(block));
  appendBytes(operations, proto::block::Operations, serialize(message));
}

void ProgramWriter::endFunction(ArrayRef<StringRef> results) {
  std::string block;
  for (StringRef result : results)
    appendBytes(block, proto::block::Outputs, result);
  block += operations;
  operations.clear();
  std::string function = inputs;
  appendBytes(function, proto::function::Opset, deployment.opset);
  appendEntry(function, proto::function::Blocks, deployment.opset, block);
  appendEntry(program, proto::program::Functions, functionName, function);
}
