//===- Inspection.mm - inspects the engine's interface --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Apple/Machine.h"
#include "Chaining.h"
#include "Engine.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace anec::ane;

/// Why programs cannot be staged in `folder`; empty when they can.
static std::string tryFolder(llvm::StringRef folder) {
  llvm::SmallString<128> stem(folder), made;
  llvm::sys::path::append(stem, "anec");
  if (std::error_code code = llvm::sys::fs::createUniqueDirectory(stem, made))
    return code.message();
  if (std::error_code code = llvm::sys::fs::remove(made))
    return code.message();
  return "";
}

bool AneInspection::suffices(AnePath path) const {
  return folderError.empty() && !isVirtualMachine.value_or(false) &&
         !llvm::is_contained(unopened, path) &&
         llvm::all_of(symbols, [&](const Symbol &symbol) {
           return symbol.found || !symbol.needed ||
                  !llvm::is_contained(symbol.paths, path);
         });
}

/// Opens the frameworks of all paths, so that their symbols can be found.
static E5rt openFrameworks(const AneOptions &options, AneInspection &found) {
  E5rt e5rt;
  for (AnePath path : anePaths) {
    OpenedFramework opened = openFramework(frameworkPath(options, path));
    if (!opened.library)
      found.unopened.push_back(path);
    if (path == options.path)
      found.openError = opened.error;
    if (path == AnePath::E5rt)
      e5rt = E5rt::find(opened.library);
  }
  return e5rt;
}

AneInspection anec::inspectAne(const AneOptions &options) {
  AneInspection found;
  found.framework = frameworkPath(options, options.path);
  found.symbols = inspectSymbols(openFrameworks(options, found));
  found.isVirtualMachine = isVirtualMachine();
  found.chip = chipName();
  found.system = systemName();
  found.temporaryFolder = temporaryFolder();
  found.folderError = tryFolder(found.temporaryFolder);
  found.compiles = options.compiles ? options.compiles->load() : 0;
  found.compileLimit = options.compileLimit;
  if (options.tryChaining)
    tryChaining(options, found);
  return found;
}
