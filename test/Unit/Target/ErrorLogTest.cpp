//===- ErrorLogTest.cpp - known errors and logs ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/ErrorLog.h"
#include "lib/Target/ErrorMatcher.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace anec;

/// The ids found in a line, with spaces between them.
static std::string idsIn(llvm::StringRef line, bool isEngines = false) {
  std::vector<const KnownError *> errors;
  for (const ErrorMatch::Found &found :
       ErrorMatcher().match(line, isEngines).found)
    errors.push_back(found.error);
  dropVague(errors);
  std::string ids;
  for (const KnownError *error : errors)
    ids += (ids.empty() ? "" : " ") + error->id.str();
  return ids;
}

static std::string idsOf(llvm::StringRef text) {
  std::string ids;
  for (const LoggedError &logged : findErrors(text).errors)
    ids += llvm::formatv("{0}:{1} ", logged.error->id, logged.first).str();
  return ids;
}

TEST(KnownErrors, RowsAreComplete) {
  llvm::StringSet<> ids, families;
  for (const Rule *rule : allRules()) {
    ids.insert(rule->id);
    families.insert(rule->family);
  }
  for (const KnownError *error : allKnownErrors()) {
    SCOPED_TRACE(error->id.str());
    EXPECT_TRUE(ids.insert(error->id).second) << "another row has this id";
    EXPECT_EQ(findKnownError(error->id), error);
    EXPECT_TRUE(error->id.starts_with("ane-") ||
                error->id.starts_with("coreml-") ||
                error->id.starts_with("coreai-"));
    EXPECT_FALSE(error->cause.empty() || error->remedy.empty() ||
                 error->source.empty() || error->date.empty());
    EXPECT_LE(error->vagueness, 2u);
    bool isWritten = error->statuses[0] != 0;
    for (const ErrorMark &mark : error->marks) {
      EXPECT_TRUE(mark.text.empty() || mark.domain.empty());
      EXPECT_EQ(mark.text.trim(), mark.text) << "blanks do not matter";
      isWritten |= !mark.text.empty() || !mark.domain.empty();
    }
    EXPECT_TRUE(isWritten) << "nothing tells it";
    for (llvm::StringRef family : error->ruleFamilies)
      EXPECT_TRUE(family.empty() || families.contains(family)) << family.str();
    // Rules come before the end of the list.
    EXPECT_TRUE(
        llvm::is_sorted(error->rules, [](const Rule *lhs, const Rule *rhs) {
          return lhs && !rhs;
        }));
  }
  EXPECT_EQ(findKnownError("no-such-error"), nullptr);
}

TEST(KnownErrors, AreLinkedToRules) {
  EXPECT_TRUE(errors::SurfaceSize.isCausedBy(rules::IoRow64));
  EXPECT_FALSE(errors::SurfaceSize.isCausedBy(rules::NoGather));
  // By family: errors and warnings, but nothing that is only slow.
  EXPECT_TRUE(errors::Refused.isCausedBy(rules::NoGather));
  EXPECT_FALSE(errors::Refused.isCausedBy(rules::ShallowProgram));
  EXPECT_EQ(
      rulesOf(errors::MemoryWindow),
      (std::vector<const Rule *>{&rules::WeightLimit, &rules::IoMaximum}));
  EXPECT_TRUE(rulesOf(errors::Cancelled).empty());
}

TEST(ErrorMatcher, NumbersMatchAsAWhole) {
  EXPECT_EQ(idsIn("ANEProgram: status=0x1d"), "ane-surface-size");
  EXPECT_EQ(idsIn("ANEProgram: STATUS = 0X0000001D)"), "ane-surface-size");
  EXPECT_EQ(idsIn("ANEProgram: status=0x1d4"), "");
  EXPECT_EQ(idsIn("ANEProgram: status=0x11d"), "");
  EXPECT_EQ(idsIn("ANEProgram: status=0x100000001d"), "");
  EXPECT_EQ(idsIn("ANEProgram: status=0x1dg"), "");
  EXPECT_EQ(idsIn("ANEProgram: status=00x1d"), "");
  EXPECT_EQ(idsIn("ANEProgram: bytes at 0x1d"), "");
  EXPECT_EQ(idsIn("ANEProgram: status was good, 0x1d"), "");
  EXPECT_EQ(idsIn("ANEProgram: status=0x"), "");
  EXPECT_EQ(idsIn("Program load failure (0x50004)"), "ane-too-many-programs");
  EXPECT_EQ(idsIn("Program load failure (0x5)"), "");
  // Another program's.
  EXPECT_EQ(idsIn("disk: status=0x1d"), "");
  EXPECT_EQ(idsIn("disk: 0x50004"), "");
  EXPECT_EQ(idsIn("disk: status=0x1d", /*isEngines=*/true), "ane-surface-size");
}

