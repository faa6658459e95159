//===- ConfigText.h - the text of a config.json -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// config.json as it goes back to a folder: with the spelling of its numbers.
/// transformers tells `30.0` from `30`, and refuses the latter for some keys;
/// llvm::json::Value does not.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IMPORT_CONFIGTEXT_H
#define ANEC_LIB_IMPORT_CONFIGTEXT_H

#include "lib/Support/Json.h"

namespace anec {

class ConfigText {
public:
  ConfigText() = default;
  /// Of `object`, which is at `pointer` of the text that `places` are of.
  ConfigText(const llvm::json::Object &object, const JsonPlaces &places,
             llvm::StringRef pointer);

  bool empty() const { return members.empty(); }
  /// Gives the members those of `object`; what is equal keeps its text.
  void update(const llvm::json::Object &object);
  /// Sets a member to a string.
  void set(llvm::StringRef key, llvm::StringRef value);

  /// The object, whose members begin `indent` columns behind its end.
  std::string str(unsigned indent = 2, unsigned end = 0) const;

private:
  struct Member {
    std::string key;
    llvm::json::Value value;
    std::string text; ///< of `value`, without the file's indentation
  };
  std::vector<Member> members; ///< in the order of the file
};

} // namespace anec

#endif // ANEC_LIB_IMPORT_CONFIGTEXT_H
