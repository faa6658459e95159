//===- BlockBuilder.h - random statements of a block ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_FUZZ_MODELS_BLOCKBUILDER_H
#define ANEC_TEST_FUZZ_MODELS_BLOCKBUILDER_H

#include "ProgramTree.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <initializer_list>
#include <optional>
#include <random>

namespace anec::fuzz {

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  int64_t number(int64_t low, int64_t high) {
    return low + int64_t(engine() % uint64_t(high - low + 1));
  }
  bool chance(double p) { return double(engine() >> 11) * 0x1p-53 < p; }
  template <typename T>
  T oneOf(std::initializer_list<T> choices) {
    return choices.begin()[number(0, int64_t(choices.size()) - 1)];
  }
  template <typename T>
  const T &oneOf(const std::vector<T> &choices) {
    return choices[number(0, int64_t(choices.size()) - 1)];
  }

private:
  std::mt19937_64 engine;
};

/// The config entries of a program, by what they are used for.
struct Sizes {
  Extent dim, heads, keyHeads, headDim; ///< dim = heads * headDim
  Extent positions, hidden, vocabulary;
  Extent batch, channels, rows, columns;
};

/// Adds statements to a block. Every expression has a type that the front end
/// gives it, too.
class BlockBuilder {
public:
  BlockBuilder(Random &random, Program &program, Block &block,
               const Sizes &sizes, std::string dtype)
      : random(random), program(program), block(block), sizes(sizes),
        dtype(std::move(dtype)) {}

  TreeType type(Extents shape) const { return {dtype, std::move(shape)}; }
  /// For ops whose operands can differ in type.
  std::string otherType() const { return dtype == "fp16" ? "fp32" : "fp16"; }
  Expr expr(std::string form, std::vector<Expr> operands, TreeType type) const {
    return {std::move(form), std::move(operands), std::move(type), "", ""};
  }
  /// The same type as the first operand.
  Expr same(std::string form, std::vector<Expr> operands) const;
  Expr name(const Name &name) const { return expr(name.name, {}, name.type); }

  /// Defines a value, which later constructs may use.
  Expr let(Expr value);
  /// A new weight or, at times, one of this type that there is. `prefix` says
  /// what values it has: see valueOf in Reference.cpp.
  Expr weight(Extents shape, std::string prefix = "w");
  /// A value that later constructs may use; a late one rather than an early
  /// one.
  Expr any();
  /// One that `fits`, if there is any.
  std::optional<Expr> anyThat(llvm::function_ref<bool(const TreeType &)> fits);
  /// Adds to the pool without a statement: a parameter.
  void offer(const Name &name) { pool.push_back(name); }
  const std::vector<Name> &offered() const { return pool; }

  size_t anyAxis(const TreeType &type) const {
    return size_t(random.number(0, int64_t(type.rank()) - 1));
  }
  /// An axis as it is written: at times counted from the end.
  std::string axisText(size_t axis, size_t rank) const {
    return std::to_string(random.chance(0.3) ? int64_t(axis) - int64_t(rank)
                                             : int64_t(axis));
  }

  /// `value` as `to`, by products with weights where that can be.
  Expr adapt(Expr value, const TreeType &to);
  /// The mean of `value` as a vector of one element, which broadcasts.
  Expr meanOf(Expr value) const;

  void note(llvm::StringRef construct) {
    program.constructs.insert(construct.str());
  }
  std::string freshName(llvm::StringRef prefix);

  Random &random;
  Program &program;
  Block &block;
  const Sizes &sizes;
  std::string dtype;
  /// Where statements are added: the block's body unless set.
  std::vector<Statement> *statements = nullptr;
  /// What is generated grows no larger.
  static constexpr int64_t maxElements = 1500;

private:
  std::vector<Name> pool;
};

/// The type of an elementwise op of both; nothing when they do not broadcast.
std::optional<Extents> broadcast(const Extents &lhs, const Extents &rhs);

/// A kind of statement: adds some to a block, or returns false when there is
/// nothing that it could use.
struct Construct {
  const char *name;
  unsigned weight; ///< how often, in comparison with the others
  bool (*add)(BlockBuilder &builder);
};

/// For values of any rank, for [channels, positions], and for images.
const std::vector<Construct> &generalConstructs();
const std::vector<Construct> &movementConstructs();
const std::vector<Construct> &sequenceConstructs();
const std::vector<Construct> &attentionConstructs();
const std::vector<Construct> &imageConstructs();

} // namespace anec::fuzz

#endif // ANEC_TEST_FUZZ_MODELS_BLOCKBUILDER_H
