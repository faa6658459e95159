//===- OutlookTable.cpp - what chips make of programs, printed ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "OutlookTable.h"
#include "WrappedText.h"
#include "lib/Support/ShownText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <array>
#include <cmath>
#include <fmt/format.h>

using namespace anec;

/// Rules and times of a row at most; `check` lists all rules below.
static constexpr size_t mostListed = 3;

/// `a, b, c and 2 more`.
static std::string listFirst(llvm::ArrayRef<std::string> words) {
  std::string text = llvm::join(words.take_front(mostListed), ", ");
  if (words.size() > mostListed)
    text += fmt::format(" and {} more", words.size() - mostListed);
  return text;
}

static bool onlyCorrupts(const Outlook &outlook) {
  return llvm::all_of(outlook.refusals, [](const Rule *rule) {
    return rule->impact == Impact::SilentCorruption;
  });
}

static std::string describeRefusals(const Outlook &outlook) {
  std::vector<std::string> ids;
  for (const Rule *rule : outlook.refusals)
    ids.push_back(rule->id.str());
  return (onlyCorrupts(outlook) ? "wrong results: " : "refused: ") +
         listFirst(ids);
}

/// `72 ops`, or `72 ops of 3 programs`.
static std::string describeOps(const Outlook &outlook) {
  std::string text =
      fmt::format("{} op{}", outlook.ops, outlook.ops == 1 ? "" : "s");
  if (outlook.programs > 1)
    text += fmt::format(" of {} programs", outlook.programs);
  return text;
}

/// Of a program that is taken.
static std::string describeEngine(const Outlook &outlook) {
  if (outlook.leaving == 0)
    return (outlook.ops == 1 ? "" : "all ") + describeOps(outlook) +
           " on the engine";
  return fmt::format("{} of {} on the engine, {} light at its ends",
                     outlook.ops - outlook.leaving, describeOps(outlook),
                     outlook.light);
}

static std::string describeVerdict(const Outlook &outlook) {
  if (!outlook.refusals.empty())
    return describeRefusals(outlook);
  if (!outlook.isRead)
    return "not checked: see the errors";
  if (outlook.ops == 0)
    return "no op for the engine";
  if (outlook.leaving == outlook.light)
    return describeEngine(outlook) +
           (outlook.warnings == 0
                ? ""
                : fmt::format("; {} warning{}", outlook.warnings,
                              outlook.warnings == 1 ? "" : "s"));
  std::string text =
      fmt::format("{} of {} leave{} the engine", outlook.leaving,
                  describeOps(outlook), outlook.leaving == 1 ? "s" : "");
  if (outlook.light)
    text += fmt::format(", {} of them light", outlook.light);
  return text;
}

/// Two digits that count, without an exponent: `0.0071`, `12`, `430`.
static std::string twoDigits(double value) {
  if (value < 10)
    return fmt::format("{:.2g}", value);
  double unit = std::pow(10, std::floor(std::log10(value)) - 1);
  return fmt::format("{:.0f}", std::round(value / unit) * unit);
}

/// `0.0071 ms (0.003 to 0.01)`, `12 ms` or `1.3 s`.
static std::string formatTime(const Outlook::Time &time, bool hasRange) {
  bool isLong = time.total >= 1e6;
  double unit = isLong ? 1e6 : 1e3;
  std::string text = twoDigits(time.total / unit) + (isLong ? " s" : " ms");
  if (hasRange)
    text += " (" + twoDigits(time.least / unit) + " to " +
            twoDigits(time.most / unit) + ")";
  return text;
}

static std::string describeTimes(const Outlook &outlook) {
  if (!outlook.isRead || !outlook.refusals.empty() || outlook.times.empty())
    return "-";
  std::string moves = outlook.leaving > outlook.light ? ", and moves" : "";
  if (outlook.times.size() == 1)
    return formatTime(outlook.times.front(), /*hasRange=*/true) + moves;
  std::vector<std::string> texts;
  for (const Outlook::Time &time : outlook.times)
    texts.push_back(time.name + " " + formatTime(time, /*hasRange=*/false));
  return listFirst(texts) + moves;
}

static llvm::raw_ostream::Colors colorOf(const Outlook &outlook) {
  if (!outlook.isRead || !outlook.refusals.empty())
    return llvm::raw_ostream::RED;
  return outlook.leaving > outlook.light || outlook.warnings
             ? llvm::raw_ostream::MAGENTA
             : llvm::raw_ostream::GREEN;
}

void anec::printOutlooks(llvm::ArrayRef<Outlook> outlooks, bool colors,
                         llvm::raw_ostream &out) {
  using Row = std::array<std::string, 4>;
  std::vector<Row> rows = {{"file", "chip", "verdict", "predicted time"}};
  bool hasFiles = false;
  for (const Outlook &one : outlooks) {
    rows.push_back({showText(one.file), one.target->name.str(),
                    describeVerdict(one), describeTimes(one)});
    hasFiles |= one.file != outlooks.front().file;
  }
  std::array<size_t, 4> widths = {};
  for (const Row &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], columnsOf(row[i]));
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t column = hasFiles ? 0 : 1; column < 3; ++column) {
      bool isColored = colors && (i == 0 || column == 2);
      if (isColored)
        out.changeColor(i == 0 ? llvm::raw_ostream::SAVEDCOLOR
                               : colorOf(outlooks[i - 1]),
                        /*Bold=*/true);
      printPadded(rows[i][column], widths[column], out);
      if (isColored)
        out.resetColor();
      out << "  ";
    }
    out << rows[i][3] << '\n';
  }
}
