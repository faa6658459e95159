//===- ViewJson.h - views of weights in a manifest --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_VIEWJSON_H
#define ANEC_LIB_PACKAGE_VIEWJSON_H

#include "anec/IR/WeightView.h"
#include "lib/Support/JsonFields.h"

namespace anec {

/// Of a view: `"own"`, or a number.
template <>
struct JsonForm<WeightInstance> {
  static bool read(const llvm::json::Value &json, WeightInstance &to,
                   JsonPath path);
  static void write(const WeightInstance &value, llvm::json::OStream &out);
};

/// An element type of whole bytes.
struct StoredTypeJson {
  static bool read(const llvm::json::Value &json, DType &to, JsonPath path);
  static void write(DType value, llvm::json::OStream &out);
};

/// The parts of an array's view, which are read in this order.
struct ViewSourceJson {
  static bool read(const llvm::json::Value &json, ArrayView &to, JsonPath path);
  static void write(const ArrayView &value, llvm::json::OStream &out);
};
struct ViewStepsJson {
  static bool read(const llvm::json::Value &json, ArrayView &to, JsonPath path);
  static void write(const ArrayView &value, llvm::json::OStream &out);
};
/// What the steps give.
struct ViewShapeJson {
  static bool read(const llvm::json::Value &json, ArrayView &of, JsonPath path);
  static void write(const ArrayView &value, llvm::json::OStream &out);
};

/// Reading checks that every step fits.
template <>
struct JsonFields<WeightView> {
  static void list(auto &view, auto &visit) {
    visit("weight", view.weight);
    visit.optional("instance", view.instance);
    visit("dtype", view.dtype, StoredTypeJson());
    visit("stored", view.array, ViewSourceJson());
    visit("steps", view.array, ViewStepsJson());
    visit("shape", view.array, ViewShapeJson());
  }
};

} // namespace anec

#endif // ANEC_LIB_PACKAGE_VIEWJSON_H
