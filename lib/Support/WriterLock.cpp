//===- WriterLock.cpp - who still writes a temporary file -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/WriterLock.h"
#include "lib/Support/FileDiags.h"
#include "llvm/ADT/STLExtras.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#if defined(__APPLE__)
#include <sys/mount.h>
#include <sys/param.h>
#else
#include <sys/vfs.h>
#endif

using namespace anec;

/// Takes the lock if no other process has it. Returns 0, or `errno`.
static int tryLock(int descriptor) {
  while (::flock(descriptor, LOCK_EX | LOCK_NB))
    if (errno != EINTR)
      return errno;
  return 0;
}

/// Whether `folder` calls `name` what `descriptor` has open.
static bool isAt(int descriptor, const Folder &folder, llvm::StringRef name) {
  struct stat own, there;
  return !::fstat(descriptor, &own) &&
         !::fstatat(folder.descriptor(), name.str().c_str(), &there,
                    AT_SYMLINK_NOFOLLOW) &&
         own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

bool anec::lockAsWriter(int descriptor, const Folder &folder,
                        llvm::StringRef name) {
  // Another process may have had the lock, and removed it.
  return tryLock(descriptor) != EWOULDBLOCK && isAt(descriptor, folder, name);
}

/// Whether all machines that have the file system of `descriptor` see the same
/// locks. Those of a network file system can be local to each machine, as a
/// server and the options of a mount decide.
static bool locksReachAll(int descriptor) {
  struct statfs volume;
  if (::fstatfs(descriptor, &volume))
    return false;
#if defined(__APPLE__)
  return volume.f_flags & MNT_LOCAL;
#else
  // From linux/magic.h: AFS, 9P, CIFS, Coda, FUSE, NFS, SMB and SMB 2.
  constexpr uint32_t shared[] = {0x5346414f, 0x01021997, 0xff534d42,
                                 0x73757245, 0x65735546, 0x6969,
                                 0x517b,     0xfe534d42};
  return !llvm::is_contained(shared, uint32_t(volume.f_type));
#endif
}

bool anec::mayRemoveLeftBehind(const Folder &folder, llvm::StringRef name,
                               int descriptor, Diagnostics &diags) {
  int error = locksReachAll(descriptor) ? tryLock(descriptor) : ENOTSUP;
  if (error && error != EWOULDBLOCK)
    diags.reportFile(folder.pathOf(name), diag::MayBeLeftBehind);
  return !error && isAt(descriptor, folder, name);
}
