//===- FeatureSchema.cpp - features as JSON -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FeatureSchema.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::coreml;
using llvm::StringRef;

static StringRef schemaWord(proto::ArrayDataType type) {
  switch (type) {
  case proto::ArrayDataType::Float16:
    return "Float16";
  case proto::ArrayDataType::Float32:
    return "Float32";
  case proto::ArrayDataType::Double:
    return "Double";
  case proto::ArrayDataType::Int8:
    return "Int8";
  case proto::ArrayDataType::Int32:
    return "Int32";
  case proto::ArrayDataType::Invalid:
    break;
  }
  return "Invalid";
}

static StringRef schemaWord(proto::ColorSpace colors) {
  switch (colors) {
  case proto::ColorSpace::Grayscale:
    return "Grayscale";
  case proto::ColorSpace::GrayscaleFloat16:
    return "GrayscaleFloat16";
  case proto::ColorSpace::RGB:
    return "RGB";
  case proto::ColorSpace::BGR:
    return "BGR";
  case proto::ColorSpace::Invalid:
    break;
  }
  return "Invalid";
}

static std::string join(llvm::ArrayRef<int64_t> extents, StringRef separator) {
  std::string text;
  for (int64_t extent : extents)
    text += (text.empty() ? "" : separator.str()) + std::to_string(extent);
  return text;
}

/// `Float16 1 × 8`
static std::string format(const proto::ArrayFeatureType &array) {
  std::string text = schemaWord(array.dataType).str();
  if (!array.shape.empty())
    text += " " + join(array.shape, " × ");
  return text;
}

namespace {

/// Writes the members of one feature.
struct FeatureWriter {
  llvm::json::OStream &out;

  void array(const proto::ArrayFeatureType &array, StringRef type) {
    out.attribute("type", type);
    out.attribute("formattedType", type.str() + " (" + format(array) + ")");
    out.attribute("dataType", schemaWord(array.dataType));
    out.attribute("shape", "[" + join(array.shape, ", ") + "]");
  }

  void image(const proto::ImageFeatureType &image) {
    bool isColor = image.colorSpace == proto::ColorSpace::RGB ||
                   image.colorSpace == proto::ColorSpace::BGR;
    out.attribute("type", "Image");
    out.attribute("formattedType",
                  std::string("Image (") + (isColor ? "Color " : "Grayscale ") +
                      join({image.width, image.height}, " × ") + ")");
    out.attribute("width", std::to_string(image.width));
    out.attribute("height", std::to_string(image.height));
    out.attribute("colorspace", schemaWord(image.colorSpace));
    out.attribute("isColor", isColor ? "1" : "0");
    out.attribute("hasSizeFlexibility", "0");
  }

  void dictionary(const proto::DictionaryFeatureType &dictionary) {
    StringRef key = dictionary.chosen == proto::DictionaryFeatureType::StringKey
                        ? "String"
                        : "Int64";
    out.attribute("type", "Dictionary");
    out.attribute("formattedType", "Dictionary (" + key.str() + " → Double)");
    out.attribute("keyType", key);
  }

  void scalar(StringRef type) {
    out.attribute("type", type);
    out.attribute("formattedType", type);
  }

  void write(const proto::FeatureType &type) {
    switch (type.chosen) {
    case proto::FeatureType::MultiArray:
      array(*type.multiArrayType, "MultiArray");
      return out.attribute("hasShapeFlexibility", "0");
    case proto::FeatureType::State:
      return array(*type.stateType->arrayType, "State");
    case proto::FeatureType::Image:
      return image(*type.imageType);
    case proto::FeatureType::Dictionary:
      return dictionary(*type.dictionaryType);
    case proto::FeatureType::String:
      return scalar("String");
    case proto::FeatureType::Int64:
      return scalar("Int64");
    default:
      llvm_unreachable("a feature that is not written");
    }
  }
};

} // namespace

void coreml::writeFeature(llvm::json::OStream &out,
                          const proto::FeatureDescription &feature) {
  out.object([&] {
    out.attribute("name", feature.name);
    FeatureWriter{out}.write(*feature.type);
    out.attribute("isOptional", feature.type->isOptional ? "1" : "0");
    out.attribute("shortDescription",
                  llvm::json::fixUTF8(feature.shortDescription));
  });
}
