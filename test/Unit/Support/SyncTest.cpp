//===- SyncTest.cpp - files that survive a power failure ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/Sync.h"
#include "test/Unit/TemporaryFolder.h"
#include "gtest/gtest.h"
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <unistd.h>

using namespace anec;
using namespace anec::test;

namespace {
/// A system call that fails with each of `errors` in turn, and then succeeds.
struct Call {
  std::vector<int> errors;
  size_t calls = 0;

  int operator()(int) {
    size_t call = calls++;
    if (call >= errors.size())
      return 0;
    errno = errors[call];
    return -1;
  }
};
} // namespace

TEST(Sync, WaitsForTheDisk) {
  Call whole, plain;
  EXPECT_EQ(syncToDisk(3, whole, plain), 0);
  EXPECT_EQ(whole.calls, 1u);
  EXPECT_EQ(plain.calls, 0u);
}

TEST(Sync, AsksForLessWhereThereIsNoMore) {
  for (int error : {ENOTSUP, ENOTTY, EINVAL}) {
    Call whole{{error}}, plain;
    EXPECT_EQ(syncToDisk(3, whole, plain), 0);
    EXPECT_EQ(plain.calls, 1u) << error;
  }
  Call whole{{ENOTSUP}}, plain{{EIO}};
  EXPECT_EQ(syncToDisk(3, whole, plain), EIO);
}

TEST(Sync, ErrorsAreNotTakenForWhatIsMissing) {
  for (int error : {EIO, ENOSPC, EBADF}) {
    Call whole{{error}}, plain;
    EXPECT_EQ(syncToDisk(3, whole, plain), error);
    EXPECT_EQ(plain.calls, 0u) << error;
  }
}

TEST(Sync, SignalsDoNotEndIt) {
  Call whole{{EINTR, EINTR, ENOTSUP}}, plain{{EINTR}};
  EXPECT_EQ(syncToDisk(3, whole, plain), 0);
  EXPECT_EQ(whole.calls, 3u);
  EXPECT_EQ(plain.calls, 2u);
}

TEST(Sync, OfFilesAndFolders) {
  TemporaryFolder folder;
  std::string path = folder / "file";
  int file = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  EXPECT_EQ(syncToDisk(file), 0);
  ::close(file);
  EXPECT_EQ(syncToDisk(file), EBADF);
  int parent = ::open((folder / "").c_str(), O_RDONLY | O_DIRECTORY);
  EXPECT_EQ(syncToDisk(parent), 0);
  ::close(parent);
}
