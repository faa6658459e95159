//===- Description.cpp - what a Core ML model says of itself --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Description.h"
#include "anec/MIL/ModelDescription.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::coreml;
using llvm::StringRef;

using Features = std::vector<proto::FeatureDescription>;

const Features &
coreml::describedInputs(const proto::ModelDescription &description,
                        StringRef function) {
  for (const proto::FunctionDescription &described : description.functions)
    if (described.name == function)
      return described.input;
  return description.input;
}

const Features &
coreml::describedOutputs(const proto::ModelDescription &description,
                         StringRef function) {
  for (const proto::FunctionDescription &described : description.functions)
    if (described.name == function)
      return described.output;
  return description.output;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static StringRef spell(proto::ArrayDataType type) {
  switch (type) {
  case proto::ArrayDataType::Float16:
    return "fp16";
  case proto::ArrayDataType::Float32:
    return "fp32";
  case proto::ArrayDataType::Double:
    return "fp64";
  case proto::ArrayDataType::Int8:
    return "int8";
  case proto::ArrayDataType::Int32:
    return "int32";
  case proto::ArrayDataType::Invalid:
    break;
  }
  return "array";
}

template <typename Extents>
static std::string spellShape(const Extents &shape) {
  return shapeToString(Shape(shape.begin(), shape.end()));
}

/// `1..64`, `8`, `1..`.
static std::string spell(const proto::SizeRange &range) {
  std::string text = std::to_string(range.lowerBound);
  if (range.upperBound < 0)
    return text + "..";
  bool isFixed = uint64_t(range.upperBound) == range.lowerBound;
  return isFixed ? text : text + ".." + std::to_string(range.upperBound);
}

/// `fp16[1, 6, 8], axes of 1, 1..64, 8`.
static std::string spell(const proto::ArrayFeatureType &array) {
  std::string text = spell(array.dataType).str();
  if (!array.shape.empty())
    text += spellShape(array.shape);
  std::string others;
  for (const auto &range : array.shapeRange->sizeRanges)
    others += (others.empty() ? ", axes of " : ", ") + spell(range);
  for (const auto &shape : array.enumeratedShapes->shapes)
    others += (others.empty() ? ", one of " : ", ") + spellShape(shape.shape);
  return text + others;
}

static ColorSpace colorsOf(const proto::ImageFeatureType &image) {
  switch (image.colorSpace) {
  case proto::ColorSpace::Grayscale:
    return ColorSpace::Gray;
  case proto::ColorSpace::GrayscaleFloat16:
    return ColorSpace::GrayFloat16;
  case proto::ColorSpace::BGR:
    return ColorSpace::BGR;
  default:
    return ColorSpace::RGB;
  }
}

/// `image 20x24 RGB, widths 20..40, heights 24..48`.
static std::string spell(const proto::ImageFeatureType &image) {
  std::string text = "image " + std::to_string(image.width) + "x" +
                     std::to_string(image.height) + " " +
                     spelling(colorsOf(image)).str();
  if (image.imageSizeRange.has())
    text += ", widths " + spell(*image.imageSizeRange->widthRange) +
            ", heights " + spell(*image.imageSizeRange->heightRange);
  std::string others;
  for (const auto &size : image.enumeratedSizes->sizes)
    others += (others.empty() ? ", one of " : ", ") +
              std::to_string(size.width) + "x" + std::to_string(size.height);
  return text + others;
}

mil::FlexibleShapes::Input
coreml::describedShapes(const proto::FeatureType &type) {
  auto bounds = [](const proto::SizeRange &range) {
    int64_t most = range.upperBound;
    return std::pair(int64_t(range.lowerBound), most < 0 ? -1 : most);
  };
  mil::FlexibleShapes::Input input;
  if (type.chosen == proto::FeatureType::MultiArray) {
    const proto::ArrayFeatureType &array = *type.multiArrayType;
    if (!array.shape.empty())
      input.byDefault.emplace(array.shape.begin(), array.shape.end());
    for (const auto &one : array.enumeratedShapes->shapes)
      input.enumerated.emplace_back(one.shape.begin(), one.shape.end());
    for (const auto &range : array.shapeRange->sizeRanges)
      input.range.push_back(bounds(range));
  } else if (type.chosen == proto::FeatureType::Image) {
    const proto::ImageFeatureType &image = *type.imageType;
    bool isGray = image.colorSpace == proto::ColorSpace::Grayscale ||
                  image.colorSpace == proto::ColorSpace::GrayscaleFloat16;
    int64_t channels = isGray ? 1 : 3;
    input.isImage = true;
    input.byDefault = Shape{1, channels, image.height, image.width};
    for (const auto &size : image.enumeratedSizes->sizes)
      input.enumerated.push_back(
          {1, channels, int64_t(size.height), int64_t(size.width)});
    if (image.imageSizeRange.has())
      input.range = {{1, 1},
                     {channels, channels},
                     bounds(*image.imageSizeRange->heightRange),
                     bounds(*image.imageSizeRange->widthRange)};
  }
  return input;
}

std::string coreml::spellType(const proto::FeatureType &type) {
  switch (type.chosen) {
  case proto::FeatureType::Int64:
    return "int64";
  case proto::FeatureType::Double:
    return "fp64";
  case proto::FeatureType::String:
    return "string";
  case proto::FeatureType::Image:
    return spell(*type.imageType);
  case proto::FeatureType::MultiArray:
    return spell(*type.multiArrayType);
  case proto::FeatureType::Dictionary:
    return type.dictionaryType->chosen == proto::DictionaryFeatureType::Int64Key
               ? "dictionary of int64 to fp64"
               : "dictionary of string to fp64";
  case proto::FeatureType::Sequence:
    return "sequence";
  case proto::FeatureType::State:
    return spell(*type.stateType->arrayType);
  }
  return "unknown";
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

double coreml::defaultValue(const proto::ArrayFeatureType &array) {
  switch (array.chosenDefault) {
  case proto::ArrayFeatureType::IntDefault:
    return array.intDefaultValue;
  case proto::ArrayFeatureType::FloatDefault:
    return array.floatDefaultValue;
  case proto::ArrayFeatureType::DoubleDefault:
    return array.doubleDefaultValue;
  }
  return 0;
}

static std::vector<FeatureDescription>
describeFeatures(const Features &messages) {
  std::vector<FeatureDescription> features;
  for (const proto::FeatureDescription &message : messages) {
    FeatureDescription &feature = features.emplace_back();
    feature.name = message.name;
    feature.summary = message.shortDescription;
    const proto::FeatureType &type = *message.type;
    feature.type = spellType(type);
    feature.isOptional = type.isOptional;
    feature.hasSeveralShapes = type.multiArrayType->flexibility != 0 ||
                               type.imageType->flexibility != 0;
    feature.byDefault = defaultValue(*type.multiArrayType);
    if (type.chosen == proto::FeatureType::Image)
      feature.image = {type.imageType->width, type.imageType->height,
                       colorsOf(*type.imageType)};
  }
  return features;
}

static void printMetadata(const proto::Metadata &message,
                          anec::ModelDescription &description) {
  auto add = [&](StringRef name, const std::string &text) {
    if (!text.empty())
      description.metadata.emplace_back(name, text);
  };
  add("description", message.shortDescription);
  add("author", message.author);
  add("license", message.license);
  add("version", message.versionString);
  for (const auto &[name, text] : message.userDefined)
    add(name, text);
}

void coreml::describeModel(const proto::ModelDescription &message,
                           anec::ModelDescription &description) {
  description.defaultFunction = message.defaultFunctionName;
  for (const proto::FunctionDescription &function : message.functions)
    description.functions.push_back(
        {function.name, describeFeatures(function.input),
         describeFeatures(function.output), describeFeatures(function.state)});
  if (message.functions.empty())
    description.functions.push_back({"main", describeFeatures(message.input),
                                     describeFeatures(message.output),
                                     describeFeatures(message.state)});
  if (description.defaultFunction.empty() && description.functions.size() == 1)
    description.defaultFunction = description.functions[0].name;
  printMetadata(*message.metadata, description);
}
