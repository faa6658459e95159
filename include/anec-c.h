/*===- anec-c.h - the embedding API for C -------------------------*- C -*-===*\
|* Part of anec, under the Apache License v2.0 with LLVM Exceptions.          *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/**
 * \file
 * Compiles kernels and models, checks and predicts them, runs them, trains and
 * generates text, as anec.h does for C++. The header is C99 and C++.
 *
 *   anec_program *program = NULL;
 *   anec_diagnostics *diags = anec_diagnostics_create();
 *   if (anec_compile_file("mlp.tdsl", NULL, &program, diags))
 *     fputs(anec_diagnostics_text(diags), stderr);
 *
 * Errors. Functions that can fail return a status, and append what is wrong to
 * `diags`, which may be null. Null and wrong arguments are ANEC_USAGE_ERROR,
 * never a crash; only a handle that was destroyed must not be used. After an
 * error, `*out` is null and what a function was to fill is as it was. Nothing
 * prints, exits or throws.
 *
 * Ownership. What a function gives by `**out` belongs to the caller, who
 * destroys it by the function of its name; to destroy null does nothing. Any
 * other pointer belongs to the object it was asked of and is valid until that
 * is destroyed, or changed in the way that the function's comment names.
 * Arguments are copied where they are needed longer than the call. A trainer
 * uses its session, which has to be destroyed after it; a session is
 * independent of the program that it was opened on.
 *
 * Structs. `struct_size` is set by the caller to `sizeof` the struct, which
 * tells the library what the caller was compiled with: later versions add
 * members at the end only. The init functions do that, and set the defaults. A
 * null pointer to options stands for the defaults. A struct that is larger than
 * the library's is refused.
 *
 * Texts are UTF-8 and end with a null character.
 *
 * Threads. Different objects may be used by different threads at the same
 * time, one object by one thread at a time.
 */

#ifndef ANEC_C_H
#define ANEC_C_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ANEC_API __attribute__((visibility("default")))
#else
#define ANEC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The version of the library: `0.1.0`. */
ANEC_API const char *anec_version(void);

/*===-- Errors
 * -------------------------------------------------------------===*/

/** The exit codes of the tools. */
typedef enum anec_status {
  ANEC_OK = 0,
  ANEC_INPUT_ERROR = 1,  /**< a source, a file or an array is at fault */
  ANEC_USAGE_ERROR = 2,  /**< the call is */
  ANEC_MACHINE_ERROR = 3 /**< the machine or the backend failed */
} anec_status;

typedef enum anec_severity {
  ANEC_ERROR = 0,
  ANEC_WARNING = 1,
  ANEC_REMARK = 2,
  ANEC_NOTE = 3 /**< belongs to what stands before it */
} anec_severity;

/** A list of what was reported, which calls append to. */
typedef struct anec_diagnostics anec_diagnostics;

typedef struct anec_diagnostic {
  size_t struct_size;
  anec_severity severity;
  const char *id;      /**< `cannot-open` */
  const char *message; /**< without severity, place and id */
  const char *file;    /**< empty when it is about none */
  /** From 1 on; 0 when it has no place in a text. */
  unsigned line, column, end_line, end_column;
} anec_diagnostic;

ANEC_API anec_diagnostics *anec_diagnostics_create(void);
ANEC_API void anec_diagnostics_destroy(anec_diagnostics *diags);
ANEC_API void anec_diagnostics_clear(anec_diagnostics *diags);
ANEC_API size_t anec_diagnostics_count(const anec_diagnostics *diags);
/** Fills `out` with the one at `index`. Valid until the next call appends to
    `diags`. */
ANEC_API anec_status anec_diagnostics_get(const anec_diagnostics *diags,
                                          size_t index, anec_diagnostic *out);
/** All of them as the tools print them, with source lines; empty when there are
    none. Valid until the next call appends to `diags`. */
