//===- ConstantWeights.h - constants that are weights -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// MIL text and Core ML packages have weights as constants, by the names of
/// their values.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_FORMATS_CONSTANTWEIGHTS_H
#define ANEC_LIB_FORMATS_CONSTANTWEIGHTS_H

#include "anec/IR/IR.h"
#include "anec/IR/SourceWeights.h"

namespace anec {

/// Makes the constants of a function that are weights what `weights` wants;
/// those of blocks are not trained.
void giveWeights(Function &function, SourceWeights &weights);

} // namespace anec

#endif // ANEC_LIB_FORMATS_CONSTANTWEIGHTS_H
