//===- Interface.h - inputs and outputs that Core ML takes ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_INTERFACE_H
#define ANEC_LIB_COREML_INTERFACE_H

#include "Classifier.h"
#include "Messages.h"
#include "anec/CoreML/Deployment.h"
#include "anec/IR/IR.h"

namespace anec::coreml {

/// The element type of arrays of features; `Invalid` when there is none.
proto::ArrayDataType arrayType(DType dtype);

/// Gives inputs and outputs types that features can have, with casts in the
/// function: fp32, int32, since macos13 fp16, since macos26 int8. Inputs that
/// are numbers become lists of one. Floats become `floats`, if it is set, but
/// images in `described`, which may be null, keep their types. Results of
/// `classifier`, which may be null, stay.
void fitInterface(Function &function, const Deployment &deployment,
                  std::optional<DType> floats,
                  const FunctionDescription *described,
                  const Classifier *classifier);

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_INTERFACE_H
