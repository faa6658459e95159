/*===- anec-c.h - the embedding API for C -------------------------*- C -*-===*\
|* Part of anec, under the Apache License v2.0 with LLVM Exceptions.          *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
\*===----------------------------------------------------------------------===*/
/**
 * \file
 * The compiler and its runtime for C: compiles kernels and models, checks and
 * predicts programs, runs and trains them, and generates text, as anec.h does
 * for C++. The header is valid C99 and C++.
 *
 *   anec_program *program = NULL;
 *   anec_diagnostics *diags = anec_diagnostics_create();
 *   if (anec_compile_file("mlp.tdsl", NULL, &program, diags))
 *     fputs(anec_diagnostics_text(diags), stderr);
 *
 * Errors. Functions that can fail return a status and append diagnostics to
 * `diags`, which can be null. Null and invalid arguments return
 * ANEC_USAGE_ERROR and never crash; only destroyed handles must not be used.
 * After an error, `*out` is null and other outputs are unchanged. No function
 * prints, exits or throws. An array that memory has no room for is
 * ANEC_MACHINE_ERROR with `out-of-memory`; only the containers of LLVM, which
 * is built without exceptions, end the process where they cannot grow.
 *
 * Ownership. The caller owns an object returned by `**out` and destroys it with
 * the destroy function of its type; destroying null does nothing. Any other
 * returned pointer belongs to the object it was requested from and is valid
 * until that object is destroyed, or changed in the way that the function's
 * comment states. Arguments are copied if they are needed after the call. A
 * trainer uses its session, which must be destroyed after it; a session is
 * independent of the program that it was opened on.
 *
 * Structs. The caller sets `struct_size` to the `sizeof` of the struct, which
 * tells the library the version that the caller was compiled with: later
 * versions only add members at the end. The init functions set it and the
 * defaults. A null pointer to options means the defaults. A struct larger than
 * the library's is refused.
 *
 * Texts are UTF-8 and end with a null character.
 *
 * Threads. Different objects can be used by different threads at the same time,
 * each object by one thread at a time.
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

/* An enumeration can hold any number, in C++ as in C: others are refused. */
#ifdef __cplusplus
#define ANEC_INT : int
#else
#define ANEC_INT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this header. Before 1.0, a minor version may change the API.
 */
#define ANEC_C_VERSION_MAJOR 0
#define ANEC_C_VERSION_MINOR 1
#define ANEC_C_VERSION_PATCH 0
/** For comparisons: `#if ANEC_C_VERSION >= ANEC_C_MAKE_VERSION(0, 2, 0)`. */
#define ANEC_C_MAKE_VERSION(major, minor, patch)                               \
  ((major)*10000 + (minor)*100 + (patch))
#define ANEC_C_VERSION                                                         \
  ANEC_C_MAKE_VERSION(ANEC_C_VERSION_MAJOR, ANEC_C_VERSION_MINOR,              \
                      ANEC_C_VERSION_PATCH)

/** The version of the library that is loaded: `0.1.0`. */
ANEC_API const char *anec_version(void);

/*===-- Errors ------------------------------------------------------------===*/

/** The exit codes of the tools. */
typedef enum anec_status ANEC_INT {
  ANEC_OK = 0,
  ANEC_INPUT_ERROR = 1,  /**< a source, a file or an array is invalid */
  ANEC_USAGE_ERROR = 2,  /**< an argument is invalid */
  ANEC_MACHINE_ERROR = 3 /**< the machine or the backend failed */
} anec_status;

/** `ANEC_INPUT_ERROR`; never null. */
ANEC_API const char *anec_status_name(anec_status status);
/** `a source, a file or an array is invalid`; never null. The diagnostics of
   the call say more. */
ANEC_API const char *anec_status_text(anec_status status);

typedef enum anec_severity ANEC_INT {
  ANEC_SEVERITY_ERROR = 0,
  ANEC_SEVERITY_WARNING = 1,
  ANEC_SEVERITY_REMARK = 2,
  ANEC_SEVERITY_NOTE = 3 /**< explains the diagnostic before it */
} anec_severity;

/** `error`, `warning`, `remark` or `note`; never null. */
ANEC_API const char *anec_severity_name(anec_severity severity);

/** A list of diagnostics, which calls append to. */
typedef struct anec_diagnostics anec_diagnostics;

typedef struct anec_diagnostic {
  size_t struct_size;
  anec_severity severity;
  const char *id;      /**< `cannot-open` */
  const char *message; /**< the text without severity, place and id */
  const char *file;    /**< empty when it refers to none */
  /** Counted from 1; 0 without a place in a text. */
  unsigned line, column, end_line, end_column;
} anec_diagnostic;

ANEC_API anec_diagnostics *anec_diagnostics_create(void);
ANEC_API void anec_diagnostics_destroy(anec_diagnostics *diags);
ANEC_API void anec_diagnostics_clear(anec_diagnostics *diags);
ANEC_API size_t anec_diagnostics_count(const anec_diagnostics *diags);
/** Fills `out` with the diagnostic at `index`, which is valid until the next
    call appends to `diags`. */
ANEC_API anec_status anec_diagnostics_get(const anec_diagnostics *diags,
                                          size_t index, anec_diagnostic *out);
/** All diagnostics in the form that the tools print, with source lines; empty
    when there are none. Valid until the next call appends to `diags`. */
