//===- ErrorDescription.cpp - a known error as text -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Report/ErrorDescription.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

std::string anec::spelling(const ErrorMark &mark) {
  std::string text =
      mark.domain.empty()
          ? mark.text.str()
          : mark.domain.str() + " Code=" + llvm::itostr(mark.code);
  if (!mark.also.empty())
    text += " ... " + mark.also.str();
  return text;
}

std::vector<std::string> anec::spellings(const KnownError &error) {
  std::vector<std::string> texts;
  for (const ErrorMark &mark : error.marks)
    if (!mark.text.empty() || !mark.domain.empty())
      texts.push_back(spelling(mark));
  for (uint32_t status : error.statuses)
    if (status)
      texts.push_back("status 0x" + llvm::utohexstr(status, true));
  return texts;
}

std::string anec::describeRules(const KnownError &error) {
  std::vector<std::string> parts;
  for (const Rule *rule : error.rules)
    if (rule)
      parts.push_back(rule->id.str());
  size_t others = rulesOf(error).size() - parts.size();
  if (!others)
    return llvm::join(parts, ", ");
  llvm::ArrayRef<llvm::StringRef> families = error.ruleFamilies;
  families = families.take_until(
      [](llvm::StringRef family) { return family.empty(); });
  return (parts.empty() ? "" : llvm::join(parts, ", ") + " and ") +
         llvm::utostr(others) + (parts.empty() ? "" : " more") + " of " +
         llvm::join(families, ", ");
}

void anec::printKnownError(const KnownError &error, llvm::raw_ostream &out) {
  out << error.id << ": " << error.summary << "\n\n";
  for (auto [index, text] : llvm::enumerate(spellings(error)))
    out << (index ? "              " : "  written     ") << text << '\n';
  out << "  cause       " << error.cause << '\n'
      << "  remedy      " << error.remedy << '\n';
  if (std::string rules = describeRules(error); !rules.empty())
    out << "  rules       " << rules << '\n';
  out << "  source      " << error.source << '\n'
      << "  read        " << error.date << '\n'
      << "  confidence  " << spelling(error.confidence) << '\n';
  if (!error.conflict.empty())
    out << "  but         " << error.conflict << '\n';
  out << "\n`anec explain --log=FILE --program=MODEL` finds the ops that can "
         "cause it.\n";
}
