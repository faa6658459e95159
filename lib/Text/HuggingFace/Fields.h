//===- Fields.h - the members of a JSON object ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

///
/// \file
/// Objects of tokenizer.json are read member by member. The first error is
/// kept, after which members have their defaults: a reader checks for errors
/// once, at its end. Members that nobody asked for are errors, since they may
/// change ids.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TRAIN_HUGGINGFACE_FIELDS_H
#define ANEC_LIB_TRAIN_HUGGINGFACE_FIELDS_H

#include "anec/Support/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <type_traits>

namespace anec::hf {

/// The first error of a file.
struct ReadError {
  enum class Kind : uint8_t {
    None,
    Malformed,
    NotSupported,
    Type,
    Value,
    Pattern
  };
  Kind kind = Kind::None;
  /// What the message of the kind is about.
  std::string what, value, known;

  explicit operator bool() const { return kind != Kind::None; }
  void malformed(const llvm::Twine &what) { set(Kind::Malformed, what); }
  /// `what`: what the file asks for, such as "an added token of 2000 bytes".
  void notSupported(const llvm::Twine &what) { set(Kind::NotSupported, what); }
  /// A part of the tokenizer, such as "normalizer", is of a type that is none
  /// of `known`.
  void unknownType(llvm::StringRef part, llvm::StringRef type,
                   llvm::ArrayRef<llvm::StringRef> known);
  /// The member at `path` has a value that may change ids.
  void unknownValue(const llvm::Twine &path, llvm::StringRef value) {
    set(Kind::Value, path, value);
  }
  /// The regular expression at `path` cannot be read.
  void unknownPattern(llvm::StringRef path, const llvm::Twine &reason) {
    set(Kind::Pattern, path, reason);
  }
  void report(llvm::StringRef file, Diagnostics &diags) const;

private:
  void set(Kind newKind, const llvm::Twine &newWhat,
           const llvm::Twine &newValue = "") {
    if (kind == Kind::None) {
      kind = newKind;
      what = newWhat.str();
      value = newValue.str();
    }
  }
};

/// The types of the rows of several tables, for messages.
template <typename... Tables>
llvm::SmallVector<llvm::StringRef, 24> typesOf(const Tables &...tables) {
  llvm::SmallVector<llvm::StringRef, 24> types;
  auto add = [&](const auto &row) {
    if constexpr (std::is_pointer_v<std::decay_t<decltype(row)>>)
      types.push_back(row->type);
    else
      types.push_back(row.type);
  };
  auto addAll = [&](const auto &table) {
    for (const auto &row : table)
      add(row);
  };
  (addAll(tables), ...);
  llvm::sort(types);
  return types;
}

class Fields {
public:
  /// `path` is where `object` is in the file, such as `model`; empty for the
  /// file itself.
  Fields(const llvm::json::Object &object, std::string path, ReadError &error)
      : object(&object), where(std::move(path)), firstError(&error) {}

  llvm::StringRef path() const { return where; }
  /// `model.vocab`.
  std::string pathOf(llvm::StringRef key) const;
  ReadError &error() const { return *firstError; }

  /// The value of `key`; null when there is none or it is JSON's null.
  const llvm::json::Value *value(llvm::StringRef key);
  /// Accepts `key` with any value.
  void ignore(llvm::StringRef key) { (void)value(key); }

  // A required member, or one with a default.
  std::string text(llvm::StringRef key,
                   std::optional<llvm::StringRef> byDefault = std::nullopt);
  bool flag(llvm::StringRef key, std::optional<bool> byDefault = std::nullopt);
  int64_t number(llvm::StringRef key, int64_t least, int64_t most,
                 std::optional<int64_t> byDefault = std::nullopt);
  /// A text that may be missing or null.
  std::optional<std::string> optionalText(llvm::StringRef key);
  /// A required array or object; an empty one after an error.
  const llvm::json::Array &array(llvm::StringRef key);
  Fields fields(llvm::StringRef key);
  /// An object that may be missing or null.
  std::optional<Fields> optionalFields(llvm::StringRef key);
  /// Calls `take` with each object of the array `key`.
  void forEachObject(llvm::StringRef key,
                     llvm::function_ref<void(Fields &)> take);

  /// Reports members that were not asked for.
  void finish();

private:
  const llvm::json::Value *required(llvm::StringRef key, bool hasDefault);
  void wrongType(llvm::StringRef key, llvm::StringRef wanted);

  const llvm::json::Object *object;
  std::string where;
  ReadError *firstError;
  llvm::SmallVector<llvm::StringRef, 8> known;
};

} // namespace anec::hf

#endif // ANEC_LIB_TRAIN_HUGGINGFACE_FIELDS_H
