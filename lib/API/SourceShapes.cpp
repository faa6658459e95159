//===- SourceShapes.cpp - shapes that a written package keeps -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/API/SourceShapes.h"
#include "anec/API/Compile.h"
#include "anec/CoreML/WantedDescription.h"
#include "lib/API/Diags.h"

using namespace anec;

/// What keeps a package from having several shapes; empty when nothing does.
static std::string losesShapes(const SourceFormat &format,
                               const CompileOptions &options, bool hasPasses) {
  if (!format.isOfCoreML || !format.textFile.empty())
    return "only of a package or model are they kept";
  if (hasPasses)
    return "passes, and those of `--target`, make programs of one shape";
  if (options.quantization && options.quantization->activations)
    return "inputs of products are quantized for one shape";
  if (options.part || !options.function.empty() || !options.kernel.empty())
    return "a part of the source is taken";
  return "";
}

SourceShapes::SourceShapes(llvm::StringRef path, const SourceFormat &format,
                           const CompileOptions &options, bool hasPasses,
                           const ModelDescription &description)
    : source(path.str()) {
  // A shape that was asked for is the only one.
  if (!options.shapes.empty() || !options.values.empty())
    return;
  for (const FunctionDescription &function : description.functions)
    for (const FeatureDescription &input : function.inputs)
      if (input.hasSeveralShapes)
        inputs += (inputs.empty() ? "`" : ", `") + input.name + "`";
  lost = losesShapes(format, options, hasPasses);
}

void SourceShapes::keep(CoreMLOptions &options, bool isCompiled,
                        Diagnostics &diags) const {
  if (inputs.empty() || !options.shapesOf.empty())
    return;
  const WantedDescription *wanted = options.wanted.get();
  std::string reason = isCompiled ? "compiled models of anec have one" : lost;
  if (reason.empty() && (options.floats || options.deployment))
    reason = "`--interface` and `--deployment` change its operations";
  if (reason.empty() && wanted &&
      (wanted->classifier || !wanted->inputs.empty() ||
       !wanted->outputs.empty()))
    reason = "`--describe` changes its inputs and outputs";
  if (reason.empty())
    options.shapesOf = source;
  else
    diags.reportFile(source, diag::ShapesLost, inputs, reason);
}
