//===- Text.cpp - rules about MIL text ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Predicates.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Control.h"
#include "lib/Ops/Params/Convolution.h"
#include "lib/Ops/Params/Gelu.h"
#include "lib/Ops/Params/Slice.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Concat.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Constexpr.h"
#include "lib/Ops/Rows/Control.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Elementwise.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Memory.h"
#include "lib/Ops/Rows/Norm.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Ops/Rows/Softmax.h"
#include "lib/Target/Chip.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;

static constexpr llvm::StringLiteral textFamily = "text";

/// Reports statements of the op `def` that omit the parameter.
static void missingArgument(const MILOutline &text, const OpDef &def,
                            const ParamName &param, ReportBreach report) {
  eachStatement(text, [&](const OutlineStatement &statement) {
    if (statement.def == &def && !statement.argument(param))
      report(statement.range,
             llvm::formatv("`{0}` without `{1}`", def.name, param).str());
  });
}

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

static void buildInfo(const MILOutline &text, const Target &target,
                      ReportBreach report) {
  if (!text.hasBuildInfo)
    report(text.version.range, "the program has no `buildInfo`");
}
constinit const Rule rules::BuildInfo = {
    .id = "build-info",
    .family = textFamily,
    .summary = "a program has a `buildInfo` attribute",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source = "skyfallsin field guide (M3 Max), luengnat/rustane (M4)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict = "the E5 route accepts programs without it (dev-erik/ANE)",
    .advice = "print the program again with `anec`, which writes one",
    .ofText = buildInfo,
};

static void programVersion(const MILOutline &text, const Target &target,
                           ReportBreach report) {
  if (!text.version.text.empty() && text.version.text != "1.0")
    report(text.version.range,
           "the program is of version " + text.version.text.str());
}
constinit const Rule rules::ProgramVersion = {
    .id = "program-version",
    .family = textFamily,
    .summary = "programs have version 1.0 with ios16, because 1.3 is rejected",
    .chips = {Chip::M1, Chip::M2},
    .macOS = {"14-26.5"},
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .impact = Impact::Warning,
    .source = "maderix/ANE #3 and PR #6 (M1, M2)",
    .date = "2026-03",
    .confidence = Confidence::Low,
    .conflict = "Orion-fork runs version 1.3 on M1 Pro with macOS 15; macOS "
                "26.6 compiles it for M1 and M2 (mil-hwx-compiler)",
    .advice = "compile with `--mil-version=1.0` or `--target=m1`",
    .ofText = programVersion,
};

static void opsetOfVersion(const MILOutline &text, const Target &target,
                           ReportBreach report) {
  for (const OutlineFunction &function : text.functions)
    if (text.version.text == "1.0" && function.opset.text == "ios18")
      report(function.opset.range, "`ios18` in a program of version 1.0");
}
constinit const Rule rules::OpsetOfVersion = {
    .id = "opset-of-version",
    .family = textFamily,
    .summary = "a program of version 1.0 uses opsets ios15 to ios17",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source =
        "dev-erik/ANE 54aa4d2: version, opset and scalars switch together",
    .date = "2026-03",
    .advice = "print the program again with `anec --mil-version=1.3` or `1.0`",
    .ofText = opsetOfVersion,
};

static void scalarSpelling(const MILOutline &text, const Target &target,
                           ReportBreach report) {
  if (text.version.text == "1.0" && text.bareScalar.isValid())
    report(text.bareScalar, "a bare scalar type in a program of version 1.0");
}
constinit const Rule rules::ScalarSpelling = {
    .id = "scalar-spelling",
    .family = textFamily,
    .summary = "in version 1.0, scalars are spelled `tensor<int32, []>`",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source = "dev-erik/ANE 54aa4d2: InvalidMILProgram",
    .date = "2026-03",
    .confidence = Confidence::High,
    .advice = "print the program again with `anec --mil-version=1.0`",
    .ofText = scalarSpelling,
};

