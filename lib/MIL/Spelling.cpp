//===- Spelling.cpp - spelling of MIL types and values --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/MIL/Spelling.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <bit>
#include <cmath>

using namespace anec;
using namespace anec::mil;
using namespace llvm;

void mil::writeType(raw_ostream &out, const TensorType &type, Scalars scalars) {
  if (type.isScalar() && scalars == Scalars::Bare) {
    out << spelling(type.dtype);
    return;
  }
  out << "tensor<" << spelling(type.dtype) << ", [";
  interleaveComma(type.shape, out, [&](int64_t extent) {
    if (extent < 0)
      out << '?';
    else
      out << extent;
  });
  out << "]>";
}

std::string mil::spellType(const TensorType &type, Scalars scalars) {
  std::string text;
  raw_string_ostream out(text);
  writeType(out, type, scalars);
  return text;
}

void mil::writeBufferType(raw_ostream &out, const TensorType &type,
                          const BufferLayout &layout) {
  out << "tensor_buffer<" << spelling(type.dtype)
      << ", shape=" << shapeToString(type.shape)
      << ", strides=" << shapeToString(layout.strides)
      << ", interleave_factors=" << shapeToString(layout.interleave) << '>';
}

void mil::writeType(raw_ostream &out, const Value &value, Scalars scalars) {
  switch (value.holder) {
  case Holder::Tensor:
    return writeType(out, value.type, scalars);
  case Holder::State:
    // States have only this spelling, for rank 0 too.
    out << "state<";
    writeType(out, value.type, Scalars::RankZero);
    out << '>';
    return;
  case Holder::Buffer:
    return writeBufferType(out, value.type, value.bufferLayout());
  }
}

std::string mil::spellType(const Value &value) {
  std::string text;
  raw_string_ostream out(text);
  writeType(out, value, Scalars::Bare);
  return text;
}

void mil::writeString(raw_ostream &out, StringRef text) {
  out << '"';
  for (char c : text) {
    switch (c) {
    case '\n':
      out << "\\n";
      break;
    case '\t':
      out << "\\t";
      break;
    case '"':
    case '\\':
      out << '\\';
      [[fallthrough]];
    default:
      out << c;
    }
  }
  out << '"';
}

void mil::writeFloat(raw_ostream &out, double value) {
  if (std::isnan(value)) {
    out << "nan";
    return;
  }
  if (std::signbit(value))
    out << '-';
  if (std::isinf(value)) {
    out << "inf";
    return;
  }
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  int exponent = int(bits >> 52 & 0x7ff);
  if (exponent == 0 && mantissa == 0) {
    out << "0x0p+0";
    return;
  }
  if (exponent == 0) { // normalize: the leading one becomes the hidden bit
    int shift = std::countl_zero(mantissa) - 11;
    mantissa = mantissa << shift & ((uint64_t(1) << 52) - 1);
    exponent = 1 - shift;
  }
  exponent -= 1023;
  out << "0x1";
  if (mantissa != 0)
    out << '.';
  for (; mantissa != 0; mantissa = mantissa << 4 & ((uint64_t(1) << 52) - 1))
    out << "0123456789abcdef"[mantissa >> 48];
  out << (exponent < 0 ? "p" : "p+") << exponent;
}

void mil::writeElement(raw_ostream &out, const Constant &value, int64_t index) {
  DType dtype = value.dtype();
  if (dtype == DType::String)
    return writeString(out, value.asStrings()[index]);
  if (isFloat(dtype))
    return writeFloat(out, value.doubleAt(index));
  if (dtype == DType::Bool) {
    out << (value.doubleAt(index) != 0 ? "true" : "false");
    return;
  }
  int64_t number = value.intAt(index);
  if (isSigned(dtype))
    out << number;
  else
    out << uint64_t(number);
}

/// One bracket level per axis.
static void writeElements(raw_ostream &out, const Constant &value,
                          unsigned axis, int64_t &index) {
  const Shape &shape = value.type().shape;
  if (axis == shape.size())
    return writeElement(out, value, index++);
  out << '[';
  for (int64_t step = 0; step < shape[axis]; ++step) {
    if (step != 0)
      out << ", ";
    writeElements(out, value, axis + 1, index);
  }
  out << ']';
}

void mil::writeValue(raw_ostream &out, const Constant &value, Scalars scalars) {
  writeType(out, value.type(), scalars);
  out << '(';
  int64_t index = 0;
  // Arrays without elements need no nested brackets, of which there could be
  // many.
  if (value.numElements() == 0)
    out << "[]";
  else
    writeElements(out, value, 0, index);
  out << ')';
}

void mil::writeBlob(raw_ostream &out, const TensorType &type, StringRef path,
                    uint64_t offset, Scalars scalars) {
  writeType(out, type, scalars);
  out << "(BLOBFILE(path = ";
  writeType(out, {DType::String}, scalars);
  out << '(';
  writeString(out, path);
  out << "), offset = ";
  writeType(out, {DType::UInt64}, scalars);
  out << '(' << offset << ")))";
}
