//===- MergeAdapters.cpp - adapters added to their weights ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Package/MergeAdapters.h"
#include "lib/Arrays/Diags.h"
#include "lib/Arrays/GgufWriter.h"
#include "lib/IR/WeightName.h"
#include "lib/Package/AdapterBase.h"
#include "lib/Package/Diags.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/Json.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cmath>

using namespace anec;

namespace {
/// The matrices of an adapter of `w`, or of its transpose: `b`, [rows, rank],
/// and `a`, [rank, columns].
struct Adapter {
  ConstantRef a, b;
  bool isTransposed = false;
};
} // namespace

/// `w + b @ a * scale`, in the type of `w`.
static ConstantRef merged(const Constant &w, const Adapter &adapter,
                          double scale) {
  int64_t rows = adapter.b->type().shape[0];
  int64_t columns = adapter.a->type().shape[1];
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
      sums[size_t(adapter.isTransposed ? j * rows + i : i * columns + j)] +=
          scale * row[size_t(j)];
  }
  return Constant::fromDoubles(w.type(), sums);
}

/// The matrix of an adapter in the array `name`. One that no file has is
/// missing in that of the adapters.
static ConstantRef findMatrix(const WeightBinding &values, llvm::StringRef name,
                              const TensorType &type, Diagnostics &diags) {
  llvm::StringRef file = values.adapterPath();
  if (!file.empty() && !values.has(name)) {
    diags.reportFile(file, diag::NoSuchArray, file, name);
    return nullptr;
  }
  return values.resolve(name, type, {}, {}, diags);
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
      ConstantRef a = findMatrix(values, as[i], down->type, diags);
      ConstantRef b = findMatrix(values, bs[i], up->type, diags);
      if (!w || !a || !b)
        return std::nullopt;
      // A weight of a found layer had the name of its array before.
      bool isTransposed = package.facts.has(fact::loraTransposed, wide.name) ||
                          package.facts.has(fact::loraTransposed, ws[i]);
      adapters[stored] = {std::move(a), std::move(b), isTransposed};
    }
  }
  return adapters;
}

/// The arrays of `base`, with what their adapters add.
static std::vector<PlannedArray>
planArrays(const ArraySource &base, const llvm::StringMap<Adapter> &adapters,
           double scale) {
  std::vector<PlannedArray> planned;
  for (llvm::StringRef name : base.names()) {
    const StoredArray *array = base.find(name);
    auto adapter = adapters.find(name);
    const Adapter *added =
        adapter == adapters.end() ? nullptr : &adapter->second;
    planned.push_back({name.str(), array->type(), [=] {
                         ConstantRef whole = array->get();
                         return added ? merged(*whole, *added, scale) : whole;
                       }});
  }
  return planned;
}

static bool addFile(AtomicFiles &files, llvm::StringRef path,
                    llvm::ArrayRef<PlannedArray> arrays,
                    const SafetensorsMetadata &metadata) {
  OutputFile *file = files.add(path);
  return file && writeSafetensors(*file, arrays, metadata);
}

/// Adds a GGUF file like that at `base`, which has all of `arrays`.
static bool addGguf(AtomicFiles &files, llvm::StringRef path,
                    llvm::StringRef base, llvm::ArrayRef<PlannedArray> arrays,
                    Diagnostics &diags) {
  MappedFile file = mapFile(base, diags);
  if (file && !isGguf(file)) {
    diags.reportFile(base, diag::NoGgufBase);
    return false;
  }
  std::optional<GgufFile> contents =
      file ? readGguf(file, base, diags) : std::nullopt;
  OutputFile *out = contents ? files.add(path) : nullptr;
  if (out)
    writeGgufLike(*out, std::move(*contents), arrays);
  return out;
}

/// Adds a folder like `base`.
static bool addFolder(AtomicFiles &files, llvm::StringRef path,
                      const ArraySource &base,
                      llvm::ArrayRef<PlannedArray> arrays,
                      ModelFolderOptions options, Diagnostics &diags) {
  llvm::SmallString<128> config(base.path());
  llvm::sys::path::append(config, "config.json");
  if (!llvm::sys::fs::exists(config)) {
    diags.reportFile(base.path(), diag::NoFolderBase);
    return false;
  }
  MappedFile described = mapFile(config, diags);
  std::optional<llvm::json::Value> value =
      described ? readJson(config, diag::BadBaseConfig, diags) : std::nullopt;
  if (!value)
    return false;
  llvm::json::Object *object = value->getAsObject();
  if (!object) {
    diags.reportFile(config, diag::BadBaseConfig, "it is not an object");
    return false;
  }
  if (options.tokenizer.empty() && hasTextFiles(base.path()))
    options.tokenizer = base.path().str();
  if (!addModelArrays(files, path, arrays, base.metadata(), options.shardSize,
                      diags))
    return false;
  OutputFile *copy = files.add(path, "config.json");
  if (!copy)
    return false;
  *copy << described->getBuffer();
  return addTextFiles(files, path, options, *object, diags);
}

bool anec::mergeAdapters(const ModelPackage &package,
                         const WeightOptions &weights, llvm::StringRef path,
                         const ModelFolderOptions &folder, Diagnostics &diags) {
  WeightOptions given = weights;
  if (given.source.empty() && !package.values.empty()) {
    given.source = package.pathOf(package.values);
    given.contents = package.contents.lookup(package.values);
  }
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
  std::vector<PlannedArray> planned = planArrays(*base, *adapters, scale);
  AtomicFiles files(diags);
  llvm::StringRef ending = llvm::sys::path::extension(path);
  bool isAdded = ending == ".safetensors"
                     ? addFile(files, path, planned, base->metadata())
                 : ending == ".gguf"
                     ? addGguf(files, path, given.source, planned, diags)
                     : addFolder(files, path, *base, planned, folder, diags);
  return isAdded && files.commit();
}