ANEC_API const char *anec_diagnostics_text(const anec_diagnostics *diags);

/*===-- Compiling
 * ----------------------------------------------------------===*/

typedef enum anec_weight_mode {
  ANEC_WEIGHTS_AUTO = 0, /**< baked where nothing trains and values are given */
  ANEC_WEIGHTS_PACKED = 1, /**< inputs of the kernels */
  ANEC_WEIGHTS_BAKED = 2   /**< constants of the kernels */
} anec_weight_mode;

typedef enum anec_io_mode {
  ANEC_IO_PACKED = 0,  /**< one input and one output for each kernel */
  ANEC_IO_SEPARATE = 1 /**< one for each tensor */
} anec_io_mode;

typedef enum anec_fusion {
  ANEC_FUSE_DEFAULT = 0, /**< as far as people have run such kernels */
  ANEC_FUSE_MAX = 1      /**< as far as the target's limits go */
} anec_fusion;

typedef struct anec_compile_options {
  size_t struct_size;
  const char *target; /**< `m1`; null: generic, which is legal for all chips */
  const char *kernel; /**< to compile this kernel or layer, and no model */
  /** Overrides of `config` entries: `NAME=VALUE`. */
  const char *const *defines;
  size_t define_count;
  /** Rules that do not count, or whose breach is an error: `RULE=allow`,
      `RULE=deny`. */
  const char *const *assumptions;
  size_t assumption_count;
  const char *weights;     /**< a .safetensors file or a folder of .npy */
  const char *weight_map;  /**< a JSON file: names of weights -> names there */
  const uint64_t *seed;    /**< draws the weights that `weights` lacks */
  const char *mil_version; /**< `1.0` or `1.3`; null: the target's */
  /* Of models. */
  const char *folder; /**< where the package goes; null: a temporary folder,
                           which is removed with the program and all sessions
                           on it */
  int forward_only;   /**< nothing is trained */
  anec_weight_mode weight_mode;
  anec_io_mode io;
  anec_fusion fusion;
} anec_compile_options;

ANEC_API anec_status anec_compile_options_init(anec_compile_options *options,
                                               size_t struct_size);

/** A compiled kernel, which is a MIL program with weights, or a compiled model,
    which is a package in a folder. */
typedef struct anec_program anec_program;

/** Compiles a .tdsl, .ir or .mil file: its model where it has one and
    `options->kernel` is null, its kernel otherwise. */
ANEC_API anec_status anec_compile_file(const char *path,
                                       const anec_compile_options *options,
                                       anec_program **out,
                                       anec_diagnostics *diags);
/** The same for a text. The ending of `name` tells the language; messages name
    it as the file. */
ANEC_API anec_status anec_compile_text(const char *text, const char *name,
                                       const anec_compile_options *options,
                                       anec_program **out,
                                       anec_diagnostics *diags);
ANEC_API void anec_program_destroy(anec_program *program);

ANEC_API int anec_program_is_model(const anec_program *program);
/** The package of a model; null for a kernel. */
ANEC_API const char *anec_program_folder(const anec_program *program);
/** The MIL text of a kernel; null for a model. */
ANEC_API const char *anec_program_mil(anec_program *program);
/** Writes a kernel to `path` and, when it has weights, `weights/STEM.bin`
   beside it. A model's package is copied to the folder `path`. Whole or, after
   an error, not at all. */
ANEC_API anec_status anec_program_write(anec_program *program, const char *path,
                                        anec_diagnostics *diags);

/*===-- What a chip says
 * ---------------------------------------------------===*/

/** What breaks the rules of a chip. */
typedef struct anec_findings anec_findings;

typedef struct anec_finding {
  size_t struct_size;
  const char *rule;    /**< its id, for anec_explain */
  const char *message; /**< what breaks it */
  const char *impact;  /**< `error`, `silent-corruption`, `warning`,
                            `performance` */
  int is_error;        /**< whether it counts as one, assumptions regarded */
  const char *file;    /**< empty when it has no place */
  unsigned line, column, end_line, end_column; /**< from 1 on; or 0 */
} anec_finding;

