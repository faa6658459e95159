//===- DiagnosticsTest.cpp - what reports say -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Texts with typed placeholders. What must not compile is in
/// test/Support/diagnostic-types.test.
///
//===----------------------------------------------------------------------===//

#include "anec/Support/Diagnostics.h"
#include "lib/Support/Diags.h"
#include "lib/Support/ShownText.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

namespace anec::diag {
ANEC_DECLARE_DIAG(Plain, Warning, "plain", "nothing to fill in")
ANEC_DECLARE_DIAG(Mixed, Error, "mixed",
                  "{1:int} of {2:num} in `{0}`; not {1:int}")
ANEC_DECLARE_DIAG(TextAlone, Error, "text-alone", "{0}")
} // namespace anec::diag

using namespace anec;

static_assert(std::is_same_v<decltype(diag::Plain), const diag::Kind<>>);
static_assert(
    std::is_same_v<decltype(diag::Mixed),
                   const diag::Kind<diag::Text, diag::Int, diag::Num>>);

TEST(Diagnostics, FillsPlaceholdersByType) {
  Diagnostics diags;
  diags.report({}, diag::Plain);
  diags.report({}, diag::Mixed, "x", -3, 2.5);
  diags.reportFile("f", diag::Mixed, std::string("y"), UINT64_MAX, 4);
  ASSERT_EQ(diags.all().size(), 3u);
  EXPECT_EQ(diags.all()[0].message, "nothing to fill in");
  EXPECT_EQ(diags.all()[1].message, "-3 of 2.5 in `x`; not -3");
  EXPECT_EQ(diags.all()[2].message,
            "18446744073709551615 of 4 in `y`; not 18446744073709551615");
  EXPECT_EQ(diags.all()[2].file, "f");
  EXPECT_EQ(diags.errorCount(), 2u);
}

TEST(Diagnostics, BracesInArgumentsStay) {
  Diagnostics diags;
  diags.report({}, diag::TextAlone, "{0} {1:int} }{");
  EXPECT_EQ(diags.all()[0].message, "{0} {1:int} }{");
}

TEST(Diagnostics, TakesFilledMessages) {
  Diagnostics diags;
  for (bool plain : {true, false})
    diags.report({}, plain ? diag::Plain() : diag::TextAlone('c'));
  EXPECT_EQ(diags.all()[0].kind, diag::Plain);
  EXPECT_EQ(diags.all()[1].kind, diag::TextAlone);
  EXPECT_EQ(diags.all()[1].message, "c");
}

TEST(Diagnostics, NotesAreFilledToo) {
  Diagnostics diags;
  diags.report({}, diag::Plain).note({}, diag::DidYouMean, "relu");
  ASSERT_EQ(diags.all()[0].notes.size(), 1u);
  EXPECT_EQ(diags.all()[0].notes[0].message, "did you mean `relu`?");
}

TEST(Diagnostics, DocsShowNoTypes) {
  EXPECT_EQ(diag::Mixed->shownText(), "{1} of {2} in `{0}`; not {1}");
}

/// As it is printed.
static std::string printed(const Diagnostics &diags) {
  std::string text;
  llvm::raw_string_ostream out(text);
  diags.print(out);
  return text;
}

TEST(ShownText, HasNoControlCharacters) {
  EXPECT_EQ(showText("a\\b \xc3\xa9 \xe2\x82\xac"),
            "a\\b \xc3\xa9 \xe2\x82\xac");
  EXPECT_EQ(showText("a\nb\r\t"), "a\\0Ab\\0D\\09");
  EXPECT_EQ(showText("\x1b[31m\x7f"), "\\1B[31m\\7F");
  // U+009B begins a sequence as ESC [ does. U+00A0 is a space.
  EXPECT_EQ(showText("\xc2\x9bm\xc2\xa0\xc2"), "\\C2\\9Bm\xc2\xa0\xc2");
  EXPECT_EQ(showText(llvm::StringRef("\0", 1)), "\\00");
}

TEST(ShownText, LinesAreNoCommands) {
  EXPECT_TRUE(isShownLine("\tx = relu(x)\t// y"));
  EXPECT_TRUE(isShownLine(""));
  EXPECT_FALSE(isShownLine("  ::error::x"));
  EXPECT_FALSE(isShownLine("##[group]x"));
  EXPECT_FALSE(isShownLine("x\t\x1b[2J"));
  EXPECT_FALSE(isShownLine(llvm::StringRef("x\0", 2)));
}

TEST(Diagnostics, PrintOneLineForEachMessage) {
  Diagnostics diags;
  diags.reportFile("f\n::error::g", diag::TextAlone, "x\n\x1b[2Jy");
  EXPECT_EQ(printed(diags),
            "f\\0A::error::g: error: x\\0A\\1B[2Jy [text-alone]\n");
}

TEST(Diagnostics, ShowLinesWithoutCommandsOnly) {
  Diagnostics diags;
  llvm::StringRef text = diags.addBuffer(llvm::MemoryBuffer::getMemBuffer(
      "one\n::error::two\nthree \x1b[2J\n", "f"));
  for (const char *word : {"one", "two", "three"}) {
    const char *at = text.data() + text.find(word);
    diags.report(
        {llvm::SMLoc::getFromPointer(at), llvm::SMLoc::getFromPointer(at + 3)},
        diag::TextAlone, "it");
  }
  EXPECT_EQ(printed(diags), "f:1:1: error: it [text-alone]\none\n^~~\n"
                            "f:2:10: error: it [text-alone]\n"
                            "f:3:1: error: it [text-alone]\n");
}

TEST(Diagnostics, ShowNoLinesOfFilesWhoseNamesAreEscaped) {
  Diagnostics diags;
  llvm::StringRef text =
      diags.addBuffer(llvm::MemoryBuffer::getMemBuffer("one\n", "f\n\x1b[2J"));
  diags.report({llvm::SMLoc::getFromPointer(text.data()),
                llvm::SMLoc::getFromPointer(text.data() + 3)},
               diag::TextAlone, "it");
  EXPECT_EQ(printed(diags), "f\\0A\\1B[2J:1:1: error: it [text-alone]\n");
}
