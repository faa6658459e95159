//===- WeightBinding.cpp - where weights get their values -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Package/WeightBinding.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Weights.h"
#include "lib/Package/AdapterBase.h"
#include "lib/Package/Diags.h"
#include "lib/Support/Json.h"
#include "lib/Support/MemoryLimit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;

/// The names in a map of weights that were constants of a model.
static void takeConstants(const llvm::json::Value &json,
                          llvm::StringSet<> &constants) {
  const llvm::json::Object *object = json.getAsObject();
  if (const auto *list = object ? object->getArray(mappedConstants) : nullptr)
    for (const llvm::json::Value &name : *list)
      if (std::optional<llvm::StringRef> text = name.getAsString())
        constants.insert(*text);
}

/// The names of arrays in the map at `path`.
static bool takeNames(const llvm::json::Value &json, llvm::StringRef path,
                      llvm::StringMap<std::string> &map, Diagnostics &diags) {
  const llvm::json::Object *object = json.getAsObject();
  if (!object) {
    diags.reportFile(path, diag::BadMapping, "it is not a JSON object");
    return false;
  }
  for (const auto &[key, value] : *object) {
    // For exporting; no weight has a name without a dot.
    if ((key == "config" && value.getAsObject()) ||
        (key == "ignored" && value.getAsArray()) ||
        (key.str() == mappedConstants && value.getAsArray()))
      continue;
    std::optional<llvm::StringRef> name = value.getAsString();
    if (!name) {
      diags.reportFile(path, diag::BadMapping,
                       "the value of `" + key.str() + "` is not a string");
      return false;
    }
    map[key.str()] = name->str();
  }
  return true;
}

bool anec::readWeightMap(llvm::StringRef path,
                         llvm::StringMap<std::string> &map,
                         Diagnostics &diags) {
  std::optional<llvm::json::Value> json =
      readJson(path, diag::BadMapping, diags);
  return json && takeNames(*json, path, map, diags);
}

/// Reads the map at `path`, or the one that is in memory.
static std::optional<llvm::json::Value>
readMap(llvm::StringRef path, const MappedFile &contents, Diagnostics &diags) {
  return contents
             ? parseJson(diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(
                             contents->getBuffer(), path)),
                         diag::BadMapping, diags)
             : readJson(path, diag::BadMapping, diags);
}

std::optional<WeightBinding> WeightBinding::open(const WeightOptions &options,
                                                 Diagnostics &diags) {
  WeightBinding binding;
  binding.values = options.values;
  binding.seed = options.seed;
  if (options.executor)
    binding.workers = options.executor;
  if (!options.source.empty()) {
    binding.arrays =
        options.contents
            ? ArraySource::read(options.contents, options.source, diags)
            : ArraySource::open(options.source, diags);
    if (!binding.arrays)
      return std::nullopt;
  }
  if (!options.adapter.empty()) {
    binding.adapter = ArraySource::open(options.adapter, diags);
    if (!binding.adapter)
      return std::nullopt;
  }
  return binding.openMap(options, diags) ? std::optional(std::move(binding))
                                         : std::nullopt;
}

bool WeightBinding::openMap(const WeightOptions &options, Diagnostics &diags) {
  std::string mapping = options.mapping;
  MappedFile contents;
  if (mapping.empty()) {
    mapping = findWeightMap(options.program);
    if (mapping.empty() && options.programMap) {
      mapping = packagedWeightMap.str();
      contents = options.programMap;
    }
    isMappingFound = !mapping.empty();
  }
  if (mapping.empty())
    return true;
  std::optional<llvm::json::Value> map = readMap(mapping, contents, diags);
  if (!map)
    return false;
  takeConstants(*map, constants);
  return (!arrays && isMappingFound) || takeNames(*map, mapping, names, diags);
}

std::string anec::findWeightMap(llvm::StringRef program) {
  if (program.empty())
    return "";
  llvm::SmallString<128> inside(program);
  llvm::sys::path::append(inside, packagedWeightMap);
  for (const std::string &path : {namesFileOf(program), inside.str().str()})
    if (llvm::sys::fs::exists(path))
      return path;
  return "";
}

std::string anec::namesFileOf(llvm::StringRef program) {
  // The path of a package can end in a separator.
  while (program.size() > 1 && llvm::sys::path::is_separator(program.back()))
    program = program.drop_back();
  llvm::SmallString<128> path(program);
  llvm::sys::path::replace_extension(path, "names.json");
  return path.str().str();
}

llvm::StringRef WeightBinding::storedName(llvm::StringRef name) const {
  auto mapped = names.find(name);
  if (mapped == names.end() ||
      (isMappingFound && !(arrays && arrays->find(mapped->second))))
    return name;
  return mapped->second;
}

void WeightBinding::addInverse() {
  std::vector<std::pair<std::string, std::string>> inverse;
  for (const auto &entry : names)
    if (!names.contains(entry.second))
      inverse.push_back({entry.second, entry.getKey().str()});
  for (auto &[name, array] : inverse)
    names[name] = std::move(array);
  isMappingFound = true;
}

