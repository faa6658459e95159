//===- OperationNames.cpp - ops as Core ML's compiler names them ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "OperationNames.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constexpr.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Resize.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace anec;
using llvm::StringRef;

/// The opset of the newest form of an op, as compiled models and compute plans
/// show it: `ios16.reduce_mean` and `split` in functions of ios18, where most
/// ops have a form of ios18. Nothing publishes a complete list.
static unsigned newestForm(const OpDef *def) {
  static const std::pair<const OpDef *, unsigned> rows[] = {
      {nullptr, 15}, // classify
      {&ops::ConstexprAffineDequantize, 16},
      {&ops::Einsum, 16},
      {&ops::Fill, 15},
      {&ops::Pad, 15},
      {&ops::Range1d, 15},
      {&ops::ReduceL1Norm, 16},
      {&ops::ReduceL2Norm, 16},
      {&ops::ReduceLogSum, 16},
      {&ops::ReduceLogSumExp, 16},
      {&ops::ReduceMax, 16},
      {&ops::ReduceMean, 16},
      {&ops::ReduceMin, 16},
      {&ops::ReduceProd, 16},
      {&ops::ReduceSum, 16},
      {&ops::ReduceSumSquare, 16},
      {&ops::Select, 15},
      {&ops::ShapeOf, 15},
      {&ops::Split, 15},
      {&ops::Tile, 15},
      {&ops::UpsampleBilinear, 16},
  };
  for (auto [row, opset] : rows)
    if (row == def)
      return opset;
  return 18;
}

/// Of an op that unpacks weights, the opset whose form these programs have.
static unsigned formOf(const OpDef *def, unsigned opset) {
  unsigned form = std::min(newestForm(def), opset);
  bool isUnpacking = def && def->has(trait::Constexpr);
  return isUnpacking && form < 18 ? 16 : form;
}

/// `slice_by_index` as `sliceByIndex` or, capitalized, `SliceByIndex`.
static std::string camelCase(StringRef name, bool isCapitalized) {
  std::string camel;
  bool isNext = isCapitalized;
  for (char letter : name) {
    if (letter == '_') {
      isNext = true;
      continue;
    }
    camel += isNext ? llvm::toUpper(letter) : letter;
    isNext = false;
  }
  return camel;
}

std::string coreml::histogramName(StringRef name, const OpDef *def,
                                  unsigned opset) {
  unsigned form = formOf(def, opset);
  bool hasPrefix = form > 15;
  std::string camel = camelCase(name, !hasPrefix);
  return (hasPrefix ? "Ios" + std::to_string(form) + "." : "") + camel;
}
