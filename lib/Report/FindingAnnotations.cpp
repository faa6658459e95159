//===- FindingAnnotations.cpp - findings beside lines on GitHub -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FindingText.h"
#include "lib/Report/FindingReport.h"
#include "lib/Support/Listing.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;

/// Writes `text` with the escapes of workflow commands; `in` has the characters
/// that end a property.
static void writeEscaped(llvm::StringRef text, llvm::StringRef in,
                         llvm::raw_ostream &out) {
  for (char c : text)
    if (c == '%' || c == '\n' || c == '\r' || in.contains(c))
      out << '%' << llvm::hexdigit(uint8_t(c) >> 4) << llvm::hexdigit(c & 15);
    else
      out << c;
}

static void writeProperty(llvm::StringRef name, llvm::StringRef value,
                          llvm::raw_ostream &out) {
  out << name << '=';
  writeEscaped(value, ":,", out);
}

static llvm::StringRef commandOf(Severity severity) {
  return severity == Severity::Error     ? "error"
         : severity == Severity::Warning ? "warning"
                                         : "notice";
}

/// An annotation of the place of `range`, or else of `file`.
static void annotate(llvm::StringRef id, Severity severity,
                     llvm::StringRef message, SourceRange range,
                     llvm::StringRef file, const Diagnostics &diags,
                     llvm::raw_ostream &out) {
  std::optional<SourcePlace> place = diags.locate(range);
  std::string text = message.str();
  out << "::" << commandOf(severity) << ' ';
  if (place && place->line == 0)
    text = (listedWords(range) + ": " + text).str();
  if (place)
    file = place->file;
  if (!file.empty()) {
    writeProperty("file", file, out);
    out << ',';
  }
  if (place && place->line != 0)
    out << "line=" << place->line << ",endLine=" << place->endLine
        << ",col=" << place->column << ",endColumn=" << place->endColumn << ',';
  writeProperty("title", "anec: " + id.str(), out);
  out << "::";
  writeEscaped(text, "", out);
  out << '\n';
}

static void annotate(const Finding &finding,
                     llvm::ArrayRef<const Finding *> others,
                     const CheckResult &result, const Diagnostics &diags,
                     llvm::raw_ostream &out) {
  std::string text = finding.what;
  if (finding.targets.size() < result.targets.size())
    text += "\nfound for " + listTargets(finding.targets) + " only";
  std::vector<SourceRange> ranges = otherPlaces(finding, others);
  if (!ranges.empty())
    text += "\n" + std::to_string(ranges.size()) +
            " more: " + listPlaces(ranges, finding.range, diags);
  text += "\ninstead: " + finding.rule->advice.str();
  annotate(finding.rule->id, result.assumptions.severityOf(*finding.rule), text,
           finding.range, "", diags, out);
}

void anec::printFindingAnnotations(const CheckResult &result,
                                   FindingDetail detail,
                                   const Diagnostics &diags,
                                   llvm::raw_ostream &out) {
  std::array<size_t, 4> others = {};
  for (const Diagnostic &diagnostic : diags.all()) {
    ++others[size_t(diagnostic.severity())];
    annotate(diagnostic.kind->id, diagnostic.severity(), diagnostic.message,
             diagnostic.range, diagnostic.file, diags, out);
  }
  if (detail == FindingDetail::ByRule)
    for (const auto &[rule, findings] : groupBySeverity(result))
      annotate(*findings.front(), llvm::ArrayRef(findings).drop_front(), result,
               diags, out);
  else
    for (const Finding &finding : result.findings)
      annotate(finding, {}, result, diags, out);
  printTotals(result, others, out);
}
