//===- Alignment.cpp - pairs the ops of two programs ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Ops that compute the same from the inputs are paired first, so the order of
/// independent ops does not matter. Of the others, runs of equal ops are paired
/// in order; where ops differ, the pairs are those of the best alignment of a
/// window of each function, as in a text diff, except that ops of one kind with
/// different arguments can also correspond. Windows keep the time linear in the
/// length of the programs.
///
//===----------------------------------------------------------------------===//

#include "Alignment.h"
#include "lib/IR/Blocks.h"
#include "lib/IR/Text.h"
#include "lib/Ops/Rows/Constants.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <deque>

using namespace anec;
using namespace anec::mil;
using namespace llvm;

namespace {
/// The properties that distinguish an op from others of its kind.
struct Entry {
  const Op *op;
  hash_code types;     ///< of results
  hash_code arguments; ///< constants, except large ones
  hash_code sources;   ///< the kinds of ops that operands come from
};
} // namespace

static bool isConst(const Op &op) { return op.is(ops::Const); }

static hash_code hashType(const TensorType &type) {
  return hash_combine(type.dtype,
                      hash_combine_range(type.shape.begin(), type.shape.end()));
}

static Entry makeEntry(const Op &op) {
  Entry entry = {&op, 0, 0, 0};
  for (const Value *result : op.resultValues())
    entry.types = hash_combine(entry.types, hashType(result->type));
  for (const ConstantRef &value : op.constants()) {
    if (Blocks::of(value.get()))
      continue;
    // Weights can differ after training; the op is still the same.
    constexpr int64_t mostElements = 16;
    size_t hash = !value ? 0
                  : value->numElements() <= mostElements
                      ? value->hash()
                      : size_t(hashType(value->type()));
    entry.arguments = hash_combine(entry.arguments, hash);
  }
  for (const Value *operand : op.operandValues()) {
    const Op *source = operand ? operand->definingOp() : nullptr;
    entry.sources =
        hash_combine(entry.sources, source ? &source->def() : nullptr);
  }
  return entry;
}

//===----------------------------------------------------------------------===//
// Ops that compute the same
//===----------------------------------------------------------------------===//

namespace {
/// Hashes what each op computes from the inputs of a function. Two ops with one
/// hash compute the same.
class Computation {
public:
  /// Whether elements of large arrays count. Without them, ops that differ by
  /// their weights have one hash.
  enum class Arrays { ByElements, ByType };

  Computation(const Function &function, Arrays arrays) : arrays(arrays) {
    for (const auto &param : function.parameters())
      values[param.get()] = hash_combine(param->name, hashType(param->type));
    for (const Op &op : function.body())
      visit(op);
  }

  hash_code of(const Op &op) const { return ops.lookup(&op); }

private:
  hash_code hashArray(const Constant *array) const {
    constexpr int64_t mostElements = 16;
    if (!array)
      return 0;
    if (array->numElements() <= mostElements)
      return array->hash();
    hash_code type = hashType(array->type());
    if (arrays == Arrays::ByType)
      return type;
    ArrayRef<uint8_t> bytes = array->bytes();
    return hash_combine(type, hash_combine_range(bytes.begin(), bytes.end()));
  }

  void visit(const Op &op) {
    hash_code code = hash_combine(&op.def(), op.numOperands());
    for (const ConstantRef &constant : op.constants())
      if (!Blocks::of(constant.get()))
        code = hash_combine(code, hashArray(constant.get()));
    for (const auto &block : blocksOf(op)) {
      std::string text;
      raw_string_ostream stream(text);
      printIR(*block, stream);
      code = hash_combine(code, text);
    }
    for (const Value *operand : op.operandValues())
      code =
          hash_combine(code, operand ? values.lookup(operand) : hash_code(0));
    // What uses a state depends on what used it before.
    if (op.def().has(trait::SideEffect))
      for (const Value *operand : op.operandValues())
        if (operand && operand->holder == Holder::State)
          values[operand] = hash_combine(values.lookup(operand), code);
    ops[&op] = code;
    for (const Value *result : op.resultValues())
      values[result] =
          hash_combine(code, result->index(), hashType(result->type));
  }

  Arrays arrays;
  DenseMap<const Value *, hash_code> values;
  DenseMap<const Op *, hash_code> ops;
};
} // namespace

using OpList = std::vector<const Op *>;

/// Pairs ops of both lists that compute the same, in order where several do,
/// and removes them.
static void pairSame(const Function &left, const Function &right,
                     Computation::Arrays arrays, OpList &leftOps,
                     OpList &rightOps,
                     function_ref<void(const Op *, const Op *)> pair) {
  const Computation ofLeft(left, arrays), ofRight(right, arrays);
  DenseMap<size_t, std::deque<const Op *>> waiting;
  for (const Op *op : rightOps)
    waiting[ofRight.of(*op)].push_back(op);
  DenseSet<const Op *> paired;
  llvm::erase_if(leftOps, [&](const Op *op) {
    auto found = waiting.find(ofLeft.of(*op));
    if (found == waiting.end() || found->second.empty())
      return false;
    const Op *other = found->second.front();
    found->second.pop_front();
    paired.insert(other);
    pair(op, other);
    return true;
  });
  llvm::erase_if(rightOps, [&](const Op *op) { return paired.contains(op); });
}

