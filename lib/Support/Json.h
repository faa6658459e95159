//===- Json.h - reading JSON from files -------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Every JSON text that the library reads goes through these functions. Texts
/// of files are untrusted: nesting and the number of values are limited, and
/// equal keys are errors. The parser of llvm::json recurses without a limit,
/// keeps the last of equal keys, and copies arrays deeply while they grow; only
/// numbers and strings with escapes are left to it.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_JSON_H
#define ANEC_LIB_SUPPORT_JSON_H

#include "anec/Support/Diagnostics.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

namespace anec {

struct JsonLimits {
  size_t depth = 64;
  size_t objects = 100'000; ///< each takes about 5 KB
  size_t values = 5'000'000;
  size_t bytes = 100'000'000;
};

struct JsonError {
  std::string message;
  size_t offset = 0; ///< in the text
};

/// `number` as a JSON value, of which `getAsInteger` gives nothing where it is
/// beyond int64. LLVM 19 converts a double of exactly 2^63, which no int64
/// holds.
llvm::json::Value jsonNumber(double number);

/// Where the values of a text are, by JSON pointer (RFC 6901):
/// `/inputs/x/bias`, and an empty one for the whole text.
class JsonPlaces {
public:
  /// The pointers to a member and to an element of what is at `pointer`.
  static std::string member(llvm::StringRef pointer, llvm::StringRef key);
  static std::string element(llvm::StringRef pointer, size_t index);

  /// Invalid when there is no such value.
  SourceRange value(llvm::StringRef pointer) const;
  /// The text of a value; empty when there is no such value.
  llvm::StringRef text(llvm::StringRef pointer) const;
  /// Of the key of a member, in front of its value.
  SourceRange key(llvm::StringRef pointer) const;

  void addValue(llvm::StringRef pointer, llvm::StringRef text) {
    places[pointer].value = text;
  }
  void addKey(llvm::StringRef pointer, llvm::StringRef text) {
    places[pointer].key = text;
  }

private:
  struct Place {
    llvm::StringRef value, key;
  };
  llvm::StringMap<Place> places;
};

/// Parses `text`. Returns nothing, with `error` set, if it is not JSON, exceeds
/// `limits`, or has an object with two equal keys. Fills `places`, if it is not
/// null.
std::optional<llvm::json::Value> parseJson(llvm::StringRef text,
                                           JsonError &error,
                                           JsonLimits limits = {},
                                           JsonPlaces *places = nullptr);

/// Parses `text`, a buffer of `diags` or a part of one. Reports an error as
/// `kind` at its place in the text. Fills `places`, if it is not null.
[[nodiscard]] std::optional<llvm::json::Value>
parseJson(llvm::StringRef text, diag::Kind<diag::Text> kind, Diagnostics &diags,
          JsonPlaces *places = nullptr);

/// Parses the file at `path`. Reports an error as `kind`, or why the file
/// cannot be read.
[[nodiscard]] std::optional<llvm::json::Value>
readJson(llvm::StringRef path, diag::Kind<diag::Text> kind, Diagnostics &diags);

/// SHA-256 of `object` without its member `sha256`: a file that has it as a
/// member can be told from one that was changed. Neither white space nor the
/// order of members matters.
std::string digestOf(const llvm::json::Object &object);

} // namespace anec

#endif // ANEC_LIB_SUPPORT_JSON_H
