//===- ErrorsPage.cpp - docs/reference/errors.md, from the known errors --===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Pages.h"
#include "anec/Report/ErrorDescription.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

static void printError(const KnownError &error, llvm::raw_ostream &out) {
  out << "\n### " << error.id << "\n\n" << error.summary << ".\n\n";
  for (const std::string &text : spellings(error))
    out << "- `` " << text << " ``\n";
  out << "- cause: " << error.cause << "\n- remedy: " << error.remedy << '\n';
  const char *before = "- rules: ";
  for (const Rule *rule : error.rules)
    if (rule) {
      out << before << "[" << rule->id << "](rules.md#" << rule->id << ")";
      before = ", ";
    }
  for (llvm::StringRef family : error.ruleFamilies)
    if (!family.empty()) {
      out << before << "[" << family << "](rules.md#" << family << ")";
      before = ", ";
    }
  if (llvm::StringRef(before) == ", ")
    out << '\n';
  out << "- source: " << error.source << "; read in " << error.date << ", "
      << spelling(error.confidence) << " confidence\n";
  if (!error.conflict.empty())
    out << "- but: " << error.conflict << '\n';
  if (error.isVague())
    out << "- vague: another error says why\n";
  if (error.isTransient)
    out << "- transient: the same call can succeed later\n";
}

void anec::printErrorsPage(llvm::raw_ostream &out) {
  out << "# Errors\n\n"
         "What the engine's software and Core ML write when something fails. "
         "`anec explain\n"
         "--log=FILE` finds these errors in a log, `--program=MODEL` shows the "
         "ops that can cause\n"
         "them, and `anec explain ERROR` prints one. Errors of `ane-run` have "
         "the same ids.\n\n"
         "None of it is documented by the vendor: an explanation is as good as "
         "its source. Case\n"
         "and blanks do not matter; words and numbers match as a whole. Of "
         "linked families, rules\n"
         "count whose impact is *error* or *warning*. Lines that look like an "
         "error and are not\n"
         "listed here are reported as unknown.\n\n"
      << allKnownErrors().size() << " errors, grouped by family.\n";
  for (auto &[family, rows] : byFamily(allKnownErrors())) {
    out << "\n## " << family << '\n';
    llvm::sort(rows, [](const KnownError *lhs, const KnownError *rhs) {
      return lhs->id < rhs->id;
    });
    for (const KnownError *error : rows)
      printError(*error, out);
  }
}
