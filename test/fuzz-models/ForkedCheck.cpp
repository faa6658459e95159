//===- ForkedCheck.cpp - checks in processes of their own -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ModelCheck.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdlib>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace anec;
using namespace anec::fuzz;

//===----------------------------------------------------------------------===//
// Outcomes as text
//===----------------------------------------------------------------------===//

std::string Outcome::str() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << int(status) << '\n'
         << gradients << '\n'
         << skipped << '\n'
         << kind << '\n'
         << details;
  return text;
}

std::optional<Outcome> Outcome::parse(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef, 5> parts;
  text.split(parts, '\n', 4);
  Outcome result;
  unsigned status;
  if (parts.size() != 5 || parts[0].getAsInteger(10, status) ||
      parts[1].getAsInteger(10, result.gradients) ||
      parts[2].getAsInteger(10, result.skipped))
    return std::nullopt;
  result.status = Status(status);
  result.kind = parts[3].str();
  result.details = parts[4].str();
  return result;
}

//===----------------------------------------------------------------------===//
// Processes
//===----------------------------------------------------------------------===//

static void writeAll(int descriptor, llvm::StringRef text) {
  while (!text.empty()) {
    ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count <= 0)
      return;
    text = text.drop_front(size_t(count));
  }
}

ForkedCheck::ForkedCheck(const std::string &text,
                         const Configuration &configuration, uint64_t seed,
                         unsigned seconds) {
  llvm::SmallString<128> path;
  llvm::sys::fs::createUniqueDirectory("fuzz-models", path);
  folder = std::string(path);
  int ends[2];
  if (::pipe(ends) != 0)
    return;
  process = ::fork();
  if (process != 0) {
    ::close(ends[1]);
    pipeEnd = ends[0];
    return;
  }
  ::close(ends[0]);
  ::setenv("TMPDIR", folder.c_str(), 1);
  std::freopen((folder + "/stderr").c_str(), "w", stderr);
  // Of its own time: other processes may keep it waiting.
  rlimit limit{seconds, seconds + 1};
  ::setrlimit(RLIMIT_CPU, &limit);
  ::alarm(60 * seconds);
  writeAll(ends[1], checkModel(text, configuration, seed).str());
  ::close(ends[1]);
  // Without destructors of the parent's objects.
  std::fflush(stderr);
  ::_exit(0);
}

/// What an assertion said, without addresses.
static std::string assertionIn(llvm::StringRef text) {
  for (llvm::StringRef line : llvm::split(text, '\n'))
    for (llvm::StringRef sign : {"Assertion", "UNREACHABLE", "ERROR: "})
      if (size_t at = line.find(sign); at != llvm::StringRef::npos)
        return ": " + line.substr(at).take_front(150).str();
  return "";
}

Outcome ForkedCheck::wait() {
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = ::read(pipeEnd, buffer, sizeof(buffer))) > 0;)
    text.append(buffer, size_t(count));
  ::close(pipeEnd);
  int status = 0;
  ::waitpid(process, &status, 0);
  std::string printed;
  if (auto file = llvm::MemoryBuffer::getFile(folder + "/stderr"))
    printed = (*file)->getBuffer().str();
  llvm::sys::fs::remove_directories(folder);
  std::optional<Outcome> outcome = Outcome::parse(text);
  if (outcome && WIFEXITED(status))
    return *outcome;
  Outcome crash;
  crash.details = printed;
  if (WIFSIGNALED(status) &&
      (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU))
    crash.kind = "hang";
  else
    crash.kind = "crash" + assertionIn(printed);
  return crash;
}
