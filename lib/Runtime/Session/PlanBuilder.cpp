//===- PlanBuilder.cpp - makes the plan of an entry -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PlanBuilder.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Package/ScheduleWalk.h"
#include "lib/Runtime/Diags.h"
#include "llvm/ADT/DenseSet.h"

using namespace anec;
using namespace anec::session;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static const PackagedInstance *findInstance(const PackagedKernel &kernel,
                                            std::optional<int64_t> index) {
  auto found = llvm::partition_point(
      kernel.instances,
      [&](const PackagedInstance &other) { return other.index < index; });
  bool exists = found != kernel.instances.end() && found->index == index;
  return exists ? &*found : nullptr;
}

std::shared_ptr<KernelProgram>
PlanBuilder::load(const Item &item, const PackagedKernel &kernel,
                  llvm::ArrayRef<Binding> bindings, Diagnostics &diags) {
  const PackagedInstance *instance = findInstance(kernel, item.instance);
  if (!instance) {
    diags.report(item.op->range(), diag::NoInstance, kernel.name);
    return nullptr;
  }
  // Inputs that keep staged values belong to one instance.
  std::vector<const void *> key = {instance};
  for (Slot *slot : item.in)
    if (slot->staged)
      key.push_back(&slot->root());
  std::shared_ptr<KernelProgram> &loaded = programs[key];
  if (loaded && !context.bindsMemory())
    return loaded;
  std::shared_ptr<Module> &module =
      kernels[kernel.mil + "\n" + instance->weights];
  if (!module)
    module = loadKernel(context.package, kernel, *instance, diags);
  if (!module)
    return nullptr;
  auto program = std::make_shared<KernelProgram>(context, kernel, *instance,
                                                 module, bindings);
  if (!program->load(diags))
    return nullptr;
  loaded = program;
  return program;
}

void Plan::appendBaked(
    std::vector<std::shared_ptr<KernelProgram>> &baked) const {
  for (const PlanStep &step : steps)
    if (step.kernel && step.kernel->program->isBaked() &&
        !llvm::is_contained(baked, step.kernel->program))
      baked.push_back(step.kernel->program);
}

