//===- ComputedSlice.cpp - slices that begin where values say -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `slice_by_index` with a computed `begin`, where the number of elements is
/// known all the same: that of `x[n]` is 1, and `x[n:n + 3]` has 3, unless the
/// array ends before. It becomes a `slice_by_size`, which begins earlier then.
///
//===----------------------------------------------------------------------===//

#include "lib/IR/ParamNames.h"
#include "lib/MIL/FunctionBinder.h"
#include "lib/Ops/Params/Slice.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Slices.h"
#include <functional>

using namespace anec;
using namespace anec::mil;
using namespace llvm;

namespace {
/// An integer: element `index` of `base` plus `offset`, or just the latter.
struct Term {
  const Value *base = nullptr;
  int64_t index = 0, offset = 0;

  bool isKnown() const { return !base; }
};

/// Finds what elements of small integer arrays are computed from.
class Terms {
public:
  using KnownValue = std::function<const Constant *(const Value *)>;
  explicit Terms(KnownValue known) : knownValue(std::move(known)) {}

  /// Element `index` of integers that are joined, moved and added to.
  Term operator()(const Value *value, int64_t index) const {
    Term term{value, index, 0};
    while (true) {
      if (auto number = known(term.base, term.index))
        return {nullptr, 0, term.offset + *number};
      if (!goBack(term))
        return term;
    }
  }

private:
  std::optional<int64_t> known(const Value *value, int64_t index) const {
    const Constant *constant = knownValue(value);
    if (!constant || isFloat(constant->dtype()))
      return std::nullopt;
    return constant->intAt(constant->numElements() == 1 ? 0 : index);
  }

  /// Writes a term by an operand of the op that computes its base. Returns
  /// false where that is not possible.
  bool goBack(Term &term) const {
    const Op *op = term.base->definingOp();
    if (!op || !isInteger(term.base->type.dtype))
      return false;
    bool isList = term.base->type.rank() == 1;
    if (op->is(ops::Add) || op->is(ops::Sub))
      return goBackOverSum(*op, term);
    if (op->is(ops::Stack) && isList) {
      term.base = op->operand(unsigned(term.index));
      term.index = 0;
      return true;
    }
    if (op->is(ops::Concat) && isList) {
      for (const Value *operand : op->operandValues()) {
        term.base = operand;
        if (term.index < operand->type.numElements())
          return true;
        term.index -= operand->type.numElements();
      }
      return false;
    }
    bool isMoved = op->is(ops::Reshape) || op->is(ops::ExpandDims) ||
                   op->is(ops::Squeeze) || op->is(ops::Identity);
    if (isMoved)
      term.base = op->operand(0);
    return isMoved;
  }

  bool goBackOverSum(const Op &op, Term &term) const {
    const Value *x = op.operand(0), *y = op.operand(1);
    auto left = known(x, term.index), right = known(y, term.index);
    if (right)
      term.offset += op.is(ops::Add) ? *right : -*right;
    else if (left && op.is(ops::Add))
      term.offset += *left;
    else
      return false;
    term.base = right ? x : y;
    if (term.base->type.numElements() == 1)
      term.index = 0;
    return true;
  }

  KnownValue knownValue;
};
} // namespace

/// The number of elements between two bounds of which the first is computed;
/// nothing when it depends on values.
static std::optional<int64_t> sizeBetween(Term begin, Term end) {
  int64_t size = end.offset - begin.offset;
  bool isKnown = begin.base == end.base && begin.index == end.index;
  return isKnown && size >= 1 ? std::optional(size) : std::nullopt;
}

