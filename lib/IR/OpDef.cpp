//===- OpDef.cpp - the row that defines an op -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/IR/OpDef.h"
#include "anec/IR/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace anec;

llvm::ArrayRef<ParamDef> OpDef::parameters() const {
  llvm::ArrayRef<ParamDef> all(params);
  return all.take_until(
      [](const ParamDef &param) { return param.name.empty(); });
}

int OpDef::valueSlot(llvm::StringRef param) const {
  int slot = 0;
  for (const ParamDef &def : parameters()) {
    if (def.isConstant())
      continue;
    if (def.name == param)
      return slot;
    ++slot;
  }
  return -1;
}

int OpDef::constantSlot(llvm::StringRef param) const {
  int slot = 0;
  for (const ParamDef &def : parameters()) {
    if (!def.isConstant())
      continue;
    if (def.name == param)
      return slot;
    ++slot;
  }
  return -1;
}

unsigned OpDef::numValueParams() const {
  return llvm::count_if(parameters(),
                        [](const ParamDef &def) { return !def.isConstant(); });
}

unsigned OpDef::numConstantParams() const {
  return llvm::count_if(parameters(),
                        [](const ParamDef &def) { return def.isConstant(); });
}

bool OpDef::isVariadic() const {
  return llvm::any_of(parameters(), [](const ParamDef &def) {
    return def.kind == ParamKind::Variadic;
  });
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

static const Constant *findConstant(const OpDef &def,
                                    llvm::ArrayRef<ConstantRef> constants,
                                    llvm::StringRef name) {
  int slot = def.constantSlot(name);
  assert(slot >= 0 && "no such constant parameter");
  return unsigned(slot) < constants.size() ? constants[slot].get() : nullptr;
}

const Constant *InferContext::constant(llvm::StringRef name) const {
  return findConstant(def, constants, name);
}

const Constant *EvalContext::constant(llvm::StringRef name) const {
  return findConstant(def, constants, name);
}

std::string InferContext::describeOperand(unsigned slot) const {
  const Value &value = *operands[slot];
  return describe && *describe ? (*describe)(value) : value.type.str();
}

/// The name of a value, or what was written where it has none.
static std::string nameOf(const Value &value) {
  if (!value.name.empty())
    return value.name;
  constexpr size_t maxShown = 40;
  if (SourceRange range = value.range(); range.isValid()) {
    llvm::StringRef text(range.Start.getPointer(),
                         range.End.getPointer() - range.Start.getPointer());
    if (!text.empty() && text.size() <= maxShown && !text.contains('\n'))
      return text.str();
  }
  return value.definingOp() ? value.definingOp()->def().name.str() : "";
}

bool InferContext::fail(diag::Kind kind, llvm::ArrayRef<std::string> args,
                        llvm::ArrayRef<unsigned> blamedOperands) {
  if (!diags)
    return false;
  // Rows name themselves; a message names the op as the user did.
  std::vector<std::string> words(args);
  if (!writtenAs.empty())
    std::replace(words.begin(), words.end(), def.name.str(), writtenAs.str());
  Diagnostics::Report report = diags->reportArgs(range, kind, words);
  llvm::SmallPtrSet<Value *, 4> noted;
  for (unsigned slot : blamedOperands) {
    if (!hasOperand(slot) || !noted.insert(operands[slot]).second)
      continue;
    const Value &value = *operands[slot];
    report.note(value.range(), diag::OperandHere, nameOf(value),
                describeOperand(slot));
  }
  return false;
}

bool InferContext::normalizeAxis(int64_t &axis, unsigned rank) {
  int64_t signedRank = rank;
  if (axis < -signedRank || axis >= signedRank)
    return fail(diag::AxisOutOfRange,
                {def.name.str(), std::to_string(axis), std::to_string(rank)},
                {0});
  if (axis < 0)
    axis += signedRank;
  return true;
}

//===----------------------------------------------------------------------===//
// OpTable
//===----------------------------------------------------------------------===//

const OpDef *OpTable::find(llvm::StringRef name) const {
  auto *it =
      llvm::lower_bound(rows, name, [](const OpDef *row, llvm::StringRef key) {
        return row->name < key;
      });
  return it != rows.end() && (*it)->name == name ? *it : nullptr;
}

llvm::StringRef OpTable::suggest(llvm::StringRef name) const {
  llvm::StringRef best;
  unsigned bestDistance = name.size() / 3 + 1;
  for (const OpDef *row : rows) {
    unsigned distance = name.edit_distance(row->name, true, bestDistance);
    if (distance < bestDistance || (distance == bestDistance && best.empty())) {
      best = row->name;
      bestDistance = distance;
    }
  }
  return best;
}
