//===- DescriptionWriter.cpp - features of functions ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DescriptionWriter.h"
#include "Interface.h"
#include "lib/CoreML/Writer.h"

using namespace anec;
using namespace anec::coreml;
using namespace anec::mil;
using llvm::ArrayRef;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

static void describeArray(const TensorType &type,
                          proto::ArrayFeatureType &array) {
  array.shape.assign(type.shape.begin(), type.shape.end());
  array.dataType = arrayType(type.dtype);
}

static proto::ColorSpace colorSpace(ColorSpace colors) {
  switch (colors) {
  case ColorSpace::Gray:
    return proto::ColorSpace::Grayscale;
  case ColorSpace::GrayFloat16:
    return proto::ColorSpace::GrayscaleFloat16;
  case ColorSpace::RGB:
    return proto::ColorSpace::RGB;
  case ColorSpace::BGR:
    return proto::ColorSpace::BGR;
  }
  return proto::ColorSpace::Invalid;
}

/// Whether the array has the pixels of such an image.
static bool fits(const ImageDescription &image, const TensorType &type) {
  bool isGray = image.colors == ColorSpace::Gray ||
                image.colors == ColorSpace::GrayFloat16;
  return isFloat(type.dtype) && type.rank() == 4 && type.shape[0] == 1 &&
         type.shape[1] == (isGray ? 1 : 3);
}

static void describeImage(const ImageDescription &image, const TensorType &type,
                          proto::FeatureType &feature) {
  feature.chosen = proto::FeatureType::Image;
  proto::ImageFeatureType &message = feature.imageType.make();
  message.height = type.shape[2];
  message.width = type.shape[3];
  message.colorSpace = colorSpace(image.colors);
}

static proto::FeatureDescription describe(StringRef name,
                                          const TensorType &type,
                                          const FeatureDescription *known) {
  proto::FeatureDescription message;
  message.name = name.str();
  proto::FeatureType &feature = message.type.make();
  if (known)
    message.shortDescription = known->summary;
  if (known && known->image && fits(*known->image, type)) {
    describeImage(*known->image, type, feature);
    return message;
  }
  feature.chosen = proto::FeatureType::MultiArray;
  proto::ArrayFeatureType &array = feature.multiArrayType.make();
  describeArray(type, array);
  if (known && known->isOptional) {
    feature.isOptional = true;
    bool isInteger = !isFloat(type.dtype);
    array.chosenDefault = isInteger ? proto::ArrayFeatureType::IntDefault
                                    : proto::ArrayFeatureType::FloatDefault;
    array.intDefaultValue = isInteger ? int32_t(known->byDefault) : 0;
    array.floatDefaultValue = isInteger ? 0 : float(known->byDefault);
  }
  return message;
}

static proto::FeatureDescription describeState(StringRef name,
                                               const TensorType &type) {
  proto::FeatureDescription message;
  message.name = name.str();
  proto::FeatureType &feature = message.type.make();
  feature.chosen = proto::FeatureType::State;
  describeArray(type, feature.stateType.make().arrayType.make());
  return message;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

void DescriptionWriter::beginFunction(StringRef name, StringRef opset,
                                      ArrayRef<WrittenDeclaration> parameters) {
  proto::FunctionDescription &function = functions.emplace_back();
  function.name = name.str();
  const FunctionDescription *described = known.find(name);
  auto found = classifiers.find(name);
  classifier = found == classifiers.end() ? nullptr : &found->second;
  types.clear();
  for (const WrittenDeclaration &parameter : parameters) {
    types[parameter.name] = parameter.type;
    if (parameter.holder() == Holder::State)
      function.state.push_back(describeState(parameter.name, parameter.type));
    else
      function.input.push_back(
          ::describe(parameter.name, parameter.type,
                     described ? described->input(parameter.name) : nullptr));
  }
  next.beginFunction(name, opset, parameters);
}

void DescriptionWriter::addStatement(const WrittenStatement &statement) {
  // The results of the classifier are copies of the probabilities so far.
  if (classifier && !statement.results.empty() &&
      classifier->has(statement.results[0].name)) {
    probabilities = statement.arguments[0].values[0].str();
    return;
  }
  for (const WrittenDeclaration &result : statement.results)
    types[result.name] = result.type;
  next.addStatement(statement);
}

/// The features of the results of `classify`.
void DescriptionWriter::describeClassifier(
    proto::FunctionDescription &function) {
  function.predictedFeatureName = classifier->label;
  function.predictedProbabilitiesName = classifier->probabilities;
  bool hasStrings = classifier->hasStrings();
  for (proto::FeatureDescription &output : function.output) {
    if (!classifier->has(output.name))
      continue;
    proto::FeatureType &type = output.type.make();
    type = proto::FeatureType();
    if (output.name == classifier->probabilities) {
      type.chosen = proto::FeatureType::Dictionary;
      type.dictionaryType.make().chosen =
          hasStrings ? proto::DictionaryFeatureType::StringKey
                     : proto::DictionaryFeatureType::Int64Key;
      (hasStrings ? type.dictionaryType.make().stringKeyType
                  : type.dictionaryType.make().int64KeyType)
          .make();
    } else {
      type.chosen =
          hasStrings ? proto::FeatureType::String : proto::FeatureType::Int64;
      (hasStrings ? type.stringType : type.int64Type).make();
    }
  }
}

void DescriptionWriter::endFunction(ArrayRef<StringRef> results) {
  proto::FunctionDescription &function = functions.back();
  const FunctionDescription *described = known.find(function.name);
  for (StringRef result : results)
    function.output.push_back(
        ::describe(result, types.lookup(result),
                   described ? described->output(result) : nullptr));
  if (classifier) {
    describeClassifier(function);
    next.addStatement(classifyStatement(*classifier, probabilities));
  }
  next.endFunction(results);
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// Entries that every model has a field for; others are the user's own.
static void writeMetadata(const ModelDescription &known,
                          proto::Metadata &message) {
  for (const auto &[name, text] : known.metadata) {
    if (name == "description")
      message.shortDescription = text;
    else if (name == "author")
      message.author = text;
    else if (name == "license")
      message.license = text;
    else if (name == "version")
      message.versionString = text;
    else
      message.userDefined[name] = text;
  }
  message.userDefined[versionKey.str()] = ANEC_VERSION;
}

proto::ModelDescription DescriptionWriter::describe() const {
  proto::ModelDescription message;
  writeMetadata(known, message.metadata.make());
  if (functions.size() == 1 && functions[0].name == plainFunction) {
    message.input = functions[0].input;
    message.output = functions[0].output;
    message.state = functions[0].state;
    message.predictedFeatureName = functions[0].predictedFeatureName;
    message.predictedProbabilitiesName =
        functions[0].predictedProbabilitiesName;
    return message;
  }
  message.functions = functions;
  message.defaultFunctionName = functions[0].name;
  for (const proto::FunctionDescription &function : functions)
    if (function.name == known.defaultFunction)
      message.defaultFunctionName = function.name;
  return message;
}
