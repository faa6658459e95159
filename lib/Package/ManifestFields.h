//===- ManifestFields.h - the members of manifest.json ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Lists for reading and writing. docs/formats/manifest.schema.json has the
/// same members, for readers that are not anec;
/// test/Unit/Package/ManifestTest.cpp compares.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_MANIFESTFIELDS_H
#define ANEC_LIB_PACKAGE_MANIFESTFIELDS_H

#include "anec/Package/ModelPackage.h"
#include "lib/Package/ViewJson.h"

namespace anec {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace kind {
inline constexpr char elementType[] = "element type";
inline constexpr char functionRole[] = "role of a function";
inline constexpr char valueRole[] = "role of a value";
} // namespace kind

/// The role of a parameter or a result.
std::optional<ValueRole> parseAnyRole(llvm::StringRef text);

template <>
struct JsonForm<DType> : JsonSpelled<DType, parseDType, kind::elementType> {};
template <>
struct JsonForm<FunctionRole>
    : JsonSpelled<FunctionRole, parseFunctionRole, kind::functionRole> {};
template <>
struct JsonForm<ValueRole>
    : JsonSpelled<ValueRole, parseAnyRole, kind::valueRole> {};
template <>
struct JsonForm<Quantization> {
  static bool read(const llvm::json::Value &json, Quantization &to,
                   JsonPath path);
  static void write(const Quantization &value, llvm::json::OStream &out);
};
template <>
struct JsonForm<ModelFacts> {
  static bool read(const llvm::json::Value &json, ModelFacts &to,
                   JsonPath path);
  static void write(const ModelFacts &value, llvm::json::OStream &out);
};

/// A shape with extents that a tensor can have.
struct TensorShapeJson {
  static bool read(const llvm::json::Value &json, Shape &to, JsonPath path);
  static void write(const Shape &value, llvm::json::OStream &out);
};

/// A part of a weight of the form `of`.
struct WeightPartJson {
  const Quantization &of;
  bool read(const llvm::json::Value &json, WeightPart &to, JsonPath path) const;
  void write(WeightPart value, llvm::json::OStream &out) const;
};

/// A number with the digits of an fp32.
struct ShortNumberJson {
  static bool read(const llvm::json::Value &json, float &to, JsonPath path);
  static void write(float value, llvm::json::OStream &out);
};

/// A number with one decimal: a prediction is not more accurate.
struct TenthsJson : JsonForm<double> {
  static void write(double value, llvm::json::OStream &out);
};

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

template <>
struct JsonFields<TensorType> {
  static void list(auto &type, auto &visit) {
    visit("dtype", type.dtype);
    visit("shape", type.shape, TensorShapeJson());
  }
};

template <>
struct JsonFields<PackagedValue> {
  static void list(auto &value, auto &visit) {
    visit("name", value.name);
    JsonFields<TensorType>::list(value.type, visit);
    visit("role", value.role);
    visit.when(value.role == ValueRole::RandomMask, value.mask,
               [&](auto &mask) {
                 visit("keep", mask.keep, ShortNumberJson());
                 visit("scaled", mask.scaled);
               });
  }
  static bool check(const PackagedValue &value, JsonPath path);
};

template <>
struct JsonFields<PackagedEntry> {
  static void list(auto &entry, auto &visit) {
    visit("name", entry.name);
    visit("role", entry.role);
    visit("of", entry.owner);
    visit("inputs", entry.inputs);
    visit("outputs", entry.outputs);
  }
};

template <>
struct JsonFields<PackagedTensor> {
  static void list(auto &tensor, auto &visit) {
    visit("name", tensor.name);
    JsonFields<TensorType>::list(tensor.type, visit);
    visit("role", tensor.role);
    visit("port", tensor.port);
    visit("channel", tensor.region.channel);
    visit("channels", tensor.region.channels);
    visit("column", tensor.region.column);
    visit("columns", tensor.region.columns);
    visit.optional("views", tensor.views);
  }
  static bool check(const PackagedTensor &tensor, JsonPath path);
};

template <>
struct JsonFields<PackagedPart> {
  static void list(auto &part, auto &visit) {
    visit("form", part.form);
    visit("part", part.part, WeightPartJson{part.form});
    JsonFields<TensorType>::list(part.type, visit);
  }
};

template <>
struct JsonFields<PackagedConstant> {
  static void list(auto &constant, auto &visit) {
    visit("offset", constant.offset);
    visit("view", constant.view);
    visit.optional("quantized", constant.quantized);
  }
};

template <>
struct JsonFields<PackagedHostPart> {
  static void list(auto &part, auto &visit) {
    visit("name", part.name);
    visit("view", part.view);
    visit("quantized", part.quantized);
  }
};

template <>
struct JsonFields<PackagedInstance> {
  static void list(auto &instance, auto &visit) {
    visit.optional("index", instance.index);
    visit.optional("weights", instance.weights);
    visit("digest", instance.digest);
  }
};

template <>
struct JsonFields<PackagedKernel> {
  static void list(auto &kernel, auto &visit) {
    visit("name", kernel.name);
    visit("role", kernel.role);
    visit("of", kernel.owner);
    visit("mil", kernel.mil);
    visit("inputs", kernel.inputs);
    visit("outputs", kernel.outputs);
    visit("input_ports", kernel.inputPorts);
    visit("output_ports", kernel.outputPorts);
    visit("constants", kernel.constants);
    visit("instances", kernel.instances);
    visit("ops", kernel.ops);
    visit("operations", kernel.flops);
    visit("input_bytes", kernel.inputBytes);
    visit("output_bytes", kernel.outputBytes);
    visit("weight_bytes", kernel.weightBytes);
    visit("working_set_bytes", kernel.workingSet);
    visit("predicted_microseconds", kernel.microseconds, TenthsJson());
  }
  static bool check(PackagedKernel &kernel, JsonPath path);
};

template <>
struct JsonFields<PackagedWeight> {
  static void list(auto &weight, auto &visit) {
    visit("name", weight.name);
    JsonFields<TensorType>::list(weight.type, visit);
    visit("instances", weight.instances);
    visit("initial", weight.initial);
    visit.optional("frozen", weight.frozen);
    visit.optional("updated", weight.updated);
  }
  static bool check(PackagedWeight &weight, JsonPath path);
};

template <>
struct JsonFields<PackagedFile> {
  static void list(auto &file, auto &visit) {
    visit("path", file.path);
    visit("bytes", file.bytes);
    visit("blake3", file.digest);
  }
};

/// A package with what its manifest says of itself.
template <typename Package>
struct Manifest {
  Package &package;
  int64_t format = packageFormat;
  /// Empty in a manifest that was edited on purpose.
  std::string digest;
};

template <typename Package>
struct JsonFields<Manifest<Package>> {
  static void list(auto &manifest, auto &visit) {
    Package &package = manifest.package;
    visit("format", manifest.format);
    visit.optional("sha256", manifest.digest);
    visit("compiler", package.compiler);
    visit("target", package.target);
    visit("io", package.io);
    visit("weight_mode", package.weightMode);
    visit("config", package.config);
    visit.added("facts", package.facts);
    visit.constant("schedule", "schedule.ir");
    visit("entries", package.entries);
    visit("kernels", package.kernels);
    visit("weights", package.weights);
    visit.optional("values", package.values);
    visit.optional("host_parts", package.hostParts);
    visit("files", package.files);
  }
};

} // namespace anec

#endif // ANEC_LIB_PACKAGE_MANIFESTFIELDS_H
