//===- ErrorMatcher.cpp - finding known errors in a line ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// An Aho-Corasick automaton finds the texts of all marks in one pass over the
/// line. What it finds is checked in place: words and numbers must not go on
/// to the left or right.
///
//===----------------------------------------------------------------------===//

#include "lib/Target/ErrorMatcher.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// What a text is searched for.
enum class Use : uint8_t {
  Mark,    ///< of a known error
  Also,    ///< what a mark needs beside it
  Domain,  ///< of an NSError, whose code follows
  Number,  ///< `0x`, where a status can follow
  Engine,  ///< names the engine or its software
  Suspect, ///< the same, and occurs in little else
  Failure, ///< a word for what went wrong
};

namespace {
struct Text {
  llvm::StringRef words;
  Use use;
  unsigned row = 0;  ///< of the table, for marks
  unsigned mark = 0; ///< of the row
  bool isPrefix = false;
};
} // namespace

/// Words that only the engine's software and Core ML write; `*` stands for the
/// rest of a word.
static constexpr llvm::StringLiteral suspects[] = {
    "appleneuralengine",
    "aneccompile*",
    "aneprogram*",
    "_ane*",
    "milcompilerforane",
    "ane model",
    "anecf",
    "aned",
    "statustype=*",
    "program load failure",
    "mps to anec",
    "e5rt: ",
    "e5rt encountered",
    "[espresso]",
    "espresso exception",
    "com.apple.coreml",
    "[coreml]",
};
/// Words that name the engine, and can mean something else.
static constexpr llvm::StringLiteral engines[] = {
    "ane",  "anef",     "neural engine",     "anecompilerservice",
    "e5rt", "espresso", "kernel validation",
};
static constexpr llvm::StringLiteral failures[] = {
    "error",    "errors",   "fail",          "failed",      "fails",
    "failure",  "failing",  "exception",     "cannot",      "could not",
    "couldn't", "unable",   "not supported", "unsupported", "invalid",
    "denied",   "rejected", "refused",       "aborted",     "limit",
    "exceeds",  "crashed",  "timed out",
};

static bool isWord(char c) { return llvm::isAlnum(c) || c == '_'; }

/// Whether no word or number goes on at `at`, between two characters.
static bool isBorder(llvm::StringRef line, size_t at) {
  return at == 0 || at == line.size() || !isWord(line[at - 1]) ||
         !isWord(line[at]);
}

//===----------------------------------------------------------------------===//
// Automaton
//===----------------------------------------------------------------------===//

struct ErrorMatcher::Automaton {
  Automaton();

  /// Calls `found` with the index of each text and its end in `line`.
  template <typename Found>
  void search(llvm::StringRef line, Found found) const {
    unsigned state = 0;
    for (size_t at = 0; at < line.size(); ++at) {
      state = next(state, classes[(unsigned char)(line[at])]);
      for (unsigned node = ends[state] ? state : shorter[state]; node;
           node = shorter[node])
        for (unsigned text = ends[node]; text; text = sameAs[text - 1])
          found(text - 1, at + 1);
    }
  }

  std::vector<Text> texts;

private:
  uint16_t next(unsigned state, unsigned letter) const {
    return steps[state * letters + letter];
  }
  void addTexts();
  void addText(unsigned text);
  void link();

  /// Letters are the characters that occur in texts, without case; all others
  /// are letter 0.
  std::array<uint8_t, 256> classes = {};
  unsigned letters = 1;
  /// By state and letter, the next state; state 0 has read nothing.
  std::vector<uint16_t> steps;
  /// By state, 1 + the text that ends there, or 0; and by text, 1 + the next
  /// of the same words.
  std::vector<unsigned> ends, sameAs;
  /// By state, the state of the longest shorter text that ends there, or 0.
  std::vector<unsigned> shorter;
};

void ErrorMatcher::Automaton::addTexts() {
  for (auto [row, error] : llvm::enumerate(allKnownErrors()))
    for (auto [index, mark] : llvm::enumerate(error->marks)) {
      if (!mark.text.empty())
        texts.push_back({mark.text, Use::Mark, unsigned(row), unsigned(index)});
      if (!mark.domain.empty())
        texts.push_back(
            {mark.domain, Use::Domain, unsigned(row), unsigned(index)});
      if (!mark.also.empty())
        texts.push_back({mark.also, Use::Also, unsigned(row), unsigned(index)});
    }
  texts.push_back({"0x", Use::Number});
  for (llvm::StringRef words : suspects) {
    bool isPrefix = words.consume_back("*");
    texts.push_back({words, Use::Suspect, 0, 0, isPrefix});
  }
  for (llvm::StringRef words : engines)
    texts.push_back({words, Use::Engine});
  for (llvm::StringRef words : failures)
    texts.push_back({words, Use::Failure});
}

void ErrorMatcher::Automaton::addText(unsigned text) {
  unsigned state = 0;
  for (char c : texts[text].words) {
    unsigned at = state * letters + classes[(unsigned char)(c)];
    if (!steps[at]) {
      steps[at] = uint16_t(steps.size() / letters);
      steps.resize(steps.size() + letters);
    }
    state = steps[at];
  }
  ends.resize(steps.size() / letters);
  sameAs[text] = std::exchange(ends[state], text + 1);
}

