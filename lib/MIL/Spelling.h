//===- Spelling.h - spelling of MIL types and values ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_SPELLING_H
#define ANEC_LIB_MIL_SPELLING_H

#include "anec/IR/IR.h"

namespace llvm {
class raw_ostream;
}

namespace anec::mil {

/// How scalars are spelled: as `fp16` since program(1.3), and as `tensor<fp16,
/// []>` in program(1.0). This is the only difference.
enum class Scalars : uint8_t { Bare, RankZero };

/// `tensor<fp16, [1, 8]>`. A negative extent is an unknown one, `?`.
void writeType(llvm::raw_ostream &out, const TensorType &type, Scalars scalars);
std::string spellType(const TensorType &type, Scalars scalars = Scalars::Bare);
/// The type that `value` is declared with: of a state
/// `state<tensor<fp16, [1, 8]>>`, of a buffer
/// `tensor_buffer<fp16, shape=[1, 8], strides=[32, 1], interleave_factors=[1,
/// 1]>`.
void writeType(llvm::raw_ostream &out, const Value &value, Scalars scalars);
std::string spellType(const Value &value);
void writeBufferType(llvm::raw_ostream &out, const TensorType &type,
                     const BufferLayout &layout);

/// `"text"`, with the characters that would end it escaped by backslashes.
void writeString(llvm::raw_ostream &out, llvm::StringRef text);
/// The exact `value`, in the shortest form of C's hexadecimal notation:
/// `0x1.5p-17`, `-0x0p+0`, `inf`, `nan`.
void writeFloat(llvm::raw_ostream &out, double value);
/// One element, without its type.
void writeElement(llvm::raw_ostream &out, const Constant &value, int64_t index);
/// A type and its value: `tensor<int32, [2]>([1, 2])`.
void writeValue(llvm::raw_ostream &out, const Constant &value, Scalars scalars);
/// A type and the location of its value.
void writeBlob(llvm::raw_ostream &out, const TensorType &type,
               llvm::StringRef path, uint64_t offset, Scalars scalars);

} // namespace anec::mil

#endif // ANEC_LIB_MIL_SPELLING_H
