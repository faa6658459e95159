//===- TrainTrial.cpp - trains a model as a trial -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TrainTrial.h"
#include "ProbeOutcome.h"
#include "anec/API/Trainer.h"
#include "lib/Support/Timing.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace anec;
namespace json = llvm::json;

namespace {
using Weights = std::vector<std::vector<float>>;

/// What training on one backend gives.
struct Trained {
  std::vector<double> losses;       ///< of each step
  std::vector<std::string> weights; ///< their names
  Weights before, after;
  Timing steps;
};

/// How far a weight is from the one that the CPU backend trained.
struct Move {
  double difference = 0, length = 0; ///< squares of norms
  double largest = 0;                ///< the difference of an element

  void add(const Move &other) {
    difference += other.difference;
    length += other.length;
    largest = std::max(largest, other.largest);
  }
  /// As a share of how far training moved that one.
  ProbeError error() const {
    return {difference == 0 ? 0 : std::sqrt(difference / length), largest};
  }
};
} // namespace

// Losses may be off by 2 %. The first steps of AdamW move each element by the
// learning rate in the direction of its gradient, and rounding decides that of
// gradients near 0: a share of 0.3 is one direction in 44.
static constexpr double mostOfLoss = 0.02, mostOfMove = 0.3;

static Weights copyWeights(const ProgramSession &session) {
  Weights weights;
  for (const NamedFloats &weight : session.weights())
    weights.emplace_back(weight.elements.begin(), weight.elements.end());
  return weights;
}

/// A learning rate with which the loss falls from step to step, so that weights
/// that do not arrive show.
static TrainerOptions trainerOptions() {
  TrainerOptions options;
  options.hyper.emplace();
  options.hyper->learningRate = 0.01;
  options.hyper->warmup = 0;
  return options;
}

/// Trains `package` for some steps, of which each reads the weights that the
/// one before has written.
static std::optional<Trained> train(const ModelPackage &package,
                                    const ProgramSessionOptions &machine,
                                    Diagnostics &diags) {
  ProgramSessionOptions options = machine;
  options.weights.seed = 1;
  std::optional<ModelPackage> own = readAgain(package, diags);
  std::unique_ptr<ProgramSession> session =
      own ? ProgramSession::open(std::move(*own), options, diags) : nullptr;
  std::unique_ptr<Trainer> trainer =
      session ? Trainer::open(*session, trainerOptions(), diags) : nullptr;
  if (!trainer)
    return std::nullopt;
  // Any tokens: the next one is the target.
  constexpr int32_t length = 32;
  std::vector<int32_t> tokens, targets;
  for (int32_t i = 0; i < length; ++i) {
    tokens.push_back(37 * i % 256);
    targets.push_back(37 * (i + 1) % 256);
  }
  Trained trained;
  for (const NamedFloats &weight : session->weights())
    trained.weights.push_back(weight.name);
  trained.before = copyWeights(*session);
  for (unsigned step = 0; step < 4; ++step) {
    Stopwatch watch;
    auto record =
        trainer->step({{"tokens", tokens}, {"targets", targets}}, diags);
    if (!record)
      return std::nullopt;
    trained.steps.add(watch.milliseconds());
    trained.losses.push_back(record->loss);
  }
  trained.after = copyWeights(*session);
  return trained;
}

static Move compareWeight(llvm::ArrayRef<float> got,
                          llvm::ArrayRef<float> wanted,
                          llvm::ArrayRef<float> before) {
  Move move;
  for (size_t i = 0; i < got.size(); ++i) {
    double off = double(got[i]) - double(wanted[i]);
    double way = double(wanted[i]) - double(before[i]);
    move.difference += off * off;
    move.length += way * way;
    move.largest = std::max(move.largest, std::abs(off));
  }
  return move;
}

static bool areLossesRight(const Trained &got, const Trained &wanted) {
  return llvm::all_of(llvm::zip(got.losses, wanted.losses), [](auto both) {
    auto [loss, right] = both;
    return std::abs(loss - right) <= mostOfLoss * std::abs(right);
  });
}

static json::Array asNumbers(llvm::ArrayRef<double> values) {
  json::Array array;
  for (double value : values)
    array.push_back(asNumber(value));
  return array;
}

static json::Object compare(const Trained &got, const Trained &wanted,
                            double seconds) {
  Move all;
  json::Array wrong;
  for (size_t i = 0; i < wanted.after.size(); ++i) {
    Move move = compareWeight(got.after[i], wanted.after[i], wanted.before[i]);
    all.add(move);
    if (ProbeError error = move.error(); !(error.relative <= mostOfMove))
      wrong.push_back(json::Object{{"name", got.weights[i]},
                                   {"relative_error", asNumber(error.relative)},
                                   {"largest_error", asNumber(error.largest)}});
  }
  ProbeOutcome outcome{ProgramOutcome::Wrong, "", all.error()};
  if (!areLossesRight(got, wanted))
    outcome.message = "the losses differ";
  else if (outcome.error->relative <= mostOfMove)
    outcome.what = ProgramOutcome::Right;
  json::Object json = toJson(outcome, seconds);
  json["losses"] = asNumbers(got.losses);
  json["expected_losses"] = asNumbers(wanted.losses);
  if (outcome.what == ProgramOutcome::Wrong)
    json["outputs"] = std::move(wrong);
  json["measured"] = json::Object{{"median_ms", got.steps.median()},
                                  {"runs", int64_t(got.steps.size())}};
  return json;
}

/// Compiles the model. Returns nothing, with the reason reported, on failure.
static std::optional<ModelPackage>
compile(const Trial &trial, const Target &target, Diagnostics &diags) {
  const TrialProgram &program = programOf(trial);
  CompileOptions options;
  options.setTarget(target);
  std::string name = std::string(program.name) + "." + program.language;
  return compileModelText(program.text, name, options, /*folder=*/"", diags);
}

json::Object anec::trainTrial(const Trial &trial, const TrialOptions &options) {
  Stopwatch watch;
  auto seconds = [&] { return watch.milliseconds() / 1000; };
  Diagnostics diags;
  std::optional<ModelPackage> package =
      ::compile(trial, *options.target, diags);
  if (!package)
    return toJson({ProgramOutcome::NotTried, lastMessage(diags)}, seconds());
  std::optional<Trained> got = train(*package, options.session, diags);
  if (!got)
    return toJson(failedOutcome(diags), seconds());
  std::optional<Trained> wanted = train(*package, {}, diags);
  if (!wanted)
    return toJson({ProgramOutcome::Ran, lastMessage(diags)}, seconds());
  return compare(*got, *wanted, seconds());
}
