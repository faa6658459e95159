//===- FuzzArrays.cpp - any bytes as an array or weight file --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Whatever the bytes are, each reader gives arrays that can be read to their
/// last element, or an error. The first byte chooses the reader.
///
//===----------------------------------------------------------------------===//

#include "lib/Arrays/Npy.h"
#include "lib/Arrays/Safetensors.h"
#include "lib/MIL/Blob.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace anec;

static void touch(const Constant &array) {
  double sum = 0;
  for (double value : array.asDoubles())
    sum += value;
  volatile double keep = sum;
  (void)keep;
}

static void fuzzNpy(const MappedFile &file, Diagnostics &diags) {
  ConstantRef array = readNpy(file, "fuzz.npy", diags);
  if (bool(array) == diags.hasErrors())
    std::abort();
  if (!array)
    return;
  touch(*array);
  std::string text;
  llvm::raw_string_ostream out(text);
  MappedFile written;
  if (writeNpy(out, *array))
    written = llvm::MemoryBuffer::getMemBufferCopy(text);
  ConstantRef again = written ? readNpy(written, "again.npy", diags) : nullptr;
  if (!again || !again->equals(*array))
    std::abort();
}

static void fuzzSafetensors(const MappedFile &file, Diagnostics &diags) {
  std::optional<Safetensors> contents =
      readSafetensors(file, "fuzz.safetensors", diags);
  if (contents.has_value() == diags.hasErrors())
    std::abort();
  if (!contents)
    return;
  for (const NamedArray &named : contents->arrays)
    touch(*named.array);
}

static void fuzzBlob(const MappedFile &file, Diagnostics &diags) {
  std::optional<BlobReader> reader =
      BlobReader::open(file, "fuzz.bin", {}, diags);
  if (!reader)
    return;
  for (const BlobRecord &record : reader->records(diags)) {
    uint64_t bits = record.size * 8;
    unsigned width = bitWidth(record.dtype);
    if (record.paddingBits > bits)
      continue;
    TensorType type(record.dtype,
                    {int64_t((bits - record.paddingBits) / width)});
    if (ConstantRef array = reader->read(record.offset, type, "w", {}, diags))
      touch(*array);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  Diagnostics diags;
  MappedFile file = llvm::MemoryBuffer::getMemBufferCopy(
      {reinterpret_cast<const char *>(data + 1), size - 1});
  switch (data[0] % 3) {
  case 0:
    fuzzNpy(file, diags);
    break;
  case 1:
    fuzzSafetensors(file, diags);
    break;
  case 2:
    fuzzBlob(file, diags);
    break;
  }
  llvm::raw_null_ostream out;
  diags.print(out);
  return 0;
}
