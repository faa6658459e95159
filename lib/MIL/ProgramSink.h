//===- ProgramSink.h - receives a program statement by statement *- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A MIL program that is being written, whatever the form: each value named,
/// each parameter a `const`, each constant placed.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_PROGRAMSINK_H
#define ANEC_LIB_MIL_PROGRAMSINK_H

#include "anec/IR/IR.h"
#include <functional>

namespace anec::mil {

/// A constant: its value, or the place of its value in a weight file.
struct WrittenConstant {
  TensorType type;
  const Constant *value = nullptr; ///< null when it is in a weight file
  llvm::StringRef path;
  uint64_t offset = 0;
};

/// The name and type of a parameter or result.
struct WrittenDeclaration {
  llvm::StringRef name;
  TensorType type;
  const Value *value = nullptr; ///< null for a tensor that the IR lacks
  /// A dictionary from scalars of `type` to `fp64`.
  bool isDictionary = false;

  Holder holder() const { return value ? value->holder : Holder::Tensor; }
};

struct WrittenArgument {
  llvm::StringRef name;
  /// A constant in place, or else names of values, several if variadic.
  std::optional<WrittenConstant> constant;
  llvm::SmallVector<llvm::StringRef, 1> values;
  bool isVariadic = false;
  bool isList = false; ///< the constant is a list of its elements
};

/// A block of an op with control flow.
struct WrittenBlock {
  llvm::SmallVector<WrittenDeclaration, 4> inputs;
  /// Gives the statements to the sink, and returns the names of the results; to
  /// be called once, while the statement is being written.
  std::function<llvm::SmallVector<llvm::StringRef, 4>()> emit;
};

struct WrittenStatement {
  llvm::StringRef label; ///< the attribute `name`
  llvm::StringRef opName;
  const OpDef *def = nullptr; ///< null for an op that the IR lacks
  llvm::StringRef opsetTag;   ///< `ios17` of `op<ios17>(...)`, or empty
  llvm::SmallVector<WrittenDeclaration, 1> results;
  /// In alphabetical order; attributes other than `name`.
  llvm::SmallVector<WrittenArgument, 8> arguments, attributes;
  std::vector<WrittenBlock> blocks;
};

class ProgramSink {
public:
  virtual ~ProgramSink() = default;

  virtual void beginFunction(llvm::StringRef name, llvm::StringRef opset,
                             llvm::ArrayRef<WrittenDeclaration> parameters) = 0;
  virtual void addStatement(const WrittenStatement &statement) = 0;
  virtual void endFunction(llvm::ArrayRef<llvm::StringRef> results) = 0;
};

} // namespace anec::mil

#endif // ANEC_LIB_MIL_PROGRAMSINK_H
