//===- Prompts.cpp - reading texts to continue ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Generate/Prompts.h"
#include "lib/Generate/Diags.h"
#include "lib/Support/Diags.h"
#include "lib/Support/Json.h"
#include "lib/Support/ReadFile.h"

using namespace anec;
namespace json = llvm::json;

std::optional<std::vector<int32_t>> anec::parsePromptIds(llvm::StringRef text,
                                                         Diagnostics &diags) {
  std::vector<int32_t> ids;
  for (llvm::StringRef rest = text;;) {
    auto [word, after] = rest.split(',');
    int32_t id = 0;
    if (word.trim().getAsInteger(10, id) || id < 0) {
      diags.report({}, diag::BadPromptIds, text);
      return std::nullopt;
    }
    ids.push_back(id);
    if (!rest.contains(','))
      return ids;
    rest = after;
  }
}

std::optional<std::string> anec::readPromptFile(llvm::StringRef path,
                                                Diagnostics &diags) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = readInput(path, error);
  if (!file) {
    diags.reportFile(path, diag::CannotOpen, error);
    return std::nullopt;
  }
  return file->getBuffer().str();
}

/// Reads a line that is a JSON object. Returns what is wrong with it; empty for
/// nothing.
static std::string readObject(llvm::StringRef line, PromptLine &prompt) {
  JsonError error;
  std::optional<json::Value> value = parseJson(line, error, {.depth = 4});
  if (!value)
    return error.message;
  const json::Object *object = value->getAsObject();
  for (const auto &[key, member] : *object) {
    if (key == "prompt" && member.getAsString()) {
      prompt.text = member.getAsString()->str();
    } else if (key == "prompt_ids" && member.getAsArray()) {
      for (const json::Value &id : *member.getAsArray()) {
        int64_t number = id.getAsInteger().value_or(-1);
        if (number < 0 || !llvm::isInt<32>(number))
          return "`prompt_ids` has an element that is not a token id";
        prompt.ids.push_back(int32_t(number));
      }
    } else if (key == "seed" && member.getAsUINT64()) {
      prompt.seed = member.getAsUINT64();
    } else {
      return "`" + key.str() +
             "` is not one of `prompt`, a text, `prompt_ids`, a list of token "
             "ids, and `seed`, a number";
    }
  }
  return prompt.text.has_value() == !prompt.ids.empty()
             ? "it has to have one of `prompt` and `prompt_ids`"
             : "";
}

std::optional<std::vector<PromptLine>>
anec::readPromptLines(llvm::StringRef path, Diagnostics &diags) {
  std::optional<std::string> contents = readPromptFile(path, diags);
  if (!contents)
    return std::nullopt;
  std::vector<PromptLine> lines;
  int64_t number = 0;
  for (llvm::StringRef rest = *contents; !rest.empty();) {
    auto [line, after] = rest.split('\n');
    rest = after;
    line.consume_back("\r");
    ++number;
    if (line.trim().empty())
      continue;
    PromptLine &read = lines.emplace_back();
    read.number = number;
    std::string wrong;
    if (line.starts_with("{"))
      wrong = readObject(line, read);
    else
      read.text = line.str();
    if (!wrong.empty()) {
      diags.reportFile(path, diag::BadPromptLine, number, wrong);
      return std::nullopt;
    }
  }
  if (lines.empty()) {
    diags.reportFile(path, diag::NoPrompts);
    return std::nullopt;
  }
  return lines;
}

std::optional<std::vector<Prompt>>
anec::encodePrompts(llvm::ArrayRef<PromptLine> lines, llvm::StringRef path,
                    const Generator &generator, const GenerateOptions &options,
                    Diagnostics &diags) {
  std::vector<Prompt> prompts;
  for (const PromptLine &line : lines) {
    if (line.text && !generator.hasTokenizer()) {
      diags.reportFile(path, diag::BadPromptLine, line.number,
                       "it is a text, and there is no tokenizer");
      return std::nullopt;
    }
    uint64_t seed = options.sampling.seed + prompts.size();
    Prompt &prompt = prompts.emplace_back();
    prompt.seed = line.seed.value_or(seed);
    prompt.ids = line.ids;
    if (line.text) {
      std::optional<std::vector<int32_t>> ids =
          generator.encode(*line.text, options.markBeginning, diags);
      if (!ids)
        return std::nullopt;
      prompt.ids = std::move(*ids);
    } else if (!generator.canRead(prompt.ids, diags)) {
      return std::nullopt;
    }
  }
  return prompts;
}
