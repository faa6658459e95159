//===- ProbedTarget.cpp - --target=FILE.json ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProbedTarget.h"
#include "../Diags.h"
#include "llvm/Support/JSON.h"

using namespace anec;

std::optional<ProbedTarget> anec::readProbedTarget(llvm::StringRef path,
                                                   Diagnostics &diags) {
  std::optional<llvm::StringRef> text = diags.addFile(path);
  if (!text)
    return std::nullopt;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(*text);
  if (!value) {
    diags.reportFile(path, diag::NoProbe, llvm::toString(value.takeError()));
    return std::nullopt;
  }
  const llvm::json::Object *object = value->getAsObject();
  std::optional<llvm::StringRef> target =
      object ? object->getString("target") : std::nullopt;
  const llvm::json::Array *assume =
      object ? object->getArray("assume") : nullptr;
  if (!target || !assume) {
    diags.reportFile(path, diag::NoProbe,
                     "it has no `target`, or no list called `assume`");
    return std::nullopt;
  }
  ProbedTarget probed;
  probed.target = target->str();
  for (const llvm::json::Value &element : *assume)
    probed.assumptions.push_back(element.getAsString().value_or("").str());
  return probed;
}