ANEC_API const char *anec_diagnostics_text(const anec_diagnostics *diags);

/*===-- Compiling ---------------------------------------------------------===*/

typedef enum anec_weight_mode ANEC_INT {
  ANEC_WEIGHTS_AUTO = 0,   /**< baked if not trained and values are given */
  ANEC_WEIGHTS_PACKED = 1, /**< inputs of the kernels */
  ANEC_WEIGHTS_BAKED = 2   /**< constants of the kernels */
} anec_weight_mode;

typedef enum anec_io_mode ANEC_INT {
  ANEC_IO_PACKED = 0,  /**< one input and one output for each kernel */
  ANEC_IO_SEPARATE = 1 /**< one for each tensor */
} anec_io_mode;

typedef enum anec_fusion ANEC_INT {
  ANEC_FUSE_DEFAULT = 0, /**< only kernels of a kind that is known to run */
  ANEC_FUSE_MAX = 1      /**< up to the target's limits */
} anec_fusion;

typedef enum anec_precision ANEC_INT {
  ANEC_PRECISION_SOURCE = 0, /**< as the source computes */
  ANEC_PRECISION_FP16 = 1,   /**< fp32 becomes fp16, except where that gives
                                  other results */
  ANEC_PRECISION_FP32 = 2    /**< as the source computes */
} anec_precision;

typedef struct anec_compile_options {
  size_t struct_size;
  const char *target; /**< `m1`, `h16`, or the .json file with the results of
                         `ane-run probe`; null: generic, legal for all chips */
  const char *kernel; /**< compiles only this kernel or layer; null: the model,
                         if there is one */
  /** Overrides of `config` entries: `NAME=VALUE`. */
  const char *const *defines;
  size_t define_count;
  /** `RULE=allow` ignores a rule; `RULE=deny` makes a violation an error. */
  const char *const *assumptions;
  size_t assumption_count;
  const char *weights;     /**< a .safetensors file or a folder of .npy */
  const char *weight_map;  /**< a JSON file that maps names of weights to names
                              in `weights` */
  const uint64_t *seed;    /**< draws values missing in `weights`; null: none */
  const char *mil_version; /**< `1.0` or `1.3`; null: the target's */
  /* For models. */
  const char *folder; /**< for the package; null: it stays in memory */
  int forward_only;   /**< compiles no loss and no gradients */
  anec_weight_mode weight_mode;
  anec_io_mode io;
  anec_fusion fusion;
  /* For kernels, and programs that others wrote. */
  anec_precision precision;
  /** `NAME=FILE.npy` for each input of a program that becomes one in fp16:
      examples, by whose values it is decided what stays in fp32. A first axis
      that the input does not have counts examples. */
  const char *const *calibration;
  size_t calibration_count;
  /** Shapes of inputs with unknown extents: `NAME=1x3x64`. */
  const char *const *shapes;
  size_t shape_count;
  /* For rules: what compiles the program, and where it runs. */
  const char *framework; /**< `in-memory`, `coreml` or `e5`; null: in-memory */
  const char *macos;     /**< `15` or `15.6`; null: any */
  /* For programs that others wrote, as models. */
  const char *loss; /**< `output`, `mse`, `cross-entropy` or
                       `cross-entropy:AXIS`: makes the program a model that
                       trains; null: it is a program */
  /** Patterns of the names of weights that are trained, with `*` and `?`; all
      without any. */
  const char *const *train_weights;
  size_t train_weight_count;
  /* For weights that are stored as integers. */
  /** `int8`, `int4`, `lut4` or `lut6`, with `:per-tensor`, `:per-channel` or
      `:group=N`, or `w8a8`, which needs examples; null: as they are. A model's
      weights must be baked. */
  const char *quantize;
  /** Patterns of the names of weights that keep their type, with `*`. */
  const char *const *quantize_skip;
  size_t quantize_skip_count;
  /** Texts and .bin files of token ids, by which a language model is quantized;
      other programs take `calibration`. */
  const char *const *calibration_texts;
  size_t calibration_text_count;
  const char *calibration_tokenizer;  /**< null: each byte is a token */
  const uint64_t *calibration_tokens; /**< at most; 0: all; null: 65536 */
  const char *activation_scales;      /**< with `w8a8`: `per-channel` or
                                           `per-tensor`; null: `per-channel` */
  const double *activation_margin;    /**< with `w8a8`: what is not clipped, by
                                           the largest magnitude; null: 1.5 */
  /* For models, again. */
  const char *lora; /**< `rank=8,alpha=16,targets=wq:wv`: adds adapters, and
                         freezes all other weights; null: none */
  int decode;       /**< programs that prefill and decode texts, instead of the
                         forward */
  int64_t context;  /**< positions of a text with `decode`; 0: the model's */
  int64_t batch;    /**< texts at once with `decode`; 0: 1 */
  /* For sources with several programs. */
  const char *function; /**< of a MIL program or a Core ML package; null: all */
  const uint64_t
      *part; /**< of a pipeline of Core ML models, from 0; null: all */
  /** Inputs of programs that others wrote, as constants: `NAME=NUMBER`, or
      numbers with commas between them, one for each element. */
  const char *const *fixes;
  size_t fix_count;
  /* For `decode`, again: lists that are empty for what the model suggests. */
  const int64_t *blocks; /**< positions that a program reads, with logits for
                              each */
  size_t block_count;
  const int64_t *prefills; /**< the same, with logits for one of them */
  size_t prefill_count;
  const int64_t *ladder; /**< cached positions of programs */
  size_t ladder_count;
  int remarks; /**< reports what reading and passes decided */
} anec_compile_options;