/// Sets `shorter`, and completes `steps` for letters that no text goes on with,
/// state by state in the order of their depth.
void ErrorMatcher::Automaton::link() {
  ends.resize(steps.size() / letters);
  shorter.resize(ends.size());
  std::vector<unsigned> fallback(ends.size()), queue;
  for (unsigned letter = 0; letter < letters; ++letter)
    if (unsigned child = next(0, letter))
      queue.push_back(child);
  for (size_t at = 0; at < queue.size(); ++at) {
    unsigned state = queue[at], back = fallback[state];
    shorter[state] = ends[back] ? back : shorter[back];
    for (unsigned letter = 0; letter < letters; ++letter) {
      uint16_t &step = steps[state * letters + letter];
      if (!step) {
        step = next(back, letter);
        continue;
      }
      fallback[step] = next(back, letter);
      queue.push_back(step);
    }
  }
}

ErrorMatcher::Automaton::Automaton() {
  addTexts();
  for (const Text &text : texts)
    for (char c : text.words) {
      uint8_t &letter = classes[(unsigned char)(llvm::toLower(c))];
      if (!letter)
        letter = uint8_t(letters++);
      classes[(unsigned char)(llvm::toUpper(c))] = letter;
    }
  steps.resize(letters);
  sameAs.resize(texts.size());
  for (unsigned text = 0; text < texts.size(); ++text)
    addText(text);
  link();
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The number that follows `0x`, which ends at `at`; nothing when it is too
/// large or goes on as a word.
static std::optional<uint32_t> hexAt(llvm::StringRef line, size_t at) {
  size_t begin = at;
  uint64_t value = 0;
  for (; at < line.size() && llvm::isHexDigit(line[at]); ++at) {
    value = value << 4 | llvm::hexDigitValue(line[at]);
    if (value > UINT32_MAX)
      return std::nullopt;
  }
  if (at == begin || (at < line.size() && isWord(line[at])))
    return std::nullopt;
  return uint32_t(value);
}

/// Whether a word for a status stands before `end`: `status=`, `err: `.
static bool followsStatus(llvm::StringRef line, size_t end) {
  llvm::StringRef before = line.take_front(end).rtrim(" =:(").take_back(16);
  if (line.take_front(end).size() - line.take_front(end).rtrim(" =:(").size() >
      4)
    return false;
  size_t word = before.find_last_not_of(
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
  if (word != llvm::StringRef::npos)
    before = before.drop_front(word + 1);
  static constexpr llvm::StringLiteral words[] = {
      "status", "error", "err", "code", "ret", "rc", "kr"};
  return llvm::any_of(words, [&](llvm::StringRef known) {
    return before.equals_insensitive(known);
  });
}

/// The code of an NSError whose domain ends at `at`: `DOMAIN Code=8`, `DOMAIN
/// error 8`, `DOMAIN 8: `, `DOMAIN:8`.
static std::optional<int> codeAfter(llvm::StringRef line, size_t at) {
  llvm::StringRef rest = line.drop_front(at).take_front(64);
  // The domain goes on: it is another one.
  if (!rest.empty() && (rest[0] == '-' ||
                        (rest[0] == '.' && rest.size() > 1 && isWord(rest[1]))))
    return std::nullopt;
  bool isQuoted = rest.consume_front("\"") || rest.consume_front("'");
  rest = rest.ltrim(" ,;)");
  bool hasWord = rest.consume_front_insensitive("code") ||
                 rest.consume_front_insensitive("error code") ||
                 rest.consume_front_insensitive("error") || isQuoted;
  bool hasColon = rest.starts_with(":");
  rest = rest.ltrim(" =:#(");
  bool isNegative = rest.consume_front("-");
  size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  int code;
  if (!digits || rest.take_front(digits).getAsInteger(10, code) ||
      (digits < rest.size() && isWord(rest[digits])))
    return std::nullopt;
  // `DOMAIN 8: ` has no word before the code, and nothing but a colon after it.
  rest = rest.drop_front(digits);
  if (!hasWord && !hasColon && !rest.empty() && !rest.starts_with(":"))
    return std::nullopt;
  return isNegative ? -code : code;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral engineDomain =
    "com.apple.appleneuralengine";

namespace {

/// What was found in a line so far.
class LineMatch {
public:
  LineMatch(llvm::StringRef line, bool isEngines)
      : line(line), trimmed(line.trim()), namesEngine(isEngines) {}

  void add(const Text &text, size_t end);
  ErrorMatch take();

private:
  void addNumber(size_t begin, size_t end);
  void addDomain(const Text &text, size_t begin, size_t end);
  bool isNear(const ErrorMark &mark) const {
    return !mark.namesEngine || namesEngine;
  }

  /// What is known of a mark.
  struct Seen {
    size_t at = nowhere;
    bool also = false; ///< what it needs beside it is there
  };
  Seen &seen(unsigned row, unsigned mark) {
    if (marks.empty())
      marks.resize(allKnownErrors().size() * mostMarks);
    return marks[row * mostMarks + mark];
  }
  void addAt(const Text &text, size_t begin) {
    size_t &at = seen(text.row, text.mark).at;
    at = std::min(at, begin);
  }

  static constexpr size_t nowhere = size_t(-1);
  static constexpr size_t mostMarks =
      std::tuple_size_v<decltype(KnownError::marks)>;
  llvm::StringRef line, trimmed;
  bool namesEngine, hasFailure = false, hasUnknownCode = false;
  size_t suspect = nowhere;
  /// By row and mark; empty when there are none, as in most lines.
  std::vector<Seen> marks;
  /// Numbers, and whether they follow a word for a status, or are the line.
  struct Status {
    uint32_t value;
    size_t at;
    bool isMarked;
  };
  llvm::SmallVector<Status, 4> statuses;
};

} // namespace

/// Of more numbers in a line, none would be read.
static constexpr size_t mostStatuses = 64;

void LineMatch::addNumber(size_t begin, size_t end) {
  std::optional<uint32_t> value = hexAt(line, end);
  if (!value || statuses.size() == mostStatuses)
    return;
  bool isKnown = llvm::any_of(allKnownErrors(), [&](const KnownError *error) {
    return *value && llvm::is_contained(error->statuses, *value);
  });
  if (!isKnown)
    return;
  bool isMarked = followsStatus(line, begin);
  // `0x1d` is all of the line.
  isMarked |=
      begin == 0 && line.find_first_not_of("0123456789abcdefABCDEF", end) ==
                        llvm::StringRef::npos;
  statuses.push_back({*value, begin, isMarked});
}

void LineMatch::addDomain(const Text &text, size_t begin, size_t end) {
  std::optional<int> code = codeAfter(line, end);
  if (!code)
    return;
  const ErrorMark &mark = allKnownErrors()[text.row]->marks[text.mark];
  if (*code == mark.code)
    addAt(text, begin);
  if (text.words != engineDomain)
    return;
  bool isKnown = llvm::any_of(allKnownErrors(), [&](const KnownError *error) {
    return llvm::any_of(error->marks, [&](const ErrorMark &known) {
      return known.domain == engineDomain && known.code == *code;
    });
  });
  hasUnknownCode |= !isKnown;
}

void LineMatch::add(const Text &text, size_t end) {
  size_t begin = end - text.words.size();
  if (text.use == Use::Number) {
    if (begin == 0 || !isWord(line[begin - 1]))
      addNumber(begin, end);
    return;
  }
  if (!isBorder(line, begin) || !(text.isPrefix || isBorder(line, end)))
    return;
  switch (text.use) {
  case Use::Mark: {
    const ErrorMark &mark = allKnownErrors()[text.row]->marks[text.mark];
    if (mark.isLine && trimmed.size() != text.words.size())
      return;
    addAt(text, begin);
    return;
  }
  case Use::Also:
    seen(text.row, text.mark).also = true;
    return;
  case Use::Domain:
    return addDomain(text, begin, end);
  case Use::Suspect:
    suspect = std::min(suspect, begin);
    namesEngine = true;
    return;
  case Use::Engine:
    namesEngine = true;
    return;
  case Use::Failure:
    // In `compileModel:options:qos:error:` it is a part of a name.
    hasFailure |=
        end + 1 >= line.size() || line[end] != ':' || line[end + 1] == ' ';
    return;
  case Use::Number:
    llvm_unreachable("handled above");
  }
}

ErrorMatch LineMatch::take() {
  ErrorMatch result;
  result.hasUnknownCode = hasUnknownCode;
  if (suspect != nowhere && (hasFailure || hasUnknownCode))
    result.suspect = suspect;
  if (marks.empty() && statuses.empty())
    return result;
  for (auto [row, error] : llvm::enumerate(allKnownErrors())) {
    size_t place = nowhere;
    for (auto [index, mark] : llvm::enumerate(error->marks)) {
      const Seen &found = seen(unsigned(row), unsigned(index));
      if (isNear(mark) && (mark.also.empty() || found.also))
        place = std::min(place, found.at);
    }
    for (const Status &status : statuses)
      if (namesEngine && llvm::is_contained(error->statuses, status.value) &&
          (status.isMarked || status.value > 0xffff))
        place = std::min(place, status.at);
    if (place != nowhere)
      result.found.push_back({error, place});
  }
  return result;
}

void anec::dropVague(std::vector<const KnownError *> &errors) {
  unsigned least = ~0u;
  for (const KnownError *error : errors)
    least = std::min(least, error->vagueness);
  llvm::erase_if(errors, [&](const KnownError *error) {
    return error->vagueness > least;
  });
}

ErrorMatcher::ErrorMatcher() : automaton(std::make_unique<Automaton>()) {}
ErrorMatcher::~ErrorMatcher() = default;

ErrorMatch ErrorMatcher::match(llvm::StringRef line, bool isEngines) const {
  LineMatch match(line, isEngines);
  automaton->search(line, [&](unsigned text, size_t end) {
    match.add(automaton->texts[text], end);
  });
  return match.take();
}
