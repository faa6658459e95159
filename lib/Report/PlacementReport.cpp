//===- PlacementReport.cpp - where Core ML runs ops, printed --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/PlacementReport.h"
#include "FindingText.h"
#include "lib/IR/OpDef.h"
#include "lib/Support/ShownText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace anec;

static size_t countOnEngine(llvm::ArrayRef<PlacedOp> ops) {
  return size_t(
      llvm::count_if(ops, [](const PlacedOp &op) { return op.onEngine(); }));
}

/// The first result, which names the op.
static llvm::StringRef resultOf(const Op &op) {
  return op.numResults() == 0 ? llvm::StringRef() : op.result()->name;
}

void anec::printPlacement(llvm::StringRef function,
                          llvm::ArrayRef<PlacedOp> ops, const Target &target,
                          llvm::raw_ostream &out) {
  out << "predicted by anec's rules for " << target.name
      << "; Core ML was not asked\n";
  for (const PlacedOp &placed : ops) {
    out << (placed.onEngine() ? "  engine     " : "  cpu or gpu ")
        << llvm::left_justify(placed.op->def().name, 24) << ' '
        << showText(resultOf(*placed.op));
    if (!placed.onEngine())
      out << ": " << showText(placed.why) << " [" << placed.rule->id << ']';
    out << '\n';
  }
  out << showText(function) << ": " << countOnEngine(ops) << " of ";
  printCount(out, ops.size(), "op");
  out << " on the engine, ";
  printCount(out, countMoves(ops), "change");
  out << " of place\n";
}

void anec::printPlacement(llvm::StringRef function,
                          llvm::ArrayRef<PlacedOp> ops, const Target &target,
                          llvm::json::OStream &json) {
  json.object([&] {
    json.attribute("function", llvm::json::fixUTF8(function));
    json.attribute("target", target.name);
    json.attribute("source", "predicted");
    json.attribute("onEngine", int64_t(countOnEngine(ops)));
    json.attribute("changes", int64_t(countMoves(ops)));
    json.attributeArray("ops", [&] {
      for (const PlacedOp &placed : ops)
        json.object([&] {
          json.attribute("op", placed.op->def().name);
          json.attribute("result", llvm::json::fixUTF8(resultOf(*placed.op)));
          json.attribute("place", placed.onEngine() ? "engine" : "cpu or gpu");
          if (placed.onEngine())
            return;
          json.attribute("rule", placed.rule->id);
          json.attribute("why", llvm::json::fixUTF8(placed.why));
        });
    });
  });
}

//===----------------------------------------------------------------------===//
// Asked
//===----------------------------------------------------------------------===//

static size_t countOnEngine(llvm::ArrayRef<AskedPlace> ops) {
  return size_t(llvm::count_if(ops, [](const AskedPlace &op) {
    return op.preferred == Device::Engine;
  }));
}

/// How often the place changes from one op to the next.
static size_t countChanges(llvm::ArrayRef<AskedPlace> ops) {
  size_t moves = 0;
  for (size_t i = 1; i < ops.size(); ++i)
    moves += ops[i].preferred != ops[i - 1].preferred;
  return moves;
}

void anec::printPlacement(llvm::StringRef function,
                          llvm::ArrayRef<AskedPlace> ops,
                          const MachineRecord &machine,
                          llvm::raw_ostream &out) {
  out << "asked of Core ML on " << machine.chip << ", " << machine.system
      << '\n';
  for (const AskedPlace &op : ops) {
    out << "  " << llvm::left_justify(spelling(op.preferred), 10) << ' '
        << llvm::left_justify(showText(op.op), 24) << ' '
        << showText(op.result);
    if (op.cost)
      out << llvm::format(": %.1f %% of the cost", *op.cost * 100);
    llvm::ListSeparator separator;
    std::string others;
    for (Device device : op.supported)
      if (device != op.preferred)
        others += (llvm::StringRef(separator) + spelling(device)).str();
    if (!others.empty())
      out << (op.cost ? "; " : ": ") << "also on " << others;
    out << '\n';
  }
  out << showText(function) << ": " << countOnEngine(ops) << " of ";
  printCount(out, ops.size(), "op");
  out << " on the engine, ";
  printCount(out, countChanges(ops), "change");
  out << " of place\n";
}

void anec::printPlacement(llvm::StringRef function,
                          llvm::ArrayRef<AskedPlace> ops,
                          const MachineRecord &machine,
                          llvm::json::OStream &json) {
  json.object([&] {
    json.attribute("function", llvm::json::fixUTF8(function));
    json.attribute("chip", machine.chip);
    json.attribute("system", machine.system);
    json.attribute("source", "asked");
    json.attribute("onEngine", int64_t(countOnEngine(ops)));
    json.attribute("changes", int64_t(countChanges(ops)));
    json.attributeArray("ops", [&] {
      for (const AskedPlace &op : ops)
        json.object([&] {
          json.attribute("op", llvm::json::fixUTF8(op.op));
          json.attribute("result", llvm::json::fixUTF8(op.result));
          json.attribute("place", spelling(op.preferred));
          json.attributeArray("supported", [&] {
            for (Device device : op.supported)
              json.value(spelling(device));
          });
          if (op.cost)
            json.attribute("cost", *op.cost);
        });
    });
  });
}