static void mainFunction(const MILOutline &text, const Target &target,
                         ReportBreach report) {
  for (const OutlineFunction &function : text.functions)
    if (function.name.text == "main")
      return;
  report(text.functions.empty() ? text.version.range
                                : text.functions[0].name.range,
         "the program has no function called `main`");
}
constinit const Rule rules::MainFunction = {
    .id = "main-function",
    .family = textFamily,
    .summary = "a program has a function called `main`",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .impact = Impact::Warning,
    .source = "every generator of MIL text (maderix/ANE, Orion, ironmill, ...)",
    .date = "2026-11",
    .advice = "name the function `main`, as `anec --kernel=NAME` does",
    .ofText = mainFunction,
};

static void knownExtents(const MILOutline &text, const Target &target,
                         ReportBreach report) {
  if (text.unknownExtent.isValid())
    report(text.unknownExtent, "an extent that is not known");
}
constinit const Rule rules::KnownExtents = {
    .id = "known-extents",
    .family = textFamily,
    .summary = "all extents are known at compile time",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source = "Orion, ANEForge, ironmill: dynamic shapes are rejected",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "compile a program for each shape, and pad inputs to the next "
              "larger one",
    .ofText = knownExtents,
};

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

static void untypedLiteral(const MILOutline &text, const Target &target,
                           ReportBreach report) {
  eachStatement(text, [&](const OutlineStatement &statement) {
    for (const auto *list : {&statement.arguments, &statement.attributes})
      for (const OutlineArgument &given : *list)
        if (given.form == OutlineArgument::Untyped)
          report(
              given.value.range,
              llvm::formatv("the value of `{0}` has no type", given.name.text)
                  .str());
  });
}
constinit const Rule rules::UntypedLiteral = {
    .id = "untyped-literal",
    .family = textFamily,
    .summary = "values are typed: `bool(true)`, not `true`",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source = "Orion (M4 Max), maderix/ANE, ironmill (M3 Pro)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "name a constant: `bool t = const()[name = string(\"t\"), val = "
              "bool(true)];`",
    .ofText = untypedLiteral,
};

static bool namesAxes(const OpDef *def) {
  return def && (def->has(trait::Reduction) || def == &ops::Softmax ||
                 def == &ops::LayerNorm);
}

static void inlineAxes(const MILOutline &text, const Target &target,
                       ReportBreach report) {
  eachStatement(text, [&](const OutlineStatement &statement) {
    if (namesAxes(statement.def))
      for (const OutlineArgument &given : statement.arguments)
        if (given.form == OutlineArgument::Typed)
          report(given.value.range,
                 llvm::formatv("`{0}` of `{1}` is not a named constant",
                               given.name.text, statement.op.text)
                     .str());
  });
}
constinit const Rule rules::InlineAxes = {
    .id = "inline-axes",
    .family = textFamily,
    .summary = "axes, `epsilon` and flags of reductions, `softmax` and "
               "`layer_norm` are named constants",
    .macOS = {"14-26.5"},
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .impact = Impact::Warning,
    .source = "ironmill (M3 Pro)",
    .date = "2026-11",
    .confidence = Confidence::Medium,
    .conflict =
        "macOS 26.6 compiles typed values inline (mil-hwx-compiler, M1 to M6)",
    .advice = "print the program again with `anec`, which names constants",
    .ofText = inlineAxes,
};

static void inlineArgument(const MILOutline &text, const Target &target,
                           ReportBreach report) {
  eachStatement(text, [&](const OutlineStatement &statement) {
    if (!namesAxes(statement.def) && statement.def != &ops::Const)
      for (const OutlineArgument &given : statement.arguments)
        if (given.form == OutlineArgument::Typed)
          report(given.value.range,
                 llvm::formatv("`{0}` of `{1}` is not a named constant",
                               given.name.text, statement.op.text)
                     .str());
  });
}
constinit const Rule rules::InlineArgument = {
    .id = "inline-argument",
    .family = textFamily,
    .summary = "parameters are named constants",
    .macOS = {"14-26.5"},
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .impact = Impact::Warning,
    .source = "luengnat/rustane (M4), ironmill (M3 Pro), Orion (M4 Max)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict =
        "macOS 26.6 compiles typed values inline (mil-hwx-compiler, M1 to M6)",
    .advice = "print the program again with `anec`, which names constants",
    .ofText = inlineArgument,
};

