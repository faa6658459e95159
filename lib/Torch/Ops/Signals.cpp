//===- Signals.cpp - Fourier transforms -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Params/Pad.h"
#include "lib/Ops/Rows/Reverse.h"
#include "lib/Ops/Rows/Shape.h"
#include <cmath>

using namespace anec;
using namespace anec::torch;

/// Complex numbers have an axis of real and imaginary parts behind the others;
/// real ones get one of one element.
static Val withParts(Node &n, const Item &x) {
  Emitter &e = n.e;
  if (isComplex(x.type))
    return e.native(x.val);
  Val real = n.cast(x, ScalarType::Float32);
  Shape shape = real.shape();
  shape.push_back(1);
  return e.reshape(real, shape);
}

/// Transforms an axis, of `length` elements: cut or with zeros added.
static Val transformed(Node &n, Val x, int64_t axis, int64_t length,
                       bool inverse, bool oneSided) {
  return OnnxNode(n, "DFT")
      .in(x)
      .in(n.e.scalar(DType::Int32, double(length)))
      .in(n.e.scalar(DType::Int32, double(axis)))
      .attr("inverse", int64_t(inverse))
      .attr("onesided", int64_t(oneSided))
      .run();
}

/// The factor of a transform of `count` elements by PyTorch's number of the
/// normalization: none, by the root of the number of elements, by the number.
static double factorOf(int64_t normalization, double count, bool inverse) {
  double factor = normalization == 0   ? 1
                  : normalization == 1 ? 1 / std::sqrt(count)
                                       : 1 / count;
  return inverse ? factor * count : factor; // inverse ones are divided already
}

static void giveScaled(Node &n, Val x, double factor) {
  n.out(factor == 1 || !x ? x : n.e.mul(x, factor));
}

/// The other half of a spectrum of `length` elements of a real signal.
static Val whole(Node &n, Val half, int64_t axis, int64_t length) {
  Emitter &e = n.e;
  int64_t last = (length + 1) / 2; // behind the last that occurs twice
  if (last <= 1)
    return half;
  Val mirrored = e.slice(half, axis, 1, last);
  mirrored = e.make(ops::Reverse, {mirrored}, {{param::axes, {axis}}});
  Val real = e.slice(mirrored, -1, 0, 1);
  Val imaginary = e.mul(e.slice(mirrored, -1, 1, 2), -1);
  return e.concat({half, e.concat({real, imaginary}, -1)}, axis);
}

static Val realPart(Node &n, Val x) {
  Val real = n.e.slice(x, -1, 0, 1);
  return n.e.reshape(real, Shape(real.shape().begin(), real.shape().end() - 1));
}

static void realToComplex(Node &n) {
  Item item = n.item("self");
  Val x = withParts(n, item);
  int64_t rank = x.rank() - 1, normalization = n.integer("normalization");
  Shape axes = n.ints("dim");
  bool oneSided = n.flag("onesided");
  double count = 1;
  for (auto [i, given] : llvm::enumerate(llvm::reverse(axes))) {
    int64_t axis = n.normalized(given, rank), length = x.dim(axis);
    x = transformed(n, x, axis, length, false, i == 0 && oneSided);
    if (!x)
      return;
    count *= double(length);
  }
  giveScaled(n, x, factorOf(normalization, count, false));
}

static void complexToComplex(Node &n) {
  Val x = withParts(n, n.item("self"));
  int64_t rank = x.rank() - 1, normalization = n.integer("normalization");
  bool inverse = !n.flag("forward");
  double count = 1;
  for (int64_t given : n.ints("dim")) {
    int64_t axis = n.normalized(given, rank), length = x.dim(axis);
    x = transformed(n, x, axis, length, inverse, false);
    if (!x)
      return;
    count *= double(length);
  }
  giveScaled(n, x, factorOf(normalization, count, inverse));
}

static void complexToReal(Node &n) {
  Val x = withParts(n, n.item("self"));
  int64_t rank = x.rank() - 1, normalization = n.integer("normalization"),
          length = n.integer("last_dim_size");
  Shape axes = n.ints("dim");
  double count = 1;
  for (auto [i, given] : llvm::enumerate(axes)) {
    int64_t axis = n.normalized(given, rank);
    bool isLast = i + 1 == axes.size();
    int64_t extent = isLast ? length : x.dim(axis);
    if (isLast)
      x = whole(n, x, axis, length);
    x = transformed(n, x, axis, extent, true, false);
    if (!x)
      return;
    count *= double(extent);
  }
  giveScaled(n, realPart(n, x), factorOf(normalization, count, true));
}

