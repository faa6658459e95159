//===- ProbeSubject.cpp - a program with inputs, ready to run -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProbeSubject.h"
#include "anec/MIL/Reader.h"
#include "anec/Ops/Report.h"
#include "lib/Ops/Ops.h"
#include "lib/Probe/Diags.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "lib/Runtime/Diags.h"
#include "lib/Support/Half.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>
#include <cstring>
#include <unistd.h>

using namespace anec;

ProbeSubject::ProbeSubject(llvm::StringRef text, llvm::StringRef meaning,
                           const ProbeSetting &how,
                           std::shared_ptr<Workspace> workspace)
    : text(text), meaning(meaning), how(how), workspace(std::move(workspace)) {}

ProbeSubject::ProbeSubject(std::unique_ptr<Module> compiled,
                           const ProbeSetting &how,
                           std::shared_ptr<Workspace> workspace)
    : how(how), workspace(std::move(workspace)), module(std::move(compiled)),
      isReadable(true) {}

static std::unique_ptr<Module> readProbeProgram(llvm::StringRef text,
                                                Diagnostics &diags) {
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
  if (!module) {
    module = readProbeProgram(text, sources);
    isReadable = module != nullptr;
  }
  if (!isReadable) {
    unreadable = sources.all().empty() ? "several functions"
                                       : sources.all().front().message;
    module = readProbeProgram(meaning, sources);
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
  if (!backend.capabilities().takesText || text.empty()) {
    if (!isReadable) {
      diags.report({}, diag::ProbeNotRead, unreadable);
      return nullptr;
    }
    LoadOptions options;
    options.workspace = workspace;
    options.milVersion = module->version;
    return backend.load(function(), options, diags);
  }
  ProgramText program{text.str(), {}, inputPorts, outputPorts, how.asDeclared};
  std::string error;
  if (!weights.makeFiles(program.weightFiles, error)) {
    diags.report({}, diag::AneStaging, error);
    return nullptr;
  }
  return backend.loadText(program, diags);
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
  void add(const Sum &other) {
    difference += other.difference;
    norm += other.norm;
    largest = std::max(largest, other.largest);
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
  Sum all;
  std::vector<ProbeError> ofOutputs;
  std::vector<float> got(1 << 16), expected(1 << 16);
  for (size_t port = 0; port < outputPorts.size(); ++port) {
    const TensorType &type = outputPorts[port].type;
    uint64_t count = uint64_t(type.numElements());
    Sum sum;
    for (uint64_t begin = 0; begin < count; begin += got.size()) {
      size_t length = size_t(std::min<uint64_t>(got.size(), count - begin));
      llvm::MutableArrayRef<float> left(got.data(), length),
          right(expected.data(), length);
      floatsOf(type, outputs[port], begin, left);
      floatsOf(type, wanted[port], begin, right);
      for (size_t i = 0; i < length; ++i)
        sum.add(left[i], right[i]);
    }
    ofOutputs.push_back(sum.error());
    all.add(sum);
  }
  ProbeError error = all.error();
  error.ofOutputs = std::move(ofOutputs);
  return error;
}

bool ProbeSubject::isRight(const ProbeError &error) const {
  bool isSmall = how.absolute > 0 ? error.largest <= how.absolute
                                  : error.relative <= how.relative;
  // A large output would hide the errors of a small one.
  return isSmall && llvm::all_of(error.ofOutputs, [&](const ProbeError &one) {
           return isRight(one);
         });
}

double ProbeSubject::operations() const {
  return double(makeReport(function()).flops);
}
