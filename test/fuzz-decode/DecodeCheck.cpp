//===- DecodeCheck.cpp - compares decoding with the full forward ----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "DecodeCheck.h"
#include "anec/Generate/IncrementalModel.h"
#include "anec/anec.h"
#include "lib/Arrays/Safetensors.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/TemporaryFolder.h"
#include <cmath>

using namespace anec;
using namespace anec::fuzz;

/// Of the largest logit of a text, with fp32 numerics.
static constexpr double tolerance = 1e-4;

namespace {

class DecodeChecker {
public:
  DecodeChecker(const Decoder &decoder, Choices &choices, uint64_t seed)
      : decoder(decoder), c(choices), seed(seed), backend(createCpuBackend()) {}

  DecodeOutcome run();

private:
  std::unique_ptr<Session> open(CompileOptions options, const char *what);
  void choosePrograms(CompileOptions &options);
  void checkTargets(const ModelPackage &package);
  bool writeWeights();
  bool forward(llvm::ArrayRef<int32_t> text);
  bool compare(const TokenFeed &feed);
  bool moves(llvm::ArrayRef<int32_t> text, size_t at, double largest);
  bool feed();
  bool failWithErrors(const std::string &what);

  const Decoder &decoder;
  Choices &c;
  uint64_t seed;
  std::unique_ptr<Backend> backend;
  Diagnostics diags;
  std::shared_ptr<TemporaryFolder> folder;
  std::string weightFile;
  DecodeOutcome outcome;
  std::unique_ptr<Session> full, session;
  std::unique_ptr<TextModel> model;
  std::vector<std::vector<int32_t>> texts;
  std::vector<float> logits; ///< of the full forward, [vocabulary, positions]
};

} // namespace

bool DecodeChecker::failWithErrors(const std::string &what) {
  outcome.failure = what;
  llvm::raw_string_ostream out(outcome.failure);
  out << '\n';
  diags.print(out);
  return false;
}

std::unique_ptr<Session> DecodeChecker::open(CompileOptions options,
                                             const char *what) {
  options.weights.source = weightFile;
  std::optional<ModelPackage> package =
      compileModelText(decoder.text, "model.tdsl", options, "", diags);
  if (!package) {
    failWithErrors(std::string("compile ") + what);
    return nullptr;
  }
  if (options.decode)
    checkTargets(*package);
  SessionOptions run;
  run.load.numerics = Numerics::FP32;
  run.bindMemory = !c.once(4);
  if (options.chosenWeightMode() == WeightMode::Packed)
    run.weights.source = weightFile;
  std::unique_ptr<Session> opened =
      Session::open(std::move(*package), *backend, run, diags);
  if (!opened)
    failWithErrors(std::string("open ") + what);
  return opened;
}

/// Draws the weights in fp16: kernels have constants of this type, and the host
/// reads what is stored.
bool DecodeChecker::writeWeights() {
  CompileOptions options;
  options.train = false;
  std::optional<ModelPackage> package =
      compileModelText(decoder.text, "model.tdsl", options, "", diags);
  folder = TemporaryFolder::create(diags);
  if (!package || !folder)
    return failWithErrors("compile without weights");
  Executor executor(1);
  std::vector<PlannedArray> arrays;
  for (const PackagedWeight &weight : package->weights)
    for (const std::string &name : weight.arrays()) {
      TensorType type(DType::FP16, weight.type.shape);
      ConstantRef value =
          drawWeight(name, type, weight.initial, seed, executor);
      arrays.push_back({name, type, [value] { return value; }});
    }
  weightFile = folder->file("weights.safetensors");
  AtomicFiles files(diags);
  OutputFile *file = files.add(weightFile);
  bool ok = file && writeSafetensors(*file, arrays, {}) && files.commit();
  return ok || failWithErrors("write the weights");
}

