//===- TiledProducts.cpp - products by anec's own kernels -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Cuts products into blocks, panels and slices for the tiles of
/// Tiles.h.
///
//===----------------------------------------------------------------------===//

#include "Cutting.h"
#include "Tiles.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>

using namespace anec;
using namespace anec::cpu;

#if defined(__x86_64__) || defined(__aarch64__)

/// The depth of a block: as many steps of k as keep a panel of B
/// within half a second-level cache, in equal parts.
static size_t blockDepth(size_t k) {
  constexpr size_t limit = 2048;
  return k <= limit ? k : divideUp(k, divideUp(k, limit));
}

/// Columns that are packed at once, which bounds the scratch memory.
static constexpr size_t blockColumns = 1024;

/// Part of a product: rows [row, row + rows) and one panel of columns, for one
/// block of k.
struct Part {
  size_t row, rows, column, columns, depth, depths;
};

/// Calls body(depth, depths) for every block of k, at least once.
template <typename Body>
static void forEachDepth(size_t k, Body body) {
  size_t block = blockDepth(k);
  size_t depth = 0;
  do {
    size_t depths = std::min(block, k - depth);
    body(depth, depths);
    depth += depths;
  } while (depth < k);
}

/// (x op(B))^T == op(B)^T x^T: a column is computed as a row.
static void exchange(GemmShape &shape, GemmOperands &operands) {
  auto flipped = [](Transpose trans) {
    return trans == Transpose::Yes ? Transpose::No : Transpose::Yes;
  };
  shape = {.m = shape.n,
           .n = shape.m,
           .k = shape.k,
           .lda = shape.ldb,
           .ldb = shape.lda,
           .ldc = shape.m,
           .transA = flipped(shape.transB),
           .transB = flipped(shape.transA)};
  std::swap(operands.a, operands.b);
  std::swap(operands.rowBias, operands.columnBias);
}

/// Rows of a left operand that a task copies at once.
static constexpr size_t fewRowsOfTask = 4 * tileRows;
static constexpr size_t mostRowsOfTask = 8 * tileRows;

/// The steps of k whose sum is computed in registers. Each step along k of a
/// transposed A touches another page. With few steps at a time, the next rows
/// reuse its cache lines and pages. The same where A is copied, so that bits do
/// not depend on it.
static size_t sumDepths(const GemmShape &shape) {
  constexpr size_t transposedDepths = 256;
  return shape.transA == Transpose::Yes ? transposedDepths : shape.k;
}

namespace {
/// Products by the tiles of one instruction set.
class TiledProducts final : public ProductKernels {
public:
  constexpr TiledProducts(const char *title, const TileKernels &tiles)
      : title(title), tiles(tiles) {}

  llvm::StringRef name() const override { return title; }
  void multiply(Executor &pool, const GemmShape &shape,
                llvm::ArrayRef<GemmOperands> batch,
                const GemmEpilogue &epilogue) const override {
    if (shape.m == 0 || shape.n == 0)
      return;
    if (shape.k != 0)
      return multiplyBatch(pool, shape, batch, epilogue);
    for (const GemmOperands &operands : batch)
      multiplyNothing(shape, operands, epilogue);
  }
  PackedWeight packLeft(size_t m, size_t k, const float *weight, size_t leading,
                        Transpose transpose) const override;
  PackedWeight packRight(size_t k, size_t n, const float *weight,
                         size_t leading, Transpose transpose) const override;
  void multiplyRight(Executor &pool, const PackedWeight &weight,
                     const GemmShape &shape, llvm::ArrayRef<GemmOperands> batch,
                     const GemmEpilogue &epilogue) const override;
  void multiplyRowsOf(Executor &pool, RowSource source, const GemmShape &shape,
                      llvm::ArrayRef<GemmOperands> batch,
                      const GemmEpilogue &epilogue) const override;

private:
  /// \p b holds the part's rows of op(B), \p rowStrideB apart.
  void multiplyPart(const GemmShape &shape, const GemmOperands &operands,
                    const GemmEpilogue &epilogue, const Part &part,
                    const float *b, size_t rowStrideB) const {
    bool transposed = shape.transA == Transpose::Yes;
    size_t end = part.depth + part.depths, depth = part.depth;
    do {
      size_t depths = std::min(sumDepths(shape), end - depth);
      bool last = depth + depths == shape.k;
      tiles.multiplyPanel(
          {.m = part.rows,
           .n = part.columns,
           .k = depths,
           .a = operands.a + at(part.row, depth, shape.lda, shape.transA),
           .rowStrideA = transposed ? 1 : shape.lda,
           .stepA = transposed ? shape.lda : 1,
           .b = b + (depth - part.depth) * rowStrideB,
           .rowStrideB = rowStrideB,
           .c = operands.c + part.row * shape.ldc + part.column,
           .ldc = shape.ldc,
           .accumulate = depth > 0 || epilogue.accumulate,
           .rowBias =
               last && operands.rowBias ? operands.rowBias + part.row : nullptr,
           .columnBias = last && operands.columnBias
                             ? operands.columnBias + part.column
                             : nullptr,
           .half = last && epilogue.rounding == Rounding::FP16});
      depth += depths;
    } while (depth < end);
  }

