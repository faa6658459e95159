//===- HttpServer.h - texts by HTTP -----------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Serves a model on this machine alone: the server listens on the loopback
/// interface, and refuses requests that a web page of another site makes a
/// browser send, by their `Origin` or, after DNS rebinding, by their `Host`.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANE_RUN_HTTPSERVER_H
#define ANEC_TOOLS_ANE_RUN_HTTPSERVER_H

#include "lib/Serve/TextService.h"
#include <atomic>
#include <optional>
#include <string>

namespace anec {

struct HttpServerOptions {
  int port = 8080;                     ///< 0 for any that is free
  size_t mostBytes = size_t(16) << 20; ///< of a request's body
  /// Requests that can wait for the model.
  size_t queue = 32;
  std::string model; ///< its name in answers
  GenerateOptions defaults;
  /// The most new tokens for requests that do not say it; unset for all that
  /// the model has positions for.
  std::optional<unsigned> tokens;
  /// Requests without a seed get this one plus their number.
  uint64_t seed = 0;
  bool isQuiet = false; ///< prints no line for each request
};

/// Whether this build can serve.
bool hasHttpServer();

/// Serves until `stop` becomes true. Returns false, with the reason reported,
/// when it cannot listen.
[[nodiscard]] bool serveHttp(TextService &service,
                             const HttpServerOptions &options,
                             const std::atomic<bool> &stop, Diagnostics &diags);

} // namespace anec

#endif // ANEC_TOOLS_ANE_RUN_HTTPSERVER_H
