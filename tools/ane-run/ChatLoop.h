//===- ChatLoop.h - a conversation with standard input ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_CHATLOOP_H
#define ANEC_TOOLS_ANE_RUN_CHATLOOP_H

#include "GenerateOutput.h"

namespace anec {

/// Answers each line of standard input, until `/exit` or its end. A line that
/// ends in `\` goes on in the next one. SIGINT ends an answer, and otherwise
/// the process. Returns false, with the reason reported, on failure.
[[nodiscard]] bool runChat(ChatSession &chat, const GenerateOptions &options,
                           GenerateOutput &output, Diagnostics &diags);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_CHATLOOP_H
