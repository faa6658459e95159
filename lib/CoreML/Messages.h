//===- Messages.h - the messages of Core ML's files -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The messages of a model, with the field numbers that Apple publishes in
/// coremltools (mlmodel/format). Fields that nothing reads or writes are left
/// out. The model, its program, functions and blocks are walked field by field.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_MESSAGES_H
#define ANEC_LIB_COREML_MESSAGES_H

#include "lib/Protobuf/Message.h"

namespace anec::coreml {

using protobuf::Bytes;
using protobuf::Entry;
using protobuf::Field;

} // namespace anec::coreml

namespace anec::coreml::proto {

using protobuf::at;
using protobuf::Map;
using protobuf::Part;

//===----------------------------------------------------------------------===//
// Messages that are walked
//===----------------------------------------------------------------------===//

/// Their fields.
namespace model {
enum {
  SpecificationVersion = 1,
  Description = 2,
  PipelineClassifier = 200,
  PipelineRegressor = 201,
  Pipeline = 202,
  MLProgram = 502,
  NonMaximumSuppression = 610
};
}
namespace pipeline {
enum { Models = 1, Names = 2 };
}
/// Of `PipelineClassifier` and `PipelineRegressor`.
namespace labelled_pipeline {
enum { Pipeline = 1 };
}
namespace program {
enum { Version = 1, Functions = 2, Attributes = 4 };
}
namespace function {
enum { Inputs = 1, Opset = 2, Blocks = 3, Attributes = 4 };
}
namespace block {
enum { Inputs = 1, Outputs = 2, Operations = 3 };
}

/// A message that is only there or not.
struct Presence {
  static bool fields(auto &, auto &) { return true; }
};

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

enum class DataType : int32_t {
  Unused = 0,
  Bool = 1,
  String = 2,
  Float16 = 10,
  Float32 = 11,
  Float64 = 12,
  BFloat16 = 13,
  Int8 = 21,
  Int16 = 22,
  Int32 = 23,
  Int64 = 24,
  Int4 = 25,
  UInt8 = 31,
  UInt16 = 32,
  UInt32 = 33,
  UInt64 = 34,
  UInt4 = 35,
  UInt2 = 36,
  UInt1 = 37,
  UInt6 = 38,
  UInt3 = 39,
  Float8E4M3FN = 40,
  Float8E5M2 = 41
};

struct ConstantDimension {
  uint64_t size = 0;
  static bool fields(auto &m, auto &visit) { return visit(at(1, m.size)); }
};

struct UnknownDimension {
  bool variadic = false;
  static bool fields(auto &m, auto &visit) { return visit(at(1, m.variadic)); }
};

struct Dimension {
  enum { Constant = 1, Unknown = 2 };
  int chosen = 0;
  Part<ConstantDimension> constant;
  Part<UnknownDimension> unknown;
  static bool fields(auto &m, auto &visit) {
    return visit.oneOf(m.chosen, at(Constant, m.constant),
                       at(Unknown, m.unknown));
  }
};

struct TensorType {
  DataType dataType = DataType::Unused;
  int64_t rank = 0;
  std::vector<Dimension> dimensions;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.dataType), at(2, m.rank), at(3, m.dimensions));
  }
};

struct ListType;
struct StateType;
struct DictionaryType;

struct ValueType {
  enum { Tensor = 1, List = 2, Tuple = 3, Dictionary = 4, State = 5 };
  int chosen = 0;
  Part<TensorType> tensorType;
  Part<ListType> listType;
  Part<Presence> tupleType;
  Part<DictionaryType> dictionaryType;
  Part<StateType> stateType;
  static bool fields(auto &m, auto &visit) {
    return visit.oneOf(m.chosen, at(Tensor, m.tensorType), at(List, m.listType),
                       at(Tuple, m.tupleType), at(Dictionary, m.dictionaryType),
                       at(State, m.stateType));
  }
};

struct ListType {
  Part<ValueType> type;
  Part<Dimension> length;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.type), at(2, m.length));
  }
};

struct DictionaryType {
  Part<ValueType> keyType, valueType;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.keyType), at(2, m.valueType));
  }
};

struct StateType {
  Part<ValueType> wrappedType;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.wrappedType));
  }
};

struct NamedValueType {
  std::string name;
  Part<ValueType> type;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.name), at(2, m.type));
  }
};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The elements of a tensor.
template <typename Element>
struct Repeated {
  std::vector<Element> values;
  static bool fields(auto &m, auto &visit) { return visit(at(1, m.values)); }
};

/// The elements of a tensor of a type without a field of its own.
struct RawBytes {
  std::string values;
  static bool fields(auto &m, auto &visit) { return visit(at(1, m.values)); }
};

