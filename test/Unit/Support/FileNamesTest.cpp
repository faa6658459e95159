//===- FileNamesTest.cpp - names of files beside each other ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/FileNames.h"
#include "lib/Support/AtomicFile.h"
#include "test/Unit/TemporaryFolder.h"
#include "gtest/gtest.h"

using namespace anec;
using namespace anec::test;
using Names = std::vector<std::string>;

namespace {

TEST(FileNames, DifferInMoreThanCase) {
  FileNames names;
  EXPECT_TRUE(names.add("Block.mil"));
  EXPECT_TRUE(names.add("Blocks.mil"));
  EXPECT_FALSE(names.add("block.mil"));
  EXPECT_FALSE(names.add("Block.mil"));
  ASSERT_NE(names.find("BLOCK.MIL"), nullptr);
  EXPECT_EQ(*names.find("BLOCK.MIL"), "Block.mil");
  EXPECT_EQ(names.find("bloc.mil"), nullptr);
}

TEST(FileNames, AreNumberedInTheirOrder) {
  FileNames names;
  EXPECT_EQ(names.addStem("Y", ".npy"), "Y");
  EXPECT_EQ(names.addStem("y", ".npy"), "y-2");
  EXPECT_EQ(names.addStem("y", ".npy"), "y-3");
  // A name that looks like a numbered one.
  EXPECT_EQ(names.addStem("Z-2", ".npy"), "Z-2");
  EXPECT_EQ(names.addStem("z", ".npy"), "z");
  EXPECT_EQ(names.addStem("Z", ".npy"), "Z-3");
  // Only names with the same ending meet.
  EXPECT_EQ(names.addStem("Y", ".mil"), "Y");
}

TEST(FileNames, FoldOtherAlphabets) {
  FileNames names;
  EXPECT_TRUE(names.add("\u00c9TAT"));
  EXPECT_FALSE(names.add("\u00e9tat"));
  EXPECT_TRUE(names.add("\u0394"));
  EXPECT_FALSE(names.add("\u03b4"));
  EXPECT_TRUE(names.add("k"));
  EXPECT_FALSE(names.add("\u212a")); // the sign of kelvins
  EXPECT_TRUE(names.add("\u6771"));
  EXPECT_TRUE(names.add("\u897f"));
}

TEST(FileNames, FoldEncodingsOfAccents) {
  FileNames names;
  EXPECT_TRUE(names.add("caf\u00e9"));
  EXPECT_FALSE(names.add("cafe\u0301"));
  EXPECT_FALSE(names.add("CAFE\u0301"));
  EXPECT_TRUE(names.add("cafe"));
  EXPECT_TRUE(names.add("e\u0301e\u0301"));
  EXPECT_FALSE(names.add("\u00e9\u00e9"));
  // Syllables, and their letters.
  EXPECT_TRUE(names.add("x\ud55c"));
  EXPECT_FALSE(names.add("x\u1112\u1161\u11ab"));
}

TEST(FileNames, KeepBytesThatAreNoText) {
  FileNames names;
  EXPECT_TRUE(names.add("a\xff"));
  EXPECT_TRUE(names.add("a\xfe"));
  EXPECT_FALSE(names.add("A\xff"));
  EXPECT_TRUE(names.add(""));
}

TEST(FileNames, OfOneSetAreDistinct) {
  TemporaryFolder folder;
  Diagnostics diags;
  AtomicFiles files(diags);
  ASSERT_NE(files.add(folder / "new", "Y.npy"), nullptr);
  EXPECT_NE(files.add(folder / "new", "weights/y.npy"), nullptr);
  EXPECT_EQ(files.add(folder / "new", "y.npy"), nullptr);
  EXPECT_NE(messages(diags).find("`Y.npy` is the same file on a volume that "
                                 "ignores case"),
            std::string::npos)
      << messages(diags);
}

TEST(FileNames, NothingIsLeftOfARefusedSet) {
  TemporaryFolder folder;
  Diagnostics diags;
  {
    AtomicFiles files(diags);
    ASSERT_NE(files.add(folder / "new", "Y.npy"), nullptr);
    EXPECT_EQ(files.add(folder / "new", "y.npy"), nullptr);
  }
  EXPECT_EQ(folder.names(), Names{});
}

TEST(FileNames, OfTheUserAreTheirs) {
  TemporaryFolder folder;
  Diagnostics diags;
  AtomicFiles files(diags);
  EXPECT_NE(files.add(folder / "Y.npy"), nullptr);
  EXPECT_NE(files.add(folder / "y.npy"), nullptr);
  EXPECT_TRUE(files.commit());
  EXPECT_EQ(messages(diags), "");
}

} // namespace
