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
/// The times of runs, and those that the engine reports.
struct Times {
  Timing runs, engine;
};
} // namespace

static bool measure(Executable &executable, const ProgramArrays &given,
                    const BenchOptions &options, Times &times,
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

static void printText(llvm::StringRef name, llvm::StringRef backend,
                      const Times &times, double loadMs, int64_t flops,
                      const Executable &executable, llvm::raw_ostream &out) {
  const Timing &timing = times.runs;
  out << name << " on " << backend
      << llvm::format(": median %.3f ms  min %.3f ms  p95 %.3f ms  (%zu runs, "
                      "measured)\n",
                      timing.median(), timing.least(), timing.quantile(0.95),
                      timing.size())
      << llvm::format("  %.4f TFLOP/s at the median (%.4f GFLOP counted)\n",
                      double(flops) / timing.median() * 1e-9,
                      double(flops) * 1e-9)
      << llvm::format(
             "  load %.1f ms, constants %.1f MB, activations %.1f MB\n", loadMs,
             double(executable.constantBytes()) * 1e-6,
             double(executable.activationBytes()) * 1e-6);
  if (times.engine.size())
    out << llvm::format("  in the engine: median %.3f ms  min %.3f ms\n",
                        times.engine.median(), times.engine.least());
}

/// Prints the steps in the order they run, with mean and least time of each.
static void printProfile(llvm::ArrayRef<StepTime> steps, unsigned runs,
                         llvm::raw_ostream &out) {
  double total = 0;
  for (const StepTime &step : steps)
    total += step.seconds;
  out << "      ms  share    min ms  result\n";
  for (const StepTime &step : steps)
    out << llvm::format("%8.3f  %4.1f%%  %8.3f  ", step.seconds / runs * 1e3,
                        step.seconds / total * 100, step.fastest * 1e3)
        << step.result << ": " << step.type.str() << " = " << step.ops << '\n';
}

static void printJson(llvm::StringRef name, llvm::StringRef backend,
                      const Times &times, double loadMs, int64_t flops,
                      const Executable &executable, unsigned runs,
                      llvm::raw_ostream &out) {
  const Timing &timing = times.runs;
  llvm::json::OStream json(out, 2);
  json.object([&] {
    json.attribute("program", name);
    json.attribute("backend", backend);
    json.attribute("iterations", int64_t(timing.size()));
    json.attribute("median_ms", timing.median());
    json.attribute("min_ms", timing.least());
    json.attribute("p95_ms", timing.quantile(0.95));
    if (times.engine.size()) {
      json.attribute("engine_median_ms", times.engine.median());
      json.attribute("engine_min_ms", times.engine.least());
    }
    json.attribute("load_ms", loadMs);
    json.attribute("flop", flops);
    json.attribute("tflops", double(flops) / timing.median() * 1e-9);
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
          json.attribute("mean_ms", step.seconds / runs * 1e3);
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
  std::optional<ProgramArrays> given =
      readArrays(*executable, inputs, states, "random:1", diags);
  Times times;
  if (!given || !measure(*executable, *given, options, times, diags))
    return false;
  int64_t flops = countCost(function).flops;
  unsigned runs = options.warmup + options.iterations;
  if (options.json)
    printJson(function.name, backend.name(), times, loadMs, flops, *executable,
              runs, out);
  else
    printText(function.name, backend.name(), times, loadMs, flops, *executable,
              out);
  if (options.profile && !options.json)
    printProfile(executable->stepTimes(), runs, out);
  return true;
}
