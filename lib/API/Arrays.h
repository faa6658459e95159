//===- Arrays.h - named arrays for the ports of a program -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_API_ARRAYS_H
#define ANEC_LIB_API_ARRAYS_H

#include "anec/API/ProgramSession.h"

namespace anec::api {

/// Converts the elements of `in` to `out`. Both have the same number of
/// elements, of the same type or of two float types.
void convert(DType from, llvm::ArrayRef<uint8_t> in, DType to,
             llvm::MutableArrayRef<uint8_t> out);

/// The inputs and outputs of a run, in the order and types of the ports. The
/// caller's arrays of these types are used without a copy.
class PortArrays {
public:
  /// Matches `inputs` to `ports`, which messages call `kind`: `input` or
  /// `state`. A missing array is filled with `fallback(index)`; it is an error
  /// when that is nothing. Returns false, with the reason reported, when an
  /// array is missing or does not fit.
  [[nodiscard]] bool
  takeInputs(llvm::StringRef kind, llvm::ArrayRef<Port> ports,
             llvm::ArrayRef<InputArray> inputs,
             llvm::function_ref<std::optional<float>(size_t index)> fallback,
             Diagnostics &diags);
  [[nodiscard]] bool takeOutputs(llvm::StringRef kind,
                                 llvm::ArrayRef<Port> ports,
                                 llvm::ArrayRef<OutputArray> outputs,
                                 Diagnostics &diags);
  /// Converts the outputs of the run to the caller's arrays of other types.
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
