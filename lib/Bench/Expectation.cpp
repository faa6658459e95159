//===- Expectation.cpp - the right outputs of kernels ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Expectation.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include <cmath>

using namespace anec;

/// The number of positions after which inputs repeat. It does not divide the
/// sizes of vectors, tiles and rows, so that elements read from a wrong place
/// have another value.
static constexpr int64_t period = 5;

/// Random numbers from -3 to 3, exact in fp16.
static std::vector<double> drawInput(const SuiteKernel &kernel) {
  TensorType type(DType::FP16, {kernel.inputs, period});
  std::vector<double> values = randomTensor(type, kernel.seed).data;
  for (double &value : values)
    value = roundToDType(std::clamp(value, -3.0, 3.0), DType::FP16);
  return values;
}

/// The parameter of the kernel, with `values` as its input and with its packed
/// weight, if it has one.
static std::vector<double> placed(const SuiteKernel &kernel,
                                  llvm::ArrayRef<double> values) {
  PackedLayout layout = inputLayout(kernel);
  std::vector<double> whole(size_t(layout.channels * layout.columns));
  auto place = [&](const Region &region, llvm::ArrayRef<double> elements) {
    for (int64_t row = 0; row < region.channels; ++row)
      llvm::copy(elements.slice(row * region.columns, region.columns),
                 whole.begin() + (region.channel + row) * layout.columns +
                     region.column);
  };
  place(layout.parts[0], values);
  if (layout.parts.size() > 1)
    place(layout.parts[1], packedWeight(kernel)->asDoubles());
  return whole;
}

/// Evaluates the module in double precision.
static bool evaluate(const Module &module, const SuiteKernel &kernel,
                     std::vector<double> &values, Diagnostics &diags) {
  const Function &function = *module.functions.front();
  std::vector<RefTensor> outputs;
  RefTensor input = {function.parameters()[0]->type, placed(kernel, values)};
  if (!interpret(function, input, outputs, diags))
    return false;
  values = std::move(outputs.front().data);
  return true;
}

static bool runOnCpu(Backend &backend, const LoadOptions &options,
                     const Module &module, const SuiteKernel &kernel,
                     std::vector<double> &values, Diagnostics &diags) {
  std::unique_ptr<Executable> executable =
      backend.load(*module.functions.front(), options, diags);
  if (!executable)
    return false;
  ConstantRef given = Constant::fromDoubles(executable->inputs()[0].type,
                                            placed(kernel, values));
  const TensorType &type = executable->outputs()[0].type;
  std::vector<uint8_t> bytes(type.numBytes());
  if (!executable->run({given->bytes()}, {bytes}, diags))
    return false;
  values = Constant::copy(type, bytes)->asDoubles();
  return true;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// The root mean square of each position of [channels, period].
static std::vector<double> rootMeanSquares(llvm::ArrayRef<double> values) {
  std::vector<double> sums(period);
  for (size_t i = 0; i < values.size(); ++i)
    sums[i % period] += values[i] * values[i];
  for (double &sum : sums)
    sum = std::sqrt(sum * period / double(values.size()));
  return sums;
}

/// The largest error of `at(channel, position)` relative to `right`, [channels,
/// period], which repeats.
template <typename At>
static double largestError(llvm::ArrayRef<double> right, double sign,
                           int64_t positions, At at) {
  std::vector<double> sizes = rootMeanSquares(right);
  int64_t channels = int64_t(right.size()) / period;
  double largest = 0;
  for (int64_t channel = 0; channel < channels; ++channel)
    for (int64_t position = 0; position < positions; ++position) {
      int64_t column = position % period;
      double error = std::abs(at(channel, position) -
                              sign * right[channel * period + column]);
      if (!std::isfinite(error))
        return INFINITY;
      largest = std::max(largest, error / sizes[column]);
    }
  return largest;
}

CheckedErrors Expectation::compare(llvm::ArrayRef<float> output,
                                   bool negated) const {
  assert(int64_t(output.size()) == outputs * positions);
  auto at = [&](int64_t channel, int64_t position) {
    return double(output[channel * positions + position]);
  };
  double sign = negated ? -1 : 1;
  return {largestError(wanted, sign, positions, at),
          largestError(cpu, sign, positions, at)};
}

//===----------------------------------------------------------------------===//
// Expected outputs
//===----------------------------------------------------------------------===//

/// The largest error of a right result. The matrices preserve lengths, so the
/// errors of a chain add up like those of independent steps: with the square
/// root of their number. Rounding to fp16 contributes 0.001 per step, and the
/// coarsest published arithmetic of an engine (that of M1, emulated) 0.002.
/// Rounding to int8 sometimes turns a small difference into a whole
/// quantization step, which is 0.05. Wrong results have errors of 1 and more.
static double toleranceOf(llvm::ArrayRef<SuiteKernel> kernels) {
  constexpr double ofHalf = 0x1p-7, ofInt8 = 3 * 0x1p-5;
  double steps = 0;
  bool isInt8 = false;
  for (const SuiteKernel &kernel : kernels) {
    steps += kernel.depth;
    isInt8 |= kernel.form == KernelForm::Int8;
  }
  return (isInt8 ? ofInt8 : ofHalf) * std::sqrt(steps);
}

std::optional<Expectation>
Expectation::make(llvm::ArrayRef<SuiteKernel> kernels,
                  std::shared_ptr<Workspace> workspace, Diagnostics &diags) {
  Expectation made;
  made.inputs = kernels.front().inputs;
  made.outputs = kernels.back().outputs;
  made.positions = kernels.front().positions();
  made.given = made.wanted = made.cpu = drawInput(kernels.front());
  std::unique_ptr<Backend> backend = createCpuBackend();
  LoadOptions options;
  options.workspace = std::move(workspace);
  for (const SuiteKernel &kernel : kernels) {
    SuiteKernel narrow = kernel.narrowed(period);
    std::unique_ptr<Module> module = buildKernel(narrow, "1.3");
    if (!evaluate(*module, narrow, made.wanted, diags) ||
        !runOnCpu(*backend, options, *module, narrow, made.cpu, diags))
      return std::nullopt;
  }
  made.errorOfCpu = largestError(made.wanted, 1, period,
                                 [&](int64_t channel, int64_t column) {
                                   return made.cpu[channel * period + column];
                                 });
  made.allowed = toleranceOf(kernels);
  return made;
}

std::vector<float> Expectation::input(bool negated) const {
  std::vector<float> values(size_t(inputs * positions));
  for (int64_t channel = 0; channel < inputs; ++channel)
    for (int64_t position = 0; position < positions; ++position)
      values[channel * positions + position] = float(
          given[channel * period + position % period] * (negated ? -1 : 1));
  return values;
}