/** Checks the program at `path` against `options->target`: MIL as it is, a
    source as it would be compiled, a package with all its kernels. A finding is
    no error of the call. */
ANEC_API anec_status anec_check_file(const char *path,
                                     const anec_compile_options *options,
                                     anec_findings **out,
                                     anec_diagnostics *diags);
/** The same for what was compiled; of `options`, target and assumptions
    count. */
ANEC_API anec_status anec_check(anec_program *program,
                                const anec_compile_options *options,
                                anec_findings **out, anec_diagnostics *diags);
ANEC_API void anec_findings_destroy(anec_findings *findings);
ANEC_API size_t anec_findings_count(const anec_findings *findings);
ANEC_API anec_status anec_findings_get(const anec_findings *findings,
                                       size_t index, anec_finding *out);

typedef struct anec_rule {
  size_t struct_size;
  const char *id, *summary, *impact, *source, *confidence, *advice;
} anec_rule;

/** Fills `out` with the rule called `id`; it stays valid. */
ANEC_API anec_status anec_explain(const char *id, anec_rule *out,
                                  anec_diagnostics *diags);
/** Writes the first `capacity` bytes of what `anec explain` prints of the rule
   to `text`, which may be null when that is 0, and to `count` how many there
   are. No null character ends them. */
ANEC_API anec_status anec_explain_text(const char *id, char *text,
                                       size_t capacity, size_t *count,
                                       anec_diagnostics *diags);

/** What runs cost on a chip: predicted, never measured. */
typedef struct anec_costs anec_costs;

typedef struct anec_cost {
  size_t struct_size;
  const char *name;    /**< of the entry, or of the kernel */
  unsigned dispatches; /**< programs that one run evaluates */
  unsigned host_ops;   /**< of which nothing is predicted */
  int64_t flops;
  uint64_t bytes; /**< moved on and off the chip */
  /** Of one run, in microseconds: in all, and within the error of what is known
      of the chip. */
  double microseconds, least, most;
  const char *bound; /**< `dispatch`, `compute` or `bandwidth` */
} anec_cost;

/** Predicts what each entry of the package at `path`, or its kernel, costs on
    `options->target`. */
ANEC_API anec_status anec_predict_file(const char *path,
                                       const anec_compile_options *options,
                                       anec_costs **out,
                                       anec_diagnostics *diags);
ANEC_API anec_status anec_predict(anec_program *program,
                                  const anec_compile_options *options,
                                  anec_costs **out, anec_diagnostics *diags);
ANEC_API void anec_costs_destroy(anec_costs *costs);
ANEC_API size_t anec_costs_count(const anec_costs *costs);
ANEC_API anec_status anec_costs_get(const anec_costs *costs, size_t index,
                                    anec_cost *out);

/*===-- Running
 * ------------------------------------------------------------===*/

/** Element types; bits are packed from the low one, all else little-endian. */
typedef enum anec_dtype {
  ANEC_BOOL = 0,
  ANEC_FP16 = 1,
  ANEC_FP32 = 2,
  ANEC_FP64 = 3,
  ANEC_BF16 = 4,
  ANEC_INT8 = 5,
  ANEC_INT16 = 6,
  ANEC_INT32 = 7,
  ANEC_INT64 = 8,
  ANEC_UINT8 = 9,
  ANEC_UINT16 = 10,
  ANEC_UINT32 = 11,
  ANEC_UINT64 = 12,
  ANEC_OTHER_DTYPE = 255 /**< one that MIL has and no array of C does */
} anec_dtype;

