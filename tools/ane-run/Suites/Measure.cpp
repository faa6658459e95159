//===- Measure.cpp - times a row of a suite -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Measure.h"
#include "Check.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
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

/// The first thing that went wrong, in a line.
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
  /// From `input` to what the last kernel gives, through the host.
  bool runThrough(llvm::ArrayRef<float> input, std::vector<float> &output,
                  Diagnostics &diags);
  /// What is timed.
  bool runTimed(llvm::ArrayRef<float> input, std::vector<float> &output,
                Diagnostics &diags) {
    return kernels.size() == 1 ? kernels.front()->execute(diags)
                               : runThrough(input, output, diags);
  }
  bool write(llvm::ArrayRef<float> input, Diagnostics &diags) {
    return kernels.front()->writeInput(0, whole(kernels.front()->inputs()[0]),
                                       input.data(), diags);
  }
  bool read(std::vector<float> &output, Diagnostics &diags);

private:
  static Region whole(const Port &port) { return matrixOf(port.type.shape); }

  std::vector<std::unique_ptr<Executable>> kernels;
};

} // namespace

bool RowRun::load(const SuiteRow &row, Backend &backend,
                  const LoadOptions &options, Diagnostics &diags) {
  for (const Kernel &kernel : row.kernels) {
    std::unique_ptr<Module> module = buildKernel(kernel, options.milVersion);
    std::unique_ptr<Executable> loaded =
        backend.load(*module->functions.front(), options, diags);
    if (!loaded)
      return false;
    if (kernel.form == KernelForm::MatmulInput) {
      ConstantRef weight = passedWeight(kernel);
      std::vector<float> elements(size_t(weight->numElements()));
      weight->copyToFloats(elements.data());
      if (!loaded->writeInput(1, whole(loaded->inputs()[1]), elements.data(),
                              diags))
        return false;
    }
    kernels.push_back(std::move(loaded));
  }
  return true;
}

bool RowRun::read(std::vector<float> &output, Diagnostics &diags) {
  Executable &last = *kernels.back();
  Region region = whole(last.outputs()[0]);
  output.resize(size_t(region.size()));
  return last.readOutput(0, region, output.data(), diags);
}

bool RowRun::runThrough(llvm::ArrayRef<float> input, std::vector<float> &output,
                        Diagnostics &diags) {
  llvm::ArrayRef<float> next = input;
  for (const std::unique_ptr<Executable> &kernel : kernels) {
    Region region = whole(kernel->outputs()[0]);
    if (!kernel->writeInput(0, whole(kernel->inputs()[0]), next.data(),
                            diags) ||
        !kernel->execute(diags))
      return false;
    output.resize(size_t(region.size()));
    if (!kernel->readOutput(0, region, output.data(), diags))
      return false;
    next = output;
  }
  return true;
}

/// Keeps the worst error; false when that is too much.
static bool check(const Expectation &right, llvm::ArrayRef<float> output,
                  bool negated, RowResult &result) {
  CheckedErrors errors = right.compare(output, negated);
  result.error = std::max(result.error, errors.toReference);
  result.errorToCpu = std::max(result.errorToCpu, errors.toCpu);
  if (errors.toReference <= right.tolerance())
    return true;
  result.outcome = RowResult::Wrong;
  result.message =
      llvm::formatv("the result {0} is off by {1:g3} of its size, and at most "
                    "{2:g3} may be",
                    negated ? "of the first run" : "after the timed runs",
                    errors.toReference, right.tolerance());
  return false;
}

/// Everything but loading; false when the backend fails.
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
    if (i >= options.warmup)
      result.timing.add(watch.milliseconds());
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
  std::optional<Expectation> right = Expectation::make(row.kernels, diags);
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
