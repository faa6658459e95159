//===- ErrorReport.cpp - errors of a log, explained -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/ErrorReport.h"
#include "FindingJson.h"
#include "FindingText.h"
#include "anec/Report/ErrorDescription.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;

/// The errors of the log that breaking `rule` can cause.
static std::vector<llvm::StringRef> errorsOf(const Rule &rule,
                                             const ErrorLog &log) {
  std::vector<llvm::StringRef> ids;
  for (const LoggedError &logged : log.errors)
    if (logged.error->isCausedBy(rule))
      ids.push_back(logged.error->id);
  return ids;
}

std::vector<Finding> ExplainedLog::causes() const {
  std::vector<Finding> causes;
  for (const Finding &finding : check.findings)
    if (!errorsOf(*finding.rule, log).empty())
      causes.push_back(finding);
  return causes;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static void printLines(const LoggedLines &lines, llvm::raw_ostream &out) {
  out << "  " << lines.excerpt << '\n';
  if (lines.count > 1)
    out << "note: in " << lines.count << " lines, the last is " << lines.last
        << '\n';
}

/// Prints which of the error's rules the program breaks.
static void printBroken(const KnownError &error, const ExplainedLog &explained,
                        llvm::raw_ostream &out) {
  llvm::SetVector<llvm::StringRef> broken;
  for (const Finding &finding : explained.check.findings)
    if (error.isCausedBy(*finding.rule))
      broken.insert(finding.rule->id);
  size_t rules = rulesOf(error).size();
  if (!rules)
    return;
  out << "note: " << explained.program << " breaks ";
  if (broken.empty())
    out << "none of these rules\n";
  else
    out << broken.size()
        << " of them: " << llvm::join(broken.getArrayRef(), ", ") << '\n';
}

static void printError(const LoggedError &logged, const ExplainedLog &explained,
                       llvm::raw_ostream &out) {
  const KnownError &error = *logged.error;
  out << explained.path << ':' << logged.first << ": "
      << (error.isVague() ? "remark" : "error") << ": " << error.summary << " ["
      << error.id << "]\n";
  printLines(logged, out);
  out << "note: cause: " << error.cause << '\n'
      << "note: remedy: " << error.remedy << '\n';
  if (std::string rules = describeRules(error); !rules.empty())
    out << "note: rules: " << rules << '\n';
  if (!explained.program.empty())
    printBroken(error, explained, out);
  out << "note: from " << error.source << " (" << spelling(error.confidence)
      << " confidence)\n";
  if (!error.conflict.empty())
    out << "note: but " << error.conflict << '\n';
}

static void printUnknown(const ExplainedLog &explained,
                         llvm::raw_ostream &out) {
  const ErrorLog &log = explained.log;
  uint64_t shown = 0;
  for (const LoggedLines &lines : log.unknown) {
    out << explained.path << ':' << lines.first
        << ": warning: an error that is not known [unknown-error]\n";
    printLines(lines, out);
    shown += lines.count;
  }
  if (shown < log.unknownLines) {
    out << "note: ";
    printCount(out, log.unknownLines - shown, "more unknown line");
    out << '\n';
  }
}

/// Prints how much of what was found is not shown, and why.
static void printLeftOut(const ExplainedLog &explained,
                         llvm::raw_ostream &out) {
  if (uint64_t vaguer = explained.log.vaguer) {
    out << "note: not shown: ";
    printCount(out, vaguer, "vaguer error");
    out << " of lines that say more\n";
  }
  if (size_t others = explained.program.empty() ? 0 : explained.others()) {
    out << "note: not shown: ";
    printCount(out, others, "finding");
    out << " in " << explained.program << " that can cause none of the errors; "
        << "`anec check` shows them\n";
  }
}

/// Reports the findings that can cause errors of the log, by rule.
static void reportCauses(const ExplainedLog &explained, Diagnostics &diags) {
  std::vector<Finding> causes = explained.causes();
  for (Finding &finding : causes)
    finding.what += "; it can cause " +
                    llvm::join(errorsOf(*finding.rule, explained.log), ", ");
  reportGroups(groupByRule(causes), explained.check.assumptions, diags,
               explained.check.targets);
}

void anec::printErrors(const ExplainedLog &explained, Diagnostics &diags,
                       llvm::raw_ostream &out) {
  for (const LoggedError &logged : explained.log.errors)
    printError(logged, explained, out);
  printUnknown(explained, out);
  reportCauses(explained, diags);
  diags.print(out, out.has_colors());
  printLeftOut(explained, out);
  out << explained.path << ": ";
  printCount(out, explained.log.lines, "line");
  out << ", ";
  printCount(out, explained.log.errors.size(), "known error");
  out << ", ";
  printCount(out, explained.log.unknownLines, "unknown line");
  out << '\n';
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void writeLines(const LoggedLines &lines, llvm::json::OStream &json) {
  json.attribute("count", int64_t(lines.count));
  json.attribute("firstLine", int64_t(lines.first));
  json.attribute("lastLine", int64_t(lines.last));
  json.attribute("text", llvm::json::fixUTF8(lines.excerpt));
}

static void writeError(const LoggedError &logged, llvm::json::OStream &json) {
  const KnownError &error = *logged.error;
  json.object([&] {
    json.attribute("id", error.id);
    json.attribute("family", error.family);
    json.attribute("vague", error.isVague());
    json.attribute("transient", error.isTransient);
    writeLines(logged, json);
    json.attribute("summary", error.summary);
    json.attribute("cause", error.cause);
    json.attribute("remedy", error.remedy);
    json.attributeArray("rules", [&] {
      for (const Rule *rule : rulesOf(error))
        json.value(rule->id);
    });
    json.attribute("source", error.source);
    json.attribute("date", error.date);
    json.attribute("confidence", spelling(error.confidence));
    if (!error.conflict.empty())
      json.attribute("conflict", error.conflict);
  });
}

void anec::printErrorsJson(const ExplainedLog &explained,
                           const Diagnostics &diags, llvm::raw_ostream &out) {
  llvm::json::OStream json(out, 2);
  const ErrorLog &log = explained.log;
  json.object([&] {
    json.attribute("log", llvm::json::fixUTF8(explained.path));
    json.attribute("lines", int64_t(log.lines));
    json.attributeArray("errors", [&] {
      for (const LoggedError &logged : log.errors)
        writeError(logged, json);
    });
    json.attribute("unknownLines", int64_t(log.unknownLines));
    json.attributeArray("unknown", [&] {
      for (const LoggedLines &lines : log.unknown)
        json.object([&] { writeLines(lines, json); });
    });
    json.attribute("vaguer", int64_t(log.vaguer));
    if (explained.program.empty())
      return;
    json.attribute("program", llvm::json::fixUTF8(explained.program));
    json.attribute("target", explained.check.targets.front()->name);
    json.attributeArray("findings", [&] {
      for (const Finding &finding : explained.causes())
        writeFinding(finding, explained.check.assumptions, diags, json,
                     errorsOf(*finding.rule, log));
    });
    json.attribute("otherFindings", int64_t(explained.others()));
    json.attributeArray("diagnostics", [&] {
      for (const Diagnostic &diagnostic : diags.all())
        writeDiagnostic(diagnostic, diags, json);
    });
  });
  out << '\n';
}
