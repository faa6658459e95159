//===- Measure.cpp - times a row of a suite -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Bench/Measure.h"
#include "Expectation.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace anec;

llvm::StringRef anec::spelling(RowResult::Outcome outcome) {
  switch (outcome) {
  case RowResult::Measured:
    return "measured";
  case RowResult::Refused:
    return "refused";
  case RowResult::Failed:
    return "failed";
  case RowResult::Wrong:
    return "wrong";
  }
  llvm_unreachable("all outcomes handled");
}

/// The first error, in one line.
static std::string firstMessage(const Diagnostics &diags) {
  for (const Diagnostic &diagnostic : diags.all())
    if (diagnostic.severity() == Severity::Error)
      return diagnostic.message + " [" + diagnostic.kind->id.str() + "]";
  return "no reason given";
}

namespace {

/// The kernels of a row, loaded.
class RowRun {
public:
  bool load(const SuiteRow &row, Backend &backend, const LoadOptions &options,
            Diagnostics &diags);
  /// Runs all kernels from `input` to the `output` of the last one, copying
  /// between them on the host.
  bool runThrough(llvm::ArrayRef<float> input, std::vector<float> &output,
                  Diagnostics &diags);
  /// The run that is timed.
  bool runTimed(llvm::ArrayRef<float> input, std::vector<float> &output,
                Diagnostics &diags) {
    return kernels.size() == 1 ? kernels.front().program->execute(diags)
                               : runThrough(input, output, diags);
  }
  bool write(llvm::ArrayRef<float> input, Diagnostics &diags) {
    return kernels.front().write(input, diags);
  }
  bool read(std::vector<float> &output, Diagnostics &diags) {
    return kernels.back().read(output, diags);
  }
  /// The engine's own time of the last run of all kernels, in milliseconds.
  std::optional<double> engineMs() const;

private:
  struct Loaded {
    std::unique_ptr<Executable> program;
    Region input; ///< where it takes the output of the kernel before

    bool write(llvm::ArrayRef<float> elements, Diagnostics &diags) {
      return program->writeInput(0, input, elements.data(), diags);
    }
    bool read(std::vector<float> &elements, Diagnostics &diags) {
      Region whole = matrixOf(program->outputs()[0].type.shape);
      elements.resize(size_t(whole.size()));
      return program->readOutput(0, whole, elements.data(), diags);
    }
  };
  std::vector<Loaded> kernels;
};

} // namespace

bool RowRun::load(const SuiteRow &row, Backend &backend,
                  const LoadOptions &options, Diagnostics &diags) {
  for (const SuiteKernel &kernel : row.kernels) {
    std::unique_ptr<Module> module = buildKernel(kernel, options.milVersion);
    std::unique_ptr<Executable> loaded =
        backend.load(*module->functions.front(), options, diags);
    if (!loaded)
      return false;
    PackedLayout layout = inputLayout(kernel);
    if (layout.parts.size() > 1) {
      ConstantRef weight = packedWeight(kernel);
      std::vector<float> elements(size_t(weight->numElements()));
      weight->copyToFloats(elements.data());
      if (!loaded->writeInput(0, layout.parts[1], elements.data(), diags))
        return false;
    }
    kernels.push_back({std::move(loaded), layout.parts[0]});
  }
  return true;
}

bool RowRun::runThrough(llvm::ArrayRef<float> input, std::vector<float> &output,
                        Diagnostics &diags) {
  llvm::ArrayRef<float> next = input;
  for (Loaded &kernel : kernels) {
    if (!kernel.write(next, diags) || !kernel.program->execute(diags) ||
        !kernel.read(output, diags))
      return false;
    next = output;
  }
  return true;
}

std::optional<double> RowRun::engineMs() const {
  double sum = 0;
  for (const Loaded &kernel : kernels) {
    std::optional<double> seconds = kernel.program->engineSeconds();
    if (!seconds)
      return std::nullopt;
    sum += *seconds * 1e3;
  }
  return sum;
}

/// Keeps the largest error; returns false when it exceeds the tolerance.
static bool check(const Expectation &right, llvm::ArrayRef<float> output,
                  bool negated, RowResult &result) {
  CheckedErrors errors = right.compare(output, negated);
  result.error = std::max(result.error, errors.toReference);
  result.errorToCpu = std::max(result.errorToCpu, errors.toCpu);
  if (errors.toReference <= right.tolerance())
    return true;
  result.outcome = RowResult::Wrong;
  llvm::raw_string_ostream(result.message)
      << "the result "
      << (negated ? "of the first run" : "after the timed runs")
      << llvm::format(" is off by %.3g of its size, and at most %.3g may be",
                      errors.toReference, right.tolerance());
  return false;
}

/// Does everything except loading; returns false when the backend fails.
static bool timeRow(RowRun &run, const Expectation &right,
                    const MeasureOptions &options, RowResult &result,
                    Diagnostics &diags) {
  std::vector<float> output, input = right.input(/*negated=*/true);
  if (!run.runThrough(input, output, diags))
    return false;
  if (!check(right, output, /*negated=*/true, result))
    return true;
  input = right.input(/*negated=*/false);
  if (!run.write(input, diags))
    return false;
  for (unsigned i = 0; i < options.warmup + options.iterations; ++i) {
    Stopwatch watch;
    if (!run.runTimed(input, output, diags))
      return false;
    double elapsed = watch.milliseconds();
    if (i < options.warmup)
      continue;
    result.timing.add(elapsed);
    if (std::optional<double> engine = run.engineMs())
      result.engine.add(*engine);
  }
  if (!run.read(output, diags))
    return false;
  if (check(right, output, /*negated=*/false, result))
    result.outcome = RowResult::Measured;
  return true;
}

std::optional<RowResult> anec::measureRow(const SuiteRow &row, Backend &backend,
                                          const MeasureOptions &options,
                                          Diagnostics &diags) {
  std::optional<Expectation> right =
      Expectation::make(row.kernels, options.load.workspace, diags);
  if (!right)
    return std::nullopt;
  RowResult result;
  result.cpuError = right->cpuError();
  result.tolerance = right->tolerance();
  Diagnostics ofBackend;
  RowRun run;
  Stopwatch watch;
  bool isLoaded = run.load(row, backend, options.load, ofBackend);
  result.loadMs = watch.milliseconds();
  if (!isLoaded || !timeRow(run, *right, options, result, ofBackend)) {
    result.outcome = isLoaded ? RowResult::Failed : RowResult::Refused;
    result.message = firstMessage(ofBackend);
  }
  return result;
}
