//===- ProgramBench.cpp - times a program ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Bench/Bench.h"
#include "lib/Ops/Cost.h"
#include "lib/Runtime/ProgramRun.h"
#include "lib/Support/Timing.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

namespace {
/// A program that is timed, and its report.
struct ProgramTimes {
  llvm::StringRef program, backend;
  const Executable &executable;
  int64_t flops;
  double loadMs;
  unsigned count; ///< of all runs
  /// The times of runs, and those that the engine reports.
  Timing runs, engine;

  void printText(llvm::raw_ostream &out) const;
  void printProfile(llvm::raw_ostream &out) const;
  void printJson(llvm::raw_ostream &out) const;
};
} // namespace

static bool measure(Executable &executable, const ProgramArrays &given,
                    const BenchOptions &options, ProgramTimes &times,
                    Diagnostics &diags) {
  std::optional<RunBuffers> buffers =
      RunBuffers::make(executable, given, diags);
  if (!buffers)
    return false;
  for (unsigned i = 0; i < options.warmup + options.iterations; ++i) {
    Stopwatch watch;
    if (!buffers->run(executable, diags))
      return false;
    double elapsed = watch.milliseconds();
    if (i < options.warmup)
      continue;
    times.runs.add(elapsed);
    if (std::optional<double> seconds = executable.engineSeconds())
      times.engine.add(*seconds * 1e3);
  }
  return true;
}

void ProgramTimes::printText(llvm::raw_ostream &out) const {
  out << program << " on " << backend
      << llvm::format(": median %.3f ms  min %.3f ms  p95 %.3f ms  (%zu runs, "
                      "measured)\n",
                      runs.median(), runs.least(), runs.quantile(0.95),
                      runs.size())
      << llvm::format("  %.4f TFLOP/s at the median (%.4f GFLOP counted)\n",
                      double(flops) / runs.median() * 1e-9,
                      double(flops) * 1e-9)
      << llvm::format(
             "  load %.1f ms, constants %.1f MB, activations %.1f MB\n", loadMs,
             double(executable.constantBytes()) * 1e-6,
             double(executable.activationBytes()) * 1e-6);
  if (engine.size())
    out << llvm::format("  in the engine: median %.3f ms  min %.3f ms\n",
                        engine.median(), engine.least());
}

/// Prints the steps in the order they run, with mean and least time of each.
void ProgramTimes::printProfile(llvm::raw_ostream &out) const {
  llvm::ArrayRef<StepTime> steps = executable.stepTimes();
  double total = 0;
  for (const StepTime &step : steps)
    total += step.seconds;
  out << "      ms  share    min ms  result\n";
  for (const StepTime &step : steps)
    out << llvm::format("%8.3f  %4.1f%%  %8.3f  ", step.seconds / count * 1e3,
                        step.seconds / total * 100, step.fastest * 1e3)
        << step.result << ": " << step.type.str() << " = " << step.ops << '\n';
}

void ProgramTimes::printJson(llvm::raw_ostream &out) const {
  llvm::json::OStream json(out, 2);
  json.object([&] {
    json.attribute("program", program);
    json.attribute("backend", backend);
    json.attribute("iterations", int64_t(runs.size()));
    json.attribute("median_ms", runs.median());
    json.attribute("min_ms", runs.least());
    json.attribute("p95_ms", runs.quantile(0.95));
    if (engine.size()) {
      json.attribute("engine_median_ms", engine.median());
      json.attribute("engine_min_ms", engine.least());
    }
    json.attribute("load_ms", loadMs);
    json.attribute("flop", flops);
    json.attribute("tflops", double(flops) / runs.median() * 1e-9);
    json.attribute("constant_bytes", int64_t(executable.constantBytes()));
    json.attribute("activation_bytes", int64_t(executable.activationBytes()));
    if (executable.stepTimes().empty())
      return;
    json.attributeArray("steps", [&] {
      for (const StepTime &step : executable.stepTimes())
        json.object([&] {
          json.attribute("ops", step.ops);
          json.attribute("result", step.result);
          json.attribute("type", step.type.str());
          json.attribute("mean_ms", step.seconds / count * 1e3);
          json.attribute("min_ms", step.fastest * 1e3);
        });
    });
  });
  out << '\n';
}

bool anec::benchProgram(const Function &function, Backend &backend,
                        LoadOptions load, llvm::ArrayRef<std::string> inputs,
                        llvm::ArrayRef<std::string> states,
                        const BenchOptions &options, llvm::raw_ostream &out,
                        Diagnostics &diags) {
  Stopwatch watch;
  load.timeSteps = options.profile;
  std::unique_ptr<Executable> executable = backend.load(function, load, diags);
  if (!executable)
    return false;
  double loadMs = watch.milliseconds();
  ProgramTimes times = {.program = function.name,
                        .backend = backend.name(),
                        .executable = *executable,
                        .flops = countCost(function).flops,
                        .loadMs = loadMs,
                        .count = options.warmup + options.iterations,
                        .runs = {},
                        .engine = {}};
  std::optional<ProgramArrays> given =
      readArrays(*executable, inputs, states, "random:1", diags);
  if (!given || !measure(*executable, *given, options, times, diags))
    return false;
  if (options.json)
    times.printJson(out);
  else
    times.printText(out);
  if (options.profile && !options.json)
    times.printProfile(out);
  return true;
}
