//===- OutputFiles.cpp - writes the outputs of programs -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Runtime/OutputFiles.h"
#include "lib/Arrays/Npy.h"
#include "lib/Arrays/Safetensors.h"
#include "lib/IR/Names.h"
#include "lib/Runtime/Diags.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/FileName.h"
#include "lib/Support/FileNames.h"
#include "lib/Support/ShownText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

void anec::printSummary(const Port &port, const Constant &value,
                        llvm::raw_ostream &out) {
  if (value.dtype() == DType::String) {
    out << "  " << showText(port.name) << ": " << port.type.str();
    for (const std::string &text : value.asStrings())
      (out << "  \"").write_escaped(text) << '"';
    out << '\n';
    return;
  }
  double low = 0, high = 0, sum = 0;
  int64_t count = value.numElements();
  for (int64_t i = 0; i < count; ++i) {
    double element = value.doubleAt(i);
    low = i == 0 ? element : std::min(low, element);
    high = i == 0 ? element : std::max(high, element);
    sum += element;
  }
  out << "  " << showText(port.name) << ": " << port.type.str();
  if (count)
    out << llvm::format("  min %.5g  max %.5g  mean %.5g", low, high,
                        sum / double(count));
  out << '\n';
}

bool anec::writeOutputs(llvm::ArrayRef<Port> ports,
                        llvm::ArrayRef<ConstantRef> values,
                        llvm::StringRef folder, Diagnostics &diags) {
  AtomicFiles files(diags);
  FileNames names;
  for (auto [port, value] : llvm::zip_equal(ports, values)) {
    std::string wanted =
        isFileName(port.name) ? port.name : sanitizeName(port.name, "output");
    const std::string *other = names.find(wanted + ".npy");
    std::string name = names.addStem(wanted, ".npy");
    if (other)
      diags.report({}, diag::OutputRenamed, port.name, name, *other);
    OutputFile *file = files.add(folder, name + ".npy");
    if (!file)
      return false;
    if (!writeNpy(*file, *value)) {
      diags.report({}, diag::NotAnArrayFile, port.name, port.type.str());
      return false;
    }
  }
  return files.commit();
}

/// The session's array as a constant, without a copy.
static ConstantRef viewOf(const NamedFloats &array) {
  llvm::ArrayRef<uint8_t> bytes(
      reinterpret_cast<const uint8_t *>(array.elements.data()),
      array.elements.size() * sizeof(float));
  return Constant::view(array.type, DType::FP32, bytes, nullptr);
}

bool anec::writeArrays(llvm::ArrayRef<NamedFloats> arrays,
                       const ModelFacts &facts, llvm::StringRef path,
                       Diagnostics &diags) {
  AtomicFiles files(diags);
  if (llvm::sys::path::extension(path) == ".safetensors") {
    Safetensors contents;
    contents.metadata = facts.entries();
    for (const NamedFloats &array : arrays)
      contents.arrays.push_back({array.name, viewOf(array)});
    OutputFile *file = files.add(path);
    return file && writeSafetensors(*file, contents) && files.commit();
  }
  for (const NamedFloats &array : arrays) {
    OutputFile *file = files.add(path, array.name + ".npy");
    if (!file || !writeNpy(*file, *viewOf(array)))
      return false;
  }
  return files.commit();
}
