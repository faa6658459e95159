//===- HttpServer.cpp - texts by HTTP -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "HttpServer.h"
#include "lib/Generate/Diags.h"
#include "lib/Serve/CompletionJson.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <httplib.h>
#include <mutex>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

using namespace anec;
using llvm::StringRef;

static constexpr llvm::StringLiteral address = "127.0.0.1";

//===----------------------------------------------------------------------===//
// Requests that are refused
//===----------------------------------------------------------------------===//

/// Whether `host`, with or without a port, is a name of this machine that no
/// name server can give to another site's pages.
static bool isLoopback(StringRef host) {
  StringRef part = host;
  if (part.consume_front("[")) {
    auto [inside, port] = part.split(']');
    return inside == "::1" && (port.empty() || port.starts_with(":"));
  }
  part = part.split(':').first;
  return part == address || part.equals_insensitive("localhost");
}

/// Why a request is refused by where it comes from; empty if it is not.
static std::string refusal(const httplib::Request &request) {
  if (!isLoopback(request.get_header_value("Host")))
    return "the header `Host` names another machine";
  if (!request.has_header("Origin"))
    return "";
  std::string origin = request.get_header_value("Origin");
  StringRef site = origin;
  if ((site.consume_front("http://") || site.consume_front("https://")) &&
      isLoopback(site))
    return "";
  return "the request comes from a page of another site";
}

static void refuse(httplib::Response &response, const RequestError &error) {
  response.status = error.status;
  response.set_content(errorJson(error), "application/json");
}

/// The handler with the check of `refusal` before it. At this point the body
/// has been read: the library takes a body that is left for the next request of
/// the connection, whose headers another site could choose.
static httplib::Server::Handler guarded(httplib::Server::Handler handler) {
  return [handler = std::move(handler)](const httplib::Request &request,
                                        httplib::Response &response) {
    std::string why = refusal(request);
    if (!why.empty())
      return refuse(response, {403, why});
    handler(request, response);
  };
}

