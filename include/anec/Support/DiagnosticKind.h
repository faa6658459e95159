//===- DiagnosticKind.h - typed kinds of diagnostics ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The rows of the Diags.def files as typed constants. The text of a row has
/// placeholders, `{0}` for text, `{0:int}` for an integer and `{0:num}` for a
/// number, and the type of its constant lists them: a report with too few, too
/// many or wrongly typed arguments does not compile.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_SUPPORT_DIAGNOSTICKIND_H
#define ANEC_SUPPORT_DIAGNOSTICKIND_H

#include "anec/Support/Words.h"
#include "llvm/ADT/StringRef.h"
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace anec {

ANEC_ENUM(Severity, (Error, "error"), (Warning, "warning"), (Remark, "remark"),
          (Note, "note"))

namespace diag {

/// A row of a Diags.def file: its id, severity, and text with placeholders. The
/// kebab-case id is printed in brackets: `[broadcast-mismatch]`.
struct Definition {
  Severity severity;
  llvm::StringLiteral id, text;

  /// The text with `{0}` for every placeholder, as in the docs.
  std::string shownText() const;
  /// The text with `args` in place of the placeholders.
  std::string render(const std::vector<std::string> &args) const;
};

//===----------------------------------------------------------------------===//
// Types of arguments
//===----------------------------------------------------------------------===//

/// `{0}`: a string, or a character.
struct Text {
  template <typename T>
  static constexpr bool accepts =
      std::is_convertible_v<T, llvm::StringRef> || std::same_as<T, char>;
  static std::string spell(llvm::StringRef value) { return value.str(); }
  static std::string spell(char value) { return std::string(1, value); }
};

/// `{0:int}`: an integer.
struct Int {
  template <typename T>
  static constexpr bool accepts =
      std::is_integral_v<T> && !std::same_as<T, bool> && !std::same_as<T, char>;
  template <typename T>
  static std::string spell(T value) {
    return std::to_string(value);
  }
};

/// `{0:num}`: a floating-point number, or an integer.
struct Num {
  template <typename T>
  static constexpr bool accepts =
      std::is_floating_point_v<T> || Int::accepts<T>;
  static std::string spell(double value);
};

/// A compile-time error that names the argument and the placeholder's type when
/// they do not match.
template <size_t index, typename Param, typename Arg>
constexpr void checkArgument() {
  static_assert(Param::template accepts<Arg>,
                "this argument of a diagnostic has not the type of its "
                "placeholder: `{0}` is text, `{0:int}` an integer, and "
                "`{0:num}` a number");
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

/// Any diagnostic, for comparing and printing.
class AnyKind {
public:
  constexpr bool operator==(const AnyKind &other) const = default;
  constexpr const Definition *operator->() const { return definition; }

protected:
  constexpr explicit AnyKind(const Definition &definition)
      : definition(&definition) {}

private:
  const Definition *definition;
};

/// A diagnostic with its arguments, ready to be reported.
struct Message {
  AnyKind kind;
  std::vector<std::string> args;

  std::string render() const { return kind->render(args); }
};

/// A named diagnostic, such as `diag::CannotOpen`, whose placeholders have the
/// types `Params`. Diagnostics with the same types are interchangeable:
/// `isWeight ? diag::OneThing : diag::AnotherThing`.
template <typename... Params>
class Kind : public AnyKind {
public:
  constexpr explicit Kind(const Definition &definition) : AnyKind(definition) {}

  /// Fills the placeholders in their order.
  template <typename... Args>
  Message operator()(const Args &...args) const {
    constexpr bool sameCount = sizeof...(Args) == sizeof...(Params);
    static_assert(sameCount, "a diagnostic takes as many arguments as its text "
                             "has placeholders");
    if constexpr (sameCount) {
      checkArguments<std::decay_t<const Args &>...>(
          std::index_sequence_for<Args...>());
      return {*this, {Params::spell(args)...}};
    }
  }

private:
  template <typename... Args, size_t... indices>
  static constexpr void checkArguments(std::index_sequence<indices...>) {
    (checkArgument<indices, Params, Args>(), ...);
  }
};

//===----------------------------------------------------------------------===//
// Kinds from texts
//===----------------------------------------------------------------------===//

// Functions that are not constexpr: a call makes the compiler's error message
// state what is wrong with the text of a row.
void aPlaceholderHasNoIndexOfOneDigit();
void aPlaceholderHasAnUnknownType();
void aPlaceholderHasTwoTypes();
void aPlaceholderIsLeftOut();

/// The types of the placeholders of `text`, two bits for each, from the lowest
/// up: 1 is `Text`, 2 `Int`, 3 `Num`.
consteval uint32_t signatureOf(std::string_view text) {
  uint32_t signature = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '{')
      continue;
    unsigned shift = 2 * unsigned(text[at + 1] - '0');
    if (shift >= 20)
      aPlaceholderHasNoIndexOfOneDigit();
    std::string_view rest = text.substr(at + 2);
    uint32_t type = rest.starts_with("}")       ? 1
                    : rest.starts_with(":int}") ? 2
                    : rest.starts_with(":num}") ? 3
                                                : 0;
    if (type == 0)
      aPlaceholderHasAnUnknownType();
    uint32_t before = signature >> shift & 3;
    if (before != 0 && before != type)
      aPlaceholderHasTwoTypes();
    signature |= type << shift;
  }
  for (uint32_t left = signature; left != 0; left >>= 2)
    if ((left & 3) == 0)
      aPlaceholderIsLeftOut();
  return signature;
}

template <uint32_t code>
using ParamOf = std::conditional_t<code == 1, Text,
                                   std::conditional_t<code == 2, Int, Num>>;

/// The kind of a text with the types `Params`, followed by those of
/// `signature`.
template <uint32_t signature, typename... Params>
struct KindOf : KindOf<(signature >> 2), Params..., ParamOf<signature & 3>> {};
template <typename... Params>
struct KindOf<0, Params...> {
  using type = Kind<Params...>;
};

/// Every folder declares its diagnostics with this, in its Diags.h.
#define ANEC_DECLARE_DIAG(NAME, SEVERITY, ID, TEXT)                            \
  inline constexpr Definition NAME##Definition{Severity::SEVERITY, ID, TEXT};  \
  inline constexpr KindOf<signatureOf(TEXT)>::type NAME{NAME##Definition};

} // namespace diag
} // namespace anec

#endif // ANEC_SUPPORT_DIAGNOSTICKIND_H
