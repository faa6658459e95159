//===- ProbeSubject.cpp - a program of a rule, ready to run ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProbeSubject.h"
#include "anec/MIL/Reader.h"
#include "anec/Ops/Ops.h"
#include "anec/Ops/Report.h"
#include "anec/Probe/Diags.h"
#include "anec/Runtime/CPU/CpuBackend.h"
#include "anec/Runtime/Diags.h"
#include "anec/Support/Half.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <cstring>
#include <unistd.h>

using namespace anec;

ProbeSubject::ProbeSubject(const RuleProgram &program,
                           const RuleProgram &meaning,
                           std::shared_ptr<Workspace> workspace)
    : program(program), meaning(meaning), how(probeSetting(program.rule)),
      workspace(std::move(workspace)) {}

static std::unique_ptr<Module> read(llvm::StringRef text, Diagnostics &diags) {
  MILReadOptions options;
  options.missingWeights = MILReadOptions::MissingWeights::Ignore;
  llvm::StringRef kept = diags.addBuffer(
      llvm::MemoryBuffer::getMemBuffer(text, "probe.mil", false));
  std::unique_ptr<Module> module = readMIL(kept, "", opTable(), diags, options);
  return module && module->functions.size() == 1 ? std::move(module) : nullptr;
}

static uint64_t bytesOf(llvm::ArrayRef<Port> ports) {
  uint64_t sum = 0;
  for (const Port &port : ports)
    sum += port.type.numBytes();
  return sum;
}

/// Why the machine does not have enough memory; empty when it has. Arrays,
/// surfaces, and fp32 values on the processor take five times the bytes of the
/// program.
static std::string checkMemory(uint64_t bytes) {
  uint64_t needed = 5 * bytes;
  uint64_t memory =
      uint64_t(::sysconf(_SC_PHYS_PAGES)) * uint64_t(::sysconf(_SC_PAGESIZE));
  if (needed <= memory / 4 * 3)
    return "";
  return llvm::formatv("it takes about {0:F0} GB, which is more than three "
                       "quarters of this machine's {1:F0} GB of memory",
                       double(needed) * 1e-9, double(memory) * 1e-9)
      .str();
}

std::string ProbeSubject::prepare() {
  module = read(program.text, sources);
  isReadable = module != nullptr;
  if (!isReadable) {
    unreadable = sources.all().empty() ? "several functions"
                                       : sources.all().front().message;
    module = read(meaning.text, sources);
  }
  if (!module)
    return "anec can read neither this program nor the one that keeps the rule";
  weights.draw(*module->functions.front(), how.weightScale);
  for (const auto &param : function().parameters())
    if (param->holder == Holder::Tensor)
      inputPorts.push_back({param->name, param->type});
    else
      states = true;
  for (unsigned i = 0; i < function().numResults(); ++i)
    outputPorts.push_back(
        {function().resultNames()[i], function().result(i)->type});
  if (std::string few = checkMemory(::bytesOf(inputPorts) +
                                    ::bytesOf(outputPorts) + weights.bytes());
      !few.empty())
    return few;
  for (const Port &port : inputPorts)
    inputs.push_back(
        drawArray(port.type, how.low, how.high, inputs.size() + 1));
  return "";
}

std::unique_ptr<Executable> ProbeSubject::load(Backend &backend,
                                               Diagnostics &diags) {
  if (!backend.capabilities().takesText) {
    if (!isReadable) {
      diags.report({}, diag::ProbeNotRead, unreadable);
      return nullptr;
    }
    LoadOptions options;
    options.workspace = workspace;
    options.milVersion = module->version;
    return backend.load(function(), options, diags);
  }
  ProgramText text{program.text, {}, inputPorts, outputPorts, how.asDeclared};
  std::string error;
  if (!weights.makeFiles(text.weightFiles, error)) {
    diags.report({}, diag::AneStaging, error);
    return nullptr;
  }
  return backend.loadText(text, diags);
}

bool ProbeSubject::run(Executable &executable,
                       std::vector<std::vector<uint8_t>> &outputs,
                       Diagnostics &diags) const {
  outputs.clear();
  for (const Port &port : executable.outputs())
    outputs.emplace_back(port.type.numBytes());
  llvm::SmallVector<llvm::ArrayRef<uint8_t>> in(inputs.begin(), inputs.end());
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> out(outputs.begin(),
                                                        outputs.end());
  return executable.run(in, out, diags);
}

/// Elements `begin` to `begin + out.size()` as floats.
static void floatsOf(const TensorType &type, llvm::ArrayRef<uint8_t> bytes,
                     uint64_t begin, llvm::MutableArrayRef<float> out) {
  if (type.dtype == DType::FP16)
    halvesToFloats(reinterpret_cast<const uint16_t *>(bytes.data()) + begin,
                   out.data(), out.size());
  else if (type.dtype == DType::FP32)
    std::memcpy(out.data(), bytes.data() + begin * sizeof(float),
                out.size() * sizeof(float));
  else {
    ConstantRef array = Constant::copy(type, bytes);
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = float(array->doubleAt(int64_t(begin + i)));
  }
}

namespace {
/// Accumulated differences.
struct Sum {
  double difference = 0, norm = 0, largest = 0;

  void add(float got, float wanted) {
    if (!std::isfinite(got) || !std::isfinite(wanted)) {
      bool same = got == wanted || (std::isnan(got) && std::isnan(wanted));
      if (!same)
        difference = largest = std::numeric_limits<double>::infinity();
      return;
    }
    double apart = double(got) - double(wanted);
    difference += apart * apart;
    norm += double(wanted) * double(wanted);
    largest = std::max(largest, std::abs(apart));
  }
  ProbeError error() const {
    if (difference == 0)
      return {};
    return {norm == 0 ? std::numeric_limits<double>::infinity()
                      : std::sqrt(difference / norm),
            largest};
  }
};
} // namespace

std::optional<ProbeError>
ProbeSubject::compare(std::vector<std::vector<uint8_t>> outputs,
                      Diagnostics &diags) {
  std::vector<std::vector<uint8_t>> wanted;
  LoadOptions options;
  options.workspace = workspace;
  std::unique_ptr<Executable> reference =
      createCpuBackend()->load(function(), options, diags);
  if (!reference || !run(*reference, wanted, diags))
    return std::nullopt;
  Sum sum;
  std::vector<float> got(1 << 16), expected(1 << 16);
  for (size_t port = 0; port < outputPorts.size(); ++port) {
    const TensorType &type = outputPorts[port].type;
    uint64_t count = uint64_t(type.numElements());
    for (uint64_t begin = 0; begin < count; begin += got.size()) {
      size_t length = size_t(std::min<uint64_t>(got.size(), count - begin));
      llvm::MutableArrayRef<float> left(got.data(), length),
          right(expected.data(), length);
      floatsOf(type, outputs[port], begin, left);
      floatsOf(type, wanted[port], begin, right);
      for (size_t i = 0; i < length; ++i)
        sum.add(left[i], right[i]);
    }
  }
  return sum.error();
}

double ProbeSubject::operations() const {
  return double(makeReport(function()).flops);
}
