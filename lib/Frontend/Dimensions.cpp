//===- Dimensions.cpp - user-defined names of extents ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Dimensions.h"
#include "lib/IR/OpDef.h"
#include "lib/Ops/Rows/Matmul.h"

using namespace anec;
using namespace anec::frontend;

const Spellings *Dimensions::find(const Value *value) const {
  auto it = table.find(value);
  return it == table.end() ? nullptr : &it->second;
}

/// The spelling of an axis of `value` (negative: from the end), if it has this
/// extent.
llvm::StringRef Dimensions::at(const Value *value, int64_t axis,
                               int64_t extent) const {
  const Spellings *spellings = value ? find(value) : nullptr;
  if (!spellings)
    return {};
  if (axis < 0)
    axis += spellings->size();
  if (axis < 0 || size_t(axis) >= spellings->size() ||
      value->type.shape[axis] != extent)
    return {};
  return (*spellings)[axis];
}

/// The one spelling that all of `candidates` with this value share.
static void addCandidate(llvm::StringRef spelling, llvm::StringRef &only,
                         bool &ambiguous) {
  if (spelling.empty())
    return;
  ambiguous |= !only.empty() && only != spelling;
  only = spelling;
}

llvm::StringRef Dimensions::guess(const Op &op, unsigned axis, int64_t extent,
                                  unsigned rank,
                                  llvm::ArrayRef<NamedInteger> hints) const {
  // The last axis of a product is that of its right operand.
  bool product = op.is(ops::Matmul);
  if (product && axis + 1 == rank)
    return at(op.operand(1), -1, extent);

  for (Value *operand : op.operandValues())
    if (operand && operand->type.rank() == rank)
      if (llvm::StringRef same = at(operand, axis, extent); !same.empty())
        return same;

  // 1 is the extent of all reduced or broadcast axes.
  if (extent == 1)
    return {};
  llvm::StringRef only;
  bool ambiguous = false;
  for (Value *operand : op.operandValues())
    for (unsigned i = 0; operand && i < operand->type.rank(); ++i)
      addCandidate(at(operand, i, extent), only, ambiguous);
  for (const NamedInteger &hint : hints)
    if (hint.value == extent)
      addCandidate(hint.spelling, only, ambiguous);
  if (only.empty())
    for (const NamedInteger &entry : config)
      if (entry.value == extent)
        addCandidate(entry.spelling, only, ambiguous);
  return ambiguous ? llvm::StringRef() : only;
}

void Dimensions::derive(const Op &op, llvm::ArrayRef<NamedInteger> hints) {
  for (const Value *result : op.resultValues()) {
    Spellings spellings;
    for (auto [axis, extent] : llvm::enumerate(result->type.shape))
      spellings.push_back(guess(op, axis, extent, result->type.rank(), hints));
    table[result] = std::move(spellings);
  }
}

std::string Dimensions::describe(const TensorType &type,
                                 llvm::ArrayRef<llvm::StringRef> spellings) {
  if (llvm::all_of(spellings, [](llvm::StringRef s) { return s.empty(); }))
    return type.str();
  std::string text = spelling(type.dtype).str() + "[";
  for (auto [axis, extent] : llvm::enumerate(type.shape)) {
    text += axis ? ", " : "";
    text += spellings[axis].empty() ? std::to_string(extent)
                                    : spellings[axis].str();
  }
  return text + "]` = `" + shapeToString(type.shape);
}

std::string Dimensions::describe(const Value &value) const {
  const Spellings *spellings = find(&value);
  return spellings ? describe(value.type, *spellings) : value.type.str();
}
