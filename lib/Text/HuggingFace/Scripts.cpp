//===- Scripts.cpp - words of one script ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PreTokenizers.h"
#include "Unicode.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::hf;
using namespace llvm;

namespace {

struct ScriptRange {
  uint32_t first, last;
  StringLiteral script;
};

constexpr ScriptRange ranges[] = {
#define RANGE(first, last, script) {first, last, #script},
#include "Scripts.def"
#undef RANGE
};

} // namespace

/// Empty for spaces and for characters that go with all scripts.
static StringRef scriptOf(uint32_t character) {
  const ScriptRange *found = llvm::partition_point(
      ranges, [&](const ScriptRange &range) { return range.last < character; });
  bool isIn = found != std::end(ranges) && found->first <= character;
  return isIn ? StringRef(found->script) : StringRef();
}

namespace {
/// Words begin where the script changes. What is before the first character
/// with a script is in no word, as in the library.
class UnicodeScripts : public PreTokenizer {
public:
  bool apply(Words &words, std::string &) const override {
    return splitWords(
        words,
        [&](StringRef text, function_ref<void(size_t, size_t)> take) {
          StringRef last;
          size_t begin = 0;
          for (StringRef rest = text; !rest.empty();) {
            size_t at = text.size() - rest.size();
            StringRef script = scriptOf(takeCharacter(rest));
            if (script.empty() || script == last)
              continue;
            if (!last.empty())
              take(begin, at);
            begin = at;
            last = script;
          }
          if (!last.empty())
            take(begin, text.size());
          return true;
        },
        Split::Removed, /*inverts=*/true);
  }
};
} // namespace

static std::unique_ptr<PreTokenizer> readUnicodeScripts(Fields &) {
  return std::make_unique<UnicodeScripts>();
}

constinit const PreTokenizerRow anec::hf::scriptsRow = {"UnicodeScripts",
                                                        readUnicodeScripts};
