//===- RuleParagraph.cpp - a broken rule as a paragraph -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RuleParagraph.h"
#include "WrappedText.h"
#include "lib/Support/Listing.h"
#include "lib/Support/ShownText.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/WithColor.h"
#include <fmt/format.h>
#include <map>
#include <set>

using namespace anec;

//===----------------------------------------------------------------------===//
// What is said
//===----------------------------------------------------------------------===//

using OfRule = std::vector<const Finding *>;

static size_t countPlaces(llvm::ArrayRef<const Finding *> findings,
                          const Target *target) {
  size_t count = 0;
  for (const Finding *finding : findings)
    if (llvm::is_contained(finding->targets, target))
      count += 1 + finding->also.size();
  return count;
}

/// `Found for m1 only.`, or `Found for m1 at 4 places, for m4 at 2.`; empty
/// when all targets have all findings.
static std::string describeTargets(llvm::ArrayRef<const Finding *> findings,
                                   llvm::ArrayRef<const Target *> targets) {
  std::vector<const Target *> having;
  std::string counts;
  bool isSame = true;
  size_t first = 0;
  for (const Target *target : targets) {
    size_t count = countPlaces(findings, target);
    if (count == 0)
      continue;
    first = having.empty() ? count : first;
    isSame &= count == first;
    counts += fmt::format("{}for {} at {}{}", having.empty() ? "" : ", ",
                          target->name.str(), count,
                          having.empty() && count > 1    ? " places"
                          : having.empty() && count == 1 ? " place"
                                                         : "");
    having.push_back(target);
  }
  if (!isSame)
    return "Found " + counts + ". ";
  return having.size() == targets.size()
             ? ""
             : "Found for " + listTargets(having) + " only. ";
}

/// Where the rule holds, what it says, and who says so. The sources of remarks
/// are left out unless `isFull`.
static std::string describeRule(const Rule &rule, bool isFull) {
  std::string chips =
      rule.chips == ChipSet::all() ? "all chips" : rule.chips.str();
  std::string text = "On " + chips;
  if (rule.macOS.isKnown())
    text += " with macOS " + rule.macOS.str();
  text += ", " + rule.summary.str();
  if (isFull)
    text += "; from " + rule.source.str();
  text += " (" + spelling(rule.confidence).str() + " confidence";
  if (!isFull && !rule.conflict.empty())
    text += ", disputed";
  text += "). ";
  if (isFull && !rule.conflict.empty())
    text += "But " + rule.conflict.str() + "; `--assume=" + rule.id.str() +
            "=allow` switches the rule off. ";
  if (isFull && !rule.trial.empty())
    text += "Recorded: " + rule.trial.str() + ". ";
  return text;
}

static bool isSamePlace(SourceRange lhs, SourceRange rhs) {
  return lhs.Start == rhs.Start && lhs.End == rhs.End;
}

/// The places of the findings. Findings of several targets can have the same,
/// of which each is there once, or for All once for each text.
static std::vector<RuleParagraph::Place>
placesOf(llvm::ArrayRef<const Finding *> findings, FindingDetail detail) {
  std::vector<RuleParagraph::Place> places;
  std::set<std::pair<const char *, const char *>> known;
  auto add = [&](SourceRange range, llvm::StringRef what) {
    bool isNew =
        known.insert({range.Start.getPointer(), range.End.getPointer()}).second;
    if (isNew || (detail == FindingDetail::All && !what.empty()))
      places.push_back({range, what.str()});
  };
  for (const Finding *finding : findings) {
    add(finding->range, finding->what);
    for (SourceRange range : finding->also)
      add(range, "");
  }
  return places;
}

/// `For m4, the kernel is 17 wide; 15 is the most. `: what is said of the first
/// place for other targets.
static std::string
describeOtherTargets(llvm::ArrayRef<const Finding *> findings) {
  const Finding &first = *findings.front();
  std::string text;
  for (const Finding *finding : findings.drop_front())
    if (isSamePlace(finding->range, first.range) &&
        finding->what != first.what && finding->targets != first.targets)
      text +=
          "For " + listTargets(finding->targets) + ", " + finding->what + ". ";
  return text;
}

