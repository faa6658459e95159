//===- TextModel.cpp - logits of the texts that a model reads -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Generate/TextModel.h"

using namespace anec;

TextModel::~TextModel() = default;
