//===- CpuProductsTest.cpp - The CPU backend's matrix products ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Support/Executor.h"
#include "lib/Runtime/CPU/ProductKernels.h"
#include "test/Unit/Runtime/CpuReference.h"
#include <random>

#ifndef __APPLE__
extern "C" __attribute__((weak)) void openblas_set_num_threads(int);
extern "C" __attribute__((weak)) int openblas_get_num_threads();
#endif

namespace anec::cpu {
namespace {

struct GemmCase {
  GemmShape shape;
  GemmEpilogue epilogue;
  bool rowBias = false, columnBias = false;
  enum Side { Neither, Left, Right } packed = Neither;
  size_t batch = 1;
};

/// Every way to compute products, whatever this processor is fastest with.
class CpuProducts : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    llvm::StringRef wanted = GetParam();
    kernels = wanted == "blas"     ? &blasProducts()
              : wanted == "avx2"   ? ownProducts(InstructionSet::AVX2)
              : wanted == "avx512" ? ownProducts(InstructionSet::AVX512)
              : wanted == "neon"   ? ownProducts(InstructionSet::NEON)
                                   : &bestProducts();
    if (!kernels || (wanted == "mixed" && kernels == &blasProducts()))
      GTEST_SKIP() << "this processor has none";
    EXPECT_EQ(kernels->name(), GetParam());
  }
  void check(Executor &pool, const GemmCase &test);

