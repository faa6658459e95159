//===- GenerateCommand.cpp - ane-run generate PACKAGE ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../NumberFlag.h"
#include "../Signals.h"
#include "BackendFlags.h"
#include "ChatLoop.h"
#include "CommandTable.h"
#include "GenerateFlags.h"
#include "GenerateOutput.h"
#include "LoadedModel.h"
#include "lib/Generate/Diags.h"
#include "lib/Generate/Prompts.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

class Generate : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  std::string check() const;
  bool generate(Diagnostics &diags) const;
  bool converse(Generator &generator, const Tokenizer *tokenizer,
                const GenerateOptions &options, GenerateOutput &output,
                Diagnostics &diags) const;
  std::optional<std::vector<Prompt>> prompts(llvm::ArrayRef<PromptLine> lines,
                                             const Generator &generator,
                                             const GenerateOptions &options,
                                             Diagnostics &diags) const;

  ModelFlags model;
  PromptFlags prompt;
  ChatFlags chat;
  SamplingFlags sampling;
  DraftFlags draft;
  CacheFlags cache;
  BackendFlags backendFlags;
  /// What other tools call these flags.
  cl::alias shortTokens{"n", cl::aliasopt(sampling.tokens), cl::Hidden},
      predicted{"n-predict", cl::aliasopt(sampling.tokens), cl::Hidden},
      maxTokens{"max-tokens", cl::aliasopt(sampling.tokens), cl::Hidden},
      temp{"temp", cl::aliasopt(sampling.temperature), cl::Hidden},
      shortPrompt{"p", cl::aliasopt(prompt.text), cl::Hidden},
      shortContext{"c", cl::aliasopt(cache.context), cl::Hidden},
      contextSize{"ctx-size", cl::aliasopt(cache.context), cl::Hidden};
  WholeFlag<unsigned> keep{
      "keep", cl::value_desc("N"),
      cl::desc("First tokens to keep when a text is longer than the "
               "model's positions (default: the beginning-of-text id)")};
  cl::opt<bool> echo{"echo", cl::desc("Print the prompt before the new text")};
  /// What was a flag when prompts were printed by default.
  cl::opt<bool> noEcho{"no-echo", cl::Hidden,
                       cl::desc("Print no prompt, as by default")};
  cl::opt<bool> json{
      "json", cl::desc("Print a line with a JSON object for each text: ids, "
                       "text, log-probabilities, timings")};
  cl::opt<bool> quiet{
      "quiet", cl::desc("Print no memory and no times on standard error")};
};

} // namespace

std::optional<std::vector<Prompt>>
Generate::prompts(llvm::ArrayRef<PromptLine> lines, const Generator &generator,
                  const GenerateOptions &options, Diagnostics &diags) const {
  if (!lines.empty())
    return encodePrompts(lines, prompt.several, generator, options, diags);
  std::optional<std::vector<int32_t>> ids;
  if (prompt.ids.getNumOccurrences()) {
    ids = parsePromptIds(prompt.ids, diags);
    if (!ids || !generator.canRead(*ids, diags))
      return std::nullopt;
  } else {
    std::optional<std::string> text = prompt.text;
    if (prompt.file.getNumOccurrences())
      text = readPromptFile(prompt.file, diags);
    if (text)
      ids = generator.encode(*text, options.markBeginning, diags);
    if (!ids)
      return std::nullopt;
  }
  return std::vector<Prompt>{{std::move(*ids), options.sampling.seed}};
}

bool Generate::converse(Generator &generator, const Tokenizer *tokenizer,
                        const GenerateOptions &options, GenerateOutput &output,
                        Diagnostics &diags) const {
  std::optional<ChatOptions> form = chat.form.options(diags);
  if (!form)
    return false;
  std::optional<ChatSession> session =
      ChatSession::open(generator, *tokenizer, diags, std::move(*form));
  if (!session)
    return false;
  std::vector<ChatMessage> messages;
  if (chat.messages.getNumOccurrences()) {
    std::optional<std::vector<ChatMessage>> read =
        readChat(chat.messages, diags);
    if (!read)
      return false;
    messages = std::move(*read);
  }
  if (chat.system.getNumOccurrences()) {
    if (!messages.empty() && messages.front().role == "system") {
      diags.reportFile(chat.messages, diag::SystemTwice);
      return false;
    }
    session->add({"system", chat.system});
  }
  for (ChatMessage &message : messages)
    session->add(std::move(message));
  if (chat.chat)
    return runChat(*session, options, output, diags);
  return output.answer(*session, options, diags).has_value();
}

