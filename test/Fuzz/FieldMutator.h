//===- FieldMutator.h - changes of fields of messages ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Changes of bytes seldom get beyond the wire format of protobuf: a length no
/// longer fits. These change the fields, so that the result is a message again.
/// No schema is needed: bytes that can be a message and are no text are one.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_FUZZ_FIELDMUTATOR_H
#define ANEC_TEST_FUZZ_FIELDMUTATOR_H

#include "lib/Protobuf/Wire.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <random>

namespace anec {

/// Changes `size` bytes in place, and returns how many there are then, at most
/// `maxSize`: LLVMFuzzerMutate.
using ByteMutator =
    llvm::function_ref<size_t(uint8_t *data, size_t size, size_t maxSize)>;

/// The message with some of its fields changed, removed, repeated, or replaced
/// by others of its fields. Nothing when `message` is malformed.
std::optional<std::string> mutateFields(protobuf::Bytes message,
                                        std::mt19937 &random,
                                        ByteMutator mutateBytes);

/// The message with some of its fields replaced by fields of `other`, or with
/// these added. Nothing when one of them is malformed or has no fields.
std::optional<std::string> crossFields(protobuf::Bytes message,
                                       protobuf::Bytes other,
                                       std::mt19937 &random);

} // namespace anec

#endif // ANEC_TEST_FUZZ_FIELDMUTATOR_H
