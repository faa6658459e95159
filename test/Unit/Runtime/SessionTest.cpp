//===- SessionTest.cpp - packages run as their programs say ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A model goes through the whole compiler into a package, is read back and
/// run; results and gradients are compared with the program evaluated in double
/// precision.
///
//===----------------------------------------------------------------------===//

#include "anec/Runtime/Session.h"
#include "anec/Passes/PassManager.h"
#include "lib/Frontend/Frontend.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/Text.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Ops/Ops.h"
#include "lib/Ops/Weights.h"
#include "lib/Package/ScheduleWalk.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "lib/Support/Half.h"
#include "test/Unit/TemporaryFolder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <map>
#include <new>

using namespace anec;
using namespace anec::test;

/// How often memory was asked for while that is counted, by any thread.
static std::atomic<bool> countsAllocations{false};
static std::atomic<size_t> allocations{0};

static void *allocate(size_t size, size_t alignment) {
  if (countsAllocations)
    ++allocations;
  void *memory = alignment > alignof(std::max_align_t)
                     ? std::aligned_alloc(alignment, (size + alignment - 1) /
                                                         alignment * alignment)
                     : std::malloc(size ? size : 1);
  if (!memory)
    std::abort();
  return memory;
}
void *operator new(size_t size) { return allocate(size, 1); }
void *operator new(size_t size, const std::nothrow_t &) noexcept {
  return allocate(size, 1);
}
void *operator new(size_t size, std::align_val_t alignment) {
  return allocate(size, size_t(alignment));
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void *memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace {

constexpr char llama[] = R"(
config {
  layers = 3; dim = 16; hidden = 24; heads = 4; kv_heads = 2; seq = 8; vocab = 12;
}
layer attention(x: fp16[dim, seq]) -> fp16[dim, seq] {
  weight norm: fp16[dim];
  weight wq: fp16[dim, dim];
  weight wk, wv: fp16[kv_heads * (dim / heads), dim];
  weight wo: fp16[dim, dim];
  h = rmsnorm(x, norm, 1e-5);
  q = rope(split_heads(wq @ h, heads));
  k = rope(split_heads(wk @ h, kv_heads));
  v = split_heads(wv @ h, kv_heads);
  return x + wo @ merge_heads(sdpa(q, k, v, causal = true));
}
layer feed_forward(x: fp16[dim, seq]) -> fp16[dim, seq] {
  weight norm: fp16[dim];
  weight w1, w3: fp16[hidden, dim];
  weight w2: fp16[dim, hidden];
  h = rmsnorm(x, norm, 1e-5);
  return x + w2 @ (silu(w1 @ h) * (w3 @ h));
}
model llama(tokens: int32[seq], targets: int32[seq]) -> fp32 {
  weight embedding: fp16[vocab, dim];
  weight norm: fp16[dim];
  x = gather(embedding, tokens);
  repeat i in 0..layers { x = feed_forward[i](attention[i](x)); }
  logits = embedding @ rmsnorm(x, norm, 1e-5);
  return cross_entropy(logits, targets);
}
)";

/// What a run gives: results, and gradients by the names of their arrays.
struct Outcome {
  std::vector<std::vector<double>> results;
  std::map<std::string, std::vector<double>> gradients;
};

struct Way {
  PackageOptions package;
  SessionOptions session;
  ModelPipelineOptions pipeline;
  std::string entry = "llama.train";
  unsigned runs = 1; ///< the gradients of all are added up
};

class SessionOf : public testing::Test {
protected:
  void TearDown() override {
    if (!diags.hasErrors())
      return;
    diags.print(llvm::errs());
    ADD_FAILURE() << "errors were reported";
  }

  std::unique_ptr<Module> parse(llvm::StringRef text) {
    llvm::StringRef owned =
        diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "m.tdsl"));
    return text.ltrim().starts_with("host")
               ? parseIR(owned, opTable(), diags)
               : parseTDSL(owned, {}, opTable(), diags);
  }

  /// Compiles to a package in `folder`, keeping the program for comparison.
  bool compile(llvm::StringRef text, const Way &way) {
    PassManagerOptions passes;
    passes.passes = modelPipeline(way.pipeline);
    program = parse(text);
    std::unique_ptr<Module> other = parse(text);
    if (!program || !other || !runPasses(*other, passes, diags))
      return false;
    // Masks, scales and tables of kernels are fp16 constants: with them in the
    // reference, what remains is how the package runs.
    passes.passes.push_back(&passes::Decompose);
    return runPasses(*program, passes, diags) &&
           writePackage(std::move(other), folder / "m.anepkg", way.package,
                        diags);
  }

  std::unique_ptr<Session> open(const Way &way) {
    auto package = readPackage(folder / "m.anepkg", diags);
    return package ? Session::open(std::move(*package), *backend, way.session,
                                   diags)
                   : nullptr;
  }

  static ConstantRef inputOf(const Port &port) {
    RefTensor tensor{port.type, {}};
    for (int64_t i = 0; i < port.type.numElements(); ++i)
      tensor.data.push_back(port.type.dtype == DType::Int32
                                ? double((i * 7 + port.name.size()) % 12)
                                : 4.0);
    return Constant::fromDoubles(port.type, tensor.data);
  }

  Outcome runSession(Session &session, const Way &way) {
    Outcome outcome;
    if (!session.prepare(way.entry, diags))
      return outcome;
    inputs.clear();
    llvm::SmallVector<llvm::ArrayRef<uint8_t>> in;
    for (const Port &port : session.inputs(way.entry))
      inputs.push_back(inputOf(port));
    for (const ConstantRef &input : inputs)
      in.push_back(input->bytes());
    std::vector<std::vector<uint8_t>> bytes;
    for (const Port &port : session.outputs(way.entry))
      bytes.emplace_back(port.type.numBytes());
    for (unsigned run = 0; run < way.runs; ++run) {
      llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> out(bytes.begin(),
                                                            bytes.end());
      EXPECT_TRUE(session.run(way.entry, in, out, diags,
                              run ? Gradients::Add : Gradients::Replace));
    }
    for (auto [port, data] : llvm::zip_equal(session.outputs(way.entry), bytes))
      outcome.results.push_back(Constant::copy(port.type, data)->asDoubles());
    for (const NamedFloats &gradient : session.gradients())
      outcome.gradients[gradient.name].assign(gradient.elements.begin(),
                                              gradient.elements.end());
    return outcome;
  }

  /// The program in double precision, on the session's weights.
  Outcome evaluate(const Session &session, const Way &way) {
    Outcome outcome;
    std::map<std::string, llvm::ArrayRef<float>> weights;
    for (const NamedFloats &weight : session.weights())
      weights[weight.name] = weight.elements;
    InterpreterOptions options;
    options.weights = [&](const Op &op, std::optional<int64_t> instance) {
      std::string name = instanceName(op.get(param::name), instance);
      llvm::ArrayRef<float> values = weights[name];
      return viewOf(op).materialize(llvm::ArrayRef<double>(
          std::vector<double>(values.begin(), values.end())));
    };
    options.accumulate = [&](const Op &op, std::optional<int64_t> instance,
                             const RefTensor &value) {
      std::vector<double> &sum =
          outcome.gradients[instanceName(op.get(param::name), instance)];
      sum.resize(value.data.size());
      for (auto [total, term] : llvm::zip_equal(sum, value.data))
        total += term * way.runs;
    };
    std::vector<RefTensor> in, out;
    for (const ConstantRef &input : inputs)
      in.push_back({input->type(), input->asDoubles()});
    EXPECT_TRUE(interpretModule(*program, *program->findFunction(way.entry), in,
                                out, diags, options));
    for (const RefTensor &tensor : out)
      outcome.results.push_back(tensor.data);
    return outcome;
  }

  /// The package of `text` gives what the program says, within `tolerance`.
  void check(llvm::StringRef text, const Way &way, double tolerance) {
    ASSERT_TRUE(compile(text, way));
    std::unique_ptr<Session> session = open(way);
    ASSERT_TRUE(session);
    compare(*session, way, tolerance);
  }

  void compare(Session &session, const Way &way, double tolerance) {
    Outcome got = runSession(session, way);
    ASSERT_FALSE(diags.hasErrors());
    Outcome wanted = evaluate(session, way);
    ASSERT_EQ(got.results.size(), wanted.results.size());
    for (auto [left, right] : llvm::zip_equal(got.results, wanted.results))
      EXPECT_LE(relativeError(left, right), tolerance);
    ASSERT_EQ(got.gradients.size(), wanted.gradients.size());
    for (const auto &[name, gradient] : wanted.gradients) {
      ASSERT_TRUE(got.gradients.count(name)) << name;
      EXPECT_LE(relativeError(got.gradients[name], gradient), tolerance)
          << name;
    }
  }

  static Way fp32() {
    Way way;
    way.session.load.numerics = Numerics::FP32;
    way.package.weights.seed = 3;
    return way;
  }

  Diagnostics diags;
  TemporaryFolder folder;
  std::unique_ptr<Module> program;
  std::unique_ptr<Backend> backend = createCpuBackend();
  std::vector<ConstantRef> inputs;
};

} // namespace

