//===- Arrays.h - arrays by name for the ports of a program -----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_API_ARRAYS_H
#define ANEC_LIB_API_ARRAYS_H

#include "anec/API/ProgramSession.h"

namespace anec::api {

/// Converts `in` to `out`, which are as many elements of floats, or of one
/// type.
void convert(DType from, llvm::ArrayRef<uint8_t> in, DType to,
             llvm::MutableArrayRef<uint8_t> out);

/// What a run takes and gives, in the order and the types of the ports. Arrays
/// of the caller's that have these types are used as they are.
class PortArrays {
public:
  /// `inputs` for `ports`, which are `kind`s: `input` or `state`. An array that
  /// is not given is filled with `fallback(index)`, an error when that is
  /// nothing. False, with the reason reported, when one does not fit.
  bool
  takeInputs(llvm::StringRef kind, llvm::ArrayRef<Port> ports,
             llvm::ArrayRef<InputArray> inputs,
             llvm::function_ref<std::optional<float>(size_t index)> fallback,
             Diagnostics &diags);
  bool takeOutputs(llvm::StringRef kind, llvm::ArrayRef<Port> ports,
                   llvm::ArrayRef<OutputArray> outputs, Diagnostics &diags);
  /// Brings what came out to the caller's arrays.
  void giveOutputs(llvm::ArrayRef<Port> ports,
                   llvm::ArrayRef<OutputArray> outputs);

  llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs() const { return in; }
  llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs() const { return out; }

private:
  llvm::MutableArrayRef<uint8_t> buffer(uint64_t bytes);

  std::vector<llvm::ArrayRef<uint8_t>> in;
  std::vector<llvm::MutableArrayRef<uint8_t>> out;
  std::vector<std::vector<uint8_t>> buffers;
};

} // namespace anec::api

#endif // ANEC_LIB_API_ARRAYS_H