//===----------------------------------------------------------------------===//
// Other ops
//===----------------------------------------------------------------------===//

static OpList listOps(const Function &function) {
  OpList list;
  for (const Op &op : function.body())
    if (!isConst(op))
      list.push_back(&op);
  return list;
}

static std::vector<Entry> makeEntries(ArrayRef<const Op *> list) {
  std::vector<Entry> entries;
  for (const Op *op : list)
    entries.push_back(makeEntry(*op));
  return entries;
}

/// How well two ops match; 0 when they cannot correspond.
static unsigned score(const Entry &l, const Entry &r) {
  if (&l.op->def() != &r.op->def())
    return 0;
  return 1 + 2 * (l.types == r.types) + 2 * (l.arguments == r.arguments) +
         2 * (l.sources == r.sources);
}

namespace {
class Alignment {
public:
  Alignment(ArrayRef<const Op *> left, ArrayRef<const Op *> right,
            function_ref<bool(const Value *, const Value *)> isCounterpart,
            function_ref<void(const Op *, const Op *)> pair)
      : left(makeEntries(left)), right(makeEntries(right)),
        isCounterpart(isCounterpart), pair(pair) {}

  void run() {
    while (true) {
      pairEqual();
      if (i == left.size() && j == right.size())
        return;
      alignWindow();
    }
  }

private:
  static constexpr size_t window = 512;

  bool isEqual(const Entry &l, const Entry &r) const;
  void pairEqual();
  void alignWindow();

  const std::vector<Entry> left, right;
  function_ref<bool(const Value *, const Value *)> isCounterpart;
  function_ref<void(const Op *, const Op *)> pair;
  size_t i = 0, j = 0;        ///< the next entries
  std::vector<unsigned> best; ///< scores of a window's ends
};
} // namespace

/// Whether both ops are equal, except for the elements of arrays.
bool Alignment::isEqual(const Entry &l, const Entry &r) const {
  constexpr unsigned highest = 7;
  if (score(l, r) != highest || l.op->numOperands() != r.op->numOperands())
    return false;
  for (unsigned slot = 0; slot < l.op->numOperands(); ++slot) {
    const Value *a = l.op->operand(slot), *b = r.op->operand(slot);
    if (!a || !b) {
      if (a != b)
        return false;
      continue;
    }
    bool constants = a->definingOp() && b->definingOp() &&
                     isConst(*a->definingOp()) && isConst(*b->definingOp());
    if (constants ? !(a->type == b->type) : !isCounterpart(a, b))
      return false;
  }
  return true;
}

void Alignment::pairEqual() {
  while (i < left.size() && j < right.size() && isEqual(left[i], right[j])) {
    pair(left[i].op, right[j].op);
    ++i;
    ++j;
  }
}

/// Aligns the next window of both, and pairs at least some of it. Pairs near
/// the end of a window can be poor because the following ops are unknown, so
/// they are kept only when nothing follows.
void Alignment::alignWindow() {
  size_t rows = std::min(window, left.size() - i);
  size_t columns = std::min(window, right.size() - j);
  size_t width = columns + 1;
  best.assign((rows + 1) * width, 0);
  for (size_t row = rows; row-- > 0;)
    for (size_t column = columns; column-- > 0;) {
      unsigned skip = std::max(best[(row + 1) * width + column],
                               best[row * width + column + 1]);
      unsigned fit = score(left[i + row], right[j + column]);
      unsigned both = fit ? fit + best[(row + 1) * width + column + 1] : 0;
      best[row * width + column] = std::max(skip, both);
    }

  bool isLast = i + rows == left.size() && j + columns == right.size();
  size_t row = 0, column = 0;
  while (row < rows || column < columns) {
    if (!isLast && std::max(row, column) >= window / 2)
      break;
    unsigned here = best[row * width + column];
    bool canPair = row < rows && column < columns;
    unsigned fit = canPair ? score(left[i + row], right[j + column]) : 0;
    // When a window does not decide which side has additional ops, it is the
    // longer one.
    bool skipLeft = row < rows && here == best[(row + 1) * width + column];
    bool skipRight = column < columns && here == best[row * width + column + 1];
    bool leftIsLonger = left.size() - i - row >= right.size() - j - column;
    if (fit && here == fit + best[(row + 1) * width + column + 1])
      pair(left[i + row++].op, right[j + column++].op);
    else if (skipLeft && (leftIsLonger || !skipRight))
      pair(left[i + row++].op, nullptr);
    else
      pair(nullptr, right[j + column++].op);
  }
  i += row;
  j += column;
}

void anec::mil::alignOps(
    const Function &left, const Function &right,
    function_ref<bool(const Value *, const Value *)> isCounterpart,
    function_ref<void(const Op *, const Op *)> pair) {
  OpList leftOps = listOps(left), rightOps = listOps(right);
  for (Computation::Arrays arrays :
       {Computation::Arrays::ByElements, Computation::Arrays::ByType})
    pairSame(left, right, arrays, leftOps, rightOps, pair);
  Alignment(leftOps, rightOps, isCounterpart, pair).run();
}
