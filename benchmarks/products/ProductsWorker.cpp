//===- ProductsWorker.cpp - times both ways to compute products -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Reads a shape from each line, `NAME m n k TRANSPOSED SIDE BATCH`: TRANSPOSED
/// is some of `a` and `b`, or `-`; SIDE is what was prepared beforehand,
/// `left`, `right` or `-`. Writes `NAME MICROSECONDS...` for each, BLAS and
/// anec's own kernels by turns, ROUNDS of both; `check FAILED` when they do not
/// agree.
///
/// usage: products-worker THREADS ROUNDS [avx2|avx512|neon]
///
/// Own kernels are those of the best instruction set of the processor, unless
/// one is named.
///
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CPU/InstructionSets.h"
#include "lib/Runtime/CPU/ProductKernels.h"
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

using namespace anec;
using namespace anec::cpu;

namespace {

struct Case {
  std::string name, transposed, side;
  GemmShape shape;
  size_t batch = 1;
};

/// The operands of a case, and what a set of kernels prepared of them.
class Product {
public:
  explicit Product(const Case &given)
      : given(given), a(size(given.shape.m, given.shape.k)),
        b(size(given.shape.k, given.shape.n)),
        c(given.batch * given.shape.m * given.shape.n) {
    fill(a, 1);
    fill(b, 2);
    const GemmShape &shape = given.shape;
    for (size_t i = 0; i < given.batch; ++i)
      operands.push_back({.a = a.data() + i * shape.m * shape.k,
                          .b = b.data() + i * shape.k * shape.n,
                          .c = c.data() + i * shape.m * shape.n});
  }

  void prepare(const ProductKernels &chosen) {
    kernels = &chosen;
    const GemmShape &shape = given.shape;
    if (given.side == "left")
      weight =
          chosen.packLeft(shape.m, shape.k, a.data(), shape.lda, shape.transA);
    if (given.side == "right")
      weight =
          chosen.packRight(shape.k, shape.n, b.data(), shape.ldb, shape.transB);
  }
  void run(Executor &pool) {
    if (given.side == "left")
      kernels->multiplyLeft(pool, weight, given.shape, operands, {});
    else if (given.side == "right")
      kernels->multiplyRight(pool, weight, given.shape, operands, {});
    else
      kernels->multiply(pool, given.shape, operands, {});
  }
  const std::vector<float> &results() const { return c; }

private:
  size_t size(size_t rows, size_t columns) const {
    return given.batch * rows * columns;
  }
  static void fill(std::vector<float> &values, uint32_t seed) {
    for (float &value : values) {
      seed = seed * 1664525 + 1013904223;
      value = float(int32_t(seed) >> 8) / float(1 << 23);
    }
  }

  const Case &given;
  const ProductKernels *kernels = nullptr;
  std::vector<float> a, b, c;
  std::vector<GemmOperands> operands;
  PackedWeight weight;
};

} // namespace

static bool parse(const std::string &line, Case &result) {
  std::istringstream words(line);
  GemmShape &shape = result.shape;
  if (!(words >> result.name >> shape.m >> shape.n >> shape.k >>
        result.transposed >> result.side >> result.batch))
    return false;
  bool transA = result.transposed.find('a') != std::string::npos;
  bool transB = result.transposed.find('b') != std::string::npos;
  shape.transA = transA ? Transpose::Yes : Transpose::No;
  shape.transB = transB ? Transpose::Yes : Transpose::No;
  shape.lda = transA ? shape.m : shape.k;
  shape.ldb = transB ? shape.k : shape.n;
  shape.ldc = shape.n;
  return true;
}

/// Microseconds since some point: of the processor with one thread, which other
/// processes disturb less, and of the clock with more.
static double now(const Executor &pool) {
  timespec time;
  clock_gettime(pool.size() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC,
                &time);
  return double(time.tv_sec) * 1e6 + double(time.tv_nsec) / 1e3;
}

/// Microseconds for each of `repeats`.
static double measure(Product &product, Executor &pool, unsigned repeats) {
  double begin = now(pool);
  for (unsigned i = 0; i < repeats; ++i)
    product.run(pool);
  return (now(pool) - begin) / repeats;
}

static bool agree(const Product &lhs, const Product &rhs, size_t k) {
  for (size_t i = 0; i < lhs.results().size(); ++i)
    if (!(std::abs(lhs.results()[i] - rhs.results()[i]) <=
          1e-6f * std::sqrt(float(k)) * 4 + 1e-5f))
      return false;
  return true;
}

int main(int argc, char **argv) {
  if (argc < 3 || argc > 4) {
    std::cerr << "usage: products-worker THREADS ROUNDS [avx2|avx512|neon]\n";
    return 2;
  }
  bool isUsed = argc < 4 || useInstructionSet(llvm::StringRef(argv[3]));
  const ProductKernels *own = isUsed ? ownProducts(instructionSet()) : nullptr;
  if (!own) {
    std::cerr << "there are no own kernels for this processor: BLAS computes "
                 "all\n";
    return 3;
  }
  Executor pool(unsigned(std::atoi(argv[1])));
  int rounds = std::atoi(argv[2]);
  Case given;
  for (std::string line; std::getline(std::cin, line);) {
    if (!parse(line, given))
      return 2;
    Product blas(given), kernels(given);
    blas.prepare(blasProducts());
    kernels.prepare(*own);
    // Turns of about two milliseconds.
    double once = std::max(measure(blas, pool, 1), measure(kernels, pool, 1));
    unsigned repeats = unsigned(std::max(1.0, 2000 / once));
    std::cout << given.name;
    for (int round = 0; round < rounds; ++round)
      for (Product *product : {&blas, &kernels})
        std::cout << ' ' << measure(*product, pool, repeats);
    std::cout << '\n' << std::flush;
    if (!agree(blas, kernels, given.shape.k))
      std::cout << "check FAILED\n";
  }
}
