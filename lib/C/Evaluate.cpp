//===- Evaluate.cpp - losses of a text by the C API -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TextHandles.h"
#include "lib/Generate/Diags.h"
#include "lib/Train/Diags.h"
#include <atomic>

using namespace anec;
using namespace anec::c;

anec_status anec_evaluate_options_init(anec_evaluate_options *options,
                                       size_t struct_size) {
  return init(options, struct_size);
}

static anec_evaluation resultOf(const Evaluation &evaluation) {
  anec_evaluation result = {};
  result.windows = evaluation.windows;
  result.tokens = evaluation.loss.count();
  result.loss = evaluation.loss.mean();
  result.loss_error = evaluation.loss.standardError();
  result.perplexity = evaluation.perplexity();
  result.seconds = evaluation.seconds;
  result.is_interrupted = evaluation.isInterrupted;
  if (const auto &baseline = evaluation.baseline) {
    result.baseline_loss = baseline->loss.mean();
    result.loss_change = baseline->lossChange.mean();
    result.loss_change_error = baseline->lossChange.standardError();
    result.divergence = baseline->divergence.mean();
    result.divergence_error = baseline->divergence.standardError();
    result.agreements = baseline->agreements;
  }
  return result;
}

anec_status anec_session_evaluate(anec_session *session,
                                  const anec_tokenizer *tokenizer,
                                  const anec_evaluate_options *options,
                                  anec_evaluate_callback callback, void *user,
                                  anec_evaluation *out,
                                  anec_diagnostics *diags) try {
  if (!session)
    return Call(diags).refuseNull("session");
  Call call(diags, session->diags.get());
  if (!options)
    return call.refuseNull("options");
  std::optional<anec_evaluate_options> given =
      take(options, anec_evaluate_options{});
  if (!given)
    return call.refuse("options", badSize);
  if (!canGive(out))
    return out ? call.refuse("out", badSize) : call.refuseNull("out");
  if (given->baseline == session)
    return call.refuse("baseline", "it is the session itself");
  if (given->window && given->stride > given->window)
    return call.refuse("stride", "it is at most `window`");
  anec_status status = ANEC_OK;
  std::optional<std::vector<std::string>> paths =
      readPaths(given->paths, given->path_count, call, status);
  if (!paths)
    return status;

  Diagnostics &own = call.diagnostics();
  std::unique_ptr<TextModel> model = session->session->openTextModel("", own);
  if (!model)
    return call.end(false);
  EvaluateOptions read;
  std::unique_ptr<TextModel> baseline;
  if (given->baseline) {
    baseline = given->baseline->session->openTextModel("", own);
    if (!baseline)
      return call.end(false);
    read.baseline = baseline.get();
  }
  std::unique_ptr<Tokenizer> bytes;
  const Tokenizer *used = tokenizerOf(tokenizer, bytes, own);
  std::optional<TokenData> data =
      TokenData::open(*paths, "", *used, int64_t(model->vocabulary()), own);
  if (!data)
    return call.end(false);
  read.window = given->window;
  read.stride = given->stride;
  read.tokens = given->tokens;
  if (given->mark_beginning) {
    read.beginning = used->beginning();
    if (!read.beginning)
      return call.refuse("mark_beginning", "the tokenizer has no such id");
    if (*read.beginning >= int64_t(model->vocabulary())) {
      own.report({}, diag::PromptToken, *read.beginning, model->vocabulary());
      return call.end(false);
    }
  }
  std::atomic<bool> stop = false;
  read.stop = &stop;
  if (callback)
    read.progress = [&](const Evaluation &evaluation, uint64_t tokens) {
      if (callback(evaluation.loss.count(), tokens, evaluation.perplexity(),
                   user))
        stop = true;
    };
  std::optional<Evaluation> result = evaluate(*model, *data, read, own);
  if (result)
    give(resultOf(*result), out);
  return call.end(result.has_value());
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}
