//===- CompileRequest.h - what is to be compiled, or shown ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_COMPILEREQUEST_H
#define ANEC_TOOLS_ANEC_COMPILEREQUEST_H

#include "anec/Package/ModelPackage.h"
#include "anec/anec.h"

namespace anec {

enum class Emit { MIL, IR, Dot, Report, Json };
enum class ReportFormat { Text, Html };

/// What the command line asks to compile, or to show.
struct CompileRequest {
  std::string input, output;
  Emit emit = Emit::MIL;
  ReportFormat reportFormat = ReportFormat::Text;
  bool canonical = false;
  /// Its passes are those of --passes, which may not be given.
  CompileOptions options;
  bool passesGiven = false;
  std::vector<std::string> skippedPasses;
  /// For models.
  ModelPipelineOptions pipeline;
  IOMode io = IOMode::Packed;
  WeightMode weightMode = WeightMode::Packed;

  bool toStandardOutput() const { return output.empty() || output == "-"; }
  /// Prints to standard output, or writes `output` whole or not at all.
  bool write(llvm::function_ref<void(llvm::raw_ostream &)> print,
             Diagnostics &diags) const;
  /// The passes to run when --passes does not say: `passes`, but for those of
  /// --skip-passes.
  std::vector<const PassDef *>
  passesOr(std::vector<const PassDef *> passes) const;
};

} // namespace anec

#endif // ANEC_TOOLS_ANEC_COMPILEREQUEST_H
