//===- RecordedReport.cpp - what dumps have recorded ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RecordedReport.h"
#include "FindingText.h"
#include "lib/Target/Diags.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace anec;

using OpsByDescription =
    llvm::MapVector<std::string, std::vector<const RecordedPlacement *>,
                    std::map<std::string, unsigned>>;

/// The ops that Core ML's compiler did not support on the engine, and that
/// break no rule, by its description.
static OpsByDescription findUnexplained(const CheckResult &result) {
  llvm::DenseSet<const char *> explained;
  for (const Finding &finding : result.findings)
    if (!finding.recorded.empty())
      explained.insert(finding.range.Start.getPointer());
  OpsByDescription ops;
  for (const RecordedPlacement &placement : result.placements)
    if (!placement.onEngine &&
        !explained.contains(placement.range.Start.getPointer()))
      ops[placement.describe()].push_back(&placement);
  return ops;
}

size_t anec::addPlacements(const CheckResult &result,
                           std::vector<RuleParagraph> &paragraphs) {
  size_t count = 0;
  for (const auto &[description, ops] : findUnexplained(result)) {
    count += ops.size();
    RuleParagraph &paragraph = paragraphs.emplace_back();
    paragraph.severity = diag::RecordedRefusal->severity;
    paragraph.id = diag::RecordedRefusal->id;
    for (const RecordedPlacement *op : ops)
      paragraph.places.push_back(
          {op->range,
           diag::RecordedRefusal(op->op.text, description).render()});
  }
  return count;
}

void anec::printPlacements(const CheckResult &result, llvm::raw_ostream &out) {
  if (result.placements.empty())
    return;
  size_t onEngine =
      llvm::count_if(result.placements, [](const RecordedPlacement &placement) {
        return placement.onEngine;
      });
  std::map<std::string, size_t> selected;
  std::map<std::string, double> times;
  for (const RecordedPlacement &placement : result.placements) {
    if (!placement.selected.empty())
      ++selected[placement.selected];
    for (const auto &[backend, time] : placement.times)
      times[backend] += time;
  }
  out << "Core ML's compiler: the engine supports " << onEngine << " of ";
  printCount(out, result.placements.size(), "op");
  for (const auto &[backend, count] : selected)
    out << "; " << count << " placed on " << backend;
  out << '\n';
  const char *separator = "Core ML's compiler estimates, in ms: ";
  for (const auto &[backend, time] : times) {
    out << separator << backend << llvm::format(" %.4g", time);
    separator = ", ";
  }
  if (!times.empty())
    out << '\n';
}

void anec::writePlacement(const RecordedPlacement &placement,
                          const Diagnostics &diags, llvm::json::OStream &json) {
  json.object([&] {
    json.attribute("op", placement.op.text);
    if (std::optional<SourcePlace> place = diags.locate(placement.range)) {
      json.attribute("file", place->file);
      json.attribute("line", place->line);
      json.attribute("column", place->column);
    }
    json.attribute("engine", placement.onEngine);
    json.attribute("selected", llvm::json::fixUTF8(placement.selected));
    json.attribute("refusal", llvm::json::fixUTF8(placement.refusal));
    json.attributeObject("milliseconds", [&] {
      for (const auto &[backend, time] : placement.times)
        json.attribute(llvm::json::fixUTF8(backend), time);
    });
  });
}
