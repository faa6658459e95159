//===- Table.cpp - the list of all rows -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Lists the rows of Ops.def and of Control.h by name. The order of Ops.def, by
/// C++ name, is also the order of the op names.
///
//===----------------------------------------------------------------------===//

#include "anec/Ops/Control.h"
#include "anec/Ops/Ops.h"
#include <cassert>

using namespace anec;

static constexpr const OpDef *rows[] = {
#define OP(NAME) &ops::NAME,
#include "anec/Ops/Ops.def"
};

static constexpr UnsupportedOp unsupported[] = {
#define UNSUPPORTED_OP(NAME, REASON) {NAME, REASON},
#include "anec/Ops/Unsupported.def"
};

static bool isBefore(const OpDef *a, const OpDef *b) {
  return a->name < b->name;
}

/// All rows, sorted.
static std::vector<const OpDef *> allRows() {
  assert(llvm::is_sorted(rows, isBefore) && "Ops.def is not sorted");
  std::vector<const OpDef *> all(std::begin(rows), std::end(rows));
  for (const OpDef *withBlocks : {&ops::Cond, &ops::WhileLoop})
    all.insert(llvm::upper_bound(all, withBlocks, isBefore), withBlocks);
  return all;
}

const OpTable &anec::opTable() {
  static const std::vector<const OpDef *> all = allRows();
  static const OpTable table(all, unsupported);
  return table;
}
