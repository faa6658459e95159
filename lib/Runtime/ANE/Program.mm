//===- Program.mm - a compiled program ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "../Apple/Call.h"
#include "../Apple/Measures.h"
#include "Bundle.h"
#include "Symbols.h"
#include "anec/Support/MappedFile.h"
#include "lib/Runtime/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Program.h"
#include <csignal>
#include <thread> // to sleep

using namespace anec;
using namespace anec::ane;

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

bool Program::makeModel(Diagnostics &diags) {
  @autoreleasepool {
    if (shared->options.reuse)
      staged.keep();
    model = ane::makeModel(*shared, staged, ports, diags);
    return model != nullptr;
  }
}

std::shared_ptr<Program> Program::make(std::shared_ptr<Engine> engine,
                                       StagedProgram staged,
                                       const ProgramPorts &ports,
                                       Diagnostics &diags) {
  std::shared_ptr<Program> program(
      new Program(std::move(engine), std::move(staged), ports));
  if (!program->makeModel(diags) || !program->compile(diags) ||
      !program->loadFirst(diags))
    return nullptr;
  return program;
}

bool Program::loadFirst(Diagnostics &diags) {
  std::lock_guard<std::mutex> lock(shared->use);
  return ensureLoaded(diags) && readSymbols(diags);
}

bool Program::compileAside(Engine &engine, StagedProgram staged,
                           Diagnostics &diags) {
  std::shared_ptr<Engine> shared(&engine, [](Engine *) {});
  std::shared_ptr<Program> program(
      new Program(std::move(shared), std::move(staged), {}));
  return program->makeModel(diags) && program->compileHere(diags);
}

