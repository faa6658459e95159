//===- GenerateOutput.cpp - what generate prints --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "GenerateOutput.h"
#include "../Signals.h"
#include "lib/Generate/GenerateJson.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

/// `3.2 MB`.
static void printBytes(llvm::raw_ostream &out, uint64_t bytes) {
  if (bytes < 1000)
    out << bytes << " bytes";
  else if (bytes < 1'000'000)
    out << llvm::format("%.1f KB", double(bytes) / 1e3);
  else if (bytes < 1'000'000'000)
    out << llvm::format("%.1f MB", double(bytes) / 1e6);
  else
    out << llvm::format("%.2f GB", double(bytes) / 1e9);
}

void GenerateOutput::describe(llvm::StringRef whose, const Session *session,
                              const TextModel &model) const {
  if (form.quiet)
    return;
  llvm::raw_ostream &out = llvm::errs();
  out << whose << model.positions() << " positions; ";
  if (!session) {
    out << "caches ";
    printBytes(out, model.cacheBytes());
    out << '\n';
    return;
  }
  const ModelPackage &package = session->package();
  uint64_t weights = 0;
  for (const PackagedWeight &weight : package.weights)
    weights += uint64_t(weight.type.numBytes()) * weight.arrays().size();
  // Quantized weights are those of the package.
  if (package.isQuantized()) {
    weights = 0;
    for (const PackagedFile &file : package.files)
      if (llvm::StringRef(file.path).starts_with("weights/"))
        weights += file.bytes;
  }
  out << "weights ";
  printBytes(out, weights);
  out << ", ";
  if (uint64_t caches = model.cacheBytes()) {
    out << "caches up to ";
    printBytes(out, caches);
    out << ", ";
  }
  printBytes(out, session->memoryBytes());
  out << " in the session\n";
}

void GenerateOutput::onText(size_t prompt, llvm::StringRef text) {
  if (streams()) {
    llvm::outs() << text;
    llvm::outs().flush();
    // Nobody would see the rest.
    if (llvm::outs().has_error())
      requestToStop();
    return;
  }
  if (waiting.size() <= prompt)
    waiting.resize(prompt + 1);
  waiting[prompt] += text;
}

void GenerateOutput::onToken(size_t, int32_t id, double) {
  if (tokenizer || !streams())
    return;
  llvm::outs() << (hasPrinted ? "," : "") << id;
  llvm::outs().flush();
  hasPrinted = true;
}

void GenerateOutput::onFinish(size_t prompt, const GeneratedText &text) {
  llvm::raw_ostream &out = llvm::outs();
  if (form.json) {
    printJson(text, tokenizer != nullptr, out);
  } else if (streams()) {
    out << '\n';
  } else {
    if (prompt)
      out << "---\n";
    if (tokenizer && prompt < waiting.size())
      out << std::exchange(waiting[prompt], "");
    if (!tokenizer)
      llvm::interleave(text.ids, out, ",");
    out << '\n';
  }
  out.flush();
  if (llvm::outs().has_error())
    requestToStop();
}

void GenerateOutput::printTimes(llvm::ArrayRef<GeneratedText> texts) const {
  if (form.quiet)
    return;
  size_t prompts = 0, tokens = 0, drafted = 0, accepted = 0;
  for (const GeneratedText &text : texts) {
    prompts += text.promptIds.size();
    tokens += text.ids.size();
    drafted += text.drafted;
    accepted += text.accepted;
  }
  llvm::raw_ostream &out = llvm::errs();
  out << tokens << " tokens after " << prompts;
  if (texts.size() == 1 && texts.front().seconds > 0)
    out << llvm::format(": %.1f tokens/s, prompt %.1f tokens/s (measured, ",
                        texts.front().tokensPerSecond(),
                        texts.front().promptTokensPerSecond())
        << backend << " backend)";
  if (drafted)
    out << "; " << accepted << " of " << drafted << " guesses accepted"
        << llvm::format(" (%.0f %%)",
                        100.0 * double(accepted) / double(drafted));
  out << '\n';
}

std::optional<GeneratedText>
GenerateOutput::answer(ChatSession &chat, const GenerateOptions &options,
                       Diagnostics &diags) {
  catchRequestsToStop();
  std::optional<GeneratedText> made = chat.answer(
      options,
      [&](llvm::StringRef text) {
        if (streams())
          onText(0, text);
      },
      diags);
  if (!made)
    return std::nullopt;
  onFinish(0, *made);
  printTimes(*made);
  return made;
}