ANEC_API anec_status anec_compile_options_init(anec_compile_options *options,
                                               size_t struct_size);

/** A compiled kernel (a MIL program with weights) or a compiled model (a
    package in a folder or in memory). */
typedef struct anec_program anec_program;

/** Compiles a .tdsl, .ir or .mil file: its model if it has one and
    `options->kernel` is null, otherwise its kernel. */
ANEC_API anec_status anec_compile_file(const char *path,
                                       const anec_compile_options *options,
                                       anec_program **out,
                                       anec_diagnostics *diags);
/** The same for a text. `name` is the file name in messages, and its ending
    selects the language. */
ANEC_API anec_status anec_compile_text(const char *text, const char *name,
                                       const anec_compile_options *options,
                                       anec_program **out,
                                       anec_diagnostics *diags);
ANEC_API void anec_program_destroy(anec_program *program);

ANEC_API int anec_program_is_model(const anec_program *program);
/** Gives the folder of a model's package, which is valid until the program is
    destroyed; null for a kernel. A package in memory is written to a temporary
    folder when it is first asked for, which is removed with the program and all
    its sessions. */
ANEC_API anec_status anec_program_folder(anec_program *program,
                                         const char **out,
                                         anec_diagnostics *diags);
/** Gives the MIL text of a kernel, which is valid until the program is
    destroyed; null for a model. */
ANEC_API anec_status anec_program_mil(anec_program *program, const char **out,
                                      anec_diagnostics *diags);
/** Writes a kernel to `path`, in the form that the ending selects: as `.mil`
    with its weights in `weights/STEM.bin` next to it, as `.mlpackage` or as
    `.mlmodelc`. Copies a model's package to the folder `path`, which ends in
    `.anepkg`. Other endings are invalid arguments. The output is written
    completely or, on an error, not at all. */
ANEC_API anec_status anec_program_write(anec_program *program, const char *path,
                                        anec_diagnostics *diags);

typedef struct anec_coreml_options {
  size_t struct_size;
  /** The oldest systems that load it: `macos13` or `ios16`; null: those of the
      program's opset. */
  const char *deployment;
  /** Floats of inputs and outputs: `fp16` or `fp32`; null: the program's. */
  const char *floats;
  /** A JSON file that says which inputs are images, what the classes are, and
      who made it (docs/formats/coreml.md); null: nothing. */
  const char *describe;
  /** The same as a text, whose files are relative to the current folder. */
  const char *describe_text;
} anec_coreml_options;

ANEC_API anec_status anec_coreml_options_init(anec_coreml_options *options,
                                              size_t struct_size);
/** Writes a kernel as anec_program_write does to `path`, which ends in
    `.mlpackage` or `.mlmodelc`. Inputs of a package keep the shapes that they
    can have in the one that was compiled, if at most weights have changed;
    otherwise a warning says why they have one (`shapes-lost`). */
ANEC_API anec_status anec_program_write_coreml(
    anec_program *program, const char *path, const anec_coreml_options *options,
    anec_diagnostics *diags);

typedef struct anec_build_options {
  size_t struct_size;
  /** The output: a value of `--emit`, which `anec --help-all` lists, such as
      `mil` or `coreml`; null: what the ending selects. */
  const char *emit;
  /* For Core ML, as in anec_coreml_options. */
  const char *deployment, *floats, *describe, *describe_text;
  /** A JSON file that gets what `quantize` changed of each weight; null: none.
   */
  const char *quantize_report;
  int cache_states; /**< with `decode`: caches are states of a program for Core
                         ML, instead of a package's */
  const char *passes;      /**< `A,B`: those that run; null: as usual */
  const char *skip_passes; /**< `A,B`: those that do not; null: none */
  int canonical; /**< of MIL: values by position and shared constants, so that
                      texts can be compared */
} anec_build_options;

ANEC_API anec_status anec_build_options_init(anec_build_options *options,
                                             size_t struct_size);
/** Compiles the source or package at `path` and writes it to `output`, as `anec
    PATH -o OUTPUT` does: of a model, a package of kernels (`.anepkg`) or a
   whole program for Core ML (`.mlpackage`, `.mlmodelc`). The output is written
    completely or, on an error, not at all. */
ANEC_API anec_status anec_build(const char *path, const char *output,
                                const anec_compile_options *options,
                                const anec_build_options *build_options,
                                anec_diagnostics *diags);

/*===-- Models and weights of others --------------------------------------===*/

typedef struct anec_import_options {
  size_t struct_size;
  int64_t positions;  /**< of the program; 0: 256, or all of the model */
  const char *floats; /**< `fp16` or `fp32`; null: `fp16` */
  /** Keys of config.json, or of the metadata of a GGUF file, that are not
      looked at. */
  const char *const *ignored_keys;
  size_t ignored_key_count;
  const char *tokenizer; /**< a folder that gets the tokenizer of a GGUF file;
                              null: none */
} anec_import_options;

ANEC_API anec_status anec_import_options_init(anec_import_options *options,
                                              size_t struct_size);
