//===- ModelParts.cpp - a serialized model and its parts ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ModelParts.h"
#include "lib/CoreML/Diags.h"
#include <limits>

using namespace anec;
using namespace anec::coreml;
using namespace anec::protobuf;
using llvm::StringRef;

/// Pipelines in pipelines.
static constexpr unsigned mostLevels = 16;

namespace {

class Splitter {
public:
  Splitter(StringRef path, Diagnostics &diags) : path(path), diags(diags) {}

  bool split(Bytes bytes, unsigned level, ModelParts &model);

private:
  bool splitPipeline(Bytes bytes, unsigned level, ModelParts &model);
  bool malformed(StringRef what) {
    diags.reportFile(path, diag::ModelMessage, what);
    return false;
  }

  StringRef path;
  Diagnostics &diags;
  uint64_t leaves = 0;
};

} // namespace

bool Splitter::split(Bytes bytes, unsigned level, ModelParts &model) {
  std::optional<Bytes> description, program;
  StringRef twice;
  auto keep = [&](std::optional<Bytes> &part, const Field &field,
                  StringRef name) {
    if (part)
      twice = name;
    part = field.bytes;
  };
  bool read = forEachField(bytes, [&](const Field &field) {
    const ModelKind *kind =
        field.isBytes ? findModelKind(int(field.number)) : nullptr;
    if (field.number == proto::model::Description && field.isBytes)
      keep(description, field, "the description of the model");
    else if (kind && kind->isProgram())
      keep(program, field, "the program of the model");
    if (!kind || (model.kind && !model.kind->isProgram()))
      return true;
    model.kind = kind;
    model.body = field.bytes;
    return true;
  });
  if (!read)
    return malformed("the model");
  if (!twice.empty()) {
    diags.reportFile(path, diag::FieldTwice, twice);
    return false;
  }
  if (!model.kind) {
    diags.reportFile(path, diag::ModelNoProgram);
    return false;
  }
  if (description && !parse(*description, model.description))
    return malformed("the description of the model");
  if (model.kind->isPipeline())
    return splitPipeline(model.body, level, model);
  model.number = leaves++;
  return true;
}

/// The message `Pipeline` in that of a classifier or a regressor.
static bool unwrap(Bytes &bytes) {
  Bytes inner;
  bool read = forEachField(bytes, [&](const Field &field) {
    if (field.number == proto::labelled_pipeline::Pipeline && field.isBytes)
      inner = field.bytes;
    return true;
  });
  bytes = inner;
  return read;
}

bool Splitter::splitPipeline(Bytes bytes, unsigned level, ModelParts &model) {
  if (level == mostLevels) {
    diags.reportFile(path, diag::PartsNest, mostLevels);
    return false;
  }
  bool isPlain = model.kind->field == proto::model::Pipeline;
  std::vector<Bytes> models;
  std::vector<std::string> names;
  bool read =
      (isPlain || unwrap(bytes)) &&
      forEachField(bytes, [&](const Field &field) {
        if (field.number == proto::pipeline::Models && field.isBytes)
          models.push_back(field.bytes);
        else if (field.number == proto::pipeline::Names && field.isBytes)
          names.push_back(field.text().str());
        return true;
      });
  if (!read)
    return malformed("the pipeline of the model");
  if (models.empty()) {
    diags.reportFile(path, diag::NoParts);
    return false;
  }
  for (auto [index, part] : llvm::enumerate(models)) {
    ModelParts &inner = model.parts.emplace_back();
    if (index < names.size())
      inner.name = names[index];
    if (!split(part, level + 1, inner))
      return false;
  }
  return true;
}

std::optional<ModelParts> ModelParts::split(Bytes bytes, StringRef path,
                                            Diagnostics &diags) {
  if (bytes.size() > size_t(std::numeric_limits<int32_t>::max())) {
    diags.reportFile(path, diag::ModelTooLarge, bytes.size());
    return std::nullopt;
  }
  ModelParts model;
  if (!Splitter(path, diags).split(bytes, 0, model))
    return std::nullopt;
  return model;
}

static void collect(const ModelParts &model,
                    std::vector<const ModelParts *> &leaves) {
  if (!model.kind->isPipeline())
    leaves.push_back(&model);
  for (const ModelParts &part : model.parts)
    collect(part, leaves);
}

std::vector<const ModelParts *> ModelParts::leaves() const {
  std::vector<const ModelParts *> all;
  collect(*this, all);
  return all;
}
