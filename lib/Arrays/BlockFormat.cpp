//===- BlockFormat.cpp - floats that are packed in blocks -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Products and sums are separate statements, so that compilers round both.
///
//===----------------------------------------------------------------------===//

#include "lib/Arrays/BlockFormat.h"
#include "lib/Support/Half.h"
#include "llvm/Support/Endian.h"

using namespace anec;

static float half(const uint8_t *in) {
  return halfToFloat(llvm::support::endian::read16le(in));
}

//===----------------------------------------------------------------------===//
// Blocks of 32: one scale, and for some types an offset
//===----------------------------------------------------------------------===//

/// The low four bits of 16 bytes are the first half, the high ones the second.
static unsigned nibble(const uint8_t *in, unsigned index) {
  return index < 16 ? in[index] & 15 : in[index - 16] >> 4;
}

static void unpackQ4_0(const uint8_t *in, float *out) {
  float scale = half(in);
  for (unsigned i = 0; i < 32; ++i)
    out[i] = float(int(nibble(in + 2, i)) - 8) * scale;
}

static void unpackQ4_1(const uint8_t *in, float *out) {
  float scale = half(in), offset = half(in + 2);
  for (unsigned i = 0; i < 32; ++i) {
    float product = float(nibble(in + 4, i)) * scale;
    out[i] = product + offset;
  }
}

/// Four bits, and a fifth one of 32 that lie together.
static unsigned fiveBits(const uint8_t *high, const uint8_t *low,
                         unsigned index) {
  unsigned fifth = high[index / 8] >> (index % 8) & 1;
  return nibble(low, index) | fifth << 4;
}

static void unpackQ5_0(const uint8_t *in, float *out) {
  float scale = half(in);
  for (unsigned i = 0; i < 32; ++i)
    out[i] = float(int(fiveBits(in + 2, in + 6, i)) - 16) * scale;
}

static void unpackQ5_1(const uint8_t *in, float *out) {
  float scale = half(in), offset = half(in + 2);
  for (unsigned i = 0; i < 32; ++i) {
    float product = float(fiveBits(in + 4, in + 8, i)) * scale;
    out[i] = product + offset;
  }
}

static void unpackQ8_0(const uint8_t *in, float *out) {
  float scale = half(in);
  for (unsigned i = 0; i < 32; ++i)
    out[i] = float(int8_t(in[2 + i])) * scale;
}

/// The values that the four bits of IQ4 types stand for.
static constexpr int8_t unevenValues[16] = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

static void unpackIQ4_NL(const uint8_t *in, float *out) {
  float scale = half(in);
  for (unsigned i = 0; i < 32; ++i)
    out[i] = float(unevenValues[nibble(in + 2, i)]) * scale;
}

//===----------------------------------------------------------------------===//
// Blocks of 256: parts with a scale each, which another scale applies to
//===----------------------------------------------------------------------===//

/// 16 parts of 16: a scale and an offset of four bits each.
static void unpackQ2_K(const uint8_t *in, float *out) {
  const uint8_t *scales = in, *bits = in + 16;
  float scale = half(in + 80), offset = half(in + 82);
  for (unsigned i = 0; i < 256; ++i) {
    // Two runs of 32 bytes, whose bits at each of four places are 32 elements.
    unsigned run = i / 128, place = i % 128 / 32;
    unsigned value = bits[32 * run + i % 32] >> (2 * place) & 3;
    float partScale = scale * float(scales[i / 16] & 15);
    float partOffset = offset * float(scales[i / 16] >> 4);
    float product = partScale * float(value);
    out[i] = product - partOffset;
  }
}

/// 16 parts of 16: a scale of six bits; an element has a third bit, which is 0
/// for the lower four values.
static void unpackQ3_K(const uint8_t *in, float *out) {
  const uint8_t *mask = in, *bits = in + 32, *scales = in + 96;
  float scale = half(in + 108);
  for (unsigned i = 0; i < 256; ++i) {
    unsigned run = i / 128, place = i % 128 / 32, part = i / 16;
    int value = int(bits[32 * run + i % 32] >> (2 * place) & 3);
    if (!(mask[i % 32] >> (i / 32) & 1))
      value -= 4;
    unsigned low = part < 8 ? scales[part] & 15 : scales[part - 8] >> 4;
    unsigned high = scales[8 + part % 4] >> (2 * (part / 4)) & 3;
    float partScale = scale * float(int(low | high << 4) - 32);
    out[i] = partScale * float(value);
  }
}

