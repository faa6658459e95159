//===- Prompts.h - reading texts to continue --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_GENERATE_PROMPTS_H
#define ANEC_LIB_GENERATE_PROMPTS_H

#include "anec/Generate/Generate.h"

namespace anec {

/// `1,5,7`, with or without spaces. Returns nothing, with the reason reported,
/// when that is not a list of ids.
[[nodiscard]] std::optional<std::vector<int32_t>>
parsePromptIds(llvm::StringRef text, Diagnostics &diags);

/// The text of the file at `path`, or of standard input for `-`. Returns
/// nothing, with the reason reported, when it cannot be read.
[[nodiscard]] std::optional<std::string> readPromptFile(llvm::StringRef path,
                                                        Diagnostics &diags);

/// A line of a file of prompts.
struct PromptLine {
  int64_t number = 0; ///< from 1 on
  std::optional<std::string> text;
  std::vector<int32_t> ids; ///< without a text
  std::optional<uint64_t> seed;
};

/// Reads the prompts in the file at `path`, one in each line that is not empty:
/// the text of the line or, where it begins with `{`, a JSON object with
/// `prompt`, a text, or `prompt_ids`, a list of ids, and optionally `seed`.
/// Returns nothing, with the reason reported, when a line is none of these, or
/// there is no prompt.
[[nodiscard]] std::optional<std::vector<PromptLine>>
readPromptLines(llvm::StringRef path, Diagnostics &diags);

/// The prompts in the lines of `path`. Prompt n, from 0 on, has the seed of the
/// options plus n unless its line has one. Returns nothing, with the reason
/// reported, when a prompt has no ids that the model knows.
[[nodiscard]] std::optional<std::vector<Prompt>>
encodePrompts(llvm::ArrayRef<PromptLine> lines, llvm::StringRef path,
              const Generator &generator, const GenerateOptions &options,
              Diagnostics &diags);

} // namespace anec

#endif // ANEC_LIB_GENERATE_PROMPTS_H
