//===- Families.h - the families of operators -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_FAMILIES_H
#define ANEC_LIB_TORCH_FAMILIES_H

#include "Node.h"

namespace anec::torch {

#define FAMILY(NAME) llvm::ArrayRef<OpRow> NAME##Rows();
#include "Families.def"

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_FAMILIES_H
