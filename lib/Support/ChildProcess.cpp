//===- ChildProcess.cpp - runs a program in a child process ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Support/ChildProcess.h"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace anec;

extern char **environ;

namespace {

/// A pipe that children do not inherit, except the end that is passed to one.
class Pipe {
public:
  Pipe() {
    if (::pipe(ends) != 0)
      ends[0] = ends[1] = -1;
    for (int end : ends)
      if (end >= 0)
        ::fcntl(end, F_SETFD, FD_CLOEXEC);
    if (isOpen())
      ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
  Pipe(const Pipe &) = delete;
  ~Pipe() {
    for (int end : ends)
      if (end >= 0)
        ::close(end);
  }
  bool isOpen() const { return ends[0] >= 0; }
  int reader() const { return ends[0]; }
  int writer() const { return ends[1]; }
  void closeWriter() {
    ::close(ends[1]);
    ends[1] = -1;
  }
  /// Appends the available bytes and keeps the last `most` bytes.
  void drain(std::string &text, size_t most) {
    char block[4096];
    for (ssize_t size; (size = ::read(ends[0], block, sizeof block)) > 0;) {
      text.append(block, size_t(size));
      if (text.size() > most)
        text.erase(0, text.size() - most);
    }
  }

private:
  int ends[2];
};

} // namespace

static int spawn(const std::vector<std::string> &words, const Pipe &output,
                 const Pipe &errors, pid_t &process) {
  std::vector<char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, output.writer(), 1);
  ::posix_spawn_file_actions_adddup2(&files, errors.writer(), 2);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  int code = ::posix_spawn(&process, arguments[0], &files, &attributes,
                           arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  return code;
}

ChildResult anec::runChild(const std::vector<std::string> &words,
                           std::chrono::milliseconds limit,
                           const std::atomic<bool> &stop) {
  ChildResult result;
  Pipe output, errors;
  if (!output.isOpen() || !errors.isOpen()) {
    result.code = errno;
    return result;
  }
  pid_t process = 0;
  if ((result.code = spawn(words, output, errors, process)) != 0)
    return result;
  result.process = process;
  output.closeWriter();
  errors.closeWriter();
  constexpr size_t mostOutput = 1 << 20, mostErrors = 500;
  auto end = std::chrono::steady_clock::now() + limit;
  int status = 0;
  bool ended = false;
  while (!ended) {
    pollfd both[] = {{output.reader(), POLLIN, 0},
                     {errors.reader(), POLLIN, 0}};
    // A closed pipe does not mean that the process has ended, so that is
    // checked, too.
    if (::poll(both, 2, 20) > 0 &&
        !((both[0].revents | both[1].revents) & POLLIN))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    output.drain(result.output, mostOutput);
    errors.drain(result.errors, mostErrors);
    ended = ::waitpid(process, &status, WNOHANG) == process;
    bool late = std::chrono::steady_clock::now() > end;
    if (ended || (!late && !stop))
      continue;
    result.how = late ? ChildResult::TimedOut : ChildResult::Stopped;
    ::kill(-process, SIGKILL);
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR)
      ;
    return result;
  }
  // Kill processes that it may have left behind.
  ::kill(-process, SIGKILL);
  output.drain(result.output, mostOutput);
  errors.drain(result.errors, mostErrors);
  bool signalled = WIFSIGNALED(status);
  result.how = signalled ? ChildResult::Crashed : ChildResult::Exited;
  result.code = signalled ? WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}
