//===- Emitter.cpp - ops with constants folded ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Emitter.h"
#include "EmptyOperands.h"
#include "anec/IR/DType.h"
#include "anec/IR/Params.h"
#include "lib/IR/ParamNames.h"
#include "lib/Onnx/Diags.h"
#include "lib/Ops/Cost.h"
#include "lib/Ops/Gradient.h"
#include "lib/Ops/Params/Slice.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Fill.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Reduce.h"
#include "lib/Ops/Rows/Select.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include <cmath>

using namespace anec;
using namespace anec::onnx;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const Shape &Val::shape() const {
  static const Shape none;
  return value ? value->type.shape : none;
}

int64_t Val::dim(int64_t axis) const {
  if (axis < 0)
    axis += rank();
  return axis < 0 || axis >= rank() ? 1 : shape()[axis];
}

/// The constant that a value is; null for others.
static ConstantRef constantOf(Val x) {
  const Op *op = x ? x.get()->definingOp() : nullptr;
  return op && op->is(ops::Const) ? op->constants().front() : nullptr;
}

bool Val::isKnown() const { return bool(constantOf(*this)); }

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// How many elements a computed constant may have, and steps it may take.
struct onnx::FoldLimits {
  int64_t elements, steps;
};
/// What is larger is left to the run,
static constexpr FoldLimits ordinary = {1 << 20, 1 << 23};
/// except where an op takes only a constant.
static constexpr FoldLimits forStored = {1 << 26, 1 << 28};

Val Emitter::fail(const std::string &why) {
  diags.report(range, diag::OnnxNode, why);
  return {};
}

bool Emitter::count(size_t names) {
  if (!isFull && !budget.takeOp(names)) {
    diags.report(range, diag::OnnxTooManyOps);
    isFull = true;
  }
  return !isFull;
}

bool Emitter::affords(llvm::ArrayRef<int64_t> extents) {
  constexpr int64_t most = 1 << 25;
  std::optional<int64_t> count = checkedNumElements(extents);
  return count && *count <= most && budget.takeElements(*count);
}

ConstantRef Emitter::known(Val x) const {
  ConstantRef constant = constantOf(x);
  if (constant)
    noteRead(*constant);
  return constant;
}

ConstantRef Emitter::knownOf(Value *value) const {
  Value *computed = storedValues.lookup(value);
  return constantOf(computed ? computed : value);
}

Vals Emitter::compute(const Op &op, const FoldLimits &limits) {
  const OpDef &def = op.def();
  if (!def.eval || def.has(trait::Stored) || def.has(trait::Constexpr) ||
      def.has(trait::SideEffect))
    return {};
  int64_t given = 0, made = 0;
  for (Value *operand : op.operandValues()) {
    ConstantRef known = operand ? knownOf(operand) : nullptr;
    if (operand && (!known || known->numElements() > limits.elements))
      return {};
    given += known ? known->numElements() : 0;
  }
  for (Value *result : op.resultValues()) {
    if (result->type.numElements() > limits.elements)
      return {};
    made += result->type.numElements();
  }
  int64_t steps = given + made + countFlops(op);
  if (steps > limits.steps || !budget.takeSteps(steps) ||
      !budget.takeElements(made))
    return {};
  std::vector<RefTensor> operands;
  operands.reserve(op.numOperands());
  for (Value *operand : op.operandValues()) {
    operands.emplace_back();
    if (!operand)
      continue;
    ConstantRef known = knownOf(operand);
    noteRead(*known);
    operands.back() = {operand->type, known->asDoubles()};
  }
  std::vector<RefTensor> out;
  for (Value *result : op.resultValues())
    out.push_back({result->type,
                   std::vector<double>(size_t(result->type.numElements()))});
  std::vector<const RefTensor *> in;
  for (unsigned i = 0; i != op.numOperands(); ++i)
    in.push_back(op.operand(i) ? &operands[i] : nullptr);
  EvalContext context{def, op.constants(), in, out};
  def.eval(context);
  Vals results;
  for (const RefTensor &result : out)
    results.push_back(
        constant(Constant::fromDoubles(result.type, result.data)));
  return results;
}

