//===- EmbeddingTest.cpp - the embedding API ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/anec.h"
#include "lib/Support/Half.h"
#include "test/Unit/TemporaryPlace.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <set>

using namespace anec;

static constexpr llvm::StringLiteral kernel = R"(
  kernel linear(x: fp16[16, 8]) -> fp16[4, 8] {
    weight w: fp16[4, 16];
    return relu(w @ x);
  }
)";

static constexpr llvm::StringLiteral model = R"(
  layer dense(x: fp16[16, 8]) -> fp16[4, 8] {
    weight w: fp16[4, 16];
    return w @ x;
  }
  model classify(x: fp16[16, 8], labels: int32[8]) -> fp32 {
    return cross_entropy(dense(x), labels);
  }
)";

/// What was reported, as `[id] message`, one to a line.
static std::string reports(const Diagnostics &diags) {
  std::string text;
  for (const Diagnostic &diagnostic : diags.all())
    text += "[" + diagnostic.kind->id.str() + "] " + diagnostic.message + "\n";
  return text;
}

static CompileOptions withWeights(bool train = true) {
  CompileOptions options;
  options.weights.seed = 7;
  options.train = train;
  return options;
}

static std::unique_ptr<ProgramSession> openKernel(Diagnostics &diags) {
  std::optional<CompiledProgram> program =
      compileText(kernel, "linear.tdsl", withWeights(), diags);
  return program ? ProgramSession::open(*program, {}, diags) : nullptr;
}

static std::unique_ptr<ProgramSession> openModel(bool train,
                                                 Diagnostics &diags) {
  std::optional<ModelPackage> package =
      compileModelText(model, "model.tdsl", withWeights(train), "", diags);
  return package ? ProgramSession::open(std::move(*package), {}, diags)
                 : nullptr;
}

static std::vector<float> ramp(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = float(i % 17) / 16;
  return values;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

TEST(Embedding, TemporaryPackageGoesWithItsSession) {
  Diagnostics diags;
  std::optional<ModelPackage> package =
      compileModelText(model, "model.tdsl", withWeights(), "", diags);
  ASSERT_TRUE(package) << reports(diags);
  {
    test::TemporaryPlace none;
    Diagnostics refused;
    EXPECT_FALSE(folderOf(*package, refused));
  }
  std::string folder = folderOf(*package, diags).value_or("");
  EXPECT_EQ(folderOf(*package, diags), folder);
  std::optional<ModelPackage> read = readPackage(folder, diags);
  ASSERT_TRUE(read) << reports(diags);
  EXPECT_FALSE(read->isInMemory());
  for (const auto &[name, bytes] : package->contents)
    EXPECT_EQ(read->contents.lookup(name)->getBuffer(), bytes->getBuffer())
        << name.str();
  read.reset();
  auto session = ProgramSession::open(std::move(*package), {}, diags);
  ASSERT_TRUE(session) << reports(diags);
  package.reset();
  EXPECT_TRUE(llvm::sys::fs::exists(folder));
  session.reset();
  EXPECT_FALSE(llvm::sys::fs::exists(folder));
}

TEST(Embedding, WeightModeFollowsFromTheOthers) {
  EXPECT_EQ(withWeights(true).chosenWeightMode(), WeightMode::Packed);
  EXPECT_EQ(withWeights(false).chosenWeightMode(), WeightMode::Baked);
  EXPECT_EQ(CompileOptions().chosenWeightMode(), WeightMode::Packed);
}

TEST(Embedding, ErrorsHaveAPlace) {
  Diagnostics diags;
  EXPECT_FALSE(compileModelText("model m(x: fp32) -> fp32 {\n"
                                "  return relu(y);\n}\n",
                                "m.tdsl", withWeights(), "", diags));
  ASSERT_EQ(diags.all().size(), 1u);
  std::optional<SourcePlace> place = diags.locate(diags.all()[0].range);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->file, "m.tdsl");
  EXPECT_EQ(place->line, 2u);
}

//===----------------------------------------------------------------------===//
// Inspecting
//===----------------------------------------------------------------------===//

TEST(Embedding, Int8ActivationsNeedMoments) {
  Diagnostics diags;
  CompileOptions options = withWeights();
  std::string why;
  options.quantization = Quantization::parse("w8a8", why);
  EXPECT_FALSE(compileText(kernel, "linear.tdsl", options, diags));
  EXPECT_NE(reports(diags).find("[activations-need-data]"), std::string::npos)
      << reports(diags);
}

