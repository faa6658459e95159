//===- OutputNames.h - names of outputs -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_OUTPUTNAMES_H
#define ANEC_LIB_TORCH_OUTPUTNAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace anec::torch {

/// The names that the keys of dictionaries and the fields of classes give to
/// outputs, in order; an empty one where there are none. `spec` is the form of
/// the outputs as a pytree, in JSON.
std::vector<std::string> outputNames(llvm::StringRef spec);

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_OUTPUTNAMES_H
