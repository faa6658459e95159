//===- WeightLayout.cpp - which constant lies where -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "WeightLayout.h"
#include "anec/IR/OpDef.h"
#include "anec/MIL/Diags.h"
#include "anec/MIL/Spelling.h"
#include "anec/Ops/Ops.h"
#include "anec/Support/AtomicFile.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

/// coremltools' rule: so many elements of these types do not stand in the text.
bool WeightLayout::belongsInFile(const Constant &constant, bool isParameter,
                                 StringRef opset) const {
  constexpr int64_t fewestElements = 10;
  if (constant.origin())
    return true;
  DType dtype = constant.dtype();
  // These have no spelling in text.
  if (isMinifloat(dtype))
    return true;
  if (options.placement == MILPrintOptions::Placement::Keep ||
      constant.numElements() < fewestElements || !blobCode(dtype))
    return false;
  switch (dtype) {
  case DType::Int16:
  case DType::Int32:
  case DType::UInt16:
  case DType::UInt32:
    // Shapes, paddings and the like are to be seen.
    return !isParameter && opset >= "ios18";
  default:
    return true;
  }
}

/// `out.bin`, `out.1.bin`, ...
static std::string pathOfFile(StringRef path, size_t number) {
  if (number == 0)
    return path.str();
  StringRef extension = sys::path::extension(path);
  return (path.drop_back(extension.size()) + "." + Twine(number) + extension)
      .str();
}

/// To a file of its own, until there are as many as there may be.
size_t WeightLayout::addRecord(Record record) {
  record.file = records.size() % options.mostWeightFiles;
  if (record.file == layouts.size()) {
    layouts.emplace_back();
    paths.push_back(pathOfFile(options.weightPath, record.file));
  }
  record.offset = layouts[record.file].add(record.type);
  records.push_back(std::move(record));
  return records.size() - 1;
}

/// The record that holds the bytes of `constant`, which it keeps alive.
size_t WeightLayout::recordOf(const Constant &constant, StringRef name,
                              SourceRange range) {
  ArrayRef<uint8_t> bytes = constant.bytes();
  unsigned types =
      unsigned(constant.storedDType()) << 8 | unsigned(constant.dtype());
  auto [known, isNew] =
      ofBytes.try_emplace({bytes.data(), {types, bytes.size()}}, 0);
  if (isNew)
    known->second = addRecord({&constant, constant.type(), name.str(), range,
                               /*file=*/0, /*offset=*/0});
  return known->second;
}

/// What a `weight` op stands for: its name and how the array is turned.
static std::string weightKey(const Op &op) {
  std::string key;
  raw_string_ostream out(key);
  for (const ConstantRef &constant : op.constants()) {
    if (constant)
      writeValue(out, *constant, Scalars::Bare);
    out << ';';
  }
  return key;
}

void WeightLayout::addWeight(const Op &op) {
  auto [known, isNew] = ofWeightKey.try_emplace(weightKey(op), 0);
  if (isNew) {
    ConstantRef value = options.resolve ? options.resolve(op) : nullptr;
    StringRef name = op.get(param::name);
    known->second = value ? recordOf(*value, name, op.range())
                          : addRecord({nullptr, op.result()->type, name.str(),
                                       op.range(), /*file=*/0, /*offset=*/0});
  }
  ofWeight[&op] = known->second;
}

void WeightLayout::add(const Function &function, StringRef opset) {
  for (const Op &op : function.body()) {
    if (op.is(ops::Weight)) {
      addWeight(op);
      continue;
    }
    bool isConst = op.is(ops::Const);
    for (const ConstantRef &constant : op.constants()) {
      if (!constant || !belongsInFile(*constant, !isConst, opset))
        continue;
      bool stays = constant->origin() &&
                   options.placement == MILPrintOptions::Placement::Keep;
      if (stays)
        continue;
      auto [place, isNew] = ofConstant.try_emplace(constant.get(), 0);
      if (isNew)
        place->second = recordOf(
            *constant, op.numResults() ? op.result()->name : "", op.range());
    }
  }
}

std::optional<WeightPlace> WeightLayout::find(const Constant &constant) const {
  auto it = ofConstant.find(&constant);
  if (it != ofConstant.end())
    return placeOf(records[it->second]);
  if (constant.origin() &&
      options.placement == MILPrintOptions::Placement::Keep)
    return WeightPlace{constant.origin()->path, constant.origin()->offset};
  return std::nullopt;
}

WeightPlace WeightLayout::find(const Op &weight) const {
  return placeOf(records[ofWeight.lookup(&weight)]);
}

bool WeightLayout::areKnown(Diagnostics &diags) const {
  bool complete = true;
  for (const Record &record : records)
    if (!record.value ||
        (record.value->origin() && record.value->origin()->missing)) {
      // What has no value was reported where it was looked for.
      if (record.value || !options.resolve)
        diags.report(record.range, diag::UnknownWeight, record.name);
      complete = false;
    }
  return complete;
}

bool WeightLayout::write(StringRef path, AtomicFiles &files,
                         Diagnostics &diags) const {
  if (!areKnown(diags))
    return false;
  for (size_t number = 0; number < layouts.size(); ++number) {
    OutputFile *file = files.add(pathOfFile(path, number));
    if (!file)
      return false;
    BlobWriter writer(*file, diags, options.executor);
    for (const Record &record : records) {
      if (record.file != number)
        continue;
      [[maybe_unused]] uint64_t offset =
          writer.add(*record.value, record.name, record.range);
      assert(offset == record.offset && "the text names another offset");
    }
    writer.finish();
  }
  return true;
}
