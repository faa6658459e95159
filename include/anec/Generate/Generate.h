//===- Generate.h - a model that writes ------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Continues texts, token by token, with a language model:
///
///   auto model = anec::openTextModel(*session, "", diags);
///   if (!model)
///     return diags.print(llvm::errs());
///   anec::Generator generator(*model, tokenizer.get());
///   if (!generator.run("Once upon", options, [](StringRef text) { ... },
///   diags))
///     diags.print(llvm::errs());
///
/// Several prompts are continued at the same time, as many as the model holds
/// sequences. What a sequence of the model has of an earlier text is not read
/// again by the next one that begins alike, such as a conversation that goes
/// on.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_GENERATE_GENERATE_H
#define ANEC_GENERATE_GENERATE_H

#include "anec/Generate/Draft.h"
#include "anec/Generate/OpenTextModel.h"
#include "anec/Support/Words.h"
#include "anec/Text/Tokenizer.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <atomic>

namespace anec {

struct GenerateOptions {
  unsigned tokens = 100; ///< maximum number of new tokens of a text
  /// Insert the tokenizer's beginning-of-text id before the prompt.
  bool markBeginning = false;
  SamplingOptions sampling;
  /// Becomes true when all texts are to end.
  const std::atomic<bool> *stop = nullptr;
  /// Texts that end a new text and are not part of it. They are not empty, and
  /// need a tokenizer.
  std::vector<std::string> stopTexts;
  /// Ids that end a text, in addition to those of the tokenizer.
  std::vector<int32_t> endIds;
  /// How many of the first tokens a window that slides keeps; unset for the
  /// beginning-of-text id, if the text begins with it. See SlidingWindow.
  std::optional<size_t> keep;
  /// The prompt goes on from the text before, such as in a conversation: a
  /// window that slid stays where it is. Otherwise, earlier texts have no
  /// influence.
  bool goesOn = false;
  /// Reads the whole prompt, also the tokens that the model has of an earlier
  /// text. Without this, other programs may read the prompt than did for the
  /// earlier text, whose sums round differently: logits depend on earlier texts
  /// in their last bits, and with them what a seed draws.
  bool rereads = false;
  /// Whether the text that is passed on begins with the prompt.
  bool echo = true;
  /// Whether log-probabilities are computed.
  bool logProbs = false;
  /// Guesses at `draftTokens` in each step; null for none.
  Draft *draft = nullptr;
  unsigned draftTokens = 4;
};

/// Why a text ended: after the maximum number of tokens, by an id that ends
/// texts, by a stop text, or by `GenerateOptions::stop`.
ANEC_ENUM(Finish, (Length, "length"), (End, "end"), (StopText, "stop"),
          (Interrupted, "interrupted"))

/// A continued text.
struct GeneratedText {
  std::vector<int32_t> promptIds;
  /// The new tokens, without the one that ended the text, but with those of a
  /// stop text.
  std::vector<int32_t> ids;
  std::string text; ///< of `ids`, without a stop text
  /// Natural logarithms of the model's probabilities of `ids`, before any
  /// filter; empty unless asked for.
  std::vector<double> logProbs;
  Finish finish = Finish::Length;
  std::string stopText;    ///< that ended it; empty for none
  size_t drafted = 0;      ///< guesses that the model verified
  size_t accepted = 0;     ///< and those that it agreed with
  double firstSeconds = 0; ///< until the first new token
  double seconds = 0;      ///< for all other new tokens
  /// 0 if no token was made.
  double promptTokensPerSecond() const {
    return firstSeconds > 0 ? double(promptIds.size()) / firstSeconds : 0;
  }
  double tokensPerSecond() const { ///< not counting the first; 0 if unknown
    return seconds > 0 ? double(ids.size() - 1) / seconds : 0;
  }
};

/// A text to continue.
struct Prompt {
  std::vector<int32_t> ids; ///< at least one
  uint64_t seed = 0;        ///< instead of that of SamplingOptions
};

/// Follows texts as they are written. Prompts are numbered by their order.
class GenerateListener {
public:
  virtual ~GenerateListener();
  /// More of the text, in complete UTF-8 characters: the prompt if it is
  /// echoed, and new text.
  virtual void onText(size_t, llvm::StringRef) {}
  /// A new token, before its text, and its log-probability, which is 0 unless
  /// it is asked for.
  virtual void onToken(size_t, int32_t, double) {}
  /// A text has ended. Texts are reported in the order of the prompts.
  virtual void onFinish(size_t, const GeneratedText &) {}
};

/// Receives the prompt, if it is echoed, and then the text as it is generated,
/// always complete UTF-8 characters.
using TextSink = llvm::function_ref<void(llvm::StringRef)>;

class Generator {
public:
  /// Without a tokenizer, there are only ids. Model and tokenizer must outlive
  /// the generator.
  Generator(TextModel &model, const Tokenizer *tokenizer);

  /// The ids of `prompt`, of which there is at least one: the
  /// beginning-of-text id if `markBeginning`, or if `prompt` is empty. Returns
  /// nothing, with the reason reported, when the tokenizer or the model does
  /// not have them.
  [[nodiscard]] std::optional<std::vector<int32_t>>
  encode(llvm::StringRef prompt, bool markBeginning, Diagnostics &diags) const;
  /// Whether model and tokenizer have all of `ids`, at least one. If not, the
  /// reason is reported.
  [[nodiscard]] bool canRead(llvm::ArrayRef<int32_t> ids,
                             Diagnostics &diags) const;
  /// Whether the options fit the model: what does not is reported.
  [[nodiscard]] bool canUse(const GenerateOptions &options,
                            Diagnostics &diags) const;

  /// Passes `prompt` and its continuation to `sink`. Returns nothing, with the
  /// reason reported, on failure.
  [[nodiscard]] std::optional<GeneratedText> run(llvm::StringRef prompt,
                                                 const GenerateOptions &options,
                                                 TextSink sink,
                                                 Diagnostics &diags);
  /// The same for ids that `canRead` accepts.
  [[nodiscard]] std::optional<GeneratedText> run(llvm::ArrayRef<int32_t> prompt,
                                                 const GenerateOptions &options,
                                                 TextSink sink,
                                                 Diagnostics &diags);
  /// Continues all `prompts`, whose ids `canRead` accepts. Each text is what
  /// `run` makes of its prompt and seed. Returns nothing, with the reason
  /// reported, on failure.
  [[nodiscard]] std::optional<std::vector<GeneratedText>>
  runAll(llvm::ArrayRef<Prompt> prompts, const GenerateOptions &options,
         GenerateListener &listener, Diagnostics &diags);

  bool hasTokenizer() const { return tokenizer != nullptr; }
  size_t positions() const { return model->positions(); }
  /// The ids that can be generated: those of the model that the tokenizer has;
  /// others are padding.
  size_t vocabulary() const { return usable; }

private:
  TextModel *model;
  const Tokenizer *tokenizer;
  size_t usable;
  std::vector<SlidingWindow> windows; ///< of the model's sequences
};

} // namespace anec

#endif // ANEC_GENERATE_GENERATE_H
