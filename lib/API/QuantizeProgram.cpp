//===- QuantizeProgram.cpp - quantized weights of a program ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "QuantizeProgram.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Weights.h"
#include "lib/Package/QuantizeKernel.h"
#include "lib/Quantize/Diags.h"
#include <set>

using namespace anec;

std::vector<std::string> anec::namesOfWeights(const Module &module) {
  std::set<std::string> names;
  for (const auto &function : module.functions)
    for (const Op &op : function->body())
      if (op.is(ops::Weight))
        names.insert(viewOf(op).weight);
  return {names.begin(), names.end()};
}

void anec::addInitialValues(const Function &function,
                            llvm::StringMap<InitialValue> &values) {
  for (const Op &op : function.body())
    if (op.is(ops::Weight))
      values.try_emplace(op.get(param::name), initialValue(op));
}

bool anec::quantizeProgram(CompiledProgram &program,
                           const CompileOptions &options, Diagnostics &diags) {
  Module &module = *program.program;
  const Deployment *deployment = options.coreML.deployment;
  KernelQuantization request{
      *options.quantization,
      deployment ? deployment->iOS.str()
                 : opsetOf(*module.functions.front(), program.milVersion),
      options.passes, options.quantizationReport, options.inputMoments};
  auto value = [&](const WeightView &view) {
    return program.weightValue(view, {}, diags);
  };
  request.exactForm = [&](const WeightView &view,
                          ProductAxes axes) -> std::optional<QuantizedForm> {
    Diagnostics ignored; // which the weight is reported with when it is written
    ConstantRef weight = program.weights.hasValues()
                             ? program.weightValue(view, {}, ignored)
                             : nullptr;
    return weight ? exactForm(*weight, axes, request.form,
                              program.weights.executor())
                  : std::nullopt;
  };
  for (const auto &function : module.functions)
    addInitialValues(*function, program.initialValues);
  WeightValue known = nullptr;
  if (program.weights.hasValues())
    known = value;
  program.quantized =
      quantizeKernel(module, request, program.weights.executor(), known, diags);
  if (!program.quantized)
    return false;
  if (!checkSkips(*options.quantization, program.quantized->usedSkips(), diags))
    return false;
  if (!program.quantized->count() && !options.quantization->isExact)
    diags.report({}, diag::NothingQuantized,
                 options.quantization->fewestElements);
  return true;
}
