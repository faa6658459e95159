//===- CacheCommand.cpp - ane-run cache -----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../NumberFlag.h"
#include "CacheFlags.h"
#include "CommandTable.h"
#include "lib/Import/ModelCache.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatProviders.h"
#include "llvm/Support/FormatVariadic.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Cache : public Command {
public:
  ExitCode run(const Invocation &call) override {
    if (days.getNumOccurrences() && !purge)
      return call.usageError("--older-than is for --purge");
    if (days < 0)
      return call.usageError("--older-than takes a number of days, 0 or more");
    return runReporting([&](Diagnostics &diags) {
      std::string folder = modelCacheFolder();
      std::vector<CachedModel> models = modelsInCache(folder);
      if (!purge) {
        print(folder, models);
        return true;
      }
      auto since = std::chrono::system_clock::now() -
                   std::chrono::hours(24) * int64_t(days);
      llvm::erase_if(models, [&](const CachedModel &model) {
        return (days > 0 && model.used >= since) ||
               (!model.isReady && model.wasUsedLately());
      });
      bool ok = models.empty() || removeFromCache(folder, models, diags);
      if (ok)
        llvm::outs() << models.size() << " removed from " << folder << '\n';
      return ok;
    });
  }

private:
  static void print(llvm::StringRef folder,
                    llvm::ArrayRef<CachedModel> models) {
    uint64_t bytes = 0;
    for (const CachedModel &model : models) {
      bytes += model.bytes;
      llvm::outs() << llvm::formatv("{0:%Y-%m-%d %H:%M}", model.used)
                   << llvm::format("  %9.1f MB  ", double(model.bytes) / 1e6)
                   << model.name << '\n';
    }
    llvm::outs() << models.size() << " models, "
                 << llvm::format("%.1f MB", double(bytes) / 1e6) << ", in "
                 << folder << '\n';
  }

  cl::opt<bool> purge{"purge", cl::desc("Remove what is kept")};
  WholeFlag<int64_t> days{
      "older-than", cl::value_desc("DAYS"), cl::init(0),
      cl::desc("With --purge, only what was not used for so many days")};
};
} // namespace

constinit const CommandDef commands::Cache = {
    .name = "cache",
    .group = commands::models,
    .summary = "List or remove the packages that generate has compiled",
    .synopsis = "",
    .details =
        "  `ane-run generate FOLDER|MODEL.gguf` keeps the package that it "
        "compiles,\n  in the folder of the environment's ANEC_CACHE, or in "
        "the system's place for\n  caches. What was not used longest goes "
        "when there are more than 20 GB.\n",
    .examples = R"(  ane-run cache
  ane-run cache --purge --older-than=30
)",
    .make = makeCommand<::Cache>,
};
