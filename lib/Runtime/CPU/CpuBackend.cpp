//===- CpuBackend.cpp - loads and runs a function -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CPU/CpuBackend.h"
#include "Emulation/EmulatedSteps.h"
#include "Processor.h"
#include "Steps.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Control.h"
#include "lib/Runtime/CPU/HostProgram.h"
#include "lib/Runtime/Diags.h"
#include "lib/Runtime/Elements.h"
#include "lib/Support/Interruption.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <cstring>

using namespace anec;
using namespace anec::cpu;

//===----------------------------------------------------------------------===//
// Inputs and outputs
//===----------------------------------------------------------------------===//

/// The type of a port for the caller: with fp32 numerics, fp16 outputs are
/// fp32, because nothing is rounded.
static TensorType portType(TensorType type, Numerics numerics, bool output) {
  if (output && numerics == Numerics::FP32 && type.dtype == DType::FP16)
    type.dtype = DType::FP32;
  return type;
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

/// The values in the caller's memory.
struct Bound {
  Storage::Places places;
  std::vector<bool> taken;

  Bound(const PortParts &parts, const Schedule &schedule,
        llvm::ArrayRef<Binding> bindings) {
    llvm::DenseSet<const Value *> inputs;
    for (const PortPart &part : parts.inputs)
      inputs.insert(part.value);
    for (const Binding &binding : bindings) {
      bool found = false;
      for (const PortPart &part :
           binding.output ? parts.outputs : parts.inputs) {
        if (part.port != binding.port || part.region != binding.region)
          continue;
        // A result that is an input or a constant is stored elsewhere.
        const Value *value = schedule.root(part.value);
        if (schedule.isConstant(value) ||
            (binding.output && inputs.contains(value)))
          continue;
        auto [it, fresh] = places.try_emplace(
            value, reinterpret_cast<uint32_t *>(binding.memory));
        // Another part of the output may be the same value. The same part of an
        // input may be sliced twice.
        found |= fresh;
        if (binding.output)
          break;
      }
      taken.push_back(found);
    }
  }
};

class CpuExecutable : public Executable {
public:
  CpuExecutable(const Function &function, const LoadOptions &options,
                std::shared_ptr<Workspace> sharedWithOthers,
                const ProductKernels &products)
      : shared(std::move(sharedWithOthers)), numerics(options.numerics),
        parts(function, options.numerics),
        schedule(function, parts, options.numerics),
        storage(function, schedule, parts, options.numerics,
                bind(function, options), *shared) {
    StepContext ctx{storage,          schedule, shared->executor(),
                    options.numerics, products, &hazardList};
    for (const Step &step : schedule.steps) {
      steps.push_back(makeStep(step, ctx));
      if (options.timeSteps)
        times.push_back(describe(step));
    }
    for (const auto &param : function.parameters()) {
      if (param->holder == Holder::State) {
        statePorts.push_back(
            {param->name, portType(param->type, options.numerics, true)});
        stateWords.push_back(storage.words(param.get()));
        continue;
      }
      inputPorts.push_back({param->name, param->type, !param->hasUses()});
    }
    for (unsigned i = 0; i < function.numResults(); ++i)
      outputPorts.push_back(
          {function.resultNames()[i],
           portType(function.result(i)->type, options.numerics, true)});
    for (const PortPart &part : parts.inputs)
      inputPieces.push_back(
          {part.port, part.region, storage.words(part.value)});
    for (const PortPart &part : parts.outputs)
      outputPieces.push_back(
          {part.port, part.region, storage.words(part.value)});
  }

  bool writeInput(unsigned port, const Region &region, const float *elements,
                  Diagnostics &) override {
    Rounding rounding =
        numerics != Numerics::FP32 && inputPorts[port].type.dtype == DType::FP16
            ? Rounding::FP16
            : Rounding::None;
    for (const Piece &piece : inputPieces)
      forEachRow(piece, port, region,
                 [&](float *row, size_t offset, size_t count) {
                   if (rounding == Rounding::FP16)
                     roundToHalf(count, elements + offset, row);
                   else
                     std::memcpy(row, elements + offset, count * 4);
                 });
    return true;
  }

  bool readOutput(unsigned port, const Region &region, float *elements,
                  Diagnostics &) override {
    for (const Piece &piece : outputPieces)
      forEachRow(piece, port, region,
                 [&](const float *row, size_t offset, size_t count) {
                   std::memcpy(elements + offset, row, count * 4);
                 });
    return true;
  }

  bool execute(Diagnostics &diags) override {
    for (size_t i = 0; i < steps.size(); ++i) {
      times.empty() ? steps[i]() : runTimed(steps[i], times[i]);
      // Then a loop may have ended early.
      if (Interruption::isAsked()) {
        diags.report({}, diag::Interrupted);
        return false;
      }
    }
    return true;
  }

  bool run(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
           llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
           Diagnostics &diags) override {
    assert(inputs.size() == inputPorts.size() &&
           outputs.size() == outputPorts.size());
    for (unsigned i = 0; i < inputs.size(); ++i) {
      const TensorType &type = inputPorts[i].type;
      assert(inputs[i].size() == type.numBytes());
      if (uint32_t *words = wholePort(inputPieces, i, type)) {
        loadElements(type, inputs[i], words, shared->executor());
        continue;
      }
      float *elements = converted(type);
      loadElements(type, inputs[i], reinterpret_cast<uint32_t *>(elements),
                   shared->executor());
      if (!writeInput(i, matrixOf(type.shape), elements, diags))
        return false;
    }
    if (!execute(diags))
      return false;
    for (unsigned i = 0; i < outputs.size(); ++i) {
      const TensorType &type = outputPorts[i].type;
      assert(outputs[i].size() == type.numBytes());
      uint32_t *words = wholePort(outputPieces, i, type);
      if (!words) {
        float *elements = converted(type);
        if (!readOutput(i, matrixOf(type.shape), elements, diags))
          return false;
        words = reinterpret_cast<uint32_t *>(elements);
      }
      storeElements(type, words, outputs[i], shared->executor());
    }
    return true;
  }

  bool setState(unsigned index, llvm::ArrayRef<uint8_t> bytes,
                Diagnostics &) override {
    assert(bytes.size() == statePorts[index].type.numBytes());
    loadElements(statePorts[index].type, bytes, stateWords[index],
                 shared->executor());
    return true;
  }
  bool getState(unsigned index, llvm::MutableArrayRef<uint8_t> bytes,
                Diagnostics &) override {
    assert(bytes.size() == statePorts[index].type.numBytes());
    storeElements(statePorts[index].type, stateWords[index], bytes,
                  shared->executor());
    return true;
  }

  std::vector<OpHazards> hazards() const override { return hazardList.found(); }
  uint64_t constantBytes() const override { return storage.constantBytes(); }
  uint64_t activationBytes() const override { return storage.arenaBytes(); }

private:
  /// A part of a port and its memory.
  struct Piece {
    unsigned port;
    Region region;
    uint32_t *words;
  };

  Storage::Places bind(const Function &function, const LoadOptions &options) {
    Bound result(parts, schedule, options.bindings);
    bound = std::move(result.taken);
    float *const *next = options.states.begin();
    for (const auto &param : function.parameters())
      if (param->holder == Holder::State && next != options.states.end())
        result.places[param.get()] = reinterpret_cast<uint32_t *>(*next++);
    return std::move(result.places);
  }

  /// Calls `visit` for the overlap of each row of `region` with `piece`: its
  /// memory, its offset among the elements of `region`, and its length.
  template <typename Visit>
  static void forEachRow(const Piece &piece, unsigned port,
                         const Region &region, Visit visit) {
    const Region &own = piece.region;
    int64_t left = std::max(own.column, region.column);
    int64_t right =
        std::min(own.column + own.columns, region.column + region.columns);
    int64_t top = std::max(own.channel, region.channel);
    int64_t bottom =
        std::min(own.channel + own.channels, region.channel + region.channels);
    if (piece.port != port || left >= right)
      return;
    float *words = reinterpret_cast<float *>(piece.words);
    bool whole = right - left == own.columns && own.columns == region.columns;
    int64_t step = whole ? std::max<int64_t>(bottom - top, 1) : 1;
    for (int64_t channel = top; channel < bottom; channel += step)
      visit(words + (channel - own.channel) * own.columns + left - own.column,
            size_t((channel - region.channel) * region.columns + left -
                   region.column),
            size_t(step * (right - left)));
  }

  /// The memory of a whole port; null when it is in several pieces.
  static uint32_t *wholePort(llvm::ArrayRef<Piece> pieces, unsigned port,
                             const TensorType &type) {
    uint32_t *whole = nullptr;
    for (const Piece &piece : pieces)
      if (piece.port == port) {
        if (whole || piece.region != matrixOf(type.shape))
          return nullptr;
        whole = piece.words;
      }
    return whole;
  }

  /// Memory for a whole port, allocated once.
  float *converted(const TensorType &type) {
    size_t count = size_t(type.numElements());
    if (convertedCount < count) {
      conversion = makeAlignedArray(count);
      convertedCount = count;
    }
    return conversion.get();
  }

  std::shared_ptr<Workspace> shared;
  Numerics numerics;
  PortParts parts;
  Schedule schedule;
  Storage storage;
  HazardList hazardList;
  std::vector<StepFn> steps;
  std::vector<Piece> inputPieces, outputPieces;
  AlignedArray conversion;
  size_t convertedCount = 0;
  std::vector<uint32_t *> stateWords;
};

class CpuBackend : public Backend {
public:
  CpuBackend(const BackendRow &row, const BackendSettings &settings,
             const ProductKernels &products)
      : Backend(row.name, row.capabilities), executor(settings.executor),
        products(products) {}

  std::unique_ptr<Executable> load(const Function &function,
                                   const LoadOptions &options,
                                   Diagnostics &diags) override {
    for (const Op &op : function.body())
      if (!op.def().eval) {
        diags.report(op.range(), diag::BackendLacksOp, name(), op.def().name);
        return nullptr;
      }
    if (!checkPorts(function, diags))
      return nullptr;
    return std::make_unique<CpuExecutable>(
        function, options, options.workspace ? options.workspace : workspace(),
        products);
  }

private:
  /// The workspace of programs that are loaded without one.
  const std::shared_ptr<Workspace> &workspace() {
    if (!own)
      own = executor ? std::make_shared<Workspace>(executor)
                     : std::make_shared<Workspace>();
    return own;
  }
  std::shared_ptr<Executor> executor;
  std::shared_ptr<Workspace> own;
  const ProductKernels &products;
};

} // namespace

