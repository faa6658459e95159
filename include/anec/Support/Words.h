//===- Words.h - enumerations that are written as words ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Declares an enumeration together with the words that programs, files and
/// flags have for its values, one entry each:
///
///     ANEC_ENUM(PadType, (Valid, "valid"), (SameLower, "same_lower"))
///
/// `spelling(PadType::Valid)` is the word and `parseWord<PadType>(text)` the
/// value. Code about the values is a switch without `default`: -Wswitch names
/// the places that lack a new one.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_SUPPORT_WORDS_H
#define ANEC_SUPPORT_WORDS_H

#include "llvm/ADT/StringRef.h"
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>

// ANEC_EACH(MACRO, (a, b), (c, d)) is MACRO(a, b), MACRO(c, d), for up to 64
// entries. Each takes another pass of the preprocessor over its text, and
// ANEC_EXPAND makes so many.
#define ANEC_EXPAND(...) ANEC_16(ANEC_16(ANEC_16(ANEC_16(__VA_ARGS__))))
#define ANEC_16(...) ANEC_4(ANEC_4(ANEC_4(ANEC_4(__VA_ARGS__))))
#define ANEC_4(...) ANEC_1(ANEC_1(ANEC_1(ANEC_1(__VA_ARGS__))))
#define ANEC_1(...) __VA_ARGS__
#define ANEC_PARENTHESES ()
#define ANEC_EACH(MACRO, ...) ANEC_EXPAND(ANEC_EACH_OF(MACRO, __VA_ARGS__))
#define ANEC_EACH_OF(MACRO, FIRST, ...)                                        \
  MACRO FIRST __VA_OPT__(, ANEC_EACH_AGAIN ANEC_PARENTHESES(MACRO, __VA_ARGS__))
#define ANEC_EACH_AGAIN() ANEC_EACH_OF

#define ANEC_ENUM_NAME(NAME, WORD) NAME
#define ANEC_ENUM_WORD(NAME, WORD) llvm::StringLiteral(WORD)

#define ANEC_ENUM(TYPE, ...)                                                   \
  enum class TYPE : uint8_t { ANEC_EACH(ANEC_ENUM_NAME, __VA_ARGS__) };        \
  inline constexpr llvm::StringLiteral TYPE##Words[] = {                       \
      ANEC_EACH(ANEC_ENUM_WORD, __VA_ARGS__)};                                 \
  constexpr std::span<const llvm::StringLiteral> wordsOf(TYPE) {               \
    return TYPE##Words;                                                        \
  }

namespace anec {

/// An enumeration that ANEC_ENUM declares.
template <typename Enum>
concept Worded = requires(Enum value) {
  { wordsOf(value) } -> std::same_as<std::span<const llvm::StringLiteral>>;
};

/// The words of all values, in their order.
template <Worded Enum>
constexpr std::span<const llvm::StringLiteral> allWords() {
  return wordsOf(Enum());
}

template <Worded Enum>
constexpr llvm::StringLiteral spelling(Enum value) {
  return wordsOf(value)[size_t(value)];
}

/// Nothing for text that is the word of no value.
template <Worded Enum>
std::optional<Enum> parseWord(llvm::StringRef text) {
  for (size_t index = 0; index < allWords<Enum>().size(); ++index)
    if (allWords<Enum>()[index] == text)
      return Enum(index);
  return std::nullopt;
}

} // namespace anec

#endif // ANEC_SUPPORT_WORDS_H