/** Writes the program (`.tdsl`) of the language model at `source`, a folder
   with config.json and weights, a GGUF file or a checkpoint of llama2.c, with a
   map of the names of its weights, as `anec import` does. */
ANEC_API anec_status anec_import(const char *source, const char *program,
                                 const anec_import_options *options,
                                 anec_diagnostics *diags);

typedef struct anec_convert_options {
  size_t struct_size;
  /** `anec`, `hf` or `llama2c`; null: what the files say. `from` also `gguf`.
   */
  const char *from, *to;
  const char *config; /**< the .tdsl program or the package of the weights,
                         which gives the number of heads; null: none */
  const char *model;  /**< of `config`, if it has several */
  const char *const *defines; /**< of `config`: `NAME=VALUE` */
  size_t define_count;
  const char *weight_map; /**< the map that anec_import wrote: the output has
                             the names that were imported; null: none */
  const char *like; /**< with `weight_map`, the GGUF file whose metadata the
                         output gets; null: it is a folder */
  const char *tokenizer; /**< for a folder: that of the files for text to copy;
                              null: those beside the weights */
  uint64_t shard_size;   /**< for a folder: bytes of a file; 0: 5 GB */
} anec_convert_options;

ANEC_API anec_status anec_convert_options_init(anec_convert_options *options,
                                               size_t struct_size);
/** Writes the weights at `input` in another format, as `anec convert` does:
    `.safetensors`, `.bin` for llama2.c, a folder for Hugging Face, or `.gguf`.
 */
ANEC_API anec_status anec_convert(const char *input, const char *output,
                                  const anec_convert_options *options,
                                  anec_diagnostics *diags);

typedef struct anec_merge_options {
  size_t struct_size;
  const char *weights;    /**< those that the adapters belong to; null: the
                               package's */
  const char *weight_map; /**< a JSON file that maps names of weights to names
                             in `weights` */
  const char *tokenizer;  /**< as in anec_convert_options */
  uint64_t shard_size;
} anec_merge_options;

ANEC_API anec_status anec_merge_options_init(anec_merge_options *options,
                                             size_t struct_size);
/** Adds the adapters at `adapter` to the weights that they belong to, as `anec
    merge` does: to a folder or a `.gguf` file like `weights`, or to a
    `.safetensors` file. */
ANEC_API anec_status anec_merge(const char *package, const char *adapter,
                                const char *output,
                                const anec_merge_options *options,
                                anec_diagnostics *diags);

/*===-- Comparing programs ------------------------------------------------===*/

/** The differences between two programs. */
typedef struct anec_differences anec_differences;

typedef struct anec_diff_options {
  size_t struct_size;
  int ignore_weights; /**< compares only the types of weights, whose files can
                           be missing */
  /** Shapes of inputs with unknown extents, in both: `NAME=1x3x64`. */
  const char *const *shapes;
  size_t shape_count;
  const uint64_t *part; /**< of pipelines of Core ML models; null: all */
} anec_diff_options;

ANEC_API anec_status anec_diff_options_init(anec_diff_options *options,
                                            size_t struct_size);

typedef struct anec_difference {
  size_t struct_size;
  const char *kind;     /**< `function`, `op`: in one program; `signature`,
                             `type`, `argument`, `weights`: in both */
  const char *function; /**< its name */
  const char *op;       /**< the kind of op: `conv`; empty without one */
  const char *part;     /**< of the function or the op: `input 0`, `strides` */
  /** The part in each program; empty where it is missing, and of weights. */
  const char *left, *right;
  int64_t elements, differing; /**< of weights */
  double absolute, relative;   /**< of weights: the largest differences */
  const char *text;            /**< the line that `anec diff` prints */
} anec_difference;

/** Compares the programs at two paths, which are no packages of models. A
    difference does not make the call fail. */
ANEC_API anec_status anec_diff_files(const char *left, const char *right,
                                     const anec_diff_options *options,
                                     anec_differences **out,
                                     anec_diagnostics *diags);
ANEC_API void anec_differences_destroy(anec_differences *differences);
ANEC_API size_t anec_differences_count(const anec_differences *differences);
ANEC_API anec_status anec_differences_get(const anec_differences *differences,
                                          size_t index, anec_difference *out);
/** What `anec diff` prints; empty when there are none. */
ANEC_API const char *anec_differences_text(const anec_differences *differences);
/** What `anec diff --stat` prints: how many ops of each kind differ. */
ANEC_API const char *
anec_differences_counts(const anec_differences *differences);

/*===-- Checking and predicting -------------------------------------------===*/

/** Violations of the rules of a chip. */
typedef struct anec_findings anec_findings;

typedef struct anec_finding {
  size_t struct_size;
  const char *rule;    /**< its id, for anec_explain */
  const char *message; /**< how the program breaks it */
  const char *impact;  /**< `error`, `silent-corruption`, `warning`,
                            `performance` */
  int is_error;        /**< whether it is an error under the assumptions */
  const char *file;    /**< empty when it has no place */
  unsigned line, column, end_line, end_column; /**< from 1; 0 without place */
} anec_finding;

/** Checks the program at `path` against `options->target`: MIL as it is, a
    source as it would be compiled, a package with all its kernels. A finding
    does not make the call fail. */
