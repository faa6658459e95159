//===- MomentsBackend.cpp - collects moments of products' inputs ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Runtime/MomentsBackend.h"
#include "anec/IR/Builder.h"
#include "anec/IR/Clone.h"
#include "anec/Ops/Ops.h"
#include "anec/Quantize/QuantizeWeights.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Programs with moments as further results
//===----------------------------------------------------------------------===//

namespace {

/// A further result of a program: the moments of the input of some products.
struct Tap {
  std::shared_ptr<SecondMoments> moments;
  int64_t inputs = 0;
  uint64_t samples = 0; ///< in a run
  unsigned output = 0;
};

/// The vectors that a weight multiplies: a value as a matrix.
struct ProductInput {
  Value *value = nullptr;
  bool isByInput = false; ///< [inputs, samples] instead of [samples, inputs]
  bool isSwapped = false; ///< its last two axes are in the other order

  friend bool operator==(const ProductInput &, const ProductInput &) = default;
};

class Tapper {
public:
  Tapper(Function &function, InputMoments &moments)
      : function(function), seen(moments), builder(function) {}
  /// Adds the results and returns them.
  std::vector<Tap> run();

private:
  std::optional<ProductInput> inputOf(const Op &op, unsigned slot) const;
  Value *momentsOf(const ProductInput &input, int64_t inputs);

  Function &function;
  InputMoments &seen;
  Builder builder;
};

} // namespace

/// Of a filter of one place, stepping over no input.
static bool isPointwise(const Op &conv) {
  llvm::ArrayRef<int64_t> filter = conv.operand(1)->type.shape,
                          in = conv.operand(0)->type.shape,
                          out = conv.result()->type.shape;
  auto isOne = [](int64_t extent) { return extent == 1; };
  return filter[1] == in[1] && llvm::all_of(filter.drop_front(2), isOne) &&
         in.drop_front(2) == out.drop_front(2);
}

std::optional<ProductInput> Tapper::inputOf(const Op &op, unsigned slot) const {
  if (op.is(ops::Conv) || op.is(ops::Linear)) {
    int input = op.def().valueSlot(param::x);
    assert(input == 0 && op.def().valueSlot(param::weight) == 1);
    if (op.is(ops::Conv) && !isPointwise(op))
      return std::nullopt;
    return ProductInput{op.operand(unsigned(input)), op.is(ops::Conv)};
  }
  if (!op.is(ops::Matmul))
    return std::nullopt;
  bool isX = int(slot) != op.def().valueSlot(param::x);
  Value *input = op.operand(1 - slot);
  if (input->type.rank() < 2)
    return std::nullopt;
  // x has its inputs last, y second to last.
  bool isTransposed = op.get(isX ? param::transposeX : param::transposeY);
  bool isByInput = isX == isTransposed;
  int64_t batch = 1;
  for (int64_t extent : llvm::ArrayRef(input->type.shape).drop_back(2))
    batch *= extent;
  // Only whole matrices can be read as they are.
  if (isByInput && batch > 1)
    return ProductInput{input, false, true};
  return ProductInput{input, isByInput};
}

/// x x^T summed over all samples, in fp32, as [1, inputs, 1, inputs].
Value *Tapper::momentsOf(const ProductInput &input, int64_t inputs) {
  Value *value = input.value;
  auto order = [&](unsigned a, unsigned b) {
    llvm::SmallVector<int64_t> axes(value->type.rank());
    for (auto [axis, from] : llvm::enumerate(axes))
      from = int64_t(axis);
    std::swap(axes[a], axes[b]);
    value = builder.build(ops::Transpose, {value},
                          {{param::perm, llvm::ArrayRef<int64_t>(axes)}});
  };
  if (value->type.dtype != DType::FP32)
    value = builder.build(ops::Cast, {value}, {{param::dtype, "fp32"}});
  unsigned rank = value->type.rank();
  if (input.isSwapped)
    order(rank - 2, rank - 1);
  // The channels of an image are its inputs.
  if (input.isByInput && rank > 2 && value->type.shape[0] > 1 &&
      value->type.shape[1] == inputs)
    order(0, 1);
  int64_t samples = value->type.numElements() / inputs;
  llvm::SmallVector<int64_t> shape = {samples, inputs};
  if (input.isByInput)
    std::swap(shape[0], shape[1]);
  Value *matrix = builder.build(
      ops::Reshape, {value}, {{param::shape, llvm::ArrayRef<int64_t>(shape)}});
  Value *product = builder.build(ops::Matmul, {matrix, matrix},
                                 {{param::transposeX, !input.isByInput},
                                  {param::transposeY, input.isByInput}});
  int64_t result[] = {1, inputs, 1, inputs};
  return builder.build(ops::Reshape, {product},
                       {{param::shape, llvm::ArrayRef<int64_t>(result)}});
}

