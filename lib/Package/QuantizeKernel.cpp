//===- QuantizeKernel.cpp - quantizes kernels for a target ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Package/QuantizeKernel.h"
#include "lib/Quantize/Diags.h"

using namespace anec;

std::string anec::opsetOf(const Function &function,
                          llvm::StringRef milVersion) {
  return milVersion == "1.0" && function.opset >= "ios18" ? "ios16"
                                                          : function.opset;
}

static UnpackingOps chooseOps(const KernelQuantization &request) {
  if (request.opset < "ios18")
    return UnpackingOps::Packed;
  const Rule &rule = rules::NoBlockwise;
  const PassManagerOptions &passes = request.passes;
  bool isRefused =
      passes.assumptions.denies(rule) ||
      (passes.targetChosen && passes.assumptions.demands(rule, *passes.target));
  return isRefused && canUnpack(request.form, UnpackingOps::Affine)
             ? UnpackingOps::Affine
             : UnpackingOps::Blockwise;
}

/// Reports the rules about ops that unpack weights. Returns false when one is
/// an error.
static bool checkRules(const Module &module, const PassManagerOptions &passes,
                       Diagnostics &diags) {
  static constexpr const Rule *aboutWeights[] = {
      &rules::GroupedScale, &rules::NoBlockwise, &rules::NoLut};
  std::vector<Finding> findings;
  for (const auto &function : module.functions)
    checkFunction(*function, *passes.target, passes.assumptions, findings);
  bool ok = true;
  for (const Rule *rule : aboutWeights) {
    std::vector<const Finding *> of;
    for (const Finding &finding : findings)
      if (finding.rule == rule)
        of.push_back(&finding);
    if (of.empty())
      continue;
    reportFinding(*of.front(), passes.assumptions, diags,
                  llvm::ArrayRef(of).drop_front());
    ok &= !passes.assumptions.isError(*rule);
  }
  return ok;
}

std::unique_ptr<QuantizedWeights>
anec::quantizeKernel(Module &module, const KernelQuantization &request,
                     Executor &executor, WeightValue value,
                     Diagnostics &diags) {
  QuantizeOptions options{request.form, chooseOps(request), request.report,
                          request.moments};
  options.exactForm = request.exactForm;
  if (!canUnpack(options.quantization, options.ops)) {
    diags.report(module.functions.front()->range, diag::FormOpset,
                 request.form.name(), request.opset);
    return nullptr;
  }
  if (request.form.activations && request.opset < "ios17") {
    diags.report(module.functions.front()->range, diag::ActivationsOpset,
                 request.opset);
    return nullptr;
  }
  if (request.form.activations && !request.moments) {
    diags.report(module.functions.front()->range, diag::ActivationsNeedData);
    return nullptr;
  }
  auto weights =
      std::make_unique<QuantizedWeights>(std::move(options), executor);
  for (const auto &function : module.functions)
    if (!weights->rewrite(*function, value, diags))
      return nullptr;
  if (request.passes.targetChosen && weights->count() &&
      !checkRules(module, request.passes, diags))
    return nullptr;
  return weights;
}

bool anec::checkSkips(const Quantization &form,
                      const std::set<std::string> &used, Diagnostics &diags) {
  bool ok = true;
  for (const std::string &pattern : form.skipped)
    if (!used.count(pattern)) {
      diags.report({}, diag::SkipsNothing, pattern, form.fewestElements);
      ok = false;
    }
  return ok;
}
