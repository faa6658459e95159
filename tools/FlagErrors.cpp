//===- FlagErrors.cpp - what is wrong with a flag -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FlagErrors.h"
#include "anec/Target/Target.h"

using namespace anec;
namespace cl = llvm::cl;

std::string anec::spellFlag(llvm::StringRef name) {
  return (name.size() == 1 ? "-" : "--") + name.str();
}

static std::vector<std::string> &refused() {
  static std::vector<std::string> errors;
  return errors;
}

llvm::ArrayRef<std::string> anec::flagErrors() { return refused(); }

bool anec::refuseValue(const cl::Option &flag, llvm::StringRef what,
                       llvm::StringRef text, const llvm::Twine &more) {
  refused().push_back((spellFlag(flag.ArgStr) + " takes " + what + ", not `" +
                       text + "`" + more)
                          .str());
  return true;
}

bool anec::refuseChoice(const cl::Option &flag, llvm::StringRef text,
                        const cl::generic_parser_base &values) {
  Suggestion suggestion(text);
  std::string list;
  for (unsigned i = 0, count = values.getNumOptions(); i < count; ++i) {
    // A flag whose value can be left out has an empty one.
    llvm::StringRef value = values.getOption(i);
    if (value.empty())
      continue;
    suggestion.consider(value);
    if (!list.empty())
      list += i + 1 == count ? " or " : ", ";
    list += value;
  }
  return refuseValue(flag, list, text, didYouMean(suggestion));
}

std::string anec::noTarget(llvm::StringRef name) {
  Suggestion suggestion(name);
  std::string known;
  for (const Target &target : allTargets()) {
    suggestion.consider(target.name);
    known += (known.empty() ? "" : ", ") + target.name.str();
  }
  return ("there is no target `" + name + "`; there are " + known +
          didYouMean(suggestion))
      .str();
}
