//===- ProgramReader.cpp - ML programs to IR ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProgramReader.h"
#include "Description.h"
#include "anec/CoreML/Deployment.h"
#include "lib/CoreML/Diags.h"
#include "lib/IR/Diags.h"
#include "lib/IR/OpDef.h"
#include "lib/MIL/Diags.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace anec::coreml;
using namespace anec::protobuf;
using llvm::StringRef;
using mil::Statement;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static bool isName(StringRef text) {
  if (text.empty() || llvm::isDigit(text[0]) || text[0] == '@')
    return false;
  return llvm::all_of(
      text, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '@'; });
}

/// What messages can show of bytes that should be a name.
static std::string shown(StringRef text) {
  std::string result;
  for (char c : text.take_front(64))
    result += llvm::isPrint(c) ? c : '?';
  return result;
}

bool ProgramReader::readName(StringRef name, SourceRange range,
                             StringRef &kept) {
  if (!isName(name)) {
    diags.report(range, diag::BadName, shown(name));
    return false;
  }
  kept = names.save(name);
  return true;
}

bool ProgramReader::malformed(StringRef what, SourceRange range) {
  diags.report(range, diag::ModelMessage, what);
  return false;
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// Tools that made the program, as pairs of strings.
bool ProgramReader::readBuildInfo(const proto::Value &value) {
  for (const auto &pair : value.immediate->dictionary->values) {
    const auto &key = pair.key->immediate->tensor->strings->values;
    const auto &text = pair.value->immediate->tensor->strings->values;
    if (key.size() == 1 && text.size() == 1)
      module.buildInfo.emplace_back(key[0], text[0]);
  }
  llvm::sort(module.buildInfo);
  return true;
}

bool ProgramReader::readAttribute(Bytes entry, SourceRange file) {
  Entry attribute;
  proto::Value value;
  if (!readEntry(entry, attribute) || !parse(attribute.value, value))
    return malformed("an attribute of the program", file);
  if (attribute.key == "buildInfo")
    return readBuildInfo(value);
  diags.report(file, diag::IgnoredAttribute, shown(attribute.key));
  return true;
}

bool ProgramReader::read(Bytes program, StringRef only, SourceRange file) {
  std::vector<Entry> functions;
  std::optional<int64_t> version;
  bool read = forEachField(program, [&](const Field &field) {
    if (field.number == proto::program::Version && !field.isBytes)
      version = int64_t(field.number64);
    else if (field.number == proto::program::Functions && field.isBytes)
      return readEntry(field.bytes, functions.emplace_back());
    else if (field.number == proto::program::Attributes && field.isBytes)
      return readAttribute(field.bytes, file);
    return true;
  });
  if (!read)
    return malformed("the program", file);
  if (version.value_or(0) != 1) {
    diags.report(file, diag::ProgramVersion, version.value_or(0));
    return false;
  }
  if (functions.empty()) {
    diags.report(file, diag::NoFunction);
    return false;
  }
  // The order of a serialized map has no meaning: first the described ones.
  auto order = [&](StringRef name) {
    for (auto [index, described] : llvm::enumerate(description.functions))
      if (described.name == name)
        return index;
    return description.functions.size();
  };
  llvm::stable_sort(functions, [&](const auto &lhs, const auto &rhs) {
    return std::pair(order(lhs.key), lhs.key) <
           std::pair(order(rhs.key), rhs.key);
  });
  bool found = only.empty();
  for (const Entry &function : functions) {
    if (!only.empty() && function.key != only)
      continue;
    found = true;
    if (!readFunction(function.key, function.value, file))
      return false;
  }
  if (found)
    return true;
  std::string all;
  for (const Entry &function : functions)
    all += (all.empty() ? "`" : ", `") + shown(function.key) + "`";
  diags.report(file, diag::NoSuchFunction, only, all);
  return false;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// `CoreML7` is the opset that MIL text calls `ios17`.
static std::optional<StringRef> opsetInText(StringRef opset) {
  for (const Deployment &row : deployments())
    if (row.opset == opset)
      return StringRef(row.iOS);
  return std::nullopt;
}

bool ProgramReader::readFunction(StringRef functionName, Bytes message,
                                 SourceRange file) {
  StringRef name;
  if (!readName(functionName, file, name))
    return false;
  SourceRange range =
      listing.add(("in " + place + "function `" + name + "`").str());
  StringRef opset;
  std::vector<Bytes> inputs;
  std::vector<Entry> blocks, attributes;
  bool read = forEachField(message, [&](const Field &field) {
    if (!field.isBytes)
      return true;
    switch (field.number) {
    case proto::function::Inputs:
      inputs.push_back(field.bytes);
      return true;
    case proto::function::Opset:
      opset = field.text();
      return true;
    case proto::function::Blocks:
      return readEntry(field.bytes, blocks.emplace_back());
    case proto::function::Attributes:
      return readEntry(field.bytes, attributes.emplace_back());
    default:
      return true;
    }
  });
  if (!read)
    return malformed("the function", range);
  std::optional<StringRef> known = opsetInText(opset);
  if (!known) {
    diags.report(range, diag::OpsetName, shown(opset));
    return false;
  }
  auto block = llvm::find_if(
      blocks, [&](const auto &entry) { return entry.key == opset; });
  if (block == blocks.end()) {
    diags.report(range, diag::NoSpecialization, opset);
    return false;
  }
  if (!binder.begin(name, range))
    return false;
  binder.setOpset(*known, range);
  // Apple's tools write bare scalars since the opset ios18.
  if (*known >= "ios18")
    module.version = "1.3";
  for (const Entry &attribute : attributes)
    binder.ignoreAttribute(shown(attribute.key), range);
  if (!readParameters(inputs, name, range))
    return false;
  describeShapes(name);
  binder.bindParameterShapes();
  return readBody(block->value, name, range);
}

/// The inputs of a function have no order; that of the description is the one
/// that callers see.
bool ProgramReader::readParameters(llvm::ArrayRef<Bytes> inputs,
                                   StringRef function, SourceRange range) {
  std::vector<proto::NamedValueType> messages(inputs.size());
  for (auto [bytes, message] : llvm::zip_equal(inputs, messages))
    if (!parse(bytes, message))
      return malformed("an input", range);
  llvm::StringMap<size_t> order;
  for (const auto &feature : describedInputs(description, function))
    order.try_emplace(feature.name, order.size());
  auto placeOf = [&](const proto::NamedValueType &message) {
    auto it = order.find(message.name);
    return std::pair(it == order.end() ? order.size() : it->second,
                     StringRef(message.name));
  };
  llvm::stable_sort(messages, [&](const auto &lhs, const auto &rhs) {
    return placeOf(lhs) < placeOf(rhs);
  });
  for (const proto::NamedValueType &message : messages) {
    StringRef name;
    if (!readName(message.name, range, name))
      return false;
    SourceRange line = listing.add(
        ("in " + place + "function `" + function + "`, input `" + name + "`")
            .str());
    mil::ResultDeclaration parameter{name, {}, line};
    bool isValid =
        values.readValueType(*message.type, name, line, parameter.type);
    binder.addParameter(std::move(parameter), isValid);
  }
  return true;
}

/// Tells the binder which shapes inputs of unknown extents can have.
void ProgramReader::describeShapes(StringRef function) {
  for (const auto &feature : describedInputs(description, function))
    binder.shapes()[feature.name] = describedShapes(*feature.type);
}

/// Gives the statements of a block to the binder. An operation is in memory as
/// long as it is bound.
bool ProgramReader::readStatements(Bytes block, StringRef function,
                                   SourceRange range) {
  proto::Operation message;
  Statement statement;
  bool tooMany = false;
  bool read = forEachField(block, [&](const Field &field) {
    if (field.number != proto::block::Operations || !field.isBytes)
      return true;
    if (!parse(field.bytes, message))
      return false;
    tooMany = binder.isHopeless(range);
    if (tooMany)
      return false;
    if (readOperation(message, function, statement))
      binder.bind(statement);
    else
      for (const mil::ResultDeclaration &result : statement.results)
        binder.skip(result.name);
    return true;
  });
  return read || (!tooMany && malformed("an operation", range));
}

bool ProgramReader::readBody(Bytes block, StringRef function,
                             SourceRange range) {
  if (!readStatements(block, function, range))
    return false;
  bool read = forEachField(block, [&](const Field &field) {
    StringRef name;
    if (field.number != proto::block::Outputs || !field.isBytes)
      return true;
    if (!readName(field.text(), range, name))
      return false;
    binder.addResult(name, range);
    return true;
  });
  if (read)
    binder.finish();
  return read;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The attribute `name` of an op, or the name of its first result.
static StringRef labelOf(const proto::Operation &message) {
  auto label = message.attributes.find("name");
  if (label != message.attributes.end()) {
    const auto &strings = label->second.immediate->tensor->strings->values;
    if (strings.size() == 1)
      return strings[0];
  }
  return message.outputs.empty() ? "" : StringRef(message.outputs[0].name);
}

bool ProgramReader::readDeclaration(const proto::NamedValueType &message,
                                    SourceRange range,
                                    mil::ResultDeclaration &declaration) {
  declaration.range = range;
  return readName(message.name, range, declaration.name) &&
         values.readType(*message.type, declaration.name, range,
                         declaration.type);
}

bool ProgramReader::readArgument(StringRef name, const proto::Argument &message,
                                 mil::Argument &argument, SourceRange range) {
  argument.name = name;
  argument.range = range;
  if (message.arguments.empty()) {
    diags.report(range, diag::ValueMissing, shown(name));
    return false;
  }
  for (const auto &binding : message.arguments) {
    mil::ArgumentValue &value = argument.values.emplace_back();
    value.range = range;
    bool read = binding.chosen == proto::Binding::Immediate
                    ? values.readValue(*binding.value, name, range, value)
                    : readName(binding.name, range, value.name);
    if (!read)
      return false;
  }
  return true;
}

/// A block of `cond` or `while_loop`, whose statements stay unread.
bool ProgramReader::readBlock(Bytes bytes, StringRef function,
                              SourceRange range, mil::Block &block) {
  bool ok = true;
  bool read = forEachField(bytes, [&](const Field &field) {
    if (!field.isBytes)
      return true;
    if (field.number == proto::block::Inputs) {
      proto::NamedValueType input;
      if (!parse(field.bytes, input))
        return false;
      ok &= readDeclaration(input, range, block.inputs.emplace_back());
    } else if (field.number == proto::block::Outputs) {
      mil::ArgumentValue &value = block.results.emplace_back();
      value.range = range;
      ok &= readName(field.text(), range, value.name);
    }
    return true;
  });
  block.bindStatements = [this, bytes, function, range] {
    return readStatements(bytes, function, range);
  };
  return read ? ok : malformed("a block", range);
}

/// Leaves the results that could be read in the statement when it returns
/// false.
bool ProgramReader::readOperation(const proto::Operation &message,
                                  StringRef function, Statement &statement) {
  statement.clear();
  std::string line;
  ("in " + llvm::Twine(place) + "function `" + function + "`, op `" +
   shown(labelOf(message)) + "` (" + shown(message.type) + ")")
      .str()
      .swap(line);
  SourceRange range = listing.add(line);
  statement.opName = message.type;
  statement.opRange = statement.range = range;
  bool ok = true;
  for (const proto::NamedValueType &output : message.outputs) {
    mil::ResultDeclaration result;
    bool read = readDeclaration(output, range, result);
    if (!result.name.empty())
      statement.results.push_back(std::move(result));
    ok &= read;
  }
  for (const auto &[name, input] : message.inputs)
    ok &= readArgument(name, input, statement.arguments.emplace_back(), range);
  for (const auto &[name, value] : message.attributes) {
    if (name == "name")
      continue;
    mil::Argument &attribute = statement.attributes.emplace_back();
    attribute.name = name;
    attribute.range = range;
    ok &= values.readValue(value, attribute.name, range,
                           attribute.values.emplace_back());
  }
  for (const std::string &block : message.blocks)
    ok &= readBlock(
        {reinterpret_cast<const uint8_t *>(block.data()), block.size()},
        function, range, statement.blocks.emplace_back());
  return ok;
}
