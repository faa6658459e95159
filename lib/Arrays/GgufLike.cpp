//===- GgufLike.cpp - GGUF files with other weights -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Arrays/GgufWriter.h"
#include "lib/Arrays/StoredAs.h"
#include "llvm/ADT/StringMap.h"

using namespace anec;
using namespace llvm;

namespace {
/// A value of `general.file_type`, as llama.cpp's LLAMA_FTYPE has it.
struct FileType {
  DType dtype;
  StringLiteral bytes;
};
} // namespace

static constexpr FileType fileTypes[] = {
    {DType::FP32, StringLiteral::withInnerNUL("\0\0\0\0")},
    {DType::FP16, StringLiteral::withInnerNUL("\1\0\0\0")},
    {DType::BF16, StringLiteral::withInnerNUL("\40\0\0\0")},
};

/// llama.cpp computes with vectors of fp32 alone, and has matrices of three
/// types.
static DType writtenType(const TensorType &type) {
  bool isMatrix = type.shape.size() > 1;
  return isMatrix && (type.dtype == DType::FP16 || type.dtype == DType::BF16)
             ? type.dtype
             : DType::FP32;
}

/// All arrays of the file, in its order: those of weights from `trained`, and
/// others, such as factors of rotary embedding, as they are.
static std::vector<PlannedArray> replaceArrays(const GgufFile &file,
                                               ArrayRef<PlannedArray> trained) {
  StringMap<const PlannedArray *> byName;
  for (const PlannedArray &array : trained)
    byName[array.name] = &array;
  std::vector<PlannedArray> written;
  for (const auto &[name, stored] : file.arrays) {
    auto found = byName.find(name);
    TensorType type =
        found == byName.end() ? stored.type() : found->second->type;
    if (isFloat(type.dtype))
      type.dtype = writtenType(type);
    if (found == byName.end())
      written.push_back({name, type, [&array = stored, dtype = type.dtype] {
                           return array.get(dtype);
                         }});
    else
      written.push_back(
          {name, type, [make = found->second->make, dtype = type.dtype] {
             ConstantRef array = make();
             return array->dtype() == dtype ? array : declaredAs(array, dtype);
           }});
  }
  return written;
}

/// The type that most elements have.
static DType mainType(ArrayRef<PlannedArray> arrays) {
  const PlannedArray *largest = &arrays.front();
  for (const PlannedArray &array : arrays)
    if (array.type.numElements() > largest->type.numElements())
      largest = &array;
  return largest->type.dtype;
}

/// Says the type of the elements, and nothing of how they were packed before.
static void describeElements(GgufFile &file, ArrayRef<PlannedArray> arrays) {
  file.metadata.erase("general.quantization_version");
  std::erase_if(file.metadata, [](const auto &entry) {
    return StringRef(entry.first).starts_with("quantize.");
  });
  for (const FileType &type : fileTypes)
    if (type.dtype == mainType(arrays)) {
      GgufValue value;
      value.type = GgufType::UInt32;
      value.bytes = type.bytes;
      file.metadata["general.file_type"] = value;
    }
}

void anec::writeGgufLike(raw_ostream &out, GgufFile like,
                         ArrayRef<PlannedArray> arrays) {
  std::vector<PlannedArray> written = replaceArrays(like, arrays);
  describeElements(like, written);
  writeGguf(out, like.metadata, written);
}
