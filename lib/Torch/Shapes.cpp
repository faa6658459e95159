//===- Shapes.cpp - extents that an export leaves open --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Shapes.h"
#include "lib/Torch/Diags.h"

using namespace anec;
using namespace anec::torch;

static std::string describe(const Extent &extent) {
  if (extent.value)
    return std::to_string(*extent.value);
  std::unique_ptr<Expression> expression = Expression::parse(extent.expression);
  return expression ? expression->str() : extent.expression.str();
}

std::string torch::describe(llvm::ArrayRef<Extent> extents) {
  std::string text = "[";
  for (const Extent &extent : extents)
    text += (text.size() > 1 ? ", " : "") + ::describe(extent);
  return text + "]";
}

static std::string exampleOf(llvm::ArrayRef<Extent> extents) {
  std::string text;
  for (const Extent &extent : extents)
    text += (text.empty() ? "" : "x") +
            std::to_string(extent.value.value_or(extent.hint.value_or(2)));
  return text;
}

std::optional<Shape> Shapes::shapeOf(llvm::ArrayRef<Extent> extents) const {
  Shape shape;
  for (const Extent &extent : extents) {
    std::optional<int64_t> value = extent.value;
    if (!value) {
      std::unique_ptr<Expression> expression =
          Expression::parse(extent.expression);
      value = expression ? expression->evaluate(symbols) : std::nullopt;
    }
    if (!value)
      return std::nullopt;
    shape.push_back(*value);
  }
  return shape;
}

const TensorMeta *Shapes::metaOf(const InputSpec &input) const {
  auto meta = program.graph.tensors.find(input.name);
  return input.kind == InputSpec::Kind::User &&
                 meta != program.graph.tensors.end()
             ? &meta->second
             : nullptr;
}

bool Shapes::isInRange(StringRef symbol, int64_t number) const {
  auto range = program.ranges.find(symbol);
  return range == program.ranges.end() ||
         (number >= range->second.least &&
          (!range->second.most || number <= *range->second.most));
}

/// Finds the symbol of an expression with one that has no number, or compares
/// the expression.
bool Shapes::solve(const Extent &extent, int64_t number) {
  if (extent.value)
    return *extent.value == number;
  std::unique_ptr<Expression> expression = Expression::parse(extent.expression);
  if (!expression)
    return false;
  std::vector<StringRef> names;
  expression->collect(names);
  llvm::erase_if(names, [&](StringRef name) { return symbols.contains(name); });
  if (names.empty())
    return expression->evaluate(symbols) == number;
  if (names.size() != 1)
    return true; // another input may have them
  auto valueAt = [&](int64_t guess) {
    Symbols own = symbols;
    own[names[0]] = guess;
    return expression->evaluate(own);
  };
  // Expressions of extents grow with them.
  int64_t low = 0, high = int64_t(1) << 32;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    std::optional<int64_t> value = valueAt(middle);
    if (value && *value < number)
      low = middle + 1;
    else
      high = middle;
  }
  if (valueAt(low) != number || !isInRange(names[0], low))
    return false;
  symbols[names[0]] = low;
  return true;
}

bool Shapes::refuse(const InputSpec &input, const TensorMeta &meta,
                    const InputShape &given) {
  std::string declared = torch::describe(meta.sizes), ranges;
  std::vector<StringRef> names;
  for (const Extent &extent : meta.sizes)
    if (std::unique_ptr<Expression> expression =
            Expression::parse(extent.expression))
      expression->collect(names);
  for (StringRef name : names) {
    auto range = program.ranges.find(name);
    if (range == program.ranges.end())
      continue;
    const auto &[least, most] = range->second;
    ranges += ranges.empty() ? " with " : ", ";
    ranges += name.str() + " from " + std::to_string(least) +
              (most ? " to " + std::to_string(*most) : " on");
  }
  diags.reportFile(path, diag::TorchGivenShape, input.name,
                   shapeToString(given.shape), declared + ranges);
  return false;
}

bool Shapes::bind(const InputSpec &input, const TensorMeta &meta) {
  const InputShape *given = requested.find(input.name);
  if (!given)
    return true;
  bool isKnown = llvm::all_of(
      meta.sizes, [](const Extent &extent) { return bool(extent.value); });
  if (isKnown && given->isHint)
    return true;
  bool fits = given->shape.size() == meta.sizes.size();
  for (size_t i = 0; fits && i != meta.sizes.size(); ++i)
    fits = solve(meta.sizes[i], given->shape[i]);
  return fits || refuse(input, meta, *given);
}

bool Shapes::choose() {
  // What one input leaves open, another may say.
  for (unsigned turn = 0; turn != 2; ++turn)
    for (const InputSpec &input : program.inputs)
      if (const TensorMeta *meta = metaOf(input); meta && !bind(input, *meta))
        return false;
  for (const InputSpec &input : program.inputs) {
    const TensorMeta *meta = metaOf(input);
    if (!meta || shapeOf(meta->sizes))
      continue;
    diags.reportFile(path, diag::TorchInputShape, input.name,
                     torch::describe(meta->sizes), exampleOf(meta->sizes));
    return false;
  }
  return true;
}
