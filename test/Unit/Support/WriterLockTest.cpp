//===- WriterLockTest.cpp - who still writes a temporary file -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/WriterLock.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/TemporaryName.h"
#include "test/Unit/TemporaryFolder.h"
#include "gtest/gtest.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

using namespace anec;
using namespace anec::test;
using Names = std::vector<std::string>;

#if defined(__linux__)
/// What `flock` fails with; 0 to let it work.
static int lockError = 0;

/// Takes the place of the system's function in this program.
extern "C" int flock(int descriptor, int operation) {
  if (!lockError)
    return int(::syscall(SYS_flock, descriptor, operation));
  errno = lockError;
  return -1;
}
#endif

namespace {
/// A file with a temporary name for `a`, and its folder.
struct WriterLock : testing::Test {
  WriterLock() {
    std::error_code code;
    folder = Folder::open(place / "", code);
    name = temporaryName("a");
    descriptor = folder->create(name);
  }
  ~WriterLock() override { closeFile(); }
  void closeFile() {
    if (descriptor >= 0)
      ::close(std::exchange(descriptor, -1));
  }
  /// Whether another process would remove it.
  bool mayRemove(Diagnostics &diags) {
    std::string error;
    int opened = folder->openFile(name, error);
    bool may = mayRemoveLeftBehind(*folder, name, opened, diags);
    ::close(opened);
    return may;
  }
  TemporaryFolder place;
  std::optional<Folder> folder;
  std::string name;
  int descriptor;
  Diagnostics diags;
};
} // namespace

TEST_F(WriterLock, HoldsUntilTheLastDescriptorIsClosed) {
  ASSERT_TRUE(lockAsWriter(descriptor, *folder, name));
  EXPECT_FALSE(mayRemove(diags));
  int other = ::dup(descriptor);
  closeFile();
  EXPECT_FALSE(mayRemove(diags));
  ::close(other);
  EXPECT_TRUE(mayRemove(diags));
  EXPECT_TRUE(diags.all().empty());
}

TEST_F(WriterLock, IsLostToWhoRemovesTheFile) {
  int other = ::open((place / name).c_str(), O_RDONLY);
  ASSERT_TRUE(mayRemoveLeftBehind(*folder, name, other, diags));
  EXPECT_FALSE(lockAsWriter(descriptor, *folder, name));
  ASSERT_FALSE(folder->remove(name));
  ::close(other);
  EXPECT_FALSE(lockAsWriter(descriptor, *folder, name));
}

TEST_F(WriterLock, IsNotTakenOfAFileThatWasRenamed) {
  std::string error;
  int opened = folder->openFile(name, error);
  ASSERT_FALSE(folder->rename(name, "a"));
  EXPECT_FALSE(mayRemoveLeftBehind(*folder, name, opened, diags));
  ::close(opened);
}

#if defined(__linux__)
TEST_F(WriterLock, ANoteSaysWhereThereIsNone) {
  for (int error : {ENOLCK, EOPNOTSUPP, EINVAL}) {
    lockError = error;
    Diagnostics notes;
    EXPECT_TRUE(lockAsWriter(descriptor, *folder, name));
    EXPECT_FALSE(mayRemove(notes));
    AtomicFiles files(notes);
    OutputFile *file = files.add(place / "a");
    ASSERT_TRUE(file);
    *file << error;
    EXPECT_TRUE(files.commit());
    EXPECT_EQ(readBytes(place / "a"), std::to_string(error));
    lockError = 0;
    EXPECT_TRUE(folder->has(name));
    ASSERT_EQ(notes.all().size(), 2u);
    EXPECT_EQ("[" + notes.all()[0].kind->id.str() + "]",
              "[may-be-left-behind]");
  }
}
#endif