static RuleParagraph paragraphOf(llvm::ArrayRef<const Finding *> findings,
                                 const CheckResult &result,
                                 FindingDetail detail) {
  const Rule &rule = *findings.front()->rule;
  RuleParagraph paragraph{result.assumptions.severityOf(rule), rule.id, {}, ""};
  paragraph.places = placesOf(findings, detail);
  bool isFull =
      detail == FindingDetail::All || paragraph.severity != Severity::Remark;
  if (detail == FindingDetail::ByRule)
    paragraph.text = describeOtherTargets(findings);
  paragraph.text +=
      describeTargets(findings, result.targets) + describeRule(rule, isFull);
  if (const std::string &recorded = findings.front()->recorded;
      !recorded.empty())
    paragraph.text +=
        "According to Core ML's compiler, this op is " + recorded + ". ";
  paragraph.text += "Instead: " + rule.advice.str() + ".";
  return paragraph;
}

std::vector<RuleParagraph> anec::paragraphsOf(const CheckResult &result,
                                              FindingDetail detail) {
  llvm::MapVector<const Rule *, OfRule, std::map<const Rule *, unsigned>> rules;
  for (const Finding &finding : result.findings)
    rules[finding.rule].push_back(&finding);
  std::vector<RuleParagraph> paragraphs;
  for (const auto &[rule, findings] : rules)
    paragraphs.push_back(paragraphOf(findings, result, detail));
  llvm::stable_sort(paragraphs, [](const auto &lhs, const auto &rhs) {
    return lhs.severity < rhs.severity;
  });
  return paragraphs;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// `file:12:5`, or what a file without lines has there: `node `conv_1` (Conv)`.
static std::string nameOf(SourceRange range, const Diagnostics &diags) {
  std::optional<SourcePlace> place = diags.locate(range);
  if (!place)
    return "";
  if (place->line == 0)
    return listedWords(range).str();
  return fmt::format("{}:{}:{}", place->file.str(), place->line, place->column);
}

/// The places after the first, by name: each name once, with how many places it
/// has. Those of the first one's name come first.
static llvm::MapVector<std::string, size_t, std::map<std::string, unsigned>>
namePlaces(const RuleParagraph &paragraph, const Diagnostics &diags) {
  llvm::MapVector<std::string, size_t, std::map<std::string, unsigned>> names;
  for (const RuleParagraph::Place &place : paragraph.places)
    ++names[nameOf(place.range, diags)];
  return names;
}

/// The beginning of the words of places in a program's only function.
static llvm::StringRef functionOf(llvm::StringRef words) {
  size_t end = words.find("`, ");
  return words.starts_with("in function `") && end != llvm::StringRef::npos
             ? words.take_front(end + 3)
             : "";
}

/// `From model.py:14, in forward. `, for a file without lines that says
/// where its first place comes from.
static std::string describeOrigin(const RuleParagraph &paragraph,
                                  const Diagnostics &diags) {
  SourceRange range = paragraph.places.front().range;
  std::optional<SourcePlace> place = diags.locate(range);
  if (!place || place->line != 0 || listedOrigin(range).empty())
    return "";
  return ("From " + listedOrigin(range) + ". ").str();
}

/// `Also at A, B and 5 more places. `
static std::string describePlaces(const RuleParagraph &paragraph,
                                  const Diagnostics &diags) {
  constexpr size_t mostNamed = 3; // with the first
  auto names = namePlaces(paragraph, diags);
  llvm::StringRef function = functionOf(names.begin()->first);
  std::vector<std::string> shown;
  size_t left = paragraph.places.size();
  for (const auto &[name, count] : names) {
    if (shown.size() == mostNamed)
      break;
    left -= count;
    llvm::StringRef rest = name;
    rest.consume_front(function);
    shown.push_back(rest.str());
  }
  if (left)
    shown.push_back(std::to_string(left) + " more");
  if (shown.size() == 1)
    return "";
  std::string text = "Also at " + shown[1];
  for (size_t i = 2; i < shown.size(); ++i)
    text += (i + 1 == shown.size() ? " and " : ", ") + shown[i];
  return text + ". ";
}

static llvm::SourceMgr::DiagKind kindOf(Severity severity) {
  return severity == Severity::Error     ? llvm::SourceMgr::DK_Error
         : severity == Severity::Warning ? llvm::SourceMgr::DK_Warning
                                         : llvm::SourceMgr::DK_Remark;
}

/// The line of a text that has `place` at `range`, without its end.
static llvm::StringRef lineAt(SourceRange range, const SourcePlace &place) {
  const char *begin = range.Start.getPointer() - (place.column - 1);
  const char *end = range.Start.getPointer();
  // Texts end with a zero.
  while (*end && *end != '\n' && *end != '\r')
    ++end;
  return {begin, size_t(end - begin)};
}

/// `file:12:5: warning: message`, as compilers print it.
static void printHead(llvm::StringRef place, Severity severity,
                      llvm::StringRef message, bool colors,
                      llvm::raw_ostream &out) {
  llvm::SMDiagnostic(place, kindOf(severity), message)
      .print(nullptr, out, colors);
}

/// The same for a place in a text, and its line if it fits.
static void printLine(const SourcePlace &place, SourceRange range,
                      Severity severity, llvm::StringRef message,
                      const ReportStyle &style, llvm::raw_ostream &out) {
  llvm::StringRef line = lineAt(range, place);
  unsigned begin = place.column - 1;
  unsigned end =
      place.endLine == place.line ? place.endColumn - 1 : unsigned(line.size());
  if (line.empty() || columnsOf(line) > style.width || !isShownLine(line) ||
      hasControl(place.file))
    return printHead(
        fmt::format("{}:{}:{}", showText(place.file), place.line, place.column),
        severity, message, style.colors, out);
  std::vector<std::pair<unsigned, unsigned>> underlined;
  if (end > begin)
    underlined.push_back({begin, end});
  llvm::SourceMgr none;
  llvm::SMDiagnostic(none, range.Start, place.file, int(place.line), int(begin),
                     kindOf(severity), message, line, underlined)
      .print(nullptr, out, style.colors);
}

/// The file that was checked, of which the file at `path` is a part.
static llvm::StringRef checkedFile(llvm::StringRef path,
                                   llvm::ArrayRef<std::string> files) {
  for (llvm::StringRef file : files)
    if (llvm::StringRef rest = path;
        rest.consume_front(file.rtrim('/')) && rest.starts_with("/"))
      return file;
  return path;
}

static void printRange(SourceRange range, Severity severity,
                       llvm::StringRef what, const ReportStyle &style,
                       const Diagnostics &diags, llvm::raw_ostream &out) {
  std::optional<SourcePlace> place = diags.locate(range);
  std::string message = showText(what);
  if (!place)
    return printHead("", severity, message, style.colors, out);
  if (place->line != 0)
    return printLine(*place, range, severity, message, style, out);
  std::string words = showText(listedWords(range));
  std::string text = llvm::StringRef(message).starts_with(words)
                         ? message
                         : words + ": " + message;
  printHead(showText(checkedFile(place->file, style.files)), severity, text,
            style.colors, out);
}

void anec::printParagraph(const RuleParagraph &paragraph, FindingDetail detail,
                          const ReportStyle &style, const Diagnostics &diags,
                          llvm::raw_ostream &out) {
  std::string id = " [" + paragraph.id.str() + "]";
  printRange(paragraph.places.front().range, paragraph.severity,
             paragraph.places.front().what + id, style, diags, out);
  std::string text = describeOrigin(paragraph, diags);
  if (detail == FindingDetail::ByRule)
    text += describePlaces(paragraph, diags);
  else
    for (const RuleParagraph::Place &place :
         llvm::ArrayRef(paragraph.places).drop_front())
      printRange(place.range, paragraph.severity,
                 (place.what.empty() ? "the same" : place.what) + id, style,
                 diags, out);
  constexpr size_t indent = 2;
  printWrapped(showText(text + paragraph.text), style.width, indent, out);
}
