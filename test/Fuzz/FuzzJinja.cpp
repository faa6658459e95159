//===- FuzzJinja.cpp - any bytes as a chat template -----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Whatever the bytes are, a template is refused, or makes a text of a
/// conversation, or says why not, within its bounds of memory and time.
///
//===----------------------------------------------------------------------===//

#include "FileOfBytes.h"
#include "anec/Text/ChatTemplate.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;

/// A tokenizer of one word. Null in a build without Hugging Face's tokenizers.
static const Tokenizer *tokenizer() {
  static const std::unique_ptr<Tokenizer> opened = [] {
    Diagnostics diags;
    return openTokenizer(
        fileOfBytes("tokenizer.json",
                    llvm::arrayRefFromStringRef(
                        R"({"model": {"type": "WordLevel", "vocab": {"a": 0},)"
                        R"( "unk_token": "a"}})")),
        diags);
  }();
  return opened.get();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!tokenizer())
    return 0;
  (void)fileOfBytes("chat_template.jinja", {data, size});
  Diagnostics diags;
  std::optional<ChatTemplate> chat = openChatTemplate(*tokenizer(), diags);
  expectOneOf(chat.has_value(), diags);
  if (!chat)
    return 0;
  ChatMessage call{"assistant", ""};
  call.json = R"({"role": "assistant", "content": null, "reasoning": "a",)"
              R"( "tool_calls": [{"id": "b", "function": {"name": "f",)"
              R"( "arguments": {"x": 1.5, "y": [null, true]}}}]})";
  ChatOptions options;
  options.tools = R"([{"function": {"name": "f"}}])";
  options.seconds = 0;
  Diagnostics rendering;
  std::optional<std::string> text = chat->render(
      {{"user", "Hello \xC3\xA9"}, call, {"tool", "{}"}}, options, rendering);
  expectOneOf(text.has_value(), rendering);
  return 0;
}
