//===- MovementConstructs.cpp - statements that move elements -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BlockBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::fuzz;

static bool addTranspose(BlockBuilder &b) {
  Expr x = b.any();
  if (x.type.rank() < 2)
    return false;
  Extents perm, shape;
  std::vector<size_t> axes;
  for (size_t axis = 0; axis < x.type.rank(); ++axis)
    axes.push_back(axis);
  for (size_t i = axes.size() - 1; i > 0; --i)
    std::swap(axes[i], axes[b.random.number(0, int64_t(i))]);
  for (size_t axis : axes) {
    perm.push_back(Extent(int64_t(axis)));
    shape.push_back(x.type.shape[axis]);
  }
  b.note("transpose");
  b.let(b.expr("transpose($0, perm = " + listText(perm) + ")", {x},
               b.type(shape)));
  return true;
}

static bool addReshape(BlockBuilder &b) {
  Expr x = b.any();
  Extents shape = x.type.shape;
  if (shape.empty())
    return false;
  if (shape.size() >= 2 && b.random.chance(0.6)) {
    size_t axis = b.random.number(0, int64_t(shape.size()) - 2);
    shape[axis] = shape[axis] * shape[axis + 1];
    shape.erase(shape.begin() + int64_t(axis) + 1);
  } else if (shape.size() < 4) {
    shape.insert(shape.begin() + b.random.number(0, int64_t(shape.size())),
                 Extent());
  } else {
    return false;
  }
  b.note("reshape");
  b.let(b.expr("reshape($0, shape = " + listText(shape) + ")", {x},
               b.type(shape)));
  return true;
}

static bool addSplit(BlockBuilder &b) {
  std::optional<Expr> x = b.anyThat([](const TreeType &type) {
    return llvm::any_of(type.shape,
                        [](const Extent &e) { return e.value > 1; });
  });
  if (!x)
    return false;
  size_t axis = b.anyAxis(x->type);
  while (x->type.shape[axis].value == 1)
    axis = b.anyAxis(x->type);
  const Extent &whole = x->type.shape[axis];
  int64_t first = b.random.number(1, whole.value - 1);
  TreeType left = x->type, right = x->type;
  bool equal = whole.value % 2 == 0 && b.random.chance(0.5);
  if (equal) {
    left.shape[axis] = right.shape[axis] =
        Extent("(" + whole.text + ") / 2", whole.value / 2);
  } else {
    left.shape[axis] = Extent(first);
    right.shape[axis] =
        Extent("(" + whole.text + " - " + std::to_string(first) + ")",
               whole.value - first);
  }
  std::string parts =
      "[" + left.shape[axis].text + ", " + right.shape[axis].text + "]";
  Statement statement;
  statement.names = {{b.freshName("a"), left}, {b.freshName("b"), right}};
  statement.value = b.expr(
      "split($0, " +
          (equal ? std::string("num_splits = 2") : "split_sizes = " + parts) +
          ", axis = " + b.axisText(axis, x->type.rank()) + ")",
      {*x}, left);
  std::vector<Name> names = statement.names;
  (b.statements ? *b.statements : b.block.body).push_back(std::move(statement));
  for (const Name &name : names)
    b.offer(name);
  b.note("split");
  return true;
}

static bool addConcat(BlockBuilder &b) {
  Expr x = b.any();
  if (x.type.rank() == 0)
    return false;
  size_t axis = b.anyAxis(x.type);
  std::optional<Expr> y = b.anyThat([&](const TreeType &type) {
    Extents other = type.shape, own = x.type.shape;
    if (other.size() != own.size())
      return false;
    other[axis] = own[axis];
    return other == own;
  });
  TreeType type = x.type;
  type.shape[axis] = x.type.shape[axis] + y->type.shape[axis];
  if (type.elements() > BlockBuilder::maxElements)
    return false;
  std::string tail = ", axis = " + b.axisText(axis, x.type.rank());
  if (x.type == y->type && b.random.chance(0.2))
    tail += ", interleave = true";
  b.note("concat");
  b.let(b.expr("concat([$0, $1]" + tail + ")", {x, *y}, type));
  return true;
}

static bool addStack(BlockBuilder &b) {
  Expr x = b.any();
  if (x.type.rank() == 0 || x.type.rank() > 3 ||
      2 * x.type.elements() > BlockBuilder::maxElements)
    return false;
  std::optional<Expr> y =
      b.anyThat([&](const TreeType &type) { return type == x.type; });
  int64_t axis = b.random.number(0, int64_t(x.type.rank()));
  TreeType type = x.type;
  type.shape.insert(type.shape.begin() + axis, Extent(2));
  b.note("stack");
  b.let(b.expr("stack([$0, $1], axis = " + std::to_string(axis) + ")", {x, *y},
               type));
  return true;
}