std::vector<Tap> Tapper::run() {
  struct Found {
    ProductInput input;
    Tap tap;
  };
  std::vector<Found> found;
  for (Op &op : function.body()) {
    for (unsigned slot = 0; slot < op.numOperands(); ++slot) {
      Value *operand = op.operand(slot);
      const Op *source = operand ? operand->definingOp() : nullptr;
      if (!source || !source->is(ops::Const) || operand->type.rank() < 2 ||
          (operand->type.dtype != DType::FP16 &&
           operand->type.dtype != DType::FP32))
        continue;
      std::optional<ProductAxes> axes = productAxes(op, slot);
      std::optional<ProductInput> input;
      if (axes)
        input = inputOf(op, slot);
      std::optional<WeightMatrix> weight;
      if (input)
        weight = WeightMatrix::of(*source->constant(param::val), *axes);
      if (!weight)
        continue;
      auto known = llvm::find_if(
          found, [&](const Found &other) { return other.input == *input; });
      if (known == found.end()) {
        Tap tap;
        tap.inputs = weight->inputs;
        tap.samples =
            uint64_t(input->value->type.numElements() / weight->inputs);
        tap.moments = std::make_shared<SecondMoments>();
        tap.moments->sums.resize(size_t(tap.inputs * tap.inputs));
        known = found.insert(found.end(), {*input, tap});
      }
      seen.add(*weight, known->tap.moments);
    }
  }
  std::vector<Tap> taps;
  llvm::SmallVector<Value *> results(function.resultValues());
  std::vector<std::string> names(function.resultNames());
  std::vector<ValueRole> roles(function.resultRoles());
  for (Found &each : found) {
    each.tap.output = unsigned(results.size());
    results.push_back(momentsOf(each.input, each.tap.inputs));
    names.push_back("moments " + std::to_string(each.tap.output));
    roles.push_back(ValueRole::Output);
    taps.push_back(each.tap);
  }
  llvm::SmallVector<llvm::StringRef> views(names.begin(), names.end());
  function.setResults(results, views, roles);
  return taps;
}

//===----------------------------------------------------------------------===//
// Executables
//===----------------------------------------------------------------------===//

namespace {

class MomentsExecutable : public Executable {
public:
  MomentsExecutable(std::unique_ptr<Executable> program, std::vector<Tap> taps,
                    size_t bindings);

  bool setState(unsigned state, llvm::ArrayRef<uint8_t> bytes,
                Diagnostics &diags) override {
    return program->setState(state, bytes, diags);
  }
  bool getState(unsigned state, llvm::MutableArrayRef<uint8_t> bytes,
                Diagnostics &diags) override {
    return program->getState(state, bytes, diags);
  }
  bool writeInput(unsigned port, const Region &region, const float *elements,
                  Diagnostics &diags) override {
    return program->writeInput(port, region, elements, diags);
  }
  bool readOutput(unsigned port, const Region &region, float *elements,
                  Diagnostics &diags) override {
    return program->readOutput(port, region, elements, diags);
  }
  bool execute(Diagnostics &diags) override;
  bool run(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
           llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
           Diagnostics &diags) override;
  uint64_t constantBytes() const override { return program->constantBytes(); }
  uint64_t activationBytes() const override {
    return program->activationBytes();
  }

private:
  void add(const Tap &tap, const float *sums) const;

  std::unique_ptr<Executable> program;
  std::vector<Tap> taps;
};

} // namespace

MomentsExecutable::MomentsExecutable(std::unique_ptr<Executable> inner,
                                     std::vector<Tap> added, size_t bindings)
    : program(std::move(inner)), taps(std::move(added)) {
  inputPorts = program->inputs().vec();
  outputPorts = program->outputs().drop_back(taps.size()).vec();
  statePorts = program->states().vec();
  for (size_t index = 0; index < bindings; ++index)
    bound.push_back(program->isBound(index));
}

void MomentsExecutable::add(const Tap &tap, const float *sums) const {
  tap.moments->samples += tap.samples;
  for (auto [sum, more] : llvm::zip_equal(
           tap.moments->sums, llvm::ArrayRef(sums, tap.moments->sums.size())))
    sum += more;
}

bool MomentsExecutable::execute(Diagnostics &diags) {
  if (!program->execute(diags))
    return false;
  std::vector<float> sums;
  for (const Tap &tap : taps) {
    sums.resize(size_t(tap.inputs * tap.inputs));
    Region whole{0, 0, tap.inputs, tap.inputs};
    if (!program->readOutput(tap.output, whole, sums.data(), diags))
      return false;
    add(tap, sums.data());
  }
  return true;
}

bool MomentsExecutable::run(
    llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
    llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
    Diagnostics &diags) {
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> all(outputs.begin(),
                                                        outputs.end());
  std::vector<std::vector<float>> sums;
  for (const Tap &tap : taps) {
    std::vector<float> &own =
        sums.emplace_back(size_t(tap.inputs * tap.inputs));
    all.push_back(
        {reinterpret_cast<uint8_t *>(own.data()), own.size() * sizeof(float)});
  }
  if (!program->run(inputs, all, diags))
    return false;
  for (auto [tap, own] : llvm::zip_equal(taps, sums))
    add(tap, own.data());
  return true;
}

//===----------------------------------------------------------------------===//
// The backend
//===----------------------------------------------------------------------===//

/// Programs are loaded one at a time: each adds what it sees.
static BackendCapabilities capabilitiesOf(const Backend &backend) {
  BackendCapabilities capabilities = backend.capabilities();
  capabilities.loadsInBackground = false;
  capabilities.takesText = false;
  return capabilities;
}

MomentsBackend::MomentsBackend(Backend &backend)
    : Backend(backend.name(), capabilitiesOf(backend)), backend(backend) {}

std::unique_ptr<Executable> MomentsBackend::load(const Function &function,
                                                 const LoadOptions &options,
                                                 Diagnostics &diags) {
  Module module;
  Function *copy = module.addFunction(function.kind, function.name);
  copy->opset = function.opset;
  ValueMap map;
  cloneBody(function, *copy, map);
  std::vector<Tap> taps = Tapper(*copy, *seen).run();
  std::unique_ptr<Executable> program = backend.load(*copy, options, diags);
  if (!program)
    return nullptr;
  return std::make_unique<MomentsExecutable>(
      std::move(program), std::move(taps), options.bindings.size());
}
