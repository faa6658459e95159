//===- InputArrays.h - reads the input arrays of programs -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Arrays for the inputs and states of a program, from arguments NAME=SOURCE,
/// where SOURCE is a .npy file, `random:SEED`, `zeros`, `ones`, or
/// `bytes:FILE`, the first bytes of any file as numbers.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_RUNTIME_INPUTARRAYS_H
#define ANEC_LIB_RUNTIME_INPUTARRAYS_H

#include "anec/MIL/ModelDescription.h"
#include "anec/MIL/Reader.h"
#include "anec/Runtime/Backend.h"

namespace anec {

/// An array for every input and every state of a program, in order and in the
/// ports' types.
struct ProgramArrays {
  std::vector<ConstantRef> inputs, states;
};
/// Reads the arrays. Returns nothing, with the reason reported, when one cannot
/// be read. An input without an argument uses `fallback`; it is an error when
/// `fallback` is empty, and `description` does not say that the input is
/// optional. A state without an argument is zeros.
[[nodiscard]] std::optional<ProgramArrays>
readArrays(const Executable &executable, llvm::ArrayRef<std::string> inputs,
           llvm::ArrayRef<std::string> states, llvm::StringRef fallback,
           Diagnostics &diags,
           const FunctionDescription *description = nullptr);

/// Reads the arrays for `ports` as above; `kind` is "input" or "state". The
/// .npy file of an image can also have its pixels as [height, width, channels],
/// in the order red, green, blue, or as [height, width].
[[nodiscard]] std::optional<std::vector<ConstantRef>>
readPorts(llvm::StringRef kind, llvm::ArrayRef<Port> ports,
          llvm::ArrayRef<std::string> arguments, llvm::StringRef fallback,
          Diagnostics &diags, const FunctionDescription *description = nullptr);

/// The shape without axes of one element, for comparison: layouts add and drop
/// such axes without reordering elements.
Shape withoutOnes(llvm::ArrayRef<int64_t> shape);

/// Adds the shapes of .npy files among the arguments of `--input`, as hints,
/// and their elements.
void appendFiles(llvm::ArrayRef<std::string> arguments,
                 std::vector<InputShape> &shapes,
                 std::vector<InputValue> &values);

} // namespace anec

#endif // ANEC_LIB_RUNTIME_INPUTARRAYS_H
