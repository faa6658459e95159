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
///   auto session =
///       model ? anec::ProgramSession::open(std::move(*model), {}, diags)
///             : nullptr;
///   auto trainer =
///       session ? anec::Trainer::open(*session, {}, diags) : nullptr;
///   if (!trainer ||
///       !trainer->step({{"tokens", tokens}, {"targets", targets}}, diags))
///     diags.print(llvm::errs());
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
/// What a function returns by value or as a unique_ptr owns its data, and can
/// outlive its arguments, with these exceptions:
///
/// | result                                | uses                             |
/// |---------------------------------------|----------------------------------|
/// | source ranges, in programs, findings  | the Diagnostics they were read   |
/// |                                       | with, which resolve them         |
/// | RunCost of a program                  | that program                     |
/// | Trainer, TextModel, Generator,        | what they were opened on:        |
/// | ChatSession                           | session, model, tokenizer        |
/// | ArrayRef, StringRef, raw pointers     | the object that was asked        |
///
/// The first must then be destroyed before the second. A ProgramSession owns or
/// copies what it was opened on. Different objects can be used by different
/// threads at the same time, each object by one thread at a time.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_ANEC_H
#define ANEC_ANEC_H

#include "anec/API/Compile.h"
#include "anec/API/Inspect.h"
#include "anec/API/ProgramSession.h"
#include "anec/API/Trainer.h"
#include "anec/CoreML/WantedDescription.h"
#include "anec/Report/ErrorDescription.h"
#include "anec/Report/RuleDescription.h"
#include "anec/Target/ErrorLog.h"
#include "anec/Train/TokenData.h"
#include "anec/Train/Trainer.h"
// The component LanguageModels; CMake defines this for a build without it.
#ifndef ANEC_NO_LANGUAGE_MODELS
#include "anec/LanguageModels.h"
#endif

#endif // ANEC_ANEC_H