  /// One product on the calling thread, B packed panel by panel.
  void multiplyAlone(Executor &pool, const GemmShape &shape,
                     const GemmOperands &operands,
                     const GemmEpilogue &epilogue) const {
    float *panel = pool.scratch(pool.currentWorker(),
                                blockDepth(shape.k) * tiles.panelColumns);
    for (size_t column = 0; column < shape.n; column += tiles.panelColumns) {
      size_t columns = std::min(tiles.panelColumns, shape.n - column);
      forEachDepth(shape.k, [&](size_t depth, size_t depths) {
        Part part = {0, shape.m, column, columns, depth, depths};
        const float *b =
            operands.b + at(depth, column, shape.ldb, shape.transB);
        // A panel used by a tile or two is not worth packing.
        if (shape.transB == Transpose::No && shape.m <= 2 * tileRows)
          return multiplyPart(shape, operands, epilogue, part, b, shape.ldb);
        tiles.packPanel(depths, columns, b, shape.ldb,
                        shape.transB == Transpose::Yes, panel);
        multiplyPart(shape, operands, epilogue, part, panel,
                     tiles.paddedColumns(columns));
      });
    }
  }

  /// The offset of a panel in the packed form of B[k, n], which has the blocks
  /// of k in order, and in each the panels of columns.
  size_t panelOffset(size_t n, size_t depth, size_t depths,
                     size_t column) const {
    return depth * tiles.paddedColumns(n) + depths * column;
  }

  void packBlock(Executor &pool, const float *b, size_t ldb, Transpose trans,
                 size_t depths, size_t n, float *out) const {
    constexpr size_t chunk = 256;
    size_t panels = divideUp(n, tiles.panelColumns);
    size_t chunks = divideUp(depths, chunk);
    pool.parallelFor(panels * chunks, [&](size_t task, unsigned) {
      size_t column = task / chunks * tiles.panelColumns;
      size_t depth = task % chunks * chunk;
      size_t columns = std::min(tiles.panelColumns, n - column);
      tiles.packPanel(std::min(chunk, depths - depth), columns,
                      b + at(depth, column, ldb, trans), ldb,
                      trans == Transpose::Yes,
                      out + panelOffset(n, 0, depths, column) +
                          depth * tiles.paddedColumns(columns));
    });
  }

  /// Columns [begin, begin + n) for one block of k, from packed panels that all
  /// fit in the second-level cache: each task takes a few rows of A, which are
  /// then read from memory once.
  void multiplyRowsOfBlock(Executor &pool, const GemmShape &shape,
                           const GemmOperands &operands,
                           const GemmEpilogue &epilogue, size_t begin, size_t n,
                           size_t depth, size_t depths,
                           const float *panels) const {
    constexpr size_t rows = 4 * tileRows;
    pool.parallelFor(divideUp(shape.m, rows), [&](size_t task, unsigned) {
      size_t row = task * rows;
      for (size_t column = 0; column < n; column += tiles.panelColumns) {
        size_t columns = std::min(tiles.panelColumns, n - column);
        Part part = {row,
                     std::min(rows, shape.m - row),
                     begin + column,
                     columns,
                     depth,
                     depths};
        multiplyPart(shape, operands, epilogue, part,
                     panels + panelOffset(n, 0, depths, column),
                     tiles.paddedColumns(columns));
      }
    });
  }

