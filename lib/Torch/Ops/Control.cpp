//===- Control.cpp - branches and loops -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Control.h"
#include "../Families.h"
#include "lib/Ops/Rows/Control.h"

using namespace anec;
using namespace anec::torch;
using Kind = Argument::Kind;

namespace {
/// The arguments of an operator of higher order: graphs, and lists of values.
struct Parts {
  std::vector<const Graph *> graphs;
  std::vector<std::vector<Item>> lists;
  Item first;
};
} // namespace

static Parts partsOf(Node &n) {
  Parts parts;
  for (size_t i = 0; i != n.numArguments(); ++i) {
    const Argument &argument = n.argumentAt(i);
    if (argument.kind == Kind::Graph)
      parts.graphs.push_back(argument.graph.get());
    else if (argument.kind == Kind::List)
      parts.lists.push_back(n.itemOf(argument).list);
    else if (i == 0)
      parts.first = n.itemOf(argument);
  }
  return parts;
}

static std::vector<Item> joined(std::vector<Item> x,
                                const std::vector<Item> &y) {
  x.insert(x.end(), y.begin(), y.end());
  return x;
}

/// Values as results of blocks, which have ops of their own.
static bool nativeAll(Node &n, llvm::ArrayRef<Item> items, Vals &values) {
  for (const Item &item : items) {
    values.push_back(n.e.native(item.val));
    if (!values.back())
      return false;
  }
  return true;
}

static void giveAll(Node &n, llvm::ArrayRef<Val> values) {
  if (n.numOutputs() == 1 && n.outputAt(0).kind == Kind::List)
    return n.outList(values);
  for (auto [i, value] : llvm::enumerate(values))
    n.out(i, value);
}

/// One branch if the condition is known, and else both as blocks.
static void branches(Node &n) {
  Emitter &e = n.e;
  Parts parts = partsOf(n);
  if (n.failed() || parts.graphs.size() != 2 || parts.lists.size() != 1)
    return n.fail("it must have two graphs and a list of operands");
  std::vector<Item> yes, no;
  ConstantRef known = e.known(parts.first.val);
  if (known && known->numElements() == 1) {
    bool isTrue = known->doubleAt(0) != 0;
    Vals results;
    if (n.around().readBody(*parts.graphs[isTrue ? 0 : 1], parts.lists[0],
                            yes) &&
        nativeAll(n, yes, results))
      giveAll(n, results);
    return;
  }
  Val condition = n.cast(e.reshape(parts.first.val, {}), parts.first.type,
                         ScalarType::Bool);
  Vals left, right;
  Emitter::Section before = e.begin();
  bool read = n.around().readBody(*parts.graphs[0], parts.lists[0], yes) &&
              nativeAll(n, yes, left);
  e.leave(before);
  Emitter::Section between = e.begin();
  if (!read || !n.around().readBody(*parts.graphs[1], parts.lists[0], no) ||
      !nativeAll(n, no, right))
    return;
  if (left.size() != right.size())
    return n.fail("its branches have other results");
  for (auto [x, y] : llvm::zip_equal(left, right))
    if (x.shape() != y.shape() || x.dtype() != y.dtype())
      return n.fail("its branches have results of other types");
  BlockMaker blocks = e.blocks();
  blocks.capture(condition.get());
  e.take(blocks, between, right);
  e.take(blocks, before, left);
  giveAll(n, e.makeWithBlocks(ops::Cond, blocks, {}));
}