bool Generate::generate(Diagnostics &diags) const {
  std::unique_ptr<Backend> backend = backendFlags.choice().open(diags);
  if (!backend)
    return false;
  std::optional<std::vector<PromptLine>> lines{std::in_place};
  if (prompt.several.getNumOccurrences())
    lines = readPromptLines(prompt.several, diags);
  if (!lines)
    return false;
  // Without texts, ids can be all that is read and printed.
  TrainedModelSource source = model.source();
  source.needsTokenizer =
      lines->empty()
          ? chat.isGiven() || prompt.hasText()
          : llvm::any_of(*lines, [](const auto &line) { return line.text; });
  LoadedModel main, drafting;
  if (!main.load(source, model.function, cache, quiet, *backend,
                 backendFlags.load(), diags) ||
      (lines->empty() && !main.hasFittingTokenizer(model.package, diags)))
    return false;
  const Tokenizer *tokenizer =
      main.guessesTooFew() ? nullptr : main.tokenizer();
  if (!tokenizer && sampling.stops.getNumOccurrences()) {
    diags.report({}, diag::NeedsTokenizer, "--stop");
    return false;
  }

  GenerateOptions options;
  if (!sampling.apply(model.package, options, diags) ||
      !sampling.addEnds(options, diags))
    return false;
  options.markBeginning = prompt.markBeginning.getNumOccurrences()
                              ? bool(prompt.markBeginning)
                              : main.marksBeginning(model.package);
  if (keep.getNumOccurrences())
    options.keep = keep;
  options.echo = echo;
  options.logProbs = json;
  options.stop = &stopRequested();
  std::unique_ptr<Draft> guesses;
  if (draft.isLookup()) {
    guesses = std::make_unique<LookupDraft>();
  } else if (draft.isGiven()) {
    if (!drafting.load(draft.source(), "", cache, quiet, *backend,
                       backendFlags.load(), diags))
      return false;
    if (drafting.text->vocabulary() != main.text->vocabulary()) {
      diags.reportFile(draft.draft, diag::DraftVocabulary,
                       drafting.text->vocabulary(), main.text->vocabulary());
      return false;
    }
    guesses = std::make_unique<ModelDraft>(*drafting.text);
  }
  options.draft = guesses.get();
  options.draftTokens = draft.tokens;

  Generator generator(*main.text, tokenizer);
  if (!generator.canUse(options, diags))
    return false;
  GenerateOutput output({json.getValue(), quiet.getValue(),
                         prompt.several.getNumOccurrences() > 0},
                        tokenizer, backend->name());
  output.describe("", main.session.get(), *main.text);
  if (drafting.text)
    output.describe("draft: ", drafting.session.get(), *drafting.text);
  if (chat.isGiven())
    return converse(generator, tokenizer, options, output, diags);
  std::optional<std::vector<Prompt>> given =
      prompts(*lines, generator, options, diags);
  if (!given)
    return false;
  catchRequestsToStop();
  std::optional<std::vector<GeneratedText>> texts =
      generator.runAll(*given, options, output, diags);
  if (texts)
    output.printTimes(*texts);
  return texts.has_value();
}

/// The error in the flags; empty when they are valid.
std::string Generate::check() const {
  for (const std::string &wrong :
       {model.check(), backendFlags.check(), prompt.check(), chat.check(prompt),
        sampling.check(), draft.check(), cache.check(model.package)})
    if (!wrong.empty())
      return wrong;
  return "";
}

ExitCode Generate::run(const Invocation &call) {
  if (std::string wrong = check(); !wrong.empty())
    return call.usageError(wrong);
  return runReporting([&](Diagnostics &diags) { return generate(diags); });
}

constinit const CommandDef commands::Generate = {
    .name = "generate",
    .group = commands::models,
    .summary = "Continue a text with a trained model, or converse with it",
    .synopsis = "FOLDER|MODEL.gguf|MODEL.anepkg|.mlpackage|.mlmodelc|.mil",
    .details =
        "  A FOLDER in Hugging Face's layout or a GGUF file is imported and "
        "compiled\n  when it is named first; see `ane-run cache --help`. -p is "
        "--prompt, -n, --n-predict\n  and --max-tokens are --tokens, --temp is "
        "--temperature, -c and --ctx-size are\n  --context.\n",
    .usual = "weights checkpoint prompt prompt-file chat system tokenizer "
             "tokens stop context temperature top-k top-p seed json "
             "backend",
    .examples =
        R"(  ane-run generate Qwen3-0.6B --chat --system="Answer in a sentence."
  ane-run generate Qwen3-0.6B-Q4_K_M.gguf --prompt="Once upon a time" --tokens=100
  ane-run generate model.anepkg --weights=model.safetensors --prompt="Once"
  ane-run generate forward.anepkg --checkpoint run --prompt "The compiler" --tokens 200
  ane-run generate forward.anepkg --checkpoint run --prompt-file=- --stop="." < question.txt
  ane-run generate llama.mlpackage --tokenizer=llama --prompt="Once"     of --cache=state
  ane-run generate qwen3.anepkg --tokenizer=qwen3 --chat --system="Answer in a sentence."
  ane-run generate qwen3.anepkg --tokenizer=qwen3 --prompts=questions.jsonl --json > answers.jsonl
  ane-run generate large.anepkg --tokenizer=qwen3 --draft=small.anepkg --prompt="def main():"
  ane-run generate tuned.anepkg --weights=base.safetensors --adapter=run/best/weights.safetensors --prompt="Once"
)",
    .make = makeCommand<::Generate>,
};
