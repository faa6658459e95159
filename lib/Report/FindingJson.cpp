//===- FindingJson.cpp - findings as JSON ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FindingJson.h"
#include "RecordedReport.h"
#include "lib/Support/Listing.h"

using namespace anec;

static void writePlace(SourceRange range, const Diagnostics &diags,
                       llvm::json::OStream &json) {
  std::optional<SourcePlace> place = diags.locate(range);
  if (!place)
    return;
  json.attribute("file", place->file);
  if (place->line == 0) {
    json.attribute("place", llvm::json::fixUTF8(listedWords(range)));
    return;
  }
  json.attribute("line", place->line);
  json.attribute("column", place->column);
  json.attribute("endLine", place->endLine);
  json.attribute("endColumn", place->endColumn);
}

static void writeTargets(llvm::ArrayRef<const Target *> targets,
                         llvm::json::OStream &json) {
  json.attributeArray("targets", [&] {
    for (const Target *target : targets)
      json.value(target->name);
  });
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
    writeTargets(finding.targets, json);
    json.attribute("impact", spelling(rule.impact));
    json.attribute("severity", spelling(assumptions.severityOf(*finding.rule)));
    writePlace(finding.range, diags, json);
    json.attribute("message", llvm::json::fixUTF8(finding.what));
    if (!finding.also.empty())
      json.attributeArray("also", [&] {
        for (SourceRange range : finding.also)
          json.object([&] { writePlace(range, diags, json); });
      });
    if (!finding.recorded.empty())
      json.attribute("recorded", llvm::json::fixUTF8(finding.recorded));
    json.attribute("summary", rule.summary);
    json.attribute("source", rule.source);
    json.attribute("date", rule.date);
    json.attribute("confidence", spelling(rule.confidence));
    if (!rule.conflict.empty())
      json.attribute("conflict", rule.conflict);
    if (!rule.trial.empty())
      json.attribute("trial", rule.trial);
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
    if (result.targets.size() == 1)
      json.attribute("target", result.targets.front()->name);
    writeTargets(result.targets, json);
    json.attributeArray("findings", [&] {
      for (const Finding &finding : result.findings)
        writeFinding(finding, result.assumptions, diags, json);
    });
    if (!result.known.empty())
      json.attributeArray("known", [&] {
        for (const Finding &finding : result.known)
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
