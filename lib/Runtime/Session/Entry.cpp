//===- Entry.cpp - an entry, ready to run ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Entry.h"
#include "anec/Ops/Ops.h"
#include "anec/Package/ScheduleWalk.h"
#include "anec/Runtime/CPU/VectorKernels.h"
#include "anec/Runtime/Diags.h"
#include "llvm/ADT/DenseSet.h"
#include <cstring>

using namespace anec;
using namespace anec::session;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static const PackagedInstance *findInstance(const PackagedKernel &kernel,
                                            std::optional<int64_t> index) {
  for (const PackagedInstance &instance : kernel.instances)
    if (instance.index == index)
      return &instance;
  return nullptr;
}

std::shared_ptr<KernelProgram> Entry::load(const Item &item,
                                           const PackagedKernel &kernel,
                                           llvm::ArrayRef<Binding> bindings,
                                           Diagnostics &diags) {
  const PackagedInstance *instance = findInstance(kernel, item.instance);
  if (!instance) {
    diags.report(item.op->range(), diag::NoInstance, kernel.name);
    return nullptr;
  }
  // Inputs that keep what staging writes belong to one instance.
  std::vector<const void *> key = {instance};
  for (Slot *slot : item.in)
    if (slot->staged)
      key.push_back(&slot->root());
  std::shared_ptr<KernelProgram> &loaded = programs[key];
  if (loaded && !around.bindsMemory())
    return loaded;
  std::shared_ptr<Module> &module =
      kernels[kernel.mil + "\n" + instance->weights];
  if (!module)
    module = loadKernel(around.package, kernel, *instance, diags);
  if (!module)
    return nullptr;
  auto program = std::make_shared<KernelProgram>(around, kernel, *instance,
                                                 module, bindings);
  if (!program->load(diags))
    return nullptr;
  loaded = program;
  return program;
}

void Entry::appendBaked(
    std::vector<std::shared_ptr<KernelProgram>> &baked) const {
  for (const Part &part : parts)
    if (part.call && part.call->program->isBaked() &&
        !llvm::is_contained(baked, part.call->program))
      baked.push_back(part.call->program);
}

