//===- PickledTensors.h - tensors that torch.save wrote ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_PICKLEDTENSORS_H
#define ANEC_LIB_TORCH_PICKLEDTENSORS_H

#include "Weights.h"

namespace anec::torch {

/// Reads the archive that torch.save wrote of a dictionary of tensors; `nested`
/// is that archive. Of Python's pickle, only what such a dictionary needs is
/// read. Returns false, with `error` set, if there is anything else.
bool addPickledTensors(Archive &nested, llvm::ArrayRef<uint8_t> bytes,
                       Weights &weights, std::string &error);

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_PICKLEDTENSORS_H
