//===- FrameworkError.cpp - what the engine's errors mean
//-----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FrameworkError.h"
#include "lib/Runtime/Diags.h"
#include "lib/Target/ErrorMatcher.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"

using namespace anec;
using namespace anec::apple;

static llvm::StringRef nameOf(Stage stage) {
  switch (stage) {
  case Stage::Compile:
    return "compiling";
  case Stage::Load:
    return "loading";
  case Stage::Evaluate:
    return "running";
  case Stage::Unload:
    return "unloading";
  }
  llvm_unreachable("no such stage");
}

/// `model.mil:3:5`, or `line 3, column 5`.
static void findPlace(llvm::StringRef raw, FrameworkError &error) {
  static constexpr const char *places[] = {
      "\\.mil:([0-9]+):?([0-9]*)",
      "line ([0-9]+)[^0-9a-zA-Z]*(col[umn]*[ :]*([0-9]+))?"};
  for (const char *place : places) {
    llvm::SmallVector<llvm::StringRef, 4> found;
    if (!llvm::Regex(place, llvm::Regex::IgnoreCase).match(raw, &found) ||
        found[1].getAsInteger(10, error.line))
      continue;
    if (found.back().getAsInteger(10, error.column))
      error.column = 0;
    return;
  }
}

/// `raw` as one line.
static std::string joinLines(llvm::StringRef raw) {
  std::string line;
  for (char c : raw)
    if ((unsigned char)(c) > ' ')
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  return line;
}

FrameworkError apple::decode(Stage stage, llvm::StringRef raw) {
  FrameworkError error;
  error.raw = raw.trim().str();
  if (error.raw.empty()) {
    // A compilation that fails without an error exceeds the limit, or is
    // refused.
    error.raw = "no error given";
    if (stage == Stage::Compile)
      error.known = &errors::Refused;
    return error;
  }
  std::vector<const KnownError *> found;
  for (const ErrorMatch::Found &match :
       ErrorMatcher().match(joinLines(error.raw), /*isEngines=*/true).found)
    found.push_back(match.error);
  dropVague(found);
  if (!found.empty() && !found.front()->isVague())
    error.known = found.front();
  findPlace(raw, error);
  return error;
}

/// The place in the program, whose text is added to the diagnostics.
static SourceRange placeOf(const FrameworkError &error, llvm::StringRef text,
                           Diagnostics &diags) {
  if (!error.line)
    return {};
  llvm::StringRef rest =
      diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "model.mil"));
  for (unsigned line = 1; line < error.line; ++line)
    rest = rest.split('\n').second;
  llvm::StringRef line = rest.split('\n').first;
  size_t column = error.column ? error.column - 1 : line.find_first_not_of(' ');
  if (line.empty())
    return {};
  // A column beyond the line belongs to another text.
  column = std::min(column, line.size() - 1);
  auto begin = llvm::SMLoc::getFromPointer(line.data() + column);
  return {begin, begin};
}

Diagnostics::Report apple::report(Stage stage, const FrameworkError &error,
                                  llvm::StringRef text, Diagnostics &diags) {
  SourceRange place = placeOf(error, text, diags);
  if (!error.known)
    return diags.report(place, diag::FrameworkUnknown, nameOf(stage),
                        error.raw);
  diag::Kind<diag::Text, diag::Text, diag::Text, diag::Text> kind(
      error.known->reported);
  return diags.report(place, kind, nameOf(stage), error.known->summary,
                      error.raw, error.known->remedy);
}
