/*===- main.c - a program that embeds anec ----------------------------------===*\
|* Part of anec, under the Apache License v2.0 with LLVM Exceptions.          *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
#include "anec-c.h"
#include <stdio.h>

int main(void) {
  static float images[784 * 64], loss;
  static int32_t labels[64];
  anec_diagnostics *diags = anec_diagnostics_create();
  anec_program *program = NULL;
  anec_session *session = NULL;
  anec_compile_options options;
  anec_status status;
  uint64_t seed = 7;
  for (size_t i = 0; i < 784 * 64; ++i)
    images[i] = 1;

  anec_compile_options_init(&options, sizeof options);
  options.seed = &seed;
  options.forward_only = 1;
  status = anec_compile_file("digits.tdsl", &options, &program, diags);
  if (status == ANEC_OK)
    status = anec_session_open(program, NULL, &session, diags);
  if (status == ANEC_OK) {
    anec_input inputs[] = {
        {sizeof(anec_input), "images", ANEC_FP32, images, sizeof images, 0, 0},
        {sizeof(anec_input), "labels", ANEC_INT32, labels, sizeof labels, 0, 0},
    };
    anec_output output = {
        sizeof(anec_output), "output", ANEC_FP32, &loss, sizeof loss, 0, 0};
    status = anec_session_run(session, "digits", inputs, 2, &output, 1, diags);
  }
  if (status == ANEC_OK)
    printf("loss %g\n", loss);
  fputs(anec_diagnostics_text(diags), stderr);
  anec_session_destroy(session);
  anec_program_destroy(program);
  anec_diagnostics_destroy(diags);
  return (int)status;
}
