//===- Outline.h - MIL text as written --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Describes the parts of MIL text that the IR does not keep: which arguments
/// are written, and whether by name or as values; how scalars are spelled; the
/// locations of weights. Building an outline never fails: it has everything
/// that can be recognized, even in a program that the reader rejects.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_MIL_OUTLINE_H
#define ANEC_MIL_OUTLINE_H

#include "anec/Support/Diagnostics.h"
#include <optional>

namespace anec {

struct OpDef;

/// A word of the text; empty when there is none.
struct OutlineWord {
  llvm::StringRef text;
  SourceRange range;
};

struct OutlineArgument {
  enum Form : uint8_t {
    Name,   ///< `axis = cax`
    Typed,  ///< `axis = int32(1)`
    Untyped ///< `axis = 1`
  };
  OutlineWord name;
  Form form; ///< for a list, that of its last value with the worst form
  /// The name, or the value as written.
  OutlineWord value;
};

/// `results = op(arguments)[attributes]`.
struct OutlineStatement {
  OutlineWord op;
  /// The row of the op; null when the table has none.
  const OpDef *def = nullptr;
  SourceRange range; ///< of the op with its arguments
  std::vector<OutlineWord> results;
  std::vector<OutlineArgument> arguments;
  std::vector<OutlineArgument> attributes;
  /// The string of the attribute `name`, without quotes.
  OutlineWord label;

  const OutlineArgument *argument(llvm::StringRef name) const;
};

struct OutlineFunction {
  OutlineWord name, opset;
  std::vector<OutlineStatement> statements;
};

/// `BLOBFILE(path = ..., offset = ...)`.
struct OutlineBlob {
  OutlineWord path; ///< without quotes
  std::optional<uint64_t> offset;
  SourceRange range;
};

struct MILOutline {
  OutlineWord version;
  bool hasBuildInfo = false;
  std::vector<OutlineFunction> functions;
  std::vector<OutlineBlob> blobs;
  /// The first scalar written `tensor<int32, []>`, and the first written
  /// `int32`.
  SourceRange tensorScalar, bareScalar;
  /// The first `?` among extents.
  SourceRange unknownExtent;
};

MILOutline outlineMIL(llvm::StringRef text);

} // namespace anec

#endif // ANEC_MIL_OUTLINE_H
