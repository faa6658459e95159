//===- ChatLoop.cpp - a conversation with standard input ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ChatLoop.h"
#include "../Signals.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdio>
#include <cstdlib>

using namespace anec;

/// Reads a line of standard input, without its end; false at the end of the
/// input.
static bool readLine(std::string &line) {
  char *buffer = nullptr;
  size_t capacity = 0;
  ssize_t size = ::getline(&buffer, &capacity, stdin);
  if (size >= 0)
    line.assign(buffer, size_t(size));
  std::free(buffer);
  if (!line.empty() && line.back() == '\n')
    line.pop_back();
  if (!line.empty() && line.back() == '\r')
    line.pop_back();
  return size >= 0;
}

/// Reads what the user says; nothing at the end of standard input, or for
/// `/exit`.
static std::optional<std::string> readMessage(bool isTerminal) {
  std::string message, line;
  bool goesOn = false;
  do {
    if (isTerminal) {
      llvm::outs() << (goesOn ? ". " : "> ");
      llvm::outs().flush();
    }
    if (!readLine(line)) {
      if (isTerminal)
        llvm::outs() << '\n';
      return goesOn ? std::optional(message) : std::nullopt;
    }
    goesOn = !line.empty() && line.back() == '\\';
    if (goesOn)
      line.back() = '\n';
    message += line;
  } while (goesOn);
  return message == "/exit" ? std::nullopt : std::optional(message);
}

bool anec::runChat(ChatSession &chat, const GenerateOptions &options,
                   GenerateOutput &output, Diagnostics &diags) {
  bool isTerminal = llvm::sys::Process::StandardInIsUserInput();
  while (std::optional<std::string> message = readMessage(isTerminal)) {
    if (llvm::StringRef(*message).trim().empty())
      continue;
    chat.add({"user", std::move(*message)});
    if (!output.answer(chat, options, diags))
      return false;
    // Other requests than SIGINT are for the whole conversation.
    int signal = stopSignal();
    if ((signal && signal != SIGINT) || llvm::outs().has_error())
      return true;
    endOnRequestsToStop();
  }
  return true;
}
