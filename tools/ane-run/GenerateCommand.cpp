//===- GenerateCommand.cpp - ane-run generate PACKAGE ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Signals.h"
#include "BackendFlags.h"
#include "CacheFlags.h"
#include "ChatLoop.h"
#include "CommandTable.h"
#include "GenerateFlags.h"
#include "GenerateOutput.h"
#include "anec/API/ModelCache.h"
#include "anec/Formats/Source.h"
#include "anec/Generate/Diags.h"
#include "anec/Generate/Prompts.h"
#include "anec/Generate/StatefulModel.h"
#include "anec/Runtime/ProgramRun.h"
#include "llvm/Support/FileSystem.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

/// A model that is loaded.
struct LoadedModel {
  std::optional<TrainedModel> trained;
  std::unique_ptr<Session> session; ///< null for a program with states
  std::unique_ptr<TextModel> text;
};

/// Opens a program whose functions keep a text in states.
std::unique_ptr<TextModel> openProgram(llvm::StringRef path, Backend &backend,
                                       LoadOptions load, Diagnostics &diags) {
  std::unique_ptr<Module> module = readSourceFile(path, {}, diags);
  if (!module || !llvm::all_of(module->functions, [&](const auto &function) {
        return hasWeightValues(*function, diags);
      }))
    return nullptr;
  load.milVersion = module->version;
  return openStatefulModel(std::move(module), path, backend, load, diags);
}

class Generate : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  std::string check() const;
  bool marksBeginning(const Tokenizer *tokenizer) const;
  bool generate(Diagnostics &diags) const;
  bool load(LoadedModel &model, TrainedModelSource source,
            llvm::StringRef function, Backend &backend,
            Diagnostics &diags) const;
  bool converse(Generator &generator, const Tokenizer *tokenizer,
                const GenerateOptions &options, GenerateOutput &output,
                Diagnostics &diags) const;
  std::optional<std::vector<Prompt>> prompts(const Generator &generator,
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
  cl::opt<bool> noEcho{"no-echo",
                       cl::desc("Print new text only, without the prompt")};
  cl::opt<bool> json{
      "json", cl::desc("Print a line with a JSON object for each text: ids, "
                       "text, log-probabilities, timings")};
  cl::opt<bool> quiet{
      "quiet", cl::desc("Print no memory and no times on standard error")};
};

} // namespace

/// Reports what cannot be a model at all.
static bool isModel(llvm::StringRef path, Diagnostics &diags) {
  if (!llvm::sys::fs::exists(path)) {
    diags.reportFile(path, diag::CannotOpen, "No such file or directory");
    return false;
  }
  bool isKnown = isProgram(path) || canImport(path) ||
                 llvm::sys::fs::exists(path + "/manifest.json");
  if (!isKnown)
    diags.reportFile(path, diag::NotAModel);
  return isKnown;
}

bool Generate::load(LoadedModel &loaded, TrainedModelSource source,
                    llvm::StringRef function, Backend &backend,
                    Diagnostics &diags) const {
  if (!isModel(source.package, diags) || !cache.prepare(source, quiet, diags))
    return false;
  std::string model = source.package;
  loaded.trained = TrainedModel::read(std::move(source), diags);
  if (!loaded.trained)
    return false;
  if (isProgram(model)) {
    loaded.text = openProgram(model, backend, backendFlags.load(), diags);
    return loaded.text != nullptr;
  }
  loaded.session = loaded.trained->open(backend, backendFlags.load(), diags);
  if (!loaded.session)
    return false;
  loaded.text = openTextModel(*loaded.session, function, diags);
  return loaded.text != nullptr;
}

std::optional<std::vector<Prompt>>
Generate::prompts(const Generator &generator, const GenerateOptions &options,
                  Diagnostics &diags) const {
  if (prompt.several.getNumOccurrences())
    return readPrompts(prompt.several, generator, options, diags);
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

/// Without --bos, the tokenizer of an imported model says whether its texts
/// begin with that id.
bool Generate::marksBeginning(const Tokenizer *tokenizer) const {
  if (prompt.markBeginning.getNumOccurrences() || !tokenizer ||
      !canImport(model.package))
    return prompt.markBeginning;
  std::vector<int32_t> markers = tokenizer->withMarkers({});
  return !markers.empty() && tokenizer->beginning() == markers.front();
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
  TrainedModelSource source = model.source();
  // Without texts, ids can be all that is read and printed.
  source.needsTokenizer = chat.isGiven() || prompt.hasText();
  LoadedModel main, drafting;
  if (!load(main, source, model.function, *backend, diags))
    return false;
  const Tokenizer *tokenizer = main.trained->tokenizer();
  if (main.trained->guessesBytes() &&
      main.text->vocabulary() > tokenizer->vocabulary()) {
    diags.reportFile(model.package, diag::BytesOfLarger,
                     int64_t(main.text->vocabulary()));
    return false;
  }
  if (!tokenizer && sampling.stops.getNumOccurrences()) {
    diags.report({}, diag::NeedsTokenizer, "--stop");
    return false;
  }

  GenerateOptions options;
  sampling.apply(options);
  if (!sampling.addEnds(options, diags))
    return false;
  options.markBeginning = marksBeginning(tokenizer);
  options.echo = !noEcho;
  options.logProbs = json;
  options.stop = &stopRequested();
  std::unique_ptr<Draft> guesses;
  if (draft.isLookup()) {
    guesses = std::make_unique<LookupDraft>();
  } else if (draft.isGiven()) {
    if (!load(drafting, draft.source(), "", *backend, diags))
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
  std::optional<std::vector<Prompt>> given = prompts(generator, options, diags);
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
    .examples =
        R"(  ane-run generate Qwen3-0.6B --chat --system="Answer in a sentence."
  ane-run generate Qwen3-0.6B-Q4_K_M.gguf --prompt="Once upon a time" --tokens=100
  ane-run generate model.anepkg --weights=model.safetensors --prompt="Once"
  ane-run generate forward.anepkg --checkpoint run --prompt "The compiler" --tokens 200
  ane-run generate forward.anepkg --checkpoint run --prompt-file=- --no-echo --stop="." < question.txt
  ane-run generate llama.mlpackage --tokenizer=llama --prompt="Once"     of --cache=state
  ane-run generate qwen3.anepkg --tokenizer=qwen3 --chat --system="Answer in a sentence."
  ane-run generate qwen3.anepkg --tokenizer=qwen3 --prompts=questions.jsonl --json > answers.jsonl
  ane-run generate large.anepkg --tokenizer=qwen3 --draft=small.anepkg --prompt="def main():"
  ane-run generate tuned.anepkg --weights=base.safetensors --adapter=run/best/weights.safetensors --prompt="Once"
)",
    .make = makeCommand<::Generate>,
};