TEST(Embedding, ChecksAndPredicts) {
  Diagnostics diags;
  CompileOptions options = withWeights();
  std::optional<CompiledProgram> program =
      compileText(kernel, "linear.tdsl", options, diags);
  ASSERT_TRUE(program) << reports(diags);
  options.setTarget(*findTarget("m1"));
  for (const Finding &finding : check(*program, options))
    EXPECT_NE(finding.rule->impact, Impact::Error) << finding.what;
  RunCost cost = predict(*program, *findTarget("m1"));
  EXPECT_EQ(cost.dispatches(), 1u);
  EXPECT_GT(cost.sum().total, 0);

  std::optional<ModelPackage> package =
      compileModelText(model, "model.tdsl", options, "", diags);
  ASSERT_TRUE(package) << reports(diags);
  for (const Finding &finding : check(*package, options, diags))
    EXPECT_NE(finding.rule->impact, Impact::Error) << finding.what;
  std::optional<std::string> folder = folderOf(*package, diags);
  ASSERT_TRUE(folder) << reports(diags);
  std::optional<ModelCost> run = predictFile(*folder, options, diags);
  ASSERT_TRUE(run) << reports(diags);
  EXPECT_EQ(run->runs.front().name, "classify.train");
  std::vector<Finding> inMemory = check(*package, options, diags),
                       inFolder = checkFile(*folder, options, diags).findings;
  ASSERT_EQ(inMemory.size(), inFolder.size());
  for (size_t i = 0; i < inMemory.size(); ++i)
    EXPECT_EQ(inMemory[i].what, inFolder[i].what);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

TEST(Embedding, RunsAKernelWithFloatsOfAnyWidth) {
  Diagnostics diags;
  auto session = openKernel(diags);
  ASSERT_TRUE(session) << reports(diags);
  EXPECT_EQ(session->entries().vec(), std::vector<std::string>{"main"});
  std::vector<float> x = ramp(128), y(32);
  ASSERT_TRUE(session->run("", {{"x", x}}, {{"output", y}}, diags))
      << reports(diags);
  std::vector<uint16_t> x16(128), y16(32);
  floatsToHalves(x.data(), x16.data(), 128);
  ASSERT_TRUE(session->run("main", {{"x", DType::FP16, x16.data(), 256}},
                           {{"output", DType::FP16, y16.data(), 64}}, diags))
      << reports(diags);
  float most = 0;
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(y[i], halfToFloat(y16[i]));
    most = std::max(most, y[i]);
  }
  EXPECT_GT(most, 0);
}

TEST(Embedding, RunsAKernelInMemory) {
  test::TemporaryPlace none;
  Diagnostics diags;
  auto session = openKernel(diags);
  ASSERT_TRUE(session) << reports(diags);
  std::vector<float> x = ramp(128), y(32);
  EXPECT_TRUE(session->run("", {{"x", x}}, {{"output", y}}, diags))
      << reports(diags);
}

TEST(Embedding, TrainsAModelInMemory) {
  test::TemporaryPlace none;
  Diagnostics diags;
  auto session = openModel(/*train=*/true, diags);
  ASSERT_TRUE(session) << reports(diags);
  std::vector<float> x = ramp(128);
  std::vector<int32_t> labels(8);
  auto trainer = Trainer::open(*session, {}, diags);
  ASSERT_TRUE(trainer) << reports(diags);
  EXPECT_TRUE(trainer->step({{"x", x}, {"labels", labels}}, diags))
      << reports(diags);
}

/// A package has the same files in memory and in a folder.
TEST(Embedding, WritesTheSameFilesInMemory) {
  Diagnostics diags;
  llvm::SmallString<128> place;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("anec-test", place));
  for (bool train : {false, true}) {
    std::string path = (place + "/model.anepkg").str();
    auto written =
        compileModelText(model, "m.tdsl", withWeights(train), path, diags);
    auto inMemory =
        compileModelText(model, "m.tdsl", withWeights(train), "", diags);
    ASSERT_TRUE(written && inMemory) << reports(diags);
    EXPECT_EQ(written->contents.size(), inMemory->contents.size());
    for (const auto &[name, bytes] : written->contents) {
      MappedFile other = inMemory->contents.lookup(name);
      ASSERT_TRUE(other) << name.str();
      EXPECT_EQ(other->getBuffer(), bytes->getBuffer()) << name.str();
    }
  }
  removeTree(place);
}

