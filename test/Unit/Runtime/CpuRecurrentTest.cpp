//===- CpuRecurrentTest.cpp - recurrent layers of the CPU backend ---------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Params/Recurrent.h"
#include "lib/Ops/Rows/Recurrent.h"
#include "test/Unit/Runtime/CpuGraph.h"

using namespace anec;

/// A layer of `hidden` units; with many, threads share the panels of its
/// weight, of which the last may be partial.
static void checkLstm(int64_t hidden, int64_t batch, RnnDirection direction,
                      bool hasBias) {
  SCOPED_TRACE(std::to_string(hidden) + " units, " + std::to_string(batch) +
               " images, " + spelling(direction).str());
  constexpr int64_t steps = 4, inputs = 6;
  bool both = direction == RnnDirection::Bidirectional;
  int64_t width = both ? 2 * hidden : hidden;
  Graph graph;
  auto weight = [&](int64_t columns, uint64_t seed) {
    return graph.constant({DType::FP16, {4 * hidden, columns}}, seed);
  };
  Value *x = graph.input({steps, batch, inputs});
  Value *h = graph.input({batch, width}), *c = graph.input({batch, width});
  auto bias = [&](uint64_t seed) {
    return hasBias ? graph.constant({DType::FP16, {4 * hidden}}, seed)
                   : nullptr;
  };
  llvm::SmallVector<Value *> operands = {
      x, h, c, weight(inputs, 3), weight(hidden, 4), bias(5)};
  if (both)
    operands.append({nullptr, weight(inputs, 6), weight(hidden, 7), bias(8)});
  Op *op = graph.builder.create(
      ops::Lstm, operands,
      {Attr(param::direction, direction), Attr(param::outputSequence, true)});
  ASSERT_TRUE(op);
  graph.results({op->result(0), op->result(1), op->result(2)});
  check(graph);
}

TEST(CpuRecurrent, AdvancesPanelsOfUnits) {
  for (RnnDirection direction : {RnnDirection::Forward, RnnDirection::Reverse,
                                 RnnDirection::Bidirectional})
    for (int64_t hidden : {1, 7, 32, 50, 200})
      for (int64_t batch : {1, 3, 6})
        checkLstm(hidden, batch, direction, (hidden + batch) % 2);
}
