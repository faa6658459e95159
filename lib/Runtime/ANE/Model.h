//===- Model.h - a program as the framework has it --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The framework's calls on a program. Each path to the engine is a file with
/// its own; when to make them, and what their failures mean, is Program's.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_ANE_MODEL_H
#define ANEC_LIB_RUNTIME_ANE_MODEL_H

#include "Engine.h"
#include "Staging.h"

namespace anec::ane {

/// What all programs in use are asked for with; no value was seen to matter.
inline constexpr unsigned qualityOfService = 21;

class Model {
public:
  virtual ~Model() = default;

  // Each as the framework has it: they may fail, with an error or without, and
  // raise. Callers have an autorelease pool around them.
  virtual BOOL compile(NSError **error) = 0;
  virtual BOOL load(NSError **error) = 0;
  virtual BOOL evaluate(id request, NSError **error) = 0;
  virtual BOOL unload(NSError **error) = 0;
  /// Whether there is a compiled program already; NO where it cannot say.
  virtual BOOL isCompiled() = 0;
  /// What it says of inputs and outputs once it is loaded; nil where it cannot.
  virtual NSDictionary *attributes() = 0;

  /// The bytes of weight files by the path that the text has, where the
  /// framework wants to have them; nil otherwise. They outlive the files.
  virtual NSDictionary *weights() const { return nil; }
};

/// Makes the model of `staged`, by the path of the engine's options, and moves
/// its files to where the framework looks for them. Null, with the reason
/// reported, when it cannot be had.
[[nodiscard]] std::unique_ptr<Model>
makeModel(const Engine &engine, StagedProgram &staged, Diagnostics &diags);
[[nodiscard]] std::unique_ptr<Model> makeInMemoryModel(const Engine &engine,
                                                       StagedProgram &staged,
                                                       Diagnostics &diags);
[[nodiscard]] std::unique_ptr<Model> makeClientModel(const Engine &engine,
                                                     StagedProgram &staged,
                                                     Diagnostics &diags);

} // namespace anec::ane

#endif // ANEC_LIB_RUNTIME_ANE_MODEL_H
