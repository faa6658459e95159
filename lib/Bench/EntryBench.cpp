//===- EntryBench.cpp - times an entry of a package -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Bench/Bench.h"
#include "lib/Support/PeakMemory.h"
#include "lib/Support/Timing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace anec;

namespace {
/// Times of a step: whole, forward, backward, and the host's share.
struct StepSeries {
  Timing step, forward, backward, host;
  Timing beside; ///< on a separate thread, not included in the others
  struct PartSum {
    double seconds = 0;
    unsigned runs = 0;
    bool isHost = false;
  };
  std::map<std::string, PartSum> parts;

  void add(double milliseconds, llvm::ArrayRef<PartTime> times) {
    double forwardMs = 0, backwardMs = 0, hostMs = 0, besideMs = 0;
    for (const PartTime &time : times) {
      double partMs = time.seconds * 1e3;
      if (time.overlaps) {
        besideMs += partMs;
      } else {
        (time.isBackward ? backwardMs : forwardMs) += partMs;
        if (time.kind == PartTime::Host)
          hostMs += partMs;
      }
      PartSum &part = parts[time.name];
      part.seconds += time.seconds;
      part.runs += 1;
      part.isHost = time.kind == PartTime::Host;
    }
    step.add(milliseconds);
    forward.add(forwardMs);
    backward.add(backwardMs);
    host.add(hostMs);
    beside.add(besideMs);
  }
};
} // namespace

static void printRow(llvm::StringRef name, const Timing &series,
                     llvm::raw_ostream &out) {
  out << llvm::format("  %-10s median %9.3f ms  min %9.3f ms  p95 %9.3f ms\n",
                      name.str().c_str(), series.median(), series.least(),
                      series.quantile(0.95));
}

static void printRow(llvm::StringRef name, const Timing &series,
                     llvm::json::OStream &json) {
  json.attributeObject(name, [&] {
    json.attribute("median_ms", series.median());
    json.attribute("min_ms", series.least());
    json.attribute("p95_ms", series.quantile(0.95));
  });
}

/// Prints the average times of kernels and host ops, the longest first.
static void printParts(const StepSeries &series, llvm::raw_ostream &out) {
  std::vector<std::pair<std::string, StepSeries::PartSum>> parts(
      series.parts.begin(), series.parts.end());
  llvm::stable_sort(parts, [](const auto &a, const auto &b) {
    return a.second.seconds > b.second.seconds;
  });
  unsigned steps = unsigned(series.step.size());
  out << "  ms a step  each ms  part\n";
  for (const auto &[name, part] : parts)
    out << llvm::format("  %9.3f  %7.3f  ", part.seconds / steps * 1e3,
                        part.seconds / part.runs * 1e3)
        << (part.isHost ? "host: " : "") << name << '\n';
}

bool anec::benchEntry(ModelPackage package, Backend &backend,
                      const EntryOptions &entry, const BenchOptions &options,
                      llvm::raw_ostream &out, Diagnostics &diags) {
  EntryRun run;
  Stopwatch loading;
  if (!run.open(std::move(package), backend, entry, /*backward=*/true,
                "random:1", diags))
    return false;
  double loadMs = loading.milliseconds();
  StepSeries series;
  for (unsigned i = 0; i < options.warmup + options.iterations; ++i) {
    Stopwatch watch;
    if (!run.run(diags))
      return false;
    double elapsed = watch.milliseconds();
    if (i >= options.warmup)
      series.add(elapsed, run.session().times(run.entry()));
  }
  double memory = double(run.session().memoryBytes()) * 1e-6;
  double peak = double(peakMemoryBytes()) * 1e-6;
  if (options.json) {
    llvm::json::OStream json(out, 2);
    json.object([&] {
      json.attribute("entry", run.entry());
      json.attribute("backend", backend.name());
      json.attribute("iterations", int64_t(options.iterations));
      printRow("step", series.step, json);
      printRow("forward", series.forward, json);
      printRow("backward", series.backward, json);
      printRow("host", series.host, json);
      printRow("beside_kernels", series.beside, json);
      json.attribute("load_ms", loadMs);
      json.attribute("memory_mb", memory);
      json.attribute("peak_memory_mb", peak);
    });
    out << '\n';
    return true;
  }
  out << run.entry() << " on " << backend.name() << ": " << options.iterations
      << " runs, measured\n";
  printRow("step", series.step, out);
  printRow("forward", series.forward, out);
  printRow("backward", series.backward, out);
  printRow("host ops", series.host, out);
  if (series.beside.least() > 0)
    printRow("beside", series.beside, out);
  out << llvm::format(
      "  load %.1f ms, memory %.1f MB of arrays of the program, "
      "%.1f MB of the process at most\n",
      loadMs, memory, peak);
  if (options.profile)
    printParts(series, out);
  return true;
}