/// The scale and the offset of part `part` of 8, with six bits each in 12
/// bytes: whole for the first four parts, in two places for the others.
static std::pair<unsigned, unsigned> sixBits(const uint8_t *in, unsigned part) {
  if (part < 4)
    return {in[part] & 63, in[part + 4] & 63};
  unsigned scale = (in[part + 4] & 15) | (in[part - 4] >> 6) << 4;
  unsigned offset = (in[part + 4] >> 4) | (in[part] >> 6) << 4;
  return {scale, offset};
}

/// 8 parts of 32, of which two share 32 bytes. `high` has a fifth bit; null for
/// none.
static void unpackParts(const uint8_t *in, const uint8_t *high,
                        const uint8_t *low, float *out) {
  float scale = half(in), offset = half(in + 2);
  for (unsigned part = 0; part < 8; ++part) {
    auto [partScale, partOffset] = sixBits(in + 4, part);
    float factor = scale * float(partScale);
    float shift = offset * float(partOffset);
    for (unsigned i = 0; i < 32; ++i) {
      unsigned both = low[32 * (part / 2) + i];
      unsigned value = part % 2 ? both >> 4 : both & 15;
      if (high)
        value |= (high[i] >> part & 1) << 4;
      float product = factor * float(value);
      out[32 * part + i] = product - shift;
    }
  }
}

static void unpackQ4_K(const uint8_t *in, float *out) {
  unpackParts(in, nullptr, in + 16, out);
}

static void unpackQ5_K(const uint8_t *in, float *out) {
  unpackParts(in, in + 16, in + 48, out);
}

/// 16 parts of 16: a scale of eight bits; elements have four bits in one place
/// and two in another.
static void unpackQ6_K(const uint8_t *in, float *out) {
  const uint8_t *low = in, *high = in + 128, *scales = in + 192;
  float scale = half(in + 208);
  for (unsigned i = 0; i < 256; ++i) {
    unsigned run = i / 128, quarter = i % 128 / 32;
    unsigned both = low[64 * run + i % 64];
    unsigned value = quarter < 2 ? both & 15 : both >> 4;
    value |= (high[32 * run + i % 32] >> (2 * quarter) & 3) << 4;
    float partScale = scale * float(int8_t(scales[i / 16]));
    out[i] = partScale * float(int(value) - 32);
  }
}

/// 8 parts of 32: a scale of six bits, in two places.
static void unpackIQ4_XS(const uint8_t *in, float *out) {
  float scale = half(in);
  unsigned highs = llvm::support::endian::read16le(in + 2);
  for (unsigned part = 0; part < 8; ++part) {
    unsigned low = in[4 + part / 2] >> (4 * (part % 2)) & 15;
    unsigned high = highs >> (2 * part) & 3;
    float partScale = scale * float(int(low | high << 4) - 32);
    for (unsigned i = 0; i < 32; ++i)
      out[32 * part + i] =
          partScale * float(unevenValues[nibble(in + 8 + 16 * part, i)]);
  }
}

llvm::ArrayRef<BlockFormat> anec::blockFormats() {
  static constexpr BlockFormat rows[] = {
      {2, "Q4_0", 32, 18, unpackQ4_0},
      {3, "Q4_1", 32, 20, unpackQ4_1},
      {6, "Q5_0", 32, 22, unpackQ5_0},
      {7, "Q5_1", 32, 24, unpackQ5_1},
      {8, "Q8_0", 32, 34, unpackQ8_0},
      {10, "Q2_K", 256, 84, unpackQ2_K},
      {11, "Q3_K", 256, 110, unpackQ3_K},
      {12, "Q4_K", 256, 144, unpackQ4_K},
      {13, "Q5_K", 256, 176, unpackQ5_K},
      {14, "Q6_K", 256, 210, unpackQ6_K},
      {20, "IQ4_NL", 32, 18, unpackIQ4_NL},
      {23, "IQ4_XS", 256, 136, unpackIQ4_XS},
  };
  return rows;
}
