//===- PackageForm.cpp - programs as their packages have them -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/API/PackageForm.h"
#include "Examples.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

bool anec::takePackageForm(Module &module, const Source &source,
                           const CompileOptions &given, Diagnostics &diags) {
  CompileOptions options = given;
  bool isPackage = options.passes.assumptions.path == EnginePath::CoreML &&
                   source.format->isOfTraining;
  if (!options.precision && isPackage)
    options.precision = DType::FP16;
  options.passes.passes = withPrecision({}, options);
  if (isPackage)
    llvm::append_range(options.passes.passes,
                       coreMLPipeline(/*countsFromEnd=*/false));
  options.passes.takesMixedTypes = true;
  return options.passes.passes.empty() ||
         (measureExamples(source, options, diags) &&
          runPasses(module, options.passes, diags));
}
