//===- ViewJson.h - views of weights in a manifest --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_PACKAGE_VIEWJSON_H
#define ANEC_LIB_PACKAGE_VIEWJSON_H

#include "anec/IR/WeightView.h"
#include "llvm/Support/JSON.h"

namespace anec {

/// Writes `view` as an object; docs/formats/package.md describes it.
void printView(const WeightView &view, llvm::json::OStream &out);

/// Reads what `printView` writes. Returns false, with the reason reported at
/// `path`, for anything else: steps that do not fit, or do not produce the
/// declared shape.
bool fromJSON(const llvm::json::Value &value, WeightView &view,
              llvm::json::Path path);

} // namespace anec

#endif // ANEC_LIB_PACKAGE_VIEWJSON_H
