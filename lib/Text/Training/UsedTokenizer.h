//===- UsedTokenizer.h - what a run says of its tokenizer ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TEXT_TRAINING_USEDTOKENIZER_H
#define ANEC_LIB_TEXT_TRAINING_USEDTOKENIZER_H

#include "anec/Text/Tokenizer.h"
#include "lib/Train/Checkpoint.h"

namespace anec {

/// What a checkpoint says of the tokenizer, which a run can be resumed with
/// from another folder.
UsedTokenizer usedTokenizer(const Tokenizer &tokenizer);

} // namespace anec

#endif // ANEC_LIB_TEXT_TRAINING_USEDTOKENIZER_H