static constexpr double fp32Tolerance = 1e-5, fp16Tolerance = 2e-2;

TEST_F(SessionOf, TrainsInFp32) { check(llama, fp32(), fp32Tolerance); }

TEST_F(SessionOf, TrainsInFp16) {
  Way way;
  way.package.weights.seed = 3;
  check(llama, way, fp16Tolerance);
}

TEST_F(SessionOf, AddsGradientsOfSeveralRuns) {
  Way way = fp32();
  way.runs = 3;
  check(llama, way, fp32Tolerance);
}

TEST_F(SessionOf, CopiesWhereMemoryIsNotShared) {
  Way way = fp32();
  way.session.bindMemory = false;
  check(llama, way, fp32Tolerance);
}

// Sums have one order, so that nothing changes in any bit.
TEST_F(SessionOf, ComputesGradientsBesideKernels) {
  for (bool binds : {true, false}) {
    Way way = fp32();
    way.runs = 3;
    way.session.bindMemory = binds;
    way.session.overlap = false;
    ASSERT_TRUE(compile(llama, way));
    std::unique_ptr<Session> session = open(way);
    ASSERT_TRUE(session);
    Outcome wanted = runSession(*session, way);
    for (const PartTime &time : session->times(way.entry))
      EXPECT_FALSE(time.overlaps);

    way.session.overlap = true;
    std::unique_ptr<Session> beside = open(way);
    ASSERT_TRUE(beside);
    Outcome got = runSession(*beside, way);
    EXPECT_EQ(got.results, wanted.results);
    EXPECT_EQ(got.gradients, wanted.gradients);
    size_t overlapping =
        llvm::count_if(beside->times(way.entry),
                       [](const PartTime &time) { return time.overlaps; });
    // More than may wait at a time.
    EXPECT_GT(overlapping, 4u);
    compare(*beside, way, fp32Tolerance);
  }
}

