//===- Text.cpp - tokens, windows and generation by the C API -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include <atomic>

using namespace anec;
using namespace anec::c;

//===----------------------------------------------------------------------===//
// Tokenizers
//===----------------------------------------------------------------------===//

anec_status anec_tokenizer_open(const char *path, anec_tokenizer **out,
                                anec_diagnostics *diags) {
  Call call(diags);
  if (!out)
    return call.refuseNull("out");
  *out = nullptr;
  std::unique_ptr<Tokenizer> tokenizer =
      openTokenizer(orEmpty(path), call.diagnostics());
  if (tokenizer)
    *out = new anec_tokenizer{std::move(tokenizer)};
  return call.end(*out != nullptr);
}

void anec_tokenizer_destroy(anec_tokenizer *tokenizer) { delete tokenizer; }

unsigned anec_tokenizer_vocabulary(const anec_tokenizer *tokenizer) {
  return tokenizer ? tokenizer->tokenizer->vocabulary() : 0;
}

anec_status anec_tokenizer_encode(const anec_tokenizer *tokenizer,
                                  const char *text, int32_t *ids,
                                  size_t capacity, size_t *count,
                                  anec_diagnostics *diags) {
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
}

anec_status anec_tokenizer_decode(const anec_tokenizer *tokenizer,
                                  const int32_t *ids, size_t id_count,
                                  char *bytes, size_t capacity, size_t *count,
                                  anec_diagnostics *diags) {
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
}

/// The tokenizer of a handle; for null, a tokenizer of bytes, which `bytes`
/// owns.
static const Tokenizer *tokenizerOf(const anec_tokenizer *handle,
                                    std::unique_ptr<Tokenizer> &bytes,
                                    Diagnostics &diags) {
  if (handle)
    return handle->tokenizer.get();
  bytes = openTokenizer("", diags);
  return bytes.get();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

anec_status anec_windows_options_init(anec_windows_options *options,
                                      size_t struct_size) {
  if (!options || struct_size < sizeof(size_t) ||
      struct_size > sizeof(anec_windows_options))
    return ANEC_USAGE_ERROR;
  anec_windows_options defaults = {};
  defaults.validation_share = 0.05;
  options->struct_size = struct_size;
  give(defaults, options);
  return ANEC_OK;
}

anec_status anec_windows_open(const anec_windows_options *options,
                              const anec_tokenizer *tokenizer,
                              anec_windows **out, anec_diagnostics *diags) {
  Call call(diags);
  if (!out)
    return call.refuseNull("out");
  *out = nullptr;
  if (!options)
    return call.refuseNull("options");
  anec_windows_options defaults = {};
  defaults.validation_share = 0.05;
  std::optional<anec_windows_options> given = take(options, defaults);
  if (!given)
    return call.refuse("options", badSize);
  if (!given->length || given->length > size_t(1) << 31)
    return call.refuse("length", "a window has tokens, and not so many");
  if (!(given->validation_share >= 0 && given->validation_share < 1))
    return call.refuse("validation_share", "it is at least 0, and less than 1");
  if (given->path_count && !given->paths)
    return call.refuseNull("paths");
  std::vector<std::string> paths;
  for (size_t i = 0; i < given->path_count; ++i)
    paths.push_back(orEmpty(given->paths[i]).str());
  Diagnostics &own = call.diagnostics();
  std::unique_ptr<Tokenizer> bytes;
  const Tokenizer *used = tokenizerOf(tokenizer, bytes, own);
  int64_t vocabulary = given->vocabulary > 0
                           ? given->vocabulary
                           : std::numeric_limits<int32_t>::max();
  auto windows = std::make_unique<anec_windows>();
  windows->length = given->length;
  windows->data = TokenData::open(paths, "", *used, vocabulary, own);
  if (windows->data)
    windows->windows =
        Windows::divide(*windows->data, given->length, given->validation_share,
                        given->seed, own);
  if (windows->windows)
    *out = windows.release();
  return call.end(*out != nullptr);
}

void anec_windows_destroy(anec_windows *windows) { delete windows; }

uint64_t anec_windows_count(const anec_windows *windows) {
  return windows ? windows->windows->trainingCount() : 0;
}

anec_status anec_windows_next(anec_windows *windows, int32_t *tokens,
                              int32_t *targets, anec_diagnostics *diags) {
  Call call(diags);
  if (!windows || !tokens || !targets)
    return call.refuseNull(!windows ? "windows"
                           : tokens ? "targets"
                                    : "tokens");
  uint64_t window = windows->windows->next(windows->position);
  windows->windows->read(*windows->data, window, {tokens, windows->length},
                         {targets, windows->length});
  return call.end(true);
}

//===----------------------------------------------------------------------===//
// Generation
//===----------------------------------------------------------------------===//

static anec_generate_options generateDefaults() {
  GenerateOptions options;
  return {sizeof(anec_generate_options), options.tokens,
          options.sampling.temperature,  options.sampling.topP,
          options.sampling.seed,         options.markBeginning};
}

anec_status anec_generate_options_init(anec_generate_options *options,
                                       size_t struct_size) {
  if (!options || struct_size < sizeof(size_t) ||
      struct_size > sizeof(anec_generate_options))
    return ANEC_USAGE_ERROR;
  options->struct_size = struct_size;
  give(generateDefaults(), options);
  return ANEC_OK;
}

anec_status anec_session_generate(anec_session *session,
                                  const anec_tokenizer *tokenizer,
                                  const char *prompt,
                                  const anec_generate_options *options,
                                  anec_text_callback callback, void *user,
                                  anec_diagnostics *diags) {
  if (!session)
    return Call(diags).refuseNull("session");
  Call call(diags, session->diags.get());
  if (!prompt || !callback)
    return call.refuseNull(prompt ? "callback" : "prompt");
  std::optional<anec_generate_options> given =
      take(options, generateDefaults());
  if (!given)
    return call.refuse("options", badSize);
  if (!(given->temperature >= 0 && given->temperature <= 1e6))
    return call.refuse("temperature", "it is a number from 0 on");
  if (!(given->top_p > 0 && given->top_p <= 1))
    return call.refuse("top_p", "it is above 0, up to 1");
  std::unique_ptr<Tokenizer> bytes;
  const Tokenizer *used = tokenizerOf(tokenizer, bytes, call.diagnostics());
  std::atomic<bool> stop = false;
  GenerateOptions read;
  read.tokens = given->tokens;
  read.markBeginning = given->mark_beginning;
  read.sampling = {given->temperature, given->top_p, given->seed};
  read.stop = &stop;
  auto sink = [&](llvm::StringRef text) {
    if (!stop && !text.empty())
      stop = callback(text.data(), text.size(), user) != 0;
  };
  return call.end(
      session->session->generate(prompt, *used, read, sink, call.diagnostics())
          .has_value());
}
