//===- SuiteFlags.cpp - flags of suites -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SuiteFlags.h"
#include "../FlagErrors.h"
#include "lib/Support/Endings.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Process.h"

using namespace anec;
namespace cl = llvm::cl;

static const Suite *findSuite(llvm::StringRef name) {
  for (const Suite *suite : allSuites())
    if (suite->name == name)
      return suite;
  return nullptr;
}

static std::string suiteNames() {
  std::vector<std::string> names;
  for (const Suite *suite : allSuites())
    names.push_back(suite->name.str());
  return llvm::join(names, "|");
}

static std::string nearestSuite(llvm::StringRef name) {
  Suggestion suggestion(name);
  for (const Suite *suite : allSuites())
    suggestion.consider(suite->name);
  return didYouMean(suggestion);
}

SuiteFlags::SuiteFlags()
    : names(
          "suite", cl::value_desc("NAME"), cl::CommaSeparated,
          cl::desc(
              "Instead of a program, time the kernels of peak, sram, dispatch, "
              "conv-vs-matmul, int8, or all, and check their outputs")),
      rows("row", cl::value_desc("TEXT"),
           cl::desc("Run only the rows of a suite whose names contain TEXT "
                    "(see --list); can be repeated")),
      beside("beside", cl::value_desc("FILE.json"),
             cl::desc("Also show the results of another report (-o) for the "
                      "same rows; can be repeated")),
      list("list", cl::desc("Print the suites and their rows")),
      quick("quick",
            cl::desc("Run only a few small rows of a suite, a few times each")),
      emit("emit", cl::value_desc("FOLDER"),
           cl::desc("Write the programs of a suite to FOLDER instead of "
                    "running them")),
      target("target", cl::value_desc("CHIP"),
             cl::desc("The chip whose MIL dialect and peak rate a suite uses "
                      "(default: this one)")),
      report(
          "o", cl::value_desc("FILE.json"),
          cl::desc(
              "Write the measurements of a suite to FILE.json, for sharing")),
      plots(
          "plot", cl::value_desc("FOLDER"),
          cl::desc("Plot the measurements of each suite to FOLDER/SUITE.svg")) {
}

std::string SuiteFlags::check() const {
  if (!isGiven()) {
    if (rows.empty() && !quick && emit.empty() && target.empty() &&
        report.empty() && plots.empty() && beside.empty())
      return "";
    return "--row, --beside, --quick, --emit, --target, --plot and -o require "
           "--suite";
  }
  for (const std::string &name : names)
    if (name != "all" && !findSuite(name))
      return "--suite takes " + suiteNames() + "|all, not `" + name + "`" +
             nearestSuite(name);
  if (std::string wrong = wrongEnding(report, {".json"});
      !report.empty() && !wrong.empty())
    return "-o: " + wrong;
  if (!target.empty() && !findTarget(target))
    return noTarget(target);
  return "";
}

ExitCode SuiteFlags::run(SuiteOptions options, const BackendChoice &backend,
                         const Invocation &call) const {
  bool isAll = names.empty() || llvm::is_contained(names, "all");
  for (const Suite *suite : allSuites())
    if (isAll || llvm::is_contained(names, suite->name))
      options.suites.push_back(suite);
  options.rows = {rows.begin(), rows.end()};
  options.beside = {beside.begin(), beside.end()};
  options.quick = quick;
  options.report = report;
  options.plots = plots;
  options.target = findTarget(target);
  options.machine = backend.record();
  // Only some backends have this option.
  (void)backend.valueOf("weight-files")
      .getAsInteger(10, options.mostWeightFiles);
  bool isEmpty = llvm::all_of(options.suites, [&](const Suite *suite) {
    return options.rowsOf(*suite).empty();
  });
  if (isEmpty)
    return call.usageError(
        "no row has a matching name; see ane-run bench --list");
  return runReporting([&](Diagnostics &diags) {
    if (list) {
      listSuites(options, llvm::outs());
      return true;
    }
    if (!emit.empty())
      return emitSuites(options, emit, llvm::outs(), diags);
    std::unique_ptr<Backend> opened = backend.open(diags);
    return opened &&
           runSuites(options, *opened, llvm::outs(), llvm::errs(),
                     llvm::sys::Process::StandardErrIsDisplayed(), diags);
  });
}
