//===- Llama2cModel.h - checkpoints of llama2.c as models -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_LLAMA2CMODEL_H
#define ANEC_LIB_IMPORT_LLAMA2CMODEL_H

#include "Families.h"
#include "lib/Arrays/Llama2c.h"

namespace anec {

/// What lib/Arrays/Llama2c.h calls the arrays, in the order of version 0.
llvm::ArrayRef<ArrayName> llama2cArrays();
/// The model that llama2.c's programs compute with the weights of `file`.
Decoder decoderOf(const Llama2cFile &file);
/// A file of version 0 for the weights of `decoder`, without its arrays.
Llama2cFile llama2cSizes(const Decoder &decoder);

} // namespace anec

#endif // ANEC_LIB_IMPORT_LLAMA2CMODEL_H
