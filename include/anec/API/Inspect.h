//===- Inspect.h - checks programs and predicts costs -----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Checks programs against the rules of a chip and predicts their costs,
/// without running them. `findRule` and `printRule` explain a rule.
/// \code
///   anec::CompileOptions options;
///   options.setTarget(*anec::findTarget("m1"));
///   auto checked = anec::checkFile("model.mil", options, diags);
///   if (diags.hasErrors())
///     diags.print(llvm::errs());
/// \endcode
//===----------------------------------------------------------------------===//

#ifndef ANEC_API_INSPECT_H
#define ANEC_API_INSPECT_H

#include "anec/API/Compile.h"
#include "anec/MIL/Placement.h"
#include "anec/Package/ModelCost.h"
#include "anec/Target/Check.h"
#include "anec/Target/Outlook.h"

namespace anec {

/// What is found in programs.
struct CheckedPrograms {
  std::vector<Finding> findings;
  /// Of all ops, for dumps of Core ML's compiler; of no op for other programs.
  std::vector<RecordedPlacement> placements;
};

/// Returns the violations of the rules of `options.passes.target` by the
/// program at `path`. A MIL program is checked as it is, the kernel or model of
/// any other source as it would be compiled, and a package with all its
/// kernels. Errors in reading a program are reported; the findings in the other
/// programs are returned anyway. Ranges point into texts owned by `diags`.
[[nodiscard]] CheckedPrograms checkFile(llvm::StringRef path,
                                        const CompileOptions &options,
                                        Diagnostics &diags);
/// The same for several targets: MIL programs are read once, others compiled
/// for each. What is found for several is one finding. `outlooks` may be null;
/// otherwise what each target makes of the file is appended.
[[nodiscard]] CheckedPrograms
checkFile(llvm::StringRef path, llvm::ArrayRef<const Target *> targets,
          const CompileOptions &options, Diagnostics &diags,
          std::vector<Outlook> *outlooks = nullptr);
/// The same for a compiled program or package.
std::vector<Finding> check(const CompiledProgram &program,
                           const CompileOptions &options);
[[nodiscard]] std::vector<Finding> check(const ModelPackage &package,
                                         const CompileOptions &options,
                                         Diagnostics &diags);

/// Predicts the cost of the program at `path` on `options.passes.target`: of
/// one run of a kernel, as it would be compiled, or of each entry of a model or
/// package. Returns nothing, with the reason reported, when the program cannot
/// be read. `describeError` describes the error of predictions.
[[nodiscard]] std::optional<ModelCost>
predictFile(llvm::StringRef path, const CompileOptions &options,
            Diagnostics &diags);
/// The same for a compiled program, which must outlive the result.
RunCost predict(const CompiledProgram &program, const Target &target);

} // namespace anec

#endif // ANEC_API_INSPECT_H
