//===- Arrays.cpp - weights and gradients of a session --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include "lib/Arrays/Safetensors.h"
#include "lib/Arrays/StoredAs.h"
#include "lib/Package/AdapterBase.h"
#include "lib/Package/Diags.h"
#include "lib/Runtime/Diags.h"
#include "lib/Runtime/Elements.h"
#include "lib/Support/Half.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::session;

/// Zeros, touched in advance because the first use of a page is slow. Arrays
/// are adjacent in large blocks: separate huge pages for each array would be
/// half empty.
float *Arrays::allocate(size_t count) {
  constexpr size_t line = 16, blockSize = size_t(1) << 24;
  size_t size = (count + line - 1) / line * line;
  if (size > blockLeft) {
    blockLeft = std::max(size, blockSize);
    memory.push_back(makeAlignedArray(blockLeft));
    block = memory.back().get();
  }
  float *array = block;
  block += size;
  blockLeft -= size;
  std::fill_n(array, count, 0.0f);
  allocated += size * sizeof(float);
  return array;
}

bool Arrays::open(const ModelPackage &package, const WeightOptions &options,
                  Diagnostics &diags) {
  WeightOptions given = options, stored;
  if (given.program.empty() && package.isInMemory())
    given.programMap = package.contents.lookup(packagedWeightMap);
  else if (given.program.empty())
    given.program = package.folder;
  if (!package.values.empty()) {
    stored.source = package.pathOf(package.values);
    stored.contents = package.contents.lookup(package.values);
  }
  bool isGiven = !options.source.empty() || options.seed;
  if ((isGiven || !options.adapter.empty()) && package.isQuantized()) {
    diags.reportFile(package.folder, diag::QuantizedWeights);
    return false;
  }
  stored.executor = options.executor;
  opened = isGiven ? given : stored;
  opened.adapter.clear();
  WeightOptions chosen = opened;
  chosen.adapter = options.adapter;
  std::optional<WeightBinding> values = WeightBinding::open(chosen, diags);
  if (!values || !values->fits(package.facts, diags) ||
      !checkBase(package, *values, diags))
    return false;
  std::vector<std::string> names;
  for (const PackagedWeight &weight : package.weights)
    llvm::append_range(names, weight.arrays());
  // The host's weights may all be quantized.
  bool hasParts = !package.hostParts.empty();
  if (!hasParts && !values->hasSome(names, diags))
    return false;
  if (!openParts(package, diags))
    return false;
  bool trains = !package.findEntries(FunctionRole::Train).empty();
  bool canSwap = hasFrozenWeights(package);
  for (const PackagedWeight &weight : package.weights)
    for (const std::string &name : weight.arrays()) {
      TensorType type(DType::FP32, weight.type.shape);
      // Weights that are constants of kernels need no values here.
      if (!isGiven && !values->has(name))
        if (package.weightMode == WeightMode::Baked)
          continue;
      ConstantRef value =
          values->resolve(name, type, weight.initial, {}, diags);
      if (!value)
        return false;
      Array &array = arrays[name];
      array.type = type;
      array.value = value;
      array.canChange = !weight.frozen && (trains || canSwap);
      array.isUpdated = weight.updated;
    }
  if (!trains)
    return true;
  makeMasters(/*all=*/false);
  trained = masters;
  source = std::move(values);
  releasePages();
  return true;
}

