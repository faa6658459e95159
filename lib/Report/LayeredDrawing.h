//===- LayeredDrawing.h - an acyclic graph as SVG ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Draws nodes in rows, each below its predecessors, with edges that bend
/// around the nodes in between (Sugiyama's method). The drawing is part of a
/// page that is readable offline, so no other program draws it.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_REPORT_LAYEREDDRAWING_H
#define ANEC_LIB_REPORT_LAYEREDDRAWING_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace anec {

/// `text` with the special characters of HTML written as entities.
std::string escapedForHtml(llvm::StringRef text);

class LayeredDrawing {
public:
  struct Node {
    std::string label;
    std::string detail;    ///< a second line; may be empty
    std::string title;     ///< the tooltip
    llvm::StringRef style; ///< the CSS class of its box
  };

  /// Adds a node and returns its number. Nodes are added in topological order.
  unsigned addNode(Node node);
  /// Adds an edge between two nodes; `from` was added before `to`.
  void addEdge(unsigned from, unsigned to);
  bool empty() const { return nodes.empty(); }

  /// Prints the drawing as an `svg` element with the label `name`.
  void print(llvm::StringRef name, llvm::raw_ostream &out);

private:
  /// A node, or the bend of an edge in a row that it passes.
  struct Slot {
    int node = -1;
    unsigned row = 0;
    double width = 0, x = 0;
    llvm::SmallVector<unsigned, 4> above, below;
    double order = 0; ///< its position in the row
  };
  struct Edge {
    unsigned from, to;
    llvm::SmallVector<unsigned, 4> slots; ///< from its start to its end
  };

  void assignRows();
  void bendEdges();
  void orderRows();
  void assignColumns();
  void alignRow(const std::vector<unsigned> &row);
  double rowHeight(unsigned row) const;
  void printEdge(const Edge &edge, llvm::raw_ostream &out) const;
  void printNode(const Slot &slot, llvm::raw_ostream &out) const;

  std::vector<Node> nodes;
  std::vector<Edge> edges;
  llvm::DenseSet<std::pair<unsigned, unsigned>> known; ///< the ends of `edges`
  std::vector<Slot> slots; ///< the slots of nodes first
  std::vector<std::vector<unsigned>> rows;
  std::vector<double> tops; ///< the upper end of each row
};

} // namespace anec

#endif // ANEC_LIB_REPORT_LAYEREDDRAWING_H
