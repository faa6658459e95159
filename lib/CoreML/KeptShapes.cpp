//===- KeptShapes.cpp - shapes that a rewritten model keeps ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KeptShapes.h"
#include "ValueWriter.h"
#include "lib/CoreML/Diags.h"
#include "lib/CoreML/Reader.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::coreml;
using namespace anec::protobuf;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// The source
//===----------------------------------------------------------------------===//

static bool hasSeveralShapes(const proto::FeatureDescription &feature) {
  return feature.type->multiArrayType->flexibility != 0 ||
         feature.type->imageType->flexibility != 0;
}

static bool hasSeveralShapes(const proto::ModelDescription &description) {
  if (llvm::any_of(description.input, [](const auto &feature) {
        return hasSeveralShapes(feature);
      }))
    return true;
  return llvm::any_of(description.functions, [](const auto &function) {
    return llvm::any_of(function.input, [](const auto &feature) {
      return hasSeveralShapes(feature);
    });
  });
}

KeptShapes::KeptShapes(StringRef path, ModelFiles files, Diagnostics &diags)
    : path(files.modelPath), file(std::move(files.model)), diags(diags) {
  values.emplace(std::move(files.weights), files.weightPath, reading, diags);
}

std::optional<std::unique_ptr<KeptShapes>>
KeptShapes::open(StringRef path, Diagnostics &diags) {
  std::optional<ModelFiles> files =
      isCoreMLPackage(path) ? openPackage(path, diags) : openModel(path, diags);
  if (!files)
    return std::nullopt;
  std::unique_ptr<KeptShapes> kept(
      new KeptShapes(path, std::move(*files), diags));
  std::optional<ModelParts> parts =
      ModelParts::split(bytesOf(*kept->file), kept->path, diags);
  if (!parts)
    return std::nullopt;
  if (!parts->kind->isProgram() || !hasSeveralShapes(parts->description))
    return nullptr;
  kept->parts = std::move(*parts);
  return kept;
}

