//===- PieceTrie.h - the pieces that a text begins with ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_PIECETRIE_H
#define ANEC_LIB_TEXT_PIECETRIE_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <vector>

namespace anec {

class PieceTrie {
public:
  /// Adds a piece. Of equal ones the last counts; an empty one is ignored.
  void add(llvm::StringRef piece, int32_t id) {
    uint32_t node = 0;
    for (char byte : piece) {
      auto [edge, isNew] =
          edges.try_emplace(keyOf(node, byte), uint32_t(idsOfNodes.size()));
      if (isNew)
        idsOfNodes.push_back(-1);
      node = edge->second;
    }
    if (!piece.empty())
      idsOfNodes[node] = id;
  }

  /// Calls `take` with the size in bytes and the id of each piece that `text`
  /// begins with, the shortest first.
  template <typename Take>
  void forEachPrefix(llvm::StringRef text, Take take) const {
    uint32_t node = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      auto edge = edges.find(keyOf(node, text[at]));
      if (edge == edges.end())
        return;
      node = edge->second;
      if (idsOfNodes[node] >= 0)
        take(at + 1, idsOfNodes[node]);
    }
  }

  /// The size of the longest piece that `text` begins with, or 0.
  size_t longestPrefix(llvm::StringRef text) const {
    size_t longest = 0;
    forEachPrefix(text, [&](size_t size, int32_t) { longest = size; });
    return longest;
  }

private:
  static uint64_t keyOf(uint32_t node, char byte) {
    return uint64_t(node) << 8 | uint8_t(byte);
  }

  /// The node behind a byte, and the ids of the pieces that end in nodes.
  llvm::DenseMap<uint64_t, uint32_t> edges;
  std::vector<int32_t> idsOfNodes = {-1};
};

} // namespace anec

#endif // ANEC_LIB_TEXT_PIECETRIE_H
