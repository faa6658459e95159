//===- Program.h - a compiled program ---------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_PROGRAM_H
#define ANEC_LIB_RUNTIME_ANE_PROGRAM_H

#include "../Apple/FrameworkError.h"
#include "Layout.h"
#include "Model.h"
#include <optional>

namespace anec::ane {

/// The attributes of the inputs or outputs of a procedure of a loaded program;
/// empty when not available.
struct SymbolTable {
  /// Names in the engine's order, as in the text.
  std::vector<std::string> names;
  /// Their indices in requests.
  std::vector<unsigned> indices;
  /// Layouts in memory, by name.
  llvm::StringMap<ReportedLayout> layouts;
};

/// A program from model to compile, load, evaluate and unload, by any path.
/// Several executables can share it, each with surfaces of its own.
class Program {
public:
  /// Makes, compiles and loads a program. Returns null, with the reason
  /// reported, on failure.
  [[nodiscard]] static std::shared_ptr<Program>
  make(std::shared_ptr<Engine> engine, StagedProgram staged,
       const ProgramPorts &ports, Diagnostics &diags);
  ~Program();

  /// Runs once. When the engine finds a surface too small, `describe` adds the
  /// surfaces of the request to the report.
  [[nodiscard]] bool
  evaluate(const ModelRun &run,
           llvm::function_ref<void(Diagnostics::Report)> describe,
           Diagnostics &diags);

  const SymbolTable &inputs() const { return inputTable; }
  const SymbolTable &outputs() const { return outputTable; }
  Engine &engine() const { return *shared; }

  /// Compiles a program for another process to load.
  [[nodiscard]] static bool compileAside(Engine &engine, StagedProgram staged,
                                         Diagnostics &diags);

private:
  Program(std::shared_ptr<Engine> engine, StagedProgram staged,
          const ProgramPorts &ports)
      : shared(std::move(engine)), staged(std::move(staged)), ports(ports) {}
  [[nodiscard]] bool makeModel(Diagnostics &diags);
  [[nodiscard]] bool compile(Diagnostics &diags);
  [[nodiscard]] bool compileHere(Diagnostics &diags);
  [[nodiscard]] bool compileInChild(Diagnostics &diags);
  bool isCompiled();
  /// Compiles in a child process. Returns false, with the reason in `problem`,
  /// when the child fails.
  bool runChild(std::string &problem);
  [[nodiscard]] bool stageAgain(Diagnostics &diags);
  [[nodiscard]] bool compileAgain(Diagnostics &diags);
  [[nodiscard]] bool loadFirst(Diagnostics &diags);
  /// Requires Engine::use to be held.
  [[nodiscard]] bool ensureLoaded(Diagnostics &diags);
  std::optional<FrameworkError> unload();
  bool evictOther();
  void reloadAfterManyRuns();
  [[nodiscard]] bool readSymbols(Diagnostics &diags);
  /// Makes `call`, and repeats it while it fails for a transient reason.
  std::optional<FrameworkError>
  retrying(Stage stage, llvm::function_ref<BOOL(NSError **)> call);

  std::shared_ptr<Engine> shared;
  StagedProgram staged;
  ProgramPorts ports;
  std::unique_ptr<Model> model;
  bool isLoaded = false;
  unsigned runs = 0; ///< since it was loaded
  /// Set when the program was loaded before, or compiled by another process:
  /// the compiled program may be gone since.
  bool mayBeGone = false;
  SymbolTable inputTable, outputTable;
};

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_PROGRAM_H