  /// Columns [begin, begin + n) for one block of k, from packed panels; tasks
  /// are small enough to balance the load of the workers. A panel has several
  /// tasks only where there are few panels, or many rows: each task reads all
  /// of it from memory.
  void multiplyBlock(Executor &pool, const GemmShape &shape,
                     const GemmOperands &operands, const GemmEpilogue &epilogue,
                     size_t begin, size_t n, size_t depth, size_t depths,
                     const float *panels) const {
    constexpr size_t tasksPerWorker = 8;
    constexpr size_t cachedFloats =
        768 * 256; // three quarters of a small cache
    if (depths * tiles.paddedColumns(n) <= cachedFloats &&
        shape.m >= tasksPerWorker * pool.size() * tileRows)
      return multiplyRowsOfBlock(pool, shape, operands, epilogue, begin, n,
                                 depth, depths, panels);
    constexpr size_t panelTasksPerWorker = 4;
    constexpr size_t sliceFloats = 256 * 1024; // half of a second-level cache
    size_t panelCount = divideUp(n, tiles.panelColumns);
    size_t wanted =
        std::max(divideUp(panelTasksPerWorker * pool.size(), panelCount),
                 divideUp(shape.m * depths, sliceFloats));
    size_t rows = divideUp(divideUp(shape.m, wanted), tileRows) * tileRows;
    size_t slices = divideUp(shape.m, rows);
    pool.parallelFor(panelCount * slices, [&](size_t task, unsigned) {
      size_t column = task / slices * tiles.panelColumns;
      size_t row = task % slices * rows;
      size_t columns = std::min(tiles.panelColumns, n - column);
      Part part = {
          row,   std::min(rows, shape.m - row), begin + column, columns, depth,
          depths};
      multiplyPart(shape, operands, epilogue, part,
                   panels + panelOffset(n, 0, depths, column),
                   tiles.paddedColumns(columns));
    });
  }

  /// One product shared by all workers.
  void multiplyTogether(Executor &pool, const GemmShape &shape,
                        const GemmOperands &operands,
                        const GemmEpilogue &epilogue) const {
    size_t widest = std::min(shape.n, blockColumns);
    float *panels =
        pool.scratch(pool.currentWorker(),
                     blockDepth(shape.k) * tiles.paddedColumns(widest));
    for (size_t column = 0; column < shape.n; column += blockColumns) {
      size_t n = std::min(blockColumns, shape.n - column);
      forEachDepth(shape.k, [&](size_t depth, size_t depths) {
        packBlock(pool, operands.b + at(depth, column, shape.ldb, shape.transB),
                  shape.ldb, shape.transB, depths, n, panels);
        multiplyBlock(pool, shape, operands, epilogue, column, n, depth, depths,
                      panels);
      });
    }
  }

  /// A panel of columns of one product of a batch, packed for a block of k.
  struct Panel {
    size_t product, column, columns;
    float *packed;
  };
  /// A block of k.
  struct Depths {
    size_t first, count;
  };
  void packPanels(Executor &pool, const GemmShape &shape,
                  llvm::ArrayRef<GemmOperands> batch,
                  llvm::ArrayRef<Panel> panels, size_t depth,
                  size_t depths) const;
  void multiplyPanel(const GemmShape &shape, const GemmOperands &operands,
                     const GemmEpilogue &epilogue, const Panel &panel,
                     const RowBlock &left, size_t depth) const;
  void multiplyPanels(Executor &pool, RowSource source, const GemmShape &shape,
                      llvm::ArrayRef<GemmOperands> batch,
                      llvm::ArrayRef<Panel> panels, Depths block,
                      float *ownRows, const GemmEpilogue &epilogue) const;

  void multiplyCopied(Executor &pool, RowSource source, const GemmShape &shape,
                      llvm::ArrayRef<GemmOperands> batch,
                      const GemmEpilogue &epilogue) const;
  void multiplyTransposed(Executor &pool, const GemmShape &shape,
                          const GemmOperands &operands,
                          const GemmEpilogue &epilogue) const;

