//===- Schema.h - the parameters of ATen's operators ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Archives leave out arguments that have their default, and nothing in them
/// says which it is: Schemas.def has the parameters of all operators that have
/// a row, as PyTorch declares them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_SCHEMA_H
#define ANEC_LIB_TORCH_SCHEMA_H

#include "Program.h"

namespace anec::torch {

struct Parameter {
  StringRef name;
  /// None for `None` and where there is no default.
  Argument byDefault;
  bool hasDefault = false;
};

/// The parameters of `aten.add.Tensor`, in order; null if it has no row.
const std::vector<Parameter> *parametersOf(StringRef op);

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_SCHEMA_H