/** How the cpu backend computes. */
typedef enum anec_numerics {
  ANEC_NUMERICS_FP16 = 0, /**< rounds to the declared type after each op */
  ANEC_NUMERICS_FP32 = 1, /**< rounds nothing; fp16 outputs are fp32 */
  ANEC_NUMERICS_M1 = 2,   /**< as is published of the engine of that chip */
  ANEC_NUMERICS_M3 = 3,
  ANEC_NUMERICS_M4 = 4
} anec_numerics;

typedef struct anec_session_options {
  size_t struct_size;
  const char *backend; /**< `cpu`, which null stands for; `ane` on a Mac */
  anec_numerics numerics;
  unsigned threads; /**< the caller's included; 0: one per processor */
  /** Weights of a package. What is not there its own file has. */
  const char *weights;
  const char *weight_map;
  const uint64_t *seed;
} anec_session_options;

ANEC_API anec_status anec_session_options_init(anec_session_options *options,
                                               size_t struct_size);

/** A program that is loaded, with its weights and gradients. */
typedef struct anec_session anec_session;

ANEC_API anec_status anec_session_open(const anec_program *program,
                                       const anec_session_options *options,
                                       anec_session **out,
                                       anec_diagnostics *diags);
/** Opens a package (.anepkg) or a MIL program. */
ANEC_API anec_status anec_session_open_file(const char *path,
                                            const anec_session_options *options,
                                            anec_session **out,
                                            anec_diagnostics *diags);
ANEC_API void anec_session_destroy(anec_session *session);
/** What it was opened with. */
ANEC_API anec_numerics anec_session_numerics(const anec_session *session);

typedef struct anec_entry {
  size_t struct_size;
  const char *name;
  const char *role; /**< `train` computes a loss and gradients, `forward` or
                         `infer` results; empty for a kernel */
  int trains;       /**< whether running it computes gradients */
} anec_entry;

ANEC_API size_t anec_session_entry_count(const anec_session *session);
ANEC_API anec_status anec_session_entry(const anec_session *session,
                                        size_t index, anec_entry *out);

typedef struct anec_port {
  size_t struct_size;
  const char *name;
  anec_dtype dtype;
  size_t rank; /**< 0 for a scalar */
  const int64_t *dims;
  size_t bytes;     /**< of all elements in `dtype` */
  const char *role; /**< `input`, `target`, `loss-scale` (1 unless it is given),
                         `output`, `loss`, `logits`, ... */
} anec_port;

/** An `entry` of null, here and below, is the only one, or the only one that
   does not train. The first use of an entry loads it. */
ANEC_API anec_status anec_session_input_count(anec_session *session,
                                              const char *entry, size_t *out,
                                              anec_diagnostics *diags);
ANEC_API anec_status anec_session_input(anec_session *session,
                                        const char *entry, size_t index,
                                        anec_port *out,
                                        anec_diagnostics *diags);
ANEC_API anec_status anec_session_output_count(anec_session *session,
                                               const char *entry, size_t *out,
                                               anec_diagnostics *diags);
ANEC_API anec_status anec_session_output(anec_session *session,
                                         const char *entry, size_t index,
                                         anec_port *out,
                                         anec_diagnostics *diags);

/** Elements of the caller's for an input, row-major. `dtype` is the port's, or
    any float type where the port's is one. */
typedef struct anec_input {
  size_t struct_size;
  const char *name;
  anec_dtype dtype;
  const void *data;
  size_t bytes;
  size_t rank;
  const int64_t *dims; /**< checked, but for axes of one element; null: the
                            number of elements alone has to fit */
} anec_input;

/** Memory of the caller's for an output, as above. */
typedef struct anec_output {
  size_t struct_size;
  const char *name;
  anec_dtype dtype;
  void *data;
  size_t bytes;
  size_t rank;
  const int64_t *dims;
} anec_output;

/** Runs `entry` once. All inputs have to be given, but for the scale of a loss;
    outputs that are not asked for are dropped. A training entry leaves its
    gradients in the session. */