/// Finds the parts of the host's quantized weights, as views of the file.
bool Arrays::openParts(const ModelPackage &package, Diagnostics &diags) {
  if (package.hostParts.empty())
    return true;
  std::string path = package.pathOf(package.values);
  MappedFile file = package.contents.lookup(package.values);
  std::optional<Safetensors> stored =
      file ? readSafetensors(file, path, diags) : readSafetensors(path, diags);
  if (!stored)
    return false;
  for (const PackagedHostPart &part : package.hostParts) {
    const TensorType &type = part.quantized.type;
    auto found = llvm::find_if(stored->arrays, [&](const NamedArray &each) {
      return each.name == part.name;
    });
    TensorType wanted = storedPartType(type);
    if (found == stored->arrays.end() || found->array->type() != wanted) {
      std::string is = found == stored->arrays.end()
                           ? "is not there"
                           : "is `" + found->array->type().str() + "`";
      diags.reportFile(path, diag::BadManifest,
                       "`" + part.name + "` of `host_parts` " + is +
                           ", and has to be `" + wanted.str() + "`");
      return false;
    }
    parts[part.name] =
        Constant::view(type, type.dtype, found->array->bytes(),
                       std::make_shared<ConstantRef>(found->array));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

ConstantRef Arrays::Array::as(DType dtype) const {
  return Constant::view({dtype, type.shape}, value->storedDType(),
                        value->bytes(), std::make_shared<ConstantRef>(value));
}

ConstantRef Arrays::stored(llvm::StringRef name, DType dtype,
                           Numerics numerics) {
  if (auto part = parts.find(name); part != parts.end())
    return part->second;
  auto it = arrays.find(name);
  if (it == arrays.end() || gaveAll)
    return nullptr;
  Array &array = it->second;
  DType own = array.value->storedDType();
  // Nothing is rounded, or the type holds all elements.
  if (numerics == Numerics::FP32 || own == dtype || dtype == DType::FP32)
    // Values of programs are of these types, and ones of fp32 can be stored in
    // any.
    return array.as(own == DType::FP16 ? own : DType::FP32);
  if (dtype != DType::FP16)
    return nullptr;
  if (!array.halves) {
    size_t count = size_t(array.type.numElements());
    std::vector<float> floats(count);
    array.value->copyToFloats(floats.data());
    auto halves = std::make_shared_for_overwrite<uint16_t[]>(count);
    floatsToHalves(floats.data(), halves.get(), count);
    array.halves = Constant::view(
        {dtype, array.type.shape}, dtype,
        {reinterpret_cast<const uint8_t *>(halves.get()), count * 2}, halves);
    allocated += count * 2;
  }
  return array.halves;
}

float *Arrays::master(Array &array) {
  if (!array.master) {
    array.master = allocate(size_t(array.type.numElements()));
    array.value->copyToFloats(array.master);
  }
  return array.master;
}

void Arrays::makeMasters(bool all) {
  gaveAll |= all;
  for (auto &entry : arrays) {
    Array &array = entry.second;
    if (!array.value || !(all || array.canChange))
      continue;
    size_t count = size_t(array.type.numElements());
    masters.push_back(
        {entry.first().str(), array.type, {master(array), count}});
    array.value = array.halves = nullptr;
  }
  llvm::sort(masters, [](const NamedFloats &a, const NamedFloats &b) {
    return a.name < b.name;
  });
}

llvm::ArrayRef<NamedFloats> Arrays::weights() {
  if (!gaveAll)
    makeMasters(/*all=*/true);
  return masters;
}

bool Arrays::canChange(llvm::StringRef name) const {
  if (parts.contains(name))
    return false;
  auto it = arrays.find(name);
  return gaveAll || (it != arrays.end() && it->second.canChange);
}

void Arrays::releasePages() const {
  if (source)
    source->releasePages();
}

float *Arrays::reading(llvm::StringRef name, bool rounded) {
  auto it = arrays.find(name);
  if (it == arrays.end())
    return nullptr;
  Array &array = it->second;
  if (!rounded)
    return master(array);
  if (!array.rounded) {
    array.rounded = allocate(size_t(array.type.numElements()));
    // Masters are rounded whenever they change.
    if (array.value)
      array.as(DType::FP16)->copyToFloats(array.rounded);
    releasePages();
  }
  return array.rounded;
}

float *Arrays::gradient(llvm::StringRef name) {
  auto it = arrays.find(name);
  if (it == arrays.end())
    return nullptr;
  Array &array = it->second;
  if (array.gradient)
    return array.gradient;
  size_t count = size_t(array.type.numElements());
  array.gradient = allocate(count);
  NamedFloats made{
      name.str(), array.type, {array.gradient, count}, array.isUpdated};
  sums.insert(llvm::upper_bound(sums, made,
                                [](const NamedFloats &a, const NamedFloats &b) {
                                  return a.name < b.name;
                                }),
              made);
  return array.gradient;
}

void Arrays::round(Executor &executor) {
  for (auto &entry : arrays) {
    Array &array = entry.second;
    if (array.rounded && !array.value)
      roundToHalves(array.master, array.rounded,
                    size_t(array.type.numElements()), executor);
  }
}
