//===- ProbeWeights.cpp - weights of the programs of rules ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProbeWeights.h"
#include "lib/IR/OpDef.h"
#include "lib/MIL/Blob.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/Half.h"
#include "lib/Support/SplitMix.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstring>

using namespace anec;

static double drawn(uint64_t seed, uint64_t index, double low, double high) {
  uint64_t bits = splitMix(splitMix(seed) + index);
  return low + (high - low) * double(bits >> 11) * 0x1p-53;
}

std::vector<uint8_t> anec::drawArray(const TensorType &type, double low,
                                     double high, uint64_t seed) {
  uint64_t count = uint64_t(type.numElements());
  if (type.dtype == DType::FP16 || type.dtype == DType::FP32) {
    // In blocks, because an array may take half of the memory.
    std::vector<uint8_t> bytes(type.numBytes());
    std::vector<float> block(1 << 16);
    for (uint64_t begin = 0; begin < count; begin += block.size()) {
      size_t length = size_t(std::min<uint64_t>(block.size(), count - begin));
      for (size_t i = 0; i < length; ++i)
        block[i] = float(drawn(seed, begin + i, low, high));
      if (type.dtype == DType::FP16)
        floatsToHalves(block.data(),
                       reinterpret_cast<uint16_t *>(bytes.data()) + begin,
                       length);
      else
        std::memcpy(bytes.data() + begin * sizeof(float), block.data(),
                    length * sizeof(float));
    }
    return bytes;
  }
  std::vector<double> elements(count);
  for (uint64_t i = 0; i < count; ++i)
    elements[i] = isFloat(type.dtype) ? drawn(seed, i, low, high)
                                      : double(splitMix(seed + i) & 1);
  return Constant::fromDoubles(type, elements)->bytes().vec();
}

void ProbeWeights::draw(Function &function, double scale) {
  for (Op &op : function.body())
    for (const ParamDef &param : op.def().parameters()) {
      const Constant *value =
          param.isConstant() ? op.constant(param.asConstant()) : nullptr;
      if (!value || !value->origin() || !value->origin()->missing)
        continue;
      const BlobOrigin &origin = *value->origin();
      ConstantRef &array = arrays[origin.path][origin.offset];
      if (!array || array->type() != value->type())
        array = Constant::copy(value->type(),
                               drawArray(value->type(), -scale, scale,
                                         origin.offset + arrays.size()));
      op.setConstant(param.asConstant(), array);
    }
}

uint64_t ProbeWeights::bytes() const {
  uint64_t sum = 0;
  for (const auto &[path, records] : arrays)
    for (const auto &[offset, array] : records)
      sum += array->type().numBytes();
  return sum;
}

/// Writes a weight file of `records` to `path`.
static bool writeFile(const std::map<uint64_t, ConstantRef> &records,
                      llvm::StringRef path, std::string &error) {
  Diagnostics diags;
  AtomicFiles files(diags);
  OutputFile *file = files.add(path);
  if (!file)
    return false;
  BlobWriter writer(*file, diags);
  for (const auto &[offset, array] : records) {
    uint64_t place = std::max<uint64_t>(llvm::alignDown(offset, 64), 64);
    if (writer.add(*array, "") != place) {
      error = "there is no room for a record at " + std::to_string(offset);
      return false;
    }
  }
  writer.finish();
  return files.commit();
}

bool ProbeWeights::makeFiles(std::vector<ProgramText::WeightFile> &files,
                             std::string &error) const {
  for (const auto &[path, records] : arrays) {
    llvm::SmallString<128> temporary;
    if (std::error_code code =
            llvm::sys::fs::createTemporaryFile("probe", "bin", temporary)) {
      error = code.message();
      return false;
    }
    bool written = writeFile(records, temporary, error);
    auto buffer = llvm::MemoryBuffer::getFile(temporary, /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false);
    (void)llvm::sys::fs::remove(temporary);
    if (!written || !buffer) {
      if (error.empty())
        error = "a weight file cannot be written";
      return false;
    }
    llvm::StringRef bytes = (*buffer)->getBuffer();
    files.push_back({path, {bytes.bytes_begin(), bytes.bytes_end()}});
  }
  return true;
}