// All memory is there after the first run of each kind.
TEST_F(SessionOf, AllocatesNothingInRuns) {
  for (bool overlaps : {false, true})
    for (bool binds : {false, true})
      for (Numerics numerics : {Numerics::FP32, Numerics::FP16}) {
        Way way = fp32();
        way.session.load.numerics = numerics;
        way.session.load.workspace = std::make_shared<Workspace>(3);
        way.session.overlap = overlaps;
        way.session.bindMemory = binds;
        ASSERT_TRUE(compile(llama, way));
        std::unique_ptr<Session> session = open(way);
        ASSERT_TRUE(session);
        runSession(*session, way);
        llvm::SmallVector<llvm::ArrayRef<uint8_t>> in;
        for (const ConstantRef &input : inputs)
          in.push_back(input->bytes());
        float loss = 0;
        llvm::MutableArrayRef<uint8_t> out(reinterpret_cast<uint8_t *>(&loss),
                                           sizeof loss);
        auto runAll = [&] {
          for (Gradients gradients :
               {Gradients::Replace, Gradients::Add, Gradients::None})
            if (!session->run(way.entry, in, {out}, diags, gradients))
              return false;
          return true;
        };
        ASSERT_TRUE(runAll());
        allocations = 0;
        countsAllocations = true;
        bool ran = runAll();
        countsAllocations = false;
        ASSERT_TRUE(ran);
        EXPECT_EQ(allocations, 0u) << "overlaps " << overlaps << ", binds "
                                   << binds << ", numerics " << int(numerics);
      }
}

