//===- Control.cpp - branches and loops -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "../TensorReader.h"

using namespace anec;
using namespace anec::onnx;

/// One branch if the condition is known, or selects from both.
static void branches(Node &node) {
  Emitter &e = node.e;
  Val condition = node.raw(0);
  if (node.failed())
    return;
  ConstantRef known = condition.known();
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
  if (!node.branch("then_branch", yes) || !node.branch("else_branch", no))
    return;
  Val scalar = e.reshape(condition, {});
  for (size_t i = 0; i != node.numOutputs(); ++i) {
    if (i >= yes.size() || i >= no.size())
      return node.fail("a branch has too few outputs");
    bool isTensor = e.isTensor(yes[i]) && e.isTensor(no[i]);
    Val left = isTensor ? e.native(yes[i]) : Val();
    Val right = isTensor ? e.native(no[i]) : Val();
    // Of different types, the condition must be known.
    if (!isTensor || left.shape() != right.shape() ||
        left.dtype() != right.dtype()) {
      node.known(0);
      return;
    }
    node.out(i, e.select(scalar, left, right));
  }
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

/// `Loop(most turns, condition, values...)`, whose body takes the number of the
/// turn, the condition and the values, and gives the next condition and values
/// and what is collected. Each turn is read by itself.
static void readLoop(Node &node) {
  Emitter &e = node.e;
  size_t carried = std::max<size_t>(node.numInputs(), 2) - 2;
  ConstantRef most = node.has(0) ? node.known(0) : nullptr;
  ConstantRef condition = node.has(1) ? node.known(1) : nullptr;
  if (!node.failed() && !node.hasAttr("body"))
    node.fail("`Loop` needs a body");
  if (node.failed())
    return;
  if ((most && most->numElements() != 1) ||
      (condition && condition->numElements() != 1))
    return node.fail("the number of turns and the condition must be one each");
  Vals values;
  for (size_t i = 0; i != carried; ++i)
    values.push_back(node.has(i + 2) ? node.raw(i + 2) : e.none());
  std::vector<Vals> collected(node.numOutputs() -
                              std::min(carried, node.numOutputs()));
  bool goesOn = !condition || condition->doubleAt(0) != 0;
  for (int64_t turn = 0; goesOn && (!most || turn < most->intAt(0)); ++turn) {
    ConstantRef number =
        Constant::fromDoubles({DType::Int64, {}}, {double(turn)});
    Vals given = {e.constant(number), e.scalar(DType::Bool, 1)}, results;
    llvm::append_range(given, values);
    if (!e.count() || !node.branch("body", results, given))
      return;
    if (results.size() < 1 + carried + collected.size())
      return node.fail("the body of `Loop` has too few outputs");
    values.assign(results.begin() + 1, results.begin() + 1 + carried);
    for (size_t i = 0; i != collected.size(); ++i)
      collected[i].push_back(results[1 + carried + i]);
    ConstantRef again = results[0].known();
    if (!again || again->numElements() != 1)
      return node.need(results[0], "the condition of `Loop`");
    goesOn = again->doubleAt(0) != 0;
  }
  for (size_t i = 0; i != std::min(carried, node.numOutputs()); ++i)
    node.out(i, values[i]);
  for (size_t i = 0; i != collected.size() && !node.failed(); ++i)
    node.out(carried + i, stack(node, collected[i], 0, 1 + carried + i));
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

static constexpr OpRow rows[] = {
    {"If", branches, 1,
     "both branches are computed if the condition is not known", true},
    {"Loop", readLoop, 1, "the number of turns must be known", true},
    {"Scan", readScan, 8, "not of sequences of different lengths in version 8"},
};

llvm::ArrayRef<OpRow> onnx::controlRows() { return rows; }
