//===- Ops.h - the op table -------------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The table of all rows. A row by its name, such as `ops::Concat`, is in the
/// header of its family, `Rows/Concat.h`; `Concat.cpp` defines it, after its
/// shape inference, reference kernel and decomposition.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_OPS_H
#define ANEC_LIB_OPS_OPS_H

#include "lib/IR/OpDef.h"

namespace anec {

/// All rows, sorted by op name.
const OpTable &opTable();

} // namespace anec

#endif // ANEC_LIB_OPS_OPS_H
