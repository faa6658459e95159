//===- LayeredDrawing.h - a graph without cycles as SVG --------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Nodes in rows, each below all that it comes after, with edges that bend
/// around what lies between (Sugiyama's method). Kept here, because a page that
/// is readable offline cannot ask another program to draw.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_LAYEREDDRAWING_H
#define ANEC_TOOLS_ANEC_LAYEREDDRAWING_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace anec {

/// `text` with the characters that HTML has a meaning for written as entities.
std::string escapedForHtml(llvm::StringRef text);

class LayeredDrawing {
public:
  struct Node {
    std::string label;
    std::string detail;    ///< a second line; may be empty
    std::string title;     ///< what is shown when pointed at
    llvm::StringRef style; ///< the class of its box
  };

  unsigned addNode(Node node);
  /// `to` comes after `from`, which was added before.
  void addEdge(unsigned from, unsigned to);
  bool empty() const { return nodes.empty(); }

  /// The whole, as an `svg` element called `name`.
  void print(llvm::StringRef name, llvm::raw_ostream &out);

private:
  /// A node, or a bend of an edge in a row that it passes.
  struct Slot {
    int node = -1;
    unsigned row = 0;
    double width = 0, x = 0;
    llvm::SmallVector<unsigned, 4> above, below;
    double order = 0; ///< among its neighbours
  };
  struct Edge {
    unsigned from, to;
    llvm::SmallVector<unsigned, 4> slots; ///< from one end to the other
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
  llvm::DenseSet<std::pair<unsigned, unsigned>> known; ///< as `edges`
  std::vector<Slot> slots;                             ///< those of nodes first
  std::vector<std::vector<unsigned>> rows;
  std::vector<double> tops; ///< of each row
};

} // namespace anec

#endif // ANEC_TOOLS_ANEC_LAYEREDDRAWING_H
