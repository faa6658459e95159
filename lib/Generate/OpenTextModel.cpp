//===- OpenTextModel.cpp - the language model of a package ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Generate/OpenTextModel.h"
#include "WholeForwardModel.h"
#include "anec/Generate/IncrementalModel.h"
#include "lib/Generate/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

std::unique_ptr<TextModel> anec::openTextModel(Session &session,
                                               llvm::StringRef entry,
                                               Diagnostics &diags) {
  const ModelPackage &package = session.package();
  if (hasDecodePrograms(package))
    return openIncrementalModel(session, {.model = entry.str()}, diags);
  std::vector<const PackagedEntry *> candidates;
  for (const PackagedEntry &candidate : package.entries)
    if (WholeForwardModel::canUse(candidate))
      candidates.push_back(&candidate);
  if (candidates.empty()) {
    diags.reportFile(package.folder, diag::NoLogits);
    return nullptr;
  }
  const PackagedEntry *chosen = chooseEntry(package, entry, candidates, diags);
  if (!chosen)
    return nullptr;
  if (!llvm::is_contained(candidates, chosen)) {
    diags.reportFile(package.folder, diag::EntryWithoutLogits, chosen->name);
    return nullptr;
  }
  return WholeForwardModel::open(session, *chosen, diags);
}
