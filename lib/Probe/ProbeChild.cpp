//===- ProbeChild.cpp - a program in a child process ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "ProbeChild.h"
#include "anec/Support/Folder.h"
#include "lib/Probe/Verdicts.h"
#include "lib/Support/Blanks.h"
#include "lib/Support/ChildProcess.h"
#include "lib/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <cstring>

using namespace anec;
namespace json = llvm::json;

/// Removes the staged folders with one of `texts`, or of the process `process`,
/// that a killed process has left.
static void removeStaged(llvm::StringRef path,
                         llvm::ArrayRef<llvm::StringRef> texts, int process) {
  std::error_code code;
  std::optional<Folder> all =
      path.empty() ? std::nullopt : Folder::open(path, code);
  if (!all)
    return;
  // As the ane backend ends the texts of a process.
  std::string ownName = asBlanks(" " + std::to_string(process) + "-");
  for (const std::string &name : all->names()) {
    std::string error;
    std::optional<Folder> folder = all->openFolder(name, code);
    std::unique_ptr<llvm::MemoryBuffer> staged =
        folder ? folder->read("model.mil", error) : nullptr;
    if (!staged)
      continue;
    llvm::StringRef content = staged->getBuffer();
    if (content.contains(ownName) ||
        llvm::any_of(texts, [&](llvm::StringRef text) {
          return content.starts_with(text);
        }))
      removeTree(folder->path());
  }
}

/// The outcome of a process that printed none.
static json::Object childOutcome(const ChildResult &result, unsigned seconds,
                                 int highestErrorCode) {
  // The last line is the error.
  llvm::StringRef said = llvm::StringRef(result.errors).rtrim();
  said = said.substr(said.rfind('\n') + 1);
  std::string code = std::to_string(result.code);
  switch (result.how) {
  case ChildResult::TimedOut:
    return json::Object{{"outcome", spelling(ProgramOutcome::TimedOut)},
                        {"message", llvm::formatv("after {0} s", seconds)}};
  case ChildResult::Stopped:
    return json::Object{{"outcome", spelling(ProgramOutcome::NotTried)},
                        {"message", "stopped"}};
  case ChildResult::NotStarted:
    return json::Object{{"outcome", spelling(ProgramOutcome::NotTried)},
                        {"message", std::string("it cannot be started: ") +
                                        std::strerror(result.code)}};
  case ChildResult::Crashed:
  case ChildResult::Exited:
    break;
  }
  bool crashed = result.how == ChildResult::Crashed;
  std::string how = (crashed ? "signal " : "exit code ") + code;
  // An error that the child reported itself, such as too little memory.
  bool gaveUp = !crashed && result.code <= highestErrorCode;
  return json::Object{
      {"outcome",
       spelling(gaveUp ? ProgramOutcome::NotTried : ProgramOutcome::Crashed)},
      {"message", said.empty() ? how : how + ": " + said.str()}};
}

json::Object ProbeChild::run(const std::string &name,
                             llvm::ArrayRef<llvm::StringRef> texts) const {
  std::vector<std::string> words = command;
  words.push_back(name);
  static const std::atomic<bool> never{false};
  ChildResult result =
      runChild(words, std::chrono::seconds(secondsEach), stop ? *stop : never);
  if (result.how == ChildResult::Exited && result.code == 0) {
    JsonError error;
    std::optional<json::Value> value = parseJson(result.output, error);
    if (json::Object *object = value ? value->getAsObject() : nullptr)
      return *object;
    return json::Object{{"outcome", spelling(ProgramOutcome::Crashed)},
                        {"message", "no message"}};
  }
  removeStaged(stagingFolder, texts, result.process);
  return childOutcome(result, secondsEach, highestErrorCode);
}
