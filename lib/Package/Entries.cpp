//===- Entries.cpp - what a package can run -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Package/ModelPackage.h"
#include "lib/Package/Diags.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

PackagedEntry PackagedEntry::of(const Function &function) {
  PackagedEntry entry{
      function.name, function.role, function.of().str(), {}, {}};
  for (const auto &param : function.parameters())
    entry.inputs.push_back(
        {param->name, param->type, param->role(), param->mask});
  for (unsigned index = 0; index < function.numResults(); ++index)
    entry.outputs.push_back({function.resultNames()[index],
                             function.result(index)->type,
                             function.resultRoles()[index],
                             {}});
  return entry;
}

static std::optional<size_t> onlyOf(llvm::ArrayRef<PackagedValue> values,
                                    ValueRole role) {
  std::optional<size_t> found;
  for (auto [index, value] : llvm::enumerate(values)) {
    if (value.role != role)
      continue;
    if (found)
      return std::nullopt;
    found = index;
  }
  return found;
}

std::optional<size_t> PackagedEntry::inputOf(ValueRole role) const {
  return onlyOf(inputs, role);
}

std::optional<size_t> PackagedEntry::outputOf(ValueRole role) const {
  return onlyOf(outputs, role);
}

const PackagedEntry *ModelPackage::findEntry(llvm::StringRef name) const {
  for (const PackagedEntry &entry : entries)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

std::vector<const PackagedEntry *>
ModelPackage::findEntries(FunctionRole role, llvm::StringRef owner) const {
  std::vector<const PackagedEntry *> found;
  for (const PackagedEntry &entry : entries)
    if (entry.role == role && (owner.empty() || entry.owner == owner))
      found.push_back(&entry);
  return found;
}

static std::string listNames(llvm::ArrayRef<const PackagedEntry *> entries) {
  std::string text;
  for (const PackagedEntry *entry : entries)
    text += (text.empty() ? "`" : ", `") + entry->name + "`";
  return text;
}

const PackagedEntry *
anec::chooseEntry(const ModelPackage &package, llvm::StringRef name,
                  llvm::ArrayRef<const PackagedEntry *> candidates,
                  Diagnostics &diags) {
  if (!name.empty() || candidates.empty()) {
    const PackagedEntry *entry = package.findEntry(name);
    std::vector<const PackagedEntry *> all;
    for (const PackagedEntry &other : package.entries)
      all.push_back(&other);
    if (!entry)
      diags.reportFile(package.folder, diag::NoSuchEntry, name, listNames(all));
    return entry;
  }
  if (candidates.size() == 1)
    return candidates.front();
  diags.reportFile(package.folder, diag::SeveralEntries, listNames(candidates));
  return nullptr;
}
