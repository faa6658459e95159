//===- ErrorLog.cpp - finding known errors in logs ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Target/ErrorLog.h"
#include "lib/Support/Diags.h"
#include "lib/Support/ReadFile.h"
#include "lib/Target/ErrorMatcher.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Unicode.h"
#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

using namespace anec;

/// Longer lines are matched in parts of this size, which overlap, so that a
/// mark at a border is found.
static constexpr size_t mostOfLine = size_t(1) << 18;
static constexpr size_t overlap = size_t(1) << 12;
/// What is shown of a line.
static constexpr size_t mostOfExcerpt = 160;
/// What can be an error without naming the engine.
static constexpr size_t mostAlone = 24;
/// Different unknown lines that are kept.
static constexpr size_t mostUnknown = 16;

//===----------------------------------------------------------------------===//
// Excerpts
//===----------------------------------------------------------------------===//

/// Whether a terminal shows it as one character, and does nothing else.
static bool isShown(llvm::UTF32 c) {
  return llvm::sys::unicode::isPrintable(int(c)) &&
         !llvm::sys::unicode::isFormatting(int(c));
}

/// The characters of `text` that can be printed; others become `?`.
static std::string printable(llvm::StringRef text) {
  std::string shown;
  auto at = reinterpret_cast<const llvm::UTF8 *>(text.bytes_begin());
  auto end = reinterpret_cast<const llvm::UTF8 *>(text.bytes_end());
  while (at < end) {
    const llvm::UTF8 *begin = at;
    llvm::UTF32 c;
    if (llvm::convertUTF8Sequence(&at, end, &c, llvm::strictConversion) ==
            llvm::conversionOK &&
        isShown(c)) {
      shown.append(reinterpret_cast<const char *>(begin), at - begin);
      continue;
    }
    at = begin + 1;
    shown += '?';
  }
  return shown;
}

/// The part of `line` around `at`.
static std::string excerptOf(llvm::StringRef line, size_t at) {
  size_t begin = at;
  // From the beginning, if what was found is in the first half of that.
  if (at < mostOfExcerpt / 2)
    begin = 0;
  // Parts begin and end with whole characters.
  auto isInside = [&](size_t place) {
    return place < line.size() && (line[place] & 0xc0) == 0x80;
  };
  size_t end = std::min(line.size(), begin + mostOfExcerpt);
  while (end > begin && isInside(end))
    --end;
  std::string text = printable(line.slice(begin, end).rtrim());
  return (begin ? "..." : "") + text + (end < line.size() ? "..." : "");
}

