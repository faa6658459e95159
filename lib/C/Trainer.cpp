//===- Trainer.cpp - training by the C API --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "lib/Support/Interruption.h"

using namespace anec;
using namespace anec::c;

//===----------------------------------------------------------------------===//
// Hyperparameters
//===----------------------------------------------------------------------===//

static anec_hyperparameters defaults(Numerics numerics) {
  Hyperparameters hyper = defaultHyperparameters(numerics);
  return {sizeof(anec_hyperparameters),
          hyper.learningRate,
          hyper.minLearningRate,
          hyper.warmup,
          hyper.decaySteps,
          hyper.beta1,
          hyper.beta2,
          hyper.epsilon,
          hyper.weightDecay,
          hyper.clip,
          hyper.lossScale,
          hyper.lossScaleGrowth,
          TrainerOptions().seed};
}

static Hyperparameters read(const anec_hyperparameters &given) {
  Hyperparameters hyper;
  hyper.learningRate = given.learning_rate;
  hyper.minLearningRate = given.min_learning_rate;
  hyper.warmup = given.warmup;
  hyper.decaySteps = given.decay_steps;
  hyper.beta1 = given.beta1;
  hyper.beta2 = given.beta2;
  hyper.epsilon = given.epsilon;
  hyper.weightDecay = given.weight_decay;
  hyper.clip = given.clip;
  hyper.lossScale = given.loss_scale;
  hyper.lossScaleGrowth = given.loss_scale_growth;
  return hyper;
}

anec_status anec_hyperparameters_init(anec_hyperparameters *out,
                                      size_t struct_size,
                                      anec_numerics numerics) {
  std::optional<Numerics> known = numericsOf(numerics);
  return known ? init(out, struct_size, defaults(*known)) : ANEC_USAGE_ERROR;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

anec_status anec_trainer_open(anec_session *session, const char *entry,
                              const anec_hyperparameters *hyper,
                              anec_trainer **out, anec_diagnostics *diags) try {
  if (out)
    *out = nullptr;
  if (!session || !out)
    return Call(diags).refuseNull(session ? "out" : "session");
  Call call(diags, session->diags.get());
  TrainerOptions options;
  options.entry = orEmpty(entry).str();
  if (hyper) {
    std::optional<anec_hyperparameters> given =
        take(hyper, defaults(session->session->numerics()));
    if (!given)
      return call.refuse("hyper", badSize);
    options.hyper = read(*given);
    options.seed = given->seed;
  }
  std::unique_ptr<Trainer> trainer =
      Trainer::open(*session->session, options, call.diagnostics());
  if (trainer)
    *out = new anec_trainer{session, std::move(trainer)};
  return call.end(*out != nullptr);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

void anec_trainer_destroy(anec_trainer *trainer) { delete trainer; }

static void giveStep(const StepRecord &record, anec_step *out) {
  if (out)
    give({sizeof(anec_step), record.step, record.loss, record.gradientNorm,
          record.learningRate, record.lossScale, record.skipped},
         out);
}

anec_status anec_trainer_accumulate(anec_trainer *trainer,
                                    const anec_input *inputs,
                                    size_t input_count, float *loss,
                                    anec_diagnostics *diags) try {
  if (!trainer)
    return Call(diags).refuseNull("trainer");
  Call call(diags, trainer->session->diags.get());
  anec_status status = ANEC_OK;
  auto in = readInputs(inputs, input_count, call, status);
  if (!in)
    return status;
  trainer->session->isInterrupted = false;
  Interruption scope(trainer->session->isInterrupted);
  std::optional<float> result =
      trainer->trainer->accumulate(*in, call.diagnostics());
  if (result && loss)
    *loss = *result;
  return call.end(result.has_value());
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

anec_status anec_trainer_update(anec_trainer *trainer, anec_step *out,
                                anec_diagnostics *diags) try {
  if (!trainer)
    return Call(diags).refuseNull("trainer");
  Call call(diags, trainer->session->diags.get());
  if (out && !canGive(out))
    return call.refuse("out", badSize);
  std::optional<StepRecord> record =
      trainer->trainer->update(call.diagnostics());
  if (record)
    giveStep(*record, out);
  return call.end(record.has_value());
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

anec_status anec_trainer_step(anec_trainer *trainer, const anec_input *inputs,
                              size_t input_count, anec_step *out,
                              anec_diagnostics *diags) try {
  if (!trainer)
    return Call(diags).refuseNull("trainer");
  Call call(diags, trainer->session->diags.get());
  if (out && !canGive(out))
    return call.refuse("out", badSize);
  anec_status status = ANEC_OK;
  auto in = readInputs(inputs, input_count, call, status);
  if (!in)
    return status;
  std::optional<StepRecord> record =
      trainer->trainer->step(*in, call.diagnostics());
  if (record)
    giveStep(*record, out);
  return call.end(record.has_value());
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}