/// `while_loop` of the carried values.
static void loop(Node &n) {
  Emitter &e = n.e;
  Parts parts = partsOf(n);
  if (n.failed() || parts.graphs.size() != 2 || parts.lists.empty())
    return n.fail("it must have two graphs and a list of operands");
  const std::vector<Item> &carried = parts.lists[0];
  std::vector<Item> more;
  if (parts.lists.size() > 1)
    more = parts.lists[1];
  Vals initial;
  if (!nativeAll(n, carried, initial))
    return;
  BlockMaker blocks = e.blocks();
  std::vector<Item> inputs;
  for (auto [value, item] : llvm::zip_equal(initial, carried)) {
    Item input = item;
    input.isNumber = false;
    input.val = blocks.addPlaceholder(value.get()->type, value.get()->name);
    inputs.push_back(input);
  }
  Emitter::Section before = e.begin();
  std::vector<Item> goesOn, results;
  if (!n.around().readBody(*parts.graphs[0], joined(inputs, more), goesOn) ||
      goesOn.size() != 1)
    return;
  Val condition =
      n.cast(e.reshape(goesOn[0].val, {}), goesOn[0].type, ScalarType::Bool);
  e.leave(before);
  Emitter::Section between = e.begin();
  Vals next;
  if (!n.around().readBody(*parts.graphs[1], joined(inputs, more), results) ||
      !nativeAll(n, results, next))
    return;
  if (next.size() != initial.size())
    return n.fail("its body has another number of results");
  for (auto [x, y] : llvm::zip_equal(next, initial))
    if (x.shape() != y.shape() || x.dtype() != y.dtype())
      return n.fail("a value changes its type");
  e.take(blocks, between, next);
  e.take(blocks, before, {condition});
  giveAll(n, e.makeWithBlocks(ops::WhileLoop, blocks, initial,
                              int64_t(initial.size())));
}

//===----------------------------------------------------------------------===//
// Turn by turn
//===----------------------------------------------------------------------===//

static Item itemAt(Node &n, const Item &x, int64_t index) {
  Item element = x;
  Shape shape(x.val.shape().begin() + 1, x.val.shape().end());
  element.val = n.e.reshape(n.e.slice(x.val, 0, index, index + 1), shape);
  return element;
}

static Val stacked(Node &n, llvm::ArrayRef<Val> parts) {
  Vals rows;
  for (Val part : parts) {
    Shape shape = {1};
    llvm::append_range(shape, part.shape());
    rows.push_back(n.e.reshape(part, shape));
  }
  return rows.empty() ? Val() : n.e.concat(rows, 0);
}

/// Reads the body once for each element of the sequences, with what it carries
/// in front; gives what it carries at last, and what it gives in each turn.
static void unroll(Node &n, const Graph &body, std::vector<Item> carried,
                   const std::vector<Item> &sequences,
                   const std::vector<Item> &more) {
  if (sequences.empty() || sequences[0].val.rank() == 0)
    return n.fail("it has no sequence");
  int64_t turns = sequences[0].val.dim(0);
  constexpr int64_t most = 1024;
  if (turns < 1 || turns > most)
    return n.fail("it has more than " + llvm::Twine(most) + " turns");
  std::vector<Vals> collected;
  size_t count = carried.size();
  for (int64_t turn = 0; turn != turns; ++turn) {
    std::vector<Item> inputs = carried, results;
    for (const Item &sequence : sequences)
      inputs.push_back(itemAt(n, sequence, turn));
    inputs = joined(std::move(inputs), more);
    if (!n.e.count() || !n.around().readBody(body, inputs, results))
      return;
    if (results.size() < count)
      return n.fail("its body has too few results");
    carried.assign(results.begin(), results.begin() + long(count));
    collected.resize(results.size() - count);
    for (size_t i = 0; i != collected.size(); ++i)
      collected[i].push_back(n.e.native(results[count + i].val));
  }
  Vals all;
  if (!nativeAll(n, carried, all))
    return;
  for (const Vals &parts : collected)
    all.push_back(stacked(n, parts));
  giveAll(n, all);
}

static void scan(Node &n) {
  Parts parts = partsOf(n);
  if (n.failed() || parts.graphs.size() != 1 || parts.lists.size() < 2)
    return n.fail("it must have a graph and two lists of operands");
  std::vector<Item> more;
  if (parts.lists.size() > 2)
    more = parts.lists[2];
  unroll(n, *parts.graphs[0], parts.lists[0], parts.lists[1], more);
}

static void map(Node &n) {
  Parts parts = partsOf(n);
  if (n.failed() || parts.graphs.size() != 1 || parts.lists.empty())
    return n.fail("it must have a graph and a list of operands");
  std::vector<Item> more;
  if (parts.lists.size() > 1)
    more = parts.lists[1];
  unroll(n, *parts.graphs[0], {}, parts.lists[0], more);
}

static constexpr OpRow controlTable[] = {
    {"higher_order.cond", branches,
     "branches that values decide have results of the same types"},
    {"higher_order.map_impl", map, "of up to 1024 turns"},
    {"higher_order.scan", scan, "of up to 1024 turns"},
    {"higher_order.while_loop", loop, "values keep their types"},
};

llvm::ArrayRef<OpRow> torch::controlRows() { return controlTable; }