static bool addSlice(BlockBuilder &b) {
  Expr x = b.any();
  if (x.type.rank() == 0)
    return false;
  Extents begin, size;
  for (const Extent &extent : x.type.shape) {
    int64_t first =
        b.random.chance(0.5) ? 0 : b.random.number(0, extent.value - 1);
    begin.push_back(Extent(first));
    size.push_back(first == 0 && b.random.chance(0.5)
                       ? extent
                       : Extent(b.random.number(1, extent.value - first)));
  }
  b.note("slice");
  b.let(b.expr("slice($0, begin = " + listText(begin) +
                   ", size = " + listText(size) + ")",
               {x}, b.type(size)));
  return true;
}

static bool addOtherMovement(BlockBuilder &b) {
  Expr x = b.any();
  if (x.type.rank() == 0)
    return false;
  size_t rank = x.type.rank(), axis = b.anyAxis(x.type);
  std::string at = std::to_string(axis);
  TreeType type = x.type;
  switch (b.random.number(0, 5)) {
  case 0:
    b.note("reverse");
    b.let(b.same("reverse($0, axes = [" + at + "])", {x}));
    return true;
  case 1:
    b.note("cumsum");
    b.let(b.same("(0.25 * cumsum($0, axis = " + at + "))", {x}));
    return true;
  case 2: {
    Extents reps(rank, Extent());
    reps[axis] = Extent(2);
    type.shape[axis] = Extent(2) * type.shape[axis];
    if (type.elements() > BlockBuilder::maxElements)
      return false;
    b.note("tile");
    b.let(b.expr("tile($0, reps = " + listText(reps) + ")", {x}, type));
    return true;
  }
  case 3: {
    Extents amounts(2 * rank, Extent(0));
    amounts[2 * axis] = Extent(1);
    amounts[2 * axis + 1] = Extent(2);
    type.shape[axis] = type.shape[axis] + Extent(3);
    if (type.elements() > BlockBuilder::maxElements)
      return false;
    b.note("pad");
    b.let(b.expr("pad($0, pad = " + listText(amounts) +
                     b.random.oneOf({")", ", mode = \"replicate\")"}),
                 {x}, type));
    return true;
  }
  case 4:
    type.shape[axis] = Extent(3);
    b.note("take");
    b.let(b.expr("take($0, [0, " +
                     std::to_string(x.type.shape[axis].value - 1) +
                     ", 0], axis = " + at + ")",
                 {x}, type));
    return true;
  default:
    if (rank > 3)
      return false;
    type.shape.insert(type.shape.begin() + int64_t(axis), Extent());
    b.note("expand_dims");
    b.let(b.expr("expand_dims($0, axes = [" + at + "])", {x}, type));
    return true;
  }
}

/// All windows along an axis, which get an axis of their own.
static bool addWindows(BlockBuilder &b) {
  Expr x = b.any();
  if (x.type.rank() == 0 || x.type.rank() > 3)
    return false;
  size_t axis = b.anyAxis(x.type);
  const Extent &extent = x.type.shape[axis];
  if (extent.value < 2 || 2 * x.type.elements() > BlockBuilder::maxElements)
    return false;
  TreeType type = x.type;
  type.shape[axis] = Extent("(" + extent.text + " - 1)", extent.value - 1);
  type.shape.insert(type.shape.begin() + int64_t(axis) + 1, Extent(2));
  b.note("sliding_windows");
  b.let(b.expr("sliding_windows($0, axis = " + std::to_string(axis) +
                   ", size = 2)",
               {x}, type));
  return true;
}

static bool addTopK(BlockBuilder &b) {
  Expr x = b.any();
  if (x.type.rank() == 0)
    return false;
  size_t axis = b.anyAxis(x.type);
  TreeType type = x.type;
  type.shape[axis] = Extent(b.random.number(1, x.type.shape[axis].value));
  Statement statement;
  statement.names = {{b.freshName("t"), type}, {"_", type}};
  statement.value = b.expr("topk($0, k = " + type.shape[axis].text +
                               ", axis = " + std::to_string(axis) + ")",
                           {x}, type);
  Name largest = statement.names[0];
  (b.statements ? *b.statements : b.block.body).push_back(std::move(statement));
  b.offer(largest);
  b.note("topk");
  return true;
}

const std::vector<Construct> &anec::fuzz::movementConstructs() {
  static const std::vector<Construct> constructs = {
      {"transpose", 2, addTranspose},
      {"reshape", 2, addReshape},
      {"split", 2, addSplit},
      {"concat", 2, addConcat},
      {"stack", 1, addStack},
      {"slice", 1, addSlice},
      {"other movement", 2, addOtherMovement},
      {"windows", 1, addWindows},
      {"top k", 1, addTopK},
  };
  return constructs;
}
