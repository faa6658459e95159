//===- FlagTopics.h - what the flags of commands are about ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_FLAGTOPICS_H
#define ANEC_TOOLS_FLAGTOPICS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace anec {

/// A heading of `--help`, and the flags below it in their order.
struct FlagTopic {
  llvm::StringLiteral heading;
  /// Names with spaces between; `train.batch` for a flag of one command whose
  /// name means something else in others, `.seed` of the one without a name.
  llvm::StringLiteral flags;
};

/// In the order of `--help`.
llvm::ArrayRef<FlagTopic> flagTopics();

/// The place of a flag of `command` in the topics: the topic, and then the flag
/// in it. The number of topics for a flag that has none.
std::pair<size_t, size_t> placeOfFlag(llvm::StringRef command,
                                      llvm::StringRef flag);

} // namespace anec

#endif // ANEC_TOOLS_FLAGTOPICS_H
