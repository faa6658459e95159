//===- RunSuites.cpp - measures suites of benchmarks ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Bench/RunSuites.h"
#include "anec/MIL/Printer.h"
#include "lib/Bench/Diags.h"
#include "lib/Bench/SuiteCharts.h"
#include "lib/Bench/SuiteReport.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/FileNames.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

/// Whether `wanted` has the whole `name`, or a part of it that is not the whole
/// name of any row.
static bool isWanted(llvm::StringRef name, llvm::ArrayRef<std::string> wanted,
                     const llvm::StringSet<> &names) {
  return wanted.empty() || llvm::any_of(wanted, [&](llvm::StringRef part) {
           return names.contains(part) ? name == part : name.contains(part);
         });
}

std::vector<SuiteRow> SuiteOptions::rowsOf(const Suite &suite) const {
  std::vector<SuiteRow> all = suite.rows(quick);
  llvm::StringSet<> names;
  for (const SuiteRow &row : all)
    names.insert(row.name(suite.name));
  llvm::erase_if(all, [&](const SuiteRow &row) {
    return !isWanted(row.name(suite.name), rows, names);
  });
  return all;
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

/// Programs have the MIL version of the chip, or that of the generic target.
static SuiteContext contextOf(const SuiteOptions &options) {
  SuiteContext context;
  context.machine = options.machine;
  context.target = options.target;
  if (!context.target && options.machine.isEngine)
    context.target = findTargetOfChip(options.machine.chip);
  const Target &target = context.target ? *context.target : genericTarget();
  context.milVersion = target.milVersion.value.str();
  return context;
}

namespace {
/// Prints the row that is being measured: on a terminal in a line that is
/// overwritten, elsewhere in a line for each row if `linePerRow`.
class RowProgress {
public:
  RowProgress(llvm::raw_ostream &out, bool isTerminal, bool linePerRow)
      : out(out), isTerminal(isTerminal), linePerRow(linePerRow) {}
  void show(const Suite &suite, size_t done, size_t count,
            const SuiteRow &row) {
    clear();
    if (!isTerminal && !linePerRow)
      return;
    out << llvm::formatv("{0}: {1} of {2}: {3} {4}", suite.name, done + 1,
                         count, row.label, describe(row.form()));
    if (!isTerminal)
      out << '\n';
    out.flush();
  }
  void clear() {
    // A carriage return, and erase to the end of the line.
    if (isTerminal)
      out << "\r\x1b[K";
    out.flush();
  }

private:
  llvm::raw_ostream &out;
  bool isTerminal, linePerRow;
};
} // namespace

/// Reports the rows without a figure; returns false when there are any.
static bool reportMissingFigures(llvm::ArrayRef<SuiteReport> reports,
                                 Diagnostics &diags) {
  unsigned rows = 0, wrong = 0, refused = 0, failed = 0;
  for (const SuiteReport &report : reports)
    for (const MeasuredRow &row : report.rows) {
      ++rows;
      wrong += row.result.outcome == RowResult::Wrong;
      refused += row.result.outcome == RowResult::Refused;
      failed += row.result.outcome == RowResult::Failed;
    }
  unsigned missing = wrong + refused + failed;
  if (missing)
    diags.report({}, diag::RowsWithoutFigure, missing, rows, refused, failed,
                 wrong);
  return missing == 0;
}

namespace {
/// Measures suites, and prints each row when it is done.
class SuiteSession {
public:
  SuiteSession(const SuiteOptions &options, llvm::raw_ostream &out,
               RowProgress &progress, Diagnostics &diags)
      : options(options), out(out), progress(progress), diags(diags),
        context(contextOf(options)) {}
  /// Reads the reports to show beside.
  bool start();
  bool measure(const Suite &suite, Backend &backend);
  /// Writes the charts.
  bool finish();

private:
  /// Called after each row, because a later one may end the process.
  bool writeReport();

  const SuiteOptions &options;
  llvm::raw_ostream &out;
  RowProgress &progress;
  Diagnostics &diags;
  SuiteContext context;
  std::vector<SuiteReport> reports;
};
} // namespace

bool SuiteSession::start() {
  for (const std::string &path : options.beside) {
    std::optional<OtherReport> other = readSuiteReport(path, diags);
    if (!other)
      return false;
    context.others.push_back(std::move(*other));
  }
  return true;
}

bool SuiteSession::writeReport() {
  if (options.report.empty())
    return true;
  AtomicFiles files(diags);
  OutputFile *file = files.add(options.report);
  if (!file)
    return false;
  printSuiteReports(reports, context, *file);
  return files.commit();
}

bool SuiteSession::measure(const Suite &suite, Backend &backend) {
  SuiteReport &report = reports.emplace_back();
  report.suite = &suite;
  report.warmup = options.warmup.value_or(options.quick ? 2 : suite.warmup);
  report.iterations =
      options.iterations.value_or(options.quick ? 10 : suite.iterations);
  std::vector<SuiteRow> rows = options.rowsOf(suite);
  if (!options.json && !rows.empty())
    printSuiteHeading(report, context, out);
  MeasureOptions measure{options.load, report.warmup, report.iterations};
  measure.load.milVersion = context.milVersion;
  for (auto [index, row] : llvm::enumerate(rows)) {
    progress.show(suite, index, rows.size(), row);
    std::optional<RowResult> result = measureRow(row, backend, measure, diags);
    progress.clear();
    if (!result)
      return false;
    report.rows.push_back({row, std::move(*result)});
    if (!options.json)
      printSuiteRow(report, report.rows.back(), context, out);
    if (!writeReport())
      return false;
  }
  if (!options.json)
    printOtherFigures(report, context, out);
  return true;
}

bool SuiteSession::finish() {
  if (options.json)
    printSuiteReports(reports, context, out);
  bool isDrawn = options.plots.empty() ||
                 writeSuiteCharts(reports, context, options.plots, diags);
  return reportMissingFigures(reports, diags) && isDrawn;
}

bool anec::runSuites(const SuiteOptions &options, Backend &backend,
                     llvm::raw_ostream &out, llvm::raw_ostream &progressOut,
                     bool isTerminal, Diagnostics &diags) {
  RowProgress progress(progressOut, isTerminal, options.json);
  SuiteSession session(options, out, progress, diags);
  if (!session.start())
    return false;
  for (const Suite *suite : options.suites)
    if (!session.measure(*suite, backend))
      return false;
  return session.finish();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

bool anec::emitSuites(const SuiteOptions &options, llvm::StringRef folder,
                      llvm::raw_ostream &out, Diagnostics &diags) {
  SuiteContext context = contextOf(options);
  FileNames names;
  for (const Suite *suite : options.suites)
    for (const SuiteRow &row : options.rowsOf(*suite))
      for (auto [index, kernel] : llvm::enumerate(row.kernels)) {
        std::string name = row.name(suite->name);
        if (row.kernels.size() > 1)
          name += "-" + std::to_string(index + 1);
        name = names.addStem(name, ".mil") + ".mil";
        std::unique_ptr<Module> module =
            buildKernel(kernel, context.milVersion);
        MILPrintOptions print;
        print.version = context.milVersion;
        print.mostWeightFiles = options.mostWeightFiles;
        if (!writeMIL(*module, folder, name, print, diags))
          return false;
        llvm::SmallString<128> path(folder);
        llvm::sys::path::append(path, name);
        out << path << '\n';
        out.flush();
      }
  return true;
}

void anec::listSuites(const SuiteOptions &options, llvm::raw_ostream &out) {
  for (const Suite *suite : options.suites) {
    out << suite->name << ": " << suite->summary << "\n  " << suite->warmup
        << " runs to warm up, " << suite->iterations << " timed\n";
    for (const SuiteRow &row : options.rowsOf(*suite))
      out << llvm::formatv(
          "    {0,-56} {1,9:f2} MB {2,9:f2} GFLOP\n", row.name(suite->name),
          double(row.weightBytes()) * 1e-6, double(row.flops()) * 1e-9);
  }
}
