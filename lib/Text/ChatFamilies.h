//===- ChatFamilies.h - the forms of conversations --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_CHATFAMILIES_H
#define ANEC_LIB_TRAIN_CHATFAMILIES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace anec {

/// What is before and after the text of a message. `<BOS>` and `<EOS>` stand
/// for the tokenizer's markers.
struct ChatTurn {
  llvm::StringLiteral before, after;
};

/// Where the text of the system goes.
enum class SystemPlace : uint8_t {
  Turn,      ///< into a turn of its own
  InUser,    ///< into the first text of the user
  EveryTurn, ///< as Turn, also without a text
  Nowhere    ///< the family has none
};

struct ChatFamily {
  llvm::StringLiteral name;
  /// What programs of the family mention, and what they do not.
  llvm::ArrayRef<llvm::StringLiteral> mentions;
  llvm::ArrayRef<llvm::StringLiteral> without;
  llvm::StringLiteral begin; ///< before the first message
  ChatTurn system, user, assistant;
  llvm::StringLiteral answer; ///< before an answer that is asked for
  llvm::StringLiteral finish; ///< at the end otherwise
  SystemPlace systemPlace = SystemPlace::Turn;
  bool trims = false; ///< texts lose the white space around them
  bool trimsAnswers = false;
  bool alternates = false;  ///< user and assistant take turns
  bool hasDefault = false;  ///< programs may have a text for the system
  bool hasThoughts = false; ///< in answers: kept in the last one alone
};

/// Of several that fit, the first counts.
llvm::ArrayRef<ChatFamily> chatFamilies();

} // namespace anec

#endif // ANEC_LIB_TRAIN_CHATFAMILIES_H
