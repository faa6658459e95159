//===- Engine.mm - what the programs of a process share -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Engine.h"
#include "../Apple/Call.h"
#include "anec/Target/OSRange.h"
#include "lib/Runtime/Diags.h"
#include "lib/Target/OwnSystem.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

using namespace anec;
using namespace anec::ane;

std::string ane::temporaryFolder() {
  @autoreleasepool {
    return toString(NSTemporaryDirectory());
  }
}

// A folder that is removed with its program must not be shared, not even with
// an equal program that is created while this one is destroyed.
std::string Engine::nextSalt() {
  return process.empty() ? "" : process + "-" + std::to_string(++numbered);
}

static void warnOfWeightFiles(const AneOptions &options, Diagnostics &diags) {
  std::string system = options.macOS.empty() ? ownMacOS() : options.macOS;
  std::optional<OSVersion> version = OSVersion::parse(system);
  if (options.mostWeightFiles > 1 && version && *version >= OSVersion{{27}})
    diags.report({}, diag::AneWeightFiles, system);
}

std::shared_ptr<Engine> Engine::open(const AneOptions &options,
                                     Diagnostics &diags) {
  std::optional<PrivateFramework> framework =
      PrivateFramework::open(options, diags);
  if (!framework)
    return nullptr;
  warnOfWeightFiles(options, diags);
  auto engine = std::make_shared<Engine>();
  engine->framework = *framework;
  engine->options = options;
  if (!options.compiles)
    engine->options.compiles = std::make_shared<std::atomic<unsigned>>(0);
  if (!options.executor)
    engine->options.executor = std::make_shared<Executor>(1);
  engine->temporaryFolder = ane::temporaryFolder();
  engine->lastUse = std::chrono::steady_clock::now();
  // Process ids are reused; together with the time they are unique.
  if (!options.reuse)
    engine->process =
        std::to_string(llvm::sys::Process::getProcessId()) + "-" +
        std::to_string(
            std::chrono::system_clock::now().time_since_epoch().count());
  return engine;
}