/// What is read back are the text and the weights that are written.
TEST(Embedding, ReadsBackWhatIsWritten) {
  Diagnostics diags;
  std::optional<CompiledProgram> program =
      compileText(kernel, "linear.tdsl", withWeights(), diags);
  ASSERT_TRUE(program) << reports(diags);
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("anec-test", folder));
  std::string path = (folder + "/program.mil").str();
  NamedFiles files;
  ASSERT_TRUE(program->write(path, diags) && program->write(files, diags))
      << reports(diags);
  EXPECT_EQ(files.size(), 2u);
  for (const auto &[name, bytes] : files) {
    MappedFile written = mapFile((folder + "/" + name).str(), diags);
    ASSERT_TRUE(written) << reports(diags);
    EXPECT_EQ(written->getBuffer(), bytes->getBuffer()) << name.str();
  }
  removeTree(folder);
  EXPECT_TRUE(program->readBack(diags)) << reports(diags);
}

TEST(Embedding, RefusesArraysThatDoNotFit) {
  Diagnostics diags;
  auto session = openKernel(diags);
  ASSERT_TRUE(session) << reports(diags);
  std::vector<float> x = ramp(128), y(32);
  std::vector<int32_t> ids(128);
  EXPECT_FALSE(session->run("", {{"z", x}}, {}, diags));
  EXPECT_FALSE(session->run("", {{"x", x}, {"x", x}}, {}, diags));
  EXPECT_FALSE(session->run("", {}, {}, diags));
  EXPECT_FALSE(session->run("", {{"x", ids}}, {}, diags));
  EXPECT_FALSE(session->run("", {{"x", y}}, {}, diags));
  InputArray other("x", x);
  int64_t shape[] = {8, 16};
  other.shape = shape;
  EXPECT_FALSE(session->run("", other, {}, diags));
  EXPECT_FALSE(session->run("", {{"x", x}}, {{"y", y}}, diags));
  EXPECT_FALSE(session->run("other", {{"x", x}}, {}, diags));
  EXPECT_EQ(reports(diags),
            "[no-such-input] there is no input `z`; there are `x`\n"
            "[input-twice] input `x` is given twice\n"
            "[array-missing] input `x` of type `fp16[1, 16, 1, 8]` is not "
            "given\n"
            "[array-elements] input `x` is `fp16[1, 16, 1, 8]`, and the array "
            "has elements of `int32`\n"
            "[array-size] input `x` is `fp32[1, 16, 1, 8]`, which takes 512 "
            "bytes, and the array has 128\n"
            "[array-shape] input `x` is `fp16[1, 16, 1, 8]`, and the array has "
            "the shape [8, 16]\n"
            "[no-such-input] there is no output `y`; there are `output`\n"
            "[no-such-function] there is no function `other`; there are `main`"
            "\n");
}

TEST(Embedding, WarnsOfFloatsThatBecomeInfinite) {
  Diagnostics diags;
  auto session = openKernel(diags);
  ASSERT_TRUE(session) << reports(diags);
  std::vector<float> x(128, 1e6f);
  EXPECT_TRUE(session->run("", {{"x", x}}, {}, diags));
  EXPECT_EQ(reports(diags),
            "[half-overflow] 128 of the 128 elements of `x` are "
            "too large for fp16 and become infinite\n");
}

TEST(Embedding, KeepsStates) {
  Diagnostics diags;
  std::optional<CompiledProgram> program = compileText(
      "program(1.3) {\n"
      "  func main<ios18>(state<tensor<fp16, [2]>> k, tensor<fp16, [2]> x) {\n"
      "    tensor<fp16, [2]> before = read_state(input = k);\n"
      "    tensor<fp16, [2]> y = add(x = before, y = x);\n"
      "    write_state(data = y, input = k);\n"
      "  } -> (y);\n"
      "}\n",
      "sum.mil", {}, diags);
  ASSERT_TRUE(program) << reports(diags);
  auto session = ProgramSession::open(*program, {}, diags);
  ASSERT_TRUE(session) << reports(diags);
  std::vector<float> k = {1, 2}, x = {10, 20}, y(2);
  ASSERT_TRUE(session->setState({"k", k}, diags)) << reports(diags);
  ASSERT_TRUE(session->run("", {{"x", x}}, {{"y", y}}, diags));
  ASSERT_TRUE(session->run("", {{"x", x}}, {{"y", y}}, diags));
  EXPECT_EQ(y, (std::vector<float>{21, 42}));
  ASSERT_TRUE(session->getState({"k", k}, diags));
  EXPECT_EQ(k, y);
  EXPECT_FALSE(session->getState({"q", k}, diags));
  EXPECT_EQ(reports(diags),
            "[no-such-input] there is no state `q`; there are `k`\n");
}

