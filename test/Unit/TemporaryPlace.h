//===- TemporaryPlace.h - where temporary files are made -------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_UNIT_TEMPORARYPLACE_H
#define ANEC_TEST_UNIT_TEMPORARYPLACE_H

#include <cstdlib>
#include <optional>
#include <string>

namespace anec::test {

/// While it lives, temporary files and folders are made in `folder`; none can
/// be made without one.
class TemporaryPlace {
public:
  explicit TemporaryPlace(const std::string &folder = "/nowhere/at/all") {
    if (const char *value = std::getenv("TMPDIR"))
      before = value;
    ::setenv("TMPDIR", folder.c_str(), /*overwrite=*/1);
  }
  TemporaryPlace(const TemporaryPlace &) = delete;
  ~TemporaryPlace() {
    if (before)
      ::setenv("TMPDIR", before->c_str(), /*overwrite=*/1);
    else
      ::unsetenv("TMPDIR");
  }

private:
  std::optional<std::string> before;
};

} // namespace anec::test

#endif // ANEC_TEST_UNIT_TEMPORARYPLACE_H