ANEC_API anec_status anec_session_run(anec_session *session, const char *entry,
                                      const anec_input *inputs,
                                      size_t input_count,
                                      const anec_output *outputs,
                                      size_t output_count,
                                      anec_diagnostics *diags);

/** A weight or a gradient: memory of the session's, fp32 and row-major. */
typedef struct anec_floats {
  size_t struct_size;
  const char *name; /**< `attention.3.wq` */
  size_t rank;
  const int64_t *dims;
  float *data;
  size_t count; /**< of elements */
} anec_floats;

/** Weights of a package, sorted by name; a kernel has none. After their
   elements were changed, anec_session_weights_changed brings them to the
   programs. */
ANEC_API size_t anec_session_weight_count(const anec_session *session);
ANEC_API anec_status anec_session_weight(const anec_session *session,
                                         size_t index, anec_floats *out);
ANEC_API anec_status anec_session_weights_changed(anec_session *session,
                                                  anec_diagnostics *diags);
/** Writes the weights to a .safetensors file, or to a folder of .npy. */
ANEC_API anec_status anec_session_save_weights(anec_session *session,
                                               const char *path,
                                               anec_diagnostics *diags);
/** What the last run of a training entry left, sorted by name. */
ANEC_API size_t anec_session_gradient_count(const anec_session *session);
ANEC_API anec_status anec_session_gradient(const anec_session *session,
                                           size_t index, anec_floats *out);

/** Memory of a MIL program that keeps its elements from run to run. */
ANEC_API anec_status anec_session_set_state(anec_session *session,
                                            const anec_input *state,
                                            anec_diagnostics *diags);
ANEC_API anec_status anec_session_get_state(anec_session *session,
                                            const anec_output *state,
                                            anec_diagnostics *diags);

/*===-- Training
 * -----------------------------------------------------------===*/

/** AdamW's, and those of the loop around it; docs/train.md describes them. */
typedef struct anec_hyperparameters {
  size_t struct_size;
  double learning_rate, min_learning_rate;
  double warmup, decay_steps; /**< steps; decay_steps 0: it does not decay */
  double beta1, beta2, epsilon, weight_decay;
  double clip;                          /**< 0: gradients are not clipped */
  double loss_scale, loss_scale_growth; /**< growth 0: it never grows */
} anec_hyperparameters;

/** Fills `out` with what the tools take with these numerics. */
ANEC_API anec_status anec_hyperparameters_init(anec_hyperparameters *out,
                                               size_t struct_size,
                                               anec_numerics numerics);

/** AdamW over the weights of a session. */
typedef struct anec_trainer anec_trainer;

typedef struct anec_step {
  size_t struct_size;
  uint64_t step; /**< from 1 on */
  double loss;   /**< the mean of its runs */
  double gradient_norm, learning_rate, loss_scale;
  int skipped; /**< a number was not finite: no weight has changed */
} anec_step;

/** Trains `entry`, or with null the only one that trains. `hyper` may be null.
 */
ANEC_API anec_status anec_trainer_open(anec_session *session, const char *entry,
                                       const anec_hyperparameters *hyper,
                                       anec_trainer **out,
                                       anec_diagnostics *diags);
ANEC_API void anec_trainer_destroy(anec_trainer *trainer);
/** Runs forward and backward, and adds the gradients to those of this step.
    `loss` may be null. */
ANEC_API anec_status anec_trainer_accumulate(anec_trainer *trainer,
                                             const anec_input *inputs,
                                             size_t input_count, float *loss,
                                             anec_diagnostics *diags);
/** Ends the step: changes the weights by the mean of the gradients. `out` may
   be null. */
ANEC_API anec_status anec_trainer_update(anec_trainer *trainer, anec_step *out,
                                         anec_diagnostics *diags);
/** Both, for a step of one run. */
ANEC_API anec_status anec_trainer_step(anec_trainer *trainer,
                                       const anec_input *inputs,
                                       size_t input_count, anec_step *out,
                                       anec_diagnostics *diags);

