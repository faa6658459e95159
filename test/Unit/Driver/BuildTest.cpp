//===- BuildTest.cpp - the table of outputs -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Driver/Build.h"
#include "test/Unit/TemporaryFolder.h"
#include "gtest/gtest.h"
#include <set>

using namespace anec;
using namespace anec::test;

namespace {

constexpr char program[] =
    "kernel k(x: fp16[4, 8]) -> fp16[4, 8] {\n  return relu(x);\n}\n";

TEST(Build, OutputsAreComplete) {
  std::set<llvm::StringRef> names, endings;
  for (const OutputFormat *format : outputFormats()) {
    EXPECT_TRUE(names.insert(format->name).second) << format->name.str();
    EXPECT_EQ(findOutputFormat(format->name), format);
    EXPECT_NE(format->compile, nullptr) << format->name.str();
    EXPECT_FALSE(format->summary.empty()) << format->name.str();
    if (format->ending.empty())
      continue;
    EXPECT_TRUE(endings.insert(format->ending).second) << format->name.str();
    EXPECT_EQ(outputFormat(("a/b" + format->ending).str()), format);
  }
  EXPECT_EQ(findOutputFormat("object"), nullptr);
}

TEST(Build, TheDefaultIsMIL) {
  for (llvm::StringRef path : {"", "-", "/dev/null"}) {
    EXPECT_EQ(outputFormat(path), &outputs::MIL) << path.str();
    EXPECT_EQ(wrongOutput(path), "");
  }
  EXPECT_EQ(outputFormat("m.anepkg/"), &outputs::Package);
}

TEST(Build, OtherEndingsAreNoOutputs) {
  for (llvm::StringRef path : {"out", "out.txt", "a.ir/out", "m.onnx", "m.mil2",
                               "m.MIL", ".mil.bak"}) {
    EXPECT_EQ(outputFormat(path), nullptr) << path.str();
    EXPECT_NE(wrongOutput(path).find(" ends in none of .mil, .mlpackage, "),
              std::string::npos);
  }
  const std::pair<const char *, const char *> meant[] = {
      {"a/m.mlpakage", "`a/m.mlpackage`"},
      {"m.MIL", "`m.mil`"},
      {"m.mlmodel", "`m.mlmodelc`"},
      {"m.anepkgs/", "`m.anepkg`"},
      {"m.htm", "`m.html`"},
      {"m.ml", "`m.mil`"}};
  for (auto [path, suggested] : meant)
    EXPECT_NE(wrongOutput(path).find("did you mean " + std::string(suggested)),
              std::string::npos)
        << wrongOutput(path);
}

TEST(Build, PrintsToAStreamOrWritesAFile) {
  TemporaryFolder folder;
  BuildRequest request;
  request.input = folder.write("k.tdsl", program);
  std::string text;
  llvm::raw_string_ostream stream(text);
  Diagnostics diags;
  BuildResult result;
  ASSERT_TRUE(build(request, outputs::MIL, {"", &stream}, result, diags))
      << messages(diags);
  EXPECT_NE(text.find("relu(x = "), std::string::npos) << text;
  EXPECT_NE(result.module, nullptr);
  EXPECT_FALSE(result.reports.empty());
  std::string path = folder / "k.mil";
  BuildResult again;
  ASSERT_TRUE(build(request, outputs::MIL, {path, &stream}, again, diags))
      << messages(diags);
  EXPECT_EQ(readBytes(path), text);
}

TEST(Build, LeavesOutPasses) {
  TemporaryFolder folder;
  BuildRequest request;
  request.input = folder.write("k.tdsl", program);
  request.skipped = {&passes::DCE};
  Diagnostics diags;
  BuildResult result;
  std::string text;
  llvm::raw_string_ostream stream(text);
  ASSERT_TRUE(build(request, outputs::Report, {"", &stream}, result, diags))
      << messages(diags);
  for (const PassReport &report : result.reports)
    EXPECT_NE(report.pass, &passes::DCE);
  request.hasPasses = true;
  BuildResult none;
  ASSERT_TRUE(build(request, outputs::IR, {"", &stream}, none, diags))
      << messages(diags);
  EXPECT_TRUE(none.reports.empty());
}

TEST(Build, AnErrorLeavesNothing) {
  TemporaryFolder folder;
  BuildRequest request;
  request.input = folder.write("k.tdsl", "kernel k(x: fp16[4]) -> fp16[4] {}");
  for (const OutputFormat *format : outputFormats()) {
    Diagnostics diags;
    BuildResult result;
    EXPECT_FALSE(
        build(request, *format, {folder / "out", nullptr}, result, diags));
    EXPECT_TRUE(diags.hasErrors()) << format->name.str();
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"k.tdsl"});
}

} // namespace
