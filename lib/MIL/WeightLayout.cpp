//===- WeightLayout.cpp - placement of constants --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "WeightLayout.h"
#include "lib/IR/Blocks.h"
#include "lib/MIL/Diags.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Weights.h"
#include "lib/Support/AtomicFile.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

/// The rule of coremltools: arrays of these types with at least this number of
/// elements are not in the text.
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
    // Shapes, paddings and the like stay visible in the text.
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

/// Uses a new file for each record until the maximum number of files is
/// reached.
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
size_t WeightLayout::recordOf(const Constant &constant, const Op *weight,
                              StringRef name, SourceRange range) {
  ArrayRef<uint8_t> bytes = constant.bytes();
  unsigned types =
      unsigned(constant.storedDType()) << 8 | unsigned(constant.dtype());
  auto [known, isNew] =
      ofBytes.try_emplace({bytes.data(), {types, bytes.size()}}, 0);
  if (isNew)
    known->second = addRecord({&constant, weight, constant.type(), name.str(),
                               range, /*file=*/0, /*offset=*/0});
  return known->second;
}

void WeightLayout::addWeight(const Op &op) {
  // A record has elements and no shape.
  WeightView view = viewOf(op);
  view.array = view.array.withoutLastReshape();
  auto [known, isNew] = ofView.try_emplace(view.str(), 0);
  if (isNew) {
    ConstantRef value = options.resolve ? options.resolve(op) : nullptr;
    known->second = value ? recordOf(*value, &op, view.weight, op.range())
                          : addRecord({nullptr, &op, op.result()->type,
                                       view.weight, op.range(), /*file=*/0,
                                       /*offset=*/0});
  }
  ofWeight[&op] = known->second;
}

void WeightLayout::add(const Function &function, StringRef opset) {
  for (const Op &op : function.body()) {
    for (const auto &block : blocksOf(op))
      add(*block, opset);
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
        place->second =
            recordOf(*constant, /*weight=*/nullptr,
                     op.numResults() ? op.result()->name : "", op.range());
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

void WeightLayout::forEachWeight(
    function_ref<void(const Op &, uint64_t)> visit) const {
  for (const Record &record : records)
    if (record.weight)
      visit(*record.weight, record.offset);
}

/// Whether all values are known or can be resolved.
bool WeightLayout::areKnown(const ResolveWeight &resolve,
                            Diagnostics &diags) const {
  bool complete = true;
  for (const Record &record : records)
    if (record.value ? record.value->origin() && record.value->origin()->missing
                     : !record.weight || !resolve) {
      diags.report(record.range, diag::UnknownWeight, record.name);
      complete = false;
    }
  return complete;
}

bool WeightLayout::write(StringRef folder, StringRef name,
                         const ResolveWeight &resolve, AtomicFiles &files,
                         Diagnostics &diags) const {
  bool complete = areKnown(resolve, diags);
  for (size_t number = 0; complete && number < layouts.size(); ++number) {
    OutputFile *file = files.add(folder, pathOfFile(name, number));
    if (!file)
      return false;
    file->reserveExtraSpace(layouts[number].size());
    BlobWriter writer(*file, diags, options.executor);
    for (const Record &record : records) {
      if (record.file != number)
        continue;
      if (file->error())
        break; // `commit` reports it.
      // One at a time: there can be gigabytes of them.
      ConstantRef value = record.value ? record.value : resolve(*record.weight);
      if (!value)
        return false;
      [[maybe_unused]] uint64_t offset =
          writer.add(*value, record.name, record.range);
      assert(offset == record.offset && "the text names another offset");
      if (options.written)
        options.written();
    }
    writer.finish();
  }
  return complete;
}
