//===- OpDef.cpp - definitions of ops -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/IR/OpDef.h"
#include "lib/IR/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace anec;

llvm::ArrayRef<ParamDef> OpDef::parameters() const {
  llvm::ArrayRef<ParamDef> all(params);
  return all.take_until(
      [](const ParamDef &param) { return param.name.id == ParamId::None; });
}

/// The slot among the value or constant parameters of the first one that
/// `matches`; -1 when there is none.
template <typename Matches>
static int findSlot(llvm::ArrayRef<ParamDef> params, bool constant,
                    Matches matches) {
  int slot = 0;
  for (const ParamDef &param : params) {
    if (param.name.id == ParamId::None)
      break;
    if (param.isConstant() != constant)
      continue;
    if (matches(param.name))
      return slot;
    ++slot;
  }
  return -1;
}

int OpDef::valueSlot(const ParamName &param) const {
  return findSlot(params, false,
                  [&](const ParamName &name) { return name.id == param.id; });
}

int OpDef::valueSlot(ValueRole role) const {
  int slot = 0;
  for (const ParamDef &param : parameters()) {
    if (param.isConstant())
      continue;
    if (param.role == role)
      return slot;
    ++slot;
  }
  return -1;
}

int OpDef::constantSlot(const ParamName &param) const {
  return findSlot(params, true,
                  [&](const ParamName &name) { return name.id == param.id; });
}

int OpDef::findValueParam(llvm::StringRef name) const {
  return findSlot(params, false,
                  [&](llvm::StringRef has) { return has == name; });
}

int OpDef::findConstantParam(llvm::StringRef name) const {
  return findSlot(params, true,
                  [&](llvm::StringRef has) { return has == name; });
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
                                    const ConstantParam &param) {
  int slot = def.constantSlot(param);
  assert(slot >= 0 && "no such constant parameter");
  return unsigned(slot) < constants.size() ? constants[slot].get() : nullptr;
}

const Constant *InferContext::constant(const ConstantParam &param) const {
  return findConstant(def, constants, param);
}

const Constant *EvalContext::constant(const ConstantParam &param) const {
  return findConstant(def, constants, param);
}

bool InferContext::hasOperand(const ValueParam &param) const {
  int slot = def.valueSlot(param);
  assert(slot >= 0 && "no such value parameter");
  return hasOperand(unsigned(slot));
}

llvm::StringRef InferContext::opName() const {
  return writtenAs.empty() ? llvm::StringRef(def.name) : writtenAs;
}

std::string InferContext::describeOperand(unsigned slot) const {
  const Value &value = *operands[slot];
  return describe && *describe ? (*describe)(value) : value.type.str();
}

/// The name of a value, or its source text when it has none.
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

bool InferContext::fail(const diag::Message &message,
                        llvm::ArrayRef<unsigned> blamedOperands) {
  if (!diags)
    return false;
  Diagnostics::Report report = diags->report(range, message);
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
    return fail(diag::AxisOutOfRange(opName(), axis, rank), {0});
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