Val Emitter::stored(Val x) {
  // Each op comes after those that it reads. Where one cannot be computed, so
  // can none that waits for it, and none is tried twice.
  llvm::SmallVector<Value *> waiting = {x.get()};
  while (!waiting.empty()) {
    Value *value = waiting.back();
    Op *op = value->definingOp();
    Value *unknown = nullptr;
    bool isComputed = op != nullptr;
    for (Value *operand :
         op ? op->operandValues() : llvm::SmallVector<Value *, 4>())
      if (operand && !knownOf(operand)) {
        isComputed &= !storedValues.contains(operand);
        unknown = operand;
      }
    if (isComputed && unknown) {
      waiting.push_back(unknown);
      continue;
    }
    Vals results = isComputed ? compute(*op, forStored) : Vals();
    if (results.empty()) {
      for (Value *failed : waiting)
        storedValues[failed] = nullptr;
      return x;
    }
    for (auto [result, known] : llvm::zip_equal(op->resultValues(), results))
      storedValues[result] = known.get();
    waiting.pop_back();
  }
  Value *computed = storedValues.lookup(x.get());
  return computed ? Val(computed) : x;
}

void Emitter::storeArguments(const OpDef &def,
                             llvm::SmallVectorImpl<Value *> &values) {
  size_t slot = 0;
  for (const ParamDef &param : def.parameters()) {
    if (param.isConstant())
      continue;
    if (slot == values.size())
      return;
    Value *&value = values[slot++];
    if (param.mustBeStored && value && !constantOf(value))
      value = stored(value).get();
  }
}

Vals Emitter::makeAll(const OpDef &def, llvm::ArrayRef<Val> operands,
                      llvm::ArrayRef<Attr> attrs,
                      llvm::ArrayRef<unsigned> absent) {
  llvm::SmallVector<Value *> values;
  Vals results;
  for (const auto &[slot, operand] : llvm::enumerate(operands)) {
    if (!operand && !llvm::is_contained(absent, slot))
      return results;
    values.push_back(operand.get());
  }
  while (!values.empty() && !values.back())
    values.pop_back();
  if (!count())
    return results;
  if (haveNoElements(values)) {
    if (Value *unchanged = unchangedOperand(def, values))
      return {unchanged};
    for (ConstantRef known : emptyResults(def, values, attrs))
      results.push_back(constant(std::move(known)));
    if (!results.empty())
      return results;
  }
  storeArguments(def, values);
  Op *op = builder.create(def, values, attrs);
  if (!op)
    return results;
  for (Value *result : op->resultValues())
    results.push_back(result);
  if (Vals known = compute(*op, ordinary); !known.empty()) {
    results = known;
    op->erase();
  } else if (!def.has(trait::Mil) && !op->is(ops::StopGradient)) {
    // What is read is a program of MIL; differentiation removes the others.
    llvm::SmallVector<Value *> parts;
    def.decompose(builder, *op, parts);
    results.assign(parts.begin(), parts.end());
    op->erase();
  }
  return results;
}

Val Emitter::make(const OpDef &def, llvm::ArrayRef<Val> operands,
                  llvm::ArrayRef<Attr> attrs) {
  Vals results = makeAll(def, operands, attrs);
  return results.empty() ? Val() : results.front();
}

