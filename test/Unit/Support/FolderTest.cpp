//===- FolderTest.cpp - names, and what is removed ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Support/Folder.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/FileName.h"
#include "lib/Support/TemporaryName.h"
#include "test/Unit/TemporaryFolder.h"
#include "gtest/gtest.h"
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

using namespace anec;
using namespace anec::test;
using Names = std::vector<std::string>;

TEST(FileName, LeadsNowhereElse) {
  for (const char *name :
       {"a", "a.b", "...", ".a", "a b", "-o", "50%d", "\xc3"})
    EXPECT_TRUE(isFileName(name)) << name;
  EXPECT_TRUE(isFileName(std::string(mostFileName, 'a')));
  for (const char *name :
       {"", ".", "..", "a/b", "/a", "a/", "a\\b", "a\nb", "\x7f", "\x1b[2J"})
    EXPECT_FALSE(isFileName(name)) << name;
  EXPECT_FALSE(isFileName(std::string(mostFileName + 1, 'a')));
  EXPECT_FALSE(isFileName(llvm::StringRef("a\0b", 3)));
}

TEST(FileName, PathsAreOfNames) {
  for (const char *path : {"a", "a/b", "a/b/c"})
    EXPECT_TRUE(isFilePath(path)) << path;
  for (const char *path :
       {"", "/a", "a/", "a//b", "../a", "a/../b", "a/.", "./a", "a/b\n"})
    EXPECT_FALSE(isFilePath(path)) << path;
}

TEST(FileName, IsShownOnOneLine) {
  EXPECT_EQ(showFileName("a\nb"), "a\\0Ab");
  EXPECT_EQ(showFileName(std::string(300, 'a')), std::string(60, 'a') + "...");
}

TEST(TemporaryName, LeadsToItsTarget) {
  for (const char *target : {"a", "a.bin", ".a", "a b.tmp", "\xff"}) {
    std::string name = temporaryName(target), path = "b/c/" + name;
    EXPECT_EQ(name.size(), std::strlen(target) + 21) << name;
    EXPECT_EQ(temporaryTarget(name), target) << name;
    EXPECT_EQ(withoutTemporaryEnd(path), "b/c/" + std::string(target));
    EXPECT_NE(temporaryName(target), temporaryName(target));
    for (char &letter : name) {
      letter ^= 1;
      EXPECT_EQ(temporaryTarget(name), "") << name;
      letter ^= 1;
    }
  }
  EXPECT_EQ(temporaryTarget("a.bin.0000000157da59a2.tmp"), "a.bin");
}

TEST(TemporaryName, OtherNamesHaveNoTarget) {
  for (const char *name : {"", "a", "a.tmp", ".tmp", "a.12-3.tmp",
                           "a.0000000100000000.tmp", "a.bin/.tmp"}) {
    EXPECT_EQ(temporaryTarget(name), "") << name;
    EXPECT_EQ(withoutTemporaryEnd(name), name);
  }
}

TEST(AtomicFiles, NamesInAFolderFollowNoLinks) {
  TemporaryFolder folder;
  folder.write("mine", "mine");
  ASSERT_EQ(::mkdir((folder / "out").c_str(), 0777), 0);
  ASSERT_EQ(::symlink("../mine", (folder / "out/link").c_str()), 0);
  ASSERT_EQ(::symlink("..", (folder / "out/up").c_str()), 0);
  ASSERT_EQ(::mkfifo((folder / "out/fifo").c_str(), 0666), 0);
  Diagnostics diags;
  AtomicFiles files(diags);
  for (const char *name : {"link", "up/mine", "up/new", "fifo", "../new", ""})
    EXPECT_EQ(files.add(folder / "out", name), nullptr) << name;
  OutputFile *file = files.add(folder / "out", "sub/a");
  ASSERT_NE(file, nullptr);
  *file << "a";
  EXPECT_TRUE(files.commit());
  EXPECT_EQ(readBytes(folder / "out/sub/a"), "a");
  EXPECT_EQ(readBytes(folder / "mine"), "mine");
}

TEST(AtomicFiles, FoldersInAFolderGoWithIt) {
  TemporaryFolder folder;
  Diagnostics diags;
  {
    AtomicFiles files(diags);
    ASSERT_NE(files.add(folder / "out", "a/b/c"), nullptr);
    EXPECT_EQ(files.add(folder / "out", "a/.."), nullptr);
  }
  EXPECT_EQ(folder.names(), Names{});
}

TEST(Folder, RemovesWhatIsKnown) {
  TemporaryFolder folder;
  std::error_code code;
  std::optional<Folder> opened = Folder::open(folder / "", code);
  ASSERT_TRUE(opened);
  for (const char *name : {"old", "old/sub"})
    ASSERT_EQ(::mkdir((folder / name).c_str(), 0777), 0);
  folder.write("old/a", "a");
  folder.write("old/sub/b", "b");
  folder.write("mine", "mine");
  ASSERT_EQ(::symlink("../mine", (folder / "old/link").c_str()), 0);
  auto all = [](llvm::StringRef, bool) { return true; };
  std::optional<Folder> old = opened->openFolder("old", code);
  ASSERT_TRUE(old);
  EXPECT_EQ(findForeign(*old, all), "link");
  EXPECT_EQ(findForeign(*old, [](llvm::StringRef path,
                                 bool) { return path != "sub/b"; }),
            "link");
  removeKnown(*opened, "old", all);
  EXPECT_EQ(old->names(), Names{"link"});
  EXPECT_EQ(readBytes(folder / "mine"), "mine");
  removeTree(folder / "old");
  EXPECT_FALSE(opened->has("old"));
  EXPECT_EQ(readBytes(folder / "mine"), "mine");
}

TEST(Folder, OpensNoLink) {
  TemporaryFolder folder;
  ASSERT_EQ(::mkdir((folder / "real").c_str(), 0777), 0);
  folder.write("real/a", "a");
  ASSERT_EQ(::symlink("real", (folder / "link").c_str()), 0);
  ASSERT_EQ(::symlink("a", (folder / "real/alias").c_str()), 0);
  std::error_code code;
  std::optional<Folder> opened = Folder::open(folder / "", code);
  ASSERT_TRUE(opened);
  EXPECT_FALSE(opened->openFolder("link", code));
  EXPECT_TRUE(code);
  removeTree(folder / "link");
  EXPECT_TRUE(opened->has("link"));
  std::optional<Folder> real = opened->openFolder("real", code);
  ASSERT_TRUE(real);
  std::string error;
  EXPECT_TRUE(real->read("a", error));
  EXPECT_FALSE(real->read("alias", error));
  EXPECT_EQ(error, "it is a symbolic link");
}
