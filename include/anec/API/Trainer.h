//===- Trainer.h - trains a session step by step ----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Trains the weights of a session with AdamW on the caller's data:
///
///   auto trainer = anec::Trainer::open(*session, {}, diags);
///   for (...)
///     if (!trainer || !trainer->step({{"tokens", tokens},
///                                     {"targets", targets}}, diags))
///       return diags.print(llvm::errs());
///
/// `anec::train` is the whole loop, with data from files and with checkpoints.
/// Its steps are bit-identical to steps here.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_API_TRAINER_H
#define ANEC_API_TRAINER_H

#include "anec/API/ProgramSession.h"
#include "anec/Train/GradientStep.h"

namespace anec {

struct TrainerOptions {
  /// The entry that computes the loss and gradients; empty for the only one.
  std::string entry;
  /// Unset: defaultHyperparameters of the session's numerics. `batch` is
  /// ignored: the number of calls of accumulate determines the runs of a step.
  std::optional<Hyperparameters> hyper;
  /// Seed of the random masks.
  uint64_t seed = 0;
};

class Trainer {
public:
  /// Returns null, with the reason reported, when `session` has no entry that
  /// trains or a hyperparameter is out of range. `session` must outlive the
  /// trainer.
  [[nodiscard]] static std::unique_ptr<Trainer>
  open(ProgramSession &session, const TrainerOptions &options,
       Diagnostics &diags);
  ~Trainer();

  llvm::StringRef entry() const;

  /// Runs forward and backward once and adds the gradients to those of this
  /// step. Returns the loss, which may be infinite or NaN. `inputs` are those
  /// of the entry without the loss scale, which the trainer sets, and without
  /// random masks, which it draws unless they are given. Returns nothing, with
  /// the reason reported, when an input does not fit or the machine failed; all
  /// runs of the step are then discarded.
  [[nodiscard]] std::optional<float>
  accumulate(llvm::ArrayRef<InputArray> inputs, Diagnostics &diags);
  /// Ends the step: updates the weights with the mean of the gradients of its
  /// runs, and copies them to where they are read. A step whose gradients are
  /// not finite changes nothing, lowers the loss scale and is `skipped`.
  /// Returns nothing, with the reason reported, when there was no run, when no
  /// finite gradients can be expected any more, or when the machine failed.
  [[nodiscard]] std::optional<StepRecord> update(Diagnostics &diags);
  /// Calls accumulate and update: a step of one run.
  [[nodiscard]] std::optional<StepRecord>
  step(llvm::ArrayRef<InputArray> inputs, Diagnostics &diags);

  /// The hyperparameters of the next step; they can be changed.
  Hyperparameters &hyperparameters();
  /// AdamW's moments: `attention.3.wq.m` and `.v`, sorted by name.
  llvm::ArrayRef<NamedFloats> moments() const;
  /// The number of trained parameters.
  uint64_t parameters() const;

private:
  struct State;
  explicit Trainer(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace anec

#endif // ANEC_API_TRAINER_H
