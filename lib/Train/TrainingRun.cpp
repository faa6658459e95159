//===- TrainingRun.cpp - a run from its first step to its last ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TrainingRun.h"
#include "anec/Train/GradientStep.h"
#include "lib/Package/AdapterBase.h"
#include "lib/Train/Diags.h"
#include "lib/Train/RunTokenizer.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <numeric>

using namespace anec;

static std::string formatted(const char *format, auto... values) {
  std::string line;
  llvm::raw_string_ostream(line) << llvm::format(format, values...);
  return line;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

bool TrainingRun::findState(const ModelPackage &package) {
  if (!folder->hasCheckpoint()) {
    if (options.resume && !options.beginsIfNew)
      progress.say("no checkpoint yet: the run begins anew");
    state = newState(options);
    state.config = package.config;
    llvm::sort(state.config);
    state.packageDigest = digestOf(package);
    return true;
  }
  begun = readCheckpoint(options.checkpoint, diags);
  if (!begun)
    return false;
  state = begun->state;
  return adoptState(state, options, package, begun->folder, diags);
}

/// The training step that was asked for, or that the checkpoint is of.
bool TrainingRun::findEntry(const ModelPackage &package) {
  if (!model.inspect(
          package, options.entry.empty() ? state.entry : options.entry, diags))
    return false;
  state.entry = model.entry().str();
  state.positions = positionsOf(*package.findEntry(state.entry));
  return true;
}

/// A resumed run uses its own tokenizer by default.
std::string TrainingRun::tokenizerPath() const {
  return options.tokenizer.empty() && begun
             ? tokenizerOfRun(options.checkpoint, state.tokenizer)
             : options.tokenizer;
}

bool TrainingRun::openValidationData() {
  if (options.validationData.empty())
    return true;
  validation = openTrainingData({options.validationData,
                                 {},
                                 tokenizerPath(),
                                 /*without=*/options.checkpoint,
                                 options.package},
                                model, diags);
  if (!validation || validation->count() >= validation->perRun())
    return validation != nullptr;
  validation->reportTooFew(/*validates=*/false, diags);
  return false;
}

bool TrainingRun::openData() {
  data = openTrainingData({options.data, options.inputs, tokenizerPath(),
                           /*without=*/options.checkpoint, options.package},
                          model, diags);
  if (!data || !openValidationData() ||
      (begun &&
       !checkData(state, *data, validation.get(), begun->folder, diags)))
    return false;
  state.validationFingerprint = validation ? validation->fingerprint() : "";
  state.tokens = data->size();
  state.dataFingerprint = data->fingerprint();
  state.tokenizer = data->tokenizer();
  order = DataOrder::divide(data->count(), data->perRun(),
                            state.validationShare, state.seed);
  if (!order) {
    data->reportTooFew(state.validationShare > 0, diags);
    return false;
  }
  if (order->has(state.position))
    return true;
  // The data is that of the checkpoint, so its state is wrong.
  diags.reportFile(begun->folder, diag::DamagedCheckpoint,
                   "`data.window` is " + std::to_string(state.position.window) +
                       ", and an epoch has " +
                       std::to_string(order->trainingCount()));
  return false;
}

/// Notes which weights are not trained, and are left out of checkpoints.
bool TrainingRun::findBase(const ModelPackage &package,
                           const WeightOptions &weights) {
  if (!hasFrozenWeights(package))
    return true;
  WeightOptions stored = weights;
  if (weights.source.empty() && !weights.seed) {
    stored.source = package.pathOf(package.values);
    stored.contents = package.contents.lookup(package.values);
  }
  // Has the names of the arrays, as for the session.
  if (stored.program.empty()) {
    stored.program = package.folder;
    stored.programMap = package.contents.lookup(packagedWeightMap);
  }
  std::optional<WeightBinding> values = WeightBinding::open(stored, diags);
  std::optional<std::string> digest =
      values ? digestOfBase(package, *values, diags) : std::nullopt;
  state.base = digest.value_or("");
  return digest.has_value();
}

bool TrainingRun::openModel(ModelPackage package) {
  SessionOptions session;
  session.load = options.load;
  session.load.workspace = workspace;
  session.load.numerics = *parseWord<Numerics>(state.numerics);
  session.weights = options.weights;
  session.recompute = options.recompute;
  // Without any, those in the package, and else new ones.
  bool given = !session.weights.source.empty() || session.weights.seed;
  if (!given && package.values.empty() &&
      package.weightMode == WeightMode::Packed)
    session.weights.seed = state.seed;
  if (begun && state.base.empty()) {
    session.weights = {};
    session.weights.source = begun->weights();
  } else if (begun) {
    session.weights.adapter = begun->weights();
  } else if (!findBase(package, session.weights)) {
    return false;
  }
  checkpoints->describe(package.facts, state.base);
  if (!model.open(std::move(package), backend, session, diags))
    return false;
  optimizer = std::make_unique<AdamW>(model.weights().trainedWeights(),
                                      model.weights().gradients(),
                                      workspace->executor());
  return !begun || loadMoments(*begun, optimizer->moments(), diags);
}

/// Whether the batch divides evenly among all processes.
bool TrainingRun::checkShare() {
  if (uint64_t(state.hyper.batch) % together.size() == 0)
    return true;
  diags.report({}, diag::UnevenBatch, uint64_t(state.hyper.batch),
               together.size());
  return false;
}

/// "4640 frozen, ", or nothing.
static std::string frozenWords(const ModelPackage &package) {
  uint64_t frozen = 0;
  for (const PackagedWeight &weight : package.weights)
    if (weight.frozen)
      frozen += weight.arrays().size() * uint64_t(weight.type.numElements());
  return frozen ? std::to_string(frozen) + " frozen, " : "";
}

bool TrainingRun::open() {
  folder = together.isFirst() ? RunFolder::open(options, diags)
                              : RunFolder::look(options);
  if (!folder)
    return false;
  checkpoints.emplace(folder->folder(), options.keep);
  if (together.isFirst())
    checkpoints->clean(diags);
  // Before other processes look for checkpoints.
  together.meet();
  std::optional<ModelPackage> package = readPackage(options.package, diags);
  if (!package || !findState(*package) ||
      !checkHyperparameters(state.hyper, diags) ||
      !checkRates(state.hyper, diags) || !findEntry(*package) ||
      !checkShare() || !openData())
    return false;
  // From here on the run can be resumed.
  if (together.isFirst())
    log = TrainLog::open(folder->folder(), "train.jsonl", state.step, diags);
  if (together.isFirst() &&
      (!log || !keepTokenizer(folder->folder(), state.tokenizer, diags)))
    return false;
  if (!openModel(std::move(*package)))
    return false;
  firstStep = saved = state.step;
  progress.say(llvm::Twine(optimizer->parameters()) + " parameters, " +
               frozenWords(model.weights().package()) +
               llvm::Twine(data->size()) + " " + spelling(data->unit()) + ": " +
               data->describe(*order) +
               (validation ? ", " + std::to_string(validation->size()) + " " +
                                 spelling(validation->unit()).str() +
                                 " of other data to validate"
                           : ""));
  if (begun)
    progress.say("resumed from " + begun->folder);
  return true;
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

void TrainingRun::addTo(std::vector<double> &sums, float loss) const {
  sums[0] += loss;
  for (size_t index = 1; index < sums.size(); ++index)
    sums[index] += model.metric(index - 1);
}

std::vector<std::pair<std::string, double>>
TrainingRun::meanMetrics(llvm::ArrayRef<double> sums, double count) const {
  std::vector<std::pair<std::string, double>> means;
  for (auto [index, name] : llvm::enumerate(model.metricNames()))
    means.emplace_back(name, sums[index + 1] / count);
  return means;
}

bool TrainingRun::runAll(StepRecord &record) {
  std::vector<double> sums(1 + model.metricNames().size());
  Gradients gradients = Gradients::Replace;
  uint64_t count = uint64_t(state.hyper.batch);
  // Gradients are summed over processes while the backward continues.
  auto ready = [&](llvm::MutableArrayRef<float> gradient) {
    together.beginSum(gradient);
  };
  for (uint64_t i = 0; i < count; ++i) {
    if (!finishIfReady())
      return false;
    clock.mark();
    llvm::ArrayRef<uint64_t> examples = order->next(state.position);
    if (i % together.size() != together.rank())
      continue;
    data->read(examples, model.buffers());
    model.drawMasks({state.seed, record.step, i});
    clock.addFiles("data");
    float scale = float(state.lossScale.factor);
    bool isLast = i + together.size() >= count;
    std::optional<float> loss = isLast
                                    ? model.run(scale, gradients, diags, ready)
                                    : model.run(scale, gradients, diags);
    if (!loss)
      return false;
    clock.addKernels(model.times());
    addTo(sums, *loss);
    gradients = Gradients::Add;
  }
  clock.mark();
  together.finishSums();
  if (together.size() > 1)
    clock.addOptimizer("gradients of all processes");
  sums.push_back(isAsked());
  together.sum(sums);
  stopIsAgreed = sums.back() > 0;
  record.loss = sums[0] / state.hyper.batch;
  record.metrics = meanMetrics(sums, state.hyper.batch);
  return true;
}

bool TrainingRun::update(StepRecord &record) {
  clock.mark();
  bool ok = measureGradients(*optimizer, state.hyper, state, record, diags);
  clock.addOptimizer("gradient norm");
  if (!ok)
    return false;
  if (record.skipped)
    return true;
  aboutToChangeWeights();
  clock.mark();
  applyGradients(*optimizer, state.hyper, state, record);
  clock.addOptimizer("AdamW");
  // The weights are correct and in the checkpoint; only this process cannot
  // load them.
  if (options.restart && together.size() == 1 &&
      !model.weights().canTakeWeights()) {
    options.restart->isNeeded = true;
    return true;
  }
  if (!model.weights().weightsChanged(diags))
    return false;
  clock.addOptimizer("weights to kernels");
  return true;
}

bool TrainingRun::step(StepRecord &record) {
  record.step = state.step + 1;
  clock.begin(record.step);
  if (!runAll(record) || !update(record))
    return false;
  state.step = record.step;
  state.loss =
      std::isfinite(record.loss) ? std::optional(record.loss) : std::nullopt;
  record.epoch = state.position.epoch;
  record.units = uint64_t(double(state.step) * unitsPerStep());
  record.unit = data->unit();
  clock.end(record);
  times.steps.add(record.ms * 1e-3);
  return true;
}

uint64_t TrainingRun::validationRuns() const {
  return validation ? validation->count() / validation->perRun()
                    : order->validationRuns();
}

void TrainingRun::readValidation(uint64_t run) {
  if (!validation) {
    data->read(order->validationRun(run), model.buffers());
    return;
  }
  std::vector<uint64_t> examples(validation->perRun());
  std::iota(examples.begin(), examples.end(), run * examples.size());
  validation->read(examples, model.buffers());
}

/// The mean loss and metrics of validation runs, spread evenly over all of
/// them.
bool TrainingRun::validate(StepRecord &record) {
  uint64_t count = validationRuns();
  uint64_t taken = options.validationWindows
                       ? std::min(options.validationWindows, count)
                       : count;
  if (!taken)
    return true;
  auto begin = StepClock::Clock::now();
  model.clearMasks();
  std::vector<double> sums(1 + model.metricNames().size());
  for (uint64_t i = together.rank(); i < taken; i += together.size()) {
    readValidation(i * count / taken);
    std::optional<float> loss = model.run(1, Gradients::None, diags);
    if (!loss)
      return false;
    addTo(sums, *loss);
  }
  together.sum(sums);
  double mean = sums[0] / double(taken);
  record.validationLoss = mean;
  record.validationMetrics = meanMetrics(sums, double(taken));
  state.validationLoss =
      std::isfinite(mean) ? std::optional(mean) : std::nullopt;
  double seconds = StepClock::secondsSince(begin);
  record.validationMs = seconds * 1e3;
  times.validations.add(seconds);
  return true;
}

//===----------------------------------------------------------------------===//
// All steps
//===----------------------------------------------------------------------===//

/// Does what the process before this one left to it: validates its last step.
bool TrainingRun::validateFirst() {
  StepRecord record;
  record.step = state.step;
  if (!validate(record))
    return false;
  keepBest(state);
  return !log || log->addValidation(record, diags);
}

/// Validates, unless the next process does.
bool TrainingRun::validateOrLeave(StepRecord &record, bool isDue) {
  if (needsRestart()) {
    options.restart->step = state.step;
    options.restart->validates = isDue;
    return true;
  }
  return !isDue || validate(record);
}

bool TrainingRun::loop() {
  bool ok = runSteps();
  // A run that fails leaves the checkpoint before.
  if (!finishCheckpoint() || !ok)
    return false;
  if (!needsRestart())
    summarize(StepClock::secondsSince(begin));
  return true;
}

bool TrainingRun::runSteps() {
  times = RunTimes({options.steps, options.validateEvery, options.saveEvery,
                    /*validates=*/validationRuns() > 0});
  if (options.validateFirst && !validateFirst())
    return false;
  progress.start(state.step, options.steps, uint64_t(unitsPerStep()),
                 data->unit());
  begin = StepClock::Clock::now();
  while (state.step < options.steps && !isStopped() && !needsRestart() &&
         !isOutOfPatience()) {
    StepRecord record;
    if (!step(record) || !finishIfReady())
      return false;
    addCheckpointTimes(record);
    bool isLast = state.step == options.steps;
    state.validationLoss = std::nullopt;
    if (!validateOrLeave(record, isDue(options.validateEvery) || isLast))
      return false;
    if (log && !log->add(record, diags))
      return false;
    progress.show(record, times);
    if (!watchLoss(record))
      return false;
    if (isDue(options.saveEvery) && !save())
      return false;
    if (isTraced() && !clock.isTracing() &&
        state.step == firstStep + options.profiledSteps &&
        !clock.trace().write(options.profile, diags))
      return false;
  }
  return save() && (!isTraced() || !clock.isTracing() ||
                    clock.trace().write(options.profile, diags));
}

void TrainingRun::summarize(double seconds) {
  uint64_t done = state.step - firstStep;
  if (isOutOfPatience())
    progress.say("stopped at step " + llvm::Twine(state.step) + ": " +
                 llvm::Twine(state.sinceBest) +
                 " validations without a lower loss than that of step " +
                 llvm::Twine(state.bestStep));
  else if (state.step < options.steps)
    progress.say("stopped at step " + llvm::Twine(state.step) +
                 "; --resume goes on");
  else if (!done)
    progress.say("all " + llvm::Twine(state.step) + " steps were done already");
  if (!done)
    return;
  if (together.size() > 1)
    progress.say(llvm::Twine(together.size()) +
                 " processes, gradients added during the backward");
  double runs = double(done) * state.hyper.batch;
  std::string others = times.others();
  if (!others.empty())
    others = " with " + others;
  progress.say(
      llvm::Twine(done) + formatted(" steps in %.1f s", seconds) + others +
      formatted(": %.0f %s/s, %.1f ms/step, ",
                double(done) * unitsPerStep() / times.steps.seconds,
                spelling(data->unit()).data(), times.steps.mean() * 1e3) +
      formatted("%.4f TFLOP/s in steps; measured on this machine with the %s "
                "backend",
                runs * model.flops() / times.steps.seconds * 1e-12,
                backend.name().str().c_str()));
  std::string losses;
  if (state.loss)
    losses = formatted("loss %.4f", *state.loss);
  if (state.validationLoss)
    losses += formatted(", validation loss %.4f", *state.validationLoss);
  if (state.bestLoss)
    losses += formatted(" (best %.4f, step ", *state.bestLoss) +
              std::to_string(state.bestStep) + ")";
  progress.say(losses);
  progress.say("checkpoint, train.jsonl and loss.svg in " + options.checkpoint);
}

bool anec::train(const TrainOptions &options, Backend &backend,
                 Progress &progress, Diagnostics &diags) {
  TrainingRun run(options, backend, progress, diags);
  return run.open() && run.loop();
}
