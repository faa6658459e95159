//===- Compile.cpp - errors of the engine's compiler ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/KnownError.h"

using namespace anec;

static constexpr llvm::StringLiteral compileErrors = "compile";

constinit const KnownError errors::InvalidProgram = {
    .id = "ane-invalid-program",
    .family = compileErrors,
    .summary =
        "the engine's compiler rejects the text, or a weight file that it "
        "names",
    .marks = {{{.text = "InvalidMILProgram"}}},
    .cause =
        "the text does not parse, an op has a wrong type or an argument that "
        "is not spelled as the compiler wants it, or a weight is not where "
        "the text says; the compiler does not tell which",
    .remedy =
        "`anec check` lists known causes; before macOS 27, --weight-files=16 "
        "gives each array its own file",
    .rules = {&rules::UntypedLiteral, &rules::ConcatInterleave,
              &rules::RecordOffset, &rules::SliceOfInput,
              &rules::ChannelSoftmax, &rules::IoFp32, &rules::IoDType},
    .ruleFamilies = {"text", "weights", "graph"},
    .source =
        "maderix/ANE, Orion (M4 Max), Espresso (M3 Max), qwen-ane (M5 Max)",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::Refused = {
    .id = "ane-refused",
    .family = compileErrors,
    .summary = "the engine's compiler rejects a valid program without a reason",
    .marks = {{{.text = "ANECCompile() FAILED"},
               {.text = "ANECCompile(", .also = "FAILED: err=("},
               {.text = "ANECCompile", .also = "(11)"},
               {.text = "MILCompilerForANE", .also = "(11)"},
               {.text = "MILCompilerForANE error"},
               {.text = "failed to compile ANE model using ANEF"},
               {.text = "CompilationFailure", .namesEngine = true},
               {.text = "CompilationFailure", .isLine = true},
               {.domain = "com.apple.appleneuralengine.compiler", .code = 1},
               {.text = "ane_e5rt_program_compile failed"}}},
    .vagueness = 1,
    .cause =
        "the program is valid, but this engine does not support an op, a "
        "shape or a combination of ops; from about the 119th compilation of "
        "a process on, it rejects every program",
    .remedy =
        "`anec check` lists known causes; look for other errors at the same "
        "time, halve the program to find the op, and compile in a new process",
    .ruleFamilies = {"extents", "ops", "graph", "interface", "values"},
    .source = "apple/coremltools#2247 (iOS), christopherkarani/Espresso#18 (M1 "
              "Ultra, macOS 26), ncdrone/rustane#11 (M2 Max), "
              "ggml-org/whisper.cpp#3702 (M4, macOS 26.4 beta)",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::OfflineCompile = {
    .id = "ane-offline-compile",
    .family = compileErrors,
    .summary =
        "coreai-build could not compile for the engine, and wrote a program "
        "for the GPU only",
    .marks = {{{.text = "ANECCompileOffline() failed"}}},
    .cause =
        "the list of errors is empty, and the exit code of coreai-build is "
        "0; seen for weights in linear int4",
    .remedy =
        "do not trust the exit code, look for `ANE_region` in the output; "
        "use palettized or fp16 weights",
    .rules = {&rules::NoBlockwise},
    .source = "apple/coreai-models#205 (macOS 27 beta)",
    .date = "2026-08",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::Extent = {
    .id = "ane-extent",
    .family = compileErrors,
    .summary = "a value inside the program is too large along an axis",
    .marks = {{{.text = "Tensor width goes beyond limit"},
               {.text = "Tensor height goes beyond limit"},
               {.text = "Tensor depth goes beyond limit"},
               {.text = "channel size exceeds limit", .namesEngine = true},
               {.text = "Tensor dimensions",
                .also = "are not within supported range"}}},
    .cause =
        "the last axes have at most 16384 elements (65536 from M4 on), with "
        "padding and values in between; where tiles do not fit, the compiler "
        "reports it, too",
    .remedy = "move the long axis to the channels, or compute it in tiles",
    .rules = {&rules::SpatialLimit, &rules::ChannelLimit, &rules::ReduceExtent,
              &rules::ConcatExtent, &rules::MatmulExtent,
              &rules::MatmulContraction},
    .source =
        "FluidInference/mobius#61 (M2), FluidInference/FluidAudio#121 (macOS "
        "26.1), ncdrone/rustane#13 (M3 Ultra)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict =
        "mobius#61 sees the width of a retry with tiles, where the cause is "
        "another op",
};

constinit const KnownError errors::KernelSize = {
    .id = "ane-kernel-size",
    .family = compileErrors,
    .summary =
        "the window of a convolution or a pool is too large for the engine",
    .marks = {{{.text = "kernel width =", .also = "Unsupported"},
               {.text = "kernel height =", .also = "Unsupported"},
               {.text = "Invalid Pool kernel"},
               {.text = "should be multiple of", .also = "for large kernel"},
               {.text = "for conv with large kernel"},
               {.text = "with large kernel",
                .also = "does not support palettized"}}},
    .cause =
        "kernels and windows have a greatest width and height for each chip",
    .remedy =
        "split a large window into several small ones, or use `reduce_mean` "
        "for a global pool",
    .rules = {&rules::ConvKernelWidth, &rules::ConvKernelHeight,
              &rules::AvgPoolWindow, &rules::MaxPoolWindow},
    .source = "hollance/neural-engine#2; messages that Core ML compares "
              "validation results with",
    .date = "2026-11",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::PoolStride = {
    .id = "ane-pool-stride",
    .family = compileErrors,
    .summary = "the stride of a pool is too large for the engine",
    .marks = {{{.text = "stride_x =", .also = "Unsupported"},
               {.text = "stride_y =", .also = "Unsupported"}}},
    .cause = "seen on an engine of 2020, which has strides of at most 2",
    .remedy = "use several pools with strides of 2",
    .source = "hollance/neural-engine#2",
    .date = "2020-07",
    .confidence = Confidence::Low,
};

constinit const KnownError errors::Broadcast = {
    .id = "ane-broadcast",
    .family = compileErrors,
    .summary =
        "an elementwise op broadcasts a computed operand along the channels",
    .marks = {{{.text = "elementwise with channel broadcast supported only"}}},
    .cause = "seen on an engine of 2020, which broadcasts constants only",
    .remedy = "repeat the operand, or multiply with a constant",
    .rules = {&rules::BatchBroadcast},
    .source = "hollance/neural-engine#2",
    .date = "2020-07",
    .confidence = Confidence::Low,
};

constinit const KnownError errors::SplitByChannel = {
    .id = "ane-split-by-channel",
    .family = compileErrors,
    .summary =
        "the compiler fails while it splits a convolution by input channels",
    .marks = {{{.text = "failed create split by input channel"}}},
    .cause = "an error of the compiler that depends on the values of weights: "
             "seen for `layer_norm` with values of `gamma` and `beta` that "
             "differ, twice in a program",
    .remedy = "apply `gamma` and `beta` with `mul` and `add`",
    .rules = {&rules::LayerNormAffine, &rules::LayerNormOneAffine,
              &rules::LayerNormWide},
    .source = "apple/coreai-models#138 (M5 Max, macOS 27 beta)",
    .date = "2026-08",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::RecordType = {
    .id = "ane-record-type",
    .family = compileErrors,
    .summary =
        "the type of a record in a weight file is not the type in the program",
    .marks = {{{.text = "Metadata data type does not match requested type"}}},
    .cause = "the header of the record has another code for its type, or the "
             "offset is not that of a header: what is read as the type is "
             "something else",
    .remedy = "write the offset of the header, with the type at byte 4; `anec "
              "check` finds offsets that are impossible",
    .rules = {&rules::RecordOffset, &rules::OneRecordPerFile,
              &rules::WeightPath},
    .source =
        "apple/coremltools (MILBlob's StorageReader), mil-hwx-compiler (M1, "
        "M2)",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::BlobProperties = {
    .id = "ane-blob-properties",
    .family = compileErrors,
    .summary = "the record of a weight cannot be read",
    .marks = {{{.text = "Cannot retrieve file blob properties"}}},
    .cause = "the offset does not point at the header of a record, the file is "
             "not there, or the fields of the header are 4 bytes off",
    .remedy = "the header has the size at byte 8 and the offset of the data at "
              "byte 16; `anec` writes such files",
    .rules = {&rules::RecordOffset, &rules::WeightPath,
              &rules::OneRecordPerFile},
    .source = "mil-hwx-compiler (M1, M2, macOS 26)",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::BlobSentinel = {
    .id = "ane-blob-sentinel",
    .family = compileErrors,
    .summary = "the offset of a weight is not that of a record",
    .marks = {{{.text = "Invalid sentinel in blob_metadata"}}},
    .cause = "a record starts with 0xDEADBEEF, and the bytes at the offset are "
             "others: the offset is wrong, the file was cut or replaced, or "
             "Core ML has a compiled model in its cache that an interrupted "
             "compilation left",
    .remedy = "write the offset of the header: that of the first record is 64; "
              "if the file is right, remove `com.apple.e5rt.e5bundlecache` "
              "from the caches of the application",
    .rules = {&rules::RecordOffset, &rules::OneRecordPerFile},
    .source = "apple/coremltools (MILBlob's StorageReader)",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::WeightFileSize = {
    .id = "ane-weight-file-size",
    .family = compileErrors,
    .summary = "the weight file is larger than the engine takes",
    .marks = {{{.text = "Weight file size", .also = "exceeds the maximum"}}},
    .cause = "all weights of a program are in one address window",
    .remedy = "split the model into several programs, or quantize its weights",
    .rules = {&rules::WeightLimit, &rules::IoMaximum},
    .source = "messages that Core ML compares validation results with (iOS 18)",
    .date = "2026-11",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::IoFootprint = {
    .id = "ane-io-footprint",
    .family = compileErrors,
    .summary =
        "inputs and outputs take more memory than the engine has for them",
    .marks = {{{.text = "live io tensor memory footprint"}}},
    .cause = "all inputs and outputs of a program are mapped at once",
    .remedy = "split the program, or its inputs and outputs",
    .rules = {&rules::IoMaximum, &rules::WorkingSet, &rules::IoRank4,
              &rules::ChannelVector},
    .source = "messages that Core ML compares validation results with (iOS 18)",
    .date = "2026-11",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::OpUnsupported = {
    .id = "ane-op-unsupported",
    .family = compileErrors,
    .summary = "the engine does not have an op",
    .marks = {{{.text = "Unsupported MIL operation"},
               {.text = "This platform doesn't support Neuron"},
               {.text = "Input cannot run on ANE"}}},
    .cause = "this chip, or every chip, has no such op",
    .remedy =
        "`anec check` lists ops that the chip lacks; write it with others, "
        "or compute it outside",
    .ruleFamilies = {"ops"},
    .source = "messages that Core ML compares validation results with (iOS 18)",
    .date = "2026-11",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::TypeUnsupported = {
    .id = "ane-type-unsupported",
    .family = compileErrors,
    .summary = "a value has a type that the engine does not support",
    .marks =
        {{{.text = "Invalid input tensor format", .namesEngine = true},
          {.text = "Invalid output tensor format", .namesEngine = true},
          {.text = "Unsupported tensor", .also = "type", .namesEngine = true},
          {.text = "Unsupported parameter",
           .also = "type",
           .namesEngine = true},
          {.text = "Output type",
           .also = "is not supported",
           .namesEngine = true},
          {.text = "data type", .also = "Unsupported", .namesEngine = true}}},
    .cause =
        "the engine computes fp16; other types are for inputs, outputs and "
        "weights only",
    .remedy = "cast to fp16 inside the program",
    .rules = {&rules::IoDType, &rules::IoFp32, &rules::IoBool,
              &rules::CastInt32, &rules::IntegerArithmetic, &rules::Fp32Inside},
    .source = "messages that Core ML compares validation results with (iOS 18)",
    .date = "2026-11",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::Padding = {
    .id = "ane-padding",
    .family = compileErrors,
    .summary = "an axis is padded that the engine does not pad",
    .marks = {{{.text = "padding on the",
                .also = "dimension is not supported",
                .namesEngine = true}}},
    .cause = "the engine pads width and height",
    .remedy = "pad another axis with `concat`, or transpose before",
    .rules = {&rules::ConvPadding, &rules::PadConstant},
    .source = "messages that Core ML compares validation results with (iOS 18)",
    .date = "2026-11",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::RangeShape = {
    .id = "ane-range-shape",
    .family = compileErrors,
    .summary = "the program has an extent that is not known at compile time",
    .marks = {{{.text = "ANECompiler does not support range shape flexibility"},
               {.text = "has unbounded dimension which is not supported"},
               {.text = "Impossible to retrieve non-constant tensor shape",
                .namesEngine = true}}},
    .cause = "the engine runs programs of known shapes",
    .remedy =
        "convert the model with fixed shapes, or with one function for each",
    .rules = {&rules::KnownExtents, &rules::NoDataDependentShape},
    .source =
        "messages that Core ML compares validation results with (iOS 18); "
        "apple/coremltools#2370: ranges run on the engine at the default "
        "shape only",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::StagedBundle = {
    .id = "ane-staged-bundle",
    .family = compileErrors,
    .summary =
        "the files of the program are not those that the framework hashed",
    .marks = {{{.text = "verifyBundleAtPath", .also = "invalid model"},
               {.text = "verifyBundleAtPath", .also = "hash mismatch"},
               {.text = "model bundle containing a symbolic link"},
               {.domain = "com.apple.appleneuralengine", .code = 10}}},
    .cause =
        "from macOS 27 on, the compiler hashes the files of a program: "
        "several weight files are hashed in different orders, and files "
        "elsewhere than in the folder that the framework names are not found",
    .remedy = "put all weights into one file, and write the same bytes to "
              "`$TMPDIR/HEXSTRINGIDENTIFIER`; `ane-run` does both without "
              "`--weight-files`, and can be told to use `--path=client`",
    .rules = {&rules::OneWeightFile},
    .source =
        "jundot/omlx#3124 (M4 Max, M5 Max, macOS 27.0), Epistates/pmetal#34, "
        "True2456/qwen-ane",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::NoDiskSpace = {
    .id = "ane-no-disk-space",
    .family = compileErrors,
    .summary = "there is no space for the compiler's files",
    .marks =
        {{{.text = "No space left on device", .namesEngine = true},
          {.text = "Write weightsFilePath failed"},
          {.text = "F_PREALLOCATE", .namesEngine = true},
          {.text =
               "Failed to create a working directory appropriate for URL"}}},
    .isOfMachine = true,
    .cause = "the compiler keeps what it compiles in its own folder "
             "(`com.apple.aned`), where it can grow to hundreds of gigabytes",
    .remedy = "free disk space, and restart the process that compiles",
    .source =
        "apple/coremltools#2549 (macOS 15.5: 274 GB), ddalcu/mlx-serve (M4 "
        "Max, macOS 26)",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::CompileArgument = {
    .id = "ane-compile-argument",
    .family = compileErrors,
    .summary = "the compiler was called with a wrong argument",
    .marks = {{{.text = "doCompileModel", .also = "Bad argument error"},
               {.domain = "com.apple.appleneuralengine", .code = 26}}},
    .isOfMachine = true,
    .cause =
        "the meaning is not known; it was seen beside an image scaler that "
        "worked",
    .remedy =
        "ignore it if the program works; otherwise check the path and the "
        "options that are passed",
    .source = "one log of macOS 26 (repository not known)",
    .date = "2026-11",
    .confidence = Confidence::Low,
};

constinit const KnownError errors::NotTakenForMil = {
    .id = "ane-not-taken-for-mil",
    .family = compileErrors,
    .summary = "the framework took the program for a Core ML network",
    .marks = {{{.text = "model.espresso.net"}}},
    .isOfMachine = true,
    .cause =
        "the client compiles MIL only with the options `kANEFModelType` and "
        "`kANEFNetPlistFilenameKey`, and the names in them can change with "
        "macOS",
    .remedy = "use `--path=in-memory`; if `ane-run` was used, please report it",
    .source = "dev-erik and libane (M4 Max, macOS 15)",
    .date = "2026-11",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::GpuFallback = {
    .id = "ane-gpu-fallback",
    .family = compileErrors,
    .summary =
        "Core AI could not convert the graph for the engine, and runs all of "
        "it on the GPU",
    .marks = {{{.text = "MLIR MPS to ANEC conversion failed"},
               {.text = "Falling back to full compile on GPU"}}},
    .cause = "one op that the engine does not have makes the whole graph leave "
             "it; the results are right",
    .remedy = "search the log for the op, and write it otherwise",
    .ruleFamilies = {"ops", "extents"},
    .source = "cadamcat/llms-on-apple-neural-engine (M5 Pro, macOS 27)",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::UpsampleFactor = {
    .id = "ane-upsample-factor",
    .family = compileErrors,
    .summary = "the engine does not resize by this factor",
    .marks = {{{.text = "only scaling factor of 2 is supported"}}},
    .cause = "seen on an engine of 2020, which doubles only",
    .remedy = "resize by 2 several times",
    .source = "hollance/neural-engine#2",
    .date = "2020-07",
    .confidence = Confidence::Low,
};
