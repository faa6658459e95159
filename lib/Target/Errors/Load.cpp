//===- Load.cpp - errors of loading a program -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/KnownError.h"

using namespace anec;

static constexpr llvm::StringLiteral loadErrors = "load";

constinit const KnownError errors::TooManyPrograms = {
    .id = "ane-too-many-programs",
    .family = loadErrors,
    .summary =
        "the engine has loaded the maximum number of programs, including "
        "those of other processes",
    .statuses = {0x50004},
    .isOfMachine = true,
    .cause = "an engine holds 127 or 128 programs (121 on M3 Ultra, 239 on A17 "
             "Pro), whatever their size, for all processes together",
    .remedy = "unload programs, fuse several into one, or stop other processes "
              "that use the engine",
    .rules = {&rules::ShallowProgram},
    .source = "True2456/qwen-ane (M5 Max: the 128th), oMLX (M5 Pro, M3 Ultra), "
              "reports of A17 Pro and M3 Max",
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict = "some report more programs; equal texts count as one",
};

constinit const KnownError errors::MemoryWindow = {
    .id = "ane-memory-window",
    .family = loadErrors,
    .summary = "the weights of all loaded programs exceed what the engine can "
               "address",
    .statuses = {0x20004},
    .cause = "an engine addresses about 4 GB; on phones the limit is lower",
    .remedy = "load fewer programs, split the weights, or quantize them",
    .rules = {&rules::WeightLimit, &rules::IoMaximum},
    .source =
        "apple/ml-stable-diffusion#26 (iPhone 12 Pro, iOS 16.2 beta), oMLX "
        "(M3 Max, M3 Ultra: banks of 3.75 GiB)",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::LoadFailure10004 = {
    .id = "ane-load-0x10004",
    .family = loadErrors,
    .summary = "the engine cannot load a program that was compiled",
    .statuses = {0x10004},
    .cause = "seen for pools of integers and for some elementwise ops in a "
             "converter from ONNX to Core AI",
    .remedy = "use fp16 for these ops",
    .rules = {&rules::IntegerArithmetic},
    .source = "two reports (repositories not known)",
    .date = "2026-11",
    .confidence = Confidence::Low,
};

constinit const KnownError errors::StaleBundle = {
    .id = "coreml-stale-bundle",
    .family = loadErrors,
    .summary =
        "a compiled model in the cache does not load, and Core ML compiles "
        "it again",
    .marks = {{{.text = "Must re-compile the E5 bundle"}}},
    .cause =
        "the cache is of another version of the system or of other compute "
        "units, or the engine rejects a layer, which the next lines name",
    .remedy =
        "wait for the compilation, which can take minutes; if it comes each "
        "time, look for the layer that is rejected",
    .source = "huggingface/swift-coreml-diffusers#80 (2023), "
              "FluidInference/FluidAudio#121 (macOS 26.1)",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::NoMemory = {
    .id = "ane-no-memory",
    .family = loadErrors,
    .summary = "the engine has no memory for the program",
    .marks = {{{.domain = "com.apple.appleneuralengine", .code = 53},
               {.text = "Program load failed", .also = "no memory"},
               {.text = "Inference failed",
                .also = "no memory",
                .namesEngine = true}}},
    .isOfMachine = true,
    .cause = "the text calls it transient; for some fp16 models of Core AI it "
             "comes on every load of an idle machine, and the process aborts",
    .remedy =
        "free memory and try again; if it stays, choose `cpu_only` or `gpu` "
        "for this model",
    .rules = {&rules::WeightLimit, &rules::WorkingSet},
    .source = "apple/coreai-torch#67 (M4 Max, macOS 27 beta)",
    .date = "2026-08",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::Busy = {
    .id = "ane-busy",
    .family = loadErrors,
    .summary = "other processes keep the engine busy",
    .marks = {{{.domain = "com.apple.appleneuralengine", .code = 54},
               {.text = "no ANE resources"},
               {.text = "exclusive-access contention"}}},
    .statuses = {0x5},
    .isTransient = true,
    .cause = "another process holds the engine's programs or its only place",
    .remedy =
        "wait and try again, or stop the other process; one process should "
        "own the engine",
    .source = "True2456/qwen-ane (M5 Max, macOS 27)",
    .date = "2026-11",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::BadImage = {
    .id = "ane-bad-image",
    .family = loadErrors,
    .summary = "the compiled program is damaged, or for another chip or system",
    .marks = {{{.text = "bad program image"}}},
    .cause = "what the text says",
    .remedy = "remove the compiled program, and compile it again",
    .source = "texts of AppleNeuralEngine.framework (macOS 27)",
    .date = "2026-11",
    .confidence = Confidence::Low,
};

constinit const KnownError errors::Hardware = {
    .id = "ane-hardware",
    .family = loadErrors,
    .summary = "the engine or its firmware failed",
    .marks = {{{.text = "ANE firmware failure"},
               {.text = "ANE hardware failure"}}},
    .isOfMachine = true,
    .cause = "what the text says",
    .remedy = "restart the machine; if it comes again, report it to the vendor "
              "with a sysdiagnose",
    .source = "texts of AppleNeuralEngine.framework (macOS 27)",
    .date = "2026-11",
    .confidence = Confidence::Low,
};

constinit const KnownError errors::PowerOn = {
    .id = "ane-power-on",
    .family = loadErrors,
    .summary = "the engine was not ready",
    .marks = {{{.text = "device power-on failed"},
               {.text = "device not ready", .namesEngine = true},
               {.text = "ISO too old"}}},
    .isTransient = true,
    .cause =
        "the engine sleeps after about 5 seconds without work, and the call "
        "came while it woke up",
    .remedy = "try again; `ane-run --heartbeat=3` keeps the engine awake",
    .source = "texts of AppleNeuralEngine.framework (macOS 27), which call it "
              "transient",
    .date = "2026-11",
    .confidence = Confidence::Low,
};

constinit const KnownError errors::NotAllowed = {
    .id = "ane-not-allowed",
    .family = loadErrors,
    .summary = "this process lacks the permission",
    .marks = {{{.text = "check entitlements", .namesEngine = true},
               {.text = "entitlement", .namesEngine = true},
               {.text = "ANEProgramChainingPrepare() Failed"},
               {.domain = "com.apple.appleneuralengine", .code = 15}}},
    .cause = "chained requests, real-time tasks and the weights buffer need "
             "entitlements that only the vendor gives",
    .remedy = "use the standard calls; `ane-run` needs no entitlement",
    .source = "maderix/ANE#40 (M4 Max, macOS 15): Code=15",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::AneModule = {
    .id = "coreai-ane-module",
    .family = loadErrors,
    .summary =
        "MPSGraph could not load its program for the engine, and aborts the "
        "process",
    .marks = {{{.text = "Error occurred when loading ANE module"},
               {.text = "could not load module from MPSGraphPackage"}}},
    .vagueness = 2,
    .cause = "the error before it says why",
    .remedy = "read the error before it; other compute units avoid it",
    .source = "apple/coreai-torch#67 (M4 Max, macOS 27 beta)",
    .date = "2026-08",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::Unload = {
    .id = "ane-unload",
    .family = loadErrors,
    .summary = "a model is unloaded; this is not an error",
    .marks = {{{.text = "doUnloadModel:options:qos:error::"}}},
    .vagueness = 2,
    .cause = "the framework writes it whenever it unloads a model; `nil "
             "_ANEModel` follows a model that was not loaded",
    .remedy = "look at the lines before it",
    .source = "apple/coremltools#2113, john-rocky/CoreML-Models#36",
    .date = "2023-12",
    .confidence = Confidence::Medium,
};
