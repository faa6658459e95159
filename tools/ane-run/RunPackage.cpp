//===- RunPackage.cpp - ane-run MODEL.anepkg ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Diags.h"
#include "Arguments.h"
#include "Commands.h"
#include "Timing.h"
#include "anec/Arrays/Npy.h"
#include "anec/Arrays/Safetensors.h"
#include "anec/Runtime/Session.h"
#include "anec/Support/AtomicFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace anec;

namespace {

/// A session with the arrays of one entry.
class PackageRun {
public:
  bool open(llvm::StringRef path, const PackageRunOptions &options,
            bool backward, llvm::StringRef fallback, Diagnostics &diags);
  bool run(Diagnostics &diags) {
    llvm::SmallVector<llvm::ArrayRef<uint8_t>> in;
    for (const ConstantRef &input : inputs)
      in.push_back(input->bytes());
    llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> out(results.begin(),
                                                          results.end());
    return session->run(entry, in, out, diags);
  }
  std::vector<ConstantRef> outputs() const {
    std::vector<ConstantRef> arrays;
    for (auto [port, bytes] : llvm::zip_equal(session->outputs(entry), results))
      arrays.push_back(Constant::copy(port.type, bytes));
    return arrays;
  }

  std::unique_ptr<Backend> backend;
  std::unique_ptr<Session> session;
  std::string entry;

private:
  std::vector<ConstantRef> inputs;
  std::vector<std::vector<uint8_t>> results;
};

} // namespace

/// The wanted entry, or the first with or without a backward.
static std::string chooseEntry(const ModelPackage &package,
                               llvm::StringRef wanted, bool backward) {
  if (!wanted.empty())
    return wanted.str();
  for (const std::string &entry : package.entries)
    if (llvm::StringRef(entry).ends_with(".train") == backward)
      return entry;
  return package.entries.front();
}

bool PackageRun::open(llvm::StringRef path, const PackageRunOptions &options,
                      bool backward, llvm::StringRef fallback,
                      Diagnostics &diags) {
  std::optional<ModelPackage> package = readPackage(path, diags);
  if (!package)
    return false;
  backend = options.backend.open(diags);
  if (!backend)
    return false;
  entry = chooseEntry(*package, options.entry, backward);
  SessionOptions sessionOptions;
  sessionOptions.load = options.load;
  sessionOptions.weights = options.weights;
  session = Session::open(std::move(*package), *backend, sessionOptions, diags);
  if (!session || !session->prepare(entry, diags))
    return false;
  llvm::ArrayRef<Port> ports = session->inputs(entry);
  std::vector<std::string> arguments = options.inputs;
  auto given = [&](llvm::StringRef name) {
    return llvm::any_of(arguments, [&](llvm::StringRef argument) {
      return argument.split('=').first == name;
    });
  };
  // A loss is not scaled unless someone says so.
  for (const Port &port : ports)
    if (port.name == "loss_scale" && !given(port.name))
      arguments.push_back("loss_scale=ones");
  auto arrays = readPorts("input", ports, arguments, fallback, diags);
  if (!arrays)
    return false;
  inputs = std::move(*arrays);
  for (const Port &port : session->outputs(entry))
    results.emplace_back(port.type.numBytes());
  return true;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// The session's array as a constant, without a copy.
static ConstantRef viewOf(const NamedFloats &array) {
  llvm::ArrayRef<uint8_t> bytes(
      reinterpret_cast<const uint8_t *>(array.elements.data()),
      array.elements.size() * sizeof(float));
  return Constant::view(array.type, DType::FP32, bytes, nullptr);
}

static bool writeGradients(llvm::ArrayRef<NamedFloats> gradients,
                           llvm::StringRef path, Diagnostics &diags) {
  AtomicFiles files(diags);
  if (llvm::sys::path::extension(path) == ".safetensors") {
    Safetensors contents;
    for (const NamedFloats &gradient : gradients)
      contents.arrays.push_back({gradient.name, viewOf(gradient)});
    OutputFile *file = files.add(path);
    return file && writeSafetensors(*file, contents) && files.commit();
  }
  for (const NamedFloats &gradient : gradients) {
    llvm::SmallString<128> target(path);
    llvm::sys::path::append(target, gradient.name + ".npy");
    OutputFile *file = files.add(target);
    if (!file || !writeNpy(*file, *viewOf(gradient)))
      return false;
  }
  return files.commit();
}

bool anec::runPackage(llvm::StringRef path, const PackageRunOptions &options,
                      llvm::raw_ostream &out, Diagnostics &diags) {
  PackageRun run;
  bool backward = !options.gradients.empty();
  if (!run.open(path, options, backward, "", diags))
    return false;
  Stopwatch watch;
  if (!run.run(diags))
    return false;
  double elapsed = watch.milliseconds();
  out << run.entry << llvm::format(": ran in %.3f ms on ", elapsed)
      << run.backend->name() << " (measured, first run)\n";
  std::vector<ConstantRef> outputs = run.outputs();
  llvm::ArrayRef<Port> ports = run.session->outputs(run.entry);
  for (auto [port, value] : llvm::zip_equal(ports, outputs))
    printSummary(port, *value, out);
  if (backward) {
    if (run.session->gradients().empty()) {
      diags.reportFile(path, diag::NoGradients, run.entry);
      return false;
    }
    out << "  gradients of " << run.session->gradients().size()
        << " arrays: " << options.gradients << '\n';
    if (!writeGradients(run.session->gradients(), options.gradients, diags))
      return false;
  }
  return options.outputDir.empty() ||
         writeOutputs(ports, outputs, options.outputDir, diags);
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

namespace {
/// What a step takes: whole, forward and backward, and the host's share.
struct StepSeries {
  Timing step, forward, backward, host;
  Timing beside; ///< on a thread of its own, and not in the others
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

/// What kernels and host ops took on average, the longest first.
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

bool anec::benchPackage(llvm::StringRef path, const PackageRunOptions &options,
                        llvm::raw_ostream &out, Diagnostics &diags) {
  PackageRun run;
  Stopwatch loading;
  if (!run.open(path, options, /*backward=*/true, "random:1", diags))
    return false;
  double loadMs = loading.milliseconds();
  StepSeries series;
  for (unsigned i = 0; i < options.warmup + options.iterations; ++i) {
    Stopwatch watch;
    if (!run.run(diags))
      return false;
    double elapsed = watch.milliseconds();
    if (i >= options.warmup)
      series.add(elapsed, run.session->times(run.entry));
  }
  double memory = double(run.session->memoryBytes()) * 1e-6;
  if (options.json) {
    llvm::json::OStream json(out, 2);
    json.object([&] {
      json.attribute("entry", run.entry);
      json.attribute("backend", run.backend->name());
      json.attribute("iterations", int64_t(options.iterations));
      printRow("step", series.step, json);
      printRow("forward", series.forward, json);
      printRow("backward", series.backward, json);
      printRow("host", series.host, json);
      printRow("beside_kernels", series.beside, json);
      json.attribute("load_ms", loadMs);
      json.attribute("memory_mb", memory);
    });
    out << '\n';
    return true;
  }
  out << run.entry << " on " << run.backend->name() << ": "
      << options.iterations << " runs, measured\n";
  printRow("step", series.step, out);
  printRow("forward", series.forward, out);
  printRow("backward", series.backward, out);
  printRow("host ops", series.host, out);
  if (series.beside.least() > 0)
    printRow("beside", series.beside, out);
  out << llvm::format("  load %.1f ms, memory %.1f MB\n", loadMs, memory);
  if (options.profile)
    printParts(series, out);
  return true;
}
