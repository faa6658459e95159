//===- Schema.h - what nodes can have ---------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Which attributes, inputs and outputs each operator has in each version of
/// the operator set, for all operators that have a row.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_SCHEMA_H
#define ANEC_LIB_ONNX_SCHEMA_H

#include "Messages.h"
#include "anec/Support/Diagnostics.h"

namespace anec::onnx {

struct AttributeRow {
  llvm::StringLiteral op, name;
  proto::AttributeType type;
  int since = 1;
  int until = 0; ///< 0: the newest version
  llvm::StringLiteral fallback = "";

  bool isIn(int64_t opset) const {
    return opset >= since && (until == 0 || opset <= until);
  }
};

struct SignatureRow {
  llvm::StringLiteral op;
  int since = 1;
  unsigned leastInputs = 0, mostInputs = 0, leastOutputs = 0, mostOutputs = 0;
};

/// The operators of onnxruntime, which its optimizer and its quantization
/// write.
inline constexpr llvm::StringLiteral microsoft = "com.microsoft";

/// The domain in whose table a node's operator is; empty for ONNX's own.
llvm::StringRef domainOf(const proto::Node &node);
llvm::StringRef domainOf(llvm::StringRef domain);
/// `version 13 of ONNX's operators`, for messages.
std::string describe(llvm::StringRef domain, int64_t opset);

/// The attributes of an operator in all versions.
llvm::ArrayRef<AttributeRow> attributesOf(llvm::StringRef domain,
                                          llvm::StringRef op);
/// Null if the operator is not in this version of the operator set.
const SignatureRow *signatureOf(llvm::StringRef domain, llvm::StringRef op,
                                int64_t opset);
/// The first version that has it; 0 if none has.
int firstVersionOf(llvm::StringRef domain, llvm::StringRef op);

/// `an integer`, for messages.
llvm::StringRef describe(proto::AttributeType type);

/// Checks the attributes, inputs and outputs of a node, which are known.
/// Reports the first that the operator does not have, and returns false.
[[nodiscard]] bool checkSchema(const proto::Node &node, int64_t opset,
                               SourceRange range, Diagnostics &diags);

/// The value of an attribute that is not given; empty if it has none.
llvm::StringRef fallbackOf(llvm::StringRef domain, llvm::StringRef op,
                           llvm::StringRef name, int64_t opset);

/// Reports an attribute that nothing has read or ignored, unless it has its
/// default. `wasRead` has an entry for each attribute of the node.
[[nodiscard]] bool checkAllRead(const proto::Node &node, int64_t opset,
                                llvm::ArrayRef<bool> wasRead, SourceRange range,
                                Diagnostics &diags);

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_SCHEMA_H
