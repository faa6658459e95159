//===- Row.cpp - the ane backend as a row of the table --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The description of the backend without its library: its options and
/// capabilities. Part of the library anec, so that a program built without the
/// backend can report what it lacks.
///
//===----------------------------------------------------------------------===//

#include "anec/Runtime/ANE/AneBackend.h"
#include "lib/Runtime/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

using Option = BackendOption;

static constexpr Option::Value paths[] = {
    {spelling(AnePath::InMemory), "in-memory models (default)"},
    {spelling(AnePath::Client), "the framework's client"},
    {spelling(AnePath::Direct), "the client, run without the system's daemon"},
    {spelling(AnePath::RealTime),
     "the client, at real-time quality of service"},
    {spelling(AnePath::ProcessRequest),
     "in-memory models, run by their program object"},
    {spelling(AnePath::E5), "Core ML's E5 engine"},
    {spelling(AnePath::E5rt), "the functions of Espresso's E5 runtime"},
};

static constexpr Option options[] = {
    {"heartbeat", Option::Seconds, Option::Process,
     "run a small program after SECONDS without a run, to keep the engine "
     "awake (3 is less than its timeout)",
     "SECONDS", "0"},
    {"isolate", Option::Switch, Option::Process,
     "compile each program in a child process", "", "false"},
    {"reuse-compiled", Option::Switch, Option::Process,
     "keep compiled programs for later processes, and load programs that "
     "earlier processes kept",
     "", "false"},
    {"path", Option::Choice, Option::Machine,
     "the framework methods to use; see docs/use/ane.md", "", "in-memory",
     paths},
    {"compile-limit", Option::Count, Option::Process,
     "programs that a process compiles before it stops or, in training, "
     "continues in a new process (default 110)",
     "N", "110"},
    {"weight-files", Option::Count, Option::Program,
     "weight files per program; each holds one array, as far as the files "
     "suffice (default 1; up to 16 can work before macOS 27, which refuses "
     "more than one)",
     "N", "1"},
    {"reload-after", Option::Count, Option::Process,
     "runs after which a program is loaded again, against engines that slow "
     "down (default 25000)",
     "N", "25000"},
    {"procedure", Option::Index, Option::Program,
     "the procedure of the program to run (default 0)", "N", "0"},
    {"perf-stats", Option::Switch, Option::Program,
     "ask for the engine's own time of each run", "", "false"},
    {"chaining", Option::Switch, Option::Inspect,
     "also compile a small program and try to prepare chained runs of it", "",
     "false"},
    {.name = "own-process",
     .kind = Option::Switch,
     .scope = Option::Machine,
     .help = "load programs by paths that can crash this process",
     .initial = "false",
     .environment = "ANEC_OWN_PROCESS"},
    {.name = "framework",
     .kind = Option::Path,
     .scope = Option::Machine,
     .help = "the framework's binary, instead of the system's",
     .environment = "ANEC_ANE_FRAMEWORK"},
};

static bool reportNotBuilt(Diagnostics &diags) {
  diags.report({}, diag::AneNotBuilt);
  return false;
}

BackendRow anec::aneBackendNotBuilt() {
  BackendRow row;
  row.name = "ane";
  row.summary = "the Neural Engine, on macOS; see docs/use/ane.md";
  row.capabilities.portTypes = {DType::FP16, DType::FP32, DType::Int32};
  row.capabilities.takesWeightsAsInputs = true;
  row.capabilities.takesText = true;
  row.capabilities.loadsInBackground = true;
  row.capabilities.runsOnEngine = true;
  row.capabilities.loadLimit = AneOptions().compileLimit;
  row.options = options;
  row.isBuilt = false;
  row.open = [](const BackendSettings &, Diagnostics &diags) {
    reportNotBuilt(diags);
    return std::unique_ptr<Backend>();
  };
  row.machine = [](const BackendSettings &) { return MachineNames(); };
  row.inspect = [](const BackendSettings &, bool, llvm::raw_ostream &,
                   Diagnostics &diags) { return reportNotBuilt(diags); };
  row.help = [](llvm::StringRef, const BackendSettings &, Diagnostics &diags) {
    return reportNotBuilt(diags);
  };
  return row;
}

AneOptions anec::aneOptions(const BackendSettings &settings) {
  BackendRow row = aneBackendNotBuilt();
  auto text = [&](llvm::StringRef name) { return row.valueOf(name, settings); };
  auto count = [&](llvm::StringRef name, unsigned &value) {
    (void)text(name).getAsInteger(10, value);
  };
  AneOptions result;
  (void)text("heartbeat").getAsDouble(result.heartbeatSeconds);
  result.reuse = text("reuse-compiled") == "true";
  for (AnePath path : anePaths)
    if (spelling(path) == text("path"))
      result.path = path;
  count("compile-limit", result.compileLimit);
  count("weight-files", result.mostWeightFiles);
  count("reload-after", result.runsPerLoad);
  count("procedure", result.procedure);
  result.perfStats = text("perf-stats") == "true";
  result.hasOwnProcess = text("own-process") == "true";
  result.tryChaining = text("chaining") == "true";
  result.framework = text("framework").str();
  result.executor = settings.executor;
  if (text("isolate") == "true" && !settings.helperCommand.empty()) {
    result.compileCommand = settings.helperCommand;
    result.compileCommand.push_back(("--path=" + spelling(result.path)).str());
  }
  return result;
}
