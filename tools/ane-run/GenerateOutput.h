//===- GenerateOutput.h - what generate prints ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_GENERATEOUTPUT_H
#define ANEC_TOOLS_ANE_RUN_GENERATEOUTPUT_H

#include "anec/Generate/ChatSession.h"

namespace anec {

/// Prints texts, or JSON, on standard output as they are written, and figures
/// on standard error.
class GenerateOutput : public GenerateListener {
public:
  struct Form {
    bool json = false;
    bool quiet = false;
    /// There can be several texts: each is printed when it is finished.
    bool several = false;
  };
  /// `tokenizer` is null if ids are printed.
  GenerateOutput(Form form, const Tokenizer *tokenizer, llvm::StringRef backend)
      : form(form), tokenizer(tokenizer), backend(backend) {}

  /// Prints what memory a model takes, and how many positions it has. The
  /// session of a program with states is null.
  void describe(llvm::StringRef whose, const Session *session,
                const TextModel &model) const;
  /// Prints how many tokens were made, and how fast.
  void printTimes(llvm::ArrayRef<GeneratedText> texts) const;
  /// Prints the next answer of a conversation, with its times. Returns nothing,
  /// with the reason reported, on failure.
  [[nodiscard]] std::optional<GeneratedText>
  answer(ChatSession &chat, const GenerateOptions &options, Diagnostics &diags);

  void onText(size_t prompt, llvm::StringRef text) override;
  void onToken(size_t prompt, int32_t id, double) override;
  void onFinish(size_t prompt, const GeneratedText &text) override;

private:
  bool streams() const { return !form.json && !form.several; }

  Form form;
  const Tokenizer *tokenizer;
  std::string backend;
  std::vector<std::string> waiting; ///< texts by prompt, if there are several
  bool hasPrinted = false;          ///< an id, in this line
};

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_GENERATEOUTPUT_H
