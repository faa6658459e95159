//===- anec.h - the embedding API ------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The compiler and its runtime as a library, all that the tools do. Nothing
/// here prints, exits or throws; what goes wrong is in the Diagnostics, which
/// stand last among the parameters.
///
///   anec::Diagnostics diags;
///   anec::CompileOptions options;
///   options.weights.seed = 7;
///   auto model = anec::compileModelFile("llama.tdsl", options, "", diags);
///   auto session = anec::ProgramSession::open(std::move(*model), {}, diags);
///   auto trainer = anec::Trainer::open(*session, {}, diags);
///   trainer->step({{"tokens", tokens}, {"targets", targets}}, diags);
///
/// | to                          | there is                                 |
/// |-----------------------------|------------------------------------------|
/// | compile                     | compileFile, compileModelFile            |
/// | ask what a chip says        | checkFile, predictFile, printRule        |
/// | run, take gradients         | ProgramSession                           |
/// | train                       | Trainer, or train for a whole run        |
/// | generate text               | ProgramSession::generate                 |
///
/// Values own what they have, and are independent of each other. What points
/// into source text (a module, findings) is to be shown with the Diagnostics
/// that it was read with. Different objects may be used by different threads at
/// the same time; one object by one thread at a time.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_ANEC_H
#define ANEC_ANEC_H

#include "anec/API/Compile.h"
#include "anec/API/Inspect.h"
#include "anec/API/ProgramSession.h"
#include "anec/API/Trainer.h"
#include "anec/Report/RuleDescription.h"
#include "anec/Train/TokenData.h"
#include "anec/Train/Trainer.h"

#endif // ANEC_ANEC_H
