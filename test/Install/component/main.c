/*===- main.c - the C API without language models ---------------------------===*\
|* Part of anec, under the Apache License v2.0 with LLVM Exceptions.          *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
#include "anec-c.h"
#include <stdio.h>

int main(void) {
  anec_diagnostics *diags = anec_diagnostics_create();
  anec_tokenizer *tokenizer = NULL;
  anec_windows *windows = NULL;
  anec_windows_options options;
  const char *path = "text.txt";
  puts(anec_status_name(
      anec_tokenizer_open("tokenizer.json", &tokenizer, diags)));
  puts(anec_status_name(anec_import("model", "model.tdsl", NULL, diags)));
  puts(anec_status_name(anec_convert("a.bin", "b", NULL, diags)));
  puts(anec_status_name(
      anec_session_generate(NULL, NULL, "a", NULL, NULL, NULL, diags)));
  puts(anec_status_name(
      anec_session_evaluate(NULL, NULL, NULL, NULL, NULL, NULL, diags)));
  fputs(anec_diagnostics_text(diags), stdout);

  anec_windows_options_init(&options, sizeof options);
  options.paths = &path;
  options.path_count = 1;
  options.length = 8;
  if (anec_windows_open(&options, NULL, &windows, NULL) == ANEC_OK)
    printf("%d windows of bytes\n", (int)anec_windows_count(windows));
  anec_windows_destroy(windows);
  anec_diagnostics_destroy(diags);
  return 0;
}
