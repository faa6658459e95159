//===- CalibrationTexts.cpp - a language model run on texts ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Generate/OpenTextModel.h"
#include "anec/Text/Tokenizer.h"
#include "anec/Train/TokenData.h"
#include "lib/API/Calibrate.h"
#include "lib/API/Diags.h"
#include <algorithm>

using namespace anec;

bool anec::runOnTexts(Session &session, const CalibrationData &data,
                      Diagnostics &diags) {
  std::unique_ptr<TextModel> model = openTextModel(session, "", diags);
  std::unique_ptr<Tokenizer> tokenizer =
      model ? openTokenizer(data.tokenizer, diags) : nullptr;
  if (!tokenizer)
    return false;
  std::optional<TokenData> tokens = TokenData::open(
      data.texts, "", *tokenizer, int64_t(model->vocabulary()), diags);
  if (!tokens)
    return false;
  size_t length = model->positions();
  uint64_t windows = tokens->size() / length;
  if (!windows) {
    diags.reportFile(data.texts.front(), diag::CalibrationTooShort,
                     tokens->size(), length);
    return false;
  }
  if (data.tokens)
    windows = std::min(windows, std::max<uint64_t>(1, data.tokens / length));
  std::vector<int32_t> ids(length);
  for (uint64_t window = 0; window < windows; ++window) {
    tokens->copy(window * length, ids);
    TokenFeed feed;
    feed.tokens = ids;
    feed.wanted = 0;
    if (!model->feed(feed, diags))
      return false;
  }
  return true;
}