struct TensorValue {
  enum {
    Floats = 1,
    Ints = 2,
    Bools = 3,
    Strings = 4,
    LongInts = 5,
    Doubles = 6,
    Bytes = 7
  };
  int chosen = 0;
  Part<Repeated<float>> floats;
  Part<Repeated<int32_t>> ints;
  Part<Repeated<uint8_t>> bools;
  Part<Repeated<std::string>> strings;
  Part<Repeated<int64_t>> longInts;
  Part<Repeated<double>> doubles;
  Part<RawBytes> bytes;
  static bool fields(auto &m, auto &visit) {
    return visit.oneOf(m.chosen, at(Floats, m.floats), at(Ints, m.ints),
                       at(Bools, m.bools), at(Strings, m.strings),
                       at(LongInts, m.longInts), at(Doubles, m.doubles),
                       at(Bytes, m.bytes));
  }
};

struct ListValue;
struct DictionaryValue;

struct ImmediateValue {
  enum { Tensor = 1, Tuple = 2, List = 3, Dictionary = 4 };
  int chosen = 0;
  Part<TensorValue> tensor;
  Part<Presence> tuple;
  Part<ListValue> list;
  Part<DictionaryValue> dictionary;
  static bool fields(auto &m, auto &visit) {
    return visit.oneOf(m.chosen, at(Tensor, m.tensor), at(Tuple, m.tuple),
                       at(List, m.list), at(Dictionary, m.dictionary));
  }
};

struct BlobFileValue {
  std::string fileName;
  uint64_t offset = 0;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.fileName), at(2, m.offset));
  }
};

struct Value {
  enum { Immediate = 3, BlobFile = 5 };
  Part<ValueType> type;
  int chosen = 0;
  Part<ImmediateValue> immediate;
  Part<BlobFileValue> blobFile;
  static bool fields(auto &m, auto &visit) {
    return visit(at(2, m.type)) &&
           visit.oneOf(m.chosen, at(Immediate, m.immediate),
                       at(BlobFile, m.blobFile));
  }
};

struct ListValue {
  std::vector<Value> values;
  static bool fields(auto &m, auto &visit) { return visit(at(1, m.values)); }
};

struct KeyValuePair {
  Part<Value> key, value;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.key), at(2, m.value));
  }
};

struct DictionaryValue {
  std::vector<KeyValuePair> values;
  static bool fields(auto &m, auto &visit) { return visit(at(1, m.values)); }
};

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

struct Binding {
  enum { Name = 1, Immediate = 2 };
  int chosen = 0;
  std::string name;
  Part<Value> value;
  static bool fields(auto &m, auto &visit) {
    return visit.oneOf(m.chosen, at(Name, m.name), at(Immediate, m.value));
  }
};

struct Argument {
  std::vector<Binding> arguments;
  static bool fields(auto &m, auto &visit) { return visit(at(1, m.arguments)); }
};

struct Operation {
  std::string type;
  Map<Argument> inputs;
  std::vector<NamedValueType> outputs;
  std::vector<std::string> blocks; ///< serialized
  Map<Value> attributes;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.type), at(2, m.inputs), at(3, m.outputs),
                 at(4, m.blocks), at(5, m.attributes));
  }
};

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

struct SizeRange {
  uint64_t lowerBound = 0;
  int64_t upperBound = 0; ///< negative when there is none
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.lowerBound), at(2, m.upperBound));
  }
};

enum class ColorSpace : int32_t {
  Invalid = 0,
  Grayscale = 10,
  RGB = 20,
  BGR = 30,
  GrayscaleFloat16 = 40
};

struct ImageSize {
  uint64_t width = 0, height = 0;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.width), at(2, m.height));
  }
};

struct ImageSizes {
  std::vector<ImageSize> sizes;
  static bool fields(auto &m, auto &visit) { return visit(at(1, m.sizes)); }
};

struct ImageSizeRange {
  Part<SizeRange> widthRange, heightRange;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.widthRange), at(2, m.heightRange));
  }
};

struct ImageFeatureType {
  int64_t width = 0, height = 0;
  ColorSpace colorSpace = ColorSpace::Invalid;
  int flexibility = 0;
  Part<ImageSizes> enumeratedSizes;
  Part<ImageSizeRange> imageSizeRange;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.width), at(2, m.height), at(3, m.colorSpace)) &&
           visit.oneOf(m.flexibility, at(21, m.enumeratedSizes),
                       at(31, m.imageSizeRange));
  }
};

enum class ArrayDataType : int32_t {
  Invalid = 0,
  Float16 = 65552,
  Float32 = 65568,
  Double = 65600,
  Int8 = 131080,
  Int32 = 131104
};

struct ArrayShape {
  std::vector<int64_t> shape;
  static bool fields(auto &m, auto &visit) { return visit(at(1, m.shape)); }
};

struct ArrayShapes {
  std::vector<ArrayShape> shapes;
  static bool fields(auto &m, auto &visit) { return visit(at(1, m.shapes)); }
};

struct ArrayShapeRange {
  std::vector<SizeRange> sizeRanges;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.sizeRanges));
  }
};

