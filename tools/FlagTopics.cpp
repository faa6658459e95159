//===- FlagTopics.cpp - what the flags of commands are about --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FlagTopics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"

using namespace anec;

static constexpr FlagTopic topics[] = {
    {"Programs and files",
     "input state output-dir o emit weights weight-map init adapter checkpoint "
     "define shape fix function kernel part instance seq float ignore-key "
     "write-tokenizer from to like model config shard-size ignore-weights "
     "stat format json beside older-than purge"},
    {"Chips and rules",
     "target for os fail-on assume list-targets mil-version all baseline "
     "write-baseline verdicts predict log program rule skip-dangerous"},
    {"Numbers", "precision quantize calibrate quantize-report quantize-skip "
                "calibrate-tokenizer calibrate-tokens activation-scales "
                "activation-margin"},
    {"Comparing", "compare reference atol rtol equal-nan gradients "
                  "report-hazards .seed verify-numerics evaluate.baseline "
                  "baseline-checkpoint baseline-weights"},
    {"Core ML packages", "deployment describe interface"},
    {"Packages of models",
     "decode forward-only context batch block prefill ladder cache weight-mode "
     "fuse io lora"},
    {"Texts", "prompt prompt-file prompts prompt-ids chat messages system "
              "tools template-arg date tokenizer tokens stop end-ids keep bos "
              "echo tokenize.decode markers render stride window losses "
              "evaluate.data"},
    {"Choosing tokens",
     "temperature top-k top-p min-p repeat-penalty repeat-window generate.seed "
     "serve.seed draft draft-checkpoint draft-weights draft-tokens"},
    {"Training",
     "loss train-weights data steps lr train.batch finetune.batch warmup "
     "min-lr decay-steps "
     "weight-decay clip beta1 beta2 epsilon loss-scale loss-scale-growth "
     "recompute seed finetune.lora finetune.context train.checkpoint "
     "finetune.checkpoint resume save-every train.keep validation "
     "validation-data validation-windows validate-every patience"},
    {"Serving", "port queue"},
    {"Measuring",
     "suite iterations bench.warmup quick row list plot profile time run slow "
     "trial chaining dry-run time-limit"},
    {"Passes",
     "passes skip-passes pass-limit print-after remarks time-passes canonical"},
    {"Messages", "quiet verbose diagnostics dump-docs"},
    {"Backends",
     "backend numerics threads compute-units compile-limit path isolate "
     "reuse-compiled "
     "reload-after heartbeat weight-files procedure perf-stats"},
};

llvm::ArrayRef<FlagTopic> anec::flagTopics() { return topics; }

std::pair<size_t, size_t> anec::placeOfFlag(llvm::StringRef command,
                                            llvm::StringRef flag) {
  std::string own = (command + "." + flag).str();
  for (llvm::StringRef name : {llvm::StringRef(own), flag})
    for (size_t topic = 0; topic < std::size(topics); ++topic) {
      llvm::SmallVector<llvm::StringRef, 32> flags;
      topics[topic].flags.split(flags, ' ');
      if (const auto *found = llvm::find(flags, name); found != flags.end())
        return {topic, size_t(found - flags.begin())};
    }
  return {std::size(topics), 0};
}
