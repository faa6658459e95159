//===- InputArrays.cpp - reads the input arrays of programs ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Runtime/InputArrays.h"
#include "lib/Arrays/Npy.h"
#include "lib/Arrays/Safetensors.h"
#include "lib/IR/Names.h"
#include "lib/MIL/Diags.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Runtime/Diags.h"
#include "lib/Support/Diags.h"
#include "lib/Support/ReadFile.h"
#include "lib/Support/Suggestion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>

using namespace anec;
namespace fs = llvm::sys::fs;

Shape anec::withoutOnes(llvm::ArrayRef<int64_t> shape) {
  Shape result;
  for (int64_t extent : shape)
    if (extent != 1)
      result.push_back(extent);
  return result;
}

/// Fills `bytes` from the beginning of a file. Returns the number of bytes
/// read.
static std::optional<size_t> readBegin(llvm::StringRef path,
                                       llvm::MutableArrayRef<char> bytes,
                                       std::string &error) {
  int descriptor = openInput(path, error);
  if (descriptor < 0)
    return std::nullopt;
  fs::file_t file = fs::convertFDToNativeFile(descriptor);
  size_t size = 0, more = 1;
  while (size < bytes.size() && more) {
    llvm::Expected<size_t> count =
        fs::readNativeFile(file, bytes.drop_front(size));
    if (!count) {
      error = llvm::toString(count.takeError());
      break;
    }
    more = *count;
    size += more;
  }
  fs::closeFile(file);
  return error.empty() ? std::optional(size) : std::nullopt;
}

static ConstantRef bytesOfFile(llvm::StringRef path, const Port &port,
                               Diagnostics &diags) {
  // Reads only the needed bytes: some files never end.
  std::vector<char> bytes(port.type.numElements());
  std::string error;
  std::optional<size_t> size = readBegin(path, bytes, error);
  if (!size) {
    diags.reportFile(path, diag::CannotOpen, error);
    return nullptr;
  }
  if (*size < bytes.size()) {
    diags.reportFile(path, diag::TooFewBytes, *size, port.name, bytes.size());
    return nullptr;
  }
  std::vector<double> values(bytes.size());
  llvm::transform(bytes, values.begin(),
                  [](char byte) { return uint8_t(byte); });
  return Constant::fromDoubles(port.type, values);
}

/// The pixels of an image as the program takes them; null when `array` is no
/// image of that size.
static ConstantRef arrayOfImage(const Constant &array, const Port &port,
                                ColorSpace colors) {
  if (port.type.rank() != 4 || port.type.shape[0] != 1)
    return nullptr;
  int64_t channels = port.type.shape[1], height = port.type.shape[2],
          width = port.type.shape[3];
  Shape flat{height, width}, deep{height, width, channels};
  bool isImage = array.type().shape == deep ||
                 (channels == 1 && array.type().shape == flat);
  if (!isImage || array.dtype() == DType::Bool)
    return nullptr;
  std::vector<double> pixels = array.asDoubles(), values(pixels.size());
  for (int64_t channel = 0; channel < channels; ++channel) {
    int64_t from = colors == ColorSpace::BGR ? channels - 1 - channel : channel;
    for (int64_t pixel = 0; pixel < height * width; ++pixel)
      values[channel * height * width + pixel] =
          pixels[pixel * channels + from];
  }
  return Constant::fromDoubles(port.type, values);
}

/// The array of a .npy file, in the type and shape of the port.
static ConstantRef arrayFromFile(llvm::StringRef path, const Port &port,
                                 const FeatureDescription *feature,
                                 Diagnostics &diags) {
  ConstantRef array = readNpy(path, diags);
  if (!array)
    return nullptr;
  if (feature && feature->image)
    if (ConstantRef image = arrayOfImage(*array, port, feature->image->colors))
      return image;
  if (withoutOnes(array->type().shape) != withoutOnes(port.type.shape)) {
    diags.reportFile(path, diag::InputShape, port.name, port.type.str(),
                     array->type().str());
    return nullptr;
  }
  bool sameKind = isFloat(array->dtype()) == isFloat(port.type.dtype);
  if (!sameKind) {
    diags.reportFile(path, diag::InputDType, port.name, port.type.str(),
                     spelling(array->dtype()));
    return nullptr;
  }
  if (array->dtype() == port.type.dtype)
    return array->reshaped(port.type.shape);
  std::vector<double> values = array->asDoubles();
  ConstantRef converted = Constant::fromDoubles(port.type, values);
  std::vector<double> kept = converted->asDoubles();
  size_t lost = 0;
  for (auto [before, after] : llvm::zip_equal(values, kept))
    lost += isFloat(port.type.dtype)
                ? std::isfinite(before) && !std::isfinite(after)
                : before != after;
  if (port.isUnused)
    return converted;
  // fp16 is chosen in spite of its range, which programs often exceed.
  if (lost && port.type.dtype != DType::FP16) {
    diags.reportFile(path, diag::InputRange, port.name, port.type.str(), lost,
                     values.size());
    return nullptr;
  }
  if (lost)
    diags.reportFile(path, diag::HalfOverflow, port.name, lost, values.size(),
                     spelling(port.type.dtype));
  return converted;
}