TEST(ErrorMatcher, CodesBelongToTheirDomains) {
  for (const char *form :
       {"Error Domain=com.apple.appleneuralengine Code=42 \"x\"",
        "(com.apple.appleneuralengine error 42.)",
        "com.apple.appleneuralengine 42: too small",
        "domain: \"com.apple.appleneuralengine\", code: 42",
        "com.apple.appleneuralengine:42", "com.apple.appleneuralengine 42"})
    EXPECT_EQ(idsIn(form), "ane-surface-size") << form;
  for (const char *other :
       {"Error Domain=com.apple.appleneuralengine Code=421",
        "Error Domain=com.apple.appleneuralengine Code=-42",
        "Error Domain=com.apple.appleneuralengine.compiler Code=42",
        "Error Domain=com.apple.appleneuralengine2 Code=42",
        "Error Domain=xcom.apple.appleneuralengine Code=42",
        "Error Domain=NSCocoaErrorDomain Code=42",
        "com.apple.appleneuralengine is 42 KB", "Code=42",
        "com.apple.appleneuralengine Code=99999999999"})
    EXPECT_EQ(idsIn(other), "") << other;
  EXPECT_TRUE(ErrorMatcher()
                  .match("Error Domain=com.apple.appleneuralengine Code=6")
                  .hasUnknownCode);
  EXPECT_FALSE(ErrorMatcher()
                   .match("Error Domain=NSCocoaErrorDomain Code=6 in aned")
                   .hasUnknownCode);
}

TEST(ErrorMatcher, TheLeastVagueErrorCounts) {
  const char *line = "E5RT: ANE inference operation failed: Error Domain="
                     "com.apple.appleneuralengine Code=8 status=0x12 : "
                     "statusType=0x9: Program Inference error";
  EXPECT_EQ(idsIn(line), "ane-cancelled");
  EXPECT_EQ(idsIn("com.apple.appleneuralengine Code=8"),
            "ane-inference-failed");
  EXPECT_EQ(idsIn("ANECCompile() FAILED: InvalidMILProgram"),
            "ane-invalid-program");
}

TEST(ErrorLog, GivesTheSameForAllBlocks) {
  std::string text =
      "a\nInvalidMILProgram\r\n\x1b[1mTensor width goes beyond limit\x1b[0m\n"
      "\x1b]8;;http://x\x1b\\ANECCompile() FAILED\x1b]8;;\x1b\\ end\n\n";
  std::string expected = "ane-invalid-program:2 ane-extent:3 ane-refused:4 ";
  EXPECT_EQ(idsOf(text), expected);
  for (size_t size = 1; size < 9; ++size) {
    ErrorLogReader reader;
    for (size_t at = 0; at < text.size(); at += size)
      reader.read(llvm::StringRef(text).substr(at, size));
    ErrorLog log = reader.finish();
    EXPECT_EQ(log.lines, 5u);
    std::string ids;
    for (const LoggedError &logged : log.errors)
      ids += llvm::formatv("{0}:{1} ", logged.error->id, logged.first).str();
    EXPECT_EQ(ids, expected) << size;
  }
}

TEST(ErrorLog, FindsWhatIsAnywhereInALongLine) {
  // Around the borders of the parts that a line is matched in.
  for (size_t before : {0u, 257900u, 258048u, 262100u, 262144u, 516000u}) {
    std::string text = std::string(before, 'x') + " InvalidMILProgram " +
                       std::string(300000, 'y');
    ErrorLog log = findErrors(text);
    ASSERT_EQ(log.errors.size(), 1u) << before;
    EXPECT_EQ(log.errors[0].count, 1u);
    EXPECT_LT(log.errors[0].excerpt.size(), 200u);
  }
}

TEST(ErrorLog, ShowsNothingThatATerminalInterprets) {
  ErrorLog log =
      findErrors("\x1b]0;x\a\x1b[31mInvalidMILProgram\x1b[m \x7f \xff "
                 "\xc2\x9b"
                 "31m \xe2\x80\xae \xe2\x80\x8b \xf0\x9f \xc3\xa9");
  ASSERT_EQ(log.errors.size(), 1u);
  EXPECT_EQ(log.errors[0].excerpt,
            "InvalidMILProgram ? ? ??31m ??? ??? ?? \xc3\xa9");
}

TEST(ErrorLog, CountsLinesOfUnknownErrors) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += "com.apple.appleneuralengine Code=" + std::to_string(900 + i) +
            " at 0x12345678\n";
  text += text;
  ErrorLog log = findErrors(text);
  EXPECT_EQ(log.unknownLines, 80u);
  ASSERT_EQ(log.unknown.size(), 16u);
  EXPECT_EQ(log.unknown[1].count, 2u);
  EXPECT_EQ(log.unknown[1].first, 2u);
  EXPECT_EQ(log.unknown[1].last, 42u);
  EXPECT_EQ(log.find(errors::Refused), nullptr);
}