static void uniqueLabels(const MILOutline &text, const Target &target,
                         ReportBreach report) {
  for (const OutlineFunction &function : text.functions) {
    llvm::StringSet<> seen;
    for (const OutlineStatement &statement : function.statements)
      if (!statement.label.text.empty() &&
          !seen.insert(statement.label.text).second)
        report(statement.label.range,
               llvm::formatv("two ops are called `{0}`", statement.label.text)
                   .str());
  }
}
constinit const Rule rules::UniqueLabels = {
    .id = "unique-labels",
    .family = textFamily,
    .summary = "the `name`s of ops are unique in a function",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source = "ironmill (M3 Pro); all generators follow it",
    .date = "2026-11",
    .advice = "print the program again with `anec`, which makes names unique",
    .ofText = uniqueLabels,
};

//===----------------------------------------------------------------------===//
// Parameters that have a default elsewhere
//===----------------------------------------------------------------------===//

/// Defines a rule that the parameter of op OP must be written. Unlike the tools
/// that produce models, the compiler of MIL text does not apply defaults.
#define ANEC_WRITTEN(NAME, ID, OP, PARAMETER, SUMMARY, SOURCE, CONFIDENCE,     \
                     IMPACT, ADVICE)                                           \
  constinit const Rule rules::NAME = {                                         \
      .id = ID,                                                                \
      .family = textFamily,                                                    \
      .summary = SUMMARY,                                                      \
      .paths = {EnginePath::InMemory, EnginePath::E5},                         \
      .impact = Impact::IMPACT,                                                \
      .source = SOURCE,                                                        \
      .date = "2026-11",                                                       \
      .confidence = Confidence::CONFIDENCE,                                    \
      .advice = ADVICE,                                                        \
      .ofText =                                                                \
          [](const MILOutline &text, const Target &, ReportBreach report) {    \
            missingArgument(text, ops::OP, param::PARAMETER, report);          \
          },                                                                   \
  };

ANEC_WRITTEN(
    GeluMode, "gelu-mode", Gelu, geluMode, "`gelu` writes `mode`",
    "Orion (M4 Max): rejected without it; ironmill, ANEForge: accepted with it",
    High, Error,
    "write `mode` as `EXACT`, `TANH_APPROXIMATION` or `SIGMOID_APPROXIMATION`")
ANEC_WRITTEN(
    ConcatInterleave, "concat-interleave", Concat, interleave,
    "`concat` writes `interleave`",
    "Orion's rejected text lacks it; maderix/ANE, ironmill, ANEForge have it",
    High, Error, "write `interleave` as a named `bool(false)`")
ANEC_WRITTEN(MatmulTransposeX, "matmul-transpose-x", Matmul, transposeX,
             "`matmul` writes `transpose_x`",
             "maderix/ANE: every working kernel has it", Medium, Warning,
             "write both flags as named `bool` constants")
ANEC_WRITTEN(MatmulTransposeY, "matmul-transpose-y", Matmul, transposeY,
             "`matmul` writes `transpose_y`",
             "maderix/ANE: every working kernel has it", Medium, Warning,
             "write both flags as named `bool` constants")
ANEC_WRITTEN(RsqrtEpsilon, "rsqrt-epsilon", Rsqrt, epsilon,
             "`rsqrt` writes `epsilon`",
             "Orion #3 (M4), ironmill (M3 Pro): rejected without it", High,
             Error,
             "write `epsilon`, or use `pow` with -0.5, which runs on all chips")
ANEC_WRITTEN(LogEpsilon, "log-epsilon", Log, epsilon, "`log` writes `epsilon`",
             "ironmill (M3 Pro), ANEForge: rejected without it", High, Error,
             "give `epsilon`")
