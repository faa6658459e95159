//===- SessionText.cpp - text by a session of the API ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/API/ProgramSession.h"
#include "anec/Generate/Generate.h"
#include "lib/API/Diags.h"

using namespace anec;

std::unique_ptr<TextModel> ProgramSession::openTextModel(llvm::StringRef entry,
                                                         Diagnostics &diags) {
  if (Session *session = packageSession())
    return anec::openTextModel(*session, entry, diags);
  diags.report({}, diag::NeedsPackage, "generate text");
  return nullptr;
}

std::optional<GeneratedText>
ProgramSession::generate(llvm::StringRef prompt, const Tokenizer &tokenizer,
                         const GenerateOptions &options, TextSink sink,
                         Diagnostics &diags) {
  std::unique_ptr<TextModel> model = openTextModel("", diags);
  if (!model)
    return std::nullopt;
  return Generator(*model, &tokenizer).run(prompt, options, sink, diags);
}
