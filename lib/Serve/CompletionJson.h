//===- CompletionJson.h - what a client is answered -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The answers to requests for text, as JSON in the form of OpenAI's HTTP API.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SERVE_COMPLETIONJSON_H
#define ANEC_LIB_SERVE_COMPLETIONJSON_H

#include "lib/Serve/CompletionRequest.h"
#include "llvm/Support/JSON.h"

namespace anec {

/// What all objects of an answer say.
struct CompletionHead {
  CompletionKind kind = CompletionKind::Text;
  std::string id;      ///< of the answer
  std::string model;   ///< that wrote it
  int64_t created = 0; ///< seconds since 1970
};

/// The whole answer: `text`, as it was made.
std::string completionJson(const CompletionHead &head, llvm::StringRef text,
                           const GeneratedText &made);

/// One object of a stream: the first of a conversation, which names the role; a
/// piece of the text; the last, which says why the text ended; and numbers of
/// tokens.
std::string beginningChunk(const CompletionHead &head);
std::string textChunk(const CompletionHead &head, llvm::StringRef text);
std::string finishChunk(const CompletionHead &head, Finish finish);
std::string usageChunk(const CompletionHead &head, const GeneratedText &text);

/// `{"error": {..}}`.
std::string errorJson(const RequestError &error);

/// The list of the one model, or the model itself.
std::string modelsJson(llvm::StringRef model, int64_t created);
std::string modelJson(llvm::StringRef model, int64_t created);

} // namespace anec

#endif // ANEC_LIB_SERVE_COMPLETIONJSON_H
