//===- Report.cpp - --emit=report and --emit=json -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "anec/Package/ModelCost.h"
#include "anec/Report/CostPage.h"
#include "anec/Report/CostReport.h"
#include "anec/Report/ProgramReport.h"
#include "anec/Target/Target.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace anec;

/// What is predicted stands with it when a target was asked for.
static void printReports(const Module &module, const CompileRequest &request,
                         llvm::raw_ostream &out) {
  const Target &target = *request.options.passes.target;
  bool chosen = request.options.passes.targetChosen;
  RunCost cost = predictOnce(module, target);
  if (request.emit == Emit::Report &&
      request.reportFormat == ReportFormat::Html) {
    printCostPage(llvm::sys::path::filename(request.input), cost, nullptr,
                  target, out);
    return;
  }
  if (request.emit == Emit::Report) {
    for (const auto &function : module.functions)
      printReport(*function, module.version, out);
    if (chosen)
      printCost(cost, target, out);
    return;
  }
  llvm::json::OStream json(out, 2);
  json.object([&] {
    json.attributeArray("functions", [&] {
      for (const auto &function : module.functions)
        printReport(*function, module.version, json);
    });
    if (chosen)
      printCost(cost, target, json);
  });
  out << '\n';
}

bool anec::reportProgram(const Module &module, const CompileRequest &request,
                         Diagnostics &diags) {
  return request.write(
      [&](llvm::raw_ostream &out) { printReports(module, request, out); },
      diags);
}

bool anec::reportPackage(const ModelPackage &package,
                         const CompileRequest &request, Diagnostics &diags) {
  const PassManagerOptions &passes = request.options.passes;
  const Target *target =
      passes.targetChosen ? passes.target : findTarget(package.target);
  if (!target)
    target = &genericTarget();
  std::optional<ModelCost> cost = predictModel(package, *target, diags);
  if (!cost)
    return false;
  return request.write(
      [&](llvm::raw_ostream &out) {
        if (request.emit == Emit::Json) {
          llvm::json::OStream json(out, 2);
          json.object([&] { printCost(cost->runs, *target, json); });
          out << '\n';
        } else if (request.reportFormat == ReportFormat::Html) {
          printCostPage(llvm::sys::path::filename(request.input), cost->runs,
                        package.schedule.get(), *target, out);
        } else {
          printCost(cost->runs, *target, out);
        }
      },
      diags);
}
