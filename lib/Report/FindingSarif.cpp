//===- FindingSarif.cpp - findings as SARIF 2.1.0 -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FindingText.h"
#include "lib/Report/FindingReport.h"
#include "lib/Support/Listing.h"
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

/// The contents of a location.
static void writeLocation(SourceRange range, llvm::StringRef file,
                          const Diagnostics &diags, llvm::json::OStream &json) {
  std::optional<SourcePlace> place = diags.locate(range);
  bool hasLines = place && place->line != 0;
  if (place)
    file = place->file;
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
}

/// Other places of a result at most: those who read it have the number.
static constexpr size_t mostRelated = 100;

/// Another place of a result, and what is said of it.
using RelatedPlace = std::pair<SourceRange, llvm::StringRef>;

/// `state` is that of a comparison with a baseline, and empty without one.
/// `others` are more places of the same result.
static void writeSarifResult(llvm::StringRef id, Severity severity,
                             llvm::StringRef message, llvm::StringRef file,
                             SourceRange range, const Diagnostics &diags,
                             llvm::json::OStream &json,
                             llvm::StringRef state = "",
                             llvm::ArrayRef<RelatedPlace> others = {}) {
  json.object([&] {
    json.attribute("ruleId", id);
    json.attribute("level", sarifLevel(severity));
    json.attributeObject("message", [&] {
      json.attribute("text", llvm::json::fixUTF8(message));
    });
    if (!state.empty())
      json.attribute("baselineState", state);
    if (file.empty() && !diags.locate(range))
      return;
    json.attributeArray("locations", [&] {
      json.object([&] { writeLocation(range, file, diags, json); });
    });
    if (others.empty())
      return;
    json.attributeArray("relatedLocations", [&] {
      for (const RelatedPlace &other : others.take_front(mostRelated))
        json.object([&] {
          writeLocation(other.first, file, diags, json);
          json.attributeObject("message", [&] {
            json.attribute("text", llvm::json::fixUTF8(other.second));
          });
        });
    });
    json.attribute("occurrenceCount", int64_t(others.size() + 1));
  });
}

/// A result for each rule, file and set of targets: the places of one fact.
static void writeSarifFindings(llvm::ArrayRef<Finding> findings,
                               const CheckResult &result, llvm::StringRef state,
                               const Diagnostics &diags,
                               llvm::json::OStream &json) {
  for (const auto &[rule, ofRule] : groupByRule(findings)) {
    llvm::MapVector<std::string, std::vector<const Finding *>,
                    std::map<std::string, unsigned>>
        ofFile;
    for (const Finding *finding : ofRule) {
      std::optional<SourcePlace> place = diags.locate(finding->range);
      ofFile[place ? place->file.str() : ""].push_back(finding);
    }
    for (const auto &[file, group] : ofFile) {
      std::string message = group.front()->what;
      if (group.size() > 1)
        message += "; and " + std::to_string(group.size() - 1) + " more";
      if (result.targets.size() != 1)
        message += " (" + listTargets(rule.second) + ")";
      std::vector<RelatedPlace> others;
      for (const Finding *finding : group) {
        if (finding != group.front())
          others.push_back({finding->range, finding->what});
        for (SourceRange range : finding->also)
          others.push_back({range, finding->what});
      }
      writeSarifResult(rule.first->id,
                       result.assumptions.severityOf(*rule.first), message, "",
                       group.front()->range, diags, json, state, others);
    }
  }
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
          writeSarifFindings(result.findings, result,
                             result.hasBaseline ? "new" : "", diags, json);
          writeSarifFindings(result.known, result, "unchanged", diags, json);
        });
      });
    });
  });
  out << '\n';
}
