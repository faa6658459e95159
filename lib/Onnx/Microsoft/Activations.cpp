//===- Activations.cpp - activation functions of onnxruntime --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "anec/IR/Params.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Gelu.h"
#include "lib/Ops/Rows/Activation.h"

using namespace anec;
using namespace anec::onnx;

static void gelu(Node &node, GeluMode mode) {
  Emitter &e = node.e;
  Val x = node.in(0);
  if (node.has(1))
    x = e.add(x, node.in(1));
  node.out(e.unary(ops::Gelu, x, {{param::geluMode, mode}}));
}

static void exactGelu(Node &node) { gelu(node, GeluMode::Exact); }
static void fastGelu(Node &node) { gelu(node, GeluMode::Tanh); }

/// x * sigmoid(alpha * x).
static void quickGelu(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0);
  double alpha = node.attrNumber("alpha", 1.702);
  node.out(e.mul(x, e.unary(ops::Sigmoid, e.mul(x, alpha))));
}

static void biasAdd(Node &node) {
  Emitter &e = node.e;
  Val x = node.in(0), bias = node.in(1), sum = e.add(x, bias);
  node.out(e.add(sum, node.in(2)));
}

static constexpr OpRow microsoftActivationTable[] = {
    {"BiasAdd", biasAdd}, {"BiasGelu", exactGelu},  {"FastGelu", fastGelu},
    {"Gelu", exactGelu},  {"QuickGelu", quickGelu},
};

llvm::ArrayRef<OpRow> onnx::microsoftActivationRows() {
  return microsoftActivationTable;
}
