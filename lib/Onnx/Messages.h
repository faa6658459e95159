//===- Messages.h - the messages of ONNX ------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The messages that are read, with the field numbers of ONNX's `onnx.proto3`
/// (github.com/onnx/onnx). Strings and bytes refer to the file.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_MESSAGES_H
#define ANEC_LIB_ONNX_MESSAGES_H

#include "lib/Protobuf/Message.h"

namespace anec::onnx::proto {

using llvm::StringRef;
using protobuf::at;
using protobuf::Bytes;
using protobuf::Part;

/// Element types, `TensorProto.DataType`.
enum class ElementType : int32_t {
  Undefined = 0,
  Float = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  UInt32 = 12,
  UInt64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  BFloat16 = 16,
  Float8E4M3FN = 17,
  Float8E4M3FNUZ = 18,
  Float8E5M2 = 19,
  Float8E5M2FNUZ = 20,
  UInt4 = 21,
  Int4 = 22,
  Float4E2M1 = 23,
  Float8E8M0 = 24,
  UInt2 = 25,
  Int2 = 26,
  Float6E2M3 = 27,
  Float6E3M2 = 28,
};

struct StringEntry {
  StringRef key, value;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.key), at(2, m.value));
  }
};

struct Tensor {
  std::vector<int64_t> dims;
  ElementType dataType = ElementType::Undefined;
  std::vector<float> floatData;
  std::vector<int32_t> int32Data;
  std::vector<Bytes> stringData;
  std::vector<int64_t> int64Data;
  StringRef name;
  Bytes rawData;
  std::vector<double> doubleData;
  std::vector<uint64_t> uint64Data;
  std::vector<StringEntry> externalData;
  int32_t dataLocation = 0; ///< 1: external
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.dims), at(2, m.dataType), at(4, m.floatData),
                 at(5, m.int32Data), at(6, m.stringData), at(7, m.int64Data),
                 at(8, m.name), at(9, m.rawData), at(10, m.doubleData),
                 at(11, m.uint64Data), at(13, m.externalData),
                 at(14, m.dataLocation));
  }
};

struct Graph;

enum class AttributeType : int32_t {
  Undefined = 0,
  Float = 1,
  Int = 2,
  String = 3,
  Tensor = 4,
  Graph = 5,
  Floats = 6,
  Ints = 7,
  Strings = 8,
  Tensors = 9,
  Graphs = 10,
  SparseTensor = 11,
  TypeProto = 13,
};

struct Attribute {
  StringRef name;
  float f = 0;
  int64_t i = 0;
  Bytes s;
  Part<Tensor> t;
  Part<Graph> g;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<Bytes> strings;
  AttributeType type = AttributeType::Undefined;
  /// In a function: the attribute of the call that it stands for.
  StringRef reference;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.name), at(2, m.f), at(3, m.i), at(4, m.s), at(5, m.t),
                 at(6, m.g), at(7, m.floats), at(8, m.ints), at(9, m.strings),
                 at(20, m.type), at(21, m.reference));
  }
};

struct Node {
  std::vector<StringRef> input, output;
  StringRef name, opType, domain;
  std::vector<Attribute> attribute;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.input), at(2, m.output), at(3, m.name),
                 at(4, m.opType), at(5, m.attribute), at(7, m.domain));
  }
};

struct Dimension {
  int chosen = 0;
  int64_t value = 0;
  StringRef parameter;
  static bool fields(auto &m, auto &visit) {
    return visit.oneOf(m.chosen, at(1, m.value), at(2, m.parameter));
  }
};

struct TensorShape {
  std::vector<Dimension> dim;
  static bool fields(auto &m, auto &visit) { return visit(at(1, m.dim)); }
};

struct TensorType {
  ElementType elementType = ElementType::Undefined;
  Part<TensorShape> shape;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.elementType), at(2, m.shape));
  }
};

struct Empty {
  static bool fields(auto &, auto &) { return true; }
};

/// The number of a field of `Type` is the kind of the value.
enum TypeKind {
  TensorKind = 1,
  SequenceKind = 4,
  MapKind = 5,
  SparseTensorKind = 8,
  OptionalKind = 9,
};

struct Type {
  int chosen = 0;
  Part<TensorType> tensor;
  Part<Empty> sequence, map, sparse, optional;
  static bool fields(auto &m, auto &visit) {
    return visit.oneOf(m.chosen, at(TensorKind, m.tensor),
                       at(SequenceKind, m.sequence), at(MapKind, m.map),
                       at(SparseTensorKind, m.sparse),
                       at(OptionalKind, m.optional));
  }
};

struct ValueInfo {
  StringRef name;
  Part<Type> type;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.name), at(2, m.type));
  }
};

struct SparseTensor {
  Part<Tensor> values;
  static bool fields(auto &m, auto &visit) { return visit(at(1, m.values)); }
};

struct Graph {
  std::vector<Node> node;
  StringRef name;
  std::vector<Tensor> initializer;
  std::vector<ValueInfo> input, output;
  std::vector<SparseTensor> sparseInitializer;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.node), at(2, m.name), at(5, m.initializer),
                 at(11, m.input), at(12, m.output),
                 at(15, m.sparseInitializer));
  }
};

struct OperatorSet {
  StringRef domain;
  int64_t version = 0;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.domain), at(2, m.version));
  }
};

struct Function {
  StringRef name, domain;
  std::vector<StringRef> input, output, attribute;
  std::vector<Node> node;
  std::vector<OperatorSet> opsetImport;
  /// Attributes with a default.
  std::vector<Attribute> attributeProto;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.name), at(4, m.input), at(5, m.output),
                 at(6, m.attribute), at(7, m.node), at(9, m.opsetImport),
                 at(10, m.domain), at(11, m.attributeProto));
  }
};

struct Model {
  int64_t irVersion = 0;
  std::vector<OperatorSet> opsetImport;
  StringRef producerName, producerVersion;
  Part<Graph> graph;
  std::vector<StringEntry> metadata;
  std::vector<Function> functions;
  static bool fields(auto &m, auto &visit) {
    return visit(at(1, m.irVersion), at(2, m.producerName),
                 at(3, m.producerVersion), at(7, m.graph), at(8, m.opsetImport),
                 at(14, m.metadata), at(25, m.functions));
  }
};

} // namespace anec::onnx::proto

#endif // ANEC_LIB_ONNX_MESSAGES_H