// What is told of a gradient is what it is in the end, and told once.
TEST_F(SessionOf, TellsWhenGradientsAreWhole) {
  for (bool overlaps : {false, true}) {
    Way way = fp32();
    way.session.overlap = overlaps;
    ASSERT_TRUE(compile(llama, way));
    std::unique_ptr<Session> session = open(way);
    ASSERT_TRUE(session);
    runSession(*session, way);
    std::vector<std::pair<const float *, std::vector<float>>> told;
    std::vector<llvm::ArrayRef<uint8_t>> in;
    for (const ConstantRef &input : inputs)
      in.push_back(input->bytes());
    std::vector<uint8_t> loss(sizeof(float));
    ASSERT_TRUE(
        session->run(way.entry, in, {loss}, diags, Gradients::Add,
                     [&](llvm::MutableArrayRef<float> gradient) {
                       told.push_back({gradient.data(), gradient.vec()});
                     }));
    ASSERT_EQ(told.size(), session->gradients().size());
    // The last layers' come before the first ones'.
    EXPECT_NE(told.front().first, told.back().first);
    for (const NamedFloats &gradient : session->gradients()) {
      auto it = llvm::find_if(told, [&](const auto &one) {
        return one.first == gradient.elements.data();
      });
      ASSERT_NE(it, told.end()) << gradient.name;
      EXPECT_EQ(it->second, gradient.elements.vec()) << gradient.name;
    }
  }
}

TEST_F(SessionOf, TakesSeparateInputs) {
  Way way = fp32();
  way.package.io = IOMode::Separate;
  check(llama, way, fp32Tolerance);
}

TEST_F(SessionOf, TakesSeparateInputsWithoutSharedMemory) {
  Way way = fp32();
  way.package.io = IOMode::Separate;
  way.session.bindMemory = false;
  check(llama, way, fp32Tolerance);
}

TEST_F(SessionOf, RunsTheForwardAlone) {
  Way way = fp32();
  way.pipeline.train = false;
  way.entry = "llama";
  check(llama, way, fp32Tolerance);
}

TEST_F(SessionOf, RunsBakedWeights) {
  Way way = fp32();
  way.pipeline.train = false;
  way.pipeline.packWeights = false;
  way.package.weightMode = WeightMode::Baked;
  way.session.weights.seed = 3; // for the reference
  way.entry = "llama";
  // Weights are rounded when they are baked.
  check(llama, way, 2e-3);
}

TEST_F(SessionOf, TrainsWithKernelsFusedAsFarAsTheyGo) {
  Way way = fp32();
  way.pipeline.fusion = Fusion::Max;
  check(llama, way, fp32Tolerance);
}

TEST_F(SessionOf, TakesChangedWeights) {
  for (bool binds : {true, false}) {
    Way way = fp32();
    way.session.bindMemory = binds;
    ASSERT_TRUE(compile(llama, way));
    std::unique_ptr<Session> session = open(way);
    ASSERT_TRUE(session);
    ASSERT_TRUE(session->prepare(way.entry, diags));
    for (const NamedFloats &weight : session->weights())
      for (float &element : weight.elements)
        element = element * 0.5f + 0.01f;
    ASSERT_TRUE(session->weightsChanged(diags));
    compare(*session, way, fp32Tolerance);
  }
}

// Host ops read the weights of the file until somebody asks for masters.
TEST_F(SessionOf, KeepsWeightsOfTheForwardAsStored) {
  for (Numerics numerics : {Numerics::FP32, Numerics::FP16}) {
    Way way = fp32();
    way.pipeline.train = false;
    way.pipeline.packWeights = false;
    way.package.weightMode = WeightMode::Baked;
    way.entry = "llama";
    way.session.load.numerics = numerics;
    ASSERT_TRUE(compile(llama, way));
    std::unique_ptr<Session> session = open(way);
    ASSERT_TRUE(session);
    Outcome stored = runSession(*session, way);
    uint64_t before = session->memoryBytes(), masters = 0;
    for (const NamedFloats &weight : session->weights())
      masters += weight.elements.size() * sizeof(float);
    EXPECT_GT(masters, 0u);
    EXPECT_GE(session->memoryBytes(), before + masters);
    // The same values, then others.
    Outcome expanded = runSession(*session, way);
    ASSERT_EQ(stored.results.size(), expanded.results.size());
    for (auto [left, right] : llvm::zip_equal(stored.results, expanded.results))
      EXPECT_LE(relativeError(left, right), fp32Tolerance);
    for (const NamedFloats &weight : session->weights())
      for (float &element : weight.elements)
        element *= 0.5f;
    ASSERT_TRUE(session->weightsChanged(diags));
    Outcome changed = runSession(*session, way);
    EXPECT_GT(relativeError(changed.results[0], stored.results[0]), 1e-3);
  }
}

