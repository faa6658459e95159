//===- FuzzOnnx.cpp - any bytes as an ONNX model --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Whatever the bytes are, the reader gives a module that verifies or an error,
/// and what it gives can be printed as MIL and read again, which is left out
/// for large modules. A file `weights` lies beside the model.
///
//===----------------------------------------------------------------------===//

#include "FileOfBytes.h"
#include "ReadsBack.h"
#include "anec/MIL/ModelDescription.h"
#include "lib/Onnx/Reader.h"

using namespace anec;

/// A model can become many ops, or have tables of many elements.
static bool isLarge(const Module &module) {
  int64_t size = 0;
  for (const std::unique_ptr<Function> &function : module.functions)
    for (const Op &op : function->body()) {
      size += 32;
      for (const ConstantRef &constant : op.constants())
        size += constant ? constant->numElements() : 0;
    }
  return size > 1 << 16;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string weights =
      fileOfBytes("weights", std::vector<uint8_t>(256, 1));
  std::string path = fileOfBytes("model.onnx", {data, size});
  Diagnostics diags;
  MILReadOptions options;
  ModelDescription description;
  options.description = &description;
  std::unique_ptr<Module> module = readOnnx(path, diags, options);
  expectOneOf(module != nullptr, diags);
  if (!module)
    return 0;
  expectVerified(*module, diags);
  if (!isLarge(*module))
    expectReadsBack(*module, fuzzFolder().path(), diags);
  return 0;
}
