/*===- embed.c - compile, check, train and generate by anec-c.h -----------===*\
|* Part of anec, under the Apache License v2.0 with LLVM Exceptions.          *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/* What embed.cpp does, in C99. */

#include "anec-c.h"
#include <stdio.h>

static const char *const defines[] = {"layers=2", "dim=32", "hidden=64",
                                      "heads=2",  "kv_heads=1", "seq=16",
                                      "vocab=256"};

static anec_status compile(const char *source, const char *folder,
                           int forward_only, anec_program **program,
                           anec_diagnostics *diags) {
  anec_compile_options options;
  anec_compile_options_init(&options, sizeof options);
  options.defines = defines;
  options.define_count = sizeof defines / sizeof *defines;
  options.target = "m1";
  options.folder = folder;
  options.forward_only = forward_only;
  return anec_compile_file(source, &options, program, diags);
}

static anec_status print_findings(anec_program *program,
                                  anec_diagnostics *diags) {
  anec_compile_options options;
  anec_findings *findings;
  anec_status status;
  size_t i;
  anec_compile_options_init(&options, sizeof options);
  options.target = "m4";
  status = anec_check(program, &options, &findings, diags);
  for (i = 0; i < anec_findings_count(findings); ++i) {
    anec_finding finding;
    finding.struct_size = sizeof finding;
    anec_findings_get(findings, i, &finding);
    printf("%s: %s\n", finding.rule, finding.message);
  }
  anec_findings_destroy(findings);
  return status;
}

static anec_status train(anec_session *session, const char *text,
                         anec_diagnostics *diags) {
  anec_windows_options options;
  anec_windows *windows = NULL;
  anec_trainer *trainer = NULL;
  anec_status status;
  int32_t tokens[16], targets[16];
  int i;
  anec_windows_options_init(&options, sizeof options);
  options.paths = &text;
  options.path_count = 1;
  options.length = 16;
  status = anec_windows_open(&options, NULL, &windows, diags);
  if (!status)
    status = anec_trainer_open(session, NULL, NULL, &trainer, diags);
  for (i = 0; !status && i < 10; ++i) {
    anec_input inputs[2] = {
        {sizeof(anec_input), "tokens", ANEC_INT32, tokens, sizeof tokens, 0, 0},
        {sizeof(anec_input), "targets", ANEC_INT32, targets, sizeof targets, 0,
         0}};
    anec_step step;
    step.struct_size = sizeof step;
    status = anec_windows_next(windows, tokens, targets, diags);
    if (!status)
      status = anec_trainer_step(trainer, inputs, 2, &step, diags);
    if (!status)
      printf("step %d loss %.17g\n", (int)step.step, step.loss);
  }
  anec_trainer_destroy(trainer);
  anec_windows_destroy(windows);
  return status;
}

static int print_text(const char *text, size_t length, void *user) {
  (void)user;
  fwrite(text, 1, length, stdout);
  return 0;
}

static anec_status generate(anec_program *program, const char *weights,
                            anec_diagnostics *diags) {
  anec_session_options opening;
  anec_generate_options options;
  anec_session *session = NULL;
  anec_status status;
  anec_session_options_init(&opening, sizeof opening);
  opening.weights = weights;
  anec_generate_options_init(&options, sizeof options);
  options.tokens = 40;
  options.seed = 3;
  status = anec_session_open(program, &opening, &session, diags);
  if (!status)
    status = anec_session_generate(session, NULL, "anec ", &options, print_text,
                                   NULL, diags);
  anec_session_destroy(session);
  return status;
}

static anec_status run(const char *source, const char *text, const char *folder,
                       anec_diagnostics *diags) {
  char training[4096], forward[4096], weights[4096];
  anec_program *program = NULL, *writer = NULL;
  anec_session *session = NULL;
  anec_session_options options;
  uint64_t seed = 0;
  anec_status status;
  snprintf(training, sizeof training, "%s/train.anepkg", folder);
  snprintf(forward, sizeof forward, "%s/forward.anepkg", folder);
  snprintf(weights, sizeof weights, "%s/trained.safetensors", folder);
  anec_session_options_init(&options, sizeof options);
  options.seed = &seed;
  status = compile(source, training, 0, &program, diags);
  if (!status)
    status = print_findings(program, diags);
  if (!status)
    status = anec_session_open(program, &options, &session, diags);
  if (!status)
    status = train(session, text, diags);
  if (!status)
    status = anec_session_save_weights(session, weights, diags);
  if (!status)
    status = compile(source, forward, 1, &writer, diags);
  if (!status)
    status = generate(writer, weights, diags);
  anec_program_destroy(writer);
  anec_session_destroy(session);
  anec_program_destroy(program);
  return status;
}

int main(int argc, char **argv) {
  anec_diagnostics *diags = anec_diagnostics_create();
  anec_status status =
      argc == 4 ? run(argv[1], argv[2], argv[3], diags) : ANEC_USAGE_ERROR;
  printf("\n");
  fputs(anec_diagnostics_text(diags), stderr);
  anec_diagnostics_destroy(diags);
  return (int)status;
}
