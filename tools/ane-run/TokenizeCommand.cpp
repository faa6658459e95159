//===- TokenizeCommand.cpp - ane-run tokenize TEXT ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandTable.h"
#include "TemplateFlags.h"
#include "lib/Support/Endings.h"
#include "lib/Text/TokenFiles.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Tokenize : public Command {
public:
  ExitCode run(const Invocation &call) override {
    if (decode && tokenFile.getNumOccurrences())
      return call.usageError("--decode prints text; it takes no -o");
    // Files with other endings are read as text.
    if (tokenFile.getNumOccurrences())
      if (std::string wrong = wrongEnding(tokenFile, {".bin"}); !wrong.empty())
        return call.usageError("-o: " + wrong);
    if (chat && (decode || markers))
      return call.usageError("--chat takes no --decode and no --markers");
    if (!chat && (render || form.isGiven()))
      return call.usageError(
          "--render, --tools, --date and --template-arg are for --chat");
    if (render && tokenFile.getNumOccurrences())
      return call.usageError("--render prints text; it takes no -o");
    if (std::string wrong = form.check(); !wrong.empty())
      return call.usageError(wrong);
    return runReporting([&](Diagnostics &diags) {
      std::optional<ChatOptions> options = form.options(diags);
      return options && tokenize(text,
                                 {tokenizer, tokenFile, decode, markers, chat,
                                  render, std::move(*options)},
                                 llvm::outs(), diags);
    });
  }

private:
  cl::opt<std::string> text{cl::Positional, cl::init("-")};
  cl::opt<std::string> tokenizer{
      "tokenizer", cl::value_desc("FILE"),
      cl::desc("A tokenizer.json or its folder, a SentencePiece .model, or "
               "llama2.c's tokenizer.bin (default: the bytes of the text)")};
  cl::opt<std::string> tokenFile{
      "o", cl::value_desc("TOKENS.bin"),
      cl::desc("Write the token ids to TOKENS.bin, 16 bits each, or 32 where "
               "the vocabulary has more")};
  cl::opt<bool> markers{
      "markers", cl::desc("Put the ids between the tokenizer's markers; with "
                          "--decode, print the text of markers")};
  cl::opt<bool> chat{"chat",
                     cl::desc("TEXT is a conversation: [{\"role\": \"user\", "
                              "\"content\": ..}, ..]")};
  cl::opt<bool> render{
      "render", cl::desc("Print the text of the conversation, as its chat "
                         "template makes it")};
  TemplateFlags form;
  cl::opt<bool> decode{"decode",
                       cl::desc("Convert the token ids in TEXT to text")};
};
} // namespace

constinit const CommandDef commands::Tokenize = {
    .name = "tokenize",
    .group = commands::models,
    .summary = "Convert text to token ids, or token ids to text",
    .synopsis = "TEXT",
    .examples =
        R"(  ane-run tokenize story.txt --tokenizer=tokenizer.model -o story.bin
  ane-run tokenize story.txt --tokenizer=tokenizer.json --markers > ids.txt
  ane-run tokenize --decode ids.txt --tokenizer=tokenizer.json
  ane-run tokenize --chat messages.json --tokenizer=qwen3
  ane-run tokenize --chat messages.json --tokenizer=qwen3 --tools=tools.json --render
)",
    .make = makeCommand<::Tokenize>,
};
