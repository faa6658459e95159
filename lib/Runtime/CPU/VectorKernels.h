//===- VectorKernels.h - Elementwise and row kernels ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
/// \file
/// Vectorised kernels over float arrays. The CPU backend keeps every float
/// tensor as fp32; with fp16 numerics the result of each operation is rounded
/// to the nearest fp16 value and kept as fp32, so every kernel has a `Rounding`
/// parameter. The instruction set is chosen once, at run time.
///
/// Lengths count elements and may be 0; pointers need only the alignment of
/// their element; `out` may be the same array as an input, but may not overlap
/// one otherwise. Transcendental results are relatively within 2.4e-7 (2 ulp)
/// of the exact value, or 4e-7 (sigmoid, silu, softplus), 3e-7 (pow) and 1.5e-6
/// (softmax), with the infinities, zeros and NaNs of libm.
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_CPU_VECTORKERNELS_H
#define ANEC_LIB_RUNTIME_CPU_VECTORKERNELS_H

#include <cstddef>
#include <cstdint>

namespace anec::cpu {

/// The rounding of a result before it is stored. FP16: nearest fp16 value, ties
/// to even, overflow (65520 and up) to infinity, subnormals kept.
enum class Rounding : uint8_t { None, FP16 };

/// The instruction sets that kernels are compiled for. The baseline is what
/// every processor of an architecture has. NEON is part of arm64's, so that the
/// two differ in the kernels of products only.
enum class InstructionSet : uint8_t { Baseline, AVX2, AVX512, NEON };
/// All of them; of those that a machine has, the last is the best.
inline constexpr InstructionSet instructionSets[] = {
    InstructionSet::Baseline, InstructionSet::AVX2, InstructionSet::AVX512,
    InstructionSet::NEON};

/// Whether this machine and this build have \p set.
bool hasInstructionSet(InstructionSet set);
/// The best instruction set of this machine.
InstructionSet detectInstructionSet();

/// Makes the kernels use \p set; false if this machine or build lacks it. For
/// tests, and for reproducing another machine's results: it must not be called
/// while kernels run.
bool useInstructionSet(InstructionSet set);

/// The instruction set in use.
InstructionSet instructionSet();

//===-- Matrices ----------------------------------------------------------===//

/// A matrix [rows, count] for kernels along the outer axis, with \p stride
/// elements from row to row. This is the channel-first case.
struct Columns {
  size_t rows, count, stride;
  const float *x;
};

//===-- Rounding ----------------------------------------------------------===//

/// out[i] = x[i] rounded to fp16, kept as fp32.
void roundToHalf(size_t n, const float *x, float *out);

//===-- Elementwise -------------------------------------------------------===//

/// Max and Min return the first operand if either is NaN, as std::max does.
enum class Binary : uint8_t {
  Add,
  Sub,
  Mul,
  Div,
  FloorDiv, ///< a / b rounded down
  Max,
  Min,
  Mod, ///< the remainder of a by b, with the sign of b
  Pow,
  Prelu, ///< a < 0 ? b * a : a
  /// a / b as an integer in [-128, 127], to nearest, ties to even; 0 for NaN.
  Int8,
};

/// out[i] = kind(a[i * strideA], b[i * strideB]); a stride is 1, or 0 for one
/// value broadcast along the row.
void binary(Binary kind, size_t n, const float *a, size_t strideA,
            const float *b, size_t strideB, float *out, Rounding rounding);

/// The functions of x, with parameters p and q.
enum class Unary : uint8_t {
#define UNARY(NAME, CONSTANTS, EXPRESSION) NAME,
#include "lib/Runtime/CPU/UnaryKernels.def"
};

/// out[i] = kind(x[i]; p, q).
void unary(Unary kind, size_t n, const float *x, float *out, Rounding rounding,
           float p = 0, float q = 0);

/// out[i] = silu(gate[i]) * up[i], the middle of a gated feed-forward
/// layer. FP16 rounds where the separate operations would: after the sigmoid if
/// \p roundSigmoid (silu written as x * sigmoid(x)), after the silu, at the
/// end.
void siluMul(size_t n, const float *gate, const float *up, float *out,
             Rounding rounding, bool roundSigmoid = false);

//===-- Softmax -----------------------------------------------------------===//

/// Softmax of one contiguous row of \p n elements; only the result is rounded.
/// A row of which every element is -infinity gives NaN.
void softmaxRow(size_t n, const float *x, float *out, Rounding rounding);
/// The same of each row of x, which is [rows, n].
void softmaxRows(size_t rows, size_t n, const float *x, float *out,
                 Rounding rounding);

/// Attention's softmax(x * scale + mask) of one row in one pass over memory;
/// \p mask may be null. FP16 rounds after the product, the sum and the softmax.
void scaledSoftmaxRow(size_t n, const float *x, float scale, const float *mask,
                      float *out, Rounding rounding);

/// Softmax over the outer axis: each column is normalised; \p out has the same
/// layout.
void softmaxColumns(const Columns &x, float *out, Rounding rounding);

//===-- Reductions --------------------------------------------------------===//

/// Sums and products are accumulated in fp64, so that their order has no
/// visible effect. Max and Min of a NaN are NaN. Without elements: 0 for sums
/// and L2, -infinity for LogSum, 1 for Product, NaN for Mean, -/+infinity for
/// Max/Min.
enum class Reduce : uint8_t {
  L1,
  L2,
  LogSum,
  Max,
  Mean,
  Min,
  Product,
  Sum,
  SumSquare,
};

/// The reduction of \p n contiguous elements.
float reduceRow(Reduce kind, size_t n, const float *x, Rounding rounding);
/// out[i] = the reduction of row i of x, which is [rows, n].
void reduceRows(Reduce kind, size_t rows, size_t n, const float *x, float *out,
                Rounding rounding);

/// out[i] = the reduction of column i.
void reduceColumns(Reduce kind, const Columns &x, float *out,
                   Rounding rounding);

//===-- Normalization -----------------------------------------------------===//

/// What is subtracted from an element, and the factor after that.
struct Scaling {
  double mean, factor;
};

/// The factor and the summand of a normalized row.
struct Affine {
  double scale, shift;
};

/// Those of each element or row; null for 1 and 0.
struct Affines {
  const float *scales, *shifts;
};

/// out[i] = (x[i] - mean) * factor * scale + shift in fp64, rounded once.
void normalizeRow(size_t n, const float *x, const Scaling &by,
                  const Affine &affine, float *out, Rounding rounding);

/// The same with a factor and a summand for each element.
void normalizeElements(size_t n, const float *x, const Scaling &by,
                       const Affines &affines, float *out, Rounding rounding);

/// Subtracts its mean from each column, and divides it by the root of its
/// variance and \p epsilon, in fp64; then the factors and summands of the rows.
/// \p out has the layout of x.
void normalizeColumns(const Columns &x, double epsilon, const Affines &ofRows,
                      float *out, Rounding rounding);

//===-- Sorting -----------------------------------------------------------===//

/// The place of the first element that does not come after \p last in sorted
/// order, or is NaN, or \p n; all of them if \p last is NaN. Equal ones come
/// after it.
size_t firstBefore(size_t n, const float *x, float last, bool ascending);

//===-- Along the outer axis ----------------------------------------------===//

/// The row of the first greatest or least element of each column; NaN counts
/// as that. There is at least one row.
void extremePlaces(bool isMax, const Columns &x, int32_t *places);

/// Each row of out is the sum of the rows of x up to it, in fp64, or before it
/// if \p isExclusive; from the last row on if \p isReverse. \p out has the
/// layout of x.
void sumsSoFar(const Columns &x, bool isExclusive, bool isReverse, float *out,
               Rounding rounding);

/// out[r * outStride + c] = x[c * stride + r], of any elements of four bytes.
void transpose(size_t rows, size_t columns, const float *x, size_t stride,
               float *out, size_t outStride);

//===-- Convolutions ------------------------------------------------------===//

/// What a sum adds up, in the order of t: elements x[offsets[t] + i] of each
/// position i, for t < \p count.
struct SumTerms {
  size_t count;
  const uint32_t *offsets;
  const float *x;
};

/// A weight of each term, and what the sum starts from, of each of \p count
/// outputs.
struct SumWeights {
  size_t count;
  const float *weights;
  const float *starts; ///< may be null for zeros
};

/// Where sums go: that of output o at position i is at out[o * stride + i].
struct SumPlaces {
  float *out;
  size_t stride;
};

/// The sum at o, i = starts[o] + the sum over t of weights[o * terms + t] *
/// x[offsets[t] + i], for each output and i < \p n. Up to 15 elements of x
/// after the last one are read too.
void weightedSums(size_t n, const SumTerms &terms, const SumWeights &outputs,
                  const SumPlaces &to, Rounding rounding);

/// Outputs of a tile.
inline constexpr size_t tileOutputs = 6;

/// The same for one tile of outputs, whose weights are [terms, tileOutputs].
/// Without starts, the sums are added to what is there. There are tileOutputs
/// starts, and the outputs may be fewer than that. Nothing is read after the
/// last element of x.
void tiledSums(size_t n, const SumTerms &terms, const SumWeights &outputs,
               const SumPlaces &to, Rounding rounding);

/// The most outputs of a panel, and those of a vector of it.
size_t panelOutputs();
size_t vectorOutputs();

/// Positions that are anywhere: elements are at x[at[i] + offsets[t]].
struct SumPositions {
  size_t count;
  const uint32_t *at;
};

/// The same for a panel of at most panelOutputs() outputs, and positions
/// anywhere. The weights are [terms, outputs], whose rows are padded to whole
/// vectors, and so are the starts. \p sums is memory for a row like that of
/// each position, with their number rounded up to whole vectors, too.
void panelSums(const SumPositions &positions, const SumTerms &terms,
               const SumWeights &outputs, float *sums, const SumPlaces &to,
               Rounding rounding);

//===-- Fixed point -------------------------------------------------------===//

/// Adds `left * right[j]` to `sums[j]`, all of them in units of 2^-16 (`left`
/// carries that factor), each product rounded to a whole number, halves away
/// from zero. A product is treated as zero when `power * powers[j]` is at most
/// 2^-17, or when it is smaller than `smallest`. `beyond[j]` becomes 1 or -1
/// when a sum reaches 2^31 or -2^31, and stays so; `vanished[j]` counts
/// products that are not zero and were rounded to it. No array overlaps
/// another.
void addFixedProducts(size_t n, double left, float power, double smallest,
                      const float *right, const float *powers, double *sums,
                      double *beyond, double *vanished);

} // namespace anec::cpu

#endif // ANEC_LIB_RUNTIME_CPU_VECTORKERNELS_H
