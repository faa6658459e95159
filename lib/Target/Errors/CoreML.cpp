//===- CoreML.cpp - errors of Core ML -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/KnownError.h"

using namespace anec;

static constexpr llvm::StringLiteral coreMLErrors = "core-ml";

constinit const KnownError errors::ExecutionPlan14 = {
    .id = "coreml-plan-14",
    .family = coreMLErrors,
    .summary =
        "Core ML cannot make an execution plan, because the engine rejects a "
        "part of the model",
    .marks = {{{.text = "error code: -14", .also = "execution plan"},
               {.text = "error code: -14", .also = "model.mil"},
               {.text = "-14", .namesEngine = true, .isLine = true},
               {.text = "error code: -14", .isLine = true},
               {.text = "with error code: -14.", .isLine = true}}},
    .cause =
        "seen for states that are moved with `concat`, for lookup tables by "
        "row and block, and for models with fixed and flexible inputs and a "
        "state",
    .remedy =
        "keep the cache in inputs and outputs, or write it with a mask; "
        "choose other compute units to find out whether the engine is the "
        "reason",
    .rules = {&rules::NoState, &rules::NoSliceUpdate, &rules::NoLut,
              &rules::KnownExtents},
    .ruleFamilies = {"ops", "extents"},
    .source = "altic-dev/FluidVoice#383 (M4, macOS 15.7), "
              "finnvoor/CoreMLPipelines#4, CoreML-LLM (iOS 26), "
              "apple/coremltools#2548",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::ExecutionPlan = {
    .id = "coreml-plan",
    .family = coreMLErrors,
    .summary =
        "Core ML cannot make an execution plan for the chosen compute units",
    .marks = {{{.text = "Failed to build the model execution plan"},
               {.text = "Failed to create model profiler", .also = "Core ML"}}},
    .vagueness = 2,
    .cause = "a compute unit rejects the model; its own error comes before or "
             "after this one",
    .remedy = "look for the errors near it; try other compute units",
    .ruleFamilies = {"ops", "extents"},
    .source = "huggingface/swift-chat#31 (M3, macOS 15.1: code 14), "
              "pytorch/executorch#19635 (iOS 26.4)",
    .date = "2026-11",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::PlanBuild = {
    .id = "coreml-plan-build",
    .family = coreMLErrors,
    .summary =
        "Core ML cannot use the engine for a part of the model, and uses "
        "another unit",
    .marks = {{{.text = "Error plan build: -1"}, {.text = "ANECF error"}}},
    .vagueness = 2,
    .cause =
        "the compiler of the engine failed; its error comes before this one",
    .remedy = "look for the error before it",
    .ruleFamilies = {"ops", "extents"},
    .source =
        "apple/coremltools#1106 (2021), apple/coremltools#1548 (iOS 15.5), "
        "john-rocky/CoreML-Models#25",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::NetworkPrediction = {
    .id = "coreml-network-prediction",
    .family = coreMLErrors,
    .summary = "a prediction failed",
    .marks = {{{.text =
                    "Unable to compute the prediction using a neural network "
                    "model"},
               {.text = "Error computing NN outputs"}}},
    .vagueness = 2,
    .cause = "the model failed on the compute unit that Core ML chose, or an "
             "input has another shape than the model",
    .remedy = "compare the shapes with the description of the model; try other "
              "compute units",
    .source =
        "john-rocky/CoreML-Models#51 (iOS), BreezeWhite/oemer#62 (macOS "
        "14), apple/coremltools#412, apple/ml-stable-diffusion#100 (macOS "
        "13.1)",
    .date = "2026-11",
    .confidence = Confidence::Low,
};

constinit const KnownError errors::ProgramPrediction = {
    .id = "coreml-program-prediction",
    .family = coreMLErrors,
    .summary = "a prediction of an ML program failed",
    .marks = {{{.text = "Unable to compute the prediction using ML Program"}}},
    .vagueness = 2,
    .cause = "a compute unit failed; its own error is near it",
    .remedy = "look for errors of `E5RT` near it",
    .source = "ggml-org/whisper.cpp#3914 (iOS 27 beta)",
    .date = "2026-06",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::BnnsOp = {
    .id = "coreml-bnns-op",
    .family = coreMLErrors,
    .summary = "the part of the model that runs on the CPU failed",
    .marks = {{{.text = "occurred executing a BNNS Op"}}},
    .cause =
        "not the engine: BNNS failed; macOS 26.4 to 26.5 and iOS 27.0 also "
        "crash in it",
    .remedy = "update macOS (26.6 and later), or use other compute units",
    .source = "FluidInference/FluidAudio#817, #889",
    .date = "2026-11",
    .confidence = Confidence::Medium,
    .conflict = "on A19 Pro it is still seen with 26.6",
};

constinit const KnownError errors::DeclareNetwork = {
    .id = "coreml-declare-network",
    .family = coreMLErrors,
    .summary = "Core ML cannot load the model",
    .marks = {{{.text = "Error in declaring network"},
               {.text = "Error in adding network"}}},
    .vagueness = 2,
    .cause =
        "seen for weight files above 2 GB, and after an op that could not be "
        "translated",
    .remedy =
        "look for the error before it; split models whose weights take more "
        "than 2 GB",
    .rules = {&rules::WeightLimit},
    .source = "apple/coremltools#1807, apple/coremltools#1420 (iOS 15.4)",
    .date = "2023-03",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::MilTranslation = {
    .id = "coreml-mil-translation",
    .family = coreMLErrors,
    .summary =
        "Core ML cannot translate an op of the program for its older runtime",
    .marks = {{{.text = "MIL->EIR translation error"}}},
    .cause = "seen for a mean of values with flexible shapes; the place in the "
             "text is the op",
    .remedy = "convert with fixed shapes, or with a newer deployment target",
    .rules = {&rules::KnownExtents, &rules::NoReduceMean},
    .source = "apple/coremltools#1420 (iOS 15.4)",
    .date = "2022-03",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::InvalidMil = {
    .id = "coreml-invalid-mil",
    .family = coreMLErrors,
    .summary = "the program is not valid MIL",
    .marks = {{{.text = "Validation error parsing MIL model"},
               {.text = "Required param", .also = "is missing"}}},
    .cause =
        "the text lacks a parameter, or has one of a wrong type, which the "
        "message names",
    .remedy =
        "write the parameter that it names; `anec check` finds some that are "
        "easily forgotten",
    .ruleFamilies = {"text"},
    .source = "rustnn/rustnn#106 (watchOS 11)",
    .date = "2026-04",
    .confidence = Confidence::High,
};

constinit const KnownError errors::FlexibleMissing = {
    .id = "coreml-flexible-missing",
    .family = coreMLErrors,
    .summary =
        "the program has inputs of unknown shape, and does not say which "
        "shapes there can be",
    .marks = {{{.text = "FlexibleShapeInformation attribute is missing"}}},
    .cause =
        "from macOS 27 and iOS 27 on, such a model loads, and gives NaN or "
        "zeros",
    .remedy = "convert the model again, so that its function has the attribute "
              "`FlexibleShapeInformation`, or with fixed shapes",
    .rules = {&rules::KnownExtents},
    .source =
        "FluidInference/FluidAudio#738, FluidInference/FluidAudio#858 (iOS "
        "27)",
    .date = "2026-08",
    .confidence = Confidence::High,
};

constinit const KnownError errors::FlexibleStrides = {
    .id = "coreml-flexible-strides",
    .family = coreMLErrors,
    .summary = "an input has known strides where the model has flexible shapes",
    .marks = {{{.text = "tensor_buffer has known strides"},
               {.text = "RangeDims", .also = "FlexibleShapeInformation"}}},
    .cause = "the runtime of Core ML fails for enumerated and ranged shapes in "
             "some versions",
    .remedy = "use one function, or one model, for each shape",
    .rules = {&rules::KnownExtents},
    .source = "apple/coremltools#2730 (macOS 26)",
    .date = "2026-06",
    .confidence = Confidence::Medium,
    .conflict = "it passed on macOS 26.5.1",
};

constinit const KnownError errors::DataDependentShape = {
    .id = "coreml-data-dependent",
    .family = coreMLErrors,
    .summary = "a shape depends on values",
    .marks = {{{.text = "Data-dependent shapes were disabled"}}},
    .cause =
        "an op such as `non_zero`, or an input without known extents, gives "
        "a shape that is known only when the model runs",
    .remedy = "compute with fixed shapes and a mask",
    .rules = {&rules::NoDataDependentShape, &rules::KnownExtents,
              &rules::NoWhere, &rules::NoShape},
    .source = "eai-lab/On-device-Sora#6",
    .date = "2025-12",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::EspressoShape = {
    .id = "coreml-broadcast",
    .family = coreMLErrors,
    .summary = "two values of an op do not fit together",
    .marks = {{{.text = "Invalid blob shape", .also = "broadcast"},
               {.text = "Shapes are not compatible for broadcasting"}}},
    .cause = "an op before it, often a resize, gave another shape than the "
             "converter expected",
    .remedy =
        "give every resize its scales, and fix the shapes when converting",
    .source = "onnx/onnx-coreml#511, apple/coremltools#1019, #1427",
    .date = "2022-03",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::EspressoArgument = {
    .id = "coreml-op-argument",
    .family = coreMLErrors,
    .summary = "an op has an argument that does not fit its input",
    .marks = {{{.text = "Espresso exception", .also = "Invalid argument"},
               {.text = "generic_reshape_kernel"},
               {.text = "generic_general_concat_kernel"}}},
    .cause = "a shape is not the one that the converter expected, as with "
             "flexible inputs",
    .remedy = "fix the shapes when converting",
    .rules = {&rules::KnownExtents},
    .source = "apple/coremltools#1037, apple/coremltools#1075 (status -6)",
    .date = "2021-01",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::EspressoBackend = {
    .id = "coreml-no-backend",
    .family = coreMLErrors,
    .summary = "no compute unit supports an op of the program",
    .marks = {{{.text = "ops not supported on any backend"}}},
    .cause =
        "an axis is too long for the engine, and the program allows no other "
        "unit",
    .remedy = "reshape so that every axis is within the limits",
    .rules = {&rules::SpatialLimit, &rules::ChannelLimit, &rules::MatmulExtent,
              &rules::MatmulContraction},
    .ruleFamilies = {"extents", "ops"},
    .source = "sbryngelson/ANEForge#57",
    .date = "2026-07",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::FunctionName = {
    .id = "coreml-function-name",
    .family = coreMLErrors,
    .summary = "a function was chosen in a model that is not an ML program",
    .marks = {{{.text = "property must be",
                .also = "unless the model type is ML Program"}}},
    .cause = "the model is of an older type, or was not downloaded completely",
    .remedy = "load the files again, or leave the name of the function out",
    .source = "0seba/VoxCPMANE#15 (M5 Max)",
    .date = "2026-08",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::InputShape = {
    .id = "coreml-input-shape",
    .family = coreMLErrors,
    .summary = "an input has not the shape that the model describes",
    .marks = {{{.text =
                    "is not compatible with the model's feature description"},
               {.text = "does not match the shape",
                .also = "specified in the model description"},
               {.text = "was not in enumerated set of allowed shapes"}}},
    .cause = "the caller passed another shape",
    .remedy =
        "pass the shape of the message, or convert the model with the shapes "
        "that are needed",
    .source = "alibaba/MNN#1672 (iOS), apple/coremltools#672",
    .date = "2021-09",
    .confidence = Confidence::High,
};

constinit const KnownError errors::SpecVersion = {
    .id = "coreml-spec-version",
    .family = coreMLErrors,
    .summary = "the model is for a newer system",
    .marks = {{{.text = "The model supplied is of version"}}},
    .cause = "the version of the specification is newer than the tools or the "
             "system know",
    .remedy = "update macOS and Xcode, or convert with a lower "
              "`minimum_deployment_target`",
    .source = "apple/ml-stable-diffusion#25 (macOS 12.6)",
    .date = "2022-12",
    .confidence = Confidence::High,
};

constinit const KnownError errors::IrValue = {
    .id = "coreml-ir-value",
    .family = coreMLErrors,
    .summary = "a message of Core ML that loads give which succeed",
    .marks = {{{.text = "Cannot retrieve vector from IRValue format"}}},
    .vagueness = 2,
    .cause = "no cause is published",
    .remedy = "ignore it if the model loads",
    .source = "FluidInference/FluidAudio#738 (iOS 27)",
    .date = "2026-07",
    .confidence = Confidence::Low,
};

constinit const KnownError errors::RnnOnGpu = {
    .id = "coreml-rnn-gpu",
    .family = coreMLErrors,
    .summary = "a recurrent op cannot run on the GPU",
    .marks = {{{.text = "GPURNNOps"},
               {.text = "JIT not supported", .also = "RNN"}}},
    .cause =
        "recurrent ops are chosen for the GPU, which fails from macOS 26.5 on",
    .remedy = "leave the GPU out of the compute units",
    .rules = {&rules::NoRecurrent},
    .source = "FluidInference/FluidAudio (macOS 26.5)",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::PortMemory = {
    .id = "coreml-port-memory",
    .family = coreMLErrors,
    .summary = "an input or output of a part of the model has no memory",
    .marks = {{{.text = "No memory object bound to port"},
               {.text = "Failed to add operation to E5 stream"}}},
    .cause = "seen for vision transformers with images of 768 x 768 and more; "
             "buffers of a fixed size are blamed",
    .remedy = "use smaller images, or other compute units",
    .source = "one note (repository not known)",
    .date = "2026-11",
    .confidence = Confidence::Low,
};