ANEC_WRITTEN(PadConstant, "pad-constant", Pad, constantVal,
             "`pad` writes `constant_val`",
             "mil-hwx-compiler (M1, macOS 26.6): refused without it", High,
             Error, "write `constant_val`, also when nothing is added")
ANEC_WRITTEN(InverseEpsilon, "inverse-epsilon", Inverse, epsilon,
             "`inverse` writes `epsilon`",
             "ironmill (M3 Pro): rejected without it", Medium, Error,
             "write `epsilon`, or divide 1 by the value with `real_div`")
ANEC_WRITTEN(SoftmaxAxis, "softmax-axis", Softmax, axis,
             "`softmax` writes `axis`",
             "all generators of MIL text write it; it has no default", Medium,
             Error, "write `axis` as a named `int32` constant")
ANEC_WRITTEN(LayerNormEpsilon, "layer-norm-epsilon", LayerNorm, epsilon,
             "`layer_norm` writes `epsilon`",
             "ironmill (M3 Pro): epsilon is a reference to a constant", Medium,
             Error, "write `epsilon` as a named constant")
ANEC_WRITTEN(LayerNormAxes, "layer-norm-axes", LayerNorm, axes,
             "`layer_norm` writes `axes`",
             "ironmill (M3 Pro): axes are references to constants", Medium,
             Error, "write `axes` as a named constant")
ANEC_WRITTEN(ConvGeometry, "conv-geometry", Conv, dilations,
             "`conv` writes `dilations`",
             "all generators of MIL text write all five parameters", Medium,
             Warning,
             "write `strides`, `pad_type`, `pad`, `dilations` and `groups`")
#undef ANEC_WRITTEN

static void reduceKeepDims(const MILOutline &text, const Target &target,
                           ReportBreach report) {
  eachStatement(text, [&](const OutlineStatement &statement) {
    if (statement.def && statement.def->has(trait::Reduction) &&
        !statement.argument(param::keepDims))
      report(
          statement.range,
          llvm::formatv("`{0}` without `keep_dims`", statement.op.text).str());
  });
}
constinit const Rule rules::ReduceKeepDims = {
    .id = "reduce-keep-dims",
    .family = textFamily,
    .summary = "reductions write `keep_dims`",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source = "maderix/ANE, ironmill (M3 Pro)",
    .date = "2026-11",
    .advice = "write `keep_dims` as a named `bool` constant",
    .ofText = reduceKeepDims,
};

static void sliceMasks(const MILOutline &text, const Target &target,
                       ReportBreach report) {
  eachStatement(text, [&](const OutlineStatement &statement) {
    if (statement.def == &ops::SliceByIndex &&
        !(statement.argument(param::beginMask) &&
          statement.argument(param::endMask)))
      report(statement.range, "`slice_by_index` without its masks");
  });
}
constinit const Rule rules::SliceMasks = {
    .id = "slice-masks",
    .family = textFamily,
    .summary = "`slice_by_index` writes `begin_mask` and `end_mask`",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .impact = Impact::Warning,
    .source = "Orion's generator omits them, and its slices fail",
    .date = "2026-11",
    .confidence = Confidence::Low,
    .conflict = "mil-hwx-compiler compiles it without masks for M1",
    .advice = "use `slice_by_size`",
    .ofText = sliceMasks,
};

static void dequantizeForm(const MILOutline &text, const Target &target,
                           ReportBreach report) {
  eachStatement(text, [&](const OutlineStatement &statement) {
    if (statement.def == &ops::ConstexprAffineDequantize &&
        !statement.arguments.empty())
      report(statement.range, "`constexpr_affine_dequantize` with arguments");
  });
}
constinit const Rule rules::DequantizeForm = {
    .id = "dequantize-form",
    .family = textFamily,
    .summary = "`constexpr_affine_dequantize` has its parameters as attributes",
    .macOS = {"26.3-"},
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source = "maderix/ANE (M4); arguments are rejected by higgs, anedvd",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "write `constexpr_affine_dequantize()[axis = ..., name = ...]`, "
              "as `anec` prints it",
    .ofText = dequantizeForm,
};

