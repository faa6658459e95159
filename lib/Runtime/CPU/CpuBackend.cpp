//===- CpuBackend.cpp - loads and runs a function -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Emulation/EmulatedSteps.h"
#include "Steps.h"
#include "anec/Ops/Ops.h"
#include "anec/Runtime/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <cstring>

using namespace anec;
using namespace anec::cpu;

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

namespace {
struct MakerRow {
  const OpDef *op;
  StepMaker make;
};
} // namespace

static constexpr MakerRow makers[] = {
    {&ops::Concat, makeConcat},
    {&ops::Conv, makeConv},
    {&ops::Gather, makeGather},
    {&ops::Linear, makeLinear},
    {&ops::Lstm, makeLstm},
    {&ops::Matmul, makeMatmul},
    {&ops::ReadState, makeReadState},
    {&ops::ReduceL1Norm, makeReduction},
    {&ops::ReduceL2Norm, makeReduction},
    {&ops::ReduceMax, makeReduction},
    {&ops::ReduceMean, makeReduction},
    {&ops::ReduceMin, makeReduction},
    {&ops::ReduceSum, makeReduction},
    {&ops::ReduceSumSquare, makeReduction},
    {&ops::SliceBySize, makeSliceBySize},
    {&ops::SliceUpdate, makeSliceUpdate},
    {&ops::Softmax, makeSoftmax},
    {&ops::Split, makeSplit},
    {&ops::Transpose, makeTranspose},
    {&ops::WriteState, makeWriteState},
};

StepFn cpu::makeStep(const Step &step, StepContext &ctx) {
  if (step.fused)
    return makeFused(step, ctx);
  const Op &op = *step.ops.front();
  if (isEmulated(ctx.numerics))
    if (StepFn fn = makeEmulated(op, ctx))
      return fn;
  for (const MakerRow &row : makers)
    if (op.is(*row.op))
      if (StepFn fn = row.make(op, ctx))
        return fn;
  return makeReference(op, ctx);
}

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

/// The type an array of `type` has outside: fp32 numerics round nothing.
static TensorType portType(TensorType type, Numerics numerics, bool output) {
  if (output && numerics == Numerics::FP32 && type.dtype == DType::FP16)
    type.dtype = DType::FP32;
  return type;
}

static void loadInput(const TensorType &type, llvm::ArrayRef<uint8_t> bytes,
                      uint32_t *words, ThreadPool &pool) {
  size_t count = type.numElements();
  if (type.dtype == DType::FP16) {
    const auto *halves = reinterpret_cast<const uint16_t *>(bytes.data());
    pool.parallelRanges(count, 16384, [&](size_t begin, size_t end, unsigned) {
      halfToFloat(end - begin, halves + begin,
                  reinterpret_cast<float *>(words) + begin);
    });
    return;
  }
  if (type.dtype == DType::FP32 || type.dtype == DType::Int32) {
    if (count)
      std::memcpy(words, bytes.data(), count * 4);
    return;
  }
  ConstantRef constant = Constant::view(type, type.dtype, bytes, nullptr);
  for (size_t i = 0; i < count; ++i) {
    double value = constant->doubleAt(int64_t(i));
    if (isFloat(type.dtype))
      reinterpret_cast<float *>(words)[i] = float(value);
    else
      words[i] = uint32_t(int32_t(int64_t(value)));
  }
}

