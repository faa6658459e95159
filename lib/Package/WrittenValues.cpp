//===- WrittenValues.cpp - the values that a package gets -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "WrittenValues.h"
#include "lib/IR/WeightName.h"

using namespace anec;

WeightView WrittenValues::ownView(WeightView view) const {
  if (!used.weights.find(view.weight)->second.instances.empty())
    view.instance = WeightInstance::own();
  return view;
}

std::string anec::arrayOf(const WeightView &view,
                          std::optional<int64_t> instance) {
  return instanceName(view.weight, view.instance.resolve(instance));
}

ConstantRef WrittenValues::resolve(const WeightView &view,
                                   std::optional<int64_t> instance,
                                   SourceRange range,
                                   Diagnostics &diags) const {
  InitialValue initial = used.weights.find(view.weight)->second.initial;
  ConstantRef source = opened.resolve(arrayOf(view, instance),
                                      view.storedType(), initial, range, diags);
  return source ? view.materialize(source) : nullptr;
}

/// Programs of all instances of a layer have one text, so the arrays of all
/// must have one exact form.
std::optional<QuantizedForm>
WrittenValues::findExactForm(const WeightView &view, ProductAxes axes) const {
  const PackagedWeight &weight = used.weights.find(view.weight)->second;
  std::vector<std::optional<int64_t>> instances(weight.instances.begin(),
                                                weight.instances.end());
  if (instances.empty())
    instances.push_back(std::nullopt);
  std::optional<QuantizedForm> form;
  for (std::optional<int64_t> instance : instances) {
    // Errors are reported where the weight is written.
    Diagnostics ignored;
    ConstantRef value = resolve(ownView(view), instance, {}, ignored);
    std::optional<QuantizedForm> own;
    if (value)
      own = exactForm(*value, axes, *options.quantization, executor());
    opened.releasePages();
    if (!own)
      return std::nullopt;
    // The integers of 4 bits are some of those of 8.
    bool isWider = form == QuantizedForm::Int8 || own == QuantizedForm::Int8;
    form = isWider ? QuantizedForm::Int8 : QuantizedForm::Int4;
  }
  return form;
}

/// Kernels that differ in their number of positions read the same views.
ExactForm WrittenValues::exactForms() {
  return [this](const WeightView &view,
                ProductAxes axes) -> std::optional<QuantizedForm> {
    if (!opened.hasValues())
      return std::nullopt;
    std::string key = view.weight + " " + view.str() + " " +
                      std::to_string(axes.outputs) + " " +
                      std::to_string(axes.inputs);
    auto [it, isNew] = exactFormOf.try_emplace(key);
    if (isNew)
      it->second = findExactForm(view, axes);
    return it->second;
  };
}
