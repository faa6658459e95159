//===- Description.h - what a Core ML model says of itself ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_DESCRIPTION_H
#define ANEC_LIB_COREML_DESCRIPTION_H

#include "Messages.h"
#include "lib/MIL/FlexibleShapes.h"

namespace anec {
struct ModelDescription;
} // namespace anec

namespace anec::coreml {

/// The inputs of a function in the description of the model: those of the model
/// itself when it has only one function.
const std::vector<proto::FeatureDescription> &
describedInputs(const proto::ModelDescription &description,
                llvm::StringRef function);

/// The same for outputs.
const std::vector<proto::FeatureDescription> &
describedOutputs(const proto::ModelDescription &description,
                 llvm::StringRef function);

/// The shapes that a feature can have.
mil::FlexibleShapes::Input describedShapes(const proto::FeatureType &type);

/// What callers read of a type: `fp16[1, 6, 8], axes of 1, 1..64, 8`.
std::string spellType(const proto::FeatureType &type);

/// What each element of an optional input has that is not given.
double defaultValue(const proto::ArrayFeatureType &array);

/// What the description says, for callers.
void describeModel(const proto::ModelDescription &message,
                   anec::ModelDescription &description);

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_DESCRIPTION_H