/*===-- Text
 * ---------------------------------------------------------------===*/

typedef struct anec_tokenizer anec_tokenizer;

/** Opens a SentencePiece .model or llama2.c's tokenizer.bin; with a null or
    empty path, bytes are tokens. */
ANEC_API anec_status anec_tokenizer_open(const char *path, anec_tokenizer **out,
                                         anec_diagnostics *diags);
ANEC_API void anec_tokenizer_destroy(anec_tokenizer *tokenizer);
/** How many ids there are; they count from 0. */
ANEC_API unsigned anec_tokenizer_vocabulary(const anec_tokenizer *tokenizer);
/** Writes the first `capacity` ids of `text` to `ids`, which may be null when
    that is 0, and to `count` how many there are. */
ANEC_API anec_status anec_tokenizer_encode(const anec_tokenizer *tokenizer,
                                           const char *text, int32_t *ids,
                                           size_t capacity, size_t *count,
                                           anec_diagnostics *diags);
/** Writes the first `capacity` bytes that `ids` stand for to `bytes`, and to
    `count` how many there are. No null character ends them. */
ANEC_API anec_status anec_tokenizer_decode(const anec_tokenizer *tokenizer,
                                           const int32_t *ids, size_t id_count,
                                           char *bytes, size_t capacity,
                                           size_t *count,
                                           anec_diagnostics *diags);

/** The windows of text that `ane-run train` trains on, in its order. */
typedef struct anec_windows anec_windows;

typedef struct anec_windows_options {
  size_t struct_size;
  /** Files and folders: `.bin` has token ids of 16 bits, all else is text. */
  const char *const *paths;
  size_t path_count;
  size_t length;           /**< tokens of a window */
  int64_t vocabulary;      /**< every id is below; 0: not checked */
  double validation_share; /**< the end of the text, which is not trained on */
  uint64_t seed;           /**< of the order */
} anec_windows_options;

ANEC_API anec_status anec_windows_options_init(anec_windows_options *options,
                                               size_t struct_size);
/** A null `tokenizer` takes bytes for tokens. */
ANEC_API anec_status anec_windows_open(const anec_windows_options *options,
                                       const anec_tokenizer *tokenizer,
                                       anec_windows **out,
                                       anec_diagnostics *diags);
ANEC_API void anec_windows_destroy(anec_windows *windows);
/** Windows of an epoch. */
ANEC_API uint64_t anec_windows_count(const anec_windows *windows);
/** Fills `tokens` and `targets`, of `length` each, with the next window to
   train on. After the last one of an epoch the next begins, in another order.
 */
ANEC_API anec_status anec_windows_next(anec_windows *windows, int32_t *tokens,
                                       int32_t *targets,
                                       anec_diagnostics *diags);

typedef struct anec_generate_options {
  size_t struct_size;
  unsigned tokens;    /**< new ones, at most */
  double temperature; /**< 0: always the most likely token */
  double top_p;       /**< draws among the tokens that have this much of the
                           probability; 1: among all */
  uint64_t seed;
  int mark_beginning; /**< puts the id of a text's beginning before the prompt
                       */
} anec_generate_options;

ANEC_API anec_status anec_generate_options_init(anec_generate_options *options,
                                                size_t struct_size);

/** Gets text as it comes out, the prompt first: whole characters of UTF-8,
    `length` bytes of them. Another result than 0 ends the text. */
typedef int (*anec_text_callback)(const char *text, size_t length, void *user);

/** Continues `prompt` with a package that was compiled forward_only and gives
    logits. A null `tokenizer` takes bytes for tokens. */
ANEC_API anec_status anec_session_generate(anec_session *session,
                                           const anec_tokenizer *tokenizer,
                                           const char *prompt,
                                           const anec_generate_options *options,
                                           anec_text_callback callback,
                                           void *user, anec_diagnostics *diags);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ANEC_C_H */
