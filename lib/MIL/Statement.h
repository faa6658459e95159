//===- Statement.h - MIL statements before binding --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The statements of a MIL program as its readers give them to the
/// FunctionBinder: names and values as written, before the op is looked up. The
/// readers are those of MIL text and of Core ML's protobuf messages. Names are
/// views of memory that the reader keeps while it reads the function.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_MIL_STATEMENT_H
#define ANEC_LIB_MIL_STATEMENT_H

#include "anec/IR/IR.h"
#include <functional>

namespace anec::mil {

/// More than any program needs, and few enough not to exhaust the stack.
constexpr unsigned maxNesting = 64;

/// An extent that is written `?`.
constexpr int64_t unknownExtent = -1;

/// A type as a reader needs it: tensors, scalars, states and buffers are
/// interpreted, lists of scalars are the tensors of rank 1 that they equal, and
/// all other types are only read.
struct ParsedType {
  enum Kind : uint8_t { Tensor, Dictionary, List, Tuple, State, Buffer };
  Kind kind = Tensor;
  bool unknownExtents = false; ///< among those of `tensor`
  /// For a state or buffer, the tensor it holds; for a list, its elements after
  /// an axis for the list.
  TensorType tensor;
  std::unique_ptr<BufferLayout> layout;
  SourceRange range;

  /// Whether a value of a program can have this type.
  bool isValue() const {
    return kind == Tensor || kind == State || kind == Buffer;
  }
  Holder holder() const {
    return kind == State    ? Holder::State
           : kind == Buffer ? Holder::Buffer
                            : Holder::Tensor;
  }
};

/// A name or an immediate value in an argument.
struct ArgumentValue {
  llvm::StringRef name; ///< empty for an immediate
  /// Null for a name, and for a value that is no tensor.
  ConstantRef constant;
  SourceRange range;
  bool isList = false; ///< an immediate list of scalars
};

/// `name = value`, or `name = (value, ...)`.
struct Argument {
  llvm::StringRef name;
  SourceRange range;
  llvm::SmallVector<ArgumentValue, 1> values;
};

/// `type name`, left of the `=`; or the input of a block.
struct ResultDeclaration {
  llvm::StringRef name;
  ParsedType type;
  SourceRange range; ///< of the name
};

struct Block;

/// A statement as written, before its op is looked up.
struct Statement {
  Statement();
  ~Statement();
  Statement(Statement &&) noexcept;
  Statement &operator=(Statement &&) noexcept;

  llvm::SmallVector<ResultDeclaration, 1> results;
  llvm::StringRef opName;
  SourceRange opRange;
  SourceRange range; ///< the op with its arguments
  llvm::SmallVector<Argument, 8> arguments;
  llvm::SmallVector<Argument, 4> attributes;
  std::vector<Block> blocks; ///< of control flow

  /// The argument called `name`; null when there is none.
  const Argument *argument(llvm::StringRef name) const;
  void clear();
};

/// A block of an op with control flow.
struct Block {
  Block() = default;
  Block(Block &&) = default;
  Block &operator=(Block &&) = default;

  std::vector<ResultDeclaration> inputs;
  llvm::SmallVector<ArgumentValue, 4> results; ///< names
  /// Gives the statements to the binder, each time it is called: those of a
  /// loop are bound for each iteration. Returns false when they cannot be read,
  /// with the reason reported.
  std::function<bool()> bindStatements;
};

} // namespace anec::mil

#endif // ANEC_LIB_MIL_STATEMENT_H
