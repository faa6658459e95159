//===- Run.cpp - errors of running a program ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/KnownError.h"

using namespace anec;

static constexpr llvm::StringLiteral runErrors = "run";

constinit const KnownError errors::SurfaceSize = {
    .id = "ane-surface-size",
    .family = runErrors,
    .summary =
        "an input or output is smaller than the engine requires, or they are "
        "in the wrong order",
    .marks = {{{.domain = "com.apple.appleneuralengine", .code = 42},
               {.text = "IOSurface smaller than the model expects"}}},
    .statuses = {0x1d},
    .cause =
        "rows of inputs and outputs take multiples of 64 bytes, and inputs "
        "and outputs are bound in the order of their names; two states in a "
        "Core ML program fail so, too",
    .remedy =
        "allocate batch x channels x height x padded rows, and bind in the "
        "order that the attributes of the model give; `ane-run` does both",
    .rules = {&rules::IoRow64, &rules::IoWidth32, &rules::IoInputOrder,
              &rules::IoOutputOrder, &rules::IoMinimum, &rules::IoUniformInputs,
              &rules::IoUniformOutputs, &rules::IoOneInput, &rules::IoBytes128,
              &rules::NoTile},
    .source =
        "Orion (M4 Max), Espresso (M3 Max), H3 (M3 Ultra), pmetal (macOS 27: "
        "Code=42), qwen-ane (M5 Max), CoreML-LLM (two states)",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::MapSurfaces = {
    .id = "ane-map-surfaces",
    .family = runErrors,
    .summary =
        "the daemon cannot map more inputs and outputs of this connection",
    .marks = {{{.domain = "com.apple.appleneuralengine", .code = 13},
               {.text = "IOSurfaces map failure"},
               {.text = "Program IOSurfaces map failed"}}},
    .isOfMachine = true,
    .cause =
        "a connection has 24 cached mappings; those of a process that ends "
        "without unloading stay",
    .remedy =
        "unload programs, and do not map with `cacheInference`; `ane-run` "
        "does not map",
    .source = "a bridge of MLX through `_ANEClient` (macOS 26; repository not "
              "known): the 25th fails",
    .date = "2026-11",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::Cancelled = {
    .id = "ane-cancelled",
    .family = runErrors,
    .summary = "the engine was going to sleep",
    .marks = {{{.text = "Request cancelled", .namesEngine = true},
               {.text = "Request canceled", .namesEngine = true}}},
    .statuses = {0x12},
    .isTransient = true,
    .cause =
        "work that is submitted about 5 seconds after the last run meets the "
        "engine going to sleep; from macOS 27 on it is refused, before it "
        "could freeze the machine",
    .remedy =
        "try again after 3 ms, up to 8 times; `ane-run --heartbeat=3` keeps "
        "the engine awake",
    .source = "loading-awesome/MiniMax-H3-Swift (M3 Ultra, macOS 27.0)",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::Preempted = {
    .id = "ane-preempted",
    .family = runErrors,
    .summary = "a request with a higher priority took the engine",
    .marks = {{{.text = "Inference preempted by higher-priority request"}}},
    .isTransient = true,
    .cause = "what the text says",
    .remedy = "try again",
    .source = "texts of AppleNeuralEngine.framework (macOS 27), which call it "
              "transient",
    .date = "2026-11",
    .confidence = Confidence::Low,
};

constinit const KnownError errors::Aborted = {
    .id = "ane-aborted",
    .family = runErrors,
    .summary = "the engine aborted the request",
    .marks = {{{.text = "Inference failed", .also = "request aborted"}}},
    .cause = "no cause is published",
    .remedy = "try again, and report it",
    .source = "texts of AppleNeuralEngine.framework (macOS 27)",
    .date = "2026-11",
    .confidence = Confidence::Low,
};

constinit const KnownError errors::BadArgument = {
    .id = "ane-bad-argument",
    .family = runErrors,
    .summary = "the engine got an argument that it does not accept",
    .marks = {{{.text = "Inference failed",
                .also = "invalid argument or state"}}},
    .statuses = {0x2, 0xe00002c2},
    .cause =
        "seen for Core AI programs that decode 1 or 2 queries at a time, "
        "where 4 and 8 run, for large banks of procedures, and for Core ML "
        "models on phones",
    .remedy = "pad the queries to 4 or 8, or use smaller banks",
    .rules = {&rules::IoRow64, &rules::IoWidth32},
    .source =
        "cadamcat/llms-on-apple-neural-engine (M5 Pro, macOS 27), "
        "jundot/omlx#2940 (M5 Pro, macOS 26), john-rocky/CoreML-Models#51 "
        "(iOS)",
    .date = "2026-11",
    .confidence = Confidence::Medium,
};

constinit const KnownError errors::Status1 = {
    .id = "ane-status-0x1",
    .family = runErrors,
    .summary = "the engine gave a general error",
    .marks = {{{.text = "generic ANE error"}}},
    .statuses = {0x1},
    .cause =
        "no cause is published; seen for Stable Diffusion after the compute "
        "units were changed",
    .remedy = "load the model again, or use other compute units",
    .source = "huggingface/swift-coreml-diffusers#80",
    .date = "2024-02",
    .confidence = Confidence::Low,
};

constinit const KnownError errors::Status16 = {
    .id = "ane-status-0x16",
    .family = runErrors,
    .summary = "the engine refused a part of a graph that MPSGraph gave it",
    .statuses = {0x16},
    .cause = "no cause is published; seen for image generation with PyTorch, "
             "which went on without the engine",
    .remedy = "update PyTorch and macOS, or compute this part on the CPU",
    .source = "AUTOMATIC1111/stable-diffusion-webui#13419, #13527 and #13933 "
              "(#13527: macOS 14.0), invoke-ai/InvokeAI#4356",
    .date = "2023-11",
    .confidence = Confidence::Low,
};

constinit const KnownError errors::StatusType8 = {
    .id = "ane-status-type-8",
    .family = runErrors,
    .summary = "an inference of a system model failed",
    .marks = {{{.text = "statusType=0x8"}}},
    .isTransient = true,
    .cause =
        "seen for Foundation Models, where the same request succeeded later",
    .remedy = "try again",
    .source = "one report (macOS 26; repository not known)",
    .date = "2026-11",
    .confidence = Confidence::Low,
};

constinit const KnownError errors::Interrupted = {
    .id = "ane-interrupted",
    .family = runErrors,
    .summary = "the system's daemon for the engine stopped",
    .marks =
        {{{.domain = "NSCocoaErrorDomain", .code = 4097, .namesEngine = true},
          {.domain = "NSCocoaErrorDomain", .code = 4099, .namesEngine = true}}},
    .isTransient = true,
    .cause =
        "the daemon crashed or was restarted, often because of the program "
        "itself",
    .remedy =
        "try again; if it comes each time, the program crashes the daemon: "
        "`ane-run --isolate` finds out",
    .source =
        "NSXPCConnectionInterrupted and NSXPCConnectionInvalid of Foundation",
    .date = "2026-11",
    .confidence = Confidence::High,
};

constinit const KnownError errors::Code47 = {
    .id = "ane-code-47",
    .family = runErrors,
    .summary = "the engine gave up on a large program",
    .marks = {{{.domain = "com.apple.appleneuralengine", .code = 47}}},
    .cause =
        "seen for 112 layers at 2048 tokens; descriptors of tiles are blamed",
    .remedy = "load fewer layers, or shorter sequences",
    .rules = {&rules::OpLimit, &rules::WorkingSet},
    .source = "two notes (M1 Max; repositories not known)",
    .date = "2026-11",
    .confidence = Confidence::Low,
};

constinit const KnownError errors::InferenceFailed = {
    .id = "ane-inference-failed",
    .family = runErrors,
    .summary = "a program failed on the engine; the status says why",
    .marks = {{{.domain = "com.apple.appleneuralengine", .code = 8},
               {.text = "Program Inference error"},
               {.text = "ANEProgramProcessRequestDirect() Failed"},
               {.text = "ANE inference operation failed"},
               {.text = "Could not process request ret="},
               {.text = "Failed to run inference", .namesEngine = true}}},
    .vagueness = 2,
    .cause = "the status in the same message is the reason",
    .remedy = "look for `status=` near it",
    .ruleFamilies = {"extents", "ops"},
    .source =
        "ggml-org/whisper.cpp#3914 (iOS 27 beta), ggml-org/whisper.cpp#3702 "
        "(M4, macOS 26.4 beta)",
    .date = "2026-11",
    .confidence = Confidence::Medium,
};
