//===- LayeredDrawing.cpp - an acyclic graph as SVG -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/LayeredDrawing.h"
#include "lib/Support/ShownText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace anec;

static constexpr double lineHeight = 15, boxPadding = 6, rowGap = 26;
static constexpr double nodeGap = 14, bendWidth = 8, letterWidth = 6.7;

std::string anec::escapedForHtml(llvm::StringRef text) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  llvm::SmallVector<llvm::StringRef, 4> lines;
  text.split(lines, '\n');
  for (auto [index, line] : llvm::enumerate(lines)) {
    stream << (index ? "\n" : "");
    llvm::printHTMLEscaped(showText(line), stream);
  }
  return result;
}

unsigned LayeredDrawing::addNode(Node node) {
  nodes.push_back(std::move(node));
  return unsigned(nodes.size()) - 1;
}

void LayeredDrawing::addEdge(unsigned from, unsigned to) {
  if (known.insert({from, to}).second)
    edges.push_back({from, to, {}});
}

static double boxHeight(const LayeredDrawing::Node &node) {
  return 2 * boxPadding + lineHeight * (node.detail.empty() ? 1 : 2);
}

static double boxWidth(const LayeredDrawing::Node &node) {
  size_t letters = std::max(node.label.size(), node.detail.size());
  return std::max(70.0, letterWidth * double(letters) + 20);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Puts each node into the row below its lowest predecessor, and a node without
/// predecessors just above its highest successor.
void LayeredDrawing::assignRows() {
  slots.clear();
  for (unsigned i = 0; i < nodes.size(); ++i) {
    Slot &slot = slots.emplace_back();
    slot.node = int(i);
    slot.width = boxWidth(nodes[i]);
  }
  for (Edge &edge : edges)
    slots[edge.to].above.push_back(edge.from);
  // Nodes were added in topological order.
  for (Slot &slot : slots)
    for (unsigned above : slot.above)
      slot.row = std::max(slot.row, slots[above].row + 1);
  std::vector<unsigned> highest(nodes.size(), ~0u);
  for (const Edge &edge : edges)
    highest[edge.from] = std::min(highest[edge.from], slots[edge.to].row);
  for (unsigned i = 0; i < nodes.size(); ++i)
    if (slots[i].above.empty() && highest[i] != ~0u)
      slots[i].row = highest[i] - 1;
  for (Slot &slot : slots)
    slot.above.clear();
}

/// Adds a slot in each row that an edge passes.
void LayeredDrawing::bendEdges() {
  for (Edge &edge : edges) {
    edge.slots = {edge.from};
    for (unsigned row = slots[edge.from].row + 1; row < slots[edge.to].row;
         ++row) {
      edge.slots.push_back(unsigned(slots.size()));
      Slot &bend = slots.emplace_back();
      bend.row = row;
      bend.width = bendWidth;
    }
    edge.slots.push_back(edge.to);
    for (size_t i = 0; i + 1 < edge.slots.size(); ++i) {
      slots[edge.slots[i]].below.push_back(edge.slots[i + 1]);
      slots[edge.slots[i + 1]].above.push_back(edge.slots[i]);
    }
  }
  rows.clear();
  for (unsigned i = 0; i < slots.size(); ++i) {
    if (slots[i].row >= rows.size())
      rows.resize(slots[i].row + 1);
    rows[slots[i].row].push_back(i);
  }
}

/// Sorts each row by the mean position of the connected slots, down and up
/// again, which removes most crossings.
void LayeredDrawing::orderRows() {
  constexpr unsigned sweeps = 8;
  auto number = [&](const std::vector<unsigned> &row) {
    for (size_t i = 0; i < row.size(); ++i)
      slots[row[i]].order = double(i);
  };
  auto sort = [&](std::vector<unsigned> &row, bool byAbove) {
    auto mean = [&](unsigned index) {
      const auto &near = byAbove ? slots[index].above : slots[index].below;
      double sum = 0;
      for (unsigned other : near)
        sum += slots[other].order;
      return near.empty() ? slots[index].order : sum / double(near.size());
    };
    std::vector<std::pair<double, unsigned>> keyed;
    for (unsigned index : row)
      keyed.push_back({mean(index), index});
    llvm::stable_sort(keyed, llvm::less_first());
    for (size_t i = 0; i < row.size(); ++i)
      row[i] = keyed[i].second;
    number(row);
  };
  for (auto &row : rows)
    number(row);
  for (unsigned sweep = 0; sweep < sweeps; ++sweep) {
    for (auto &row : rows)
      sort(row, true);
    for (auto &row : llvm::reverse(rows))
      sort(row, false);
  }
}

/// Moves the slots of a row as near as possible to the mean of their connected
/// slots, without overlaps and in order: isotonic regression by pooling
/// adjacent violators.
void LayeredDrawing::alignRow(const std::vector<unsigned> &row) {
  struct Pool {
    double sum;
    unsigned count;
    double mean() const { return sum / count; }
  };
  std::vector<double> offsets;
  std::vector<Pool> pools;
  double offset = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const Slot &slot = slots[row[i]];
    if (i)
      offset += (slots[row[i - 1]].width + slot.width) / 2 + nodeGap;
    offsets.push_back(offset);
    double sum = 0;
    for (unsigned other : slot.above)
      sum += slots[other].x;
    for (unsigned other : slot.below)
      sum += slots[other].x;
    size_t near = slot.above.size() + slot.below.size();
    pools.push_back({(near ? sum / double(near) : slot.x) - offset, 1});
    while (pools.size() > 1 &&
           pools[pools.size() - 2].mean() > pools.back().mean()) {
      Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum;
      pools.back().count += last.count;
    }
  }
  size_t at = 0;
  for (const Pool &pool : pools)
    for (unsigned i = 0; i < pool.count; ++i, ++at)
      slots[row[at]].x = pool.mean() + offsets[at];
}