  /// One row, C[1, n] = x op(B): bound by reading B once, so nothing is packed.
  void multiplyRow(Executor &pool, const GemmShape &shape,
                   const GemmOperands &operands,
                   const GemmEpilogue &epilogue) const {
    constexpr size_t grain = 64;
    GemmShape row = shape;
    GemmOperands rowOperands = operands;
    row.lda = shape.k;
    row.transA = Transpose::No;
    if (shape.transA == Transpose::Yes && shape.lda != 1) {
      float *x = pool.scratch(pool.currentWorker(), shape.k);
      for (size_t p = 0; p < shape.k; ++p)
        x[p] = operands.a[p * shape.lda];
      rowOperands.a = x;
    }
    auto multiply = [&](size_t begin, size_t end, unsigned) {
      if (shape.transB == Transpose::No) {
        for (size_t column = begin; column < end;
             column += tiles.panelColumns) {
          size_t columns = std::min(tiles.panelColumns, end - column);
          Part part = {0, 1, column, columns, 0, shape.k};
          multiplyPart(row, rowOperands, epilogue, part, operands.b + column,
                       shape.ldb);
        }
        return;
      }
      for (size_t column = begin; column < end; column += grain) {
        size_t columns = std::min(grain, end - column);
        float sums[grain];
        tiles.multiplyRows(columns, shape.k, operands.b + column * shape.ldb,
                           shape.ldb, rowOperands.a, sums);
        float *c = operands.c + column;
        if (epilogue.accumulate)
          binary(Binary::Add, columns, sums, 1, c, 1, sums, Rounding::None);
        std::copy_n(sums, columns, c);
        GemmShape part = {.m = 1, .n = columns, .k = 0, .ldc = columns};
        finishProduct(part,
                      {.c = c,
                       .rowBias = operands.rowBias,
                       .columnBias = operands.columnBias
                                         ? operands.columnBias + column
                                         : nullptr},
                      epilogue.rounding);
      }
    };
    if (isSmall(shape))
      return multiply(0, shape.n, 0);
    pool.parallelRanges(shape.n, grain, multiply);
  }

  void multiplyOne(Executor &pool, GemmShape shape, GemmOperands operands,
                   const GemmEpilogue &epilogue) const {
    if (shape.n == 1 && shape.ldc == 1)
      exchange(shape, operands);
    if (shape.m == 1)
      return multiplyRow(pool, shape, operands, epilogue);
    if (isSmall(shape) || pool.isInTask())
      return multiplyAlone(pool, shape, operands, epilogue);
    // Worth a copy where it is read several times, and has rows for all
    // workers.
    if (shape.transA == Transpose::Yes && shape.n >= tiles.panelColumns &&
        shape.m >= 2 * fewRowsOfTask * pool.size())
      return multiplyTransposed(pool, shape, operands, epilogue);
    if (pool.size() == 1)
      return multiplyAlone(pool, shape, operands, epilogue);
    multiplyTogether(pool, shape, operands, epilogue);
  }

  void multiplyBatch(Executor &pool, const GemmShape &shape,
                     llvm::ArrayRef<GemmOperands> batch,
                     const GemmEpilogue &epilogue) const {
    if (isBusyBatch(pool, shape, batch.size()))
      return pool.parallelFor(batch.size(), [&](size_t task, unsigned) {
        multiplyOne(pool, shape, batch[task], epilogue);
      });
    for (const GemmOperands &operands : batch)
      multiplyOne(pool, shape, operands, epilogue);
  }

  const char *title;
  const TileKernels &tiles;
};
} // namespace

PackedWeight TiledProducts::packLeft(size_t m, size_t k, const float *weight,
                                     size_t leading,
                                     Transpose transpose) const {
  PackedWeight result{weight, leading, transpose, nullptr, 0};
  if (transpose == Transpose::No)
    return result;
  // Read along k, a transposed matrix would touch a new page at every step.
  result.packedCount = m * k;
  result.packed = makeAlignedArray(m * k);
  constexpr size_t block = 16;
  for (size_t row = 0; row < m; row += block)
    for (size_t depth = 0; depth < k; ++depth)
      for (size_t i = row; i < std::min(m, row + block); ++i)
        result.packed[i * k + depth] = weight[depth * leading + i];
  return result;
}

PackedWeight TiledProducts::packRight(size_t k, size_t n, const float *weight,
                                      size_t leading,
                                      Transpose transpose) const {
  PackedWeight result{weight, leading, transpose, nullptr, 0};
  result.packedCount = k * tiles.paddedColumns(n);
  result.packed = makeAlignedArray(result.packedCount);
  Executor alone(1);
  forEachDepth(k, [&](size_t depth, size_t depths) {
    packBlock(alone, weight + at(depth, 0, leading, transpose), leading,
              transpose, depths, n,
              result.packed.get() + panelOffset(n, depth, depths, 0));
  });
  return result;
}

