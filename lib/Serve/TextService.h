//===- TextService.h - one model for several clients ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Writes the texts that several threads ask for with one model, one after the
/// other in the order in which they asked:
///
///   anec::TextService service(generator, tokenizer, stop, /*queue=*/32);
///   auto text = service.prepare(*request, error);
///   auto place = service.enter(error);
///   auto made = service.write(*text, *place, client, error);
///
/// What the model has read for the text before, it does not read again when the
/// next begins alike, such as a conversation that goes on.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SERVE_TEXTSERVICE_H
#define ANEC_LIB_SERVE_TEXTSERVICE_H

#include "lib/Serve/CompletionRequest.h"
#include <atomic>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>

namespace anec {

/// Receives a text.
class TextClient {
public:
  virtual ~TextClient();
  /// More of the text, in complete characters.
  virtual void onText(llvm::StringRef text) = 0;
  /// Whether the text is still wanted. Asked while the request waits, and with
  /// each token.
  virtual bool isWaiting() = 0;
};

/// A request that fits the model.
struct PreparedText {
  std::vector<int32_t> ids; ///< of the prompt
  GenerateOptions options;
};

class TextService;

/// A place in the queue of a service, which its destructor gives up.
class TextPlace {
public:
  ~TextPlace();
  TextPlace(const TextPlace &) = delete;
  TextPlace &operator=(const TextPlace &) = delete;

private:
  friend class TextService;
  TextPlace(TextService &service, uint64_t ticket)
      : service(service), ticket(ticket) {}
  TextService &service;
  uint64_t ticket;
};

class TextService {
public:
  /// The generator, its tokenizer and `stop` must outlive the service. When
  /// `stop` becomes true, all texts end. At most `queue` requests wait.
  TextService(Generator &generator, const Tokenizer &tokenizer,
              const std::atomic<bool> &stop, size_t queue);

  /// Encodes what `request` asks for. Returns nothing, with `error` set, when
  /// the model cannot take it.
  std::optional<PreparedText> prepare(const CompletionRequest &request,
                                      RequestError &error);
  /// A place in the queue. Null, with `error` set, when too many wait.
  std::shared_ptr<TextPlace> enter(RequestError &error);
  /// Waits for the model at `place`, and writes. Returns nothing, with `error`
  /// set, when the model fails. The text is interrupted when `client` no longer
  /// waits.
  std::optional<GeneratedText> write(PreparedText text, const TextPlace &place,
                                     TextClient &client, RequestError &error);

  /// Why conversations are refused; empty when they are not.
  const std::string &noChatReason() const { return noChat; }

private:
  friend class TextPlace;
  [[nodiscard]] bool waitForTurn(uint64_t ticket, TextClient &client);

  Generator &generator;
  const Tokenizer &tokenizer;
  const std::atomic<bool> &stop;
  size_t queue;
  std::optional<ChatTemplate> chat;
  std::string noChat;

  std::mutex preparing; ///< tokenizer and template
  std::mutex mutex;     ///< what follows
  std::condition_variable turns;
  /// The request that the model works for is in front; others wait behind it.
  std::list<uint64_t> tickets;
  uint64_t nextTicket = 0;
};

} // namespace anec

#endif // ANEC_LIB_SERVE_TEXTSERVICE_H