bool WeightBinding::isStored(llvm::StringRef name) const {
  return (adapter && adapter->find(name)) ||
         (arrays && arrays->find(storedName(name)));
}

bool WeightBinding::has(llvm::StringRef name) const {
  return isStored(name) || (values && values->contains(name));
}

bool WeightBinding::hasSome(llvm::ArrayRef<std::string> names,
                            Diagnostics &diags) const {
  // Without a name in the file, weights have the values of their program.
  if (!arrays || names.empty() || (values && !values->empty()))
    return true;
  static constexpr size_t mostNames = 5;
  llvm::StringSet<> ofAdapters;
  for (const std::string &name : names) {
    ofAdapters.insert(name + "_lora_a");
    ofAdapters.insert(name + "_lora_b");
  }
  std::vector<std::string> drawn;
  size_t found = 0, adapters = 0;
  for (const std::string &name : names) {
    if (isStored(name))
      ++found;
    else if (ofAdapters.contains(name))
      ++adapters;
    else
      drawn.push_back(name);
  }
  auto spell = [](llvm::ArrayRef<std::string> some) {
    std::string text =
        "`" + llvm::join(some.take_front(mostNames), "`, `") + "`";
    if (some.size() > mostNames)
      text += " and " + std::to_string(some.size() - mostNames) + " more";
    return text;
  };
  if (found == 0) {
    diags.reportFile(arrays->path(), diag::NoSuchWeights, names.size(),
                     spell(names.take_front(1)));
    return false;
  }
  if (seed && !drawn.empty())
    diags.reportFile(arrays->path(), diag::DrawnWeights, found,
                     names.size() - adapters, spell(drawn));
  return true;
}

bool WeightBinding::fits(const ModelFacts &model, Diagnostics &diags) const {
  for (const std::optional<ArraySource> *source : {&arrays, &adapter})
    if (*source && !checkFacts(model, ModelFacts::from((*source)->metadata()),
                               (*source)->path(), diags))
      return false;
  return true;
}

std::string WeightBinding::baseOfAdapter() const {
  if (adapter)
    for (const auto &[name, value] : adapter->metadata())
      if (name == adapterBaseKey)
        return value;
  return "";
}

/// Whether `kind` was reported at `range`: a pass can cut a weight into
/// hundreds of parts.
static bool isReported(const Diagnostics &diags, SourceRange range,
                       diag::AnyKind kind) {
  return llvm::any_of(diags.all(), [&](const Diagnostic &diagnostic) {
    return diagnostic.kind == kind && range.isValid() &&
           diagnostic.range.Start == range.Start;
  });
}

/// `value` as elements of `type`, of the same shape; nothing is copied where
/// elements become shorter.
static ConstantRef withType(const ConstantRef &value, const TensorType &type) {
  if (value->type() == type)
    return value;
  if (bitWidth(value->storedDType()) < bitWidth(type.dtype))
    return Constant::fromDoubles(type, value->asDoubles());
  return Constant::view(type, value->storedDType(), value->bytes(),
                        std::make_shared<ConstantRef>(value));
}

ConstantRef WeightBinding::resolve(llvm::StringRef name, const TensorType &type,
                                   InitialValue initial, SourceRange range,
                                   Diagnostics &diags) const {
  // Integers are parts of quantized weights, which have other values.
  bool isFloats = isFloat(type.dtype);
  if (isFloats && adapter && adapter->find(name))
    return adapter->lookup(name, type, range, diags);
  if (isFloats && arrays && arrays->find(storedName(name)))
    return arrays->lookup(storedName(name), type, range, diags);
  if (isFloats && values)
    if (ConstantRef value = values->lookup(name);
        value && value->type().shape == type.shape)
      return withType(value, type);
  if (isFloats && arrays && !seed) // which reports that it is missing
    return arrays->lookup(storedName(name), type, range, diags);
  if (constants.contains(name)) {
    if (!isReported(diags, range, diag::ConstantNotGiven))
      diags.report(range, diag::ConstantNotGiven, name);
    return nullptr;
  }
  if (isFloats && seed) {
    // drawWeight has the elements as fp32 and in their own type.
    uint64_t bytes = type.numElements() * sizeof(float) + type.numBytes();
    if (hasMemoryFor(bytes))
      return drawWeight(name, type, initial, *seed, *workers);
    if (!isReported(diags, range, diag::NoMemoryForWeight))
      diags.report(range, diag::NoMemoryForWeight, name, bytes / 1000000,
                   memoryLimit() / 1000000);
    return nullptr;
  }
  if (!isReported(diags, range, diag::UnboundWeight))
    diags.report(range, diag::UnboundWeight, name);
  return nullptr;
}

ConstantRef WeightBinding::resolve(const Op &weight, Diagnostics &diags) const {
  WeightView view = viewOf(weight);
  ConstantRef source = resolve(view.weight, view.storedType(),
                               initialValue(weight), weight.range(), diags);
  return source ? view.materialize(source) : nullptr;
}
