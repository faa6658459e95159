//===- Ops.h - the op table -------------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The rows of the op table by name, such as `ops::Concat`, and the table of
/// all rows. Rows are defined in lib/Ops, one file per family; each row follows
/// its shape inference, reference kernel and decomposition.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_OPS_H
#define ANEC_LIB_OPS_OPS_H

#include "lib/IR/OpDef.h"

namespace anec {

namespace ops {
#define OP(NAME) extern const OpDef NAME;
#include "lib/Ops/Ops.def"
} // namespace ops

/// All rows, sorted by op name.
const OpTable &opTable();

} // namespace anec

#endif // ANEC_LIB_OPS_OPS_H
