//===- CoreMLInferenceTest.cpp - packages that Core ML would refuse -------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The compiler rewrites what Core ML infers otherwise; the writer itself
/// refuses it.
///
//===----------------------------------------------------------------------===//

#include "lib/CoreML/Writer.h"
#include "lib/IR/Text.h"
#include "lib/Ops/Ops.h"
#include "test/Unit/TemporaryFolder.h"
#include "gtest/gtest.h"

using namespace anec;
using namespace anec::test;

TEST(CoreMLInference, RefusesOtherTypes) {
  Diagnostics diags;
  std::unique_ptr<Module> module = parseIR(R"(
kernel @main(%x: fp16[2, 3]) -> (%y: fp16[2, 3]) {
  %zero = const() {val = fp16(0)} : fp16
  %one = const() {val = fp16(1)} : fp16
  %c = greater(%x, %zero) : bool[2, 3]
  %y = select(%c, %zero, %one) : fp16[2, 3]
  return %y
}
)",
                                           opTable(), diags);
  ASSERT_TRUE(module);
  TemporaryFolder folder;
  EXPECT_FALSE(writeCoreMLPackage(*module, folder / "m.mlpackage", {}, diags));
  EXPECT_NE(messages(diags).find("`y` of `select` is `fp16[2, 3]`, and Core ML "
                                 "infers `fp16` [inferred-type]"),
            std::string::npos)
      << messages(diags);
}
