//===- CompletionJson.cpp - what a client is answered ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Serve/CompletionJson.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
using llvm::StringRef;
namespace json = llvm::json;

static std::string print(json::Object object) {
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(object));
  return text;
}

static StringRef spellingOfFinish(Finish finish) {
  return finish == Finish::End || finish == Finish::StopText ? "stop"
                                                             : "length";
}

static json::Object usageOf(const GeneratedText &text) {
  auto prompt = int64_t(text.promptIds.size()), made = int64_t(text.ids.size());
  return json::Object{{"prompt_tokens", prompt},
                      {"completion_tokens", made},
                      {"total_tokens", prompt + made}};
}

static json::Object withHead(const CompletionHead &head, bool isChunk,
                             json::Array choices) {
  bool isChat = head.kind == CompletionKind::Chat;
  StringRef object = !isChat   ? "text_completion"
                     : isChunk ? "chat.completion.chunk"
                               : "chat.completion";
  return json::Object{{"id", head.id},
                      {"object", object},
                      {"created", head.created},
                      {"model", json::fixUTF8(head.model)},
                      {"choices", std::move(choices)}};
}

/// A chunk with one choice. `what` is the change of a message, or a text.
static std::string chunk(const CompletionHead &head, json::Value what,
                         json::Value finish) {
  StringRef member = head.kind == CompletionKind::Chat ? "delta" : "text";
  json::Object choice{{"index", 0},
                      {member, std::move(what)},
                      {"logprobs", nullptr},
                      {"finish_reason", std::move(finish)}};
  return print(withHead(head, true, json::Array{std::move(choice)}));
}

std::string anec::completionJson(const CompletionHead &head, StringRef text,
                                 const GeneratedText &made) {
  json::Object choice{{"index", 0},
                      {"logprobs", nullptr},
                      {"finish_reason", spellingOfFinish(made.finish)}};
  std::string whole = json::fixUTF8(text);
  if (head.kind == CompletionKind::Chat)
    choice["message"] = json::Object{{"role", "assistant"}, {"content", whole}};
  else
    choice["text"] = whole;
  json::Object answer = withHead(head, false, json::Array{std::move(choice)});
  answer["usage"] = usageOf(made);
  return print(std::move(answer));
}

std::string anec::beginningChunk(const CompletionHead &head) {
  return chunk(head, json::Object{{"role", "assistant"}, {"content", ""}},
               nullptr);
}

std::string anec::textChunk(const CompletionHead &head, StringRef text) {
  std::string valid = json::fixUTF8(text);
  if (head.kind == CompletionKind::Chat)
    return chunk(head, json::Object{{"content", valid}}, nullptr);
  return chunk(head, valid, nullptr);
}

std::string anec::finishChunk(const CompletionHead &head, Finish finish) {
  StringRef reason = spellingOfFinish(finish);
  if (head.kind == CompletionKind::Chat)
    return chunk(head, json::Object{}, reason);
  return chunk(head, "", reason);
}

std::string anec::usageChunk(const CompletionHead &head,
                             const GeneratedText &text) {
  json::Object last = withHead(head, true, json::Array{});
  last["usage"] = usageOf(text);
  return print(std::move(last));
}

std::string anec::errorJson(const RequestError &error) {
  auto orNull = [](const std::string &text) {
    return text.empty() ? json::Value(nullptr)
                        : json::Value(json::fixUTF8(text));
  };
  bool isOurs = error.status >= 500;
  return print(json::Object{
      {"error",
       json::Object{{"message", json::fixUTF8(error.message)},
                    {"type", isOurs ? "server_error" : "invalid_request_error"},
                    {"param", orNull(error.field)},
                    {"code", orNull(error.code)}}}});
}

static json::Object model(StringRef name, int64_t created) {
  return json::Object{{"id", json::fixUTF8(name)},
                      {"object", "model"},
                      {"created", created},
                      {"owned_by", "anec"}};
}

std::string anec::modelJson(StringRef name, int64_t created) {
  return print(model(name, created));
}

std::string anec::modelsJson(StringRef name, int64_t created) {
  return print(json::Object{{"object", "list"},
                            {"data", json::Array{model(name, created)}}});
}
