//===- TrainingStep.cpp - a package's training step -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TrainingStep.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Cost.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Params/Loss.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Loss.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Package/ScheduleWalk.h"
#include "lib/Train/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>
#include <limits>

using namespace anec;

/// How many ids the uses of `ids` allow, also where they have another shape.
static int64_t countIds(const Value *ids) {
  int64_t count = std::numeric_limits<int32_t>::max();
  for (const Operand *use = ids->firstUse(); use; use = use->nextUse()) {
    const Op *op = use->owner();
    if (!op)
      continue;
    if (op->is(ops::Embed))
      count = std::min(count, op->operand(param::table)->type.shape[0]);
    else if (op->is(ops::Gather))
      count = std::min(count,
                       op->operand(param::x)->type.shape[op->get(param::axis)]);
    else if (op->is(ops::CrossEntropy))
      count = std::min(
          count,
          llvm::ArrayRef(op->operand(param::logits)->type.shape).end()[-2]);
    else if (op->is(ops::Reshape) || op->is(ops::Transpose) ||
             op->is(ops::Squeeze) || op->is(ops::ExpandDims))
      count = std::min(count, countIds(op->result()));
  }
  return count;
}

static double countOperations(const ModelPackage &package,
                              const Function &entry) {
  double flops = 0;
  walkSchedule(
      *package.schedule, entry, [&](const Op &op, const KnownIntegers &) {
        flops += op.is(ops::Call)
                     ? double(package.findKernel(op.get(param::callee))->flops)
                     : double(countFlops(op));
      });
  return flops;
}

/// Sets `tokens` for an entry that trains on tokens: it takes them and targets,
/// in any order, and nothing else.
void TrainingStep::findTokens(const PackagedEntry &entry) {
  std::optional<size_t> input = entry.inputOf(ValueRole::Input),
                        target = entry.inputOf(ValueRole::Target);
  if (!input || !target || data.size() != 2)
    return;
  const TensorType &type = entry.inputs[*input].type;
  if (type.dtype != DType::Int32 || type.rank() != 1 ||
      entry.inputs[*target].type != type)
    return;
  size_t first = data[0].name == entry.inputs[*input].name ? 0 : 1;
  tokens = {first, 1 - first, uint64_t(type.numElements()),
            std::min(data[0].bound, data[1].bound)};
}

void TrainingStep::addInputs(const PackagedEntry &entry,
                             const Function &function) {
  for (const PackagedValue &input : entry.inputs)
    filled.emplace_back(input.type.numBytes());
  for (auto [index, input] : llvm::enumerate(entry.inputs)) {
    if (input.mask) {
      masks.push_back({index, input.type, *input.mask});
    } else if (index != scaleInput) {
      const Value *param = function.parameters()[index].get();
      data.push_back({input.name, input.type, countIds(param)});
      views.push_back(filled[index]);
    }
  }
}

bool TrainingStep::inspect(const ModelPackage &package, llvm::StringRef wanted,
                           Diagnostics &diags) {
  auto steps = package.findEntries(FunctionRole::Train);
  if (steps.empty()) {
    diags.reportFile(package.folder, diag::NotTrainable);
    return false;
  }
  const PackagedEntry *entry = chooseEntry(package, wanted, steps, diags);
  if (!entry)
    return false;
  name = entry->name;
  std::optional<size_t> scale = entry->inputOf(ValueRole::LossScale),
                        loss = entry->outputOf(ValueRole::Loss);
  if (entry->role != FunctionRole::Train || !scale || !loss) {
    diags.reportFile(package.folder, diag::NoTrainingStep, name);
    return false;
  }
  scaleInput = *scale;
  lossOutput = *loss;
  const Function &function = *package.schedule->findFunction(name);
  addInputs(*entry, function);
  findTokens(*entry);
  operations = countOperations(package, function);
  for (auto [index, output] : llvm::enumerate(entry->outputs)) {
    results.emplace_back(output.type.numBytes());
    if (output.role != ValueRole::Metric)
      continue;
    metrics.push_back(output.name);
    metricOutputs.push_back(index);
  }
  return true;
}

bool TrainingStep::open(ModelPackage package, Backend &backend,
                        const SessionOptions &options, Diagnostics &diags) {
  session = Session::open(std::move(package), backend, options, diags);
  return session && session->prepare(name, diags);
}

static float numberAt(llvm::ArrayRef<uint8_t> result) {
  float number;
  std::memcpy(&number, result.data(), sizeof(number));
  return number;
}

void TrainingStep::drawMasks(const MaskDraw &draw) {
  for (const MaskInput &mask : masks)
    draw.draw(mask.mask, mask.type, mask.input, filled[mask.input]);
  areDrawn = true;
}

void TrainingStep::clearMasks() {
  if (!std::exchange(areDrawn, false))
    return;
  for (const MaskInput &mask : masks)
    fillMean(mask.mask, mask.type, filled[mask.input]);
}

std::optional<float> TrainingStep::run(float scale, Gradients gradients,
                                       Diagnostics &diags,
                                       GradientReady ready) {
  std::memcpy(filled[scaleInput].data(), &scale, sizeof(scale));
  llvm::SmallVector<llvm::ArrayRef<uint8_t>> inputs(filled.begin(),
                                                    filled.end());
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> outputs(results.begin(),
                                                            results.end());
  if (!session->run(name, inputs, outputs, diags, gradients, ready))
    return std::nullopt;
  return numberAt(results[lossOutput]);
}

double TrainingStep::metric(size_t index) const {
  return numberAt(results[metricOutputs[index]]);
}
