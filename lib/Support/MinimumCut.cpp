//===- MinimumCut.cpp - the cheapest choice between two -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/MinimumCut.h"
#include <algorithm>

using namespace anec;

MinimumCut::Node MinimumCut::addNode() {
  heads.push_back(none);
  return Node(heads.size() - 1);
}

void MinimumCut::addEdge(Node from, Node to, int64_t cost) {
  if (from == to || cost <= 0)
    return;
  edges.push_back({to, heads[from], cost});
  heads[from] = uint32_t(edges.size() - 1);
  edges.push_back({from, heads[to], 0});
  heads[to] = uint32_t(edges.size() - 1);
}

/// The distances of nodes from the source over edges that can take more.
/// Returns whether the sink is among them.
bool MinimumCut::findLevels() {
  levels.assign(heads.size(), none);
  levels[source] = 0;
  std::vector<Node> queue = {source};
  for (size_t at = 0; at < queue.size(); ++at)
    for (uint32_t edge = heads[queue[at]]; edge != none;
         edge = edges[edge].next) {
      ++steps;
      Node to = edges[edge].to;
      if (edges[edge].left == 0 || levels[to] != none)
        continue;
      levels[to] = levels[queue[at]] + 1;
      queue.push_back(to);
    }
  return levels[sink] != none;
}

/// Sends along one shortest path what it can take, and returns that; 0 without
/// such a path. Without recursion, since chains of ops are long.
int64_t MinimumCut::augment() {
  path.clear();
  for (Node node = source; node != sink;) {
    uint32_t &edge = current[node];
    while (edge != none && (edges[edge].left == 0 ||
                            levels[edges[edge].to] != levels[node] + 1)) {
      ++steps;
      edge = edges[edge].next;
    }
    ++steps;
    if (edge != none) {
      path.push_back(edge);
      node = edges[edge].to;
      continue;
    }
    if (path.empty())
      return 0;
    // A dead end: the edge that led here takes no more.
    node = edges[path.back() ^ 1].to;
    current[node] = edges[current[node]].next;
    path.pop_back();
  }
  int64_t most = infinite;
  for (uint32_t edge : path)
    most = std::min(most, edges[edge].left);
  for (uint32_t edge : path) {
    edges[edge].left -= most;
    edges[edge ^ 1].left += most;
  }
  return most;
}

bool MinimumCut::solve(uint64_t mostSteps) {
  steps = 0;
  while (findLevels()) {
    current = heads;
    while (augment())
      if (steps > mostSteps)
        return false;
    if (steps > mostSteps)
      return false;
  }
  return true;
}