ANEC_API anec_status anec_check_file(const char *path,
                                     const anec_compile_options *options,
                                     anec_findings **out,
                                     anec_diagnostics *diags);
/** The same for a compiled program; only the target and the assumptions of
    `options` are used. */
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

/** Fills `out` with the rule called `id`, which is always valid. */
ANEC_API anec_status anec_explain(const char *id, anec_rule *out,
                                  anec_diagnostics *diags);
/** Writes the first `capacity` bytes of the text that `anec explain` prints of
    a rule or an error to `text`, without a null character, and the number of
   all its bytes to `count`. `text` can be null if `capacity` is 0. */
ANEC_API anec_status anec_explain_text(const char *id, char *text,
                                       size_t capacity, size_t *count,
                                       anec_diagnostics *diags);

/** Errors of the engine and of Core ML in a log. */
typedef struct anec_logged_errors anec_logged_errors;

typedef struct anec_logged_error {
  size_t struct_size;
  const char *id;      /**< for anec_explain_text; empty when it is not known,
                            as are the texts up to `confidence` */
  const char *summary; /**< what happened */
  const char *cause, *remedy;
  const char *rules; /**< the ids of rules whose breach can cause it, with
                          spaces between them */
  const char *source, *confidence;
  const char *text; /**< the part of the first line that says it */
  uint64_t lines;   /**< the number of lines that say it */
  uint64_t first_line, last_line; /**< from 1 */
  int is_vague; /**< whether another error has to say what failed */
} anec_logged_error;

/** Finds known errors in the log at `path`, or in standard input for `-`, and
    lines that look like errors and are not known. What is found does not make
    the call fail. */
ANEC_API anec_status anec_explain_log_file(const char *path,
                                           anec_logged_errors **out,
                                           anec_diagnostics *diags);
/** The same for the `size` bytes of `text`, which can be any. */
ANEC_API anec_status anec_explain_log_text(const char *text, size_t size,
                                           anec_logged_errors **out,
                                           anec_diagnostics *diags);
ANEC_API void anec_logged_errors_destroy(anec_logged_errors *errors);
ANEC_API size_t anec_logged_errors_count(const anec_logged_errors *errors);
ANEC_API anec_status anec_logged_errors_get(const anec_logged_errors *errors,
                                            size_t index,
                                            anec_logged_error *out);

/** Predicted costs of runs on a chip. */
typedef struct anec_costs anec_costs;

typedef struct anec_cost {
  size_t struct_size;
  const char *name;    /**< of the entry or kernel */
  unsigned dispatches; /**< programs evaluated by one run */
  unsigned host_ops;   /**< not part of the prediction */
  int64_t flops;
  uint64_t bytes; /**< moved to and from the chip */
  /** The time of one run in microseconds, and its range within the error of the
      chip's published figures. */
  double microseconds, least, most;
  const char *bound; /**< `dispatch`, `compute`, `bandwidth` or `elements` */
  uint64_t element_bytes; /**< read and written by ops that are no products */
  unsigned tasks;         /**< that the compiler makes of the programs */
} anec_cost;

/** Predicts the cost of each entry of the model or package at `path`, or of its
    kernel, on `options->target`. */
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

/*===-- Running -----------------------------------------------------------===*/

/** Element types. Booleans are packed bits, the lowest first; all others are
    little-endian. */
typedef enum anec_dtype ANEC_INT {
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
  ANEC_OTHER_DTYPE = 255 /**< a type of MIL that no array in C has */
} anec_dtype;

/** How the cpu backend computes. */
typedef enum anec_numerics ANEC_INT {
  ANEC_NUMERICS_FP16 = 0, /**< rounds to the declared type after each op */
  ANEC_NUMERICS_FP32 = 1, /**< rounds nothing; fp16 outputs are fp32 */
  ANEC_NUMERICS_M1 = 2,   /**< as published for the engine of that chip */
  ANEC_NUMERICS_M3 = 3,
  ANEC_NUMERICS_M4 = 4,
  ANEC_NUMERICS_M2 = 5
} anec_numerics;

typedef struct anec_session_options {
  size_t struct_size;
  const char *backend; /**< `cpu`, or `ane` on a Mac; null: `cpu` */
  anec_numerics numerics;
  unsigned threads; /**< including the caller's; 0: one per processor */
  /** Weights of a package; missing values come from the package's own file. */
  const char *weights;
  const char *weight_map;
  const uint64_t *seed;
  /** Shapes of inputs of a file with unknown extents: `NAME=1x3x64`. */
  const char *const *shapes;
  size_t shape_count;
} anec_session_options;

ANEC_API anec_status anec_session_options_init(anec_session_options *options,
                                               size_t struct_size);

/** What a program computes beside a reference. */
typedef struct anec_comparisons anec_comparisons;

typedef struct anec_compare_options {
  size_t struct_size;
  /** The model that the program was made of, a source in any format; null: the
      program itself. It is evaluated in double precision. */
  const char *reference;
  /** `NAME=SOURCE`: a .npy file, `random:SEED`, `zeros` or `ones`. */
  const char *const *inputs;
  size_t input_count;
  const char *const *states; /**< the same, at the beginning; zeros without */
  size_t state_count;
  /** An element may be off by atol + rtol * |reference|; null, both: by what
     the numerics explain (docs/use/numerics.md); null, one: 0. */
  const double *atol, *rtol;
  int equal_nan;        /**< NaN is right where the reference has NaN */
  const char *function; /**< null: the only one, or a package's default */
  /** Overrides of `config` entries of a .tdsl reference: `NAME=VALUE`. */
  const char *const *defines;
  size_t define_count;
} anec_compare_options;

