//===- GenerateJson.cpp - generated texts as JSON -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Generate/GenerateJson.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

void anec::printJson(const GeneratedText &text, bool hasText,
                     llvm::raw_ostream &out) {
  llvm::json::OStream json(out);
  auto list = [&](llvm::StringRef name, const auto &values) {
    json.attributeArray(name, [&] {
      for (const auto &value : values)
        json.value(value);
    });
  };
  json.object([&] {
    list("prompt_ids", text.promptIds);
    list("ids", text.ids);
    if (hasText)
      json.attribute("text", text.text);
    list("logprobs", text.logProbs);
    json.attribute("finish", spelling(text.finish));
    if (!text.stopText.empty())
      json.attribute("stop_text", text.stopText);
    if (text.drafted)
      json.attributeObject("draft", [&] {
        json.attribute("drafted", int64_t(text.drafted));
        json.attribute("accepted", int64_t(text.accepted));
      });
    json.attributeObject("timings", [&] {
      json.attribute("prompt_seconds", text.firstSeconds);
      json.attribute("prompt_tokens_per_second", text.promptTokensPerSecond());
      json.attribute("seconds", text.seconds);
      json.attribute("tokens_per_second", text.tokensPerSecond());
    });
  });
  out << '\n';
}
