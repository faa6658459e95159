//===- Text.h - the textual form of the IR ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Printing and parsing of the textual form, which round-trips:
/// \code{.unparsed}
///   kernel @scale(%x: fp16[4, 8]) -> (%y: fp16[4, 8]) {
///     %half = const() {val = fp16(0.5)} : fp16
///     %y = mul(%x, %half) : fp16[4, 8]
///     return %y
///   }
/// \endcode
/// Constants equal to their default are omitted. docs/reference/ir.md has the
/// grammar.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_TEXT_H
#define ANEC_LIB_IR_TEXT_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"
#include <functional>

namespace anec {

class OpTable;

void printIR(const Module &module, llvm::raw_ostream &out);
void printIR(const Function &function, llvm::raw_ostream &out);
/// `constant` as the IR spells it: `true`, `3`, `[1, 2]`, `"valid"`,
/// `fp16(0.5)`.
std::string spellConstant(const Constant &constant);

/// Finds the constant for `blob("path", offset)` of a type; returns null when
/// it is missing, which was reported.
using BlobResolver = std::function<ConstantRef(
    const TensorType &, const BlobOrigin &, SourceRange)>;

/// Parses a module from `buffer`, which `diags` owns. Every op is checked as it
/// is built. Returns null after errors.
[[nodiscard]] std::unique_ptr<Module>
parseIR(llvm::StringRef buffer, const OpTable &ops, Diagnostics &diags,
        const BlobResolver &resolveBlob = {});

} // namespace anec

#endif // ANEC_LIB_IR_TEXT_H