/// The lists that are known, with an element for each of `rank` axes; those
/// that are absent are zeros, and steps are ones. Nothing where one does not
/// fit.
std::optional<SliceBounds>
FunctionBinder::sliceBounds(const Statement &statement, unsigned rank,
                            bool hasBegin, bool hasEnd, bool isNeeded) {
  SliceBounds bounds;
  auto read = [&](StringRef name, Shape &list, int64_t fallback,
                  bool isWanted = true) {
    list.assign(rank, fallback);
    if (!isWanted || !statement.argument(name))
      return true;
    auto known = knownNumbers(statement, name, isNeeded);
    if (!known || known->size() != rank)
      return false;
    list.assign(known->begin(), known->end());
    return true;
  };
  if (!read(param::begin, bounds.begin, 0, hasBegin) ||
      !read(param::end, bounds.end, 0, hasEnd) ||
      !read(param::stride, bounds.stride, 1) ||
      !read(param::beginMask, bounds.beginMask, 0) ||
      !read(param::endMask, bounds.endMask, 0) ||
      !read(param::squeezeMask, bounds.squeezeMask, 0) ||
      is_contained(bounds.stride, 0))
    return std::nullopt;
  return bounds;
}

/// The first positions, as `begin` of a slice_by_size: `known` has those that
/// are known, and the others are counted from the end where they are negative.
Value *FunctionBinder::firstPositions(Value *begin, const Shape &extents,
                                      ArrayRef<std::optional<int64_t>> known,
                                      StringRef name) {
  auto make = [&](const OpDef &def, ArrayRef<Value *> operands) {
    Op *op = builder->create(def, operands, {}, name);
    return op ? op->result() : nullptr;
  };
  TensorType type(DType::Int32, {int64_t(extents.size())});
  auto constant = [&](DType dtype, ArrayRef<double> numbers) {
    return makeConst(Constant::fromDoubles({dtype, type.shape}, numbers), name,
                     {});
  };
  std::vector<double> numbers, isKnown, sizes(extents.begin(), extents.end());
  for (const std::optional<int64_t> &first : known) {
    numbers.push_back(double(first.value_or(0)));
    isKnown.push_back(first.has_value());
  }
  Value *none = constant(DType::Int32, std::vector<double>(sizes.size()));
  Value *isBehind = make(ops::Less, {begin, none});
  Value *fromEnd = make(ops::Add, {begin, constant(DType::Int32, sizes)});
  Value *counted = isBehind && fromEnd
                       ? make(ops::Select, {isBehind, fromEnd, begin})
                       : nullptr;
  if (!counted || !is_contained(isKnown, 1))
    return counted;
  return make(ops::Select, {constant(DType::Bool, isKnown),
                            constant(DType::Int32, numbers), counted});
}

/// A slice whose `begin` is computed and whose size is known. Returns nothing
/// when the size is not known, and false after an error.
std::optional<bool>
FunctionBinder::bindComputedSlice(const Statement &statement, Value &x) {
  const Argument *beginList = statement.argument(param::begin),
                 *endList = statement.argument(param::end);
  unsigned rank = x.type.rank();
  auto valueOf = [&](const Argument *list) -> Value * {
    auto symbol = list && list->values.size() == 1
                      ? symbols.find(list->values[0].name)
                      : symbols.end();
    Value *value = symbol == symbols.end() ? nullptr : symbol->second.value;
    bool isList =
        value && value->type == TensorType(DType::Int32, {int64_t(rank)});
    return isList ? value : nullptr;
  };
  Value *begin = valueOf(beginList), *end = valueOf(endList);
  auto ends = knownNumbers(statement, param::end);
  if (ends && ends->size() != rank)
    return std::nullopt;
  auto bounds = sliceBounds(statement, rank, false, false);
  if (!begin || (!end && !ends) || !bounds)
    return std::nullopt;

  Terms terms([this](const Value *value) { return knownValue(value); });
  Shape size, step(rank, 1), zeros(rank, 0), dropped;
  SmallVector<std::optional<int64_t>, 4> first(rank);
  for (unsigned axis = 0; axis < rank; ++axis) {
    Term from = terms(begin, axis);
    Term to = ends ? Term{nullptr, 0, (*ends)[axis]} : terms(end, axis);
    int64_t extent = x.type.shape[axis];
    bool isFromKnown = from.isKnown() || bounds->beginMask[axis];
    bool isToKnown = to.isKnown() || bounds->endMask[axis];
    bounds->begin[axis] = from.offset;
    bounds->end[axis] = to.offset;
    if (isFromKnown && (isToKnown || bounds->squeezeMask[axis])) {
      SliceRange range = bounds->range(axis, extent);
      if (range.count == 0 || range.step < 0)
        return std::nullopt;
      first[axis] = range.first;
      step[axis] = range.step;
      size.push_back((range.count - 1) * range.step + 1);
    } else if (bounds->squeezeMask[axis]) {
      size.push_back(1);
    } else {
      auto between =
          isFromKnown || isToKnown ? std::nullopt : sizeBetween(from, to);
      if (!between || *between > extent || bounds->stride[axis] < 1)
        return std::nullopt;
      step[axis] = bounds->stride[axis];
      size.push_back((*between - 1) / step[axis] * step[axis] + 1);
    }
    if (bounds->squeezeMask[axis])
      dropped.push_back(axis);
  }
  StringRef name = statement.results[0].name;
  builder->setRange(statement.range);
  Value *at = firstPositions(begin, x.type.shape, first, name);
  Op *op = at ? builder->create(ops::SliceBySize, {&x, at},
                                {Attr(param::size, size)}, name)
              : nullptr;
  if (op && any_of(step, [](int64_t by) { return by != 1; }))
    op = builder->create(ops::SliceByIndex, {op->result()},
                         {Attr(param::begin, zeros), Attr(param::end, size),
                          Attr(param::stride, step)},
                         name);
  if (op && !dropped.empty())
    op = builder->create(ops::Squeeze, {op->result()},
                         {Attr(param::axes, dropped)}, name);
  return op && defineResult(statement, 0, op->result());
}