void LayeredDrawing::assignColumns() {
  constexpr unsigned sweeps = 12;
  for (const auto &row : rows) {
    double x = 0;
    for (unsigned index : row) {
      slots[index].x = x + slots[index].width / 2;
      x += slots[index].width + nodeGap;
    }
  }
  for (unsigned sweep = 0; sweep < sweeps; ++sweep) {
    for (const auto &row : rows)
      alignRow(row);
    for (const auto &row : llvm::reverse(rows))
      alignRow(row);
  }
  double left = 0;
  for (const Slot &slot : slots)
    left = std::min(left, slot.x - slot.width / 2);
  for (Slot &slot : slots)
    slot.x -= left;
}

double LayeredDrawing::rowHeight(unsigned row) const {
  double height = 0;
  for (unsigned index : rows[row])
    if (slots[index].node >= 0)
      height = std::max(height, boxHeight(nodes[slots[index].node]));
  return height;
}

//===----------------------------------------------------------------------===//
// SVG
//===----------------------------------------------------------------------===//

void LayeredDrawing::printEdge(const Edge &edge, llvm::raw_ostream &out) const {
  auto bottom = [&](unsigned index) {
    const Slot &slot = slots[index];
    double height =
        slot.node >= 0 ? boxHeight(nodes[slot.node]) : rowHeight(slot.row);
    return tops[slot.row] + height;
  };
  double x = slots[edge.from].x, y = bottom(edge.from);
  out << llvm::format("<path d=\"M%.1f %.1f", x, y);
  for (unsigned index : llvm::drop_begin(edge.slots)) {
    double toX = slots[index].x, toY = tops[slots[index].row];
    double middle = (y + toY) / 2;
    out << llvm::format("C%.1f %.1f %.1f %.1f %.1f %.1f", x, middle, toX,
                        middle, toX, toY);
    x = toX;
    y = slots[index].node >= 0 ? toY : bottom(index);
    if (slots[index].node < 0)
      out << llvm::format("V%.1f", y);
  }
  out << "\"/>\n";
}

void LayeredDrawing::printNode(const Slot &slot, llvm::raw_ostream &out) const {
  const Node &node = nodes[slot.node];
  double top = tops[slot.row];
  out << "<g class=\"" << node.style << "\"><title>"
      << escapedForHtml(node.title)
      << llvm::format("</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                      "height=\"%.1f\" rx=\"5\"/>",
                      slot.x - slot.width / 2, top, slot.width, boxHeight(node))
      << llvm::format("<text x=\"%.1f\" y=\"%.1f\">", slot.x,
                      top + boxPadding + 11)
      << escapedForHtml(node.label) << "</text>";
  if (!node.detail.empty())
    out << llvm::format("<text class=\"detail\" x=\"%.1f\" y=\"%.1f\">", slot.x,
                        top + boxPadding + 11 + lineHeight)
        << escapedForHtml(node.detail) << "</text>";
  out << "</g>\n";
}

void LayeredDrawing::print(llvm::StringRef name, llvm::raw_ostream &out) {
  assignRows();
  bendEdges();
  orderRows();
  assignColumns();
  tops.clear();
  double height = 1, width = 1;
  for (unsigned row = 0; row < rows.size(); ++row) {
    tops.push_back(height);
    height += rowHeight(row) + rowGap;
    for (unsigned index : rows[row])
      width = std::max(width, slots[index].x + slots[index].width / 2);
  }
  height -= rowGap;
  out << llvm::format("<svg viewBox=\"-1 0 %.0f %.0f\" width=\"%.0f\" "
                      "height=\"%.0f\" role=\"img\" aria-label=\"",
                      width + 3, height + 2, width + 3, height + 2)
      << escapedForHtml(name) << "\">\n";
  for (const Edge &edge : edges)
    printEdge(edge, out);
  for (const Slot &slot : slots)
    if (slot.node >= 0)
      printNode(slot, out);
  out << "</svg>\n";
}
