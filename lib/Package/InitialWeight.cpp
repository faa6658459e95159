//===- InitialWeight.cpp - weights drawn from a seed ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Element i of a weight is a function only of (seed, name, i), so that weights
/// do not depend on how the program is split into kernels.
///
//===----------------------------------------------------------------------===//

#include "anec/Package/WeightBinding.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Params/Norm.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Weights.h"
#include "lib/Support/Half.h"
#include "llvm/Support/xxhash.h"
#include <cmath>
#include <cstring>
#include <numbers>

using namespace anec;

/// SplitMix64's finaliser.
static uint64_t mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/// Elements 2 * pair and 2 * pair + 1 by Box and Muller.
static std::pair<double, double> normalPair(uint64_t key, uint64_t pair) {
  double u = (double(mix(key + 2 * pair) >> 11) + 1) * 0x1p-53;
  double v = double(mix(key + 2 * pair + 1) >> 11) * 0x1p-53;
  double radius = std::sqrt(-2 * std::log(u));
  double angle = 2 * std::numbers::pi * v;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Fills `values` with all workers: sines and logarithms of a hundred million
/// elements take seconds.
static void fillNormal(llvm::MutableArrayRef<float> values, uint64_t key,
                       double deviation, Executor &executor) {
  constexpr size_t chunk = 1 << 18; // even, so that pairs stay together
  auto fill = [=](size_t task, unsigned) {
    size_t begin = task * chunk, end = std::min(begin + chunk, values.size());
    for (size_t index = begin; index < end; index += 2) {
      auto [first, second] = normalPair(key, index / 2);
      values[index] = float(deviation * first);
      if (index + 1 < end)
        values[index + 1] = float(deviation * second);
    }
  };
  executor.parallelFor((values.size() + chunk - 1) / chunk, fill);
}

/// Whether a vector is used as a scale: as gamma of a norm or as a factor of a
/// product, looking through its reshapes and casts, and through calls with
/// `elsewhere`.
static bool isScale(const Value &value, IsScale elsewhere) {
  for (const Operand *use = value.firstUse(); use; use = use->nextUse()) {
    const Op *user = use->owner();
    if (!user)
      continue;
    int gamma = user->def().valueSlot(param::gamma);
    if (gamma >= 0 && user->operand(unsigned(gamma)) == &value)
      return true;
    if (user->is(ops::Mul) || user->is(ops::RealDiv))
      return true;
    if ((user->is(ops::Reshape) || user->is(ops::Cast)) &&
        isScale(*user->result(), elsewhere))
      return true;
    if (elsewhere && user->is(ops::Call))
      for (unsigned slot = 0; slot < user->numOperands(); ++slot)
        if (user->operand(slot) == &value && elsewhere(*user, slot))
          return true;
  }
  return false;
}

bool anec::scales(const Value &value, IsScale isScaleElsewhere) {
  return isScale(value, isScaleElsewhere);
}

/// A matrix whose only long axis is the first is a vector in another shape: a
/// bias [C, 1].
static bool isVector(llvm::ArrayRef<int64_t> shape) {
  return llvm::count_if(shape, [](int64_t extent) { return extent != 1; }) <= 1;
}

/// Whether rows of a matrix are looked up.
static bool isTable(const Value &value) {
  for (const Operand *use = value.firstUse(); use; use = use->nextUse())
    if (use->owner() && use->owner()->is(ops::Embed) &&
        use->owner()->operand(0u) == &value)
      return true;
  return false;
}

InitialValue anec::initialValue(const Op &weight, IsScale isScaleElsewhere) {
  if (!isVector(viewOf(weight).storedType().shape))
    return isTable(*weight.result()) ? InitialValue::Table
                                     : InitialValue::Normal;
  return isScale(*weight.result(), isScaleElsewhere) ? InitialValue::Ones
                                                     : InitialValue::Zeros;
}

/// The initial deviation of most language models.
static constexpr double tableDeviation = 0.02;

ConstantRef anec::drawWeight(llvm::StringRef name, TensorType type,
                             InitialValue initial, uint64_t seed,
                             Executor &executor) {
  size_t count = type.numElements();
  std::vector<float> values(count, initial == InitialValue::Ones ? 1.0f : 0.0f);
  if (initial == InitialValue::Normal || initial == InitialValue::Table) {
    uint64_t key = mix(seed) ^ llvm::xxHash64(name);
    double deviation = initial == InitialValue::Table
                           ? tableDeviation
                           : std::sqrt(double(type.shape[0]) / double(count));
    fillNormal(values, mix(key), deviation, executor);
  }
  auto bytes = std::make_shared_for_overwrite<uint8_t[]>(type.numBytes());
  if (type.dtype == DType::FP16)
    floatsToHalves(values.data(), reinterpret_cast<uint16_t *>(bytes.get()),
                   count);
  else
    std::memcpy(bytes.get(), values.data(), type.numBytes());
  llvm::ArrayRef<uint8_t> view(bytes.get(), type.numBytes());
  DType dtype = type.dtype;
  return Constant::view(std::move(type), dtype, view, std::move(bytes));
}
