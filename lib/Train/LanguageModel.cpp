//===- LanguageModel.cpp - a package's training step ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "LanguageModel.h"
#include "anec/Ops/Cost.h"
#include "anec/Ops/Ops.h"
#include "anec/Package/ScheduleWalk.h"
#include "anec/Train/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>
#include <limits>

using namespace anec;

/// How many ids the uses of `param` allow.
static int64_t countIds(const Function &entry, const Value *param) {
  int64_t ids = std::numeric_limits<int32_t>::max();
  for (const Op &op : entry.body()) {
    if (!llvm::is_contained(op.operandValues(), param))
      continue;
    if (op.is(ops::Embed))
      ids = std::min(ids, op.operand(param::table)->type.shape[0]);
    else if (op.is(ops::Gather))
      ids =
          std::min(ids, op.operand(param::x)->type.shape[op.get(param::axis)]);
    else if (op.is(ops::CrossEntropy))
      ids = std::min(
          ids, llvm::ArrayRef(op.operand(param::logits)->type.shape).end()[-2]);
  }
  return ids;
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

/// Finds the inputs and the loss: an entry that trains on tokens takes them,
/// targets and the loss scale, in any order, and nothing else.
bool LanguageModel::takesTokens(const PackagedEntry &entry) {
  std::optional<size_t> tokens = entry.inputOf(ValueRole::Input),
                        targets = entry.inputOf(ValueRole::Target),
                        scale = entry.inputOf(ValueRole::LossScale),
                        loss = entry.outputOf(ValueRole::Loss);
  if (!tokens || !targets || !scale || !loss || entry.inputs.size() != 3)
    return false;
  const TensorType &type = entry.inputs[*tokens].type;
  if (type.dtype != DType::Int32 || type.rank() != 1 ||
      entry.inputs[*targets].type != type)
    return false;
  tokensInput = *tokens;
  targetsInput = *targets;
  scaleInput = *scale;
  lossOutput = *loss;
  return true;
}

bool LanguageModel::inspect(const ModelPackage &package, llvm::StringRef wanted,
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
  if (entry->role != FunctionRole::Train || !takesTokens(*entry)) {
    diags.reportFile(package.folder, diag::NoLanguageModel, name);
    return false;
  }
  const Function &function = *package.schedule->findFunction(name);
  auto params = function.parameters();
  length = uint64_t(params[tokensInput]->type.numElements());
  ids = std::min(countIds(function, params[tokensInput].get()),
                 countIds(function, params[targetsInput].get()));
  operations = countOperations(package, function);
  for (auto [index, output] : llvm::enumerate(entry->outputs)) {
    results.emplace_back(output.type.numBytes());
    if (output.role != ValueRole::Metric)
      continue;
    metrics.push_back(output.name);
    metricOutputs.push_back(index);
  }
  for (std::vector<int32_t> &half : window)
    half.resize(length);
  return true;
}

bool LanguageModel::open(ModelPackage package, Backend &backend,
                         const SessionOptions &options, Diagnostics &diags) {
  session = Session::open(std::move(package), backend, options, diags);
  return session && session->prepare(name, diags);
}

template <typename T>
static llvm::ArrayRef<uint8_t> bytesOf(const T &value) {
  return {reinterpret_cast<const uint8_t *>(&value), sizeof(T)};
}
static llvm::ArrayRef<uint8_t> bytesOf(const std::vector<int32_t> &ids) {
  return {reinterpret_cast<const uint8_t *>(ids.data()),
          ids.size() * sizeof(int32_t)};
}

static float numberAt(llvm::ArrayRef<uint8_t> result) {
  float number;
  std::memcpy(&number, result.data(), sizeof(number));
  return number;
}

std::optional<float> LanguageModel::run(float scale, Gradients gradients,
                                        Diagnostics &diags,
                                        GradientReady ready) {
  llvm::ArrayRef<uint8_t> inputs[3];
  inputs[tokensInput] = bytesOf(window[0]);
  inputs[targetsInput] = bytesOf(window[1]);
  inputs[scaleInput] = bytesOf(scale);
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> outputs(results.begin(),
                                                            results.end());
  if (!session->run(name, inputs, outputs, diags, gradients, ready))
    return std::nullopt;
  return numberAt(results[lossOutput]);
}

double LanguageModel::metric(size_t index) const {
  return numberAt(results[metricOutputs[index]]);
}
