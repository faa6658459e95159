//===- SourceModel.cpp - programs that others wrote, trained --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/API/SourceModel.h"

using namespace anec;

/// Gives `weights` the values of a file, where it has them.
static void replaceValues(SourceWeights &weights,
                          std::shared_ptr<const WeightBinding> binding,
                          Diagnostics &diags) {
  weights.replacement = [binding = std::move(binding),
                         &diags](llvm::StringRef name,
                                 const TensorType &type) -> ConstantRef {
    if (!binding->has(name))
      return nullptr;
    // A program has weights of one number as arrays of one element.
    if (type.isScalar()) {
      Diagnostics ignored;
      if (ConstantRef array = binding->resolve(
              name, {type.dtype, {1}}, InitialValue::Normal, {}, ignored))
        return array->reshaped({});
    }
    return binding->resolve(name, type, InitialValue::Normal, {}, diags);
  };
}

std::unique_ptr<Module> anec::readForCompiling(const Source &source,
                                               CompileOptions &options,
                                               Diagnostics &diags) {
  bool hasFile = source.format->stage == SourceStage::MIL &&
                 !options.weights.source.empty();
  if (options.objective || options.namesWeights) {
    options.sourceWeights =
        weightsFor(options.objective.value_or(Objective()), diags);
    if (!options.sourceWeights)
      return nullptr;
  } else if (hasFile) {
    options.sourceWeights = std::make_shared<SourceWeights>();
  }
  if (!hasFile)
    return readSource(source, options, diags);
  // What the file does not have is not drawn: it has a value in the source.
  WeightOptions ofFile = options.weights;
  ofFile.seed.reset();
  std::optional<WeightBinding> opened = WeightBinding::open(ofFile, diags);
  if (!opened)
    return nullptr;
  // What was trained as a program of the source has the names of that program.
  opened->addInverse();
  auto binding = std::make_shared<const WeightBinding>(std::move(*opened));
  replaceValues(*options.sourceWeights, binding, diags);
  size_t errors = diags.errorCount();
  std::unique_ptr<Module> module = readSource(source, options, diags);
  options.sourceWeights->replacement = nullptr; // which refers to `diags`
  if (!module || !binding->hasSome(options.sourceWeights->names(), diags) ||
      diags.errorCount() != errors)
    return nullptr;
  return module;
}

bool anec::makeModel(Module &module, const CompileOptions &options,
                     Diagnostics &diags, std::vector<PassReport> *reports) {
  const Objective &objective = *options.objective;
  assert(options.sourceWeights && "it was read otherwise");
  // With adapters, nothing else changes; and a program has no such weights.
  bool canUpdate = !options.lora && !options.namesWeights;
  Updates updates = takeUpdates(module, *options.sourceWeights, canUpdate);
  if (!canTrain(module, diags) ||
      !chooseWeights(module, objective, *options.sourceWeights, diags))
    return false;
  warnOfDropped(updates, diags);
  if (options.precision.value_or(DType::FP16) == DType::FP16) {
    PassManagerOptions narrow = options.passes;
    narrow.passes = {&passes::Narrow, &passes::CSE, &passes::DCE};
    if (!runPasses(module, narrow, diags, reports))
      return false;
  }
  return addObjective(module, objective, updates, *options.sourceWeights,
                      diags);
}
