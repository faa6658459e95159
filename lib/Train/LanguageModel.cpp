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
#include <limits>

using namespace anec;

/// Whether the parameters are tokens, targets and the loss's scale, and the
/// result is a loss.
static bool takesTokens(const Function &entry) {
  auto params = entry.parameters();
  if (params.size() != 3 || entry.numResults() != 1)
    return false;
  const TensorType &tokens = params[0]->type;
  return tokens.dtype == DType::Int32 && tokens.shape.size() == 1 &&
         params[1]->type == tokens &&
         params[2]->type == TensorType(DType::FP32, {}) &&
         entry.result(0)->type == TensorType(DType::FP32, {});
}

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
      ids = std::min(ids, op.operand(param::logits)->type.shape[0]);
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

bool LanguageModel::inspect(const ModelPackage &package, Diagnostics &diags) {
  auto found = llvm::find_if(package.entries, [](llvm::StringRef entry) {
    return entry.ends_with(".train");
  });
  if (found == package.entries.end()) {
    diags.reportFile(package.folder, diag::NotTrainable);
    return false;
  }
  name = *found;
  const Function &function = *package.schedule->findFunction(name);
  if (!takesTokens(function)) {
    diags.reportFile(package.folder, diag::NoLanguageModel, name);
    return false;
  }
  auto params = function.parameters();
  length = uint64_t(params[0]->type.numElements());
  ids = std::min(countIds(function, params[0].get()),
                 countIds(function, params[1].get()));
  operations = countOperations(package, function);
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

std::optional<float> LanguageModel::run(float scale, Gradients gradients,
                                        Diagnostics &diags,
                                        GradientReady ready) {
  float loss = 0;
  llvm::MutableArrayRef<uint8_t> result(reinterpret_cast<uint8_t *>(&loss),
                                        sizeof(loss));
  if (!session->run(name,
                    {bytesOf(window[0]), bytesOf(window[1]), bytesOf(scale)},
                    {result}, diags, gradients, ready))
    return std::nullopt;
  return loss;
}
