//===- Stages.h - how far a source is compiled ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_DRIVER_STAGES_H
#define ANEC_LIB_DRIVER_STAGES_H

#include "lib/Driver/Build.h"

namespace anec {

/// Compiles the kernel of a program by the default pipeline. A MIL source is
/// changed only by requested passes.
[[nodiscard]] std::optional<CompiledProgram>
compileKernel(std::unique_ptr<Module> module, const BuildRequest &request,
              BuildResult &result, Diagnostics &diags);

/// The same, or the whole model of the program where one program is made of it:
/// where the output `isCoreML` or caches are states, and no kernel is named.
[[nodiscard]] std::optional<CompiledProgram>
compileProgram(std::unique_ptr<Module> module, const BuildRequest &request,
               bool isCoreML, BuildResult &result, Diagnostics &diags);

/// The options of `request` with the passes that make kernels and a host
/// schedule of a model.
CompileOptions modelOptions(const BuildRequest &request);

} // namespace anec

#endif // ANEC_LIB_DRIVER_STAGES_H
