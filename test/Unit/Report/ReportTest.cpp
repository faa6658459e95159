//===- ReportTest.cpp - drawings and findings -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/FindingReport.h"
#include "lib/Report/LayeredDrawing.h"
#include "lib/Report/ReferencePages.h"
#include "test/Unit/TemporaryFolder.h"
#include "gtest/gtest.h"
#include <set>

using namespace anec;
using namespace anec::test;

namespace anec::diag {
ANEC_DECLARE_DIAG(MyOwn, Warning, "my-own", "a | b `{0}`")
} // namespace anec::diag

namespace {

std::string printed(LayeredDrawing drawing) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  drawing.print("a <graph>", stream);
  return text;
}

unsigned count(llvm::StringRef text, llvm::StringRef word) {
  return unsigned(text.count(word));
}

TEST(LayeredDrawing, DrawsNodesAndEdgesOnce) {
  LayeredDrawing drawing;
  unsigned a = drawing.addNode({"a&b", "", "x < y", "input"});
  unsigned b = drawing.addNode({"b", "1x8", "", "op"});
  unsigned c = drawing.addNode({"c", "", "", "output"});
  drawing.addEdge(a, b);
  drawing.addEdge(b, c);
  drawing.addEdge(a, c);
  drawing.addEdge(a, c);
  std::string svg = printed(drawing);
  EXPECT_EQ(count(svg, "<path "), 3u);
  EXPECT_EQ(count(svg, "<rect "), 3u);
  EXPECT_EQ(count(svg, "class=\"detail\""), 1u);
  EXPECT_NE(svg.find("a&amp;b"), std::string::npos);
  EXPECT_NE(svg.find("<title>x &lt; y</title>"), std::string::npos);
  EXPECT_NE(svg.find("aria-label=\"a &lt;graph&gt;\""), std::string::npos);
  EXPECT_EQ(svg, printed(drawing)) << "not deterministic";
}

TEST(LayeredDrawing, MayBeEmpty) {
  LayeredDrawing drawing;
  EXPECT_TRUE(drawing.empty());
  EXPECT_EQ(count(printed(drawing), "<rect"), 0u);
}

TEST(FindingReport, DeniedRulesAreErrors) {
  const Rule *rule = nullptr;
  for (const Rule *candidate : allRules())
    if (candidate->severity(EnginePath::InMemory) != Severity::Error)
      rule = candidate;
  ASSERT_NE(rule, nullptr);
  CheckResult result;
  result.findings.push_back(
      {rule, {}, "what was found", "", {&genericTarget()}});
  EXPECT_FALSE(result.reaches(Severity::Error));
  result.assumptions.denied.push_back(rule);
  EXPECT_TRUE(result.reaches(Severity::Error));

  Diagnostics diags;
  std::string json, sarif, text;
  {
    llvm::raw_string_ostream out(json), log(sarif);
    printFindingsJson(result, diags, out);
    printFindingsSarif(result, diags, log);
  }
  EXPECT_NE(json.find("\"severity\": \"error\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"diagnostics\": []"), std::string::npos) << json;
  EXPECT_NE(sarif.find("\"level\": \"error\""), std::string::npos) << sarif;
  llvm::raw_string_ostream out(text);
  printFindings(result, FindingDetail::All, ReportStyle(), diags, out);
  EXPECT_NE(text.find("generic: 1 error, 0 warnings, 0 remarks"),
            std::string::npos)
      << text;
}

TEST(ReferencePages, ListsDiagnosticsOfTheCaller) {
  for (llvm::StringRef name : referencePageNames()) {
    std::string text;
    llvm::raw_string_ostream out(text);
    EXPECT_TRUE(printReferencePage(name, {diag::MyOwn}, out));
    EXPECT_EQ(text.find("## my-own\n\n**warning:** a | b `{0}`\n") !=
                  std::string::npos,
              name == "diagnostics")
        << name.str();
  }
  EXPECT_FALSE(printReferencePage("types", {}, llvm::nulls()));
}

TEST(ReferencePages, IdsOfDiagnosticsAreUnique) {
  std::set<llvm::StringRef> ids;
  for (diag::AnyKind kind : libraryDiagnostics())
    EXPECT_TRUE(ids.insert(kind->id).second) << kind->id.str();
}

} // namespace