//===----------------------------------------------------------------------===//
// Ops that are not accepted
//===----------------------------------------------------------------------===//

static void reportOp(const OutlineStatement &statement, ReportBreach report) {
  report(statement.op.range,
         llvm::formatv("`{0}` is not accepted", statement.op.text).str());
}

constinit const Rule rules::NoState = {
    .id = "no-state",
    .family = textFamily,
    .summary = "states are not supported",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source = "ANEForge op catalogue",
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict = "mil_infer uses states through Core ML",
    .advice = "pass the state as an input and return it as an output",
    .ofText =
        [](const MILOutline &text, const Target &, ReportBreach report) {
          eachStatement(text, [&](const OutlineStatement &statement) {
            if (statement.def == &ops::ReadState ||
                statement.def == &ops::WriteState)
              reportOp(statement, report);
          });
        },
};

/// Reports ops that the table has no row for.
static void namedOps(const MILOutline &text,
                     std::initializer_list<llvm::StringRef> names,
                     ReportBreach report) {
  eachStatement(text, [&](const OutlineStatement &statement) {
    if (llvm::is_contained(names, statement.op.text))
      reportOp(statement, report);
  });
}

constinit const Rule rules::NoNeg = {
    .id = "no-neg",
    .family = textFamily,
    .summary = "`neg` is not supported",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source = "Orion's generator writes it; ironmill (M3 Pro): rejected",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "multiply by -1",
    .ofText = [](const MILOutline &text, const Target &,
                 ReportBreach report) { namedOps(text, {"neg"}, report); },
};
constinit const Rule rules::NoWhere = {
    .id = "no-where",
    .family = textFamily,
    .summary = "`where` is not supported",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source = "ironmill (M3 Pro)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "use `select`",
    .ofText = [](const MILOutline &text, const Target &,
                 ReportBreach report) { namedOps(text, {"where"}, report); },
};
constinit const Rule rules::NoControlFlow = {
    .id = "no-control-flow",
    .family = textFamily,
    .summary = "no values decide what is run, and there are no lists: branches "
               "and loops leave the engine",
    .source = "ANEForge op catalogue, ironmill; coremltools issue 2208",
    .date = "2026-11",
    .confidence = Confidence::High,
    .trial = opSweep,
    .advice = "compute both branches and `select`, repeat the body a known "
              "number of times, or decide on the host",
    .unprobed = "no source shows how this compiler spells nested blocks, so a "
                "rejection may only reject the spelling",
    .ofOp = [](const Op &op, const Target &) -> Verdict {
      if (!isOneOf(op, {&ops::Cond, &ops::WhileLoop}))
        return {};
      return broken("`{0}` leaves the engine: values decide what is run",
                    op.def().name);
    },
    .ofText =
        [](const MILOutline &text, const Target &, ReportBreach report) {
          namedOps(text,
                   {"make_list", "list_gather", "list_length", "list_read",
                    "list_scatter", "list_write"},
                   report);
        },
};
constinit const Rule rules::NoRandom = {
    .id = "no-random",
    .family = textFamily,
    .summary = "random ops are not supported",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source = "ANEForge op catalogue; ironmill",
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict = "ANEForge lists `random_*` from M3 on, through E5",
    .advice = "draw random numbers on the host and pass them as an input",
    .ofText =
        [](const MILOutline &text, const Target &, ReportBreach report) {
          namedOps(text,
                   {"random_bernoulli", "random_categorical", "random_normal",
                    "random_uniform"},
                   report);
        },
};
constinit const Rule rules::NoDataDependentShape = {
    .id = "no-data-dependent-shape",
    .family = textFamily,
    .summary = "shapes do not depend on values",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source = "ANEForge op catalogue; microarchitecture study (M4, M6)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .trial = opSweep,
    .advice = "compute it on the host",
    .ofText = [](const MILOutline &text, const Target &,
                 ReportBreach report) { namedOps(text, {"non_zero"}, report); },
};
