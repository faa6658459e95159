//===- AtomicFileTest.cpp - files appear whole or not at all --------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/AtomicFile.h"
#include "test/Unit/TemporaryFolder.h"
#include "test/Unit/TemporaryPlace.h"
#include "gtest/gtest.h"
#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace anec;
using namespace anec::test;
using Names = std::vector<std::string>;

namespace {

TEST(AtomicFile, AppearsOnCommit) {
  TemporaryFolder folder;
  Diagnostics diags;
  AtomicFiles files(diags);
  OutputFile *file = files.add(folder / "out.mil");
  ASSERT_NE(file, nullptr);
  *file << "text " << 7;
  EXPECT_NE(folder.names(), Names{"out.mil"});
  EXPECT_TRUE(files.commit());
  EXPECT_EQ(folder.names(), Names{"out.mil"});
  EXPECT_EQ(readBytes(folder / "out.mil"), "text 7");
  EXPECT_EQ(messages(diags), "");
}

TEST(AtomicFile, ReplacesOnlyOnCommit) {
  TemporaryFolder folder;
  std::string path = folder.write("out", "before");
  Diagnostics diags;
  {
    AtomicFiles files(diags);
    *files.add(path) << "given up";
  }
  EXPECT_EQ(readBytes(path), "before");
  EXPECT_EQ(folder.names(), Names{"out"});
  AtomicFiles files(diags);
  *files.add(path) << "after";
  EXPECT_TRUE(files.commit(AtomicFiles::Durability::Synced));
  EXPECT_EQ(readBytes(path), "after");
  EXPECT_EQ(folder.names(), Names{"out"});
}

TEST(AtomicFile, CreatesFoldersAndTakesThemBack) {
  TemporaryFolder folder;
  Diagnostics diags;
  {
    AtomicFiles files(diags);
    ASSERT_NE(files.add(folder / "a/b/out"), nullptr);
    EXPECT_EQ(folder.names(), Names{"a/"});
  }
  EXPECT_EQ(folder.names(), Names{});
  AtomicFiles files(diags);
  *files.add(folder / "a/b/out") << "x";
  EXPECT_TRUE(files.commit());
  EXPECT_EQ(folder.names("a/b"), Names{"out"});
}

TEST(AtomicFile, PermissionsFollowTheUmask) {
  TemporaryFolder folder;
  mode_t before = ::umask(022);
  Diagnostics diags;
  AtomicFiles files(diags);
  *files.add(folder / "a/out") << "x";
  EXPECT_TRUE(files.commit());
  ::umask(before);
  struct stat status;
  ASSERT_EQ(::stat((folder / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0755u);
  ASSERT_EQ(::stat((folder / "a/out").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

TEST(AtomicFile, ReplacingKeepsPermissions) {
  TemporaryFolder folder;
  mode_t before = ::umask(022);
  struct stat status;
  // Wider than the umask allows, and narrower.
  for (mode_t mode : {0600u, 0664u, 0444u}) {
    folder.write("out", "old");
    ASSERT_EQ(::chmod((folder / "out").c_str(), mode), 0);
    Diagnostics diags;
    AtomicFiles files(diags);
    OutputFile *file = files.add(folder / "out");
    ASSERT_NE(file, nullptr);
    *file << "new";
    for (const std::string &name : folder.names()) {
      ASSERT_EQ(::stat((folder / name).c_str(), &status), 0);
      EXPECT_EQ(status.st_mode & 07777, mode) << name;
    }
    EXPECT_TRUE(files.commit());
    EXPECT_EQ(readBytes(folder / "out"), "new");
    ASSERT_EQ(::stat((folder / "out").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, mode);
    ASSERT_EQ(::chmod((folder / "out").c_str(), 0600), 0);
  }
  ::umask(before);
}

TEST(AtomicFile, WritesBlocksFromThreads) {
  TemporaryFolder folder;
  Diagnostics diags;
  AtomicFiles files(diags);
  OutputFile *file = files.add(folder / "out");
  std::vector<std::thread> threads;
  for (char c = 'a'; c < 'i'; ++c)
    threads.emplace_back([=] {
      std::string block(1000, c);
      file->writeAt(uint64_t(c - 'a') * 2000, block.data(), block.size());
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_TRUE(files.commit());
  std::string expected;
  for (char c = 'a'; c < 'i'; ++c)
    expected += std::string(1000, c) + std::string(c == 'h' ? 0 : 1000, '\0');
  EXPECT_EQ(readBytes(folder / "out"), expected);
}

TEST(AtomicFile, PercentSignsAreNoPlaceholders) {
  TemporaryFolder folder;
  Diagnostics diags;
  AtomicFiles files(diags);
  *files.add(folder / "100%/%%%%") << "x";
  EXPECT_TRUE(files.commit());
  EXPECT_EQ(folder.names("100%"), Names{"%%%%"});
}

TEST(AtomicFile, FollowsLinks) {
  TemporaryFolder folder;
  std::string target = folder.write("target", "before");
  ASSERT_EQ(::symlink(target.c_str(), (folder / "link").c_str()), 0);
  Diagnostics diags;
  AtomicFiles files(diags);
  *files.add(folder / "link") << "after";
  EXPECT_TRUE(files.commit());
  EXPECT_EQ(readBytes(target), "after");
  EXPECT_TRUE(llvm::sys::fs::is_symlink_file(folder / "link"));
}

TEST(AtomicFile, FolderInTheWay) {
  TemporaryFolder folder;
  Diagnostics diags;
  AtomicFiles files(diags);
  EXPECT_EQ(files.add(folder / ""), nullptr);
  EXPECT_EQ(messages(diags),
            "cannot write the file: Is a directory [cannot-write]\n");
}

TEST(AtomicFile, FileInTheWayOfAFolder) {
  TemporaryFolder folder;
  folder.write("weights", "");
  Diagnostics diags;
  AtomicFiles files(diags);
  EXPECT_EQ(files.add(folder / "weights/out.bin"), nullptr);
  EXPECT_TRUE(diags.hasErrors());
}

TEST(AtomicFile, NoPermission) {
  TemporaryFolder folder;
  ASSERT_EQ(::chmod((folder / "").c_str(), 0500), 0);
  // The superuser may write everywhere: be someone else for a moment.
  bool isRoot = ::geteuid() == 0;
  if (isRoot)
    ASSERT_EQ(::seteuid(65534), 0);
  Diagnostics diags;
  AtomicFiles files(diags);
  EXPECT_EQ(files.add(folder / "out"), nullptr);
  if (isRoot)
    ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(messages(diags),
            "cannot write the file: Permission denied [cannot-write]\n");
}

TEST(AtomicFile, FullDevice) {
  if (!llvm::sys::fs::exists("/dev/full"))
    GTEST_SKIP() << "this system has no /dev/full";
  Diagnostics diags;
  AtomicFiles files(diags);
  *files.add("/dev/full") << "x";
  EXPECT_FALSE(files.commit());
  EXPECT_EQ(messages(diags),
            "cannot write the file: No space left on device [cannot-write]\n");
  EXPECT_TRUE(llvm::sys::fs::exists("/dev/full"));
}

/// A limit on the size of files ends writing as a full disk does.
TEST(AtomicFile, NoSpaceLeavesNothing) {
  TemporaryFolder folder;
  folder.write("first", "before");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = {10000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Diagnostics diags;
  bool committed;
  {
    AtomicFiles files(diags);
    *files.add(folder / "first") << "fits";
    OutputFile *second = files.add(folder / "weights/second");
    std::string block(8000, 'x');
    second->writeAt(0, block.data(), block.size());
    second->writeAt(8000, block.data(), block.size());
    committed = files.commit();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(committed);
  EXPECT_EQ(messages(diags),
            "cannot write the file: File too large [cannot-write]\n");
  EXPECT_EQ(folder.names(), Names{"first"});
  EXPECT_EQ(readBytes(folder / "first"), "before");
}

static std::string textOf(const NamedFiles &files, llvm::StringRef name) {
  MappedFile file = files.lookup(name);
  return file ? file->getBuffer().str() : "none";
}

TEST(AtomicFile, StaysInMemory) {
  Diagnostics diags;
  NamedFiles memory;
  {
    AtomicFiles files(memory, "model", diags);
    *files.add("given up") << "text";
  }
  EXPECT_TRUE(memory.empty());
  AtomicFiles files(memory, "model", diags);
  OutputFile *weights = files.add("weights/a.bin");
  weights->writeAt(2, "end", 3);
  *files.add("a.mil") << "text " << 7;
  ASSERT_NE(files.add("empty"), nullptr);
  EXPECT_TRUE(memory.empty());
  EXPECT_TRUE(files.commit());
  *files.add("b.mil") << "later";
  EXPECT_TRUE(files.commit());
  EXPECT_EQ(memory.size(), 4u);
  EXPECT_EQ(textOf(memory, "weights/a.bin"), std::string("\0\0end", 5));
  EXPECT_EQ(textOf(memory, "a.mil"), "text 7");
  EXPECT_EQ(textOf(memory, "empty"), "");
  EXPECT_EQ(textOf(memory, "b.mil"), "later");
  EXPECT_EQ(messages(diags), "");
  EXPECT_EQ(files.add("../outside"), nullptr);
  EXPECT_NE(files.add("a.bin"), nullptr);
  EXPECT_EQ(files.add("A.bin"), nullptr);
  EXPECT_EQ(messages(diags),
            "`../outside` cannot be the name of a file in this folder "
            "[bad-file-name]\n"
            "cannot write the file: `a.bin` is the same file on a volume that "
            "ignores case [cannot-write]\n");
}

/// They write parts of a file, whose size is known before or is not.
TEST(AtomicFile, TakesBlocksFromThreadsInMemory) {
  constexpr size_t block = 1000, blocks = 400, threads = 4;
  for (size_t known : {size_t(0), block * blocks}) {
    Diagnostics diags;
    NamedFiles memory;
    AtomicFiles files(memory, "", diags);
    OutputFile *file = files.add("out");
    file->reserveExtraSpace(known);
    std::vector<std::thread> writers;
    for (size_t thread = 0; thread < threads; ++thread)
      writers.emplace_back([=] {
        for (size_t i = thread; i < blocks; i += threads) {
          std::string text(block, char('a' + i % 26));
          file->writeAt(i * block, text.data(), block);
        }
      });
    for (std::thread &writer : writers)
      writer.join();
    EXPECT_TRUE(files.commit());
    std::string text = textOf(memory, "out");
    ASSERT_EQ(text.size(), block * blocks);
    for (size_t i = 0; i < text.size(); ++i)
      ASSERT_EQ(text[i], char('a' + i / block % 26)) << i;
  }
}

TEST(AtomicFile, MoreThanTheDiskHasIsAnError) {
  Diagnostics diags;
  NamedFiles memory;
  AtomicFiles files(memory, "model", diags);
  OutputFile *file = files.add("weights.bin");
  file->reserveExtraSpace(uint64_t(1) << 62);
  file->writeAt(0, "x", 1);
  EXPECT_FALSE(files.commit());
  EXPECT_TRUE(memory.empty());
  std::string message = messages(diags);
  EXPECT_TRUE(llvm::StringRef(message).starts_with("cannot write the file: "))
      << message;
}

#ifdef __linux__ // Where the limit is read.
/// Restores a limit of the process.
class LimitedData {
public:
  explicit LimitedData(rlim_t most) {
    ::getrlimit(RLIMIT_DATA, &before);
    struct rlimit limited = before;
    limited.rlim_cur = most;
    ::setrlimit(RLIMIT_DATA, &limited);
  }
  LimitedData(const LimitedData &) = delete;
  ~LimitedData() { ::setrlimit(RLIMIT_DATA, &before); }

  /// Whether this machine has such limits: QEMU's emulation of a process
  /// accepts and ignores them.
  static bool works() {
    LimitedData limited(1 << 20);
    struct rlimit now = {};
    return !::getrlimit(RLIMIT_DATA, &now) && now.rlim_cur == 1 << 20;
  }

private:
  struct rlimit before;
};

TEST(AtomicFile, IsOnTheDiskWhereMemoryDoesNotSuffice) {
  if (!LimitedData::works())
    GTEST_SKIP() << "a limit of the data segment has no effect here";
  constexpr uint64_t MiB = 1 << 20, size = 3 << 20;
  TemporaryFolder folder;
  TemporaryPlace place(folder / "");
  Diagnostics diags;
  NamedFiles memory;
  AtomicFiles files(memory, "model", diags);
  OutputFile *file = files.add("weights.bin");
  file->writeAt(0, "begin", 5);
  {
    LimitedData limited(MiB);
    file->writeAt(size - 3, "end", 3);
  }
  EXPECT_EQ(folder.names(), Names{});
  EXPECT_TRUE(files.commit());
  std::string expected(size, '\0');
  expected.replace(0, 5, "begin").replace(size - 3, 3, "end");
  EXPECT_EQ(textOf(memory, "weights.bin"), expected);

  // An error is that of the disk.
  file = files.add("other.bin");
  {
    TemporaryPlace nowhere;
    LimitedData limited(MiB);
    file->writeAt(size - 3, "end", 3);
  }
  EXPECT_FALSE(files.commit());
  EXPECT_EQ(
      messages(diags),
      "cannot write the file: No such file or directory [cannot-write]\n");
}
#endif

} // namespace