/// Two models in one source: which is meant has to be said.
TEST(Embedding, AsksForAnEntryThatIsNotClear) {
  Diagnostics diags;
  std::string both =
      (model + "model other(x: fp16[16, 8], labels: int32[8]) -> fp32 {\n"
               "  return cross_entropy(relu(dense(x)), labels);\n"
               "}\n")
          .str();
  std::optional<ModelPackage> package =
      compileModelText(both, "both.tdsl", withWeights(false), "", diags);
  ASSERT_TRUE(package) << reports(diags);
  auto session = ProgramSession::open(std::move(*package), {}, diags);
  ASSERT_TRUE(session) << reports(diags);
  std::vector<float> x = ramp(128), loss(1);
  std::vector<int32_t> labels(8);
  std::vector<InputArray> inputs = {{"x", x}, {"labels", labels}};
  EXPECT_EQ(session->defaultEntry(), "");
  EXPECT_FALSE(session->run("", inputs, {}, diags));
  EXPECT_EQ(reports(diags),
            "[no-default-entry] no entry is named, and it is not clear which "
            "of `classify`, `other` is meant\n");
  EXPECT_TRUE(session->run("other", inputs, {{"output", loss}}, diags));
  EXPECT_GT(loss[0], 0);
}

TEST(Embedding, SaysWhichBackendsThereAre) {
  Diagnostics diags;
  ProgramSessionOptions options;
  options.backend = "gpu";
  options.compile = withWeights();
  std::optional<CompiledProgram> program =
      compileText(kernel, "linear.tdsl", options.compile, diags);
  ASSERT_TRUE(program) << reports(diags);
  EXPECT_FALSE(ProgramSession::open(*program, options, diags));
  EXPECT_EQ(reports(diags),
            "[no-such-backend] there is no backend `gpu`; there "
            "are `cpu`, `ane`, `coreml`\n");
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

TEST(Embedding, TrainsStepByStep) {
  Diagnostics diags;
  auto session = openModel(true, diags);
  ASSERT_TRUE(session) << reports(diags);
  std::vector<float> x = ramp(128);
  std::vector<int32_t> labels = {0, 1, 2, 3, 0, 1, 2, 3};
  std::vector<InputArray> inputs = {{"x", x}, {"labels", labels}};

  // A loss is not scaled unless someone says so.
  float loss = 0;
  ASSERT_TRUE(session->run("classify.train", inputs,
                           {{"output", llvm::MutableArrayRef(loss)}}, diags))
      << reports(diags);
  ASSERT_EQ(session->gradients().size(), 1u);
  EXPECT_EQ(session->gradients()[0].name, "dense.w");

  TrainerOptions options;
  options.hyper = Hyperparameters();
  options.hyper->warmup = 0;
  options.hyper->learningRate = 0.1;
  auto trainer = Trainer::open(*session, options, diags);
  ASSERT_TRUE(trainer) << reports(diags);
  EXPECT_EQ(trainer->parameters(), 64u);
  std::optional<StepRecord> first = trainer->step(inputs, diags);
  ASSERT_TRUE(first) << reports(diags);
  EXPECT_EQ(first->loss, loss);
  EXPECT_EQ(first->lossScale, 1024);
  std::optional<StepRecord> record = first;
  for (int i = 0; i < 20; ++i)
    record = trainer->step(inputs, diags);
  ASSERT_TRUE(record) << reports(diags);
  EXPECT_LT(record->loss, first->loss / 2);
  EXPECT_EQ(record->step, 21u);

  EXPECT_FALSE(trainer->update(diags));
  EXPECT_EQ(reports(diags),
            "[nothing-accumulated] a step needs a run that adds "
            "its gradients\n");
}

/// The trainer draws the masks of each run; other runs have none.
TEST(Embedding, DrawsMasks) {
  Diagnostics diags;
  std::string text = R"(model m(x: fp16[8, 4]) -> fp32 {
  weight w: fp16[8, 8];
  return cast(mean(dropout(w @ x, rate = 0.5) ** 2), fp32);
})";
  std::vector<float> x(32, 1), ones(32, 1);
  auto losses = [&](uint64_t seed, bool given) {
    std::optional<ModelPackage> package =
        compileModelText(text, "m.tdsl", withWeights(), "", diags);
    auto session = package
                       ? ProgramSession::open(std::move(*package), {}, diags)
                       : nullptr;
    std::vector<float> values(1);
    if (!session ||
        !session->run("m.train", {{"x", x}},
                      {{"output", llvm::MutableArrayRef(values)}}, diags))
      return values;
    TrainerOptions options;
    options.seed = seed;
    auto trainer = Trainer::open(*session, options, diags);
    llvm::SmallVector<InputArray> inputs = {{"x", x}};
    if (given)
      inputs.emplace_back("dropout", ones);
    for (int run = 0; trainer && run < 3; ++run)
      values.push_back(trainer->accumulate(inputs, diags).value_or(-1));
    return values;
  };
  std::vector<float> drawn = losses(1, false);
  ASSERT_EQ(drawn.size(), 4u) << reports(diags);
  EXPECT_EQ(std::set<float>(drawn.begin(), drawn.end()).size(), 4u);
  EXPECT_EQ(losses(1, false), drawn);
  EXPECT_NE(losses(2, false), drawn);
  EXPECT_EQ(losses(1, true), std::vector<float>(4, drawn[0]));
}