bool PlanBuilder::addKernel(const Item &item, PlanStep &step,
                            Diagnostics &diags) {
  const PackagedKernel &kernel =
      *context.package.findKernel(item.op->get(param::callee));
  step.description = {PartTime::Kernel,
                      instanceName(kernel.name, item.instance)};
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

  bool binds = context.bindsMemory();
  KernelStep &made = step.kernel.emplace();
  made.program =
      load(item, kernel,
           binds ? llvm::ArrayRef<Binding>(bindings) : std::nullopt, diags);
  Executable *executable =
      made.program ? made.program->executable(diags) : nullptr;
  if (!executable)
    return false;
  for (auto [index, binding] : llvm::enumerate(bindings)) {
    if (binds && executable->isBound(index))
      continue;
    auto &list = binding.output         ? made.outputs
                 : slots[index]->staged ? made.staged
                                        : made.inputs;
    list.push_back({binding.port, binding.region, binding.memory});
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Host ops
//===----------------------------------------------------------------------===//

static std::string gradientName(const Item &item) {
  return instanceName(item.op->get(param::name), item.instance);
}

bool PlanBuilder::addHostOps(llvm::ArrayRef<const Item *> items, bool overlaps,
                             HostStep &step, std::string &names,
                             Diagnostics &diags) {
  std::optional<Segment> segment = makeSegment(items, diags);
  if (!segment)
    return false;
  names = segment->ops;
  // Rows are added to existing values, so the gradient must be initialized.
  for (const auto &[item, sum] : segment->scatters)
    if (startedGradients.insert(gradientName(*item)).second)
      step.zeroed.push_back({reinterpret_cast<float *>(item->gradient->words),
                             item->gradient->count()});
  llvm::SmallVector<bool> startsGradient; // of each accumulation
  for (const Item *item : segment->accumulations)
    startsGradient.push_back(
        startedGradients.insert(gradientName(*item)).second);
  step.replacing =
      compile(*segment, startsGradient, overlaps, Gradients::Replace);
  if (llvm::is_contained(startsGradient, true))
    step.adding = compile(*segment, startsGradient, overlaps, Gradients::Add);
  return true;
}

std::unique_ptr<cpu::HostProgram>
PlanBuilder::compile(const Segment &segment,
                     llvm::ArrayRef<bool> startsGradient, bool overlaps,
                     Gradients gradients) {
  cpu::HostMemory memory;
  for (const Slot *slot : segment.parameters)
    memory.parameters.push_back(slot->words);
  for (const Slot *slot : segment.results)
    memory.results.push_back(slot->words);
  for (auto [item, starts] :
       llvm::zip_equal(segment.accumulations, startsGradient))
    memory.gradients.push_back({context.arrays.gradient(gradientName(*item)),
                                starts && gradients == Gradients::Replace});
  return std::make_unique<cpu::HostProgram>(
      *segment.function, memory, context.options.load.numerics,
      overlaps ? context.besideKernels : context.workspace);
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// The input and output types.
bool PlanBuilder::addPorts(const Function &entry, Diagnostics &diags) {
  auto check = [&](const TensorType &type) {
    if (type.dtype == DType::FP16 || type.dtype == DType::FP32 ||
        type.dtype == DType::Int32)
      return true;
    diags.report(entry.range, diag::BackendLacksType, "cpu", type.str());
    return false;
  };
  for (const auto &param : entry.parameters()) {
    if (!check(param->type))
      return false;
    if (param->holder == Holder::State)
      continue;
    plan->inputs.push_back({param->name, param->type});
  }
  for (unsigned index = 0; index < entry.numResults(); ++index) {
    TensorType type = entry.result(index)->type;
    if (!check(type))
      return false;
    // fp32 numerics do not round.
    if (type.dtype == DType::FP16 &&
        context.options.load.numerics == Numerics::FP32)
      type.dtype = DType::FP32;
    plan->outputs.push_back({entry.resultNames()[index], type});
  }
  return true;
}

void PlanBuilder::addUpdates(llvm::ArrayRef<const Item *> items,
                             PlanStep &step) {
  step.description.name = "update_state";
  for (const Item *item : items) {
    const Slot *state = item->in[0], *rows = item->in[1],
               *position = item->in[2];
    int64_t extent = state->type.shape.back();
    step.updates.push_back({reinterpret_cast<float *>(state->words),
                            reinterpret_cast<const float *>(rows->words),
                            position ? position->words : nullptr,
                            state->type.numElements() / extent, extent,
                            rows->type.shape.back(),
                            position ? position->type.numElements() : 1,
                            position ? item->op->get(param::groups) : 1});
  }
}

bool PlanBuilder::addSteps(Diagnostics &diags) {
  if (!stagedItems.empty()) {
    HostStep staging;
    std::string names;
    if (!addHostOps(stagedItems, /*overlaps=*/false, staging, names, diags))
      return false;
    plan->staging = std::move(staging.replacing);
  }
  plan->mostOverlapping = mostOverlapping;
  for (auto [number, group] : llvm::enumerate(groups)) {
    PlanStep &step = plan->steps.emplace_back();
    step.description.kind = PartTime::Host;
    if (group.isCall()) {
      if (!addKernel(*group.items.front(), step, diags))
        return false;
    } else if (group.isUpdate()) {
      addUpdates(group.items, step);
    } else if (!addHostOps(group.items, group.overlaps, step.host,
                           step.description.name, diags)) {
      return false;
    }
    step.description.isBackward = number > lastForwardGroup;
    step.description.overlaps = group.overlaps;
    // The memory of an overlapping step is kept until that many more are
    // submitted.
    if (group.overlaps)
      step.waitsFor =
          std::max(++plan->overlapping, mostOverlapping) - mostOverlapping;
  }
  findFinished();
  return true;
}

/// Finds the last step that adds to each gradient.
void PlanBuilder::findFinished() {
  llvm::DenseSet<const uint32_t *> known;
  for (auto [step, group] :
       llvm::zip_equal(llvm::reverse(plan->steps), llvm::reverse(groups)))
    for (const Item *item : group.items)
      if (item->kind == Item::Accumulate &&
          known.insert(item->gradient->words).second)
        step.finished.push_back(
            {reinterpret_cast<float *>(item->gradient->words),
             item->gradient->count()});
}

/// Records the places of inputs and outputs.
void PlanBuilder::addPlaces() {
  for (const Slot *slot : schedule.inputs)
    plan->inputWords.push_back(slot->words);
  for (const Slot *slot : schedule.outputs)
    plan->outputWords.push_back(slot->words);
}

std::unique_ptr<const Plan> PlanBuilder::build(const Function &entry,
                                               Diagnostics &diags) {
  if (!addPorts(entry, diags))
    return nullptr;
  flatten(
      *context.package.schedule, entry,
      [&](const Op &op, std::optional<int64_t> instance) {
        return weightSlot(op, instance);
      },
      schedule);
  expandWeights();
  if (schedule.lateRead) {
    diags.report(schedule.lateRead->range(), diag::StateReadLate);
    return nullptr;
  }
  plan->states = context.states.of(entry);
  for (auto [slot, state] : llvm::zip_equal(schedule.states, plan->states))
    slot->words = reinterpret_cast<uint32_t *>(state.elements.data());
  if (!hasWeights(diags))
    return nullptr;
  sinkAccumulations(schedule);
  if (!findGradients(diags))
    return nullptr;
  if (context.options.recompute)
    recomputeForward(schedule);
  group();
  if (context.besideKernels)
    separateGradients();
  findLifetimes();
  prolongLifetimes();
  placeSlots();
  if (!addSteps(diags))
    return nullptr;
  addPlaces();
  return std::move(plan);
}