ANEC_API anec_status anec_compare_options_init(anec_compare_options *options,
                                               size_t struct_size);

/** An output, or the final value of a state, beside its reference. */
typedef struct anec_comparison {
  size_t struct_size;
  const char *name;
  int is_right; /**< no element is off by more than may be */
  int64_t elements;
  int64_t wrong;         /**< elements that are off by more */
  double relative_error; /**< the norm of the difference by the reference's */
  double largest_error;
  double allowed;          /**< how far `worst` may be off */
  const char *worst;       /**< the place of the worst element: `[0, 3]` */
  double value, reference; /**< at `worst` */
} anec_comparison;

/** Runs the program at `path`, MIL or Core ML or ONNX or PyTorch, and compares
    each output, as `ane-run --compare` does. Weights in the options of the
    session are those of a .tdsl reference. An output that is wrong does not
   make the call fail. */
ANEC_API anec_status anec_compare_file(const char *path,
                                       const anec_session_options *session,
                                       const anec_compare_options *options,
                                       anec_comparisons **out,
                                       anec_diagnostics *diags);
ANEC_API void anec_comparisons_destroy(anec_comparisons *comparisons);
ANEC_API size_t anec_comparisons_count(const anec_comparisons *comparisons);
ANEC_API anec_status anec_comparisons_get(const anec_comparisons *comparisons,
                                          size_t index, anec_comparison *out);

/** A loaded program with its weights and gradients. */
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
/** The numerics that it was opened with. */
ANEC_API anec_numerics anec_session_numerics(const anec_session *session);

