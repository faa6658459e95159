//===- NoLanguageModels.cpp - commands that anec is without ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Takes the place of these commands in a build without ANEC_LANGUAGE_MODELS.
///
//===----------------------------------------------------------------------===//

#include "CommandTable.h"

using namespace anec;

constinit const CommandDef commands::Convert = absentCommand("convert");
constinit const CommandDef commands::Import = absentCommand("import");