Program::~Program() {
  std::lock_guard<std::mutex> lock(shared->use);
  // A destructor cannot report errors; the process releases everything when it
  // ends.
  if (isLoaded)
    (void)unload();
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

std::optional<FrameworkError>
Program::retrying(Stage stage, llvm::function_ref<BOOL(NSError **)> call) {
  using std::chrono::milliseconds;
  const AneOptions &options = shared->options;
  auto wait = milliseconds(options.backoffMilliseconds);
  for (unsigned attempts = 1, cancelled = 0;;) {
    std::optional<FrameworkError> error = callFramework(stage, call);
    if (!error || !error->passes())
      return error;
    // The engine refused it before it did anything, and will soon be awake.
    if (error->is(errors::Cancelled)) {
      if (cancelled++ >= options.cancelledRetries ||
          !takes(Measure::CancelledRetry))
        return error;
      std::this_thread::sleep_for(milliseconds(options.cancelledMilliseconds));
      continue;
    }
    if (attempts++ >= options.attempts)
      return error;
    std::this_thread::sleep_for(wait);
    wait *= 2;
  }
}

/// Whether there is a compiled program from before.
bool Program::isCompiled() {
  bool exists = false;
  // After an exception, there is none.
  (void)guardFramework([&] { exists = model->isCompiled(); });
  return exists;
}

bool Program::compile(Diagnostics &diags) {
  @autoreleasepool {
    mayBeGone = shared->options.reuse && isCompiled();
    if (mayBeGone)
      return true;
    return shared->options.compileCommand.empty() ? compileHere(diags)
                                                  : compileInChild(diags);
  }
}

bool Program::compileHere(Diagnostics &diags) {
  std::atomic<unsigned> &compiles = *shared->options.compiles;
  if (compiles >= shared->options.compileLimit &&
      takes(Measure::CompileLimit)) {
    diags.report({}, diag::AneCompileBudget, compiles.load());
    return false;
  }
  @autoreleasepool {
    std::optional<FrameworkError> error =
        retrying(Stage::Compile, [&](NSError **reason) {
          ++compiles;
          return model->compile(reason);
        });
    if (!error)
      return true;
    Diagnostics::Report said =
        report(Stage::Compile, *error, staged.text(), diags);
    if (error->is(errors::StagedBundle) && takes(Measure::NamedFiles))
      describeBundle(model->object(), staged, said);
    return false;
  }
}

/// Waits until `child` ends, or ends it after `seconds`. LLVM's own time limit
/// uses an alarm signal, which another thread may receive.
static bool waitFor(const llvm::sys::ProcessInfo &child, unsigned seconds,
                    std::string &problem) {
  auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::string error;
  for (;;) {
    llvm::sys::ProcessInfo ended = llvm::sys::Wait(child, 0, &error);
    if (ended.Pid) {
      problem = ended.ReturnCode < 0 ? "crashed: " + error
                                     : "ended with exit code " +
                                           std::to_string(ended.ReturnCode);
      return ended.ReturnCode == 0;
    }
    if (std::chrono::steady_clock::now() > limit) {
      ::kill(child.Pid, SIGKILL);
      (void)llvm::sys::Wait(child, std::nullopt);
      problem = "took longer than " + std::to_string(seconds) + " seconds";
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

bool Program::runChild(std::string &problem) {
  llvm::SmallVector<llvm::StringRef, 8> words;
  llvm::append_range(words, shared->options.compileCommand);
  words.push_back(staged.folder());
  std::string error;
  bool failed = false;
  llvm::sys::ProcessInfo child = llvm::sys::ExecuteNoWait(
      words.front(), words, std::nullopt, {}, 0, &error, &failed);
  if (failed) {
    problem = "did not start: " + error;
    return false;
  }
  return waitFor(child, shared->options.compileSeconds, problem);
}

bool Program::compileInChild(Diagnostics &diags) {
  if (isCompiled())
    return true;
  std::string problem;
  if (!runChild(problem)) {
    diags.reportFile(staged.folder(), diag::AneCompileProcess, problem);
    return false;
  }
  mayBeGone = isCompiled();
  if (mayBeGone)
    return true;
  // The compiler did not crash in the child, so it will not crash here.
  if (!shared->compilesItself.exchange(true))
    diags.report({}, diag::AneCompiledUnseen);
  return compileHere(diags);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

std::optional<FrameworkError> Program::unload() {
  isLoaded = false;
  shared->loaded.remove(this);
  @autoreleasepool {
    return callFramework(
        Stage::Unload, [&](NSError **reason) { return model->unload(reason); });
  }
}

/// Unloads the least recently used program.
bool Program::evictOther() {
  if (shared->loaded.empty() || !takes(Measure::Eviction))
    return false;
  return !shared->loaded.back()->unload();
}

/// Makes a new model of files that are written again. Unloading removes the
/// folder, and a model writes its own files there only the first time that it
/// is compiled.
bool Program::stageAgain(Diagnostics &diags) {
  std::vector<MappedFile> files;
  auto weightsOf = [&](llvm::StringRef path) -> std::optional<llvm::StringRef> {
    if (NSData *bytes = [model->weights() objectForKey:toNSString(path)])
      return llvm::StringRef(static_cast<const char *>([bytes bytes]),
                             [bytes length]);
    std::string error;
    files.push_back(mapFile(staged.weightFile(path), error));
    if (!files.back())
      return std::nullopt;
    return files.back()->getBuffer();
  };
  std::optional<StagedProgram> again =
      staged.again(shared->temporaryFolder, weightsOf, diags);
  std::unique_ptr<Model> made =
      again ? ane::makeModel(*shared, *again, ports, diags) : nullptr;
  if (!made)
    return false;
  // Both are the folder of that name now.
  again->keep();
  model = std::move(made);
  return true;
}

bool Program::compileAgain(Diagnostics &diags) {
  return (!takes(Measure::NewModel) || stageAgain(diags)) && compileHere(diags);
}

bool Program::ensureLoaded(Diagnostics &diags) {
  if (isLoaded) {
    shared->loaded.splice(shared->loaded.begin(), shared->loaded,
                          llvm::find(shared->loaded, this));
    return true;
  }
  while (shared->loaded.size() >= shared->options.loadedLimit)
    if (!evictOther())
      break;
  @autoreleasepool {
    auto load = [&] {
      return retrying(Stage::Load,
                      [&](NSError **reason) { return model->load(reason); });
    };
    std::optional<FrameworkError> error = load();
    // Other processes load programs, too: evicts own programs while there are
    // any.
    while (error && error->is(errors::TooManyPrograms) && evictOther())
      error = load();
    // A program compiled earlier may be gone or invalid.
    if (error && mayBeGone && !error->passes() &&
        !error->is(errors::TooManyPrograms)) {
      if (!compileAgain(diags))
        return false;
      error = load();
    }
    if (error) {
      report(Stage::Load, *error, staged.text(), diags);
      return false;
    }
  }
  isLoaded = mayBeGone = true;
  runs = 0;
  shared->loaded.push_front(this);
  return true;
}

bool Program::readSymbols(Diagnostics &diags) {
  @autoreleasepool {
    NSDictionary *attributes = nil;
    // Without attributes, names determine the order.
    (void)guardFramework([&] { attributes = model->attributes(); });
    unsigned procedure = shared->options.procedure;
    unsigned count = procedureCount(attributes);
    if (count && procedure >= count) {
      diags.report({}, diag::AneNoProcedure, procedure, count);
      return false;
    }
    inputTable = readSymbolTable(attributes, Direction::Input, procedure);
    outputTable = readSymbolTable(attributes, Direction::Output, procedure);
    return true;
  }
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Engines were seen to slow down after 25,000 to 100,000 runs, until programs
/// were made again.
void Program::reloadAfterManyRuns() {
  // If the engine keeps the program after all, loading says so.
  if (isLoaded && runs >= shared->options.runsPerLoad &&
      takes(Measure::LoadedAgain))
    (void)unload();
}

bool Program::evaluate(const ModelRun &run,
                       llvm::function_ref<void(Diagnostics::Report)> describe,
                       Diagnostics &diags) {
  std::lock_guard<std::mutex> lock(shared->use);
  reloadAfterManyRuns();
  if (!ensureLoaded(diags))
    return false;
  ++runs;
  @autoreleasepool {
    std::optional<FrameworkError> error =
        retrying(Stage::Evaluate, [&](NSError **reason) {
          return model->evaluate(run, reason);
        });
    shared->lastUse = std::chrono::steady_clock::now();
    if (!error)
      return true;
    Diagnostics::Report said =
        report(Stage::Evaluate, *error, staged.text(), diags);
    if (describe && error->is(errors::SurfaceSize))
      describe(said);
    return false;
  }
}
