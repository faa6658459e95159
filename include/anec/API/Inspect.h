//===- Inspect.h - what a chip does with a program -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Checks programs against the rules of a chip, and predicts what they cost on
/// it. Nothing is run. `findRule` and `printRule` explain a rule.
///
///   anec::CompileOptions options;
///   options.setTarget(*anec::findTarget("m1"));
///   auto findings = anec::checkFile("model.mil", options, diags);
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_API_INSPECT_H
#define ANEC_API_INSPECT_H

#include "anec/API/Compile.h"
#include "anec/Package/ModelCost.h"
#include "anec/Target/Check.h"

namespace anec {

/// What breaks the rules of `options.passes.target` in the program at `path`:
/// MIL as it is, the kernel or the model of any other source as it would be
/// compiled, all kernels of a package. What keeps a program from being read is
/// reported; the findings of those before stay. Ranges point into texts that
/// `diags` owns.
std::vector<Finding> checkFile(llvm::StringRef path,
                               const CompileOptions &options,
                               Diagnostics &diags);
/// The same for what was compiled.
std::vector<Finding> check(const CompiledProgram &program,
                           const CompileOptions &options);
std::vector<Finding> check(const ModelPackage &package,
                           const CompileOptions &options, Diagnostics &diags);

/// What the program at `path` costs on `options.passes.target`: one run of a
/// kernel, as it would be compiled, or of each entry of a model or a package.
/// Nothing, with the reason reported, when it cannot be read. Predicted, never
/// measured: `describeError` says how far off that may be.
std::optional<ModelCost> predictFile(llvm::StringRef path,
                                     const CompileOptions &options,
                                     Diagnostics &diags);
/// The same for a compiled program, which has to outlive the result.
RunCost predict(const CompiledProgram &program, const Target &target);

} // namespace anec

#endif // ANEC_API_INSPECT_H