  const ProductKernels *kernels = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Kernels, CpuProducts,
                         testing::Values("blas", "avx2", "avx512", "neon",
                                         "mixed"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

/// Random operands of a case, in arrays of exactly the size needed so that the
/// address sanitizer sees a read too far; the first operand is shared by the
/// batch, the second is not.
void CpuProducts::check(Executor &pool, const GemmCase &test) {
  const GemmShape &shape = test.shape;
  auto extent = [](size_t rows, size_t columns, size_t leading) {
    return rows == 0 ? 0 : (rows - 1) * leading + columns;
  };
  bool transA = shape.transA == Transpose::Yes;
  bool transB = shape.transB == Transpose::Yes;
  Floats a = randomFloats(transA ? extent(shape.k, shape.m, shape.lda)
                                 : extent(shape.m, shape.k, shape.lda));
  size_t sizeB = transB ? extent(shape.n, shape.k, shape.ldb)
                        : extent(shape.k, shape.n, shape.ldb);
  bool sharedB = test.packed == GemmCase::Right;
  std::vector<Floats> b, c;
  for (size_t i = 0; i < test.batch; ++i) {
    b.push_back(randomFloats(sizeB, -1, 1, sharedB ? 2 : unsigned(i) + 2));
    c.push_back(randomFloats(extent(shape.m, shape.n, shape.ldc), -1, 1, 99));
  }
  std::vector<Floats> before = c;
  Floats rowBias = randomFloats(shape.m, -1, 1, 3);
  Floats columnBias = randomFloats(shape.n, -1, 1, 4);
  std::vector<GemmOperands> operands;
  for (size_t i = 0; i < test.batch; ++i)
    operands.push_back({a.data(), b[i].data(), c[i].data(),
                        test.rowBias ? rowBias.data() : nullptr,
                        test.columnBias ? columnBias.data() : nullptr});
  switch (test.packed) {
  case GemmCase::Neither:
    kernels->multiply(pool, shape, operands, test.epilogue);
    break;
  case GemmCase::Left:
    kernels->multiplyLeft(
        pool,
        kernels->packLeft(shape.m, shape.k, a.data(), shape.lda, shape.transA),
        shape, operands, test.epilogue);
    break;
  case GemmCase::Right:
    kernels->multiplyRight(pool,
                           kernels->packRight(shape.k, shape.n, b[0].data(),
                                              shape.ldb, shape.transB),
                           shape, operands, test.epilogue);
    break;
  }

  for (size_t each = 0; each < test.batch; ++each)
    for (size_t i = 0; i < shape.m; ++i)
      for (size_t j = 0; j < shape.ldc; ++j) {
        size_t index = i * shape.ldc + j;
        if (index >= c[each].size())
          break;
        if (j >= shape.n) {
          ASSERT_EQ(c[each][index], before[each][index]) << "wrote past a row";
          continue;
        }
        double sum = test.epilogue.accumulate ? before[each][index] : 0;
        sum += test.rowBias ? rowBias[i] : 0;
        sum += test.columnBias ? columnBias[j] : 0;
        for (size_t p = 0; p < shape.k; ++p)
          sum += double(a[transA ? p * shape.lda + i : i * shape.lda + p]) *
                 b[each][transB ? j * shape.ldb + p : p * shape.ldb + j];
        ASSERT_TRUE(isNear(c[each][index], sum, test.epilogue.rounding, 3e-7,
                           1e-6 + 6e-8 * double(shape.k)))
            << shape.m << "x" << shape.n << "x" << shape.k << " transposed "
            << transA << transB << " at " << i << ", " << j;
      }
}

GemmShape makeShape(size_t m, size_t n, size_t k, bool transA, bool transB,
                    size_t gap = 0) {
  return {m,
          n,
          k,
          (transA ? m : k) + gap,
          (transB ? k : n) + gap,
          n + gap,
          transA ? Transpose::Yes : Transpose::No,
          transB ? Transpose::Yes : Transpose::No};
}

TEST_P(CpuProducts, ProductsOfEveryShape) {
  for (unsigned threads : {1, 3}) {
    Executor pool(threads);
    for (size_t m : {0, 1, 2, 6, 31, 33})
      for (size_t n : {0, 1, 17, 31, 33, 64, 130})
        for (size_t k : {0, 1, 16, 31, 33, 100})
          for (int trans = 0; trans < 4; ++trans) {
            GemmCase test;
            test.shape = makeShape(m, n, k, trans & 1, trans & 2, k % 3);
            check(pool, test);
            test.epilogue = {Rounding::FP16, true};
            test.rowBias = true;
            test.columnBias = trans & 1;
            check(pool, test);
          }
  }
}

// What takes a moment even in an emulator: every edge of tiles of 6 rows and 1
// to 4 vectors of columns, along any depth.
TEST_P(CpuProducts, TilesOfEveryEdge) {
  Executor pool(1);
  for (size_t m : {1, 4, 5, 6, 7, 13})
    for (size_t n : {1, 3, 4, 5, 12, 15, 16, 17, 33})
      for (size_t k : {1, 5, 16, 19})
        for (int trans = 0; trans < 4; ++trans) {
          GemmCase test;
          test.shape = makeShape(m, n, k, trans & 1, trans & 2, 1);
          test.epilogue.rounding = n % 2 ? Rounding::FP16 : Rounding::None;
          test.rowBias = trans & 1;
          test.columnBias = trans & 2;
          test.packed = GemmCase::Side((m + n + k) % 3);
          check(pool, test);
        }
}

TEST_P(CpuProducts, LargeProductsAreCutRight) {
  Executor pool(2);
  const size_t sizes[][3] = {{97, 200, 300},
                             {200, 1100, 33},
                             {13, 70, 4500},
                             {1, 700, 2100},
                             {700, 1, 2100}};
  for (auto [m, n, k] : sizes)
    for (int trans = 0; trans < 4; ++trans) {
      GemmCase test;
      test.shape = makeShape(m, n, k, trans & 1, trans & 2);
      test.rowBias = true;
      test.epilogue.accumulate = trans == 3;
      check(pool, test);
    }
}

TEST_P(CpuProducts, PackedWeights) {
  Executor pool(2);
  const size_t sizes[][3] = {{1, 1, 1},    {33, 31, 17},   {64, 1, 100},
                             {1, 64, 100}, {100, 130, 70}, {20, 67, 4100}};
  for (auto [m, n, k] : sizes)
    for (int trans = 0; trans < 4; ++trans)
      for (GemmCase::Side side : {GemmCase::Left, GemmCase::Right})
        for (Rounding rounding : roundings) {
          GemmCase test;
          test.shape = makeShape(m, n, k, trans & 1, trans & 2, 1);
          test.epilogue.rounding = rounding;
          test.packed = side;
          test.rowBias = side == GemmCase::Left;
          test.columnBias = side == GemmCase::Right;
          test.batch = 2;
          check(pool, test);
        }
}

TEST_P(CpuProducts, BitsDoNotDependOnThreads) {
  const size_t sizes[][3] = {{5, 256, 64},  {16, 48, 100},  {100, 130, 70},
                             {300, 7, 256}, {256, 300, 33}, {64, 2100, 20},
                             {1, 74, 196},  {74, 1, 196},   {1, 10, 900},
                             {150, 70, 600}};
  for (auto [m, n, k] : sizes)
    for (int trans = 0; trans < 4; ++trans)
      for (size_t batch : {1, 3, 4, 9}) {
        GemmShape shape = makeShape(m, n, k, trans & 1, trans & 2);
        Floats a = randomFloats(shape.lda * std::max(m, k));
        Floats b = randomFloats(shape.ldb * std::max(n, k), -1, 1, 2);
        Floats first;
        for (unsigned threads = 1; threads <= 4; ++threads) {
          Executor pool(threads);
          Floats c(batch * m * shape.ldc);
          std::vector<GemmOperands> operands(batch);
          for (size_t i = 0; i < batch; ++i)
            operands[i] = {a.data(), b.data(), c.data() + i * m * shape.ldc};
          kernels->multiply(pool, shape, operands, {});
          first = threads == 1 ? c : first;
          EXPECT_EQ(c, first)
              << m << " x " << n << " x " << k << ", " << threads << " threads";
        }
      }
}

TEST_P(CpuProducts, BatchesShareAnOperand) {
  Executor pool(2);
  for (size_t batch : {0, 1, 2, 5, 12})
    for (size_t size : {5, 65}) {
      GemmCase test;
      test.shape = makeShape(size, size + 2, size + 1, true, false);
      test.batch = batch;
      test.columnBias = true;
      check(pool, test);
    }
}

TEST_P(CpuProducts, RunInsideATask) {
  Executor pool(2);
  size_t size = 70;
  Floats a = randomFloats(size * size), b = randomFloats(size * size, -1, 1, 2);
  std::vector<Floats> c(8, Floats(size * size));
  GemmShape shape = makeShape(size, size, size, false, true);
  pool.parallelFor(c.size(), [&](size_t task, unsigned) {
    GemmOperands operands = {.a = a.data(), .b = b.data(), .c = c[task].data()};
    kernels->multiply(pool, shape, operands, {});
  });
  for (const Floats &each : c)
    EXPECT_EQ(each, c[0]);
}

// Shapes that no list has, with other numbers each time a seed is added.
TEST_P(CpuProducts, RandomProducts) {
  std::minstd_rand random(1);
  auto below = [&](size_t limit) { return size_t(random() % limit); };
  for (int i = 0; i < 60; ++i) {
    Executor pool(unsigned(1 + below(3)));
    bool isDeep = i % 10 == 0;
    size_t most = isDeep ? 60 : 200;
    size_t m = 1 + below(most), n = 1 + below(most);
    size_t k = 1 + below(isDeep ? 4500 : 200);
    GemmCase test;
    test.shape = makeShape(m, n, k, below(2), below(2), below(3));
    test.epilogue = {below(2) ? Rounding::FP16 : Rounding::None, below(2) == 0};
    test.rowBias = below(2);
    test.columnBias = below(2);
    test.batch = 1 + below(3);
    check(pool, test);
  }
}

// Callers keep what they have in the outer scratch memory of a worker.
TEST_P(CpuProducts, KeepTheOuterScratchMemory) {
  for (unsigned threads : {1, 2}) {
    Executor pool(threads);
    GemmShape shape = makeShape(150, 130, 140, true, false);
    Floats a = randomFloats(150 * 140), b = randomFloats(140 * 130, -1, 1, 2);
    pool.parallelFor(4, [&](size_t, unsigned worker) {
      constexpr size_t count = 70000;
      float *kept = pool.outerScratch(worker, count);
      std::fill_n(kept, count, 7.0f);
      Floats c(150 * 130);
      GemmOperands operands = {.a = a.data(), .b = b.data(), .c = c.data()};
      kernels->multiply(pool, shape, operands, {});
      EXPECT_EQ(std::count(kept, kept + count, 7.0f), ptrdiff_t(count));
    });
  }
}

// Rows that are asked for give the bits of rows in memory.
TEST_P(CpuProducts, RowsOfASource) {
  const size_t sizes[][3] = {{1, 20, 33},
                             {24, 64, 70},
                             {131, 130, 100},
                             {300, 1100, 17},
                             {30, 70, 4500}};
  for (const size_t *size : sizes)
    for (size_t batch : {1, 3})
      for (bool transB : {false, true}) {
        size_t m = size[0], n = size[1], k = size[2];
        GemmShape shape = makeShape(m, n, k, false, transB);
        Floats a = randomFloats(m * k), bias = randomFloats(m, -1, 1, 5);
        Floats b = randomFloats(batch * n * k, -1, 1, 2);
        Floats wanted;
        for (unsigned threads : {1, 2, 3}) {
          Executor pool(threads);
          Floats c(batch * m * n);
          std::vector<GemmOperands> operands;
          for (size_t i = 0; i < batch; ++i)
            operands.push_back({.a = nullptr,
                                .b = b.data() + i * n * k,
                                .c = c.data() + i * m * n,
                                .rowBias = bias.data()});
          auto source = [&](const RowBlock &block) {
            for (size_t i = 0; i < block.rows; ++i)
              std::copy_n(a.data() + (block.row + i) * k + block.column,
                          block.columns, block.elements + i * block.stride);
          };
          auto multiply = [&](size_t, unsigned) {
            kernels->multiplyRowsOf(pool, source, shape, operands,
                                    {Rounding::FP16});
          };
          if (threads == 2)
            pool.parallelFor(1, multiply);
          else
            multiply(0, 0);
          wanted = threads == 1 ? c : wanted;
          EXPECT_EQ(c, wanted) << m << "x" << n << "x" << k;
        }
        for (size_t i = 0; i < batch * m * n; ++i) {
          size_t row = i / n % m, column = i % n, product = i / (m * n);
          double sum = bias[row];
          for (size_t p = 0; p < k; ++p)
            sum +=
                double(a[row * k + p]) *
                b[product * n * k + (transB ? column * k + p : p * n + column)];
          ASSERT_TRUE(isNear(wanted[i], sum, Rounding::FP16, 3e-7,
                             1e-6 + 6e-8 * double(k)))
              << m << "x" << n << "x" << k << " at " << row << ", " << column;
        }
      }
}

#ifndef __APPLE__
// How many threads the program wants of OpenBLAS is the program's own.
TEST_P(CpuProducts, LeaveTheThreadsOfBlasAsTheyWere) {
  if (!openblas_set_num_threads || !openblas_get_num_threads)
    GTEST_SKIP() << "another BLAS";
  int before = openblas_get_num_threads();
  Executor pool(2);
  for (int count : {1, 2}) {
    openblas_set_num_threads(count);
    if (openblas_get_num_threads() != count)
      continue; // built without threads
    GemmCase test;
    test.shape = makeShape(70, 80, 90, false, false);
    test.batch = 3;
    check(pool, test);
    EXPECT_EQ(openblas_get_num_threads(), count);
    pool.parallelFor(4, [&](size_t, unsigned) {
      Floats a(64 * 64, 1), b(64 * 64, 1), c(64 * 64);
      GemmOperands operands = {.a = a.data(), .b = b.data(), .c = c.data()};
      kernels->multiply(pool, makeShape(64, 64, 64, false, false), operands,
                        {});
    });
    EXPECT_EQ(openblas_get_num_threads(), count);
  }
  openblas_set_num_threads(before);
}
#endif

/// Each instruction set of this processor that has own kernels, in use.
template <typename Body>
static void withInstructionSets(Body body) {
  InstructionSet before = instructionSet();
  for (InstructionSet set : llvm::drop_begin(instructionSets))
    if (useInstructionSet(set)) {
      ASSERT_NE(ownProducts(set), nullptr);
      body(*ownProducts(set));
    }
  useInstructionSet(before);
}

/// Apple's BLAS has the better units on its own chips.
#if defined(__APPLE__) && defined(__aarch64__)
static constexpr bool choosesOwn = false;
#else
static constexpr bool choosesOwn = true;
#endif

TEST(CpuProductKernels, AreChosenByTheProcessor) {
  EXPECT_EQ(ownProducts(InstructionSet::Baseline), nullptr);
  for (InstructionSet set : llvm::drop_begin(instructionSets))
    EXPECT_EQ(ownProducts(set) != nullptr, hasInstructionSet(set));
  withInstructionSets([](const ProductKernels &) {
    EXPECT_EQ(bestProducts().name(), choosesOwn ? "mixed" : "blas");
  });
  InstructionSet before = instructionSet();
  useInstructionSet(InstructionSet::Baseline);
  EXPECT_EQ(&bestProducts(), &blasProducts());
  useInstructionSet(before);
}

// What is chosen for a shape gives the bits of what it is chosen from.
TEST(CpuProductKernels, AreChosenByShape) {
  struct {
    GemmShape shape;
    bool isOwn;
  } cases[] = {
      {makeShape(64, 64, 64, false, false), false},
      {makeShape(128, 128, 128, false, true), true},
      {makeShape(128, 128, 128, true, false), true},
      {makeShape(1, 2048, 768, false, true), true},
      {makeShape(1, 256, 256, false, true), false},
  };
  Executor pool(1);
  withInstructionSets([&](const ProductKernels &own) {
    for (const auto &[shape, isOwn] : cases) {
      Floats a = randomFloats(shape.m * shape.k);
      Floats b = randomFloats(shape.k * shape.n, -1, 1, 2);
      Floats chosen(shape.m * shape.n), wanted = chosen;
      GemmOperands operands = {
          .a = a.data(), .b = b.data(), .c = chosen.data()};
      bestProducts().multiply(pool, shape, operands, {});
      operands.c = wanted.data();
      bool useOwn = choosesOwn && (isOwn || isBlasOutdated());
      (useOwn ? own : blasProducts()).multiply(pool, shape, operands, {});
      EXPECT_EQ(chosen, wanted) << own.name().str() << ": " << shape.m << "x"
                                << shape.n << "x" << shape.k;
    }
  });
}

} // namespace
} // namespace anec::cpu