/// The derived programs follow the rules of all chips.
void DecodeChecker::checkTargets(const ModelPackage &package) {
  CompileOptions options;
  const Target &target = allTargets()[c.pick(unsigned(allTargets().size()))];
  options.setTarget(target);
  for (const Finding &finding : check(package, options, diags))
    if (options.passes.assumptions.isError(*finding.rule))
      outcome.failure = "check for " + target.name.str() + ": " +
                        finding.rule->id.str() + ": " + finding.what;
}

void DecodeChecker::choosePrograms(CompileOptions &options) {
  options.train = false;
  options.decode = true;
  DecodePrograms &programs = options.passes.decode;
  programs.context = c.once(2) ? c.between(1, decoder.positions) : 0;
  unsigned context =
      programs.context ? unsigned(programs.context) : decoder.positions;
  programs.blocks = {1};
  for (unsigned i = c.pick(3); i > 0; --i)
    programs.blocks.push_back(c.between(1, std::min(context, 9u)));
  programs.prefills = {1};
  for (unsigned i = c.pick(3); i > 0; --i)
    programs.prefills.push_back(c.between(1, context));
  for (unsigned i = c.pick(3); i > 0; --i)
    programs.ladder.push_back(c.between(1, context));
  if (c.once(3))
    programs.batch = c.between(2, 4);
  if (c.once(3))
    options.weightMode = WeightMode::Packed;
  if (c.once(3))
    options.io = IOMode::Separate;
  if (c.once(3))
    options.fusion = Fusion::Max;
}

bool DecodeChecker::forward(llvm::ArrayRef<int32_t> text) {
  std::string entry = full->package().findEntries(FunctionRole::Infer)[0]->name;
  if (!full->prepare(entry, diags))
    return failWithErrors("prepare the forward");
  std::vector<int32_t> tokens(text);
  tokens.resize(decoder.positions);
  auto bytes = [](auto &values) {
    return llvm::MutableArrayRef<uint8_t>(
        reinterpret_cast<uint8_t *>(values.data()),
        values.size() * sizeof(values[0]));
  };
  std::vector<int32_t> targets(decoder.positions);
  std::vector<llvm::ArrayRef<uint8_t>> in;
  for (const PackagedValue &input : full->package().findEntry(entry)->inputs)
    in.push_back(input.role == ValueRole::Target ? bytes(targets)
                                                 : bytes(tokens));
  logits.resize(size_t(decoder.vocabulary) * decoder.positions);
  float loss = 0;
  std::vector<llvm::MutableArrayRef<uint8_t>> out = {
      {reinterpret_cast<uint8_t *>(&loss), sizeof loss}, bytes(logits)};
  return full->run(entry, in, out, diags) || failWithErrors("run the forward");
}

/// Reads some tokens with the model, and compares their logits with those of
/// the whole text.
bool DecodeChecker::feed() {
  std::vector<TokenFeed> feeds;
  std::vector<std::vector<float>> results;
  std::vector<unsigned> sequences;
  for (unsigned sequence = 0; sequence < texts.size(); ++sequence)
    if (texts.size() == 1 || c.once(2))
      sequences.push_back(sequence);
  results.resize(sequences.size());
  std::vector<std::vector<int32_t>> tokens(sequences.size());
  for (auto [i, sequence] : llvm::enumerate(sequences)) {
    std::vector<int32_t> &text = texts[sequence];
    TokenFeed feed;
    feed.sequence = sequence;
    size_t kept = text.size();
    if (kept > 0 && (kept == model->positions() || c.once(4)))
      kept = c.pick(unsigned(kept));
    text.resize(kept);
    unsigned room = unsigned(model->positions() - kept);
    unsigned count = c.once(2) ? 1 : c.between(1, room);
    for (unsigned token = 0; token < count; ++token)
      tokens[i].push_back(int32_t(c.pick(decoder.vocabulary)));
    text.insert(text.end(), tokens[i].begin(), tokens[i].end());
    feed.keep = kept;
    feed.tokens = tokens[i];
    feed.wanted = c.once(3) ? count : c.pick(std::min(count + 1, 3u));
    results[i].resize(feed.wanted * decoder.vocabulary);
    feed.logits = results[i];
    feeds.push_back(feed);
  }
  if (!model->feed(feeds, diags))
    return failWithErrors("feed");
  return llvm::all_of(feeds,
                      [&](const TokenFeed &feed) { return compare(feed); });
}

