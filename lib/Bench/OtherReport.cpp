//===- OtherReport.cpp - figures of another report ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Bench/OtherReport.h"
#include "lib/Bench/Diags.h"
#include "lib/Support/Json.h"

using namespace anec;
namespace json = llvm::json;

const OtherReport::Figure *OtherReport::find(const Suite &suite,
                                             const SuiteRow &row) const {
  for (const Figure &figure : figures)
    if (figure.suite == suite.name && figure.label == row.label &&
        figure.form == spelling(row.form()))
      return &figure;
  return nullptr;
}

namespace {

struct RowInFile {
  std::string row, form, outcome;
  std::optional<double> medianMs, teraflops;
};
struct SuiteInFile {
  std::string suite;
  std::vector<RowInFile> rows;
};
struct ReportInFile {
  int64_t benchmark = 0;
  std::string chip, backend;
  std::optional<std::string> path;
  std::vector<SuiteInFile> suites;
};

bool fromJSON(const json::Value &value, RowInFile &row, json::Path path) {
  json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("row", row.row) && mapper.map("form", row.form) &&
         mapper.map("outcome", row.outcome) &&
         mapper.mapOptional("median_ms", row.medianMs) &&
         mapper.mapOptional("tflops", row.teraflops);
}

bool fromJSON(const json::Value &value, SuiteInFile &suite, json::Path path) {
  json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("suite", suite.suite) &&
         mapper.map("rows", suite.rows);
}

bool fromJSON(const json::Value &value, ReportInFile &report, json::Path path) {
  json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("benchmark", report.benchmark) &&
         mapper.map("chip", report.chip) &&
         mapper.map("backend", report.backend) &&
         mapper.mapOptional("path", report.path) &&
         mapper.map("suites", report.suites);
}

} // namespace

std::optional<OtherReport> anec::readSuiteReport(llvm::StringRef path,
                                                 Diagnostics &diags) {
  std::optional<json::Value> value = readJson(path, diag::NoBenchmark, diags);
  if (!value)
    return std::nullopt;
  ReportInFile read;
  json::Path::Root root("report");
  if (!fromJSON(*value, read, root)) {
    diags.reportFile(path, diag::NoBenchmark, llvm::toString(root.getError()));
    return std::nullopt;
  }
  OtherReport report;
  report.machine = read.chip + ", " + read.backend;
  if (read.path)
    report.machine += " by " + *read.path;
  for (const SuiteInFile &suite : read.suites)
    for (const RowInFile &row : suite.rows)
      if (row.outcome == "measured" && row.medianMs && row.teraflops)
        report.figures.push_back(
            {suite.suite, row.row, row.form, *row.medianMs, *row.teraflops});
  return report;
}
