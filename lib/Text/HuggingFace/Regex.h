//===- Regex.h - regular expressions of tokenizers --------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Regular expressions in the syntax of Oniguruma's Ruby, which tokenizers are
/// written in, run by PCRE2. Every match has a limit of steps, and a text one
/// of time.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_HUGGINGFACE_REGEX_H
#define ANEC_LIB_TRAIN_HUGGINGFACE_REGEX_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <optional>
#include <string>

namespace anec::hf {

/// `pattern` in PCRE2's syntax. Nothing, with `error` saying what is not
/// supported, for what would mean something else there, or has no counterpart.
std::optional<std::string> translatePattern(llvm::StringRef pattern,
                                            std::string &error);
/// A pattern that matches `text` alone.
std::string quotePattern(llvm::StringRef text);

class Regex {
public:
  ~Regex();
  Regex(Regex &&other);
  Regex &operator=(Regex &&other);

  /// Returns nothing, with `error` set, when `pattern` is not supported.
  static std::optional<Regex> compile(llvm::StringRef pattern,
                                      std::string &error);

  /// Calls `take` with the begin and end of each match in `text`, which follow
  /// each other and do not overlap. A match may be empty, but not where the one
  /// before it ends. Returns false, with `error` set, when a limit is exceeded.
  [[nodiscard]] bool
  forEachMatch(llvm::StringRef text,
               llvm::function_ref<void(size_t begin, size_t end)> take,
               std::string &error) const;
  /// Replaces these matches by `by`; changes nothing when it returns false.
  [[nodiscard]] bool replaceMatches(std::string &text, llvm::StringRef by,
                                    std::string &error) const;

private:
  struct Code;
  explicit Regex(std::unique_ptr<Code> code);
  std::unique_ptr<Code> code;
};

} // namespace anec::hf

#endif // ANEC_LIB_TRAIN_HUGGINGFACE_REGEX_H
