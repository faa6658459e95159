//===- ManifestTest.cpp - manifests that are printed ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Package/ModelPackage.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace anec;

namespace {

TEST(Manifest, IsNotPrintedLargerThanItIsRead) {
  ModelPackage package;
  package.compiler = "anec test";
  package.kernels.resize(100'000);
  std::string text, error;
  llvm::raw_string_ostream out(text);
  EXPECT_FALSE(printManifest(package, out, error));
  EXPECT_EQ(error, "it has more than 100000 objects");
  EXPECT_EQ(text, "");

  package.kernels.clear();
  EXPECT_TRUE(printManifest(package, out, error));
  EXPECT_NE(text, "");
}

} // namespace