static void storeOutput(const TensorType &type, const uint32_t *words,
                        llvm::MutableArrayRef<uint8_t> bytes,
                        ThreadPool &pool) {
  size_t count = type.numElements();
  if (type.dtype == DType::FP16) {
    auto *halves = reinterpret_cast<uint16_t *>(bytes.data());
    pool.parallelRanges(count, 16384, [&](size_t begin, size_t end, unsigned) {
      floatToHalf(end - begin, reinterpret_cast<const float *>(words) + begin,
                  halves + begin);
    });
    return;
  }
  if (type.dtype == DType::FP32 || type.dtype == DType::Int32) {
    if (count)
      std::memcpy(bytes.data(), words, count * 4);
    return;
  }
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = isFloat(type.dtype)
                    ? double(reinterpret_cast<const float *>(words)[i])
                    : double(int32_t(words[i]));
  ConstantRef constant = Constant::fromDoubles(type, values);
  llvm::copy(constant->bytes(), bytes.begin());
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

static StepTime describe(const Step &step) {
  StepTime time;
  for (const Op *op : step.ops) {
    time.ops += time.ops.empty() ? "" : ", ";
    time.ops += op->def().name;
  }
  const Op &op = *step.ops.back();
  const Value *last = op.numResults() ? op.result() : op.operand(0u);
  time.result = last->name;
  time.type = last->type;
  return time;
}

static void runTimed(const StepFn &step, StepTime &time) {
  auto start = std::chrono::steady_clock::now();
  step();
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  time.seconds += elapsed.count();
  time.fastest = std::min(time.fastest, elapsed.count());
}

//===----------------------------------------------------------------------===//
// The backend
//===----------------------------------------------------------------------===//

namespace {

class CpuExecutable : public Executable {
public:
  CpuExecutable(const Function &function, const LoadOptions &options)
      : pool(options.threads), schedule(function, options.numerics),
        storage(function, schedule, options.numerics) {
    StepContext ctx{storage, schedule, pool, options.numerics, &hazardList};
    for (const Step &step : schedule.steps) {
      steps.push_back(makeStep(step, ctx));
      if (options.timeSteps)
        times.push_back(describe(step));
    }
    for (const auto &param : function.parameters()) {
      uint32_t *words = storage.words(param.get());
      if (param->holder == Holder::State) {
        statePorts.push_back(
            {param->name, portType(param->type, options.numerics, true)});
        stateWords.push_back(words);
        continue;
      }
      inputPorts.push_back({param->name, param->type});
      inputWords.push_back(words);
    }
    for (unsigned i = 0; i < function.numResults(); ++i) {
      const Value *value = function.result(i);
      outputPorts.push_back({function.resultNames()[i],
                             portType(value->type, options.numerics, true)});
      outputWords.push_back(storage.words(value));
    }
  }

  bool run(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
           llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
           Diagnostics &) override {
    assert(inputs.size() == inputPorts.size() &&
           outputs.size() == outputPorts.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      assert(inputs[i].size() == inputPorts[i].type.numBytes());
      loadInput(inputPorts[i].type, inputs[i], inputWords[i], pool);
    }
    for (size_t i = 0; i < steps.size(); ++i)
      times.empty() ? steps[i]() : runTimed(steps[i], times[i]);
    for (size_t i = 0; i < outputs.size(); ++i) {
      assert(outputs[i].size() == outputPorts[i].type.numBytes());
      storeOutput(outputPorts[i].type, outputWords[i], outputs[i], pool);
    }
    return true;
  }

  void setState(unsigned index, llvm::ArrayRef<uint8_t> bytes) override {
    assert(bytes.size() == statePorts[index].type.numBytes());
    loadInput(statePorts[index].type, bytes, stateWords[index], pool);
  }
  void getState(unsigned index, llvm::MutableArrayRef<uint8_t> bytes) override {
    assert(bytes.size() == statePorts[index].type.numBytes());
    storeOutput(statePorts[index].type, stateWords[index], bytes, pool);
  }

  std::vector<OpHazards> hazards() const override { return hazardList.found(); }
  uint64_t constantBytes() const override { return storage.constantBytes(); }
  uint64_t activationBytes() const override { return storage.arenaBytes(); }

private:
  ThreadPool pool;
  Schedule schedule;
  Storage storage;
  HazardList hazardList;
  std::vector<StepFn> steps;
  std::vector<uint32_t *> inputWords, stateWords;
  std::vector<const uint32_t *> outputWords;
};

class CpuBackend : public Backend {
public:
  llvm::StringRef name() const override { return "cpu"; }

  std::unique_ptr<Executable> load(const Function &function,
                                   const LoadOptions &options,
                                   Diagnostics &diags) override {
    for (const Op &op : function.body())
      if (!op.def().eval) {
        diags.report(op.range(), diag::BackendLacksOp, name(), op.def().name);
        return nullptr;
      }
    // Ops take strings as constants only, so these are all that are computed.
    llvm::SmallVector<const Value *> ports;
    llvm::append_range(ports, function.resultValues());
    for (const auto &param : function.parameters())
      ports.push_back(param.get());
    for (const Value *port : ports)
      if (port->type.dtype == DType::String) {
        diags.report(port->range(), diag::BackendLacksType, name(),
                     port->type.str());
        return nullptr;
      }
    return std::make_unique<CpuExecutable>(function, options);
  }
};

} // namespace

std::unique_ptr<Backend> anec::createCpuBackend() {
  return std::make_unique<CpuBackend>();
}
