//===- Quantization.cpp - forms of quantized weights ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Quantize/Quantization.h"
#include "lib/IR/WeightName.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"
#include <tuple>

using namespace anec;

namespace {
struct FormRow {
  llvm::StringLiteral name;
  unsigned bits;
  DType data;
  Granularity fallback; ///< without a granularity
};
} // namespace

static constexpr FormRow forms[] = {
    {"int8", 8, DType::Int8, Granularity::Channel},
    {"int4", 4, DType::Int4, Granularity::Channel},
    {"lut4", 4, DType::UInt4, Granularity::Tensor},
    {"lut6", 6, DType::UInt6, Granularity::Tensor},
};

static const FormRow &rowOf(QuantizedForm form) { return forms[size_t(form)]; }

/// Reads `per-tensor`, `per-channel` or `group=32`.
static bool parseGranularity(llvm::StringRef text, Quantization &out) {
  if (text == "per-tensor")
    out.granularity = Granularity::Tensor;
  else if (text == "per-channel")
    out.granularity = Granularity::Channel;
  else if (text.consume_front("group=") && !text.getAsInteger(10, out.group) &&
           out.group >= 1 && out.group <= 1 << 20)
    out.granularity = Granularity::Group;
  else
    return false;
  return true;
}

std::optional<Quantization> Quantization::parse(llvm::StringRef text,
                                                std::string &why) {
  llvm::StringRef name, granularity;
  std::tie(name, granularity) = text.split(':');
  Quantization result;
  if (text == "exact") {
    result.isExact = true;
    result.granularity = Granularity::Group;
    result.group = 32;
    return result;
  }
  if (name == "exact") {
    why = "`exact` has groups of 32, and takes nothing after it";
    return std::nullopt;
  }
  bool hasActivations = name == "w8a8";
  llvm::StringRef form = hasActivations ? "int8" : name;
  const FormRow *row = llvm::find_if(
      forms, [&](const FormRow &other) { return other.name == form; });
  if (row == std::end(forms)) {
    why = "the forms are int8, int4, lut4, lut6, w8a8 and exact, not `" +
          name.str() + "`";
    return std::nullopt;
  }
  if (hasActivations)
    result.activations.emplace();
  result.form = QuantizedForm(row - forms);
  result.granularity = row->fallback;
  if (text.contains(':') && !parseGranularity(granularity, result)) {
    why = "a form is followed by `:per-tensor`, `:per-channel` or `:group=N`, "
          "not `:" +
          granularity.str() + "`";
    return std::nullopt;
  }
  if (hasActivations && result.granularity == Granularity::Group) {
    why = "w8a8 has scales of weights `:per-channel` or `:per-tensor`, not `:" +
          granularity.str() + "`";
    return std::nullopt;
  }
  return result;
}

std::string Quantization::str() const {
  std::string name = rowOf(form).name.str();
  switch (granularity) {
  case Granularity::Tensor:
    return name + ":per-tensor";
  case Granularity::Channel:
    return name + ":per-channel";
  case Granularity::Group:
    break;
  }
  return name + ":group=" + std::to_string(group);
}

std::string Quantization::name() const {
  return isExact ? "exact" : activations ? "w8a8" : str();
}

/// Whether `text` is `name`, or a pattern of it.
static bool matches(const std::string &text, llvm::StringRef name) {
  llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
  if (pattern)
    return pattern->match(name);
  llvm::consumeError(pattern.takeError());
  return name == text;
}

bool Quantization::skips(llvm::StringRef name,
                         std::set<std::string> &used) const {
  // A layer's own weight stands for those of all instances.
  std::string own = withoutInstance(name);
  for (const std::string &text : skipped)
    if (matches(text, name) || matches(text, own)) {
      used.insert(text);
      return true;
    }
  return false;
}

unsigned Quantization::bits() const { return rowOf(form).bits; }

DType Quantization::dataType() const { return rowOf(form).data; }

Shape Quantization::blocks(llvm::ArrayRef<int64_t> shape,
                           ProductAxes axes) const {
  Shape blocks(shape.size(), 1);
  if (granularity == Granularity::Tensor)
    return blocks;
  blocks[axes.outputs] = shape[axes.outputs];
  if (granularity == Granularity::Channel)
    return blocks;
  unsigned grouped = isPalette() ? axes.outputs : axes.inputs;
  blocks[grouped] = std::max<int64_t>(1, shape[grouped] / group);
  return blocks;
}
