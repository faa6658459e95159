//===- Compare.cpp - differences between two programs ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/MIL/Compare.h"
#include "Alignment.h"
#include "lib/IR/Blocks.h"
#include "lib/IR/DerivedConstant.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/MIL/Spelling.h"
#include "lib/Ops/Rows/Constants.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>

using namespace anec;
using namespace anec::mil;
using namespace llvm;

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Both arrays have the same type, which is not a string type.
static ArrayDifference compareArrays(const Constant &left,
                                     const Constant &right) {
  ArrayDifference result;
  result.elements = left.numElements();
  for (int64_t index = 0; index < result.elements; ++index) {
    double l = left.doubleAt(index), r = right.doubleAt(index);
    if (l == r || (std::isnan(l) && std::isnan(r)))
      continue;
    ++result.differing;
    double distance = std::fabs(l - r);
    double relative = distance / std::max(std::fabs(l), std::fabs(r));
    // One is infinite or NaN.
    if (!std::isfinite(distance))
      distance = relative = std::numeric_limits<double>::infinity();
    result.absolute = std::max(result.absolute, distance);
    result.relative = std::max(result.relative, relative);
  }
  return result;
}

/// A short description of a constant for lists of differences.
static std::string describe(const Constant &value) {
  constexpr int64_t mostElements = 16;
  std::string text;
  raw_string_ostream stream(text);
  if (value.numElements() > mostElements)
    writeType(stream, value.type(), Scalars::Bare);
  else
    writeValue(stream, value, Scalars::Bare);
  return text;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The value of a `const` op; null for computed values.
static const Constant *constantOf(const Value *value) {
  const Op *op = value ? value->definingOp() : nullptr;
  return op && op->is(ops::Const) ? op->constant(param::val) : nullptr;
}

static std::string describe(const Value *value) {
  if (!value)
    return "";
  if (const Constant *constant = constantOf(value))
    return describe(*constant);
  const Op *op = value->definingOp();
  return "`" + value->name + "` (" +
         (op ? op->def().name.str() : std::string("input")) + ")";
}

namespace {
/// An input or output of a function.
struct Port {
  std::string name;
  std::string text; ///< with the type
};
} // namespace

static Port makePort(StringRef name, const Value &value) {
  return {name.str(), (name + ": " + spellType(value)).str()};
}

static std::vector<Port> inputPorts(const Function &function) {
  std::vector<Port> ports;
  for (const auto &param : function.parameters())
    ports.push_back(makePort(param->name, *param));
  return ports;
}

static std::vector<Port> outputPorts(const Function &function) {
  std::vector<Port> ports;
  for (unsigned index = 0; index < function.numResults(); ++index)
    ports.push_back(
        makePort(function.resultNames()[index], *function.result(index)));
  return ports;
}

/// The indices of `ports` by name when `others` has the same names in another
/// order; otherwise as they are.
static std::vector<unsigned> counterpartsByName(ArrayRef<Port> ports,
                                                ArrayRef<Port> others) {
  StringMap<unsigned> byName;
  std::vector<unsigned> inOrder, result;
  for (auto [index, port] : enumerate(others)) {
    byName[port.name] = index;
    inOrder.push_back(index);
  }
  for (const Port &port : ports) {
    auto found = byName.find(port.name);
    if (found == byName.end() || ports.size() != others.size())
      return inOrder;
    result.push_back(found->second);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

namespace {
/// Compares two functions: first pairs their ops, then finds the differences
/// within each pair.
class FunctionComparison {
public:
  FunctionComparison(const Function &left, const Function &right,
                     const CompareOptions &options,
                     std::vector<Difference> &differences)
      : left(left), right(right), options(options), differences(differences) {}

  void run() {
    compareSignatures();
    auto isCounterpart = [&](const Value *l, const Value *r) {
      return isSame(l, r);
    };
    auto pair = [&](const Op *l, const Op *r) { addPair(l, r); };
    alignOps(left, right, isCounterpart, pair);
    comparePairs();
    compareResults();
  }

private:
  using OpPair = std::pair<const Op *, const Op *>; ///< one can be null

  Difference &add(Difference::Kind kind, const Op *l = nullptr,
                  const Op *r = nullptr) {
    Difference &difference = differences.emplace_back();
    difference.kind = kind;
    difference.function = left.name;
    difference.left = l;
    difference.right = r;
    return difference;
  }
  void addTexts(Difference::Kind kind, const Op *l, const Op *r, Twine part,
                std::string leftText, std::string rightText) {
    Difference &difference = add(kind, l, r);
    difference.part = part.str();
    difference.leftText = std::move(leftText);
    difference.rightText = std::move(rightText);
  }

  bool isSame(const Value *l, const Value *r) const {
    return l && r && counterparts.lookup(l) == r;
  }
  void addPair(const Op *l, const Op *r);
  void comparePairs();
  void compareSignatures();
  void comparePorts(llvm::StringRef kind, ArrayRef<Port> l, ArrayRef<Port> r);
  void pairParameters();
  void compareResults();
  void compareOps(const Op *l, const Op *r);
  void compareConstants(const Op *l, const Op *r);
  void compareBlocks(const Op *l, const Op *r);
  void compareOperands(const Op *l, const Op *r);
  void compareValues(const Op *l, const Op *r, const Twine &part,
                     const Constant *a, const Constant *b, bool isWeight);

  const Function &left, &right;
  const CompareOptions &options;
  std::vector<Difference> &differences;
  DenseMap<const Value *, const Value *> counterparts; ///< left -> right
  std::vector<OpPair> pairs;
};
} // namespace

/// Pairs parameters with the same name, at any position, and the others in
/// order.
void FunctionComparison::pairParameters() {
  StringMap<const Value *> byName;
  DenseSet<const Value *> taken;
  for (const auto &param : right.parameters())
    byName[param->name] = param.get();
  for (const auto &param : left.parameters())
    if (const Value *other = byName.lookup(param->name)) {
      counterparts[param.get()] = other;
      taken.insert(other);
    }
  auto next = right.parameters().begin();
  for (const auto &param : left.parameters()) {
    if (counterparts.contains(param.get()))
      continue;
    while (next != right.parameters().end() && taken.contains(next->get()))
      ++next;
    if (next == right.parameters().end())
      return;
    counterparts[param.get()] = (next++)->get();
  }
}

void FunctionComparison::compareSignatures() {
  if (left.name != right.name)
    addTexts(Difference::Signature, nullptr, nullptr, "name", left.name,
             right.name);
  if (left.opset != right.opset)
    addTexts(Difference::Signature, nullptr, nullptr, "opset", left.opset,
             right.opset);
  pairParameters();
  comparePorts("input", inputPorts(left), inputPorts(right));
}

/// Compares ports of the same names by name, and others in order.
void FunctionComparison::comparePorts(StringRef kind, ArrayRef<Port> l,
                                      ArrayRef<Port> r) {
  std::vector<unsigned> counterpart = counterpartsByName(l, r);
  auto text = [](ArrayRef<Port> ports, size_t index) {
    return index < ports.size() ? ports[index].text : std::string();
  };
  for (size_t index = 0; index < std::max(l.size(), r.size()); ++index) {
    std::string a = text(l, index);
    std::string b = text(r, index < r.size() ? counterpart[index] : index);
    if (a != b)
      addTexts(Difference::Signature, nullptr, nullptr,
               kind + " " + Twine(index), a, b);
  }
  auto names = [](ArrayRef<Port> ports) {
    return join(map_range(ports, [](const Port &port) { return port.name; }),
                ", ");
  };
  if (!is_sorted(counterpart))
    addTexts(Difference::Signature, nullptr, nullptr,
             "order of the " + kind + "s", names(l), names(r));
}

void FunctionComparison::compareResults() {
  std::vector<Port> l = outputPorts(left), r = outputPorts(right);
  comparePorts("output", l, r);
  std::vector<unsigned> counterpart = counterpartsByName(l, r);
  for (unsigned index = 0; index < std::min(l.size(), r.size()); ++index) {
    const Value *a = left.result(index);
    const Value *b = right.result(counterpart[index]);
    std::string part = "output " + std::to_string(index);
    if (constantOf(a) && constantOf(b))
      compareValues(nullptr, nullptr, part, constantOf(a), constantOf(b), true);
    else if (!isSame(a, b))
      addTexts(Difference::Argument, nullptr, nullptr, part, describe(a),
               describe(b));
  }
}

/// Null is an absent parameter.
void FunctionComparison::compareValues(const Op *l, const Op *r,
                                       const Twine &part, const Constant *a,
                                       const Constant *b, bool isWeight) {
  if (!a && !b)
    return;
  bool oneType = a && b && a->type() == b->type();
  if (!oneType) {
    addTexts(Difference::Argument, l, r, part, a ? describe(*a) : "",
             b ? describe(*b) : "");
    return;
  }
  isWeight &= !a->type().isScalar() && a->dtype() != DType::String;
  if ((isWeight && options.ignoreWeights) ||
      roundedConstant(*a)->equals(*roundedConstant(*b)))
    return;
  if (!isWeight) {
    addTexts(Difference::Argument, l, r, part, describe(*a), describe(*b));
    return;
  }
  ArrayDifference values = compareArrays(*a, *b);
  if (!values.differing) // zeros of either sign
    return;
  Difference &difference = add(Difference::Weights, l, r);
  difference.part = part.str();
  difference.values = values;
}

/// Differences inside of blocks are differences of the function.
void FunctionComparison::compareBlocks(const Op *l, const Op *r) {
  for (auto [own, other] : zip(blocksOf(*l), blocksOf(*r))) {
    size_t before = differences.size();
    FunctionComparison(*own, *other, options, differences).run();
    for (Difference &difference :
         MutableArrayRef(differences).drop_front(before))
      difference.function = left.name;
  }
}

void FunctionComparison::compareConstants(const Op *l, const Op *r) {
  unsigned slot = 0;
  for (const ParamDef &param : l->def().parameters()) {
    if (!param.isConstant())
      continue;
    constexpr int8_t anyShape = -1;
    if (blocksSlot(l->def()) == int(slot)) {
      compareBlocks(l, r);
      ++slot;
      continue;
    }
    compareValues(l, r, StringRef(param.name), l->constants()[slot].get(),
                  r->constants()[slot].get(), param.rank == anyShape);
    ++slot;
  }
}

/// The name of the operand in `slot`: `x`, or `values 2`.
static std::string operandName(const OpDef &def, unsigned slot) {
  unsigned index = 0;
  for (const ParamDef &param : def.parameters()) {
    if (param.isConstant())
      continue;
    if (param.kind == ParamKind::Variadic)
      return param.name.str() + " " + std::to_string(slot - index);
    if (index++ == slot)
      return param.name.str();
  }
  return std::to_string(slot);
}

void FunctionComparison::compareOperands(const Op *l, const Op *r) {
  unsigned count = std::max(l->numOperands(), r->numOperands());
  for (unsigned slot = 0; slot < count; ++slot) {
    const Value *a = slot < l->numOperands() ? l->operand(slot) : nullptr;
    const Value *b = slot < r->numOperands() ? r->operand(slot) : nullptr;
    std::string part = operandName(l->def(), slot);
    if (constantOf(a) && constantOf(b))
      compareValues(l, r, part, constantOf(a), constantOf(b), true);
    else if ((a || b) && !isSame(a, b))
      addTexts(Difference::Argument, l, r, part, describe(a), describe(b));
  }
}

void FunctionComparison::addPair(const Op *l, const Op *r) {
  pairs.push_back({l, r});
  if (l && r)
    for (unsigned i = 0; i < std::min(l->numResults(), r->numResults()); ++i)
      counterparts[l->result(i)] = r->result(i);
}

/// Compares the pairs in the order of the left ops; an op of the right function
/// alone comes before the counterpart of the next one that has one.
void FunctionComparison::comparePairs() {
  DenseMap<const Op *, const Op *> ofRight;
  for (auto [l, r] : pairs)
    if (r)
      ofRight[r] = l;
  DenseMap<const Op *, std::vector<const Op *>> before; ///< left -> right ops
  std::vector<const Op *> alone;
  for (const Op &op : right.body()) {
    auto found = ofRight.find(&op);
    if (found == ofRight.end())
      continue;
    if (!found->second)
      alone.push_back(&op);
    else if (!alone.empty())
      before[found->second] = std::exchange(alone, {});
  }
  DenseMap<const Op *, const Op *> ofLeft;
  for (auto [l, r] : pairs)
    if (l)
      ofLeft[l] = r;
  for (const Op &op : left.body()) {
    auto found = ofLeft.find(&op);
    if (found == ofLeft.end())
      continue;
    for (const Op *added : before.lookup(&op))
      compareOps(nullptr, added);
    compareOps(&op, found->second);
  }
  for (const Op *added : alone)
    compareOps(nullptr, added);
}

/// Compares both ops, or reports the only one.
void FunctionComparison::compareOps(const Op *l, const Op *r) {
  if (!l || !r) {
    add(Difference::OpMissing, l, r);
    return;
  }
  for (unsigned i = 0; i < std::min(l->numResults(), r->numResults()); ++i) {
    const Value *a = l->result(i), *b = r->result(i);
    if (!(a->type == b->type))
      addTexts(Difference::ResultType, l, r, "result " + Twine(i),
               spellType(a->type), spellType(b->type));
  }
  compareConstants(l, r);
  compareOperands(l, r);
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

std::vector<Difference> anec::compareModules(const Module &left,
                                             const Module &right,
                                             const CompareOptions &options) {
  std::vector<Difference> differences;
  // Single functions are compared even if their names differ.
  if (left.functions.size() == 1 && right.functions.size() == 1) {
    FunctionComparison(*left.functions[0], *right.functions[0], options,
                       differences)
        .run();
    return differences;
  }
  auto addMissing = [&](StringRef name, bool inLeft) {
    Difference &difference = differences.emplace_back();
    difference.kind = Difference::FunctionMissing;
    difference.function = name.str();
    (inLeft ? difference.leftText : difference.rightText) = name.str();
  };
  for (const auto &function : left.functions) {
    if (const Function *other = right.findFunction(function->name))
      FunctionComparison(*function, *other, options, differences).run();
    else
      addMissing(function->name, true);
  }
  for (const auto &function : right.functions)
    if (!left.findFunction(function->name))
      addMissing(function->name, false);
  return differences;
}
