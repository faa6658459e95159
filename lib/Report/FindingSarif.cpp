//===- FindingSarif.cpp - findings as SARIF 2.1.0 -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Report/FindingReport.h"
#include "anec/Support/Listing.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace anec;

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

/// `path` as a reference: relative to what the reader of the log chooses.
static std::string uriOf(llvm::StringRef path) {
  std::string uri = path.starts_with("/") ? "file://" : "";
  for (char c : path)
    if (llvm::isAlnum(c) || llvm::StringRef("-._~/").contains(c))
      uri += c;
    else
      uri += {'%', llvm::hexdigit(uint8_t(c) >> 4), llvm::hexdigit(c & 15)};
  return uri;
}

/// `state` is that of a comparison with a baseline, and empty without one.
static void writeSarifResult(llvm::StringRef id, Severity severity,
                             llvm::StringRef message, llvm::StringRef file,
                             SourceRange range, const Diagnostics &diags,
                             llvm::json::OStream &json,
                             llvm::StringRef state = "") {
  std::optional<SourcePlace> place = diags.locate(range);
  bool hasLines = place && place->line != 0;
  json.object([&] {
    json.attribute("ruleId", id);
    json.attribute("level", sarifLevel(severity));
    json.attributeObject("message", [&] {
      json.attribute("text", llvm::json::fixUTF8(message));
    });
    if (!state.empty())
      json.attribute("baselineState", state);
    if (place)
      file = place->file;
    if (file.empty())
      return;
    json.attributeArray("locations", [&] {
      json.object([&] {
        json.attributeObject("physicalLocation", [&] {
          json.attributeObject("artifactLocation",
                               [&] { json.attribute("uri", uriOf(file)); });
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

static void writeSarifFinding(const Finding &finding, const CheckResult &result,
                              llvm::StringRef state, const Diagnostics &diags,
                              llvm::json::OStream &json) {
  std::string message = finding.what;
  if (result.targets.size() != 1)
    message += " (" + listTargets(finding.targets) + ")";
  writeSarifResult(finding.rule->id,
                   result.assumptions.severityOf(*finding.rule), message, "",
                   finding.range, diags, json, state);
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
            writeSarifFinding(finding, result, result.hasBaseline ? "new" : "",
                              diags, json);
          for (const Finding &finding : result.known)
            writeSarifFinding(finding, result, "unchanged", diags, json);
        });
      });
    });
  });
  out << '\n';
}
