//===- GenerationConfig.h - how a model is meant to write -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_GENERATE_GENERATIONCONFIG_H
#define ANEC_LIB_GENERATE_GENERATIONCONFIG_H

#include "anec/Generate/Sampler.h"
#include "anec/Support/Diagnostics.h"

namespace anec {

/// What the generation_config.json in the folder of a model says about
/// sampling, where it says something (docs of transformers: GenerationConfig):
/// `temperature`, 0 where `do_sample` is false, `top_p`, `top_k`, `min_p`, and
/// `repetition_penalty`, which is for the whole text. All else is that of
/// `options`. Returns false, with the reason reported, when the file cannot be
/// read or has a value that is out of range.
[[nodiscard]] bool readGenerationConfig(llvm::StringRef folder,
                                        SamplingOptions &options,
                                        Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_GENERATE_GENERATIONCONFIG_H