/// Why a request is refused before its body is read. Pages of other sites
/// cannot send what is refused here.
static std::optional<RequestError> formError(const httplib::Request &request) {
  if (request.method != "POST") {
    // The library finds the handler by a recursive match of the path.
    if (request.path.size() > 1000)
      return RequestError{414, "the path of the request is too long"};
    return std::nullopt;
  }
  // Some versions of the library do not limit the sizes of other bodies.
  if (request.has_header("Transfer-Encoding") ||
      !request.has_header("Content-Length"))
    return RequestError{411, "a body needs the header `Content-Length`"};
  if (request.has_header("Content-Encoding"))
    return RequestError{415, "the body of a request cannot be compressed"};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

namespace {

/// The connection of a client, on which a text is sent when it is asked for
/// piece by piece.
class Connection : public TextClient {
public:
  Connection(httplib::DataSink &sink, const CompletionHead &head, bool streams)
      : sink(sink), head(head), streams(streams) {}

  void onText(StringRef text) override {
    if (streams)
      sendEvent(textChunk(head, text));
    else
      whole += text;
  }
  bool isWaiting() override { return isOpen && sink.is_writable(); }

  void send(const std::string &text) {
    isOpen = isOpen && sink.write(text.data(), text.size());
  }
  void sendEvent(const std::string &json) { send("data: " + json + "\n\n"); }

  std::string whole; ///< a text that is sent at once

private:
  httplib::DataSink &sink;
  const CompletionHead &head;
  bool streams;
  bool isOpen = true;
};

/// What the handlers of a server share.
class Handlers {
public:
  Handlers(TextService &service, const HttpServerOptions &options)
      : service(service), options(options), begin(std::time(nullptr)) {
    // Identifiers of two servers differ.
    prefix = llvm::utohexstr(std::random_device()(), true);
  }

  void add(httplib::Server &server);

private:
  void complete(CompletionKind kind, const httplib::Request &asked,
                httplib::Response &response);
  bool answer(const CompletionHead &head, const CompletionRequest &request,
              const PreparedText &text, const TextPlace &place,
              httplib::DataSink &sink);
  void print(const CompletionHead &head, const GeneratedText &text) const;

  TextService &service;
  const HttpServerOptions &options;
  int64_t begin;
  std::string prefix;
  std::atomic<uint64_t> requests{0};
  std::mutex reading;          ///< of bodies
  mutable std::mutex printing; ///< to standard error
};

} // namespace

static StringRef pathOf(CompletionKind kind) {
  return kind == CompletionKind::Chat ? "/v1/chat/completions"
                                      : "/v1/completions";
}

void Handlers::print(const CompletionHead &head,
                     const GeneratedText &text) const {
  if (options.isQuiet)
    return;
  // Threads print at the same time.
  std::lock_guard<std::mutex> lock(printing);
  std::string line;
  llvm::raw_string_ostream out(line);
  out << "POST " << pathOf(head.kind) << ": " << text.ids.size()
      << " tokens after " << text.promptIds.size();
  if (text.seconds > 0)
    out << llvm::format(", %.1f tokens/s", text.tokensPerSecond());
  if (text.finish == Finish::Interrupted)
    out << ", interrupted";
  out << '\n';
  llvm::errs() << out.str();
}

/// Writes the text, and sends it. Returns false when the connection is to be
/// closed, which tells the client that the answer is not whole.
bool Handlers::answer(const CompletionHead &head,
                      const CompletionRequest &request,
                      const PreparedText &text, const TextPlace &place,
                      httplib::DataSink &sink) {
  Connection client(sink, head, request.streams);
  if (request.streams && head.kind == CompletionKind::Chat)
    client.sendEvent(beginningChunk(head));
  RequestError error;
  std::optional<GeneratedText> made = service.write(text, place, client, error);
  if (!made) {
    if (request.streams)
      client.sendEvent(errorJson(error));
    return false;
  }
  print(head, *made);
  if (made->finish == Finish::Interrupted)
    return false;
  if (!request.streams) {
    client.send(completionJson(head, client.whole, *made));
  } else {
    client.sendEvent(finishChunk(head, made->finish));
    if (request.countsUsage)
      client.sendEvent(usageChunk(head, *made));
    client.sendEvent("[DONE]");
  }
  sink.done();
  return true;
}

void Handlers::complete(CompletionKind kind, const httplib::Request &asked,
                        httplib::Response &response) {
  uint64_t number = requests++;
  GenerateOptions defaults = options.defaults;
  defaults.sampling.seed = options.seed + number;
  RequestError error;
  std::optional<CompletionRequest> request;
  {
    // One body at a time: its values take many times its memory.
    std::lock_guard<std::mutex> lock(reading);
    request = readCompletionRequest(asked.body, kind, defaults, error);
  }
  std::optional<PreparedText> text;
  if (request && !request->tokens)
    request->tokens = options.tokens;
  if (request)
    text = service.prepare(*request, error);
  std::shared_ptr<TextPlace> place;
  if (text)
    place = service.enter(error);
  if (!place)
    return refuse(response, error);
  bool isChat = kind == CompletionKind::Chat;
  CompletionHead head{kind,
                      (isChat ? "chatcmpl-" : "cmpl-") + prefix + "-" +
                          std::to_string(number),
                      options.model, int64_t(std::time(nullptr))};
  // A whole answer goes the same way as a stream: the connection shows whether
  // the client is still there.
  response.set_chunked_content_provider(
      request->streams ? "text/event-stream" : "application/json",
      [this, head, request = std::move(*request), text = std::move(*text),
       place = std::move(place)](size_t, httplib::DataSink &sink) {
        return answer(head, request, text, *place, sink);
      });
}

void Handlers::add(httplib::Server &server) {
  server.set_pre_routing_handler(
      [](const httplib::Request &request, httplib::Response &response) {
        std::optional<RequestError> error = formError(request);
        if (!error)
          return httplib::Server::HandlerResponse::Unhandled;
        refuse(response, *error);
        return httplib::Server::HandlerResponse::Handled;
      });
  for (CompletionKind kind : {CompletionKind::Chat, CompletionKind::Text})
    server.Post(pathOf(kind).str(),
                guarded([this, kind](const httplib::Request &request,
                                     httplib::Response &response) {
                  complete(kind, request, response);
                }));
  auto get = [&server](const char *path, std::string text) {
    server.Get(path,
               guarded([text = std::move(text)](const httplib::Request &,
                                                httplib::Response &response) {
                 response.set_content(text, "application/json");
               }));
  };
  get("/health", "{\"status\":\"ok\"}");
  get("/v1/models", modelsJson(options.model, begin));
  server.Get("/v1/models/(.+)", guarded([this](const httplib::Request &request,
                                               httplib::Response &response) {
               if (request.matches[1] == options.model)
                 return response.set_content(modelJson(options.model, begin),
                                             "application/json");
               refuse(response,
                      {404, "the model here is `" + options.model + "`",
                       "model", "model_not_found"});
             }));
  // What the library refuses itself: unknown paths, bodies that are too large.
  server.set_error_handler([](const httplib::Request &request,
                              httplib::Response &response) {
    if (!response.body.empty())
      return;
    RequestError error{response.status, "the request cannot be read (" +
                                            std::to_string(response.status) +
                                            ")"};
    if (response.status == 404)
      error.message =
          request.method + " " + request.path + " is not served here";
    if (response.status == 413)
      error.message = "the body of the request is too large";
    refuse(response, error);
  });
}

//===----------------------------------------------------------------------===//
// The server
//===----------------------------------------------------------------------===//

/// Instead of the library's SO_REUSEPORT, with which two servers on one port
/// would each get some of the requests.
static void allowPortAgain(socket_t socket) {
  int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

bool anec::hasHttpServer() { return true; }

/// Listens until the server is stopped. Returns the number of the error that
/// ended it, or 0.
static int listen(httplib::Server &server) {
  try {
    errno = 0;
    return server.listen_after_bind() ? 0 : errno ? errno : EADDRNOTAVAIL;
  } catch (const std::system_error &error) { // no more threads
    return error.code().value();
  }
}

bool anec::serveHttp(TextService &service, const HttpServerOptions &options,
                     const std::atomic<bool> &stop, Diagnostics &diags) {
  httplib::Server server;
  // Each request that waits has a thread, and so has each connection that is
  // idle or slow.
  size_t threads = options.queue + 96;
  server.new_task_queue = [threads] {
    return new httplib::ThreadPool(threads);
  };
  server.set_socket_options(allowPortAgain);
  server.set_payload_max_length(options.mostBytes);
  server.set_tcp_nodelay(true);
  // An idle connection has a thread too.
  server.set_keep_alive_timeout(2);
  server.set_read_timeout(3);
  Handlers handlers(service, options);
  handlers.add(server);

  errno = 0;
  int port = options.port;
  if (port == 0)
    port = server.bind_to_any_port(address.str());
  else if (!server.bind_to_port(address.str(), port))
    port = -1;
  if (port <= 0) {
    diags.report({}, diag::CannotListen, options.port,
                 std::strerror(errno ? errno : EADDRNOTAVAIL));
    return false;
  }
  llvm::errs() << options.model << " at http://" << address << ':' << port
               << "/v1\n";
  constexpr int isListening = -1;
  std::atomic<int> code{isListening};
  std::optional<std::thread> listener;
  try {
    listener.emplace([&] { code = listen(server); });
  } catch (const std::system_error &error) {
    code = error.code().value();
  }
  // Signals come to this thread. A server that does not run yet cannot be
  // stopped.
  while (code == isListening && !(stop && server.is_running()))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  if (code == isListening)
    server.stop();
  if (listener)
    listener->join();
  if (code == 0 || stop)
    return true;
  diags.report({}, diag::CannotListen, port, std::strerror(code));
  return false;
}
