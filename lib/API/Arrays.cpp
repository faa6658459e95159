//===- Arrays.cpp - named arrays for the ports of a program ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include "lib/API/Diags.h"
#include "lib/IR/Names.h"
#include "lib/MIL/Diags.h"
#include "lib/Runtime/Diags.h"
#include "lib/Runtime/InputArrays.h"
#include "lib/Support/Half.h"
#include "lib/Support/Suggestion.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace anec;
using namespace anec::api;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static bool areConvertible(DType from, DType to) {
  return from == to || (isFloat(from) && isFloat(to));
}

void anec::api::convert(DType from, llvm::ArrayRef<uint8_t> in, DType to,
                        llvm::MutableArrayRef<uint8_t> out) {
  if (from == to) {
    std::memcpy(out.data(), in.data(), out.size());
    return;
  }
  size_t count = in.size() * 8 / bitWidth(from);
  if (from == DType::FP32 && to == DType::FP16) {
    floatsToHalves(reinterpret_cast<const float *>(in.data()),
                   reinterpret_cast<uint16_t *>(out.data()), count);
    return;
  }
  if (from == DType::FP16 && to == DType::FP32) {
    halvesToFloats(reinterpret_cast<const uint16_t *>(in.data()),
                   reinterpret_cast<float *>(out.data()), count);
    return;
  }
  TensorType type(from, {int64_t(count)});
  ConstantRef converted = Constant::fromDoubles(
      TensorType(to, type.shape),
      Constant::view(type, from, in, nullptr)->asDoubles());
  std::memcpy(out.data(), converted->bytes().data(), out.size());
}

/// The number of finite elements that become infinite in type `to`.
static size_t countOverflows(const InputArray &array, DType to) {
  if (array.dtype != DType::FP32 || to != DType::FP16)
    return 0;
  return countHalfOverflows(reinterpret_cast<const float *>(array.bytes.data()),
                            array.bytes.size() / sizeof(float));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static std::string listPorts(llvm::ArrayRef<Port> ports) {
  std::vector<std::string> names;
  for (const Port &port : ports)
    names.push_back("`" + port.name + "`");
  return names.empty() ? "none" : llvm::join(names, ", ");
}

/// Whether `array` fits `port` in type, shape and size; reports a mismatch.
template <typename Array>
static bool fits(llvm::StringRef kind, const Port &port, const Array &array,
                 Diagnostics &diags) {
  if (!areConvertible(array.dtype, port.type.dtype)) {
    diags.report({}, diag::ArrayElements, kind, port.name, port.type.str(),
                 spelling(array.dtype));
    return false;
  }
  if (array.shape &&
      withoutOnes(*array.shape) != withoutOnes(port.type.shape)) {
    diags.report({}, diag::ArrayShape, kind, port.name, port.type.str(),
                 shapeToString(*array.shape));
    return false;
  }
  uint64_t bytes = byteSize(array.dtype, port.type.numElements());
  if (array.bytes.size() == bytes)
    return true;
  diags.report({}, diag::ArraySize, kind, port.name,
               TensorType(array.dtype, port.type.shape).str(), bytes,
               array.bytes.size());
  return false;
}

/// Returns the array for each port, null where none is given. Returns nothing,
/// with the reason reported, when an array has no port or does not fit it.
template <typename Array>
static std::optional<std::vector<const Array *>>
match(llvm::StringRef kind, llvm::ArrayRef<Port> ports,
      llvm::ArrayRef<Array> arrays, Diagnostics &diags) {
  std::vector<const Array *> matched(ports.size());
  bool ok = true;
  for (const Array &array : arrays) {
    std::optional<size_t> place = findByName(ports, array.name);
    if (!place) {
      Suggestion suggestion(array.name);
      for (const Port &other : ports)
        suggestion.consider(other.name);
      suggestion.note(diags.report({}, diag::NoSuchInput, kind, array.name,
                                   listPorts(ports)),
                      {});
      ok = false;
      continue;
    }
    const Array *&slot = matched[*place];
    if (slot) {
      diags.report({}, diag::InputTwice, kind, array.name);
      ok = false;
    }
    slot = &array;
    ok &= fits(kind, ports[*place], array, diags);
  }
  if (!ok)
    return std::nullopt;
  return matched;
}

llvm::MutableArrayRef<uint8_t> PortArrays::buffer(uint64_t bytes) {
  return buffers.emplace_back(bytes);
}

bool PortArrays::takeInputs(
    llvm::StringRef kind, llvm::ArrayRef<Port> ports,
    llvm::ArrayRef<InputArray> inputs,
    llvm::function_ref<std::optional<float>(size_t index)> fallback,
    Diagnostics &diags) {
  auto matched = match(kind, ports, inputs, diags);
  if (!matched)
    return false;
  bool ok = true;
  for (auto [index, port] : llvm::enumerate(ports)) {
    const InputArray *array = (*matched)[index];
    DType dtype = port.type.dtype;
    if (array && array->dtype == dtype) {
      in.push_back(array->bytes);
      continue;
    }
    llvm::MutableArrayRef<uint8_t> elements = buffer(port.type.numBytes());
    in.push_back(elements);
    if (array) {
      convert(array->dtype, array->bytes, dtype, elements);
      if (size_t lost = countOverflows(*array, dtype))
        diags.report({}, diag::HalfOverflow, port.name, lost,
                     port.type.numElements(), spelling(dtype));
      continue;
    }
    std::optional<float> value = fallback(index);
    if (!value) {
      diags.report({}, diag::ArrayMissing, kind, port.name, port.type.str());
      ok = false;
      continue;
    }
    ConstantRef filled = Constant::fromDoubles(
        port.type, std::vector<double>(port.type.numElements(), *value));
    std::memcpy(elements.data(), filled->bytes().data(), elements.size());
  }
  return ok;
}

bool PortArrays::takeOutputs(llvm::StringRef kind, llvm::ArrayRef<Port> ports,
                             llvm::ArrayRef<OutputArray> outputs,
                             Diagnostics &diags) {
  auto matched = match(kind, ports, outputs, diags);
  if (!matched)
    return false;
  for (auto [port, array] : llvm::zip_equal(ports, *matched))
    out.push_back(array && array->dtype == port.type.dtype
                      ? array->bytes
                      : buffer(port.type.numBytes()));
  return true;
}

void PortArrays::giveOutputs(llvm::ArrayRef<Port> ports,
                             llvm::ArrayRef<OutputArray> outputs) {
  for (const OutputArray &array : outputs)
    for (auto [port, bytes] : llvm::zip_equal(ports, out))
      if (port.name == array.name && bytes.data() != array.bytes.data())
        convert(port.type.dtype, bytes, array.dtype, array.bytes);
}
