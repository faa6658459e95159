//===- MinimumCut.h - the cheapest choice between two -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A network whose nodes are on one of two sides. A minimum cut places them so
/// that the edges from the source's side to the sink's cost least.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_MINIMUMCUT_H
#define ANEC_LIB_SUPPORT_MINIMUMCUT_H

#include <cstdint>
#include <vector>

namespace anec {

class MinimumCut {
public:
  using Node = uint32_t;
  static constexpr Node source = 0, sink = 1;
  static constexpr int64_t infinite = int64_t(1) << 40;

  MinimumCut() : heads(2, none) {}

  Node addNode();
  /// What it costs when `from` is on the source's side and `to` on the sink's.
  void addEdge(Node from, Node to, int64_t cost);
  /// Finds a minimum cut (Dinic's algorithm). Returns false when that would
  /// take more than `mostSteps` visits of edges.
  bool solve(uint64_t mostSteps);
  /// The most steps for a graph of a program in which values are used `uses`
  /// times, so that a search that takes long ends.
  static constexpr uint64_t stepsFor(uint64_t uses) {
    return (uint64_t(1) << 20) + uses * 256;
  }
  /// After `solve`.
  bool isOnSourceSide(Node node) const { return levels[node] != none; }

private:
  static constexpr uint32_t none = UINT32_MAX;
  struct Edge {
    Node to;
    uint32_t next; ///< the next edge of the same node
    int64_t left;  ///< what can still flow; edge `i ^ 1` is the reverse
  };

  bool findLevels();
  int64_t augment();

  std::vector<Edge> edges;
  std::vector<uint32_t> heads, levels, current, path;
  uint64_t steps = 0;
};

} // namespace anec

#endif // ANEC_LIB_SUPPORT_MINIMUMCUT_H
