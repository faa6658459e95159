//===- Table.cpp - the list of all rows -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Lists the rows in the order of Ops.def. That order, by C++ name, is also the
/// order of the op names.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Ops.h"
#include <cassert>

using namespace anec;

static constexpr const OpDef *rows[] = {
#define OP(NAME) &ops::NAME,
#include "lib/Ops/Ops.def"
};

static constexpr UnsupportedOp unsupported[] = {
#define UNSUPPORTED_OP(NAME, REASON) {NAME, REASON},
#include "lib/Ops/Unsupported.def"
};

const OpTable &anec::opTable() {
  static const OpTable table(rows, unsupported);
  assert(
      llvm::is_sorted(rows, [](const OpDef *a,
                               const OpDef *b) { return a->name < b->name; }) &&
      "Ops.def is not sorted");
  return table;
}
