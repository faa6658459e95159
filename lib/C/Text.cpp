//===- Text.cpp - tokens and generation by the C API ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TextHandles.h"
#include "lib/Generate/Diags.h"
#include <atomic>

using namespace anec;
using namespace anec::c;

//===----------------------------------------------------------------------===//
// Tokenizers
//===----------------------------------------------------------------------===//

anec_status anec_tokenizer_open(const char *path, anec_tokenizer **out,
                                anec_diagnostics *diags) try {
  Call call(diags);
  if (!out)
    return call.refuseNull("out");
  *out = nullptr;
  std::unique_ptr<Tokenizer> tokenizer =
      openTokenizer(orEmpty(path), call.diagnostics());
  if (tokenizer)
    *out = new anec_tokenizer{std::move(tokenizer)};
  return call.end(*out != nullptr);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

void anec_tokenizer_destroy(anec_tokenizer *tokenizer) { delete tokenizer; }

unsigned anec_tokenizer_vocabulary(const anec_tokenizer *tokenizer) {
  return tokenizer ? tokenizer->tokenizer->vocabulary() : 0;
}

anec_status anec_tokenizer_encode(const anec_tokenizer *tokenizer,
                                  const char *text, int32_t *ids,
                                  size_t capacity, size_t *count,
                                  anec_diagnostics *diags) try {
  Call call(diags);
  if (!tokenizer || !text || !count || (!ids && capacity))
    return call.refuseNull(!tokenizer ? "tokenizer"
                           : !text    ? "text"
                           : !count   ? "count"
                                      : "ids");
  std::optional<std::vector<int32_t>> encoded =
      tokenizer->tokenizer->encode(text, call.diagnostics());
  if (!encoded)
    return call.end(false);
  std::copy_n(encoded->begin(), std::min(capacity, encoded->size()), ids);
  *count = encoded->size();
  return call.end(true);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

anec_status anec_tokenizer_decode(const anec_tokenizer *tokenizer,
                                  const int32_t *ids, size_t id_count,
                                  char *bytes, size_t capacity, size_t *count,
                                  anec_diagnostics *diags) try {
  Call call(diags);
  if (!tokenizer || (!ids && id_count) || !count || (!bytes && capacity))
    return call.refuseNull(!tokenizer         ? "tokenizer"
                           : !ids && id_count ? "ids"
                           : !count           ? "count"
                                              : "bytes");
  llvm::ArrayRef<int32_t> given(ids, id_count);
  int64_t vocabulary = tokenizer->tokenizer->vocabulary();
  for (int32_t id : given)
    if (id < 0 || id >= vocabulary)
      return call.refuse("ids", "one is not in the vocabulary");
  std::string decoded = tokenizer->tokenizer->decode(given);
  std::copy_n(decoded.begin(), std::min(capacity, decoded.size()), bytes);
  *count = decoded.size();
  return call.end(true);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

const Tokenizer *c::tokenizerOf(const anec_tokenizer *handle,
                                std::unique_ptr<Tokenizer> &bytes,
                                Diagnostics &diags) {
  if (handle)
    return handle->tokenizer.get();
  bytes = openTokenizer("", diags);
  return bytes.get();
}

std::optional<TokenData> c::openTokens(const std::vector<std::string> &paths,
                                       const anec_tokenizer *tokenizer,
                                       int64_t vocabulary, Diagnostics &diags) {
  std::unique_ptr<Tokenizer> bytes;
  const Tokenizer *used = tokenizerOf(tokenizer, bytes, diags);
  return TokenData::open(paths, "", *used, vocabulary, diags);
}

//===----------------------------------------------------------------------===//
// Generation
//===----------------------------------------------------------------------===//

static anec_generate_options generateDefaults() {
  const GenerateOptions options;
  anec_generate_options defaults = {};
  defaults.struct_size = sizeof(anec_generate_options);
  defaults.tokens = options.tokens;
  defaults.temperature = options.sampling.temperature;
  defaults.top_p = options.sampling.topP;
  defaults.seed = options.sampling.seed;
  defaults.repeat_penalty = options.sampling.repeatPenalty;
  defaults.repeat_window = options.sampling.repeatWindow;
  defaults.keep = -1;
  defaults.draft_tokens = options.draftTokens;
  return defaults;
}

anec_status anec_generate_options_init(anec_generate_options *options,
                                       size_t struct_size) {
  return init(options, struct_size, generateDefaults());
}

/// Refuses options that are invalid; returns nothing for those.
static std::optional<GenerateOptions>
readOptions(const anec_generate_options &given, Call &call,
            anec_status &status) {
  auto refuse = [&](llvm::StringRef name, llvm::StringRef reason) {
    status = call.refuse(name, reason);
    return std::nullopt;
  };
  if (!(given.temperature >= 0 && given.temperature <= 1e6))
    return refuse("temperature", "it is a number from 0 on");
  if (!(given.top_p > 0 && given.top_p <= 1))
    return refuse("top_p", "it is above 0, up to 1");
  if (!(given.min_p >= 0 && given.min_p <= 1))
    return refuse("min_p", "it is a number from 0 to 1");
  if (!(given.repeat_penalty > 0 && given.repeat_penalty <= 1e6))
    return refuse("repeat_penalty", "it is above 0");
  if (!given.stop_texts && given.stop_text_count)
    return refuse("stop_texts", "it is null");
  if (!given.prompt_ids && given.prompt_id_count)
    return refuse("prompt_ids", "it is null");
  if (given.draft_tokens == 0 || given.draft_tokens > 1024)
    return refuse("draft_tokens", "it is a number from 1 to 1024");
  GenerateOptions read;
  read.tokens = given.tokens;
  read.markBeginning = given.mark_beginning;
  read.sampling.temperature = given.temperature;
  read.sampling.topP = given.top_p;
  read.sampling.seed = given.seed;
  read.sampling.topK = given.top_k;
  read.sampling.minP = given.min_p;
  read.sampling.repeatPenalty = given.repeat_penalty;
  read.sampling.repeatWindow = given.repeat_window;
  read.echo = !given.no_echo;
  read.logProbs = given.token_callback != nullptr;
  read.draftTokens = given.draft_tokens;
  if (given.keep >= 0)
    read.keep = size_t(given.keep);
  for (size_t i = 0; i < given.stop_text_count; ++i) {
    read.stopTexts.push_back(orEmpty(given.stop_texts[i]).str());
    if (read.stopTexts.back().empty())
      return refuse("stop_texts", "one is empty");
  }
  return read;
}

namespace {
/// Calls the caller's functions.
class CallbackListener : public GenerateListener {
public:
  CallbackListener(anec_text_callback text, anec_token_callback token,
                   void *user)
      : text(text), token(token), user(user) {}
  std::atomic<bool> stop = false;

  void onText(size_t, llvm::StringRef piece) override {
    if (text && !stop)
      stop = text(piece.data(), piece.size(), user) != 0;
  }
  void onToken(size_t, int32_t id, double logProb) override {
    if (token && !stop)
      stop = token(id, logProb, user) != 0;
  }

private:
  anec_text_callback text;
  anec_token_callback token;
  void *user;
};
} // namespace

/// Opens the model of a session and what guesses for it. Returns false, with
/// the reason reported, on failure.
static bool openModels(anec_session &session,
                       const anec_generate_options &given,
                       std::unique_ptr<TextModel> &model,
                       std::unique_ptr<TextModel> &small,
                       std::unique_ptr<Draft> &draft, Diagnostics &diags) {
  model = session.session->openTextModel("", diags);
  if (!model)
    return false;
  if (given.lookup)
    draft = std::make_unique<LookupDraft>();
  if (!given.draft)
    return true;
  small = given.draft->session->openTextModel("", diags);
  if (!small)
    return false;
  if (small->vocabulary() != model->vocabulary()) {
    diags.report({}, diag::DraftVocabulary, small->vocabulary(),
                 model->vocabulary());
    return false;
  }
  draft = std::make_unique<ModelDraft>(*small);
  return true;
}

anec_status anec_session_generate(anec_session *session,
                                  const anec_tokenizer *tokenizer,
                                  const char *prompt,
                                  const anec_generate_options *options,
                                  anec_text_callback callback, void *user,
                                  anec_diagnostics *diags) try {
  if (!session)
    return Call(diags).refuseNull("session");
  Call call(diags, session->diags.get());
  std::optional<anec_generate_options> given =
      take(options, generateDefaults());
  if (!given)
    return call.refuse("options", badSize);
  if (!prompt && !given->prompt_ids)
    return call.refuseNull("prompt");
  if (!callback && !given->token_callback)
    return call.refuseNull("callback");
  if (given->draft == session)
    return call.refuse("draft", "it is the session itself");
  anec_status status = ANEC_OK;
  std::optional<GenerateOptions> read = readOptions(*given, call, status);
  if (!read)
    return status;
  Diagnostics &own = call.diagnostics();
  std::unique_ptr<Tokenizer> bytes;
  const Tokenizer *used = nullptr;
  if (prompt || tokenizer)
    used = tokenizerOf(tokenizer, bytes, own);
  if (!used && !read->stopTexts.empty())
    return call.refuse("stop_texts", "ids have no text without a tokenizer");
  std::unique_ptr<TextModel> model, small;
  std::unique_ptr<Draft> draft;
  if (!openModels(*session, *given, model, small, draft, own))
    return call.end(false);
  CallbackListener listener(callback, given->token_callback, user);
  read->stop = &listener.stop;
  read->draft = draft.get();
  Generator generator(*model, used);
  std::optional<std::vector<int32_t>> ids;
  if (prompt) {
    ids = generator.encode(prompt, read->markBeginning, own);
  } else {
    ids.emplace(given->prompt_ids, given->prompt_ids + given->prompt_id_count);
    if (!generator.canRead(*ids, own))
      ids.reset();
  }
  return call.end(
      ids && generator.runAll({{*ids, given->seed}}, *read, listener, own));
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}