void TiledProducts::multiplyRight(Executor &pool, const PackedWeight &weight,
                                  const GemmShape &shape,
                                  llvm::ArrayRef<GemmOperands> batch,
                                  const GemmEpilogue &epilogue) const {
  // A single row reads the weight once, and is faster on the original.
  if (weight.packed && shape.m > 1 && shape.k != 0) {
    for (const GemmOperands &operands : batch)
      forEachDepth(shape.k, [&](size_t depth, size_t depths) {
        multiplyBlock(
            pool, shape, operands, epilogue, 0, shape.n, depth, depths,
            weight.packed.get() + panelOffset(shape.n, depth, depths, 0));
      });
    return;
  }
  ProductKernels::multiplyRight(pool, weight, shape, batch, epilogue);
}

//===----------------------------------------------------------------------===//
// A left operand that is not in memory
//===----------------------------------------------------------------------===//

void TiledProducts::packPanels(Executor &pool, const GemmShape &shape,
                               llvm::ArrayRef<GemmOperands> batch,
                               llvm::ArrayRef<Panel> panels, size_t depth,
                               size_t depths) const {
  constexpr size_t chunk = 256;
  size_t chunks = divideUp(depths, chunk);
  pool.parallelFor(panels.size() * chunks, [&](size_t task, unsigned) {
    const Panel &panel = panels[task / chunks];
    size_t first = task % chunks * chunk;
    tiles.packPanel(std::min(chunk, depths - first), panel.columns,
                    batch[panel.product].b + at(depth + first, panel.column,
                                                shape.ldb, shape.transB),
                    shape.ldb, shape.transB == Transpose::Yes,
                    panel.packed + first * tiles.paddedColumns(panel.columns));
  });
}

/// Rows of the left operand for one task: as many as stay in the second-level
/// cache beside a panel, and as give all workers something to do.
static size_t rowsOfTask(const Executor &pool, size_t m, size_t depths) {
  constexpr size_t cachedFloats = 128 * 1024, tasksPerWorker = 4;
  bool isLarge = mostRowsOfTask * depths <= cachedFloats &&
                 m >= mostRowsOfTask * tasksPerWorker * pool.size();
  return isLarge ? mostRowsOfTask : fewRowsOfTask;
}

/// Each task writes its rows once, for all panels.
void TiledProducts::multiplyPanels(Executor &pool, RowSource source,
                                   const GemmShape &shape,
                                   llvm::ArrayRef<GemmOperands> batch,
                                   llvm::ArrayRef<Panel> panels, Depths block,
                                   float *ownRows,
                                   const GemmEpilogue &epilogue) const {
  size_t depth = block.first, depths = block.count;
  size_t rows = rowsOfTask(pool, shape.m, depths);
  unsigned owner = pool.currentWorker();
  size_t stride = tiles.paddedColumns(depths);
  pool.parallelFor(divideUp(shape.m, rows), [&](size_t task, unsigned worker) {
    size_t row = task * rows, count = std::min(rows, shape.m - row);
    // A worker's scratch has both where it packed the panels itself.
    float *left =
        worker == owner ? ownRows : pool.scratch(worker, rows * stride);
    source({row, count, depth, depths, stride, left});
    for (const Panel &panel : panels)
      for (size_t first = 0; first < depths; first += sumDepths(shape))
        multiplyPanel(shape, batch[panel.product], epilogue, panel,
                      {.row = row,
                       .rows = count,
                       .column = depth + first,
                       .columns = std::min(sumDepths(shape), depths - first),
                       .stride = stride,
                       .elements = left + first},
                      depth);
  });
}

