//===- ProbedTarget.cpp - --target=FILE.json ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProbedTarget.h"
#include "../Diags.h"
#include "anec/Target/Rule.h"
#include "anec/Target/Target.h"
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
  if (!findTarget(*target)) {
    diags.reportFile(path, diag::NoProbe,
                     "there is no target `" + target->str() + "`");
    return std::nullopt;
  }
  ProbedTarget probed;
  probed.target = target->str();
  for (const llvm::json::Value &element : *assume) {
    std::optional<llvm::StringRef> text = element.getAsString();
    auto [rule, verdict] = text.value_or("").split('=');
    if (!findRule(rule) || (verdict != "allow" && verdict != "deny")) {
      diags.reportFile(path, diag::NoProbe,
                       "`assume` has something else than `RULE=allow` and "
                       "`RULE=deny`");
      return std::nullopt;
    }
    probed.assumptions.push_back(text->str());
  }
  return probed;
}