/// A size of -1 is known where `begin` is, or where it is that of the axis.
bool FunctionBinder::bindSliceBySize(const Statement &statement) {
  const Argument *begin = statement.argument(param::begin);
  if (!begin || isConstant(*begin))
    return bindOp(statement);
  auto size = knownNumbers(statement, param::size, /*isNeeded=*/true);
  if (!size || !is_contained(*size, -1) || !hasResults(statement, 1) ||
      !areValues(statement))
    return bindOp(statement);
  Value *x = operand(statement, "x"), *from = operand(statement, "begin");
  if (!x || !from)
    return false;
  unsigned rank = x->type.rank();
  if (size->size() != rank ||
      from->type != TensorType(DType::Int32, {int64_t(rank)}))
    return bindOp(statement);
  Terms terms([this](const Value *value) { return knownValue(value); });
  for (auto [axis, count] : enumerate(*size)) {
    Term first = terms(from, int64_t(axis));
    int64_t extent = x->type.shape[axis];
    if (count != -1)
      continue;
    if (!first.isKnown())
      return bindOp(statement);
    count = first.offset < 0 ? -first.offset : extent - first.offset;
  }
  Op *op = builder->create(ops::SliceBySize, {x, from},
                           {Attr(param::size, Shape(*size))},
                           statement.results[0].name);
  return op && defineResult(statement, 0, op->result());
}

bool FunctionBinder::bindSliceByIndex(const Statement &statement) {
  const Argument *list = statement.argument("x");
  if (!list || list->values.size() != 1 || statement.results.size() != 1)
    return bindOp(statement);
  auto symbol = symbols.find(list->values[0].name);
  if (symbol == symbols.end() || !symbol->second.value)
    return bindOp(statement);
  Value &x = *symbol->second.value;
  const Argument *begin = statement.argument(param::begin);
  if (begin && !isConstant(*begin)) {
    if (auto done = bindComputedSlice(statement, x))
      return *done;
  }
  auto bounds =
      sliceBounds(statement, x.type.rank(), true, true, /*isNeeded=*/true);
  if (!bounds || !statement.argument(param::end))
    return bindOp(statement);
  Shape extents;
  for (auto [axis, extent] : enumerate(x.type.shape)) {
    SliceRange range = bounds->range(unsigned(axis), extent);
    if (!range.dropped)
      extents.push_back(range.count);
  }
  return is_contained(extents, 0)
             ? defineEmpty(statement, {x.type.dtype, extents})
             : bindOp(statement);
}