/// Whether changes of the weights by a millionth move the logits of position
/// `at` by as much as a tenth of the tolerance.
bool DecodeChecker::moves(llvm::ArrayRef<int32_t> text, size_t at,
                          double largest) {
  std::vector<float> before = logits, weights;
  uint64_t state = seed;
  for (const NamedFloats &array : full->weights())
    for (float &element : array.elements) {
      weights.push_back(element);
      element *= splitMix(state += splitMixStep) & 1 ? 1 + 1e-6f : 1 - 1e-6f;
    }
  bool ok = full->weightsChanged(diags) && forward(text);
  const float *next = weights.data();
  for (const NamedFloats &array : full->weights())
    for (float &element : array.elements)
      element = *next++;
  if (!full->weightsChanged(diags) || !ok)
    return false;
  double moved = 0;
  for (unsigned id = 0; id < decoder.vocabulary; ++id) {
    size_t place = id * decoder.positions + at;
    moved = std::max<double>(moved, std::abs(logits[place] - before[place]));
  }
  logits = before;
  return moved / largest > tolerance / 10;
}

bool DecodeChecker::compare(const TokenFeed &feed) {
  const std::vector<int32_t> &text = texts[feed.sequence];
  if (!forward(text))
    return false;
  double largest = 1e-6;
  for (unsigned id = 0; id < decoder.vocabulary; ++id)
    for (size_t at = 0; at < text.size(); ++at)
      largest = std::max<double>(largest,
                                 std::abs(logits[id * decoder.positions + at]));
  for (size_t row = 0; row < feed.wanted; ++row) {
    size_t at = text.size() - feed.wanted + row;
    ++outcome.columns;
    for (unsigned id = 0; id < decoder.vocabulary; ++id) {
      double expected = logits[id * decoder.positions + at];
      double got = feed.logits[row * decoder.vocabulary + id];
      double error = std::abs(got - expected) / largest;
      if (error <= tolerance) {
        outcome.worst = std::max(outcome.worst, error);
        continue;
      }
      if (moves(text, at, largest)) {
        ++outcome.illConditioned;
        break;
      }
      if (!outcome.failure.empty())
        return false;
      llvm::raw_string_ostream(outcome.failure)
          << "logit " << id << " of position " << at << " of " << text.size()
          << " (" << feed.keep << " kept) is " << got << ", not " << expected;
      return false;
    }
  }
  return true;
}

DecodeOutcome DecodeChecker::run() {
  CompileOptions options;
  choosePrograms(options);
  CompileOptions whole;
  whole.train = false;
  whole.weightMode = WeightMode::Packed; // `moves` changes them
  if (!writeWeights())
    return outcome;
  full = open(whole, "the forward");
  session = full ? open(options, "the decoder") : nullptr;
  if (!session || !outcome.failure.empty())
    return outcome;
  IncrementalModelOptions how;
  if (options.passes.decode.batch == 1)
    how.sequences = c.once(3) ? c.between(1, 3) : 1;
  model = openIncrementalModel(*session, how, diags);
  if (!model) {
    failWithErrors("open the text model");
    return outcome;
  }
  texts.resize(model->sequences());
  for (unsigned feeds = c.between(2, 10); feeds > 0; --feeds)
    if (!feed())
      break;
  return outcome;
}

DecodeOutcome anec::fuzz::checkDecoder(const Decoder &decoder, Choices &choices,
                                       uint64_t seed) {
  return DecodeChecker(decoder, choices, seed).run();
}