// Weights that are constants of programs make them other programs.
TEST_F(SessionOf, TakesChangedWeightsOfPrograms) {
  for (bool binds : {true, false}) {
    Way way = fp32();
    way.session.bindMemory = binds;
    way.pipeline.packWeights = false;
    way.package.weightMode = WeightMode::Baked;
    way.session.weights.seed = 5; // not those that it was packaged with
    ASSERT_TRUE(compile(llama, way));
    std::unique_ptr<Session> session = open(way);
    ASSERT_TRUE(session);
    ASSERT_TRUE(session->prepare(way.entry, diags));
    EXPECT_GT(session->programsPerUpdate(), 0u);
    EXPECT_TRUE(session->canTakeWeights());
    // Programs have them as fp16.
    for (const NamedFloats &weight : session->weights())
      for (float &element : weight.elements)
        element = float(roundToHalf(element * 0.5f + 0.01f));
    ASSERT_TRUE(session->weightsChanged(diags));
    compare(*session, way, fp32Tolerance);
  }
}

TEST_F(SessionOf, KeepsForwardAndGradientsFinite) {
  Way way = fp32();
  ASSERT_TRUE(compile(llama, way));
  std::unique_ptr<Session> session = open(way);
  ASSERT_TRUE(session);
  Outcome outcome = runSession(*session, way);
  for (const auto &[name, gradient] : outcome.gradients)
    for (double element : gradient)
      ASSERT_TRUE(std::isfinite(element)) << name;
  ASSERT_EQ(outcome.results.size(), 1u);
  EXPECT_GT(outcome.results[0][0], 0);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

// What is collected is read whole, in slices, and as it is; a turn's number is
// computed with; a value is returned that no turn changed.
TEST_F(SessionOf, RunsRepeatsOfHostOps) {
  Way way = fp32();
  way.entry = "main";
  way.pipeline.train = false;
  program = parse(R"(
host @main(%x: fp16[4, 2]) -> (%y: fp16[4, 2], %all: fp16[3, 4, 2], %sum: fp16[4, 2], %x: fp16[4, 2]) {
  %y, %all = repeat(%x) {body = "body", from = 0, to = 3, carried = 1, collected = ["fp16[4, 2]"]} : fp16[4, 2], fp16[3, 4, 2]
  %e = exp(%all) : fp16[3, 4, 2]
  %zero = const() {val = fp16(0)} : fp16
  %start = mul(%x, %zero) : fp16[4, 2]
  %sum = repeat(%start, %x, %all, %e) {body = "fold", from = 0, to = 3, carried = 1, sliced = 2, reverse = true} : fp16[4, 2]
  return %y, %all, %sum, %x
}
host @body(%i: int32, %x: fp16[4, 2]) -> (%y: fp16[4, 2], %saved: fp16[4, 2]) {role = body} {
  %n = cast(%i) {dtype = "fp16"} : fp16
  %a = add(%x, %n) : fp16[4, 2]
  %y = call @halve(%a) : fp16[4, 2]
  return %y, %x
}
host @fold(%i: int32, %s: fp16[4, 2], %x: fp16[4, 2], %saved: fp16[4, 2], %e: fp16[4, 2]) -> (%t: fp16[4, 2]) {role = body} {
  %a = add(%s, %saved) : fp16[4, 2]
  %b = call @halve(%a) : fp16[4, 2]
  %c = add(%b, %x) : fp16[4, 2]
  %t = add(%c, %e) : fp16[4, 2]
  return %t
}
kernel @halve(%x: fp16[4, 2]) -> (%y: fp16[4, 2]) {
  %half = const() {val = fp16(0.5)} : fp16
  %y = mul(%x, %half) : fp16[4, 2]
  return %y
}
)");
  ASSERT_TRUE(program);
  std::string text;
  llvm::raw_string_ostream stream(text);
  printIR(*program, stream);
  for (bool binds : {true, false}) {
    way.session.bindMemory = binds;
    way.package.passes.passes.clear();
    ASSERT_TRUE(
        writePackage(parse(text), folder / "m.anepkg", way.package, diags));
    std::unique_ptr<Session> session = open(way);
    ASSERT_TRUE(session);
    compare(*session, way, fp32Tolerance);
  }
}
