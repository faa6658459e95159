//===- AdapterBase.cpp - which weights an adapter belongs to --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Package/AdapterBase.h"
#include "lib/Arrays/StoredAs.h"
#include "lib/Package/Diags.h"
#include "lib/Support/Digest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

bool anec::hasFrozenWeights(const ModelPackage &package) {
  return llvm::any_of(package.weights, [](const PackagedWeight &weight) {
    return weight.frozen;
  });
}

bool anec::isAdapter(const ModelPackage &package,
                     const PackagedWeight &weight) {
  return llvm::any_of(package.weights, [&](const PackagedWeight &wide) {
    return weight.name == wide.name + "_lora_a" ||
           weight.name == wide.name + "_lora_b";
  });
}

std::optional<std::string> anec::digestOfBase(const ModelPackage &package,
                                              const WeightBinding &values,
                                              Diagnostics &diags) {
  std::vector<std::pair<std::string, ConstantRef>> arrays;
  for (const PackagedWeight &weight : package.weights) {
    if (!weight.frozen)
      continue;
    for (const std::string &name : weight.arrays()) {
      ConstantRef value =
          values.resolve(name, weight.type, weight.initial, {}, diags);
      if (!value)
        return std::nullopt;
      arrays.emplace_back(name, std::move(value));
    }
  }
  // The order of a file must not matter.
  llvm::sort(arrays, llvm::less_first());
  std::vector<std::string> digests(arrays.size());
  values.executor().parallelFor(arrays.size(), [&](size_t task, unsigned) {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream out(bytes);
    writeElements(out, *arrays[task].second);
    digests[task] = blake3(llvm::arrayRefFromStringRef(out.str()));
  });
  std::string all;
  for (auto [index, array] : llvm::enumerate(arrays))
    all += array.first + " " + digests[index] + "\n";
  return blake3(llvm::arrayRefFromStringRef(all));
}

bool anec::isBase(llvm::StringRef base, const WeightBinding &values,
                  Diagnostics &diags) {
  std::string wanted = values.baseOfAdapter();
  if (base == wanted)
    return true;
  diags.reportFile(values.adapterPath(), diag::OtherBase, wanted.substr(0, 16),
                   base.substr(0, 16));
  return false;
}

bool anec::checkBase(const ModelPackage &package, const WeightBinding &values,
                     Diagnostics &diags) {
  if (values.baseOfAdapter().empty())
    return true;
  std::optional<std::string> digest = digestOfBase(package, values, diags);
  return digest && isBase(*digest, values, diags);
}
