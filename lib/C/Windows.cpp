//===- Windows.cpp - windows of tokens by the C API -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Handles.h"

using namespace anec;
using namespace anec::c;

std::optional<std::vector<std::string>> c::readPaths(const char *const *paths,
                                                     size_t count, Call &call,
                                                     anec_status &status) {
  if (count && !paths) {
    status = call.refuseNull("paths");
    return std::nullopt;
  }
  std::vector<std::string> read;
  for (size_t i = 0; i < count; ++i)
    read.push_back(orEmpty(paths[i]).str());
  return read;
}

static anec_windows_options windowsDefaults() {
  anec_windows_options defaults = {};
  defaults.validation_share = 0.05;
  return defaults;
}

anec_status anec_windows_options_init(anec_windows_options *options,
                                      size_t struct_size) {
  return init(options, struct_size, windowsDefaults());
}

anec_status anec_windows_open(const anec_windows_options *options,
                              const anec_tokenizer *tokenizer,
                              anec_windows **out, anec_diagnostics *diags) try {
  Call call(diags);
  if (!out)
    return call.refuseNull("out");
  *out = nullptr;
  if (!options)
    return call.refuseNull("options");
  std::optional<anec_windows_options> given = take(options, windowsDefaults());
  if (!given)
    return call.refuse("options", badSize);
  if (!given->length || given->length > size_t(1) << 31)
    return call.refuse("length", "a window has tokens, and not so many");
  if (!(given->validation_share >= 0 && given->validation_share < 1))
    return call.refuse("validation_share", "it is at least 0, and less than 1");
  anec_status status = ANEC_OK;
  std::optional<std::vector<std::string>> paths =
      readPaths(given->paths, given->path_count, call, status);
  if (!paths)
    return status;
  Diagnostics &own = call.diagnostics();
  int64_t vocabulary = given->vocabulary > 0
                           ? given->vocabulary
                           : std::numeric_limits<int32_t>::max();
  auto windows = std::make_unique<anec_windows>();
  windows->length = given->length;
  windows->data = openTokens(*paths, tokenizer, vocabulary, own);
  if (windows->data)
    windows->windows =
        Windows::divide(*windows->data, given->length, given->validation_share,
                        given->seed, own);
  if (windows->windows)
    *out = windows.release();
  return call.end(*out != nullptr);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

void anec_windows_destroy(anec_windows *windows) { delete windows; }

uint64_t anec_windows_count(const anec_windows *windows) {
  return windows ? windows->windows->trainingCount() : 0;
}

anec_status anec_windows_next(anec_windows *windows, int32_t *tokens,
                              int32_t *targets, anec_diagnostics *diags) try {
  Call call(diags);
  if (!windows || !tokens || !targets)
    return call.refuseNull(!windows ? "windows"
                           : tokens ? "targets"
                                    : "tokens");
  uint64_t window = windows->windows->next(windows->position);
  windows->windows->read(*windows->data, window, {tokens, windows->length},
                         {targets, windows->length});
  return call.end(true);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}
