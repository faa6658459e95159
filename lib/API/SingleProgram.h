//===- SingleProgram.h - runs a MIL program ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_API_SINGLEPROGRAM_H
#define ANEC_LIB_API_SINGLEPROGRAM_H

#include "Arrays.h"
#include "anec/Runtime/Backend.h"
#include "llvm/ADT/StringMap.h"

namespace anec::api {

/// Runs the functions of a MIL program. Each is loaded on first use.
class SingleProgram {
public:
  SingleProgram(std::unique_ptr<Module> module, Backend &backend,
                LoadOptions load)
      : module(std::move(module)), backend(backend), load(std::move(load)) {}

  std::vector<std::string> functions() const;
  /// Returns the loaded function; null, with the reason reported, when there is
  /// no such function or the backend cannot run it.
  [[nodiscard]] Executable *prepare(llvm::StringRef function,
                                    Diagnostics &diags);
  [[nodiscard]] bool run(llvm::StringRef function,
                         llvm::ArrayRef<InputArray> inputs,
                         llvm::ArrayRef<OutputArray> outputs,
                         Diagnostics &diags);
  /// Write and read the state of that name in a prepared function.
  [[nodiscard]] bool setState(const InputArray &state, Diagnostics &diags);
  [[nodiscard]] bool getState(const OutputArray &state, Diagnostics &diags);

private:
  /// Returns the executable with a state of that name, and its number in
  /// `index`; null, with the reason reported, when there is none.
  [[nodiscard]] Executable *findState(llvm::StringRef name, unsigned &index,
                                      Diagnostics &diags);

  std::unique_ptr<Module> module;
  Backend &backend;
  LoadOptions load;
  llvm::StringMap<std::unique_ptr<Executable>> executables;
};

} // namespace anec::api

#endif // ANEC_LIB_API_SINGLEPROGRAM_H
