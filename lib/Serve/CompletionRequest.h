//===- CompletionRequest.h - what a client asks of a model ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Reads the bodies of requests for text in the form of OpenAI's HTTP API
/// (https://platform.openai.com/docs/api-reference), which many clients send:
/// `/v1/chat/completions` and `/v1/completions`. Every field is read, known to
/// have no effect here, or refused by name.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SERVE_COMPLETIONREQUEST_H
#define ANEC_LIB_SERVE_COMPLETIONREQUEST_H

#include "anec/Generate/Generate.h"
#include "anec/Text/ChatTemplate.h"
#include <optional>
#include <string>
#include <vector>

namespace anec {

/// Why a request is refused.
struct RequestError {
  int status = 400; ///< of HTTP
  std::string message;
  std::string field = {}; ///< of the body; empty if it is not about one
  std::string code = {};  ///< for programs; empty for none
};

enum class CompletionKind : uint8_t {
  Chat, ///< a conversation is answered
  Text, ///< a text is continued
};

struct CompletionRequest {
  CompletionKind kind = CompletionKind::Text;
  std::vector<ChatMessage> messages; ///< of a conversation
  ChatOptions form;                  ///< of the conversation's template
  std::string prompt;                ///< the text to continue
  std::vector<int32_t> promptIds;    ///< or its ids, if there are any
  GenerateOptions options;
  /// The most new tokens; unset for all that the model has positions for.
  std::optional<unsigned> tokens;
  std::optional<uint64_t> seed;
  bool streams = false;     ///< the text is sent piece by piece
  bool countsUsage = false; ///< numbers of tokens end a stream
};

/// Reads the JSON text `body`. What it does not say is as in `defaults`.
/// Returns nothing, with `error` set, when it is refused.
std::optional<CompletionRequest>
readCompletionRequest(llvm::StringRef body, CompletionKind kind,
                      const GenerateOptions &defaults, RequestError &error);

} // namespace anec

#endif // ANEC_LIB_SERVE_COMPLETIONREQUEST_H
