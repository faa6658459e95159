//===- TextService.cpp - one model for several clients --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Serve/TextService.h"
#include "anec/Generate/ChatSession.h"
#include <algorithm>
#include <chrono>

using namespace anec;

TextClient::~TextClient() = default;

namespace {
/// Passes a text on, until its client has gone or the service ends.
struct Listener : GenerateListener {
  Listener(TextClient &client, const std::atomic<bool> &stop)
      : client(client), stop(stop) {}
  void onText(size_t, llvm::StringRef text) override { client.onText(text); }
  void onToken(size_t, int32_t, double) override {
    isOver = stop || !client.isWaiting();
  }

  TextClient &client;
  const std::atomic<bool> &stop;
  std::atomic<bool> isOver{false};
};
} // namespace

/// What was reported, without the file: `the conversation has no user turn`.
static std::string messageOf(const Diagnostics &diags) {
  return diags.all().empty() ? "unknown" : diags.all().front().message;
}

TextService::TextService(Generator &generator, const Tokenizer &tokenizer,
                         const std::atomic<bool> &stop, size_t queue)
    : generator(generator), tokenizer(tokenizer), stop(stop), queue(queue) {
  Diagnostics diags;
  chat = openChatTemplate(tokenizer, diags);
  if (!chat)
    noChat = messageOf(diags);
}

std::optional<PreparedText>
TextService::prepare(const CompletionRequest &request, RequestError &error) {
  std::lock_guard<std::mutex> lock(preparing);
  bool isChat = request.kind == CompletionKind::Chat;
  Diagnostics diags;
  PreparedText text;
  text.options = request.options;
  std::optional<std::vector<int32_t>> ids;
  if (isChat && !chat) {
    error.message = "the model takes no conversations: " + noChat;
    return std::nullopt;
  }
  if (isChat) {
    text.options.echo = false;
    endWithTurn(*chat, tokenizer, text.options);
    if (auto whole = chat->render(request.messages, request.form, diags))
      ids = tokenizer.encode(*whole, diags);
  } else if (!request.promptIds.empty()) {
    ids = request.promptIds;
  } else {
    ids = generator.encode(request.prompt, text.options.markBeginning, diags);
  }
  if (!ids || !generator.canRead(*ids, diags)) {
    error.message = messageOf(diags);
    error.field = isChat ? "messages" : "prompt";
    return std::nullopt;
  }
  if (ids->size() >= generator.positions()) {
    error.code = "context_length_exceeded";
    error.field = isChat ? "messages" : "prompt";
    error.message = "the prompt has " + std::to_string(ids->size()) +
                    " tokens, and the model has positions for " +
                    std::to_string(generator.positions());
    return std::nullopt;
  }
  size_t left = generator.positions() - ids->size();
  size_t wanted = request.tokens.value_or(unsigned(left));
  text.options.tokens = unsigned(std::min(wanted, left));
  if (request.seed) {
    text.options.sampling.seed = *request.seed;
    text.options.rereads = true;
  }
  text.ids = std::move(*ids);
  return text;
}

TextPlace::~TextPlace() {
  std::lock_guard<std::mutex> lock(service.mutex);
  service.tickets.remove(ticket);
  service.turns.notify_all();
}

std::shared_ptr<TextPlace> TextService::enter(RequestError &error) {
  std::lock_guard<std::mutex> lock(mutex);
  if (tickets.size() > queue) {
    error.status = 503;
    error.code = "overloaded";
    error.message = "the model is busy, and " + std::to_string(queue) +
                    " requests wait for it";
    return nullptr;
  }
  tickets.push_back(nextTicket);
  return std::shared_ptr<TextPlace>(new TextPlace(*this, nextTicket++));
}

bool TextService::waitForTurn(uint64_t ticket, TextClient &client) {
  // How long a client that has gone can keep its place.
  constexpr auto look = std::chrono::milliseconds(100);
  std::unique_lock<std::mutex> lock(mutex);
  while (tickets.front() != ticket) {
    turns.wait_for(lock, look);
    if (tickets.front() == ticket)
      break;
    lock.unlock();
    if (stop || !client.isWaiting())
      return false;
    lock.lock();
  }
  return !stop;
}

std::optional<GeneratedText> TextService::write(PreparedText text,
                                                const TextPlace &place,
                                                TextClient &client,
                                                RequestError &error) {
  GeneratedText ended;
  ended.finish = Finish::Interrupted;
  if (!waitForTurn(place.ticket, client))
    return ended;

  Listener listener(client, stop);
  text.options.stop = &listener.isOver;
  Diagnostics diags;
  auto made = generator.runAll({{text.ids, text.options.sampling.seed}},
                               text.options, listener, diags);
  if (!made) {
    error.status = 500;
    error.message = messageOf(diags);
    return std::nullopt;
  }
  return std::move(made->front());
}
