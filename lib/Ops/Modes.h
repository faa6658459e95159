//===- Modes.h - modes in rows ----------------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What a row says of a parameter that is a mode: that it has it, `mode`; the
/// constraint, `oneOf`; and the check of it, `checkMode`. All take the words
/// from the enumeration.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_OPS_MODES_H
#define ANEC_LIB_OPS_MODES_H

#include "lib/IR/ModeParam.h"
#include "lib/IR/OpDef.h"
#include <algorithm>
#include <array>
#include <type_traits>

namespace anec {

template <Worded Enum>
constexpr ParamDef mode(const ModeParam<Enum> &name,
                        llvm::StringLiteral doc = "") {
  return {name, ParamKind::Constant, {DType::String}, 0, 0, "", doc};
}
/// A mode with a default.
template <Worded Enum>
constexpr ParamDef mode(const ModeParam<Enum> &name,
                        std::type_identity_t<Enum> fallback,
                        llvm::StringLiteral doc = "") {
  return {name, ParamKind::Constant, {DType::String}, 0, 0, spelling(fallback),
          doc};
}

/// Checks that string constant `name` is one of `words`, and reports those and
/// the closest.
bool checkWord(InferContext &ctx, const ConstantParam &name,
               std::span<const llvm::StringLiteral> words);

/// Checks that the constant is the word of one of `modes`.
template <Worded Enum>
bool checkMode(InferContext &ctx, const ModeParam<Enum> &name,
               std::initializer_list<std::type_identity_t<Enum>> modes) {
  llvm::SmallVector<llvm::StringLiteral, 4> words;
  for (Enum each : modes)
    words.push_back(spelling(each));
  return checkWord(ctx, name, words);
}
/// The same for ops that take all of them.
template <Worded Enum>
bool checkMode(InferContext &ctx, const ModeParam<Enum> &name) {
  return checkWord(ctx, name, allWords<Enum>());
}

/// The name of an element type, one of `dtypes` of `checkDType`.
constexpr ParamDef dtypeName(const DTypeParam &name) {
  return {name, ParamKind::Constant, {DType::String}, 0, 0, ""};
}
constexpr ParamDef dtypeName(const DTypeParam &name, DType fallback) {
  return {name, ParamKind::Constant,     {DType::String}, 0,
          0,    facts(fallback).spelling};
}
bool checkDType(InferContext &ctx, const DTypeParam &name, DTypeSet dtypes);

namespace detail {

template <size_t size>
struct Text {
  char data[size];

  constexpr Text(const char (&text)[size]) { std::copy_n(text, size, data); }
};

/// Appends to `to`, and counts.
struct Sentence {
  char *to;
  size_t size = 0;

  constexpr void append(llvm::StringRef text) {
    for (size_t i = 0; i < text.size(); ++i, ++size)
      if (to)
        to[size] = text.data()[i];
  }
  template <Worded Enum>
  constexpr void appendWords() {
    size_t count = allWords<Enum>().size();
    for (size_t i = 0; i < count; ++i) {
      append(i == 0 ? "" : i + 1 == count ? " or " : ", ");
      append(allWords<Enum>()[i]);
    }
  }
};

template <Text before, Worded Enum, Text after>
struct OneOf {
  static constexpr size_t write(char *to) {
    Sentence sentence{to};
    sentence.append(llvm::StringRef(before.data, sizeof(before.data) - 1));
    sentence.appendWords<Enum>();
    sentence.append(llvm::StringRef(after.data, sizeof(after.data) - 1));
    return sentence.size;
  }
  static constexpr auto text = [] {
    std::array<char, write(nullptr)> result{};
    write(result.data());
    return result;
  }();
};

} // namespace detail

/// The constraint that a parameter is one of the modes, with the text around
/// them: `oneOf<"`pad_type` is ", PadType>` is "`pad_type` is valid, custom,
/// same or same_lower".
template <detail::Text before, Worded Enum, detail::Text after = "">
inline constexpr llvm::StringRef
    oneOf(detail::OneOf<before, Enum, after>::text.data(),
          detail::OneOf<before, Enum, after>::text.size());

} // namespace anec

#endif // ANEC_LIB_OPS_MODES_H
