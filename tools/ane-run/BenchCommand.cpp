//===- BenchCommand.cpp - ane-run bench -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../NumberFlag.h"
#include "BackendFlags.h"
#include "CommandTable.h"
#include "ProgramFlags.h"
#include "SuiteFlags.h"
#include "anec/Package/ModelPackage.h"
#include "lib/Bench/Bench.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Bench : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  std::string check();
  ExitCode runSuite(const Invocation &call);
  bool runFunction(Diagnostics &diags);
  bool runEntry(Diagnostics &diags);

  ProgramFlags program;
  InputFlags given;
  WeightFlags weights;
  BackendFlags backend;
  SuiteFlags suite;
  WholeFlag<unsigned> iterations{
      "iterations", cl::value_desc("N"), cl::init(100),
      cl::desc("Timed runs (default 100; for a suite, as published)")};
  WholeFlag<unsigned> warmup{
      "warmup", cl::value_desc("N"), cl::init(10),
      cl::desc(
          "Runs before timing starts (default 10; for a suite, as published)")};
  cl::opt<bool> profile{"profile",
                        cl::desc("Also print the time of each step")};
  cl::opt<bool> json{"json", cl::desc("Print JSON")};
};
} // namespace

/// The error in the flags; empty when they are valid.
std::string Bench::check() {
  if (std::string wrong = suite.check(); !wrong.empty())
    return wrong;
  if (suite.isGiven() && (!program.program.empty() || profile))
    return "--suite takes no program and no --profile";
  if (program.program.empty() && !suite.isGiven())
    return "no program; see ane-run --help";
  if (iterations == 0)
    return "--iterations must be at least 1";
  if (profile && !program.isPackage())
    backend.require("--profile", [](const BackendRow &row) {
      return row.capabilities.timesSteps;
    });
  for (const std::string &wrong :
       {given.check(), program.check(), backend.check()})
    if (!wrong.empty())
      return wrong;
  return "";
}

ExitCode Bench::runSuite(const Invocation &call) {
  SuiteOptions options;
  options.load = backend.load();
  options.json = json;
  if (iterations.getNumOccurrences())
    options.iterations = iterations;
  if (warmup.getNumOccurrences())
    options.warmup = warmup;
  return suite.run(std::move(options), backend.choice(), call);
}

bool Bench::runFunction(Diagnostics &diags) {
  std::optional<LoadedProgram> loaded =
      program.load(given.inputs, /*onlyToLook=*/false, diags);
  std::unique_ptr<Backend> opened =
      loaded ? backend.choice().open(diags) : nullptr;
  if (!opened)
    return false;
  LoadOptions load = backend.load();
  load.milVersion = loaded->module->version;
  return benchProgram(*loaded->function, *opened, load, given.inputs,
                      given.states, {iterations, warmup, json, profile},
                      llvm::outs(), diags);
}

bool Bench::runEntry(Diagnostics &diags) {
  std::optional<ModelPackage> package = readPackage(program.program, diags);
  std::unique_ptr<Backend> opened =
      package ? backend.choice().open(diags) : nullptr;
  if (!opened)
    return false;
  // Fewer runs than for a kernel, because a step takes longer.
  BenchOptions options{10, 2, json, profile};
  if (iterations.getNumOccurrences())
    options.iterations = iterations;
  if (warmup.getNumOccurrences())
    options.warmup = warmup;
  return benchEntry(std::move(*package), *opened,
                    {backend.load(), weights.options(backend.executor()),
                     program.function, given.inputs},
                    options, llvm::outs(), diags);
}

ExitCode Bench::run(const Invocation &call) {
  if (std::string wrong = check(); !wrong.empty())
    return call.usageError(wrong);
  if (suite.isGiven())
    return runSuite(call);
  return runReporting([&](Diagnostics &diags) {
    return program.isPackage() ? runEntry(diags) : runFunction(diags);
  });
}

constinit const CommandDef commands::Bench = {
    .name = "bench",
    .group = commands::programs,
    .summary = "Time a program, or kernels with published benchmark figures",
    .synopsis = "PROGRAM.mil|.onnx|.pt2|.mlpackage|.mlmodel|.mlmodelc|.tdsl|."
                "ir|.anepkg",
    .exits =
        "0 success, 1 invalid input, 2 wrong usage, 3 system failure, or a "
        "row\n  without a figure",
    .usual = "input weights init target suite list iterations warmup json "
             "plot o backend numerics",
    .examples = R"(  ane-run bench out.mil --iterations 50 --json
  ane-run bench out.mil --profile
  ane-run bench model.anepkg --init=1 --iterations 10
  ane-run bench --list
  ane-run bench --suite=peak --backend=ane
  ane-run bench --suite=all --backend=ane -o m4-max.json --plot=charts
  ane-run bench --suite=sram --quick --beside=m4-max.json
  ane-run bench --suite=dispatch --row=768x256 --iterations=2000
  ane-run bench --suite=int8 --emit=programs
)",
    .make = makeCommand<::Bench>,
};
