//===- LanguageModels.h - the component LanguageModels ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Tokenizers, generation, conversations and evaluation. anec.h includes it; a
/// build without ANEC_LANGUAGE_MODELS does not install it.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LANGUAGEMODELS_H
#define ANEC_LANGUAGEMODELS_H

#include "anec/Generate/ChatSession.h"
#include "anec/Generate/Evaluate.h"

#endif // ANEC_LANGUAGEMODELS_H
