//===- Draft.cpp - guesses at the tokens that follow ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Generate/Draft.h"
#include "lib/Generate/Diags.h"

using namespace anec;

Draft::~Draft() = default;

ModelDraft::ModelDraft(TextModel &model)
    : model(model),
      windows(model.sequences(), SlidingWindow(model.positions())),
      logits(model.vocabulary()) {}

bool ModelDraft::propose(const DraftRequest &request, Sampler &sampler,
                         std::vector<DraftToken> &tokens, Diagnostics &diags) {
  SlidingWindow &window = windows[request.sequence];
  if (request.isNew)
    window.beginText();
  std::vector<int32_t> text(request.text.begin(), request.text.end());
  for (size_t count = 0; count < request.count; ++count) {
    SlidingWindow::Step step = window.advance(text, request.keep);
    if (!model.feed({{request.sequence, step.keep, step.tokens, 1, logits}},
                    diags)) {
      window.reset();
      return false;
    }
    std::optional<TokenDistribution> from = sampler.distribution(
        llvm::ArrayRef(logits).take_front(request.vocabulary), text);
    if (!from) {
      diags.report({}, diag::LogitsNotFinite, text.size());
      return false;
    }
    int32_t id = sampler.draw(*from);
    text.push_back(id);
    tokens.push_back({id, std::move(*from)});
  }
  return true;
}

/// Where the last place before its end that `text` has its own last `size`
/// tokens at ends; nothing when there is none.
static std::optional<size_t> findEarlier(llvm::ArrayRef<int32_t> text,
                                         size_t size) {
  llvm::ArrayRef<int32_t> last = text.take_back(size);
  for (size_t end = text.size() - 1; end >= size; --end)
    if (text.slice(end - size, size) == last)
      return end;
  return std::nullopt;
}

bool LookupDraft::propose(const DraftRequest &request, Sampler &,
                          std::vector<DraftToken> &tokens, Diagnostics &) {
  std::optional<size_t> place;
  for (size_t size = 3; size > 0 && !place; --size)
    if (request.text.size() > size)
      place = findEarlier(request.text, size);
  if (!place)
    return true;
  for (int32_t id : request.text.drop_front(*place).take_front(request.count)) {
    if (size_t(id) >= request.vocabulary)
      break;
    tokens.push_back({id, TokenDistribution::only(id)});
  }
  return true;
}