/// Two runs of the same inputs are a step like one of them.
TEST(Embedding, AStepIsTheMeanOfItsRuns) {
  Diagnostics diags;
  std::vector<float> x = ramp(128);
  std::vector<int32_t> labels = {0, 1, 2, 3, 0, 1, 2, 3};
  std::vector<InputArray> inputs = {{"x", x}, {"labels", labels}};
  std::vector<float> weights[2];
  for (unsigned runs : {1, 2}) {
    auto session = openModel(true, diags);
    ASSERT_TRUE(session) << reports(diags);
    auto trainer = Trainer::open(*session, {}, diags);
    ASSERT_TRUE(trainer) << reports(diags);
    for (unsigned i = 0; i < runs; ++i)
      ASSERT_TRUE(trainer->accumulate(inputs, diags)) << reports(diags);
    ASSERT_TRUE(trainer->update(diags)) << reports(diags);
    weights[runs - 1] = session->weights()[0].elements.vec();
  }
  EXPECT_EQ(weights[0], weights[1]);
}

TEST(Embedding, WeightsCanBeSavedAndTakenElsewhere) {
  Diagnostics diags;
  auto session = openModel(true, diags);
  ASSERT_TRUE(session) << reports(diags);
  for (float &weight : session->weights()[0].elements)
    weight = 0.25;
  ASSERT_TRUE(session->weightsChanged(diags));
  std::string path = std::string(::testing::TempDir()) + "/saved.safetensors";
  ASSERT_TRUE(session->saveWeights(path, diags)) << reports(diags);

  CompileOptions without;
  std::optional<ModelPackage> package =
      compileModelText(model, "model.tdsl", without, "", diags);
  ASSERT_TRUE(package) << reports(diags);
  ProgramSessionOptions options;
  options.weights.source = path;
  auto other = ProgramSession::open(std::move(*package), options, diags);
  ASSERT_TRUE(other) << reports(diags);
  EXPECT_EQ(other->weights()[0].elements[5], 0.25f);
}

TEST(Embedding, RefusesWhatCannotTrainOrGenerate) {
  Diagnostics diags;
  auto program = openKernel(diags), forward = openModel(false, diags);
  ASSERT_TRUE(program && forward) << reports(diags);
  EXPECT_TRUE(program->weights().empty() && program->gradients().empty());
  EXPECT_FALSE(Trainer::open(*program, {}, diags));
  EXPECT_FALSE(Trainer::open(*forward, {"classify", {}}, diags));
  std::unique_ptr<Tokenizer> bytes = openTokenizer("", diags);
  auto ignore = [](llvm::StringRef) {};
  EXPECT_FALSE(program->generate("a", *bytes, {}, ignore, diags));
  EXPECT_FALSE(program->setState({"cache", llvm::ArrayRef<float>()}, diags));
  EXPECT_FALSE(forward->setState({"cache", llvm::ArrayRef<float>()}, diags));
  EXPECT_EQ(reports(diags),
            "[no-training-entry] no entry computes a loss with gradients; "
            "there are `main`\n"
            "[not-a-training-entry] entry `classify` does not compute a loss "
            "with gradients; there are `classify`\n"
            "[needs-package] a single program cannot generate text; a package "
            "of a model can\n"
            "[no-such-input] there is no state `cache`; there are none\n"
            "[no-such-input] there is no state `cache`; there are none\n");
}