/// All types except strings, which ops accept only as constants.
static constexpr DTypeSet computedTypes = {
    DType::Bool,  DType::FP16,      DType::FP32,    DType::FP64,
    DType::BF16,  DType::FP8E4M3FN, DType::FP8E5M2, DType::Int4,
    DType::Int8,  DType::Int16,     DType::Int32,   DType::Int64,
    DType::UInt1, DType::UInt2,     DType::UInt3,   DType::UInt4,
    DType::UInt6, DType::UInt8,     DType::UInt16,  DType::UInt32,
    DType::UInt64};

BackendRow anec::cpuBackend() {
  BackendRow row;
  row.name = "cpu";
  row.summary = "the processor";
  row.capabilities.portTypes = computedTypes;
  row.capabilities.takesWeightsAsInputs = true;
  row.capabilities.hasStates = true;
  row.capabilities.bindsMemory = true;
  row.capabilities.computesOnProcessor = true;
  row.capabilities.hasNumerics = true;
  row.capabilities.timesSteps = true;
  row.open = [](const BackendSettings &settings, Diagnostics &) {
    return std::make_unique<CpuBackend>(cpuBackend(), settings, bestProducts());
  };
  row.machine = [](const BackendSettings &) { return thisProcessor(); };
  return row;
}

std::unique_ptr<Backend> anec::createCpuBackend() {
  return createCpuBackend(bestProducts());
}

std::unique_ptr<Backend>
anec::createCpuBackend(const ProductKernels &products) {
  return std::make_unique<CpuBackend>(cpuBackend(), BackendSettings(),
                                      products);
}
