//===- Control.cpp - branches and loops -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Ops/Control.h"
#include "../Families.h"
#include "../TensorReader.h"
#include "lib/Ops/Rows/Control.h"
#include "lib/Ops/Rows/Select.h"

using namespace anec;
using namespace anec::onnx;

/// Gives what a block returns types that blocks have; the node must know what
/// decides about others.
static bool areTensors(Node &node, Vals &values) {
  for (Val &value : values) {
    if (!node.e.isTensor(value)) {
      node.known(0);
      return false;
    }
    value = node.e.native(value);
    if (!value)
      return false;
  }
  return true;
}

/// One branch if the condition is known, and else both as blocks.
static void branches(Node &node) {
  Emitter &e = node.e;
  Val condition = node.raw(0);
  if (node.failed())
    return;
  ConstantRef known = e.known(condition);
  if (!node.hasAttr("then_branch") || !node.hasAttr("else_branch"))
    return node.fail("`If` needs two branches");
  Vals yes, no;
  if (known && known->numElements() == 1) {
    if (node.branch(known->doubleAt(0) != 0 ? "then_branch" : "else_branch",
                    yes))
      for (size_t i = 0; i != std::min(yes.size(), node.numOutputs()); ++i)
        node.out(i, yes[i]);
    return;
  }
  // A branch that is not taken need not be right.
  if (node.isAtHand(0)) {
    node.known(0);
    return;
  }
  Val scalar = e.reshape(condition, {});
  Emitter::Section before = e.begin();
  bool read = node.branch("then_branch", yes) && areTensors(node, yes);
  e.leave(before);
  Emitter::Section between = e.begin();
  if (!read || !node.branch("else_branch", no) || !areTensors(node, no))
    return;
  if (yes.size() < node.numOutputs() || no.size() < node.numOutputs())
    return node.fail("a branch has too few outputs");
  for (auto [left, right] : llvm::zip(yes, no))
    // Of different types, the condition must be known.
    if (left.shape() != right.shape() || left.dtype() != right.dtype()) {
      node.known(0);
      return;
    }
  BlockMaker blocks = e.blocks();
  blocks.capture(scalar.get());
  e.take(blocks, between, llvm::ArrayRef(no).take_front(node.numOutputs()));
  e.take(blocks, before, llvm::ArrayRef(yes).take_front(node.numOutputs()));
  for (auto [i, result] :
       llvm::enumerate(e.makeWithBlocks(ops::Cond, blocks, {})))
    node.out(i, result);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The parts of a result, one of each turn, along a new axis; without parts, as
/// the graph declares them.
static Val stack(Node &node, Vals parts, int64_t axis, size_t output) {
  Emitter &e = node.e;
  for (Val &part : parts) {
    axis = node.normalized(axis, part.rank() + 1);
    if (node.failed())
      return {};
    Shape shape = part.shape();
    shape.insert(shape.begin() + axis, 1);
    part = e.reshape(part, shape);
  }
  if (!parts.empty())
    return e.concat(parts, axis);
  const proto::Graph &body = *node.find("body")->g;
  const proto::ValueInfo &info = body.output[output];
  if (info.type.has() && info.type->tensor.has() &&
      info.type->tensor->shape.has()) {
    const proto::TensorType &type = *info.type->tensor;
    std::optional<DType> dtype = dtypeOf(type.elementType);
    Shape shape = {0};
    bool known = dtype.has_value();
    for (const proto::Dimension &dimension : type.shape->dim) {
      known &= dimension.chosen == 1 && dimension.value >= 0;
      shape.push_back(dimension.value);
    }
    if (known)
      return e.empty(*dtype, shape);
  }
  node.refuse("it has no turns, and does not say what it collects");
  return {};
}

namespace {
/// `Loop(most turns, condition, values...)`, whose body takes the number of the
/// turn, the condition and the values, and gives the next condition and values
/// and what is collected.
struct Loop {
  explicit Loop(Node &node)
      : node(node), carried(std::max<size_t>(node.numInputs(), 2) - 2),
        collected(node.numOutputs() - std::min(carried, node.numOutputs())) {}

  enum class Turns { Known, Unknown, Error };
  bool readInputs();
  Turns unroll();
  void asBlocks();
  void giveAll();

  Node &node;
  size_t carried;
  Vals values;
  std::vector<Vals> collected;

private:
  bool bodyGives(const Vals &results);
  bool wantsCollected() const;
  Turns isDecidedBy(Val x);

  Val most, condition; ///< missing where there is none
};
} // namespace

/// One number or bool as a scalar.
static Val scalarInput(Node &node, size_t index) {
  Val x = node.has(index) ? node.raw(index) : Val();
  if (x && x.size() != 1)
    node.fail("the number of turns and the condition must be one each");
  return x;
}

bool Loop::readInputs() {
  most = scalarInput(node, 0);
  condition = scalarInput(node, 1);
  if (!node.failed() && !node.hasAttr("body"))
    node.fail("`Loop` needs a body");
  for (size_t i = 0; i != carried; ++i)
    values.push_back(node.has(i + 2) ? node.raw(i + 2) : node.e.none());
  // What is at hand decides before.
  for (auto [index, x] : {std::pair(0, most), std::pair(1, condition)})
    if (x && !x.isKnown() && !node.failed() && node.isAtHand(x))
      node.known(index);
  return !node.failed();
}

bool Loop::bodyGives(const Vals &results) {
  if (results.size() >= 1 + carried + collected.size())
    return true;
  node.fail("the body of `Loop` has too few outputs");
  return false;
}

/// Each turn is read by itself, if their number is known.
Loop::Turns Loop::unroll() {
  Emitter &e = node.e;
  ConstantRef number = most ? e.known(most) : nullptr;
  ConstantRef first = condition ? e.known(condition) : nullptr;
  if ((most && !number) || (condition && !first))
    return isDecidedBy(most && !number ? most : condition);
  bool goesOn = !first || first->doubleAt(0) != 0;
  for (int64_t turn = 0; goesOn && (!number || turn < number->intAt(0));
       ++turn) {
    ConstantRef index =
        Constant::fromDoubles({DType::Int64, {}}, {double(turn)});
    Vals given = {e.constant(index), e.scalar(DType::Bool, 1)}, results;
    llvm::append_range(given, values);
    if (!e.count() || !node.branch("body", results, given) ||
        !bodyGives(results))
      return Turns::Error;
    values.assign(results.begin() + 1, results.begin() + 1 + carried);
    for (size_t i = 0; i != collected.size(); ++i)
      collected[i].push_back(results[1 + carried + i]);
    ConstantRef again = e.known(results[0]);
    if (again && again->numElements() == 1) {
      goesOn = again->doubleAt(0) != 0;
      continue;
    }
    if (!node.isAtHand(results[0]))
      return isDecidedBy(results[0]);
    node.need(results[0], "the condition of `Loop`");
    return Turns::Error;
  }
  return Turns::Known;
}

bool Loop::wantsCollected() const {
  for (size_t i = carried; i < node.numOutputs(); ++i)
    if (node.wants(i))
      return true;
  return false;
}

/// The number of turns is also the length of what is collected, and shapes are
/// known.
Loop::Turns Loop::isDecidedBy(Val x) {
  if (!wantsCollected())
    return Turns::Unknown;
  node.need(x, "length of what it collects");
  return Turns::Error;
}

/// A `while_loop` of the number of the turn, the condition and the values.
void Loop::asBlocks() {
  Emitter &e = node.e;
  Vals initial = {e.scalar(DType::Int32, 0),
                  condition ? e.cast(e.reshape(condition, {}), DType::Bool)
                            : e.scalar(DType::Bool, 1)};
  Val limit = most ? e.cast(e.reshape(most, {}), DType::Int32) : Val();
  for (Val value : values) {
    if (!e.isTensor(value))
      return node.refuse("the number of turns is not known, and a value is a "
                         "sequence");
    initial.push_back(e.native(value));
  }
  if (!llvm::all_of(initial, [](Val value) { return bool(value); }))
    return;
  BlockMaker blocks = e.blocks();
  Vals inputs;
  for (Val value : initial)
    inputs.push_back(
        blocks.addPlaceholder(value.get()->type, value.get()->name));
  Emitter::Section before = e.begin();
  Val goesOn = inputs[1];
  if (limit)
    goesOn = e.make(ops::LogicalAnd,
                    {e.make(ops::Less, {inputs[0], limit}), goesOn});
  e.leave(before);
  Emitter::Section between = e.begin();
  Vals results, next;
  if (!goesOn || !node.branch("body", results, inputs) || !bodyGives(results))
    return;
  next.push_back(e.add(inputs[0], e.scalar(DType::Int32, 1)));
  next.push_back(e.cast(e.reshape(results[0], {}), DType::Bool));
  for (size_t i = 0; i != carried; ++i) {
    Val value = results[1 + i];
    if (!e.isTensor(value))
      return node.refuse("a value becomes a sequence");
    next.push_back(e.native(value));
  }
  for (auto [now, later] : llvm::zip_equal(initial, next)) {
    if (!later)
      return;
    if (now.shape() != later.shape() || now.dtype() != later.dtype())
      return node.refuse("the number of turns is not known, and a turn makes " +
                         later.get()->type.str() + " of " +
                         now.get()->type.str());
  }
  e.take(blocks, between, next);
  e.take(blocks, before, goesOn);
  Vals found = e.makeWithBlocks(ops::WhileLoop, blocks, initial,
                                int64_t(initial.size()));
  if (found.size() != initial.size())
    return;
  values.assign(found.begin() + 2, found.end());
  giveAll();
}

void Loop::giveAll() {
  for (size_t i = 0; i != std::min(carried, node.numOutputs()); ++i)
    node.out(i, values[i]);
}

static void readLoop(Node &node) {
  Loop loop(node);
  if (!loop.readInputs())
    return;
  Emitter::Section before = node.e.begin();
  Vals initial = loop.values;
  switch (loop.unroll()) {
  case Loop::Turns::Error:
    return;
  case Loop::Turns::Unknown:
    node.e.undo(before);
    loop.values = initial;
    return loop.asBlocks();
  case Loop::Turns::Known:
    break;
  }
  loop.giveAll();
  for (size_t i = 0; i != loop.collected.size() && !node.failed(); ++i)
    node.out(loop.carried + i,
             stack(node, loop.collected[i], 0, 1 + loop.carried + i));
}

namespace {
/// What `Scan` goes through, and how.
struct ScanForm {
  Shape axes, directions, outAxes, outDirections;

  static int64_t at(const Shape &list, size_t index) {
    return index < list.size() ? list[index] : 0;
  }
};
} // namespace

/// The element of an axis, without the axis.
static Val elementOf(Emitter &e, Val x, int64_t axis, int64_t index) {
  Val slice = e.slice(x, axis, index, index + 1);
  Shape shape = slice.shape();
  if (slice)
    shape.erase(shape.begin() + axis);
  return e.reshape(slice, shape);
}

/// The final states, and what is collected.
static Vals scan(Node &node, Vals states, const Vals &sequences,
                 const ScanForm &form) {
  Emitter &e = node.e;
  Shape axes;
  for (auto [i, x] : llvm::enumerate(sequences))
    axes.push_back(node.normalized(ScanForm::at(form.axes, i), x.rank()));
  if (node.failed())
    return {};
  int64_t turns = sequences.front().dim(axes.front());
  size_t numStates = states.size();
  std::vector<Vals> collected(node.numOutputs() -
                              std::min(numStates, node.numOutputs()));
  for (int64_t turn = 0; turn != turns; ++turn) {
    Vals given = states, results;
    for (auto [i, x] : llvm::enumerate(sequences)) {
      if (x.dim(axes[i]) != turns) {
        node.fail("the sequences have different lengths");
        return {};
      }
      bool isReverse = ScanForm::at(form.directions, i) != 0;
      given.push_back(
          elementOf(e, x, axes[i], isReverse ? turns - 1 - turn : turn));
    }
    if (!e.count() || !node.branch("body", results, given))
      return {};
    if (results.size() < numStates + collected.size()) {
      node.fail("the body of `Scan` has too few outputs");
      return {};
    }
    states.assign(results.begin(), results.begin() + ptrdiff_t(numStates));
    for (size_t i = 0; i != collected.size(); ++i)
      collected[i].push_back(results[numStates + i]);
  }
  for (auto [i, parts] : llvm::enumerate(collected)) {
    if (ScanForm::at(form.outDirections, i) != 0)
      std::reverse(parts.begin(), parts.end());
    states.push_back(
        stack(node, parts, ScanForm::at(form.outAxes, i), numStates + i));
  }
  return states;
}

static void readScan(Node &node) {
  Emitter &e = node.e;
  bool hasBatch = node.opset() < 9;
  size_t first = hasBatch ? 1 : 0;
  int64_t count = node.attr("num_scan_inputs", 0);
  int64_t numStates = int64_t(node.numInputs()) - int64_t(first) - count;
  if (count < 1 || numStates < 0)
    return node.fail("`Scan` has too few inputs");
  if (hasBatch && node.has(0))
    return node.refuse("sequences of different lengths");
  ScanForm form;
  form.directions =
      node.attrInts(hasBatch ? "directions" : "scan_input_directions");
  if (!hasBatch) {
    form.axes = node.attrInts("scan_input_axes");
    form.outAxes = node.attrInts("scan_output_axes");
    form.outDirections = node.attrInts("scan_output_directions");
  }
  Vals states, sequences;
  for (size_t i = first; i != node.numInputs(); ++i)
    (int64_t(i - first) < numStates ? states : sequences).push_back(node.in(i));
  if (node.failed())
    return;
  if (!hasBatch) {
    for (auto [i, result] :
         llvm::enumerate(scan(node, states, sequences, form)))
      node.out(i, result);
    return;
  }
  std::vector<Vals> results(node.numOutputs());
  for (int64_t batch = 0; batch != sequences[0].dim(0); ++batch) {
    Vals ownStates, ownSequences;
    for (Val state : states)
      ownStates.push_back(elementOf(e, state, 0, batch));
    for (Val sequence : sequences)
      ownSequences.push_back(elementOf(e, sequence, 0, batch));
    Vals own = scan(node, ownStates, ownSequences, form);
    if (node.failed() || own.size() < results.size())
      return;
    for (auto [parts, part] : llvm::zip(results, own))
      parts.push_back(part);
  }
  for (auto [i, parts] : llvm::enumerate(results))
    node.out(i, stack(node, parts, 0, i));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static constexpr OpRow controlTable[] = {
    {"If", branches, 1,
     "branches that values decide have outputs of the same types", true},
    {"Loop", readLoop, 1,
     "a number of turns that values decide leaves types as they are, and must "
     "be known where something is collected",
     true},
    {"Scan", readScan, 8, "not of sequences of different lengths in version 8"},
};

llvm::ArrayRef<OpRow> onnx::controlRows() { return controlTable; }