/// `text` without its long numbers, such as addresses, which differ where the
/// error is the same.
static std::string withoutAddresses(llvm::StringRef text) {
  constexpr size_t leastDigits = 5;
  std::string rest;
  while (!text.empty()) {
    size_t digits = 0;
    while (digits < text.size() && llvm::isHexDigit(text[digits]))
      ++digits;
    if (digits < leastDigits)
      rest += text.take_front(std::max<size_t>(digits, 1));
    text = text.drop_front(std::max<size_t>(digits, 1));
  }
  return rest;
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

namespace {

/// Skips what a terminal does not show. A line break ends every sequence.
class EscapeFilter {
public:
  /// Whether `c` is a part of the text.
  bool isText(char c) {
    switch (state) {
    case Text:
      if (c == '\x1b')
        state = Escape;
      return c != '\x1b' && c != '\0';
    case Escape:
      state = c == '['                           ? Control
              : c == ']' || c == 'P' || c == '_' ? String
                                                 : Text;
      return false;
    case Control:
      if (c >= 0x40 && c <= 0x7e)
        state = Text;
      return false;
    case String:
      // Ends with BEL, or with the escape of `ESC \`.
      if (c == '\a')
        state = Text;
      if (c == '\x1b')
        state = Escape;
      return false;
    }
    return true;
  }
  void endLine() { state = Text; }

private:
  enum { Text, Escape, Control, String } state = Text;
};

} // namespace

struct ErrorLogReader::State {
  ErrorMatcher matcher;
  EscapeFilter escapes;
  ErrorLog log;
  /// The line so far, or its last part, with its number.
  std::string line;
  uint64_t number = 1;
  /// Whether the line has characters, even if none of them are in `line`.
  bool hasLine = false;

  /// What the parts of the line said.
  struct Match {
    const KnownError *error;
    std::string excerpt;
  };
  std::vector<Match> matches;
  std::string unknown, unknownKey;
  bool isSuspect = false;
  /// The first line with text, if it is short, and the number of such lines.
  std::string firstText;
  uint64_t textLines = 0;

  void add(char c);
  void matchPart();
  void endLine();
  void matchAlone();
  void countMatches();
  void count(LoggedLines &lines, const std::string &excerpt) const;
  void countUnknown();

private:
  std::vector<std::string> unknownKeys;
};

void ErrorLogReader::State::add(char c) {
  hasLine = true;
  if (!escapes.isText(c))
    return;
  bool isBlank = (unsigned char)(c) <= ' ';
  if (isBlank && (line.empty() || line.back() == ' '))
    return;
  line += isBlank ? ' ' : c;
  if (line.size() < mostOfLine)
    return;
  matchPart();
  line.erase(0, line.size() - overlap);
}

void ErrorLogReader::State::matchPart() {
  ErrorMatch match = matcher.match(line);
  for (const ErrorMatch::Found &found : match.found)
    if (llvm::none_of(matches, [&](const Match &known) {
          return known.error == found.error;
        }))
      matches.push_back({found.error, excerptOf(line, found.at)});
  if (!match.suspect || isSuspect)
    return;
  isSuspect = true;
  unknown = excerptOf(line, *match.suspect);
  unknownKey = withoutAddresses(
      llvm::StringRef(line).substr(*match.suspect, mostOfExcerpt));
}

void ErrorLogReader::State::count(LoggedLines &lines,
                                  const std::string &excerpt) const {
  if (lines.count++ == 0) {
    lines.first = number;
    lines.excerpt = excerpt;
  }
  lines.last = number;
}

void ErrorLogReader::State::countUnknown() {
  ++log.unknownLines;
  auto key = llvm::find(unknownKeys, unknownKey);
  if (key == unknownKeys.end()) {
    if (unknownKeys.size() == mostUnknown)
      return;
    key = unknownKeys.insert(key, unknownKey);
    log.unknown.emplace_back();
  }
  count(log.unknown[size_t(key - unknownKeys.begin())], unknown);
}

/// A few characters that are all of the log, such as `0x1d` or `Code=42`, were
/// copied to ask about them: they are the engine's, even if they do not name
/// it.
void ErrorLogReader::State::matchAlone() {
  if (textLines != 1 || firstText.empty() || !log.errors.empty())
    return;
  bool isCode = llvm::StringRef(firstText).starts_with_insensitive("code");
  ErrorMatch match = matcher.match(
      isCode ? "com.apple.appleneuralengine " + firstText : firstText, true);
  number = log.lines;
  unknown = unknownKey = firstText;
  if (match.found.empty() && match.hasUnknownCode && log.unknown.empty())
    return countUnknown();
  for (const ErrorMatch::Found &found : match.found)
    matches.push_back({found.error, printable(firstText)});
  countMatches();
}

void ErrorLogReader::State::endLine() {
  matchPart();
  llvm::StringRef text = llvm::StringRef(line).trim();
  if (!text.empty() && textLines++ == 0 && text.size() <= mostAlone)
    firstText = text.str();
  countMatches();
  if (isSuspect && matches.empty())
    countUnknown();
  matches.clear();
  line.clear();
  isSuspect = hasLine = false;
  escapes.endLine();
  log.lines = number++;
}

void ErrorLogReader::State::countMatches() {
  std::vector<const KnownError *> kept;
  for (const Match &match : matches)
    kept.push_back(match.error);
  dropVague(kept);
  for (const Match &match : matches) {
    if (!llvm::is_contained(kept, match.error)) {
      ++log.vaguer;
      continue;
    }
    auto known = llvm::find_if(log.errors, [&](const LoggedError &logged) {
      return logged.error == match.error;
    });
    if (known == log.errors.end()) {
      known = log.errors.emplace(known);
      known->error = match.error;
    }
    count(*known, match.excerpt);
  }
}

//===----------------------------------------------------------------------===//
// Logs
//===----------------------------------------------------------------------===//

const LoggedError *ErrorLog::find(const KnownError &error) const {
  for (const LoggedError &logged : errors)
    if (logged.error == &error)
      return &logged;
  return nullptr;
}

ErrorLogReader::ErrorLogReader() : state(std::make_unique<State>()) {}
ErrorLogReader::~ErrorLogReader() = default;

void ErrorLogReader::read(llvm::StringRef block) {
  for (char c : block)
    if (c == '\n')
      state->endLine();
    else
      state->add(c);
}

ErrorLog ErrorLogReader::finish() {
  if (state->hasLine)
    state->endLine();
  state->matchAlone();
  return std::move(state->log);
}

ErrorLog anec::findErrors(llvm::StringRef text) {
  ErrorLogReader reader;
  reader.read(text);
  return reader.finish();
}

/// A device, such as /dev/zero, may never end.
static constexpr uint64_t mostOfDevice = uint64_t(256) << 20;

/// Reads `file` to its end. Returns false, with the reason in `error`, on
/// failure.
static bool readAll(int file, ErrorLogReader &reader, std::string &error) {
  struct stat status;
  bool isDevice = ::fstat(file, &status) == 0 && S_ISCHR(status.st_mode);
  std::vector<char> block(size_t(1) << 16);
  for (uint64_t size = 0;;) {
    ssize_t count = ::read(file, block.data(), block.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0) {
      error = std::generic_category().message(errno);
      return false;
    }
    if (count == 0)
      return true;
    reader.read(llvm::StringRef(block.data(), size_t(count)));
    size += uint64_t(count);
    if (isDevice && size > mostOfDevice) {
      error = "more than 256 MB come from it; write them to a file first";
      return false;
    }
  }
}

std::optional<ErrorLog> anec::findErrorsInFile(llvm::StringRef path,
                                               Diagnostics &diags) {
  std::string error;
  ErrorLogReader reader;
  int file = openInput(path, error);
  bool isRead = file >= 0 && readAll(file, reader, error);
  if (file >= 0)
    ::close(file);
  if (!isRead) {
    diags.reportFile(path, diag::CannotOpen, error);
    return std::nullopt;
  }
  return reader.finish();
}
