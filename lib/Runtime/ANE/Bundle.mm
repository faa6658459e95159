//===- Bundle.mm - staged files as the framework expects them -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Bundle.h"
#include "../Apple/Call.h"
#include "Protocols.h"
#include "anec/Support/MappedFile.h"
#include "lib/Runtime/Diags.h"
#include "lib/Support/Digest.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;
using namespace anec::ane;
using namespace anec::apple;
namespace fs = llvm::sys::fs;

/// The digests by file, whose form nobody has published: anything that is not
/// strings by strings counts as none.
static NSDictionary *hashesOf(id model) {
  NSDictionary *hashes = nil;
  // Without hashes, the report is shorter.
  (void)guardFramework([&] {
    if ([model respondsToSelector:@selector(perFileHashes)])
      hashes = [(id<AneInMemoryModel>)model perFileHashes];
  });
  return [hashes isKindOfClass:[NSDictionary class]] ? hashes : nil;
}

/// What the file at `path` is, where one with the digest `expected` should be.
static std::string compare(const std::string &path, llvm::StringRef expected) {
  if (fs::is_symlink_file(path))
    return "is a link";
  if (!fs::exists(path))
    return "is not there";
  std::string error;
  MappedFile file = mapFile(path, error);
  if (!file)
    return "cannot be read: " + error;
  std::string digest = sha256(bytesOf(*file));
  return expected.equals_insensitive(digest)
             ? "is what the framework expects"
             : "has the SHA-256 " + digest + ", and the framework expects " +
                   expected.str();
}

void ane::describeBundle(id model, const StagedProgram &staged,
                         Diagnostics::Report report) {
  @autoreleasepool {
    NSDictionary *hashes = hashesOf(model);
    NSArray *names =
        [[hashes allKeys] sortedArrayUsingSelector:@selector(compare:)];
    for (NSUInteger i = 0; i < [names count]; ++i) {
      id name = [names objectAtIndex:i];
      id hash = [hashes objectForKey:name];
      if (![name isKindOfClass:[NSString class]] ||
          ![hash isKindOfClass:[NSString class]])
        continue;
      std::string file = toString((NSString *)name);
      report.note({}, diag::AneBundleFile, file,
                  compare(staged.weightFile(file), toString((NSString *)hash)));
    }
  }
}