Vals Emitter::gradients(const OpDef &def, llvm::ArrayRef<Val> operands,
                        llvm::ArrayRef<Attr> attrs, Val dy,
                        llvm::ArrayRef<bool> wanted) {
  Vals gradients(operands.size());
  llvm::SmallVector<Value *> values;
  llvm::SmallVector<std::optional<DType>> types;
  for (auto [operand, isWanted] : llvm::zip_equal(operands, wanted)) {
    values.push_back(operand.get());
    types.push_back(isWanted ? std::optional(operand.dtype()) : std::nullopt);
  }
  if (!dy || llvm::is_contained(values, nullptr) || !count())
    return gradients;
  Op *op = builder.create(def, values, attrs);
  if (!op)
    return gradients;
  if (op->result()->type.shape != dy.shape() || !isFloat(dy.dtype())) {
    fail("its gradient has shape " + shapeToString(dy.shape()) + " and type " +
         spelling(dy.dtype()).str() + ", and the result that it is of " +
         shapeToString(op->result()->type.shape));
    return gradients;
  }
  Value *results[] = {dy.get()};
  MadeOps made;
  Gradient gradient(builder, made, *op, results, types);
  def.gradient(gradient);
  if (llvm::StringRef why = gradient.whyNot(); !why.empty())
    fail(why.str());
  for (unsigned slot = 0; slot != gradients.size(); ++slot)
    gradients[slot] = gradient.gradient(slot);
  if (!op->result()->hasUses())
    op->erase();
  return gradients;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Val Emitter::constant(ConstantRef value) {
  if (!value)
    return {};
  return builder.build(ops::Const, {}, Attr(param::val, std::move(value)));
}

Val Emitter::weight(llvm::StringRef name, ConstantRef value,
                    SourceWeights *weights) {
  if (!value || !weights)
    return constant(std::move(value));
  value = weights->valueOf(name, value);
  std::optional<std::string> trained = weights->trainedAs(name, value);
  if (!trained)
    return constant(std::move(value));
  const TensorType &type = weights->values().lookup(*trained)->type();
  return builder.build(ops::Weight, {},
                       {{param::name, llvm::StringRef(*trained)},
                        {param::dtype, type.dtype},
                        {param::shape, llvm::ArrayRef<int64_t>(type.shape)}});
}

Val Emitter::scalar(DType dtype, double value) {
  return constant(Constant::fromDoubles({dtype, {}}, {value}));
}

Val Emitter::list(llvm::ArrayRef<int64_t> values) {
  return constant(Constant::int32s(values));
}

Val Emitter::filled(DType dtype, llvm::ArrayRef<int64_t> shape, double value) {
  TensorType type(dtype, shape);
  if (type.numElements() <= ordinary.elements &&
      budget.takeElements(type.numElements()))
    return constant(Constant::fromDoubles(
        type, std::vector<double>(size_t(type.numElements()), value)));
  return make(
      ops::Fill, {},
      {{param::shape, shape},
       {param::fillValue, Constant::fromDoubles({dtype, {}}, {value})}});
}

DType onnx::nativeType(DType dtype) {
  switch (dtype) {
  case DType::Int64:
  case DType::UInt64:
  case DType::UInt32:
    return DType::Int32;
  case DType::FP64:
  case DType::BF16:
  case DType::FP8E4M3FN:
  case DType::FP8E5M2:
    return DType::FP32;
  case DType::Int4:
    return DType::Int8;
  case DType::UInt4:
    return DType::UInt8;
  default:
    return dtype;
  }
}

bool onnx::isStoredOnly(DType dtype) {
  return isFloat(dtype) && bitWidth(dtype) <= 16 && dtype != DType::FP16;
}

Val Emitter::native(Val x) {
  ConstantRef known = constantOf(x);
  if (!known || nativeType(x.dtype()) == x.dtype())
    return x;
  noteRead(*known);
  Value *&converted = natives[x.get()];
  if (converted)
    return converted;
  DType dtype = nativeType(x.dtype());
  std::vector<double> elements = known->asDoubles();
  if (dtype == DType::Int32)
    for (double element : elements)
      if (element < std::numeric_limits<int32_t>::min() ||
          element > std::numeric_limits<int32_t>::max()) {
        diags.report(range, diag::OnnxInt64, x.get()->name,
                     std::to_string(int64_t(element)));
        return {};
      }
  Val result =
      constant(Constant::fromDoubles({dtype, known->type().shape}, elements));
  return converted = result.get();
}

//===----------------------------------------------------------------------===//
// What most rows need
//===----------------------------------------------------------------------===//

DType Emitter::wideOf(Val x) {
  DType dtype = nativeType(x.dtype());
  return dtype == DType::FP16 || dtype == DType::FP32 ? dtype : DType::Int32;
}

Val Emitter::cast(Val x, DType dtype) {
  x = native(x);
  if (!x || x.dtype() == dtype)
    return x;
  return make(ops::Cast, {x}, {Attr(param::dtype, dtype)});
}

Val Emitter::copy(Val x) {
  // Built without folding.
  return x ? Val(builder.build(ops::Identity, {x.get()})) : Val();
}

Val Emitter::unary(const OpDef &def, Val x, llvm::ArrayRef<Attr> attrs) {
  x = native(x);
  return cast(make(def, {cast(x, wideOf(x))}, attrs), x.dtype());
}

Val Emitter::binary(const OpDef &def, Val x, Val y) {
  x = native(x);
  y = native(y);
  DType wide = wideOf(x);
  return cast(make(def, {cast(x, wide), cast(y, wide)}), x.dtype());
}

Val Emitter::add(Val x, Val y) { return binary(ops::Add, x, y); }
Val Emitter::sub(Val x, Val y) { return binary(ops::Sub, x, y); }
Val Emitter::mul(Val x, Val y) { return binary(ops::Mul, x, y); }
Val Emitter::div(Val x, Val y) { return binary(ops::RealDiv, x, y); }

Val Emitter::log(Val x) {
  return unary(ops::Log, x, {{param::epsilon, Constant::scalar(wideOf(x), 0)}});
}

Val Emitter::logOf1Plus(Val x) {
  x = native(x);
  Val sum = add(x, 1), lost = sub(x, add(sum, -1));
  Val none = scalar(wideOf(x), 0), most = scalar(wideOf(x), INFINITY);
  Val isFinite = make(ops::LogicalAnd, {make(ops::Greater, {sum, none}),
                                        make(ops::Less, {sum, most})});
  Val correction = select(isFinite, div(lost, sum), none);
  return add(log(sum), correction);
}

Val Emitter::select(Val condition, Val yes, Val no) {
  yes = native(yes);
  DType wide = yes.dtype() == DType::Bool ? DType::Bool : wideOf(yes);
  return cast(make(ops::Select, {cast(condition, DType::Bool), cast(yes, wide),
                                 cast(no, wide)}),
              yes.dtype());
}

Val Emitter::reshape(Val x, llvm::ArrayRef<int64_t> shape) {
  x = native(x);
  if (!x || llvm::ArrayRef<int64_t>(x.shape()) == shape)
    return x;
  if (ConstantRef known = constantOf(x);
      known && TensorType(x.dtype(), shape).numElements() == x.size())
    return constant(known->reshaped(shape));
  if (shape.empty())
    return make(ops::Squeeze, {x});
  return make(ops::Reshape, {x}, {{param::shape, shape}});
}

Val Emitter::transpose(Val x, llvm::ArrayRef<int64_t> perm) {
  if (x.rank() < 2 || llvm::is_sorted(perm))
    return native(x);
  return make(ops::Transpose, {native(x)}, {{param::perm, perm}});
}

Val Emitter::broadcast(Val x, llvm::ArrayRef<int64_t> shape) {
  x = native(x);
  if (!x || llvm::ArrayRef<int64_t>(x.shape()) == shape)
    return x;
  if (broadcastShapes(x.shape(), shape) != Shape(shape))
    return fail("a tensor of shape " + shapeToString(x.shape()) +
                " does not expand to " + shapeToString(shape));
  if (llvm::is_contained(shape, 0)) // An axis of 1 can become one of 0.
    return filled(x.dtype(), shape, 0);
  Shape aligned(shape.size(), 1), repeats(shape.size(), 1);
  size_t first = shape.size() - size_t(x.rank());
  for (size_t i = 0; i != size_t(x.rank()); ++i)
    aligned[first + i] = x.shape()[i];
  for (size_t i = 0; i != shape.size(); ++i)
    if (aligned[i] != shape[i])
      repeats[i] = shape[i];
  return make(ops::Tile, {reshape(x, aligned)}, {{param::reps, repeats}});
}

Val Emitter::concat(llvm::ArrayRef<Val> parts, int64_t axis) {
  Vals native;
  // An empty part has nothing to add.
  for (Val part : parts)
    if (!part || part.size() != 0)
      native.push_back(this->native(part));
  if (native.empty() && !parts.empty()) {
    Shape none = parts.front().shape();
    axis = axis < 0 ? axis + int64_t(none.size()) : axis;
    for (Val part : parts.drop_front())
      if (part.rank() == parts.front().rank() && size_t(axis) < none.size())
        none[size_t(axis)] += part.dim(axis);
    return empty(parts.front().dtype(), none);
  }
  return native.size() == 1 ? native.front()
                            : make(ops::Concat, native, {{param::axis, axis}});
}

Val Emitter::slice(Val x, int64_t axis, int64_t begin, int64_t end,
                   int64_t step) {
  x = native(x);
  if (!x)
    return x;
  if (axis < 0)
    axis += x.rank();
  if (axis < 0 || axis >= x.rank())
    return fail("a tensor of rank " + std::to_string(x.rank()) +
                " has too few axes");
  if (begin == 0 && end == x.dim(axis) && step == 1)
    return x;
  if (x.size() == 0 || (begin == end && step > 0)) {
    Shape left = x.shape();
    left[size_t(axis)] = begin == end ? 0 : (end - begin - 1) / step + 1;
    return empty(x.dtype(), left);
  }
  Shape begins(x.rank(), 0), ends(x.shape()), steps(x.rank(), 1);
  llvm::SmallVector<bool> masks(x.rank(), true);
  begins[axis] = begin;
  ends[axis] = end;
  steps[axis] = step;
  masks[axis] = false;
  llvm::SmallVector<bool> endMasks = masks;
  if (step < 0 && end < 0) {
    endMasks[axis] = true;
    ends[axis] = 0;
  }
  return make(ops::SliceByIndex, {x},
              {{param::begin, begins},
               {param::end, ends},
               {param::stride, steps},
               {param::beginMask, Constant::booleans(masks)},
               {param::endMask, Constant::booleans(endMasks)}});
}

Val Emitter::gather(Val x, Val indices, int64_t axis) {
  return make(ops::Gather, {native(x), native(indices)}, {{param::axis, axis}});
}

Val Emitter::sequence(Vals elements) {
  Val standIn = none();
  sequences[standIn.get()] = std::move(elements);
  return standIn;
}

const Vals *Emitter::elementsOf(Val x) const {
  auto found = sequences.find(x.get());
  return found != sequences.end() && found->second ? &*found->second : nullptr;
}

Val Emitter::none() {
  standIns.push_back(std::make_unique<Value>(TensorType(), "", nullptr, 0));
  sequences[standIns.back().get()] = std::nullopt;
  return standIns.back().get();
}

bool Emitter::isTensor(Val x) const { return !sequences.contains(x.get()); }

Val Emitter::empty(DType dtype, llvm::ArrayRef<int64_t> shape) {
  return constant(Constant::fromDoubles({nativeType(dtype), shape}, {}));
}

Val Emitter::reduce(const OpDef &def, Val x, llvm::ArrayRef<int64_t> axes,
                    bool keep) {
  // Of a list without elements, as shapes have them.
  if (x.rank() == 1 && x.size() == 0 && axes.size() == 1)
    return filled(nativeType(x.dtype()), keep ? Shape{1} : Shape(),
                  &def == &ops::ReduceProd);
  return unary(def, x, {{param::axes, axes}, {param::keepDims, keep}});
}

Val Emitter::matmul(Val x, Val y, bool transposeX, bool transposeY) {
  return make(
      ops::Matmul, {native(x), native(y)},
      {{param::transposeX, transposeX}, {param::transposeY, transposeY}});
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Emitter::Section Emitter::begin() const {
  llvm::ilist<Op> &body = function.body();
  return {body.empty() ? nullptr : &body.back(), natives, storedValues};
}

void Emitter::leave(const Section &section) {
  natives = section.natives;
  storedValues = section.storedValues;
}

void Emitter::undo(const Section &section) {
  llvm::ilist<Op> &body = function.body();
  while (!body.empty() && &body.back() != section.last)
    body.back().erase();
  leave(section);
}

void Emitter::take(BlockMaker &blocks, const Section &section,
                   llvm::ArrayRef<Val> results) {
  llvm::SmallVector<Value *, 4> values;
  for (Val result : results)
    values.push_back(result.get());
  blocks.take(section.last, values, [](const Op &) {});
  leave(section);
}

Vals Emitter::makeWithBlocks(const OpDef &def, BlockMaker &blocks,
                             llvm::ArrayRef<Val> operands, int64_t carried) {
  llvm::SmallVector<Value *, 8> values;
  for (Val operand : operands)
    values.push_back(operand.get());
  llvm::append_range(values, blocks.captures());
  llvm::SmallVector<ConstantRef, 2> slots(def.numConstantParams());
  slots[blocksSlot(def)] = blocks.finish();
  if (carried)
    slots[def.constantSlot(param::carried)] = Constant::int32(carried);
  Vals results;
  if (!count())
    return results;
  if (Op *op = builder.createWithSlots(def, values, slots, {}))
    for (Value *result : op->resultValues())
      results.push_back(result);
  return results;
}
