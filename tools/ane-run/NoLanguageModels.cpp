//===- NoLanguageModels.cpp - commands that ane-run is without ------------===//
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

constinit const CommandDef commands::Cache = absentCommand("cache");
constinit const CommandDef commands::Evaluate = absentCommand("evaluate");
constinit const CommandDef commands::Finetune = absentCommand("finetune");
constinit const CommandDef commands::Generate = absentCommand("generate");
constinit const CommandDef commands::Serve = absentCommand("serve");
constinit const CommandDef commands::Tokenize = absentCommand("tokenize");
