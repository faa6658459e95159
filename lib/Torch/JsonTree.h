//===- JsonTree.h - large JSON texts ----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The JSON of an archive has a few objects for every argument of a node: more
/// than 100,000 for a large model, of which llvm::json would make gigabytes.
/// This parser refers to the text where it can, leaves strings with escapes to
/// the one of Support, and also takes the words
/// `Infinity`, `-Infinity` and `NaN` that PyTorch 2.6 writes.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_TORCH_JSONTREE_H
#define ANEC_LIB_TORCH_JSONTREE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include <optional>
#include <string>
#include <vector>

namespace anec::torch {

class JsonValue;
struct JsonMember;

/// A value of a tree. Of a value of another kind, accessors give nothing.
class JsonValue {
public:
  enum class Kind : uint8_t {
    Null,
    False,
    True,
    Number,
    String,
    Array,
    Object
  };

  Kind kind = Kind::Null;

  bool isNull() const { return kind == Kind::Null; }
  bool isString() const { return kind == Kind::String; }
  bool isObject() const { return kind == Kind::Object; }
  std::optional<bool> boolean() const;
  std::optional<int64_t> integer() const;
  /// Also of the strings `Infinity`, `-Infinity` and `NaN`.
  std::optional<double> number() const;
  /// Empty if it is no string.
  llvm::StringRef text() const { return isString() ? word : ""; }
  llvm::ArrayRef<JsonValue> elements() const;
  llvm::ArrayRef<JsonMember> members() const;
  /// A null value if there is no such member.
  const JsonValue &operator[](llvm::StringRef key) const;

private:
  friend class JsonTree;
  friend class JsonTreeParser;
  llvm::StringRef word; ///< of strings and numbers
  const void *first = nullptr;
  size_t count = 0;
};

struct JsonMember {
  llvm::StringRef key;
  JsonValue value;
};

class JsonTree {
public:
  /// Parses `text`, which must outlive the tree. Returns false, with `error`
  /// set, if it is no JSON, too deep, or has an object with equal keys.
  bool parse(llvm::StringRef text, std::string &error);
  const JsonValue &root() const { return value; }

private:
  friend class JsonTreeParser;
  llvm::BumpPtrAllocator memory;
  JsonValue value;
};

} // namespace anec::torch

#endif // ANEC_LIB_TORCH_JSONTREE_H
