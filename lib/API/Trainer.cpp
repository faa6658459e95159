//===- Trainer.cpp - trains a session step by step ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/API/Trainer.h"
#include "lib/API/Diags.h"
#include "lib/Package/MaskDraw.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>
#include <deque>

using namespace anec;

struct Trainer::State {
  State(ProgramSession &session, std::string entry, Hyperparameters hyper)
      : session(session), entry(std::move(entry)), hyper(hyper),
        optimizer(session.trainedWeights(), session.gradients(),
                  session.executor()) {
    step.lossScale.factor = hyper.lossScale;
  }

  ProgramSession &session;
  std::string entry, scale, loss;
  uint64_t seed = 0;
  Hyperparameters hyper;
  AdamW optimizer;
  StepState step;
  uint64_t steps = 0;
  unsigned runs = 0; ///< runs of this step so far
  double losses = 0; ///< the sum of their losses
};

Trainer::Trainer(std::unique_ptr<State> state) : state(std::move(state)) {}
Trainer::~Trainer() = default;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static bool areValid(const Hyperparameters &hyper, Diagnostics &diags) {
  // Without a decay, the default of its end may be above the rate.
  return checkHyperparameters(hyper, diags) &&
         (hyper.decaySteps == 0 || checkRates(hyper, diags));
}

/// Says why there is no entry `name` to train, which is empty where nobody
/// chose one.
static void reportNoEntry(const ProgramSession &session, llvm::StringRef name,
                          Diagnostics &diags) {
  std::string all = "`" + llvm::join(session.entries(), "`, `") + "`";
  auto trains = [&](llvm::StringRef entry) { return session.trains(entry); };
  if (name.empty() && llvm::any_of(session.entries(), trains))
    diags.report({}, diag::NoDefaultEntry, all);
  else if (name.empty())
    diags.report({}, diag::NoTrainingEntry, all);
  else
    diags.report({}, diag::NotATrainingEntry, name, all);
}

std::unique_ptr<Trainer> Trainer::open(ProgramSession &session,
                                       const TrainerOptions &options,
                                       Diagnostics &diags) {
  std::string name = options.entry.empty()
                         ? session.defaultEntry(/*trains=*/true).str()
                         : options.entry;
  const PackagedEntry *entry = session.findEntry(name);
  std::optional<size_t> scale, loss;
  if (entry && entry->role == FunctionRole::Train) {
    scale = entry->inputOf(ValueRole::LossScale);
    loss = entry->outputOf(ValueRole::Loss);
  }
  if (!scale || !loss) {
    reportNoEntry(session, name, diags);
    return nullptr;
  }
  Hyperparameters hyper =
      options.hyper.value_or(defaultHyperparameters(session.numerics()));
  if (!areValid(hyper, diags) || !session.prepare(name, diags))
    return nullptr;
  auto state = std::make_unique<State>(session, name, hyper);
  state->scale = entry->inputs[*scale].name;
  state->loss = entry->outputs[*loss].name;
  state->seed = options.seed;
  return std::unique_ptr<Trainer>(new Trainer(std::move(state)));
}

llvm::StringRef Trainer::entry() const { return state->entry; }

Hyperparameters &Trainer::hyperparameters() { return state->hyper; }

llvm::ArrayRef<NamedFloats> Trainer::moments() const {
  return state->optimizer.moments();
}

uint64_t Trainer::parameters() const { return state->optimizer.parameters(); }

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

std::optional<float> Trainer::accumulate(llvm::ArrayRef<InputArray> inputs,
                                         Diagnostics &diags) {
  float scale = float(state->step.lossScale.factor), loss = 0;
  llvm::SmallVector<InputArray> all(inputs);
  all.emplace_back(state->scale, llvm::ArrayRef(scale));
  std::deque<std::vector<uint8_t>> masks;
  MaskDraw draw{state->seed, state->steps + 1, state->runs};
  const PackagedEntry &entry = *state->session.findEntry(state->entry);
  for (auto [index, input] : llvm::enumerate(entry.inputs)) {
    bool isGiven = llvm::any_of(inputs, [&, &input = input](const auto &array) {
      return array.name == input.name;
    });
    if (!input.mask || isGiven)
      continue;
    std::vector<uint8_t> &mask = masks.emplace_back(input.type.numBytes());
    draw.draw(*input.mask, input.type, index, mask);
    all.emplace_back(input.name, input.type.dtype, mask.data(), mask.size());
  }
  if (!state->session.run(state->entry, all,
                          {{state->loss, llvm::MutableArrayRef(loss)}}, diags,
                          state->runs ? Gradients::Add : Gradients::Replace)) {
    state->runs = 0;
    return std::nullopt;
  }
  state->losses = state->runs ? state->losses + loss : loss;
  ++state->runs;
  return loss;
}

std::optional<StepRecord> Trainer::update(Diagnostics &diags) {
  if (!state->runs) {
    diags.report({}, diag::NothingAccumulated);
    return std::nullopt;
  }
  StepRecord record;
  record.step = ++state->steps;
  state->hyper.batch = std::exchange(state->runs, 0);
  record.loss = state->losses / state->hyper.batch;
  if (!measureGradients(state->optimizer, state->hyper, state->step, record,
                        diags))
    return std::nullopt;
  if (record.skipped)
    return record;
  applyGradients(state->optimizer, state->hyper, state->step, record);
  if (!state->session.weightsChanged(diags))
    return std::nullopt;
  return record;
}

std::optional<StepRecord> Trainer::step(llvm::ArrayRef<InputArray> inputs,
                                        Diagnostics &diags) {
  if (!accumulate(inputs, diags))
    return std::nullopt;
  return update(diags);
}
