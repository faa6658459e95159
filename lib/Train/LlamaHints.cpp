//===- LlamaHints.cpp - what a program says of its weights ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Formats/Source.h"
#include "anec/Ops/Ops.h"
#include "anec/Package/ModelPackage.h"
#include "anec/Package/ScheduleWalk.h"
#include "anec/Train/LlamaWeights.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

/// Takes the sizes of the model from the entries of `config`.
static void
readSizes(llvm::ArrayRef<std::pair<std::string, std::string>> config,
          LlamaHints &hints) {
  for (const auto &[name, value] : config)
    if (int64_t number; !llvm::StringRef(value).getAsInteger(10, number))
      hints.sizes[name] = number;
}

static void readModule(const Module &module, LlamaHints &hints) {
  readSizes(module.config, hints);
  hints.hasClassifier = false;
  for (const auto &function : module.functions)
    for (const Op &op : function->body()) {
      if (op.is(ops::Rope) && op.get(param::style) == "half_split")
        hints.rope = RopeStyle::HalfSplit;
      if (op.is(ops::Weight) && op.get(param::name).ends_with(".classifier"))
        hints.hasClassifier = true;
    }
  for (const Function *entry : entryPoints(module))
    if (entry->kind == FunctionKind::Host) {
      hints.model = llvm::StringRef(entry->name).split('.').first.str();
      break;
    }
}

static void readManifest(const ModelPackage &package, LlamaHints &hints) {
  readSizes(package.config, hints);
  hints.hasClassifier =
      llvm::any_of(package.weights, [](const PackagedWeight &weight) {
        return llvm::StringRef(weight.name).ends_with(".classifier");
      });
  hints.model = llvm::StringRef(package.entries.front()).split('.').first.str();
}

std::optional<LlamaHints> anec::readLlamaHints(llvm::StringRef path,
                                               const ReadOptions &options,
                                               Diagnostics &diags) {
  LlamaHints hints;
  hints.source = path.str();
  if (sourceFormat(path).stage == SourceStage::Package) {
    std::optional<ModelPackage> package =
        readPackage(path, diags, PackageCheck::Presence);
    if (!package)
      return std::nullopt;
    readManifest(*package, hints);
    return hints;
  }
  std::unique_ptr<Module> module = readSourceFile(path, options, diags);
  if (!module)
    return std::nullopt;
  readModule(*module, hints);
  return hints;
}
