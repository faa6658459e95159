//===- HostValues.cpp - the weights of the host's part --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "HostValues.h"
#include "lib/Arrays/StoredAs.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Constants.h"

using namespace anec;

bool HostValues::quantize(Module &program, ModelPackage &package) {
  if (!options.quantization || options.quantization->activations ||
      !values.binding().hasValues())
    return true;
  QuantizeOptions host;
  host.quantization = *options.quantization;
  host.report = options.quantizationReport;
  host.onHost = true;
  host.exactForm = values.exactForms();
  quantized =
      std::make_unique<QuantizedWeights>(std::move(host), values.executor());
  std::set<std::string> read;
  for (const auto &function : program.functions) {
    if (function->kind != FunctionKind::Host)
      continue;
    if (!quantized->rewrite(*function, nullptr, diags))
      return false;
    for (const Op &op : function->body())
      if (op.is(ops::Weight) && !quantized->find(op))
        read.insert(op.get(param::name).str());
  }
  for (const auto &function : program.functions)
    for (const Op &op : function->body())
      if (const QuantizedPart *part = quantized->find(op)) {
        parts[op.get(param::name).str()] = part;
        if (!read.contains(part->view.weight))
          used.ofHost.erase(part->view.weight);
      }
  for (const auto &[name, part] : parts)
    package.hostParts.push_back(
        {name, part->view, {part->form, part->part, part->type}});
  return true;
}

std::set<std::string> HostValues::usedSkips() const {
  std::set<std::string> skips;
  if (quantized)
    skips.insert(quantized->usedSkips().begin(), quantized->usedSkips().end());
  return skips;
}

/// The array of a part, as it is stored.
PlannedArray HostValues::planPart(const std::string &name,
                                  const QuantizedPart &part) const {
  TensorType type = storedPartType(part.type);
  auto make = [this, part, type]() -> ConstantRef {
    ConstantRef value = quantized->resolve(
        part, part.view.weight,
        [&](const WeightView &view) {
          return values.resolve(view, std::nullopt, part.range, diags);
        },
        diags);
    values.binding().releasePages();
    if (!value || type.dtype == value->dtype())
      return value;
    return Constant::view(type, type.dtype, value->bytes(),
                          std::make_shared<ConstantRef>(value));
  };
  return {name, type, make};
}

/// Bytes come last: what follows them can be at odd offsets.
void HostValues::planParts(std::vector<PlannedArray> &arrays) const {
  for (WeightPart wanted : {WeightPart::Table, WeightPart::Data})
    for (const auto &[name, part] : parts)
      if (part->part == wanted)
        arrays.push_back(planPart(name, *part));
}

/// Training changes all weights on the host, those of kernels too. Without
/// training, baked weights have the type of the program in files too, so that a
/// session reads them in place; otherwise the stored type is kept.
std::optional<std::vector<PlannedArray>>
HostValues::plan(const ModelPackage &package) {
  bool trains = package.trains();
  bool isBaked = package.weightMode == WeightMode::Baked;
  if (trains && isBaked)
    for (const auto &[name, weight] : used.weights)
      used.ofHost.insert(name);
  std::vector<PlannedArray> arrays;
  if (!values.binding().hasValues())
    return arrays;
  for (const std::string &name : used.ofHost) {
    const PackagedWeight &weight = used.weights[name];
    for (const std::string &array : weight.arrays()) {
      ConstantRef value = values.binding().resolve(
          array, TensorType(DType::FP32, weight.type.shape), weight.initial, {},
          diags);
      if (!value)
        return std::nullopt;
      bool rounds = !trains && isBaked && weight.type.dtype == DType::FP16;
      value = declaredAs(value, rounds ? DType::FP16 : value->storedDType());
      arrays.push_back({array, value->type(), [this, value] {
                          values.binding().releasePages();
                          return value;
                        }});
    }
  }
  planParts(arrays);
  return arrays;
}