typedef struct anec_entry {
  size_t struct_size;
  const char *name;
  const char *role; /**< `train`: a loss and gradients; `forward`, `infer`:
                       results only; empty for a kernel */
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

/** Here and below, a null `entry` selects the only entry or, among several, the
    only one that does not train. An entry is loaded on first use. */
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

/** The caller's elements for an input, row-major. `dtype` is the port's type,
    or any float type if the port has one. */
typedef struct anec_input {
  size_t struct_size;
  const char *name;
  anec_dtype dtype;
  const void *data;
  size_t bytes;
  size_t rank;
  const int64_t *dims; /**< must match the port's, ignoring axes of one element;
                          null: only the number of elements must match */
} anec_input;

/** The caller's memory for an output; members are those of anec_input. */
typedef struct anec_output {
  size_t struct_size;
  const char *name;
  anec_dtype dtype;
  void *data;
  size_t bytes;
  size_t rank;
  const int64_t *dims;
} anec_output;

/** Runs `entry` once. All inputs must be given, except the loss scale; outputs
    that are not requested are dropped. A training entry leaves its gradients in
    the session. */
ANEC_API anec_status anec_session_run(anec_session *session, const char *entry,
                                      const anec_input *inputs,
                                      size_t input_count,
                                      const anec_output *outputs,
                                      size_t output_count,
                                      anec_diagnostics *diags);

/** Ends `anec_session_run` or `anec_trainer_accumulate` of the session early if
    one computes in another thread, or in the one that a signal interrupts: a
    handler of signals may call it. The `cpu` backend looks between the ops of a
    program. The call returns ANEC_INPUT_ERROR and reports `interrupted`; its
    outputs, gradients and states are not complete. */
ANEC_API void anec_session_interrupt(anec_session *session);

/** A weight or a gradient: fp32, row-major, in memory of the session. */
typedef struct anec_floats {
  size_t struct_size;
  const char *name; /**< `attention.3.wq` */
  size_t rank;
  const int64_t *dims;
  float *data;
  size_t count; /**< number of elements */
} anec_floats;

/** Weights of a package, sorted by name; a kernel has none. Their elements can
    be changed in place; anec_session_weights_changed then copies them to the
    programs. */
ANEC_API size_t anec_session_weight_count(const anec_session *session);
ANEC_API anec_status anec_session_weight(const anec_session *session,
                                         size_t index, anec_floats *out);
ANEC_API anec_status anec_session_weights_changed(anec_session *session,
                                                  anec_diagnostics *diags);
/** Takes the adapters of a package from `path`, a .safetensors file or the
    folder of a checkpoint, without loading the package again; null takes them
    off. An error leaves the session as it was. */
ANEC_API anec_status anec_session_take_adapter(anec_session *session,
                                               const char *path,
                                               anec_diagnostics *diags);
/** Writes the weights to a .safetensors file, or to a folder of .npy. */
ANEC_API anec_status anec_session_save_weights(anec_session *session,
                                               const char *path,
                                               anec_diagnostics *diags);
/** The gradients of the last run of a training entry, sorted by name. */
ANEC_API size_t anec_session_gradient_count(const anec_session *session);
ANEC_API anec_status anec_session_gradient(const anec_session *session,
                                           size_t index, anec_floats *out);

/** Writes or reads a state: memory of a MIL program that keeps its elements
    between runs. */
ANEC_API anec_status anec_session_set_state(anec_session *session,
                                            const anec_input *state,
                                            anec_diagnostics *diags);
ANEC_API anec_status anec_session_get_state(anec_session *session,
                                            const anec_output *state,
                                            anec_diagnostics *diags);

/*===-- Training ----------------------------------------------------------===*/

/** Hyperparameters of AdamW and of the training loop; see docs/use/train.md. */
typedef struct anec_hyperparameters {
  size_t struct_size;
  double learning_rate, min_learning_rate;
  double warmup, decay_steps; /**< in steps; decay_steps 0: no decay */
  double beta1, beta2, epsilon, weight_decay;
  double clip;                          /**< 0: gradients are not clipped */
  double loss_scale, loss_scale_growth; /**< growth 0: it never grows */
  uint64_t seed; /**< of random masks, such as dropout's */
} anec_hyperparameters;

/** Fills `out` with the defaults of the tools for `numerics`. */
ANEC_API anec_status anec_hyperparameters_init(anec_hyperparameters *out,
                                               size_t struct_size,
                                               anec_numerics numerics);

/** AdamW over the weights of a session. */
typedef struct anec_trainer anec_trainer;

typedef struct anec_step {
  size_t struct_size;
  uint64_t step; /**< counted from 1 */
  double loss;   /**< the mean of its runs */
  double gradient_norm, learning_rate, loss_scale;
  int skipped; /**< a gradient was not finite, and no weight changed */
} anec_step;

/** Trains `entry`; null selects the only one that trains. A null `hyper` means
    the defaults. */
ANEC_API anec_status anec_trainer_open(anec_session *session, const char *entry,
                                       const anec_hyperparameters *hyper,
                                       anec_trainer **out,
                                       anec_diagnostics *diags);
ANEC_API void anec_trainer_destroy(anec_trainer *trainer);
/** Runs forward and backward, and adds the gradients to those of this step.
    `loss` receives the loss, and can be null. */
ANEC_API anec_status anec_trainer_accumulate(anec_trainer *trainer,
                                             const anec_input *inputs,
                                             size_t input_count, float *loss,
                                             anec_diagnostics *diags);
/** Ends the step: updates the weights with the mean of the gradients. `out` can
    be null. */
ANEC_API anec_status anec_trainer_update(anec_trainer *trainer, anec_step *out,
                                         anec_diagnostics *diags);
/** Calls both: a step of one run. */
ANEC_API anec_status anec_trainer_step(anec_trainer *trainer,
                                       const anec_input *inputs,
                                       size_t input_count, anec_step *out,
                                       anec_diagnostics *diags);

/*===-- Text --------------------------------------------------------------===*/

typedef struct anec_tokenizer anec_tokenizer;

/** Opens a tokenizer.json or its folder, a SentencePiece .model or llama2.c's
    tokenizer.bin; with a null or empty path, each byte is a token. */
ANEC_API anec_status anec_tokenizer_open(const char *path, anec_tokenizer **out,
                                         anec_diagnostics *diags);
ANEC_API void anec_tokenizer_destroy(anec_tokenizer *tokenizer);
/** The number of ids, which are counted from 0. */
ANEC_API unsigned anec_tokenizer_vocabulary(const anec_tokenizer *tokenizer);
/** Writes the first `capacity` ids of `text` to `ids`, and the number of all
    its ids to `count`. `ids` can be null if `capacity` is 0. */
ANEC_API anec_status anec_tokenizer_encode(const anec_tokenizer *tokenizer,
                                           const char *text, int32_t *ids,
                                           size_t capacity, size_t *count,
                                           anec_diagnostics *diags);
/** Writes the first `capacity` bytes of the text of `ids` to `bytes`, without a
    null character, and the number of all its bytes to `count`. */
ANEC_API anec_status anec_tokenizer_decode(const anec_tokenizer *tokenizer,
                                           const int32_t *ids, size_t id_count,
                                           char *bytes, size_t capacity,
                                           size_t *count,
                                           anec_diagnostics *diags);

/** Windows of tokens for training, in the order of `ane-run train`. */
typedef struct anec_windows anec_windows;

typedef struct anec_windows_options {
  size_t struct_size;
  /** Files and folders: `.bin` files have token ids, all others text. */
  const char *const *paths;
  size_t path_count;
  size_t length;           /**< tokens of a window */
  int64_t vocabulary;      /**< all ids must be less; 0: not checked */
  double validation_share; /**< share of the text, at its end, that is not
                              trained on */
  uint64_t seed;           /**< for the order of windows */
} anec_windows_options;

ANEC_API anec_status anec_windows_options_init(anec_windows_options *options,
                                               size_t struct_size);
/** With a null `tokenizer`, each byte is a token. */
ANEC_API anec_status anec_windows_open(const anec_windows_options *options,
                                       const anec_tokenizer *tokenizer,
                                       anec_windows **out,
                                       anec_diagnostics *diags);
ANEC_API void anec_windows_destroy(anec_windows *windows);
/** The number of windows of an epoch. */
ANEC_API uint64_t anec_windows_count(const anec_windows *windows);
/** Fills `tokens` and `targets`, `length` elements each, with the next training
    window. After the last window of an epoch, the next epoch starts in another
    order. */
ANEC_API anec_status anec_windows_next(anec_windows *windows, int32_t *tokens,
                                       int32_t *targets,
                                       anec_diagnostics *diags);

/** Receives a new token, before its text, and the natural logarithm of its
    probability by the model. A nonzero result ends the text after it. */
typedef int (*anec_token_callback)(int32_t id, double log_probability,
                                   void *user);

typedef struct anec_generate_options {
  size_t struct_size;
  unsigned tokens;    /**< maximum number of new tokens */
  double temperature; /**< 0: always the most likely token */
  double top_p;       /**< draws from the most likely tokens with this total
                         probability; 1: from all */
  uint64_t seed;
  int mark_beginning; /**< puts the beginning-of-text id before the prompt */
  unsigned top_k;     /**< draws from as many of the most likely tokens; 0: from
                         all */
  double min_p;       /**< draws from tokens that are at least this share as
                         likely as the most likely one */
  double repeat_penalty;  /**< divides positive logits of tokens among the last
                             repeat_window, and multiplies others; 1: nothing */
  unsigned repeat_window; /**< 0: the whole text */
  const char *const *stop_texts; /**< end the text, and are not part of it */
  size_t stop_text_count;
  const int32_t *prompt_ids; /**< the prompt, if its text is null */
  size_t prompt_id_count;
  int no_echo;  /**< the text that is received begins after the prompt */
  int64_t keep; /**< first tokens that a window which slides keeps; -1: the
                   beginning-of-text id */
  anec_session
      *draft; /**< a smaller model that guesses tokens; null for none */
  int lookup; /**< guesses what followed the last tokens before, without a draft
               */
  unsigned draft_tokens;              /**< guesses in each step */
  anec_token_callback token_callback; /**< called with the user data of the text
                                         callback; null for none */
} anec_generate_options;

ANEC_API anec_status anec_generate_options_init(anec_generate_options *options,
                                                size_t struct_size);

/** Receives text as it is generated, the prompt first: `length` bytes of whole
    UTF-8 characters. A nonzero result ends the text. */
typedef int (*anec_text_callback)(const char *text, size_t length, void *user);

/** Continues `prompt` with a package that was compiled with forward_only and
    computes logits. With a null `tokenizer`, each byte is a token; the ids of
    `prompt_ids` then have no text. `callback` can be null if there is a
    `token_callback`. */
ANEC_API anec_status anec_session_generate(anec_session *session,
                                           const anec_tokenizer *tokenizer,
                                           const char *prompt,
                                           const anec_generate_options *options,
                                           anec_text_callback callback,
                                           void *user, anec_diagnostics *diags);

/*===-- Evaluation --------------------------------------------------------===*/

/** Receives how many of `tokens` are predicted, and the perplexity of these. A
    nonzero result ends the evaluation with what is measured. */
typedef int (*anec_evaluate_callback)(uint64_t done, uint64_t tokens,
                                      double perplexity, void *user);

typedef struct anec_evaluate_options {
  size_t struct_size;
  /** Files and folders: `.bin` files have token ids, all others text. */
  const char *const *paths;
  size_t path_count;
  size_t window;      /**< tokens that the model is given at once; 0: as many as
                         it has positions */
  size_t stride;      /**< tokens between the begins of windows; 0: `window` */
  uint64_t tokens;    /**< predicted tokens, at most; 0: all of the text */
  int mark_beginning; /**< starts each window with the beginning-of-text id */
  anec_session *baseline; /**< another model that reads the same windows; null
                             for none */
} anec_evaluate_options;

ANEC_API anec_status anec_evaluate_options_init(anec_evaluate_options *options,
                                                size_t struct_size);

/** Means over all predicted tokens, with their standard errors, in nats. What
    compares with a baseline is 0 without one. */
typedef struct anec_evaluation {
  size_t struct_size;
  uint64_t windows;
  uint64_t tokens; /**< predicted ones */
  double loss;
  double loss_error;
  double perplexity; /**< exp(loss) */
  double seconds;
  int is_interrupted; /**< by the callback */
  double baseline_loss;
  double loss_change; /**< the model's loss less the baseline's */
  double loss_change_error;
  double divergence; /**< KL(baseline || model) of the next token */
  double divergence_error;
  uint64_t agreements; /**< tokens where both have the same most likely one */
} anec_evaluation;

/** Measures how well the model of a session predicts a text, as `ane-run
    evaluate` does. With a null `tokenizer`, each byte of a text is a token.
    `callback` can be null. */
ANEC_API anec_status anec_session_evaluate(anec_session *session,
                                           const anec_tokenizer *tokenizer,
                                           const anec_evaluate_options *options,
                                           anec_evaluate_callback callback,
                                           void *user, anec_evaluation *out,
                                           anec_diagnostics *diags);

/*===-- Former names ------------------------------------------------------===*/

/** Until 0.2, unless the program defines ANEC_C_NO_FORMER_NAMES. */
#ifndef ANEC_C_NO_FORMER_NAMES
#define ANEC_ERROR ANEC_SEVERITY_ERROR
#define ANEC_WARNING ANEC_SEVERITY_WARNING
#define ANEC_REMARK ANEC_SEVERITY_REMARK
#define ANEC_NOTE ANEC_SEVERITY_NOTE
#define anec_error anec_logged_error
#define anec_errors anec_logged_errors
#define anec_errors_destroy anec_logged_errors_destroy
#define anec_errors_count anec_logged_errors_count
#define anec_errors_get anec_logged_errors_get
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ANEC_C_H */
