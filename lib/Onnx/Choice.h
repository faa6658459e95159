//===- Choice.h - attributes of a few words ---------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Attributes of ONNX that are one of a few words become values of an
/// enumeration where they are read. Its words are ONNX's.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_CHOICE_H
#define ANEC_LIB_ONNX_CHOICE_H

#include "Node.h"
#include "anec/Support/Words.h"

namespace anec::onnx {

/// The attribute; where it is absent, its default in the schema, or the first
/// value. Other words are an error of the node, as are those after the first
/// `count`.
template <Worded Enum>
Enum choiceOf(Node &node, llvm::StringRef name,
              size_t count = allWords<Enum>().size()) {
  llvm::ArrayRef<llvm::StringLiteral> words(allWords<Enum>().data(), count);
  return *parseWord<Enum>(node.attrChoice(name, words));
}

/// How windows are padded.
ANEC_ENUM(AutoPad, (Explicit, "NOTSET"), (SameUpper, "SAME_UPPER"),
          (SameLower, "SAME_LOWER"), (Valid, "VALID"))

constexpr bool isSame(AutoPad pad) {
  return pad == AutoPad::SameUpper || pad == AutoPad::SameLower;
}

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_CHOICE_H