bool KeptShapes::malformed() {
  diags.reportFile(path, diag::ModelMessage, "the program");
  return false;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static Bytes asBytes(StringRef text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

/// Adds the field to `out` as it is.
static void appendField(std::string &out, const Field &field) {
  if (field.isBytes)
    return appendBytes(out, field.number, field.text());
  appendTag(out, field.number, field.wire);
  appendNumber(out, field.wire, field.number64);
}

/// Calls `visit` with each operation of a block and of the blocks in it.
static bool
forEachOperation(Bytes block,
                 llvm::function_ref<void(const proto::Operation &)> visit) {
  return forEachField(block, [&](const Field &field) {
    if (field.number != proto::block::Operations || !field.isBytes)
      return true;
    proto::Operation operation;
    if (!parse(field.bytes, operation))
      return false;
    visit(operation);
    return llvm::all_of(operation.blocks, [&](const std::string &inner) {
      return forEachOperation(asBytes(inner), visit);
    });
  });
}

bool KeptShapes::collect(Bytes block, Operations &operations) {
  return forEachOperation(block, [&](const proto::Operation &operation) {
    for (const proto::NamedValueType &output : operation.outputs)
      operations[output.name] = operation;
  });
}

/// Calls `visit` with each specialization of each function of a program: the
/// function's name and the block.
static bool
forEachBlock(Bytes program,
             llvm::function_ref<bool(StringRef name, Bytes block)> visit) {
  return forEachField(program, [&](const Field &field) {
    Entry function;
    if (field.number != proto::program::Functions || !field.isBytes)
      return true;
    return readEntry(field.bytes, function) &&
           forEachField(function.value, [&](const Field &part) {
             Entry block;
             if (part.number != proto::function::Blocks || !part.isBytes)
               return true;
             return readEntry(part.bytes, block) &&
                    visit(function.key, block.value);
           });
  });
}

/// The name that is the only value of the argument; empty for others.
static StringRef nameIn(const proto::Operation &operation, StringRef argument) {
  auto found = operation.inputs.find(argument);
  if (found == operation.inputs.end() || found->second.arguments.size() != 1 ||
      found->second.arguments[0].chosen != proto::Binding::Name)
    return {};
  return found->second.arguments[0].name;
}

static bool unpacksWeight(const proto::Operation &operation) {
  return StringRef(operation.type).starts_with("constexpr_");
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// How the operations of a function change.
struct KeptShapes::FunctionPlan {
  const Operations &written; ///< of the IR
  Operations source;
  llvm::StringSet<> placed; ///< new results that were written
  /// Weights of the source whose names are those of what unpacks them.
  llvm::StringSet<> replaced;
  llvm::StringMap<std::string> renamed;

  /// The operation of the IR that unpacks what `argument` of `operation` is in
  /// the source; null when nothing has changed.
  const proto::Operation *unpacking(const proto::Operation &operation,
                                    StringRef argument) const {
    if (operation.outputs.empty())
      return nullptr;
    auto other = written.find(operation.outputs[0].name);
    if (other == written.end() || other->second.type != operation.type)
      return nullptr;
    auto unpacked = written.find(nameIn(other->second, argument));
    if (unpacked == written.end() || !unpacksWeight(unpacked->second))
      return nullptr;
    auto before = source.find(unpacked->getKey());
    return before != source.end() && unpacksWeight(before->second)
               ? nullptr
               : &unpacked->second;
  }

  /// The name of a new value, which no value of the source has.
  const std::string &nameOf(StringRef wanted) {
    auto [known, isNew] = renamed.try_emplace(wanted, wanted.str());
    while (isNew && source.contains(known->second))
      known->second += "_kept";
    return known->second;
  }

  /// Writes the operation that unpacks a weight, and the constants that it
  /// reads, once. It has the name of the weight that it is in the place of.
  void place(const proto::Operation &unpacking, StringRef name,
             std::string &out) {
    if (!placed.insert(name).second)
      return;
    proto::Operation operation = unpacking;
    for (auto &[argument, value] : operation.inputs)
      for (proto::Binding &binding : value.arguments) {
        if (binding.chosen != proto::Binding::Name)
          continue;
        auto constant = written.find(binding.name);
        binding.name = nameOf(binding.name);
        if (constant == written.end() || !placed.insert(binding.name).second)
          continue;
        proto::Operation part = constant->second;
        part.outputs[0].name = binding.name;
        appendBytes(out, proto::block::Operations, serialize(part));
      }
    operation.outputs[0].name = name.str();
    appendBytes(out, proto::block::Operations, serialize(operation));
  }
};

/// Gives a value that is in a weight file of the source the place that it has
/// in the new one; without one, the value is written in the operation.
bool KeptShapes::placeValue(proto::Value &value, const proto::Value *placed,
                            StringRef name) {
  if (value.chosen != proto::Value::BlobFile)
    return true;
  if (placed && serialize(*placed->type) == serialize(*value.type)) {
    value = *placed;
    return true;
  }
  mil::ArgumentValue read;
  if (!values->readValue(value, name, {}, read))
    return false;
  if (!read.constant)
    return malformed();
  value = valueOf(*read.constant);
  return true;
}

bool KeptShapes::rewriteOperation(Bytes bytes, FunctionPlan &plan, bool isTop,
                                  std::string &out) {
  proto::Operation operation;
  if (!parse(bytes, operation))
    return malformed();
  StringRef result =
      operation.outputs.empty() ? "" : StringRef(operation.outputs[0].name);
  // New values are written where all blocks see them.
  auto place = [&](const proto::Operation &one) {
    for (const auto &[argument, value] : one.inputs)
      if (const proto::Operation *unpacking = plan.unpacking(one, argument)) {
        StringRef weight = nameIn(one, argument);
        StringRef name = unpacking->outputs[0].name;
        plan.place(*unpacking, name == weight ? name : plan.nameOf(name), out);
      }
  };
  if (isTop) {
    place(operation);
    for (const std::string &block : operation.blocks)
      if (!forEachOperation(asBytes(block), place))
        return malformed();
  }
  if (plan.replaced.contains(result))
    return true;
  auto found = plan.written.find(result);
  const proto::Operation *written =
      found != plan.written.end() && found->second.type == operation.type
          ? &found->second
          : nullptr;
  for (auto &[argument, value] : operation.inputs) {
    if (const proto::Operation *unpacking =
            plan.unpacking(operation, argument)) {
      StringRef name = unpacking->outputs[0].name;
      bool isOwn = name == nameIn(operation, argument);
      proto::Binding &binding = value.arguments[0];
      binding = {};
      binding.chosen = proto::Binding::Name;
      binding.name = isOwn ? name.str() : plan.nameOf(name);
    }
    for (auto [index, binding] : llvm::enumerate(value.arguments)) {
      if (binding.chosen != proto::Binding::Immediate)
        continue;
      const proto::Value *placed = nullptr;
      if (written)
        if (auto other = written->inputs.find(argument);
            other != written->inputs.end() &&
            index < other->second.arguments.size())
          placed = &*other->second.arguments[index].value;
      if (!placeValue(binding.value.make(), placed, argument))
        return false;
    }
  }
  for (auto &[name, value] : operation.attributes) {
    const proto::Value *placed = nullptr;
    if (written)
      if (auto other = written->attributes.find(name);
          other != written->attributes.end())
        placed = &other->second;
    if (!placeValue(value, placed, result))
      return false;
  }
  for (std::string &block : operation.blocks) {
    std::string inner;
    if (!rewriteBlock(asBytes(block), plan, false, inner))
      return false;
    block = std::move(inner);
  }
  appendBytes(out, proto::block::Operations, serialize(operation));
  return true;
}

bool KeptShapes::rewriteBlock(Bytes block, FunctionPlan &plan, bool isTop,
                              std::string &out) {
  bool ok = true;
  bool read = forEachField(block, [&](const Field &field) {
    if (field.number == proto::block::Operations && field.isBytes)
      ok = rewriteOperation(field.bytes, plan, isTop, out);
    else
      appendField(out, field);
    return ok;
  });
  return read ? ok : ok && malformed();
}

bool KeptShapes::rewriteFunction(Bytes function, const Operations &written,
                                 std::string &out) {
  bool ok = true;
  bool read = forEachField(function, [&](const Field &field) {
    Entry block;
    if (field.number != proto::function::Blocks || !field.isBytes) {
      appendField(out, field);
      return true;
    }
    std::string rewritten;
    FunctionPlan plan{written, {}, {}, {}, {}};
    auto findReplaced = [&](const proto::Operation &operation) {
      for (const auto &[argument, value] : operation.inputs)
        if (const proto::Operation *unpacking =
                plan.unpacking(operation, argument);
            unpacking &&
            unpacking->outputs[0].name == nameIn(operation, argument))
          plan.replaced.insert(unpacking->outputs[0].name);
    };
    if (!readEntry(field.bytes, block) || !collect(block.value, plan.source) ||
        !forEachOperation(block.value, findReplaced))
      return false;
    ok = rewriteBlock(block.value, plan, true, rewritten);
    appendEntry(out, field.number, block.key, rewritten);
    return ok;
  });
  return read ? ok : ok && malformed();
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

std::optional<std::string> KeptShapes::program(StringRef written) {
  llvm::StringMap<Operations> functions;
  bool read = forEachBlock(asBytes(written), [&](StringRef name, Bytes block) {
    return collect(block, functions[name]);
  });
  bool ok = true;
  std::string out;
  read = read && forEachField(parts.body, [&](const Field &field) {
           Entry function;
           if (field.number != proto::program::Functions || !field.isBytes) {
             appendField(out, field);
             return true;
           }
           std::string rewritten;
           if (!readEntry(field.bytes, function))
             return false;
           ok = rewriteFunction(function.value, functions[function.key],
                                rewritten);
           appendEntry(out, field.number, function.key, rewritten);
           return ok;
         });
  if (!read && ok)
    malformed();
  return read && ok ? std::optional(std::move(out)) : std::nullopt;
}

/// Gives the features of `written` the types that those of `source` have.
static void keepTypes(std::vector<proto::FeatureDescription> &written,
                      const std::vector<proto::FeatureDescription> &source,
                      bool isInput) {
  for (proto::FeatureDescription &feature : written)
    for (const proto::FeatureDescription &other : source)
      if (other.name == feature.name &&
          other.type->chosen == feature.type->chosen &&
          (!isInput || hasSeveralShapes(other)))
        feature.type = other.type;
}

void KeptShapes::describe(proto::ModelDescription &description) const {
  const proto::ModelDescription &source = parts.description;
  keepTypes(description.input, source.input, true);
  keepTypes(description.output, source.output, false);
  for (proto::FunctionDescription &function : description.functions)
    for (const proto::FunctionDescription &other : source.functions)
      if (other.name == function.name) {
        keepTypes(function.input, other.input, true);
        keepTypes(function.output, other.output, false);
      }
}
