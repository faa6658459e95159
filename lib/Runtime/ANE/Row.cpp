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
#include "anec/Runtime/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

using Option = BackendOption;

static constexpr Option::Value paths[] = {
    {spelling(AnePath::InMemory), "in-memory models (default)"},
    {spelling(AnePath::Client), "the framework's client"},
    {spelling(AnePath::Direct), "the client, run without the system's daemon"},
    {spelling(AnePath::RealTime), "the same, at real-time quality of service"},
};

static constexpr Option options[] = {
    {"heartbeat", Option::Seconds, Option::Process,
     "run a small program when none ran for so long, to keep the engine awake "
     "(3 is below what it waits)",
     "SECONDS", "0"},
    {"isolate", Option::Switch, Option::Process,
     "compile each program in a child process", "", "false"},
    {"reuse-compiled", Option::Switch, Option::Process,
     "keep what is compiled for later processes, and load what earlier ones "
     "kept",
     "", "false"},
    {"path", Option::Choice, Option::Machine,
     "the methods to go by; see docs/ane.md", "", "in-memory", paths},
    {"compile-limit", Option::Count, Option::Process,
     "programs that a process compiles before it stops, or trains on in a new "
     "one (default 110)",
     "N", "110"},
    {"weight-files", Option::Count, Option::Program,
     "the weight files of a program, an array to each as far as they go "
     "(default 1; 16 may be the most)",
     "N", "1"},
    {.name = "framework",
     .kind = Option::Path,
     .scope = Option::Machine,
     .help = "the framework's binary, if not the system's",
     .environment = "ANEC_ANE_FRAMEWORK"},
};

static bool reportNotBuilt(Diagnostics &diags) {
  diags.report({}, diag::AneNotBuilt);
  return false;
}

BackendRow anec::aneBackendNotBuilt() {
  BackendRow row;
  row.name = "ane";
  row.summary = "the Neural Engine, on macOS; see docs/ane.md";
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
  result.framework = text("framework").str();
  result.executor = settings.executor;
  if (text("isolate") == "true" && !settings.helperCommand.empty()) {
    result.compileCommand = settings.helperCommand;
    result.compileCommand.push_back(("--path=" + spelling(result.path)).str());
  }
  return result;
}
