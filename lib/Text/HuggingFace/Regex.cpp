//===- Regex.cpp - regular expressions of tokenizers ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The only file that includes PCRE2.
///
//===----------------------------------------------------------------------===//

#include "Regex.h"
#include "Unicode.h"
#include <chrono>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

using namespace anec::hf;
using namespace llvm;

// Patterns of tokenizers take some hundred bytes.
static constexpr size_t longestPattern = 16384;
/// The steps of a match, and the memory of one, in KiB.
static constexpr uint32_t matchLimit = 20'000'000, heapLimit = 256 * 1024;
/// The time for a text: a constant, and one per byte.
static constexpr std::chrono::seconds timeForAny{20};
static constexpr std::chrono::microseconds timePerByte{10};
/// How many characters a search advances before the time is looked at.
static constexpr size_t searchWindow = 4096;

struct Regex::Code {
  pcre2_code *code = nullptr;
  ~Code() { pcre2_code_free(code); }
};

Regex::Regex(std::unique_ptr<Code> code) : code(std::move(code)) {}
Regex::Regex(Regex &&other) = default;
Regex &Regex::operator=(Regex &&other) = default;
Regex::~Regex() = default;

static std::string messageOf(int code) {
  PCRE2_UCHAR message[200] = {};
  pcre2_get_error_message(code, message, sizeof(message));
  return reinterpret_cast<const char *>(message);
}

std::optional<Regex> Regex::compile(StringRef pattern, std::string &error) {
  if (pattern.size() > longestPattern) {
    error = "it has " + std::to_string(pattern.size()) +
            " bytes, and at most " + std::to_string(longestPattern) +
            " are read";
    return std::nullopt;
  }
  std::optional<std::string> translated = translatePattern(pattern, error);
  if (!translated)
    return std::nullopt;
  auto compiled = std::make_unique<Code>();
  int number = 0;
  PCRE2_SIZE place = 0;
  pcre2_compile_context *context = pcre2_compile_context_create(nullptr);
  if (context) {
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_set_parens_nest_limit(context, 100);
    compiled->code = pcre2_compile(
        reinterpret_cast<PCRE2_SPTR>(translated->data()), translated->size(),
        PCRE2_UTF | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C |
            PCRE2_USE_OFFSET_LIMIT,
        &number, &place, context);
    pcre2_compile_context_free(context);
  }
  if (!compiled->code) {
    error = messageOf(number);
    return std::nullopt;
  }
  // Without it, the interpreter matches.
  (void)pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE);
  return Regex(std::move(compiled));
}

namespace {
/// What PCRE2 needs to search one text.
struct Search {
  pcre2_match_data *data;
  pcre2_match_context *context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack *stack =
      pcre2_jit_stack_create(32 * 1024, 64 * 1024 * 1024, nullptr);
  std::chrono::steady_clock::time_point deadline;

  Search(const pcre2_code *code, size_t textSize)
      : data(pcre2_match_data_create_from_pattern(code, nullptr)),
        deadline(std::chrono::steady_clock::now() + timeForAny +
                 timePerByte * int64_t(textSize)) {
    if (!context)
      return;
    pcre2_set_match_limit(context, matchLimit);
    pcre2_set_heap_limit(context, heapLimit);
    if (stack)
      pcre2_jit_stack_assign(context, nullptr, stack);
  }
  ~Search() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
  Search(const Search &) = delete;
};
} // namespace

bool Regex::forEachMatch(StringRef text,
                         function_ref<void(size_t, size_t)> take,
                         std::string &error) const {
  Search search(code->code, text.size());
  if (!search.data || !search.context) {
    error = "no memory for a regular expression";
    return false;
  }
  const auto *subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  size_t from = 0;
  std::optional<size_t> lastEnd;
  // The clock is read now and then, and after a window without a match.
  unsigned untilClock = 256;
  while (from <= text.size()) {
    if (--untilClock == 0) {
      untilClock = 256;
      if (std::chrono::steady_clock::now() > search.deadline) {
        error = "a regular expression of the tokenizer takes too long for the "
                "text";
        return false;
      }
    }
    size_t limit = std::min(from + searchWindow, text.size());
    pcre2_set_offset_limit(search.context, limit);
    // Invalid bytes are surrogates here, which the check would refuse.
    int result = pcre2_match(code->code, subject, text.size(), from,
                             PCRE2_NO_UTF_CHECK, search.data, search.context);
    if (result == PCRE2_ERROR_NOMATCH) {
      from = limit + 1;
      while (from < text.size() && (uint8_t(text[from]) & 0xC0) == 0x80)
        ++from;
      untilClock = 1;
      continue;
    }
    if (result < 0) {
      error = "a regular expression of the tokenizer cannot be matched with "
              "the text: " +
              messageOf(result);
      return false;
    }
    const PCRE2_SIZE *place = pcre2_get_ovector_pointer(search.data);
    size_t begin = place[0], end = place[1];
    if (begin == end && lastEnd == end) {
      if (end == text.size())
        return true;
      from = end + characterSize(text.drop_front(end));
      continue;
    }
    take(begin, end);
    from = end;
    lastEnd = end;
  }
  return true;
}

bool Regex::replaceMatches(std::string &text, StringRef by,
                           std::string &error) const {
  std::string replaced;
  StringRef rest = text;
  size_t done = 0;
  auto replace = [&](size_t begin, size_t end) {
    replaced += rest.slice(done, begin);
    replaced += by;
    done = end;
  };
  if (!forEachMatch(rest, replace, error))
    return false;
  replaced += rest.drop_front(done);
  text = std::move(replaced);
  return true;
}