bool Entry::buildCall(const Item &item, Part &part, Diagnostics &diags) {
  const PackagedKernel &kernel =
      *around.package.findKernel(item.op->get(param::callee));
  part.time = {PartTime::Kernel, instanceName(kernel.name, item.instance)};
  llvm::SmallVector<Binding, 16> bindings;
  llvm::SmallVector<Slot *, 16> slots;
  auto bind = [&](bool output, const PackagedTensor &tensor, Slot *slot) {
    bindings.push_back({output, tensor.port, tensor.region,
                        reinterpret_cast<float *>(slot->words)});
    slots.push_back(slot);
  };
  for (auto [tensor, slot] : llvm::zip_equal(kernel.inputs, item.in))
    bind(false, tensor, slot);
  for (auto [tensor, slot] : llvm::zip_equal(kernel.outputs, item.out))
    bind(true, tensor, slot);

  bool binds = around.bindsMemory();
  Call &call = part.call.emplace();
  call.program =
      load(item, kernel,
           binds ? llvm::ArrayRef<Binding>(bindings) : std::nullopt, diags);
  Executable *executable =
      call.program ? call.program->executable(diags) : nullptr;
  if (!executable)
    return false;
  for (auto [index, binding] : llvm::enumerate(bindings)) {
    if (binds && executable->isBound(index))
      continue;
    auto &list = binding.output         ? call.reads
                 : slots[index]->staged ? call.staged
                                        : call.writes;
    list.push_back({binding.port, binding.region, slots[index]});
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Host ops
//===----------------------------------------------------------------------===//

bool Entry::buildSegment(llvm::ArrayRef<const Item *> items, Part &part,
                         Diagnostics &diags) {
  std::optional<Segment> segment = makeSegment(items, diags);
  if (!segment)
    return false;
  part.time = {PartTime::Host, segment->ops};
  part.segment = std::make_unique<Segment>(std::move(*segment));
  // Rows are added to what is there, so something has to be.
  for (const auto &[item, sum] : part.segment->scatters) {
    std::string name = instanceName(item->op->get(param::name), item->instance);
    if (begun.insert(name).second)
      part.zeroed.push_back({reinterpret_cast<float *>(item->gradient->words),
                             item->gradient->count()});
  }
  for (const Item *item : part.segment->accumulations) {
    std::string name = instanceName(item->op->get(param::name), item->instance);
    part.beginsGradient.push_back(begun.insert(name).second);
  }
  return true;
}

cpu::HostProgram &Entry::program(Part &part, Gradients gradients) {
  // Where nothing is added up, both are the same.
  size_t number =
      gradients == Gradients::Add && !part.beginsGradient.empty() ? 1 : 0;
  std::unique_ptr<cpu::HostProgram> &program = part.programs[number];
  if (program)
    return *program;
  const Segment &segment = *part.segment;
  cpu::HostMemory memory;
  for (const Slot *slot : segment.parameters)
    memory.parameters.push_back(slot->words);
  for (const Slot *slot : segment.results)
    memory.results.push_back(slot->words);
  for (auto [item, begins] :
       llvm::zip_equal(segment.accumulations, part.beginsGradient)) {
    std::string name = instanceName(item->op->get(param::name), item->instance);
    memory.gradients.push_back({around.arrays.gradient(name),
                                begins && gradients == Gradients::Begin});
  }
  program = std::make_unique<cpu::HostProgram>(
      *segment.function, memory, around.options.load.numerics,
      part.time.overlaps ? around.besideKernels : around.machine);
  return *program;
}

//===----------------------------------------------------------------------===//
// Preparing
//===----------------------------------------------------------------------===//

/// The types that go in and out.
bool Entry::checkPorts(const Function &function, Diagnostics &diags) {
  auto check = [&](const TensorType &type) {
    if (type.dtype == DType::FP16 || type.dtype == DType::FP32 ||
        type.dtype == DType::Int32)
      return true;
    diags.report(function.range, diag::BackendLacksType, "cpu", type.str());
    return false;
  };
  for (const auto &param : function.parameters()) {
    if (!check(param->type))
      return false;
    inputPorts.push_back({param->name, param->type});
  }
  for (unsigned index = 0; index < function.numResults(); ++index) {
    TensorType type = function.result(index)->type;
    if (!check(type))
      return false;
    // fp32 numerics round nothing.
    if (type.dtype == DType::FP16 &&
        around.options.load.numerics == Numerics::FP32)
      type.dtype = DType::FP32;
    outputPorts.push_back({function.resultNames()[index], type});
  }
  return true;
}

bool Entry::addParts(Diagnostics &diags) {
  if (!stagedItems.empty() && !buildSegment(stagedItems, staging, diags))
    return false;
  for (auto [number, group] : llvm::enumerate(groups)) {
    Part &part = parts.emplace_back();
    if (group.isCall() ? !buildCall(*group.items.front(), part, diags)
                       : !buildSegment(group.items, part, diags))
      return false;
    part.time.isBackward = number > lastForwardGroup;
    part.time.overlaps = group.overlaps;
    if (!group.isCall())
      program(part, Gradients::Begin);
  }
  findFinished();
  return true;
}

/// Tells which part is the last to add to each gradient.
void Entry::findFinished() {
  llvm::DenseSet<const uint32_t *> known;
  for (auto [part, group] :
       llvm::zip_equal(llvm::reverse(parts), llvm::reverse(groups)))
    for (const Item *item : group.items)
      if (item->kind == Item::Accumulate &&
          known.insert(item->gradient->words).second)
        part.finished.push_back(
            {reinterpret_cast<float *>(item->gradient->words),
             item->gradient->count()});
}

/// Gives every accumulation its gradient.
bool Entry::findGradients(Diagnostics &diags) {
  for (Item &item : schedule.items) {
    if (item.kind != Item::Accumulate)
      continue;
    llvm::StringRef weight = item.op->get(param::name);
    std::string name = instanceName(weight, item.instance);
    float *memory = around.arrays.gradient(name);
    if (!memory) {
      diags.report(item.op->range(), diag::WeightNotHere, name);
      return false;
    }
    item.gradient = schedule.addSlot(
        TensorType(DType::FP32, around.package.findWeight(weight)->type.shape));
    item.gradient->words = reinterpret_cast<uint32_t *>(memory);
    item.gradient->lasting = true;
  }
  return true;
}

bool Entry::build(const Function &function, Diagnostics &diags) {
  if (!checkPorts(function, diags))
    return false;
  flatten(
      *around.package.schedule, function,
      [&](const Op &op, std::optional<int64_t> instance) {
        return weightSlot(op, instance);
      },
      schedule);
  bool missing = false;
  for (const auto &[key, slot] : slotOfWeight)
    if (!slot->words) {
      diags.report({}, diag::WeightNotHere, key.first);
      missing = true;
    }
  if (missing)
    return false;
  sinkAccumulations(schedule);
  if (!findGradients(diags))
    return false;
  group();
  if (around.besideKernels) {
    separateGradients();
    worker = std::make_unique<llvm::DefaultThreadPool>(
        llvm::hardware_concurrency(1));
  }
  findLifetimes();
  prolongLifetimes();
  placeSlots();
  bool ok = addParts(diags);
  kernels.clear();
  return ok;
}

std::unique_ptr<Entry> Entry::prepare(const Function &function,
                                      Surroundings &around,
                                      Diagnostics &diags) {
  std::unique_ptr<Entry> entry(new Entry(around));
  return entry->build(function, diags) ? std::move(entry) : nullptr;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

bool Entry::stage(Diagnostics &diags) {
  if (staging.segment)
    program(staging, Gradients::Begin).run();
  for (Part &part : parts) {
    if (!part.call || part.call->staged.empty())
      continue;
    Executable *executable = part.call->program->executable(diags);
    if (!executable)
      return false;
    for (const Call::Transfer &transfer : part.call->staged)
      if (!executable->writeInput(
              transfer.port, transfer.region,
              reinterpret_cast<const float *>(transfer.slot->words), diags))
        return false;
  }
  return true;
}

namespace {
/// Notes when a part began and, at the end of a scope, what it took.
class Timing {
public:
  explicit Timing(PartTime &time) : time(time) {
    time.begin = std::chrono::steady_clock::now();
  }
  ~Timing() {
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - time.begin;
    time.seconds = elapsed.count();
  }

private:
  PartTime &time;
};
} // namespace

void Entry::runSegment(Part &part, cpu::HostProgram &program,
                       Gradients gradients) {
  Timing timing(part.time);
  if (gradients == Gradients::Begin)
    for (llvm::MutableArrayRef<float> gradient : part.zeroed)
      std::fill(gradient.begin(), gradient.end(), 0.0f);
  program.run();
}

/// Waits until no more than `most` parts run beside this thread.
void Entry::waitBeside(size_t most, GradientReady ready) {
  for (; beside.size() > most; beside.pop_front()) {
    beside.front()->done.wait();
    llvm::for_each(beside.front()->finished, ready);
  }
}

bool Entry::runPart(Part &part, Gradients gradients, Diagnostics &diags) {
  if (part.time.overlaps) {
    cpu::HostProgram &segment = program(part, gradients);
    part.done = worker->async([this, &part, &segment, gradients] {
      runSegment(part, segment, gradients);
    });
    beside.push_back(&part);
    return true;
  }
  if (!part.call) {
    runSegment(part, program(part, gradients), gradients);
    return true;
  }
  Timing timing(part.time);
  Executable *loaded = part.call->program->executable(diags);
  if (!loaded)
    return false;
  Executable &executable = *loaded;
  for (const Call::Transfer &transfer : part.call->writes)
    if (!executable.writeInput(
            transfer.port, transfer.region,
            reinterpret_cast<const float *>(transfer.slot->words), diags))
      return false;
  if (!executable.execute(diags))
    return false;
  for (const Call::Transfer &transfer : part.call->reads)
    if (!executable.readOutput(transfer.port, transfer.region,
                               reinterpret_cast<float *>(transfer.slot->words),
                               diags))
      return false;
  return true;
}

bool Entry::runParts(Gradients gradients, GradientReady ready,
                     Diagnostics &diags) {
  bool ok = true;
  for (Part &part : parts) {
    bool isWanted = gradients != Gradients::None || !part.time.isBackward;
    if (!isWanted)
      break;
    if (part.time.overlaps)
      waitBeside(maxBeside - 1, ready);
    ok = runPart(part, gradients, diags);
    if (!ok)
      break;
    if (!part.time.overlaps)
      llvm::for_each(part.finished, ready);
  }
  waitBeside(0, ready);
  return ok;
}

static void loadPort(const TensorType &type, llvm::ArrayRef<uint8_t> bytes,
                     uint32_t *words) {
  assert(bytes.size() == type.numBytes());
  if (type.dtype == DType::FP16)
    cpu::halfToFloat(size_t(type.numElements()),
                     reinterpret_cast<const uint16_t *>(bytes.data()),
                     reinterpret_cast<float *>(words));
  else if (!bytes.empty())
    std::memcpy(words, bytes.data(), bytes.size());
}

static void storePort(const TensorType &type, const uint32_t *words,
                      llvm::MutableArrayRef<uint8_t> bytes) {
  assert(bytes.size() == type.numBytes());
  if (type.dtype == DType::FP16)
    cpu::floatToHalf(size_t(type.numElements()),
                     reinterpret_cast<const float *>(words),
                     reinterpret_cast<uint16_t *>(bytes.data()));
  else if (!bytes.empty())
    std::memcpy(bytes.data(), words, bytes.size());
}

bool Entry::run(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
                llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
                Gradients gradients, GradientReady ready, Diagnostics &diags) {
  assert(inputs.size() == inputPorts.size() &&
         outputs.size() == outputPorts.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    loadPort(inputPorts[i].type, inputs[i], schedule.inputs[i]->words);
  if (!runParts(gradients, ready, diags))
    return false;
  for (size_t i = 0; i < outputs.size(); ++i)
    storePort(outputPorts[i].type, schedule.outputs[i]->words, outputs[i]);
  return true;
}

std::vector<PartTime> Entry::times() const {
  std::vector<PartTime> times;
  for (const Part &part : parts)
    times.push_back(part.time);
  return times;
}
