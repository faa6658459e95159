//===- SourceTest.cpp - the table of source formats -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Formats/Source.h"
#include "test/Unit/TemporaryFolder.h"
#include "gtest/gtest.h"
#include <set>

using namespace anec;
using namespace anec::test;

namespace {

constexpr char mil[] =
    "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [4]> "
    "x) {\n        tensor<fp16, [4]> y = relu(x = x);\n    "
    "} -> (y);\n}\n";

TEST(Source, FormatsAreComplete) {
  std::set<llvm::StringRef> names, endings;
  for (const SourceFormat &format : sourceFormats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name.str();
    EXPECT_TRUE(endings.insert(format.ending).second) << format.name.str();
    EXPECT_TRUE(format.ending.starts_with(".")) << format.name.str();
    EXPECT_FALSE(format.summary.empty()) << format.name.str();
    EXPECT_NE(format.read, nullptr) << format.name.str();
    EXPECT_TRUE(format.isFolder || format.textFile.empty());
    EXPECT_EQ(sourceFormat(("folder/x" + format.ending).str()).name,
              format.name);
  }
}

TEST(Source, FormatFollowsFromTheEnding) {
  EXPECT_EQ(sourceFormat("a.tdsl").name, "tdsl");
  EXPECT_EQ(sourceFormat("a.mil.ir").name, "ir");
  EXPECT_EQ(sourceFormat("a.mlmodelc/").name, "mlmodelc");
  EXPECT_EQ(sourceFormat("a.anepkg//").name, "anepkg");
  EXPECT_EQ(sourceFormat("-").name, "tdsl");
  EXPECT_EQ(sourceFormat("a").name, "tdsl");
  EXPECT_EQ(sourceFormat("a.mil/b.ir").name, "ir");
}

TEST(Source, ReadsTextInMemory) {
  Diagnostics diags;
  Source source = textSource(mil, "nowhere/x.mil");
  EXPECT_EQ(source.format->stage, SourceStage::MIL);
  std::unique_ptr<Module> module = readSource(source, {}, diags);
  ASSERT_NE(module, nullptr) << messages(diags);
  EXPECT_EQ(module->functions.front()->name, "main");
}

TEST(Source, ReadsTheTextOfAFolder) {
  TemporaryFolder folder;
  ASSERT_FALSE(llvm::sys::fs::create_directory(folder / "vad.mlmodelc"));
  folder.write("vad.mlmodelc/model.mil", mil);
  Diagnostics diags;
  std::optional<Source> source = openSource(folder / "vad.mlmodelc/", diags);
  ASSERT_TRUE(source) << messages(diags);
  EXPECT_EQ(source->text, mil);
  EXPECT_NE(readSource(*source, {}, diags), nullptr) << messages(diags);
}

TEST(Source, ReportsWhatIsNotThere) {
  TemporaryFolder folder;
  for (const SourceFormat &format : sourceFormats()) {
    Diagnostics diags;
    std::string path = folder / ("none" + format.ending).str();
    EXPECT_EQ(readSourceFile(path, {}, diags), nullptr);
    EXPECT_TRUE(diags.hasErrors()) << format.name.str();
  }
}

TEST(Source, DefinesReachThePrograms) {
  Diagnostics diags;
  ReadOptions options;
  options.defines = {{"n", "8"}};
  Source source = textSource("config { n = 4; }\nkernel k(x: fp16[n, n]) -> "
                             "fp16[n, n] {\n  return relu(x);\n}\n",
                             "k.tdsl");
  std::unique_ptr<Module> module = readSource(source, options, diags);
  ASSERT_NE(module, nullptr) << messages(diags);
  EXPECT_EQ(module->functions.front()->parameters()[0]->type.shape,
            Shape({8, 8}));
}

} // namespace
