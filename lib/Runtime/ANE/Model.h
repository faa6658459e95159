//===- Model.h - a program in the framework ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The framework's calls on a program. Each path to the engine has its own
/// calls, in a file of its own; Program decides when to make them and what
/// their failures mean.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_MODEL_H
#define ANEC_LIB_RUNTIME_ANE_MODEL_H

#include "../Apple/HostArray.h"
#include "Engine.h"
#include "Staging.h"

namespace anec::ane {

/// The value that all published programs use; no value is known to make a
/// difference.
inline constexpr unsigned qualityOfService = 21;

/// The declared inputs and outputs of a program.
struct ProgramPorts {
  std::vector<Port> inputs, outputs;
  /// The program as staged declares fp16 ports as fp32, and casts them.
  bool isWidened = false;

  /// The element type in the program as staged.
  DType elementType(const Port &port) const {
    return isWidened && port.type.dtype == DType::FP16 ? DType::FP32
                                                       : port.type.dtype;
  }
};

/// What a run reads and writes: the surfaces of a request, or arrays in the
/// order of ProgramPorts.
struct ModelRun {
  id request = nil;
  llvm::ArrayRef<HostArray> inputs = {};
  llvm::MutableArrayRef<HostArray> outputs = {};
};

class Model {
public:
  virtual ~Model() = default;

  // Each is a call of the framework: it can fail, with or without an error, and
  // raise exceptions. Callers must have an autorelease pool.
  virtual BOOL compile(NSError **error) = 0;
  virtual BOOL load(NSError **error) = 0;
  virtual BOOL evaluate(const ModelRun &run, NSError **error) = 0;
  virtual BOOL unload(NSError **error) = 0;
  /// Whether there is a compiled program already; NO when that is not known.
  virtual BOOL isCompiled() = 0;
  /// The attributes of a loaded program, with its inputs and outputs; nil when
  /// not available.
  virtual NSDictionary *attributes() = 0;

  /// The bytes of weight files by their path in the text, if the framework
  /// needs them; nil otherwise. They outlive the files.
  virtual NSDictionary *weights() const { return nil; }
  /// The framework's object; nil when there are several.
  virtual id object() const { return nil; }
};

/// Makes the model of `staged`, by the path of the engine's options, and moves
/// its files to where the framework looks for them. A model that is only
/// compiled needs no ports. Returns null, with the reason reported, on failure.
[[nodiscard]] std::unique_ptr<Model> makeModel(const Engine &engine,
                                               StagedProgram &staged,
                                               const ProgramPorts &ports,
                                               Diagnostics &diags);
[[nodiscard]] std::unique_ptr<Model> makeInMemoryModel(const Engine &engine,
                                                       StagedProgram &staged,
                                                       Diagnostics &diags);
[[nodiscard]] std::unique_ptr<Model> makeClientModel(const Engine &engine,
                                                     StagedProgram &staged,
                                                     Diagnostics &diags);
[[nodiscard]] std::unique_ptr<Model>
makeProcessRequestModel(const Engine &engine, StagedProgram &staged,
                        Diagnostics &diags);
[[nodiscard]] std::unique_ptr<Model> makeE5Model(const Engine &engine,
                                                 StagedProgram &staged,
                                                 const ProgramPorts &ports,
                                                 Diagnostics &diags);
[[nodiscard]] std::unique_ptr<Model> makeE5rtModel(const Engine &engine,
                                                   StagedProgram &staged,
                                                   const ProgramPorts &ports,
                                                   Diagnostics &diags);
/// Moves the files to a folder of the program's own name.
[[nodiscard]] bool moveToOwnFolder(const Engine &engine, StagedProgram &staged,
                                   Diagnostics &diags);

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_MODEL_H
