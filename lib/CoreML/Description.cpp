//===- Description.cpp - what a Core ML model says of itself --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProgramReader.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::coreml;
using llvm::StringRef;

using Features = std::vector<proto::FeatureDescription>;

const Features &
coreml::describedInputs(const proto::ModelDescription &description,
                        StringRef function) {
  for (const proto::FunctionDescription &described : description.functions())
    if (described.name() == function)
      return described.input();
  return description.input();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static StringRef spell(proto::ArrayFeatureType::ArrayDataType type) {
  switch (type) {
  case proto::ArrayFeatureType::FLOAT16:
    return "fp16";
  case proto::ArrayFeatureType::FLOAT32:
    return "fp32";
  case proto::ArrayFeatureType::DOUBLE:
    return "fp64";
  case proto::ArrayFeatureType::INT8:
    return "int8";
  case proto::ArrayFeatureType::INT32:
    return "int32";
  case proto::ArrayFeatureType::INVALID_ARRAY_DATA_TYPE:
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
  std::string text = std::to_string(range.lowerbound());
  if (range.upperbound() < 0)
    return text + "..";
  bool isFixed = uint64_t(range.upperbound()) == range.lowerbound();
  return isFixed ? text : text + ".." + std::to_string(range.upperbound());
}

/// `fp16[1, 6, 8], axes of 1, 1..64, 8`.
static std::string spell(const proto::ArrayFeatureType &array) {
  std::string text = spell(array.datatype()).str();
  if (array.shape_size())
    text += spellShape(array.shape());
  std::string others;
  for (const auto &range : array.shaperange().sizeranges())
    others += (others.empty() ? ", axes of " : ", ") + spell(range);
  for (const auto &shape : array.enumeratedshapes().shapes())
    others += (others.empty() ? ", one of " : ", ") + spellShape(shape.shape());
  return text + others;
}

static ColorSpace colorsOf(const proto::ImageFeatureType &image) {
  switch (image.colorspace()) {
  case proto::ImageFeatureType::GRAYSCALE:
    return ColorSpace::Gray;
  case proto::ImageFeatureType::GRAYSCALE_FLOAT16:
    return ColorSpace::GrayFloat16;
  case proto::ImageFeatureType::BGR:
    return ColorSpace::BGR;
  default:
    return ColorSpace::RGB;
  }
}

/// `image 20x24 RGB, widths 20..40, heights 24..48`.
static std::string spell(const proto::ImageFeatureType &image) {
  std::string text = "image " + std::to_string(image.width()) + "x" +
                     std::to_string(image.height()) + " " +
                     spelling(colorsOf(image)).str();
  if (image.has_imagesizerange())
    text += ", widths " + spell(image.imagesizerange().widthrange()) +
            ", heights " + spell(image.imagesizerange().heightrange());
  std::string others;
  for (const auto &size : image.enumeratedsizes().sizes())
    others += (others.empty() ? ", one of " : ", ") +
              std::to_string(size.width()) + "x" +
              std::to_string(size.height());
  return text + others;
}

static std::string spell(const proto::FeatureType &type) {
  switch (type.Type_case()) {
  case proto::FeatureType::kInt64Type:
    return "int64";
  case proto::FeatureType::kDoubleType:
    return "fp64";
  case proto::FeatureType::kStringType:
    return "string";
  case proto::FeatureType::kImageType:
    return spell(type.imagetype());
  case proto::FeatureType::kMultiArrayType:
    return spell(type.multiarraytype());
  case proto::FeatureType::kDictionaryType:
    return type.dictionarytype().has_int64keytype()
               ? "dictionary of int64 to fp64"
               : "dictionary of string to fp64";
  case proto::FeatureType::kSequenceType:
    return "sequence";
  case proto::FeatureType::kStateType:
    return spell(type.statetype().arraytype());
  case proto::FeatureType::TYPE_NOT_SET:
    break;
  }
  return "unknown";
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

static double defaultOf(const proto::ArrayFeatureType &array) {
  switch (array.defaultOptionalValue_case()) {
  case proto::ArrayFeatureType::kIntDefaultValue:
    return array.intdefaultvalue();
  case proto::ArrayFeatureType::kFloatDefaultValue:
    return array.floatdefaultvalue();
  case proto::ArrayFeatureType::kDoubleDefaultValue:
    return array.doubledefaultvalue();
  case proto::ArrayFeatureType::DEFAULTOPTIONALVALUE_NOT_SET:
    break;
  }
  return 0;
}

static std::vector<FeatureDescription>
describeFeatures(const Features &messages) {
  std::vector<FeatureDescription> features;
  for (const proto::FeatureDescription &message : messages) {
    FeatureDescription &feature = features.emplace_back();
    feature.name = message.name();
    feature.summary = message.shortdescription();
    const proto::FeatureType &type = message.type();
    feature.type = spell(type);
    feature.isOptional = type.isoptional();
    feature.byDefault = defaultOf(type.multiarraytype());
    if (type.has_imagetype())
      feature.image = {type.imagetype().width(), type.imagetype().height(),
                       colorsOf(type.imagetype())};
  }
  return features;
}

static void describeMetadata(const proto::Metadata &message,
                             anec::ModelDescription &description) {
  auto add = [&](StringRef name, const std::string &text) {
    if (!text.empty())
      description.metadata.emplace_back(name, text);
  };
  add("description", message.shortdescription());
  add("author", message.author());
  add("license", message.license());
  add("version", message.versionstring());
  size_t own = description.metadata.size();
  for (const auto &[name, text] : message.userdefined())
    add(name, text);
  std::sort(description.metadata.begin() + own, description.metadata.end());
}

void coreml::describeModel(const proto::ModelDescription &message,
                           anec::ModelDescription &description) {
  description.defaultFunction = message.defaultfunctionname();
  for (const proto::FunctionDescription &function : message.functions())
    description.functions.push_back({function.name(),
                                     describeFeatures(function.input()),
                                     describeFeatures(function.output()),
                                     describeFeatures(function.state())});
  if (message.functions().empty())
    description.functions.push_back({"main", describeFeatures(message.input()),
                                     describeFeatures(message.output()),
                                     describeFeatures(message.state())});
  if (description.defaultFunction.empty() && description.functions.size() == 1)
    description.defaultFunction = description.functions[0].name;
  describeMetadata(message.metadata(), description);
}
