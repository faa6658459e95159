//===- AtomicFolderTest.cpp - folders are replaced in one step ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/AtomicFolder.h"
#include "test/Unit/TemporaryFolder.h"
#include "gtest/gtest.h"
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace anec;
using namespace anec::test;
using Names = std::vector<std::string>;

namespace {

constexpr FolderKind kind = {
    "mark",
    [](llvm::StringRef path, bool) { return path == "mark"; },
    [](llvm::StringRef, std::vector<std::string> &, std::string &) {
      return true;
    },
};

/// Writes `path` with a file `mark`; returns whether that succeeds.
bool replace(const std::string &path) {
  Diagnostics diags;
  std::unique_ptr<AtomicFolder> made = AtomicFolder::create(path, kind, diags);
  if (!made)
    return false;
  int file = made->folder()->create("mark");
  return file >= 0 && !::close(file) && made->commit();
}

/// Runs `body` in a process of its own, which ends with 0 when it returns true.
template <typename Fn>
pid_t start(Fn body) {
  pid_t child = ::fork();
  if (!child)
    ::_exit(body() ? 0 : 1);
  return child;
}

bool succeeded(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

TEST(AtomicFolder, WritersAndReaderAtTheSameTime) {
  TemporaryFolder folder;
  std::string path = folder / "out";
  std::vector<pid_t> writers;
  for (int writer = 0; writer != 4; ++writer)
    writers.push_back(start([&] {
      for (int time = 0; time != 100; ++time)
        if (!replace(path))
          return false;
      return true;
    }));
#if defined(__linux__) || defined(__APPLE__)
  // There is a complete folder at any time. It can be removed while the path is
  // looked up, but not again and again.
  auto isComplete = [&] {
    for (int attempt = 0; attempt != 100; ++attempt)
      if (!::access((path + "/mark").c_str(), R_OK))
        return true;
    return false;
  };
  while (::access(path.c_str(), F_OK)) {
  }
  pid_t reader = start([&] {
    for (int time = 0; time != 5000; ++time)
      if (!isComplete() || ::access(path.c_str(), F_OK))
        return false;
    return true;
  });
  EXPECT_TRUE(succeeded(reader));
#endif
  for (pid_t writer : writers)
    EXPECT_TRUE(succeeded(writer));
  EXPECT_EQ(folder.names(), Names{"out/"});
}

TEST(AtomicFolder, ReplacingKeepsPermissions) {
  TemporaryFolder folder;
  std::string path = folder / "out";
  ASSERT_TRUE(replace(path));
  struct stat status;
  for (mode_t mode : {0700u, 0770u}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    ASSERT_TRUE(replace(path));
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, mode);
  }
}

TEST(AtomicFolder, ReplacesNoFile) {
  TemporaryFolder folder;
  std::string path = folder / "out";
  Diagnostics diags;
  std::unique_ptr<AtomicFolder> made = AtomicFolder::create(path, kind, diags);
  ASSERT_NE(made, nullptr);
  folder.write("out", "somebody's");
  EXPECT_FALSE(made->commit());
  made.reset();
  EXPECT_EQ(readBytes(path), "somebody's");
  EXPECT_EQ(folder.names(), Names{"out"});
}

} // namespace
