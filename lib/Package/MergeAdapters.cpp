//===- MergeAdapters.cpp - adapters added to their weights ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Package/MergeAdapters.h"
#include "anec/Arrays/Safetensors.h"
#include "anec/IR/WeightName.h"
#include "anec/Package/AdapterBase.h"
#include "anec/Package/Diags.h"
#include "anec/Support/AtomicFile.h"
#include <cmath>

using namespace anec;

namespace {
/// The matrices of an adapter: `b`, [rows, rank], and `a`, [rank, columns].
struct Adapter {
  ConstantRef a, b;
};
} // namespace

/// `w + b @ a * scale`, in the type of `w`.
static ConstantRef merged(const Constant &w, const Adapter &adapter,
                          double scale) {
  int64_t rows = w.type().shape[0], columns = w.type().shape[1];
  int64_t rank = adapter.a->type().shape[0];
  std::vector<double> sums = w.asDoubles();
  std::vector<double> a = adapter.a->asDoubles(), b = adapter.b->asDoubles();
  std::vector<double> row(static_cast<size_t>(columns));
  for (int64_t i = 0; i < rows; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (int64_t k = 0; k < rank; ++k)
      for (int64_t j = 0; j < columns; ++j)
        row[size_t(j)] += b[size_t(i * rank + k)] * a[size_t(k * columns + j)];
    for (int64_t j = 0; j < columns; ++j)
      sums[size_t(i * columns + j)] += scale * row[size_t(j)];
  }
  return Constant::fromDoubles(w.type(), sums);
}

/// The adapters of `package` by the names of their weights' arrays in `base`.
/// Nothing, with the reason reported, when one is missing or does not fit.
static std::optional<llvm::StringMap<Adapter>>
findAdapters(const ModelPackage &package, const WeightBinding &values,
             const ArraySource &base, Diagnostics &diags) {
  llvm::StringMap<Adapter> adapters;
  for (const PackagedWeight &wide : package.weights) {
    const PackagedWeight *down = package.findWeight(wide.name + "_lora_a"),
                         *up = package.findWeight(wide.name + "_lora_b");
    if (!down || !up)
      continue;
    std::vector<std::string> as = down->arrays(), bs = up->arrays(),
                             ws = wide.arrays();
    for (size_t i = 0; i < ws.size(); ++i) {
      llvm::StringRef stored = values.storedName(ws[i]);
      ConstantRef w = base.lookup(stored, wide.type, {}, diags);
      ConstantRef a = values.resolve(as[i], down->type, {}, {}, diags);
      ConstantRef b = values.resolve(bs[i], up->type, {}, {}, diags);
      if (!w || !a || !b)
        return std::nullopt;
      adapters[stored] = {std::move(a), std::move(b)};
    }
  }
  return adapters;
}

bool anec::mergeAdapters(const ModelPackage &package,
                         const WeightOptions &weights, llvm::StringRef path,
                         Diagnostics &diags) {
  WeightOptions given = weights;
  if (given.source.empty() && !package.values.empty())
    given.source = package.pathOf(package.values);
  std::optional<std::string> factor = package.facts.only(fact::loraScale);
  double scale = 0;
  if (!factor || llvm::StringRef(*factor).getAsDouble(scale)) {
    diags.reportFile(package.folder, diag::NoAdapters);
    return false;
  }
  std::optional<WeightBinding> values = WeightBinding::open(given, diags);
  std::optional<ArraySource> base =
      values ? ArraySource::open(given.source, diags) : std::nullopt;
  if (!base || !values->fits(package.facts, diags) ||
      !checkBase(package, *values, diags))
    return false;
  std::optional<llvm::StringMap<Adapter>> adapters =
      findAdapters(package, *values, *base, diags);
  if (!adapters)
    return false;
  std::vector<PlannedArray> planned;
  for (llvm::StringRef name : base->names()) {
    const StoredArray *array = base->find(name);
    auto adapter = adapters->find(name);
    bool isWide = adapter != adapters->end();
    planned.push_back({name.str(), array->type(), [=] {
                         ConstantRef whole = array->get();
                         return isWide ? merged(*whole, adapter->second, scale)
                                       : whole;
                       }});
  }
  AtomicFiles files(diags);
  OutputFile *file = files.add(path);
  if (!file)
    return false;
  writeSafetensors(*file, planned, base->metadata());
  return files.commit();
}
