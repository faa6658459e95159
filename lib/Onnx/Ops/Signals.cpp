//===- Signals.cpp - transforms of signals --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Families.h"
#include "AlongAxis.h"
#include "anec/IR/Params.h"
#include <cmath>
#include <numbers>

using namespace anec;
using namespace anec::onnx;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// The element type of the attribute `output_datatype`, as ops have it.
static DType typeOfOutput(Node &n) {
  auto code = proto::ElementType(n.attr("output_datatype", 1));
  std::optional<DType> dtype = dtypeOf(code);
  if (!dtype || *dtype == DType::Bool)
    n.fail("`output_datatype` is not a type of numbers");
  return n.failed()              ? DType::FP32
         : *dtype == DType::FP16 ? DType::FP16
                                 : DType::FP32;
}

/// a0 - a1 cos(2 pi i / size) + a2 cos(4 pi i / size).
static void readWindow(Node &n, double a0, double a1, double a2) {
  int64_t size = n.integer(0);
  DType dtype = typeOfOutput(n);
  if (n.failed())
    return;
  if (size < 1)
    return n.fail("the size of a window must be at least 1");
  if (!n.affords(size))
    return;
  double period = n.attr("periodic", 1) ? double(size) : double(size - 1);
  std::vector<double> window;
  for (int64_t i = 0; i != size; ++i) {
    double angle = 2 * std::numbers::pi * double(i) / period;
    window.push_back(
        size == 1 ? 1 : a0 - a1 * std::cos(angle) + a2 * std::cos(2 * angle));
  }
  n.out(n.e.constant(Constant::fromDoubles({dtype, {size}}, window)));
}

static void readHannWindow(Node &n) { readWindow(n, 0.5, 0.5, 0); }
static void readHammingWindow(Node &n) {
  readWindow(n, 25.0 / 46, 21.0 / 46, 0);
}
static void readBlackmanWindow(Node &n) { readWindow(n, 0.42, 0.5, 0.08); }

//===----------------------------------------------------------------------===//
// Fourier transforms
//===----------------------------------------------------------------------===//

/// cos(2 pi i / period), exact where it is 0, 1 or -1.
static double cosine(int64_t i, int64_t period) {
  int64_t quarters = 4 * (i % period);
  if (quarters % period == 0) {
    static constexpr double values[] = {1, 0, -1, 0};
    return values[quarters / period];
  }
  return std::cos(2 * std::numbers::pi * double(i % period) / double(period));
}

namespace {
struct Transform {
  int64_t length;
  bool inverse, oneSided;
};
} // namespace

/// Transforms x along an axis. Its last axis has real parts, and imaginary ones
/// if there are any; that of the result has both.
static Val transform(Emitter &e, Val x, int64_t axis, const Transform &t) {
  int64_t used = std::min(x.dim(axis), t.length);
  int64_t count = t.oneSided ? t.length / 2 + 1 : t.length;
  double scale = t.inverse ? 1 / double(t.length) : 1;
  std::vector<double> cosines, sines;
  for (int64_t k = 0; k != count; ++k)
    for (int64_t i = 0; i != used; ++i) {
      int64_t turn = k * i % t.length;
      cosines.push_back(scale * cosine(turn, t.length));
      // The sine is the cosine three quarters of a period later.
      double sine = cosine(4 * turn + 3 * t.length, 4 * t.length);
      sines.push_back((t.inverse ? scale : -scale) * sine);
    }
  x = e.slice(x, axis, 0, used);
  Val real = e.slice(x, -1, 0, 1);
  Val a = weighAlong(e, real, axis, cosines);
  Val b = weighAlong(e, real, axis, sines);
  if (x.dim(-1) == 2) {
    Val imaginary = e.slice(x, -1, 1, 2);
    a = e.sub(a, weighAlong(e, imaginary, axis, sines));
    b = e.add(b, weighAlong(e, imaginary, axis, cosines));
  }
  return e.concat({a, b}, -1);
}

/// Whether x has signals with real or complex elements; the node has failed
/// otherwise.
static bool checkSignal(Node &n, Val x, int64_t length) {
  if (!x || n.failed())
    return false;
  if (x.rank() < 2 || x.size() == 0 || (x.dim(-1) != 1 && x.dim(-1) != 2))
    n.fail("the last axis of the input must have 1 or 2 elements");
  else if (length < 1 || length > 4096)
    n.refuse("a transform of " + llvm::Twine(length) +
             " elements; there can be 1 to 4096");
  return n.affords({2, length, length});
}

