//===- Trainer.h - trains a session step by step ---------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// AdamW over the weights of a session, with the caller's data:
///
///   auto trainer = anec::Trainer::open(*session, {}, diags);
///   for (...)
///     auto record =
///         trainer->step({{"tokens", tokens}, {"targets", targets}}, diags);
///
/// `anec::train` is the whole loop, with data from files and checkpoints; a
/// step here is a step there, bit for bit.
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
  /// Unset: defaultHyperparameters of the session's numerics. `batch` is not
  /// looked at: a step has as many runs as it is given.
  std::optional<Hyperparameters> hyper;
};

class Trainer {
public:
  /// Null, with the reason reported, when `session` has no entry that trains,
  /// or a hyperparameter is out of range. `session` has to outlive the trainer.
  static std::unique_ptr<Trainer> open(ProgramSession &session,
                                       const TrainerOptions &options,
                                       Diagnostics &diags);
  ~Trainer();

  llvm::StringRef entry() const;

  /// Runs forward and backward once and adds the gradients to those of this
  /// step: the loss, which may not be finite. `inputs` are those of the entry,
  /// but for the loss's scale, which is the trainer's. Nothing, with the reason
  /// reported, when they do not fit or the machine failed; the step is then as
  /// it was before its first run.
  std::optional<float> accumulate(llvm::ArrayRef<InputArray> inputs,
                                  Diagnostics &diags);
  /// Ends the step: changes the weights by the mean of the gradients since the
  /// last one, and brings them to where they are read. A step whose gradients
  /// are not finite changes nothing, lowers the loss's scale and is `skipped`.
  /// Nothing, with the reason reported, when there was no run, when nothing
  /// finite will come any more, or when the machine failed.
  std::optional<StepRecord> update(Diagnostics &diags);
  /// Both, for a step of one run.
  std::optional<StepRecord> step(llvm::ArrayRef<InputArray> inputs,
                                 Diagnostics &diags);

  /// Those of the next step.
  Hyperparameters &hyperparameters();
  /// AdamW's moments: `attention.3.wq.m` and `.v`, sorted by name.
  llvm::ArrayRef<NamedFloats> moments() const;
  /// How many numbers are trained.
  uint64_t parameters() const;

private:
  struct State;
  explicit Trainer(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace anec

#endif // ANEC_API_TRAINER_H