static ConstantRef makeInput(const Port &port, llvm::StringRef source,
                             const FeatureDescription *feature,
                             Diagnostics &diags) {
  if (source == "zeros")
    return Constant::fromDoubles(port.type,
                                 std::vector<double>(port.type.numElements()));
  if (source == "ones")
    return Constant::fromDoubles(
        port.type, std::vector<double>(port.type.numElements(), 1.0));
  if (source.consume_front("random:")) {
    uint64_t seed = 0;
    if (source.getAsInteger(10, seed)) {
      diags.report({}, diag::InputSeed, source);
      return nullptr;
    }
    return Constant::fromDoubles(port.type, randomTensor(port.type, seed).data);
  }
  if (source.consume_front("bytes:"))
    return bytesOfFile(source, port, diags);
  return arrayFromFile(source, port, feature, diags);
}

static std::string listPorts(llvm::ArrayRef<Port> ports) {
  std::vector<std::string> names;
  for (const Port &port : ports)
    names.push_back("`" + port.name + "`");
  return names.empty() ? "none" : llvm::join(names, ", ");
}

std::optional<std::vector<ConstantRef>>
anec::readPorts(llvm::StringRef kind, llvm::ArrayRef<Port> ports,
                llvm::ArrayRef<std::string> arguments, llvm::StringRef fallback,
                Diagnostics &diags, const FunctionDescription *description) {
  auto featureOf = [&](const Port &port) {
    return description ? description->input(port.name) : nullptr;
  };
  std::vector<ConstantRef> values(ports.size());
  bool ok = true;
  for (const std::string &argument : arguments) {
    // Not a structured binding, which lambdas cannot capture with clang 14.
    std::pair<llvm::StringRef, llvm::StringRef> parts =
        llvm::StringRef(argument).split('=');
    llvm::StringRef name = parts.first, source = parts.second;
    std::optional<size_t> place = findByName(ports, name);
    if (!place) {
      Suggestion suggestion(name);
      for (const Port &candidate : ports)
        suggestion.consider(candidate.name);
      suggestion.note(
          diags.report({}, diag::NoSuchInput, kind, name, listPorts(ports)),
          {});
      ok = false;
      continue;
    }
    const Port &port = ports[*place];
    ConstantRef &value = values[*place];
    if (value) {
      diags.report({}, diag::InputTwice, kind, name);
      ok = false;
      continue;
    }
    value = makeInput(port, source, featureOf(port), diags);
    ok &= value != nullptr;
  }
  if (!ok)
    return std::nullopt;
  for (auto [port, value] : llvm::zip_equal(ports, values)) {
    if (value)
      continue;
    const FeatureDescription *feature = featureOf(port);
    if (feature && feature->isOptional) {
      value = Constant::fromDoubles(
          port.type,
          std::vector<double>(port.type.numElements(), feature->byDefault));
      continue;
    }
    if (fallback.empty()) {
      diags.report({}, diag::MissingInput, port.name, port.type.str());
      ok = false;
      continue;
    }
    value = makeInput(port, fallback, feature, diags);
    ok &= value != nullptr;
  }
  if (!ok)
    return std::nullopt;
  return values;
}

std::optional<ProgramArrays>
anec::readArrays(const Executable &executable,
                 llvm::ArrayRef<std::string> inputs,
                 llvm::ArrayRef<std::string> states, llvm::StringRef fallback,
                 Diagnostics &diags, const FunctionDescription *description) {
  auto inputArrays = readPorts("input", executable.inputs(), inputs, fallback,
                               diags, description);
  auto stateArrays =
      readPorts("state", executable.states(), states, "zeros", diags);
  if (!inputArrays || !stateArrays)
    return std::nullopt;
  return ProgramArrays{std::move(*inputArrays), std::move(*stateArrays)};
}

void anec::appendFiles(llvm::ArrayRef<std::string> arguments,
                       std::vector<InputShape> &shapes,
                       std::vector<InputValue> &values) {
  for (const std::string &argument : arguments) {
    auto [name, source] = llvm::StringRef(argument).split('=');
    if (!source.ends_with(".npy"))
      continue;
    // Errors in the file are reported when it is read as an input.
    Diagnostics ignored;
    if (ConstantRef array = readNpy(source, ignored)) {
      shapes.push_back({name.str(), array->type().shape, /*isHint=*/true});
      values.push_back({name.str(), array});
    }
  }
}
