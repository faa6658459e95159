//===- DerivedNumbers.h - exact numbers beside those of a text --*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A text has the numbers that the engine computes with, rounded to their type.
/// Those that derived constants (lib/IR/DerivedConstant.h) have in fp32 are in
/// its `buildInfo`, which is text for whoever wrote the program:
///
///   {"anec-derived-numbers", "main.share=0x1.5555555555555p-2 main.scale=..."}
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_DERIVEDNUMBERS_H
#define ANEC_LIB_MIL_DERIVEDNUMBERS_H

#include "anec/IR/IR.h"
#include "lib/MIL/ProgramSink.h"

namespace anec::mil {

inline constexpr llvm::StringLiteral derivedNumbersKey = "anec-derived-numbers";

/// Whether a constant of `function` keeps a number.
bool hasDerivedNumbers(const Function &function);

/// Collects the numbers of a program, with the names that it is written with.
class DerivedNumbers : public ProgramSink {
public:
  /// The value of the entry.
  llvm::StringRef text() const { return numbers; }

  void beginFunction(llvm::StringRef name, llvm::StringRef opset,
                     llvm::ArrayRef<WrittenDeclaration> parameters) override;
  void addStatement(const WrittenStatement &statement) override;
  void endFunction(llvm::ArrayRef<llvm::StringRef> results) override {}

private:
  std::string function, numbers;
};

/// Gives constants of a program that was read their numbers, and removes the
/// entry. A constant that is not that number rounded keeps its own: somebody
/// changed it.
void restoreDerivedNumbers(Module &module);

} // namespace anec::mil

#endif // ANEC_LIB_MIL_DERIVEDNUMBERS_H