/// The number of the normalization that `norm` names.
static int64_t normalizationOf(Node &n, bool inverse) {
  StringRef norm = n.has("norm") ? n.text("norm") : "backward";
  if (norm == "ortho")
    return 1;
  return (norm == "forward") != inverse ? 2 : 0;
}

static void realTransform(Node &n) {
  Val x = withParts(n, n.item("self"));
  int64_t axis = n.axis("dim", x.rank() - 1);
  int64_t length = n.has("n") ? n.integer("n") : x.dim(axis);
  x = transformed(n, x, axis, length, false, true);
  giveScaled(n, x, factorOf(normalizationOf(n, false), double(length), false));
}

static void inverseRealTransform(Node &n) {
  Val x = withParts(n, n.item("self"));
  int64_t axis = n.axis("dim", x.rank() - 1);
  int64_t length = n.has("n") ? n.integer("n") : 2 * (x.dim(axis) - 1);
  if (n.failed() || x.dim(axis) != length / 2 + 1)
    return n.fail("`n` cuts or extends the spectrum");
  x = transformed(n, whole(n, x, axis, length), axis, length, true, false);
  if (x)
    giveScaled(n, realPart(n, x),
               factorOf(normalizationOf(n, true), double(length), true));
}

template <bool IsInverse>
static void wholeTransform(Node &n) {
  Val x = withParts(n, n.item("self"));
  int64_t rank = x.rank() - 1;
  Shape axes = n.axes("dim", rank);
  if (n.has("s") || n.has("n"))
    return n.fail("its sizes have no counterpart");
  double count = 1;
  for (int64_t axis : axes) {
    int64_t length = x.dim(axis);
    x = transformed(n, x, axis, length, IsInverse, false);
    if (!x)
      return;
    count *= double(length);
  }
  giveScaled(n, x, factorOf(normalizationOf(n, IsInverse), count, IsInverse));
}

/// Frames of signals, times a window, transformed: [signals, bins, frames].
static void shortTime(Node &n) {
  Emitter &e = n.e;
  Item item = n.item("self");
  Val x = withParts(n, item), window = n.maybe("window");
  int64_t length = n.integer("n_fft");
  int64_t step = n.has("hop_length") ? n.integer("hop_length") : length / 4;
  int64_t width = n.has("win_length") ? n.integer("win_length") : length;
  bool oneSided =
      !n.has("onesided") ? !isComplex(item.type) : n.flag("onesided");
  bool isNormalized = n.flag("normalized");
  n.ignore("return_complex");
  n.ignore("align_to_window");
  bool isSingle = x.rank() == 2;
  if (isSingle)
    x = e.reshape(x, {1, x.dim(0), x.dim(1)});
  if (n.failed() || length < 1 || width > length)
    return n.fail("the window is wider than the frame");
  if (!window)
    window = e.filled(DType::FP32, {width}, 1);
  if (width < length) {
    int64_t before = (length - width) / 2, after = length - width - before;
    window = e.make(ops::Pad, {window},
                    {{param::pad, {before, after}},
                     {param::padMode, PadMode::Constant},
                     {param::constantVal, Constant::scalar(DType::FP32, 0)}});
  }
  Val result = OnnxNode(n, "STFT")
                   .in(x)
                   .in(e.scalar(DType::Int32, double(step)))
                   .in(window)
                   .in(e.scalar(DType::Int32, double(length)))
                   .attr("onesided", int64_t(oneSided))
                   .run();
  if (!result)
    return;
  result = e.transpose(result, {0, 2, 1, 3});
  if (isNormalized)
    result = e.mul(result, 1 / std::sqrt(double(length)));
  n.out(isSingle ? e.reshape(result, Shape(result.shape().begin() + 1,
                                           result.shape().end()))
                 : result);
}

static constexpr OpRow signalTable[] = {
    {"aten._fft_c2c.default", complexToComplex, "of up to 4096 elements", true},
    {"aten._fft_c2r.default", complexToReal, "of up to 4096 elements", true},
    {"aten._fft_r2c.default", realToComplex, "of up to 4096 elements", true},
    {"aten.fft_fft.default", wholeTransform<false>, "of up to 4096 elements",
     true},
    {"aten.fft_fftn.default", wholeTransform<false>, "of up to 4096 elements",
     true},
    {"aten.fft_ifft.default", wholeTransform<true>, "of up to 4096 elements",
     true},
    {"aten.fft_ifftn.default", wholeTransform<true>, "of up to 4096 elements",
     true},
    {"aten.fft_irfft.default", inverseRealTransform, "of up to 4096 elements",
     true},
    {"aten.fft_rfft.default", realTransform, "of up to 4096 elements", true},
    {"aten.stft.default", shortTime, "frames of up to 4096 elements", true},
};

llvm::ArrayRef<OpRow> torch::signalRows() { return signalTable; }
