//===- FindingReport.cpp - findings as text, JSON and SARIF ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Report/FindingReport.h"
#include "FindingJson.h"
#include "FindingText.h"
#include "anec/Support/Listing.h"
#include "anec/Target/Diags.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include <array>

using namespace anec;

//===----------------------------------------------------------------------===//
// Findings by rule
//===----------------------------------------------------------------------===//

bool CheckResult::hasErrors() const {
  return llvm::any_of(findings, [&](const Finding &finding) {
    return assumptions.isError(*finding.rule);
  });
}

/// Reports the findings by rule; rules with errors come first.
static void reportByRule(const CheckResult &result, Diagnostics &diags) {
  llvm::SmallVector<RuleFindings, 0> groups = groupByRule(result.findings);
  llvm::stable_sort(groups, [&](const auto &lhs, const auto &rhs) {
    return result.assumptions.severityOf(*lhs.first) <
           result.assumptions.severityOf(*rhs.first);
  });
  reportGroups(groups, result.assumptions, diags);
}

//===----------------------------------------------------------------------===//
// What dumps have recorded
//===----------------------------------------------------------------------===//

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

/// Reports ops by description: the first, with the places of the others.
static void reportPlacements(const CheckResult &result, FindingDetail detail,
                             Diagnostics &diags) {
  for (const auto &[description, ops] : findUnexplained(result)) {
    size_t shown = detail == FindingDetail::All ? ops.size() : 1;
    for (const RecordedPlacement *op : llvm::ArrayRef(ops).take_front(shown)) {
      auto report = diags.report(op->range, diag::RecordedRefusal, op->op.text,
                                 description);
      std::vector<SourceRange> others;
      for (const RecordedPlacement *other :
           llvm::ArrayRef(ops).drop_front(shown))
        others.push_back(other->range);
      if (!others.empty())
        report.note({}, diag::RuleMore, others.size(),
                    listPlaces(others, op->range, diags));
    }
  }
}

