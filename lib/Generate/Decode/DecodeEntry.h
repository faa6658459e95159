//===- DecodeEntry.h - a program that reads a block of texts ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_DECODEENTRY_H
#define ANEC_LIB_TRAIN_DECODEENTRY_H

#include "anec/Runtime/Session.h"

namespace anec {

/// An entry that reads `block` tokens of each of `read` texts after at most
/// `context` others, and gives logits for `wanted` of them.
struct DecodeEntry {
  std::string name;
  int64_t context = 0, block = 0, wanted = 0, vocabulary = 0;
  /// Texts that have caches side by side, and those that a run reads. A program
  /// of one text has a number as its position, one of several a list of slots.
  int64_t texts = 1, read = 1;
  bool isOfSlots = false;
  /// Whether it reads no states: its tokens are the first of a text.
  bool starts = false;
  // Indices of inputs and outputs.
  size_t tokens = 0, position = 0, logits = 0;
  std::optional<size_t> selection; ///< of the wanted positions; none for all
  /// Shapes of the states, without their last axis.
  std::vector<Shape> states;
  /// The buffers of a run; empty until the program is loaded.
  std::vector<std::vector<uint8_t>> inputs, outputs;

  int64_t columns() const { return read * block; }
  int64_t slots() const { return texts * context; }
  /// Numbers of a state that lie beside each other for one slot.
  int64_t vectors(size_t state) const {
    return TensorType(DType::FP32, states[state]).numElements();
  }
  uint64_t stateBytes() const;
  /// Whether its attention costs less than that of `other`, an entry with
  /// blocks of the same size; null for none.
  bool isCheaperThan(const DecodeEntry *other) const {
    return !other || context < other->context ||
           (context == other->context && starts && !other->starts);
  }
  /// What a run costs: reading the weights, and about as much again for every
  /// 16 columns, used or not.
  double cost() const { return 1 + double(columns()) / 16; }

  [[nodiscard]] bool prepare(Session &session, Diagnostics &diags);
  // Before a run.
  void clearTokens();
  void setToken(int64_t column, int32_t id) { set(tokens, column, id); }
  void setPosition(int64_t text, int32_t at) { set(position, text, at); }
  /// `index` counts the tokens that have logits.
  void setWanted(int64_t index, int32_t column) {
    set(*selection, index, column);
  }
  [[nodiscard]] bool run(Session &session, Diagnostics &diags);
  /// Copies a column of the logits to `to`.
  void readLogits(const Session &session, size_t column,
                  llvm::MutableArrayRef<float> to) const;

private:
  void set(size_t input, int64_t index, int32_t value);
};

/// The entries of `package` that decode `model`. Returns nothing, with the
/// reason reported, when one has another form or does not fit to the others.
[[nodiscard]] std::optional<std::vector<DecodeEntry>>
decodeEntries(const ModelPackage &package, llvm::StringRef model,
              Diagnostics &diags);

bool isDecodeRole(FunctionRole role);

/// The largest context.
int64_t longestContext(llvm::ArrayRef<DecodeEntry> entries);

/// Copies the first `count` elements of vectors of `from` elements to those of
/// vectors of `to`.
void copyVectors(const float *source, int64_t from, float *target, int64_t to,
                 int64_t vectors, size_t count);

} // namespace anec

#endif // ANEC_LIB_TRAIN_DECODEENTRY_H