struct ArrayFeatureType {
  enum { EnumeratedShapes = 21, ShapeRange = 31 };
  enum { IntDefault = 41, FloatDefault = 51, DoubleDefault = 61 };
  std::vector<int64_t> shape;
  ArrayDataType dataType = ArrayDataType::Invalid;
  int flexibility = 0;
  Part<ArrayShapes> enumeratedShapes;
  Part<ArrayShapeRange> shapeRange;
  int chosenDefault = 0;
  int32_t intDefaultValue = 0;
  float floatDefaultValue = 0;
  double doubleDefaultValue = 0;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.shape), at(2, m.dataType)) &&
           visit.oneOf(m.flexibility, at(EnumeratedShapes, m.enumeratedShapes),
                       at(ShapeRange, m.shapeRange)) &&
           visit.oneOf(m.chosenDefault, at(IntDefault, m.intDefaultValue),
                       at(FloatDefault, m.floatDefaultValue),
                       at(DoubleDefault, m.doubleDefaultValue));
  }
};

struct DictionaryFeatureType {
  enum { Int64Key = 1, StringKey = 2 };
  int chosen = 0;
  Part<Presence> int64KeyType, stringKeyType;
  static bool fields(auto &m, auto &visit) {
    return visit.oneOf(m.chosen, at(Int64Key, m.int64KeyType),
                       at(StringKey, m.stringKeyType));
  }
};

struct StateFeatureType {
  Part<ArrayFeatureType> arrayType;
  static bool fields(auto &m, auto &visit) { return visit(at(1, m.arrayType)); }
};

struct FeatureType {
  enum {
    Int64 = 1,
    Double = 2,
    String = 3,
    Image = 4,
    MultiArray = 5,
    Dictionary = 6,
    Sequence = 7,
    State = 8
  };
  int chosen = 0;
  Part<Presence> int64Type, doubleType, stringType, sequenceType;
  Part<ImageFeatureType> imageType;
  Part<ArrayFeatureType> multiArrayType;
  Part<DictionaryFeatureType> dictionaryType;
  Part<StateFeatureType> stateType;
  bool isOptional = false;
  static bool fields(auto &m, auto &visit) {
    return visit.oneOf(m.chosen, at(Int64, m.int64Type),
                       at(Double, m.doubleType), at(String, m.stringType),
                       at(Image, m.imageType), at(MultiArray, m.multiArrayType),
                       at(Dictionary, m.dictionaryType),
                       at(Sequence, m.sequenceType), at(State, m.stateType)) &&
           visit(at(1000, m.isOptional));
  }
};

struct FeatureDescription {
  std::string name, shortDescription;
  Part<FeatureType> type;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.name), at(2, m.shortDescription), at(3, m.type));
  }
};

//===----------------------------------------------------------------------===//
// The description of the model
//===----------------------------------------------------------------------===//

struct Metadata {
  std::string shortDescription, versionString, author, license;
  Map<std::string> userDefined;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.shortDescription), at(2, m.versionString),
                 at(3, m.author), at(4, m.license), at(100, m.userDefined));
  }
};

struct FunctionDescription {
  std::string name;
  std::vector<FeatureDescription> input, output, state;
  std::string predictedFeatureName, predictedProbabilitiesName;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.name), at(2, m.input), at(3, m.output),
                 at(4, m.predictedFeatureName),
                 at(5, m.predictedProbabilitiesName), at(6, m.state));
  }
};

struct ModelDescription {
  std::vector<FeatureDescription> input, output, state;
  std::string predictedFeatureName, predictedProbabilitiesName;
  std::vector<FunctionDescription> functions;
  std::string defaultFunctionName;
  Part<Metadata> metadata;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.input), at(10, m.output),
                 at(11, m.predictedFeatureName),
                 at(12, m.predictedProbabilitiesName), at(13, m.state),
                 at(20, m.functions), at(21, m.defaultFunctionName),
                 at(100, m.metadata));
  }
};

//===----------------------------------------------------------------------===//
// Models that are no programs
//===----------------------------------------------------------------------===//

struct PickTop {
  bool perClass = false;
  static bool fields(auto &m, auto &visit) { return visit(at(1, m.perClass)); }
};

struct NonMaximumSuppression {
  Part<PickTop> pickTop;
  double iouThreshold = 0, confidenceThreshold = 0;
  std::string confidenceInput, coordinatesInput, iouThresholdInput,
      confidenceThresholdInput, confidenceOutput, coordinatesOutput;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.pickTop), at(110, m.iouThreshold),
                 at(111, m.confidenceThreshold), at(200, m.confidenceInput),
                 at(201, m.coordinatesInput), at(202, m.iouThresholdInput),
                 at(203, m.confidenceThresholdInput),
                 at(210, m.confidenceOutput), at(211, m.coordinatesOutput));
  }
};

} // namespace anec::coreml::proto

#endif // ANEC_LIB_COREML_MESSAGES_H