/// Prints the number of ops by backend, and the sums of the estimates.
static void printPlacements(const CheckResult &result, llvm::raw_ostream &out) {
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

static void writePlacement(const RecordedPlacement &placement,
                           const Diagnostics &diags,
                           llvm::json::OStream &json) {
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

//===----------------------------------------------------------------------===//
// Text and JSON
//===----------------------------------------------------------------------===//

void anec::printFindings(const CheckResult &result, FindingDetail detail,
                         Diagnostics &diags, llvm::raw_ostream &out) {
  std::array<size_t, 4> counts = {};
  for (const Diagnostic &diagnostic : diags.all())
    ++counts[size_t(diagnostic.severity())];
  for (const Finding &finding : result.findings)
    ++counts[size_t(result.assumptions.severityOf(*finding.rule))];
  if (detail == FindingDetail::ByRule)
    reportByRule(result, diags);
  else
    for (const Finding &finding : result.findings)
      reportFinding(finding, result.assumptions, diags);
  for (const auto &[description, ops] : findUnexplained(result))
    counts[size_t(Severity::Remark)] += ops.size();
  reportPlacements(result, detail, diags);
  diags.print(out, out.has_colors());
  out << result.target->name << ": ";
  printCount(out, counts[size_t(Severity::Error)], "error");
  out << ", ";
  printCount(out, counts[size_t(Severity::Warning)], "warning");
  out << ", ";
  printCount(out, counts[size_t(Severity::Remark)], "remark");
  out << '\n';
  printPlacements(result, out);
}

void anec::writeFinding(const Finding &finding, const Assumptions &assumptions,
                        const Diagnostics &diags, llvm::json::OStream &json,
                        llvm::ArrayRef<llvm::StringRef> errors) {
  const Rule &rule = *finding.rule;
  json.object([&] {
    json.attribute("rule", rule.id);
    if (!errors.empty())
      json.attributeArray("errors", [&] {
        for (llvm::StringRef error : errors)
          json.value(error);
      });
    json.attribute("impact", spelling(rule.impact));
    json.attribute("severity", spelling(assumptions.severityOf(*finding.rule)));
    if (std::optional<SourcePlace> place = diags.locate(finding.range)) {
      json.attribute("file", place->file);
      if (place->line == 0) {
        json.attribute("place",
                       llvm::json::fixUTF8(listedWords(finding.range)));
      } else {
        json.attribute("line", place->line);
        json.attribute("column", place->column);
        json.attribute("endLine", place->endLine);
        json.attribute("endColumn", place->endColumn);
      }
    }
    json.attribute("message", llvm::json::fixUTF8(finding.what));
    if (!finding.recorded.empty())
      json.attribute("recorded", llvm::json::fixUTF8(finding.recorded));
    json.attribute("summary", rule.summary);
    json.attribute("source", rule.source);
    json.attribute("date", rule.date);
    json.attribute("confidence", spelling(rule.confidence));
    if (!rule.conflict.empty())
      json.attribute("conflict", rule.conflict);
    json.attribute("advice", rule.advice);
    if (rule.rewrite != Rewrite::None)
      json.attribute("rewrite", spelling(rule.rewrite));
  });
}

void anec::writeDiagnostic(const Diagnostic &diagnostic,
                           const Diagnostics &diags,
                           llvm::json::OStream &json) {
  json.object([&] {
    json.attribute("id", diagnostic.kind->id);
    json.attribute("severity", spelling(diagnostic.severity()));
    if (std::optional<SourcePlace> place = diags.locate(diagnostic.range)) {
      json.attribute("file", place->file);
      if (place->line == 0) {
        json.attribute("place",
                       llvm::json::fixUTF8(listedWords(diagnostic.range)));
      } else {
        json.attribute("line", place->line);
        json.attribute("column", place->column);
      }
    } else if (!diagnostic.file.empty()) {
      json.attribute("file", diagnostic.file);
    }
    json.attribute("message", llvm::json::fixUTF8(diagnostic.message));
  });
}

void anec::printFindingsJson(const CheckResult &result,
                             const Diagnostics &diags, llvm::raw_ostream &out) {
  llvm::json::OStream json(out, 2);
  json.object([&] {
    json.attribute("target", result.target->name);
    json.attributeArray("findings", [&] {
      for (const Finding &finding : result.findings)
        writeFinding(finding, result.assumptions, diags, json);
    });
    if (!result.placements.empty())
      json.attributeArray("placements", [&] {
        for (const RecordedPlacement &placement : result.placements)
          writePlacement(placement, diags, json);
      });
    // Diagnostics from reading the programs.
    json.attributeArray("diagnostics", [&] {
      for (const Diagnostic &diagnostic : diags.all())
        writeDiagnostic(diagnostic, diags, json);
    });
  });
  out << '\n';
}

//===----------------------------------------------------------------------===//
// SARIF 2.1.0
//===----------------------------------------------------------------------===//

static llvm::StringRef sarifLevel(Severity severity) {
  return severity == Severity::Error     ? "error"
         : severity == Severity::Warning ? "warning"
                                         : "note";
}

static void writeSarifRules(llvm::json::OStream &json) {
  json.attributeArray("rules", [&] {
    for (const Rule *rule : allRules())
      json.object([&] {
        json.attribute("id", rule->id);
        json.attributeObject("shortDescription",
                             [&] { json.attribute("text", rule->summary); });
        json.attributeObject("help",
                             [&] { json.attribute("text", rule->advice); });
      });
  });
}

static void writeSarifResult(llvm::StringRef id, Severity severity,
                             llvm::StringRef message, llvm::StringRef file,
                             SourceRange range, const Diagnostics &diags,
                             llvm::json::OStream &json) {
  std::optional<SourcePlace> place = diags.locate(range);
  bool hasLines = place && place->line != 0;
  json.object([&] {
    json.attribute("ruleId", id);
    json.attribute("level", sarifLevel(severity));
    json.attributeObject("message", [&] {
      json.attribute("text", llvm::json::fixUTF8(message));
    });
    if (place)
      file = place->file;
    if (file.empty())
      return;
    json.attributeArray("locations", [&] {
      json.object([&] {
        json.attributeObject("physicalLocation", [&] {
          json.attributeObject("artifactLocation",
                               [&] { json.attribute("uri", file); });
          if (hasLines)
            json.attributeObject("region", [&] {
              json.attribute("startLine", place->line);
              json.attribute("startColumn", place->column);
              json.attribute("endLine", place->endLine);
              json.attribute("endColumn", place->endColumn);
            });
        });
        if (place && !hasLines)
          json.attributeArray("logicalLocations", [&] {
            json.object([&] {
              json.attribute("fullyQualifiedName",
                             llvm::json::fixUTF8(listedWords(range)));
            });
          });
      });
    });
  });
}

void anec::printFindingsSarif(const CheckResult &result,
                              const Diagnostics &diags,
                              llvm::raw_ostream &out) {
  llvm::json::OStream json(out, 2);
  json.object([&] {
    json.attribute("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json.attribute("version", "2.1.0");
    json.attributeArray("runs", [&] {
      json.object([&] {
        json.attributeObject("tool", [&] {
          json.attributeObject("driver", [&] {
            json.attribute("name", "anec");
            writeSarifRules(json);
          });
        });
        json.attributeArray("results", [&] {
          for (const Diagnostic &diagnostic : diags.all())
            writeSarifResult(diagnostic.kind->id, diagnostic.severity(),
                             diagnostic.message, diagnostic.file,
                             diagnostic.range, diags, json);
          for (const Finding &finding : result.findings)
            writeSarifResult(finding.rule->id,
                             result.assumptions.severityOf(*finding.rule),
                             finding.what, "", finding.range, diags, json);
        });
      });
    });
  });
  out << '\n';
}
