//===- Reader.cpp - Core ML models to IR ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/CoreML/Reader.h"
#include "Package.h"
#include "ProgramReader.h"
#include "anec/CoreML/Diags.h"
#include "anec/Support/ReadFile.h"
#include <limits>
#include <unistd.h>

using namespace anec;
using namespace anec::coreml;
using namespace anec::protobuf;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// The types of models by the number of their field in `Model`.
static StringRef modelKind(int field) {
  switch (field) {
  case 200:
    return "pipelineClassifier";
  case 201:
    return "pipelineRegressor";
  case 202:
    return "pipeline";
  case 300:
    return "glmRegressor";
  case 301:
    return "supportVectorRegressor";
  case 302:
    return "treeEnsembleRegressor";
  case 303:
    return "neuralNetworkRegressor";
  case 304:
    return "bayesianProbitRegressor";
  case 400:
    return "glmClassifier";
  case 401:
    return "supportVectorClassifier";
  case 402:
    return "treeEnsembleClassifier";
  case 403:
    return "neuralNetworkClassifier";
  case 404:
    return "kNearestNeighborsClassifier";
  case 500:
    return "neuralNetwork";
  case 501:
    return "itemSimilarityRecommender";
  case 555:
    return "customModel";
  case 556:
    return "linkedModel";
  case 560:
    return "classConfidenceThresholding";
  case 600:
    return "oneHotEncoder";
  case 601:
    return "imputer";
  case 602:
    return "featureVectorizer";
  case 603:
    return "dictVectorizer";
  case 604:
    return "scaler";
  case 606:
    return "categoricalMapping";
  case 607:
    return "normalizer";
  case 609:
    return "arrayFeatureExtractor";
  case 610:
    return "nonMaximumSuppression";
  case 900:
    return "identity";
  case 2000:
    return "textClassifier";
  case 2001:
    return "wordTagger";
  case 2002:
    return "visionFeaturePrint";
  case 2003:
    return "soundAnalysisPreprocessing";
  case 2004:
    return "gazetteer";
  case 2005:
    return "wordEmbedding";
  case 2006:
    return "audioFeaturePrint";
  case 3000:
    return "serializedModel";
  default:
    return "";
  }
}

namespace {

/// The parts of a serialized `Model`.
struct ModelParts {
  std::optional<Bytes> description, program;
  StringRef otherKind;
};

} // namespace

/// Returns false, with the reason reported, when the bytes are no model with a
/// program.
static bool splitModel(const ModelFiles &files, ModelParts &parts,
                       Diagnostics &diags) {
  Bytes bytes = bytesOf(*files.model);
  StringRef path = files.modelPath;
  if (bytes.size() > size_t(std::numeric_limits<int32_t>::max())) {
    diags.reportFile(path, diag::ModelTooLarge, bytes.size());
    return false;
  }
  StringRef twice;
  auto keep = [&](std::optional<Bytes> &part, const Field &field,
                  StringRef name) {
    if (part)
      twice = name;
    part = field.bytes;
  };
  bool read = forEachField(bytes, [&](const Field &field) {
    if (field.number == proto::model::Description && field.isBytes)
      keep(parts.description, field, "the description of the model");
    else if (field.number == proto::model::MLProgram && field.isBytes)
      keep(parts.program, field, "the program of the model");
    else if (StringRef kind = modelKind(field.number); !kind.empty())
      parts.otherKind = kind;
    return true;
  });
  if (!read)
    diags.reportFile(path, diag::ModelMessage, "the model");
  else if (!twice.empty())
    diags.reportFile(path, diag::FieldTwice, twice);
  else if (!parts.otherKind.empty())
    diags.reportFile(path, diag::ModelKind, parts.otherKind);
  else if (!parts.program)
    diags.reportFile(path, diag::ModelNoProgram);
  else
    return true;
  return false;
}

static std::unique_ptr<Module> readModel(std::optional<ModelFiles> files,
                                         const OpTable &ops, Diagnostics &diags,
                                         MILReadOptions &options) {
  size_t errors = diags.errorCount();
  ModelParts parts;
  if (!files || !splitModel(*files, parts, diags))
    return nullptr;
  proto::ModelDescription description;
  if (parts.description && !parse(*parts.description, description)) {
    diags.reportFile(files->modelPath, diag::ModelMessage,
                     "the description of the model");
    return nullptr;
  }
  ModelDescription unused;
  if (!options.description)
    options.description = &unused;
  describeModel(description, *options.description);

  std::string function = options.function;
  if (function.empty() && options.onlyDefaultFunction)
    function = options.description->defaultFunction;
  auto module = std::make_unique<Module>();
  module->version = "1.0";
  Listing listing(files->modelPath, diags);
  ValueReader values(std::move(files->weights), files->weightPath, options,
                     diags);
  mil::RequestedShapes requested(options.shapes);
  mil::FunctionBinder binder(*module, ops, requested, diags,
                             options.description);
  ProgramReader reader(values, binder, description, *module, listing, diags);
  if (reader.read(*parts.program, function, listing.add("in the program")))
    requested.reportUnused(diags);
  if (diags.errorCount() != errors)
    return nullptr;
  return module;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::unique_ptr<Module> anec::readCoreMLPackage(StringRef path,
                                                const OpTable &ops,
                                                Diagnostics &diags,
                                                MILReadOptions options) {
  return readModel(openPackage(path, diags), ops, diags, options);
}

std::unique_ptr<Module> anec::readCoreMLModel(StringRef path,
                                              const OpTable &ops,
                                              Diagnostics &diags,
                                              MILReadOptions options) {
  return readModel(openModel(path, diags), ops, diags, options);
}

/// A model begins with its version, a small number, and its description or its
/// program.
bool anec::isCoreMLModel(StringRef path) {
  std::string error;
  int descriptor = openRegularFile(path, error);
  if (descriptor < 0)
    return false;
  uint8_t first[3] = {};
  ssize_t size = ::read(descriptor, first, sizeof first);
  ::close(descriptor);
  return size == sizeof first && first[0] == 0x08 && first[1] > 0 &&
         first[1] < 0x20 && first[2] == 0x12;
}
