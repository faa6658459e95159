//===- Table.cpp - the list of all rows -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Lists the families, and sorts their rows by name.
///
//===----------------------------------------------------------------------===//

#include "lib/Ops/Ops.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Attention.h"
#include "lib/Ops/Rows/Blocks.h"
#include "lib/Ops/Rows/Boxes.h"
#include "lib/Ops/Rows/CachedAttention.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Constexpr.h"
#include "lib/Ops/Rows/ConstexprLookup.h"
#include "lib/Ops/Rows/Control.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Heads.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Loss.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Memory.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Pool.h"
#include "lib/Ops/Rows/Quantization.h"
#include "lib/Ops/Rows/Random.h"
#include "lib/Ops/Rows/Recurrent.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Resize.h"
#include "lib/Ops/Rows/Reverse.h"
#include "lib/Ops/Rows/RmsNorm.h"
#include "lib/Ops/Rows/Rope.h"
#include "lib/Ops/Rows/Sample.h"
#include "lib/Ops/Rows/Scatter.h"
#include "lib/Ops/Rows/Sdpa.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Rows/Softmax.h"
#include "lib/Ops/Rows/Sort.h"

using namespace anec;

static constexpr llvm::ArrayRef<const OpDef *> families[] = {
    ops::activationRows,
    ops::arithmeticRows,
    ops::attentionRows,
    ops::blocksRows,
    ops::boxesRows,
    ops::cachedAttentionRows,
    ops::castRows,
    ops::concatRows,
    ops::constantsRows,
    ops::constexprRows,
    ops::constexprLookupRows,
    ops::controlRows,
    ops::convRows,
    ops::elementwiseRows,
    ops::fillRows,
    ops::gatherRows,
    ops::headsRows,
    ops::hostRows,
    ops::lossRows,
    ops::matmulRows,
    ops::memoryRows,
    ops::normRows,
    ops::poolRows,
    ops::quantizationRows,
    ops::randomRows,
    ops::recurrentRows,
    ops::reduceRows,
    ops::resizeRows,
    ops::reverseRows,
    ops::rmsNormRows,
    ops::ropeRows,
    ops::sampleRows,
    ops::scatterRows,
    ops::sdpaRows,
    ops::selectRows,
    ops::shapeRows,
    ops::sliceRows,
    ops::softmaxRows,
    ops::sortRows,
};

static constexpr UnsupportedOp unsupported[] = {
#define UNSUPPORTED_OP(NAME, REASON) {NAME, REASON},
#include "lib/Ops/Unsupported.def"
};

static std::vector<const OpDef *> sortedRows() {
  std::vector<const OpDef *> rows;
  for (llvm::ArrayRef<const OpDef *> family : families)
    rows.insert(rows.end(), family.begin(), family.end());
  llvm::sort(rows,
             [](const OpDef *a, const OpDef *b) { return a->name < b->name; });
  return rows;
}

const OpTable &anec::opTable() {
  static const std::vector<const OpDef *> rows = sortedRows();
  static const OpTable table(rows, unsupported);
  return table;
}
