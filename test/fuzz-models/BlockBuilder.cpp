//===- BlockBuilder.cpp - random statements of a block --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BlockBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::fuzz;

std::optional<Extents> anec::fuzz::broadcast(const Extents &lhs,
                                             const Extents &rhs) {
  const Extents &longer = lhs.size() >= rhs.size() ? lhs : rhs;
  const Extents &shorter = lhs.size() >= rhs.size() ? rhs : lhs;
  Extents result = longer;
  size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    Extent &extent = result[offset + i];
    if (extent.isOne())
      extent = shorter[i];
    else if (!shorter[i].isOne() && !(shorter[i] == extent))
      return std::nullopt;
  }
  return result;
}

Expr BlockBuilder::same(std::string form, std::vector<Expr> operands) const {
  TreeType type = operands[0].type;
  return expr(std::move(form), std::move(operands), std::move(type));
}

std::string BlockBuilder::freshName(llvm::StringRef prefix) {
  auto taken = [&](const std::string &candidate) {
    auto isIt = [&](const Name &name) { return name.name == candidate; };
    return llvm::any_of(block.parameters, isIt) ||
           llvm::any_of(block.weights, isIt) || llvm::any_of(pool, isIt);
  };
  for (unsigned number = 0;; ++number) {
    std::string candidate = prefix.str() + std::to_string(number);
    if (!taken(candidate))
      return candidate;
  }
}

Expr BlockBuilder::let(Expr value) {
  Name added{freshName("t"), value.type};
  Statement statement;
  statement.names = {added};
  statement.value = std::move(value);
  (statements ? *statements : block.body).push_back(std::move(statement));
  pool.push_back(added);
  return name(added);
}

Expr BlockBuilder::weight(Extents shape, std::string prefix) {
  TreeType wanted = type(std::move(shape));
  std::vector<Name> known;
  for (const Name &weight : block.weights)
    if (weight.type == wanted &&
        llvm::StringRef(weight.name).starts_with(prefix))
      known.push_back(weight);
  if (!known.empty() && random.chance(0.3)) {
    note("shared weight");
    return name(random.oneOf(known));
  }
  Name added{freshName(prefix), wanted};
  block.weights.push_back(added);
  return name(added);
}

Expr BlockBuilder::any() {
  size_t last = pool.size() - 1;
  size_t back = 0;
  while (back < last && random.chance(0.4))
    ++back;
  return name(pool[last - back]);
}

std::optional<Expr>
BlockBuilder::anyThat(llvm::function_ref<bool(const TreeType &)> fits) {
  std::vector<Name> candidates;
  for (const Name &value : pool)
    if (value.type.dtype == dtype && fits(value.type))
      candidates.push_back(value);
  if (candidates.empty())
    return std::nullopt;
  if (random.chance(0.6))
    return name(candidates.back());
  return name(random.oneOf(candidates));
}

Expr BlockBuilder::meanOf(Expr value) const {
  if (value.type.shape.empty())
    return expr("reshape($0, shape = [1])", {std::move(value)},
                type({Extent()}));
  return expr("reshape(mean($0), shape = [1])", {std::move(value)},
              type({Extent()}));
}

Expr BlockBuilder::adapt(Expr value, const TreeType &to) {
  const Extents &have = value.type.shape, &want = to.shape;
  if (value.type == to)
    return value;
  bool sameLast = !have.empty() && have.size() == want.size() &&
                  std::equal(have.end() - 1, have.end(), want.end() - 1);
  if (have.size() == 2 && want.size() == 2) {
    if (sameLast)
      return expr("($0 @ $1)", {weight({want[0], have[0]}), value}, to);
    if (have[0] == want[0])
      return expr("($0 @ $1)", {value, weight({have[1], want[1]})}, to);
    Expr half = expr("($0 @ $1)", {weight({want[0], have[0]}), value},
                     type({want[0], have[1]}));
    return expr("($0 @ $1)", {half, weight({have[1], want[1]})}, to);
  }
  if (have.size() == 3 && want.size() == 3 && have[0] == want[0] && sameLast)
    return expr("($0 @ $1)", {weight({want[1], have[1]}), value}, to);
  if (have.size() == 4 && want.size() == 4 && have[0] == want[0] &&
      have[2] == want[2] && have[3] == want[3])
    return expr("conv($0, $1)",
                {value, weight({want[1], have[1], Extent(), Extent()})}, to);
  if (broadcast(have, want) == want)
    if (std::optional<Expr> other =
            anyThat([&](const TreeType &type) { return type == to; }))
      return expr("($0 + $1)", {*other, value}, to);
  if (std::optional<Expr> other =
          anyThat([&](const TreeType &type) { return type == to; }))
    return expr("($0 * $1)", {*other, meanOf(value)}, to);
  return expr("($0 * $1)", {weight(want), meanOf(value)}, to);
}
