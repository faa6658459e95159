//===- PassFlags.cpp - the flags of passes --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PassFlags.h"
#include "lib/Passes/Diags.h"
#include "lib/Report/PassStatistics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;

bool PassFlags::names(llvm::StringRef pass) const {
  return llvm::is_contained(llvm::split(passList, ','), pass);
}

bool PassFlags::read(BuildRequest &request, Diagnostics &diags) const {
  PassManagerOptions &options = request.options.passes;
  options.verifyNumerics = verifyNumerics;
  options.remarks = remarks;
  if (passLimit.getNumOccurrences())
    options.limit = passLimit;
  for (const std::string &name : printAfter)
    if (name != "all" && !findPass(name)) {
      reportUnknownPass(name, {"all"}, diags);
      return false;
    }
  if (!printAfter.empty())
    options.afterPass = [this](const PassDef &pass, const Function &function) {
      for (const std::string &name : printAfter)
        if (name == "all" || pass.name == name)
          printAfterPass(pass, function, llvm::errs());
    };
  request.hasPasses = passList.getNumOccurrences() != 0;
  return parsePipeline(llvm::join(skippedPasses, ","), request.skipped,
                       diags) &&
         parsePipeline(passList, request.options.modelPipelineOptions(),
                       options.passes, diags);
}
