//===- TokenizerKind.h - what a run's tokens were made by ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TRAIN_TOKENIZERKIND_H
#define ANEC_TRAIN_TOKENIZERKIND_H

#include "anec/Support/Words.h"

namespace anec {

ANEC_ENUM(TokenizerKind, (Bytes, "bytes"), (SentencePiece, "sentencepiece"),
          (Llama2c, "llama2c"), (HuggingFace, "huggingface"))

} // namespace anec

#endif // ANEC_TRAIN_TOKENIZERKIND_H
