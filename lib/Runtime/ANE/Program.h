//===- Program.h - a compiled program ---------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_PROGRAM_H
#define ANEC_LIB_RUNTIME_ANE_PROGRAM_H

#include "AneError.h"
#include "Model.h"
#include <optional>

namespace anec::ane {

/// What a loaded program says of its inputs or outputs; empty when it does not.
struct SymbolTable {
  /// Names in the engine's order, as in the text.
  std::vector<std::string> names;
  /// Their numbers for requests.
  std::vector<unsigned> indices;
  /// Bytes from row to row, by name; 0 when not known.
  llvm::StringMap<uint64_t> strides;
  /// Names of those whose rows do not follow each other at one distance.
  llvm::StringMap<std::string> unknownLayouts;
};

/// model -> compile -> load -> evaluate -> unload, by whatever path. Several
/// executables may share one, each with surfaces of its own.
class Program {
public:
  /// Null, with the reason reported, when any of it fails.
  [[nodiscard]] static std::shared_ptr<Program>
  make(std::shared_ptr<Engine> engine, StagedProgram staged,
       Diagnostics &diags);
  ~Program();

  /// Runs `request` once.
  [[nodiscard]] bool evaluate(id request, Diagnostics &diags);

  const SymbolTable &inputs() const { return inputTable; }
  const SymbolTable &outputs() const { return outputTable; }
  Engine &engine() const { return *shared; }

  /// Compiles, for another process to load.
  [[nodiscard]] static bool compileAside(Engine &engine, StagedProgram staged,
                                         Diagnostics &diags);

private:
  Program(std::shared_ptr<Engine> engine, StagedProgram staged)
      : shared(std::move(engine)), staged(std::move(staged)) {}
  [[nodiscard]] bool makeModel(Diagnostics &diags);
  [[nodiscard]] bool compile(Diagnostics &diags);
  [[nodiscard]] bool compileHere(Diagnostics &diags);
  [[nodiscard]] bool compileInChild(Diagnostics &diags);
  bool isCompiled();
  /// What a child that is to compile may end in.
  bool runChild(std::string &problem);
  [[nodiscard]] bool restoreFiles(Diagnostics &diags);
  /// With Engine::use held.
  [[nodiscard]] bool ensureLoaded(Diagnostics &diags);
  std::optional<AneError> unload();
  bool evictOther();
  void readSymbols();
  /// Makes `call` again while it fails for a reason that passes.
  std::optional<AneError> retrying(Stage stage,
                                   llvm::function_ref<BOOL(NSError **)> call);

  std::shared_ptr<Engine> shared;
  StagedProgram staged;
  std::unique_ptr<Model> model;
  bool isLoaded = false;
  /// It has been loaded before, or was compiled by someone else: what is wrong
  /// with it may have come since.
  bool mayBeGone = false;
  SymbolTable inputTable, outputTable;
};

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_PROGRAM_H