/// Some rows and steps of k, of a panel that begins at step `depth`.
void TiledProducts::multiplyPanel(const GemmShape &shape,
                                  const GemmOperands &operands,
                                  const GemmEpilogue &epilogue,
                                  const Panel &panel, const RowBlock &left,
                                  size_t depth) const {
  bool last = left.column + left.columns == shape.k;
  const float *rowBias = last ? operands.rowBias : nullptr;
  const float *columnBias = last ? operands.columnBias : nullptr;
  size_t rowStrideB = tiles.paddedColumns(panel.columns);
  tiles.multiplyPanel(
      {.m = left.rows,
       .n = panel.columns,
       .k = left.columns,
       .a = left.elements,
       .rowStrideA = left.stride,
       .stepA = 1,
       .b = panel.packed + (left.column - depth) * rowStrideB,
       .rowStrideB = rowStrideB,
       .c = operands.c + left.row * shape.ldc + panel.column,
       .ldc = shape.ldc,
       .accumulate = left.column > 0 || epilogue.accumulate,
       .rowBias = rowBias ? rowBias + left.row : nullptr,
       .columnBias = columnBias ? columnBias + panel.column : nullptr,
       .half = last && epilogue.rounding == Rounding::FP16});
}

void TiledProducts::multiplyRowsOf(Executor &pool, RowSource source,
                                   const GemmShape &shape,
                                   llvm::ArrayRef<GemmOperands> batch,
                                   const GemmEpilogue &epilogue) const {
  if (shape.m == 0 || shape.n == 0 || shape.k == 0)
    return ProductKernels::multiplyRowsOf(pool, source, shape, batch, epilogue);
  GemmShape inOrder = shape;
  inOrder.transA = Transpose::No;
  multiplyCopied(pool, source, inOrder, batch, epilogue);
}

/// Sums are those of a left operand in memory, transposed or not, of more than
/// one row.
void TiledProducts::multiplyCopied(Executor &pool, RowSource source,
                                   const GemmShape &shape,
                                   llvm::ArrayRef<GemmOperands> batch,
                                   const GemmEpilogue &epilogue) const {
  size_t together = blockColumns / tiles.panelColumns; // panels packed at once
  size_t panelFloats = blockDepth(shape.k) * tiles.panelColumns;
  size_t ofProduct = divideUp(shape.n, tiles.panelColumns);
  size_t count = batch.size() * ofProduct;
  // Tasks that call products use the outer scratch memory.
  size_t rowFloats = mostRowsOfTask * tiles.paddedColumns(blockDepth(shape.k));
  float *ownRows =
      pool.scratch(pool.currentWorker(),
                   rowFloats + std::min(together, count) * panelFloats);
  float *packed = ownRows + rowFloats;
  llvm::SmallVector<Panel, 64> panels;
  for (size_t first = 0; first < count; first += together) {
    panels.clear();
    for (size_t i = first; i < std::min(count, first + together); ++i) {
      size_t column = i % ofProduct * tiles.panelColumns;
      panels.push_back({i / ofProduct, column,
                        std::min(tiles.panelColumns, shape.n - column),
                        packed + (i - first) * panelFloats});
    }
    forEachDepth(shape.k, [&](size_t depth, size_t depths) {
      packPanels(pool, shape, batch, panels, depth, depths);
      multiplyPanels(pool, source, shape, batch, panels, {depth, depths},
                     ownRows, epilogue);
    });
  }
}

/// Read down its columns, a left operand would touch a new page in each step of
/// k, and a few sets of the cache.
void TiledProducts::multiplyTransposed(Executor &pool, const GemmShape &shape,
                                       const GemmOperands &operands,
                                       const GemmEpilogue &epilogue) const {
  auto transpose = [&](const RowBlock &block) {
    tiles.packPanel(block.rows, block.columns,
                    operands.a + block.column * shape.lda + block.row,
                    shape.lda, true, block.elements);
  };
  multiplyCopied(pool, transpose, shape, operands, epilogue);
}

#if defined(__x86_64__)
static constinit const TiledProducts avx2Products("avx2", avx2Tiles);
static constinit const TiledProducts avx512Products("avx512", avx512Tiles);
#else
static constinit const TiledProducts neonProducts("neon", neonTiles);
#endif

const ProductKernels *cpu::ownProducts(InstructionSet set) {
  if (!hasInstructionSet(set))
    return nullptr;
  switch (set) {
#if defined(__x86_64__)
  case InstructionSet::AVX2:
    return &avx2Products;
  case InstructionSet::AVX512:
    return &avx512Products;
#else
  case InstructionSet::NEON:
    return &neonProducts;
#endif
  default:
    return nullptr;
  }
}

#else

const ProductKernels *cpu::ownProducts(InstructionSet) { return nullptr; }

#endif
