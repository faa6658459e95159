//===- Dropout.cpp - dropout outside of training --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"

using namespace anec;
using namespace anec::onnx;

/// The input, and a mask that keeps all of it.
static void readDropout(Node &n) {
  n.ignore("ratio");
  n.ignore("seed");
  Val x = n.in(0);
  if (!x)
    return;
  bool training = n.opset() >= 12 && n.has(2) && n.number(2) != 0;
  if (n.opset() < 7 && n.attr("is_test", 0) == 0)
    training = true;
  if (n.failed())
    return;
  bool drops = n.opset() < 12 || !n.has(1) || n.number(1) != 0;
  if (training && drops && !n.failed())
    return n.refuse("in training, its result is different in every run");
  n.out(0, x);
  if (n.wants(1))
    n.out(1,
          n.e.filled(n.opset() < 10 ? x.dtype() : DType::Bool, x.shape(), 1));
}

static constexpr OpRow dropoutTable[] = {
    {.name = "Dropout", .read = readDropout, .limits = "not in training"},
};

llvm::ArrayRef<OpRow> onnx::dropoutRows() { return dropoutTable; }
