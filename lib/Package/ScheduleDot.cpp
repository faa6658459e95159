//===- ScheduleDot.cpp - a schedule as a graph ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Package/ScheduleDot.h"
#include "lib/IR/Names.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Host.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

static std::string quoted(llvm::StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + "\"";
}

namespace {

class DotPrinter {
public:
  DotPrinter(const Module &module, llvm::raw_ostream &out)
      : module(module), out(out) {}

  void print() {
    out << "digraph schedule {\n  node [fontname=\"Helvetica\"];\n"
           "  edge [fontname=\"Helvetica\", fontsize=10];\n  compound=true;\n";
    for (const auto &function : module.functions)
      anchors[function->name] = newNode();
    for (const auto &function : module.functions)
      if (function->kind == FunctionKind::Host)
        printFunction(*function);
    for (const auto &[repeat, body] : repeats)
      out << "  " << repeat << " -> " << body
          << " [style=dashed, arrowhead=none, label=\"body\"];\n";
    out << "}\n";
  }

private:
  void printFunction(const Function &function);
  void printNode(const Op &op);
  void printEdges(const Op &op);
  void edge(const Value *value, const std::string &to);
  std::string newNode() { return "n" + std::to_string(nodes++); }

  const Module &module;
  llvm::raw_ostream &out;
  unsigned nodes = 0, clusters = 0;
  /// A point in the box of each function.
  llvm::StringMap<std::string> anchors;
  llvm::DenseMap<const Op *, std::string> nodeOf;
  llvm::DenseMap<const Value *, std::string> inputs;
  std::optional<ValueNames> names; ///< of the function being printed
  std::vector<std::pair<std::string, std::string>> repeats;
};

} // namespace

/// Weights and constants would hide the rest.
static bool isShown(const Op &op) {
  return !op.is(ops::Const) && !op.is(ops::Weight);
}

void DotPrinter::printNode(const Op &op) {
  std::string &node = nodeOf[&op] = newNode();
  out << "    " << node << " [";
  if (op.is(ops::Call)) {
    unsigned weights = 0;
    llvm::SmallVector<Value *, 4> operands = op.operandValues();
    for (const Value *operand : llvm::drop_begin(operands))
      weights +=
          operand->definingOp() && operand->definingOp()->is(ops::Weight);
    std::string label = op.get(param::callee).str();
    if (weights)
      label += "\n" + std::to_string(weights) + " weights";
    out << "shape=box, style=filled, fillcolor=lightblue, label="
        << quoted(label);
  } else if (op.is(ops::Repeat)) {
    out << "shape=box3d, label="
        << quoted("repeat " + std::to_string(op.get(param::from)) + ".." +
                  std::to_string(op.get(param::to)) +
                  (op.get(param::reverse) ? " reverse" : ""));
    repeats.push_back({node, anchors[op.get(param::body)]});
  } else if (op.is(ops::Accumulate)) {
    out << "shape=cds, label="
        << quoted("gradient of " + op.get(param::name).str());
  } else {
    out << "shape=oval, label=" << quoted(op.def().name);
  }
  out << "];\n";
}

void DotPrinter::edge(const Value *value, const std::string &to) {
  const Op *maker = value->definingOp();
  if (maker && !isShown(*maker))
    return;
  out << "    " << (maker ? nodeOf[maker] : inputs[value]) << " -> " << to;
  // Which result of several: a tap has a name.
  if (maker && maker->numResults() > 1)
    out << " [label=" << quoted((*names)[value]) << "]";
  out << ";\n";
}

void DotPrinter::printEdges(const Op &op) {
  llvm::SmallVector<Value *, 4> operands = op.operandValues();
  bool hasIndex = op.def().valueSlot(param::index) == 0;
  for (const Value *operand : llvm::drop_begin(operands, hasIndex ? 1 : 0))
    if (operand)
      edge(operand, nodeOf[&op]);
}

void DotPrinter::printFunction(const Function &function) {
  names.emplace(function);
  out << "  subgraph cluster_" << clusters++
      << " {\n    label=" << quoted(function.name) << ";\n";
  out << "    " << anchors[function.name] << " [shape=point, style=invis];\n";
  for (const auto &param : function.parameters()) {
    inputs[param.get()] = newNode();
    out << "    " << inputs[param.get()]
        << " [shape=plaintext, label=" << quoted(param->name) << "];\n";
  }
  for (const Op &op : function.body())
    if (isShown(op))
      printNode(op);
  for (const Op &op : function.body())
    if (isShown(op))
      printEdges(op);
  for (unsigned index = 0; index < function.numResults(); ++index) {
    std::string result = newNode();
    out << "    " << result
        << " [shape=plaintext, label=" << quoted(function.resultNames()[index])
        << "];\n";
    edge(function.result(index), result);
  }
  out << "  }\n";
}

void anec::printDot(const Module &module, llvm::raw_ostream &out) {
  DotPrinter(module, out).print();
}
