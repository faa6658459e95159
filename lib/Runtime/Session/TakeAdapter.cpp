//===- TakeAdapter.cpp - other adapters in an open session ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include "lib/Package/AdapterBase.h"
#include "lib/Package/Diags.h"
#include "lib/Runtime/Diags.h"

using namespace anec;
using namespace anec::session;

/// Whether `adapter` was trained beside the frozen weights. Their digest is
/// computed once.
bool Arrays::checkBaseOf(const ModelPackage &package,
                         const WeightBinding &adapter, Diagnostics &diags) {
  if (adapter.baseOfAdapter().empty())
    return true;
  if (baseDigest.empty()) {
    std::optional<WeightBinding> base = WeightBinding::open(opened, diags);
    std::optional<std::string> digest =
        base ? digestOfBase(package, *base, diags) : std::nullopt;
    if (!digest)
      return false;
    baseDigest = *digest;
  }
  return isBase(baseDigest, adapter, diags);
}

/// The value of an array without an adapter: that of the base, or zeros for a
/// part of an adapter, as `isPart` says. Null, with the reason reported, when
/// there is none.
ConstantRef Arrays::withoutAdapter(llvm::StringRef name, bool isPart,
                                   const WeightBinding &base,
                                   Diagnostics &diags) const {
  const TensorType &type = arrays.find(name)->second.type;
  if (base.has(name))
    return base.resolve(name, type, InitialValue::Zeros, {}, diags);
  // The product with zeros adds zeros.
  if (isPart)
    return drawWeight(name, type, InitialValue::Zeros, 0, base.executor());
  diags.reportFile(opened.source, diag::NoWeightWithoutAdapter, name);
  return nullptr;
}

bool Arrays::takeAdapter(const ModelPackage &package, llvm::StringRef file,
                         Diagnostics &diags) {
  if (package.isQuantized()) {
    diags.reportFile(package.folder, diag::QuantizedWeights);
    return false;
  }
  if (!hasFrozenWeights(package)) {
    diags.reportFile(package.folder, diag::NoAdapters);
    return false;
  }
  WeightOptions options = opened;
  options.seed = std::nullopt;
  if (!file.empty()) {
    options = {};
    options.executor = opened.executor;
    // An array that it lacks is an error that names it.
    options.source = options.adapter = file.str();
  }
  std::optional<WeightBinding> values = WeightBinding::open(options, diags);
  if (!values || !values->fits(package.facts, diags) ||
      !checkBaseOf(package, *values, diags))
    return false;
  std::vector<std::pair<Array *, ConstantRef>> taken;
  for (const PackagedWeight &weight : package.weights) {
    if (weight.frozen)
      continue;
    for (const std::string &name : weight.arrays()) {
      auto it = arrays.find(name);
      if (it == arrays.end())
        continue;
      ConstantRef value =
          file.empty()
              ? withoutAdapter(name, isAdapter(package, weight), *values, diags)
              : values->resolve(name, it->second.type, weight.initial, {},
                                diags);
      if (!value)
        return false;
      taken.emplace_back(&it->second, std::move(value));
    }
  }
  for (auto &[array, value] : taken) {
    if (array->master)
      value->copyToFloats(array->master);
    bool wasGiven = !array->value;
    array->value = std::move(value);
    if (array->rounded)
      array->as(DType::FP16)->copyToFloats(array->rounded);
    if (wasGiven)
      array->value = nullptr;
  }
  return true;
}
