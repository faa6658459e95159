//===- ValueWriter.h - types and values to messages -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_VALUEWRITER_H
#define ANEC_LIB_COREML_VALUEWRITER_H

#include "ElementTypes.h"
#include "lib/MIL/ProgramSink.h"

namespace anec::coreml {

proto::ValueType tensorType(const TensorType &type);
/// The type of a tensor, a state or a dictionary.
proto::ValueType typeOf(const mil::WrittenDeclaration &declaration);

proto::Value valueOf(const mil::WrittenConstant &constant);
proto::Value valueOf(const Constant &constant);
/// The list of the elements.
proto::Value listOf(const Constant &values);
proto::Value stringValue(llvm::StringRef text);

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_VALUEWRITER_H
