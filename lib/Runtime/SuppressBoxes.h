//===- SuppressBoxes.h - boxes of objects that are kept ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_SUPPRESSBOXES_H
#define ANEC_LIB_RUNTIME_SUPPRESSBOXES_H

#include "anec/MIL/ModelDescription.h"
#include "anec/Runtime/Backend.h"

namespace anec {

/// Replaces the confidence and the coordinates of all boxes by those of the
/// boxes that are kept, from the most confident one on. The number of boxes
/// follows from their values. `ports` and `values` are the outputs of a
/// function, and then anything else, which stays.
void suppressBoxes(const FunctionDescription &description,
                   std::vector<Port> &ports, std::vector<ConstantRef> &values);

} // namespace anec

#endif // ANEC_LIB_RUNTIME_SUPPRESSBOXES_H
