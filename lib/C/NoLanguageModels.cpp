//===- NoLanguageModels.cpp - a C API without language models -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Takes the place of Convert.cpp, Evaluate.cpp and Text.cpp: the same
/// functions are there, and say what the build leaves out.
///
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "lib/API/Diags.h"

using namespace anec;
using namespace anec::c;

static anec_status refuse(llvm::StringRef what, anec_diagnostics *diags) try {
  Call call(diags);
  call.diagnostics().report({}, diag::NoLanguageModels, what);
  return call.end(false);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

//===----------------------------------------------------------------------===//
// Tokenizers, of which there are none
//===----------------------------------------------------------------------===//

anec_status anec_tokenizer_open(const char *, anec_tokenizer **out,
                                anec_diagnostics *diags) {
  if (out)
    *out = nullptr;
  return refuse("a tokenizer", diags);
}

void anec_tokenizer_destroy(anec_tokenizer *) {}

unsigned anec_tokenizer_vocabulary(const anec_tokenizer *) { return 0; }

anec_status anec_tokenizer_encode(const anec_tokenizer *, const char *,
                                  int32_t *, size_t, size_t *,
                                  anec_diagnostics *diags) {
  return refuse("a tokenizer", diags);
}

anec_status anec_tokenizer_decode(const anec_tokenizer *, const int32_t *,
                                  size_t, char *, size_t, size_t *,
                                  anec_diagnostics *diags) {
  return refuse("a tokenizer", diags);
}

std::optional<TokenData> c::openTokens(const std::vector<std::string> &paths,
                                       const anec_tokenizer *,
                                       int64_t vocabulary, Diagnostics &diags) {
  return TokenData::open(paths, "", nullptr, vocabulary, diags);
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

anec_status anec_generate_options_init(anec_generate_options *options,
                                       size_t struct_size) {
  return init(options, struct_size);
}

anec_status anec_session_generate(anec_session *, const anec_tokenizer *,
                                  const char *, const anec_generate_options *,
                                  anec_text_callback, void *,
                                  anec_diagnostics *diags) {
  return refuse("generating text", diags);
}

anec_status anec_evaluate_options_init(anec_evaluate_options *options,
                                       size_t struct_size) {
  return init(options, struct_size);
}

anec_status anec_session_evaluate(anec_session *, const anec_tokenizer *,
                                  const anec_evaluate_options *,
                                  anec_evaluate_callback, void *,
                                  anec_evaluation *, anec_diagnostics *diags) {
  return refuse("evaluating a text", diags);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

anec_status anec_import_options_init(anec_import_options *options,
                                     size_t struct_size) {
  return init(options, struct_size);
}

anec_status anec_import(const char *, const char *, const anec_import_options *,
                        anec_diagnostics *diags) {
  return refuse("importing a model", diags);
}

anec_status anec_convert_options_init(anec_convert_options *options,
                                      size_t struct_size) {
  return init(options, struct_size);
}

anec_status anec_convert(const char *, const char *,
                         const anec_convert_options *,
                         anec_diagnostics *diags) {
  return refuse("converting weights", diags);
}
