//===- NoHttpServer.cpp - a build without cpp-httplib ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "HttpServer.h"

using namespace anec;

bool anec::hasHttpServer() { return false; }

bool anec::serveHttp(TextService &, const HttpServerOptions &,
                     const std::atomic<bool> &, Diagnostics &) {
  return false;
}
