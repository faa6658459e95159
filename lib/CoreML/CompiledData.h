//===- CompiledData.h - binary files of compiled models ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_COMPILEDDATA_H
#define ANEC_LIB_COREML_COMPILEDDATA_H

#include "SerializedModel.h"

namespace anec::coreml {

/// The file `coremldata.bin`: how a model is called. Nothing when its form is
/// not known for such a model.
std::optional<std::string> compiledData(const PreparedModel &prepared,
                                        const SerializedModel &model);
/// The file `analytics/coremldata.bin`. `name` is that of the model.
std::string analyticsData(const SerializedModel &model, llvm::StringRef name);

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_COMPILEDDATA_H