static void readDFT(Node &n) {
  Val x = n.in(0);
  if (!x)
    return;
  int64_t axis = n.opset() < 20 ? n.attr("axis", 1)
                 : n.has(2)     ? n.integer(2)
                                : -2;
  axis = n.normalized(axis, x.rank());
  int64_t length = n.has(1) ? n.integer(1) : x.dim(axis);
  if (!checkSignal(n, x, length))
    return;
  if (axis == x.rank() - 1)
    return n.fail("the last axis cannot be transformed");
  Transform t{.length = length,
              .inverse = n.attr("inverse", 0) != 0,
              .oneSided = n.attr("onesided", 0) != 0};
  if (t.inverse && t.oneSided)
    return n.refuse("an inverse transform of one side");
  n.out(transform(n.e, x, axis, t));
}

/// Frames of the signals [N, length, 1 or 2], times the window, transformed.
static void readSTFT(Node &n) {
  Val x = n.in(0), window = n.maybe(2);
  int64_t step = n.integer(1);
  int64_t length = n.has(3) ? n.integer(3) : window ? window.size() : 0;
  if (!checkSignal(n, x, length))
    return;
  if (x.rank() != 3 || step < 1 || length > x.dim(1))
    return n.fail("the signal must be [signals, length, 1 or 2], and have a "
                  "frame of " +
                  llvm::Twine(length) + " elements");
  int64_t frames = (x.dim(1) - length) / step + 1;
  if (!n.affords({frames, length}))
    return;
  std::vector<double> positions;
  for (int64_t frame = 0; frame != frames; ++frame)
    for (int64_t i = 0; i != length; ++i)
      positions.push_back(double(frame * step + i));
  Emitter &e = n.e;
  Val indices = e.constant(
      Constant::fromDoubles({DType::Int32, {frames, length}}, positions));
  Val framed = e.gather(x, indices, 1);
  if (window) {
    if (window.rank() != 1 || window.size() != length)
      return n.fail("the window must have an element for each of the frame");
    framed = e.mul(framed, e.reshape(window, {length, 1}));
  }
  n.out(transform(e, framed, 2,
                  {.length = length,
                   .inverse = false,
                   .oneSided = n.attr("onesided", 1) != 0}));
}

//===----------------------------------------------------------------------===//
// Mel scale
//===----------------------------------------------------------------------===//

static void readMelWeightMatrix(Node &n) {
  int64_t bands = n.integer(0), length = n.integer(1), rate = n.integer(2);
  double low = n.number(3), high = n.number(4);
  DType dtype = typeOfOutput(n);
  if (n.failed())
    return;
  if (bands < 1 || bands > 4096 || length < 1 || length > 1 << 16 || rate < 1 ||
      low < 0 || !(high > low))
    return n.fail("numbers of bands, elements and samples must be at least 1, "
                  "and the upper frequency greater than the lower");
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double step = (mel(high) - mel(low)) / double(bands + 2);
  int64_t bins = length / 2 + 1;
  if (!n.affords({bins, bands}))
    return;
  std::vector<int64_t> edges;
  for (int64_t i = 0; i != bands + 2; ++i) {
    double hertz =
        700 * (std::pow(10, (double(i) * step + mel(low)) / 2595) - 1);
    edges.push_back(
        int64_t(std::floor(double(length + 1) * hertz / double(rate))));
  }
  if (edges.back() > bins)
    return n.fail("the upper frequency is more than half of the sample rate");
  std::vector<double> weights(size_t(bins * bands));
  for (int64_t band = 0; band != bands; ++band) {
    int64_t lower = edges[size_t(band)], center = edges[size_t(band) + 1];
    int64_t upper = edges[size_t(band) + 2];
    auto set = [&](int64_t bin, double weight) {
      if (bin < bins)
        weights[size_t(bin * bands + band)] = weight;
    };
    if (lower == center)
      set(center, 1);
    for (int64_t bin = lower; lower != center && bin <= center; ++bin)
      set(bin, double(bin - lower) / double(center - lower));
    for (int64_t bin = center; bin < upper; ++bin)
      set(bin, double(upper - bin) / double(upper - center));
  }
  n.out(n.e.constant(Constant::fromDoubles({dtype, {bins, bands}}, weights)));
}

static constexpr OpRow signalTable[] = {
    {.name = "BlackmanWindow", .read = readBlackmanWindow, .since = 17},
    {.name = "DFT",
     .read = readDFT,
     .since = 17,
     .limits = "of up to 4096 elements"},
    {.name = "HammingWindow", .read = readHammingWindow, .since = 17},
    {.name = "HannWindow", .read = readHannWindow, .since = 17},
    {.name = "MelWeightMatrix", .read = readMelWeightMatrix, .since = 17},
    {.name = "STFT",
     .read = readSTFT,
     .since = 17,
     .limits = "frames of up to 4096 elements"},
};

llvm::ArrayRef<OpRow> onnx::signalRows() { return signalTable; }
