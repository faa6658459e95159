//===- anec.h - the embedding API -------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The compiler and its runtime as a library, with everything the tools do.
/// Nothing here prints or exits; errors are reported to the Diagnostics, which
/// are usually the last parameter. An array that memory has no room for throws
/// std::bad_alloc, and nothing else throws. (Containers of LLVM, which is built
/// without exceptions, end the process where they cannot grow.)
///
///   anec::Diagnostics diags;
///   anec::CompileOptions options;
///   options.weights.seed = 7;
///   auto model = anec::compileModelFile("llama.tdsl", options, "", diags);
///   auto session = anec::ProgramSession::open(std::move(*model), {}, diags);
///   auto trainer = anec::Trainer::open(*session, {}, diags);
///   trainer->step({{"tokens", tokens}, {"targets", targets}}, diags);
///
/// | task                        | functions and classes                    |
/// |-----------------------------|------------------------------------------|
/// | compile                     | compileFile, compileModelFile            |
/// | check, predict, explain     | checkFile, predictFile, printRule        |
/// | explain errors of a log     | findErrorsInFile, printKnownError        |
/// | run, compute gradients      | ProgramSession                           |
/// | train                       | Trainer, or train for a whole run        |
/// | generate text               | ProgramSession::generate, Generator      |
/// | evaluate a language model   | evaluate                                 |
/// | converse                    | ChatSession                              |
///
/// Values own their data and are independent of each other. Source ranges, in
/// modules and findings, must be resolved with the Diagnostics that they were
/// read with. Different objects can be used by different threads at the same
/// time, each object by one thread at a time.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_ANEC_H
#define ANEC_ANEC_H

#include "anec/API/Compile.h"
#include "anec/API/Inspect.h"
#include "anec/API/ProgramSession.h"
#include "anec/API/Trainer.h"
#include "anec/CoreML/WantedDescription.h"
#include "anec/Generate/ChatSession.h"
#include "anec/Report/ErrorDescription.h"
#include "anec/Report/RuleDescription.h"
#include "anec/Target/ErrorLog.h"
#include "anec/Train/Evaluate.h"
#include "anec/Train/TokenData.h"
#include "anec/Train/Trainer.h"

#endif // ANEC_ANEC_H
