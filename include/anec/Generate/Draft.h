//===- Draft.h - guesses at the tokens that follow --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Speculative decoding: a draft guesses a few tokens, and the model computes
/// the logits of all of them in one step. Guesses that the model would not have
/// made are replaced so that the distribution of texts is the model's own
/// (Sampler::verify).
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_GENERATE_DRAFT_H
#define ANEC_GENERATE_DRAFT_H

#include "anec/Generate/Sampler.h"
#include "anec/Generate/SlidingWindow.h"
#include "anec/Generate/TextModel.h"

namespace anec {

/// A guess, and what it was drawn from.
struct DraftToken {
  int32_t id = 0;
  TokenDistribution from;
};

struct DraftRequest {
  unsigned sequence = 0; ///< below Draft::sequences()
  llvm::ArrayRef<int32_t> text;
  /// Whether the text has just begun, so that it does not go on from the one
  /// before it in the sequence.
  bool isNew = false;
  size_t keep = 0;       ///< first tokens that stay in a window that slides
  size_t count = 0;      ///< guesses, at most
  size_t vocabulary = 0; ///< ids that can be guessed
};

class Draft {
public:
  virtual ~Draft();
  /// How many texts it can follow at the same time.
  virtual unsigned sequences() const = 0;
  /// Appends guesses at what follows a text to `tokens`, drawn by `sampler`.
  /// Returns false, with the reason reported, on failure.
  [[nodiscard]] virtual bool propose(const DraftRequest &request,
                                     Sampler &sampler,
                                     std::vector<DraftToken> &tokens,
                                     Diagnostics &diags) = 0;
};

/// Guesses with a smaller model of the same vocabulary.
class ModelDraft : public Draft {
public:
  /// `model` must outlive the draft.
  explicit ModelDraft(TextModel &model);
  unsigned sequences() const override { return model.sequences(); }
  [[nodiscard]] bool propose(const DraftRequest &request, Sampler &sampler,
                             std::vector<DraftToken> &tokens,
                             Diagnostics &diags) override;

private:
  TextModel &model;
  std::vector<SlidingWindow> windows; ///< of the sequences
  std::vector<float> logits;
};

/// Guesses that what followed the last tokens before follows again. Of the
/// earlier places that the text's last three tokens, or else two, or one, are
/// at, the last one counts.
class LookupDraft : public Draft {
public:
  unsigned sequences() const override { return ~0u; }
  [[nodiscard]] bool propose(const DraftRequest &request, Sampler &sampler,
                             std::vector<DraftToken> &tokens,
                             Diagnostics &diags) override;
};

} // namespace anec

#endif // ANEC_GENERATE_DRAFT_H
