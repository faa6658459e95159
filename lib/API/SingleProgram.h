//===- SingleProgram.h - a MIL program that is run --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_API_SINGLEPROGRAM_H
#define ANEC_LIB_API_SINGLEPROGRAM_H

#include "Arrays.h"
#include "anec/Runtime/Backend.h"
#include "llvm/ADT/StringMap.h"

namespace anec::api {

/// The functions of a MIL program, each loaded when it is needed first.
class SingleProgram {
public:
  SingleProgram(std::unique_ptr<Module> module, Backend &backend,
                LoadOptions load)
      : module(std::move(module)), backend(backend), load(std::move(load)) {}

  std::vector<std::string> functions() const;
  /// Null, with the reason reported, when there is no such function or the
  /// backend cannot run it.
  Executable *prepare(llvm::StringRef function, Diagnostics &diags);
  bool run(llvm::StringRef function, llvm::ArrayRef<InputArray> inputs,
           llvm::ArrayRef<OutputArray> outputs, Diagnostics &diags);
  /// The state of that name in the functions that have been prepared.
  bool setState(const InputArray &state, Diagnostics &diags);
  bool getState(const OutputArray &state, Diagnostics &diags);

private:
  /// The executable with a state of that name; null, with the reason reported,
  /// when none of them has it.
  Executable *findState(llvm::StringRef name, unsigned &index,
                        Diagnostics &diags);

  std::unique_ptr<Module> module;
  Backend &backend;
  LoadOptions load;
  llvm::StringMap<std::unique_ptr<Executable>> executables;
};

} // namespace anec::api

#endif // ANEC_LIB_API_SINGLEPROGRAM_H
