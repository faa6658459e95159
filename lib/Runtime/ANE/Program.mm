//===- Program.mm - a compiled program ------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "Call.h"
#include "Symbols.h"
#include "anec/Runtime/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <thread>

using namespace anec;
using namespace anec::ane;

/// What all programs in use are asked for with; no value was seen to matter.
static constexpr unsigned qualityOfService = 21;

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

/// The weights as a descriptor takes them: whole files, by the path that the
/// text has. An empty dictionary for none: nil fails without a word.
static NSDictionary *weightsOf(const StagedProgram &staged,
                               Diagnostics &diags) {
  NSMutableDictionary *files = [NSMutableDictionary dictionary];
  for (const std::string &path : staged.weightPaths()) {
    std::string file = staged.weightFile(path);
    NSData *bytes = [NSData dataWithContentsOfFile:toNSString(file)];
    if (!bytes) {
      diags.reportFile(file, diag::AneStaging, "it cannot be read back");
      return nil;
    }
    NSDictionary *entry = @{@"offset" : @0, @"data" : bytes};
    [files setObject:entry forKey:toNSString(path)];
  }
  return files;
}

/// Makes the model, and puts the files where it will look for them.
bool Program::describe(Diagnostics &diags) {
  @autoreleasepool {
    const std::string &text = staged.text();
    weights = Retained<NSDictionary *>(weightsOf(staged, diags));
    if (!weights)
      return false;
    // Data, not a string: a string gives no descriptor.
    NSData *data = [NSData dataWithBytes:text.data() length:text.size()];
    id descriptor = nil;
    id<AneModel> made = nil;
    NSString *name = nil;
    std::string raised = guardFramework([&] {
      descriptor = [shared->framework.descriptors modelWithMILText:data
                                                           weights:weights.get()
                                                      optionsPlist:nil];
      if (descriptor)
        made = [shared->framework.models inMemoryModelWithDescriptor:descriptor];
      name = [made hexStringIdentifier];
    });
    if (!made || ![name length]) {
      diags.report({}, diag::AneNoObject,
                   !descriptor ? "descriptor" : made ? "identifier" : "model",
                   raised.empty() ? "it gave nil" : raised);
      return false;
    }
    model = Retained<id<AneModel>>(made);
    llvm::SmallString<128> folder(shared->temporaryFolder);
    llvm::sys::path::append(folder, toString(name));
    if (shared->options.reuse || !shared->options.compileCommand.empty())
      staged.keep();
    return staged.moveTo(folder, diags);
  }
}

std::shared_ptr<Program> Program::make(std::shared_ptr<Engine> engine,
                                       StagedProgram staged,
                                       Diagnostics &diags) {
  std::shared_ptr<Program> program(
      new Program(std::move(engine), std::move(staged)));
  if (!program->describe(diags) || !program->compile(diags))
    return nullptr;
  std::lock_guard<std::mutex> lock(program->shared->use);
  if (!program->ensureLoaded(diags))
    return nullptr;
  program->readSymbols();
  return program;
}

bool Program::compileAside(Engine &engine, StagedProgram staged,
                           Diagnostics &diags) {
  std::shared_ptr<Engine> shared(&engine, [](Engine *) {});
  std::shared_ptr<Program> program(
      new Program(std::move(shared), std::move(staged)));
  return program->describe(diags) && program->compileHere(diags);
}

Program::~Program() {
  std::lock_guard<std::mutex> lock(shared->use);
  // There is nobody to tell; the process gives everything back in the end.
  if (isLoaded)
    (void)unload();
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

std::optional<AneError>
Program::retrying(Stage stage, llvm::function_ref<BOOL(NSError **)> call) {
  auto wait = std::chrono::milliseconds(shared->options.backoffMilliseconds);
  for (unsigned attempt = 1;; ++attempt) {
    std::optional<AneError> error = callFramework(stage, call);
    if (!error || !error->passes() || attempt >= shared->options.attempts)
      return error;
    std::this_thread::sleep_for(wait);
    wait *= 2;
  }
}

/// Whether there is a compiled program from before.
bool Program::isCompiled() {
  bool exists = false;
  id<AneModel> known = model.get();
  // When it cannot say, there is none.
  if ([known respondsToSelector:@selector(compiledModelExists)])
    (void)guardFramework([&] { exists = [known compiledModelExists]; });
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
  if (CompileCount::value() >= shared->options.compileLimit) {
    diags.report({}, diag::AneCompileBudget, CompileCount::value());
    return false;
  }
  @autoreleasepool {
    std::optional<AneError> error =
        retrying(Stage::Compile, [&](NSError **reason) {
          CompileCount::add();
          return [model.get() compileWithQoS:qualityOfService
                                     options:@{}
                                       error:reason];
        });
    if (error)
      report(Stage::Compile, *error, staged.text(), diags);
    return !error;
  }
}

bool Program::compileInChild(Diagnostics &diags) {
  if (isCompiled())
    return true;
  llvm::SmallVector<llvm::StringRef, 8> words;
  llvm::append_range(words, shared->options.compileCommand);
  words.push_back(staged.folder());
  std::string error;
  // A compiler that hangs is as dead as one that crashes.
  constexpr unsigned secondsToWait = 300;
  int code = llvm::sys::ExecuteAndWait(words.front(), words, std::nullopt, {},
                                       secondsToWait, 0, &error);
  if (code == 0 && isCompiled())
    return true;
  std::string what = code == -1   ? "did not start: " + error
                     : code == -2 ? "crashed or took too long: " + error
                     : code == 0
                         ? "ended well, but nothing is compiled"
                         : "ended with exit code " + std::to_string(code);
  diags.reportFile(staged.folder(), diag::AneCompileProcess, what);
  return false;
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

std::optional<AneError> Program::unload() {
  isLoaded = false;
  shared->loaded.remove(this);
  @autoreleasepool {
    return callFramework(Stage::Unload, [&](NSError **reason) {
      return [model.get() unloadWithQoS:qualityOfService error:reason];
    });
  }
}

/// Unloads the program that was used longest ago.
bool Program::evictOther() {
  if (shared->loaded.empty())
    return false;
  return !shared->loaded.back()->unload();
}

/// Unloading may have removed the folder, which compiling needs.
bool Program::restoreFiles(Diagnostics &diags) {
  if (staged.isThere())
    return true;
  if (!staged.restoreText(diags))
    return false;
  for (const std::string &path : staged.weightPaths()) {
    std::string file = staged.weightFile(path);
    NSDictionary *entry = [weights.get() objectForKey:toNSString(path)];
    NSData *bytes = (NSData *)[entry objectForKey:@"data"];
    if (![bytes writeToFile:toNSString(file) atomically:YES]) {
      diags.reportFile(file, diag::AneStaging, "it cannot be written");
      return false;
    }
  }
  return true;
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
      return retrying(Stage::Load, [&](NSError **reason) {
        return [model.get() loadWithQoS:qualityOfService
                                options:@{}
                                  error:reason];
      });
    };
    std::optional<AneError> error = load();
    // Other processes have programs, too: make room as long as there is some.
    while (error && error->meaning == AneError::TooManyPrograms && evictOther())
      error = load();
    // What was compiled before may be gone, or no good.
    if (error && mayBeGone && !error->passes() &&
        error->meaning != AneError::TooManyPrograms) {
      if (!restoreFiles(diags) || !compileHere(diags))
        return false;
      error = load();
    }
    if (error) {
      report(Stage::Load, *error, staged.text(), diags);
      return false;
    }
  }
  isLoaded = mayBeGone = true;
  shared->loaded.push_front(this);
  return true;
}

void Program::readSymbols() {
  @autoreleasepool {
    id<AneModel> known = model.get();
    NSDictionary *attributes = nil;
    // Where it does not say, names decide.
    if ([known respondsToSelector:@selector(modelAttributes)])
      (void)guardFramework([&] { attributes = [known modelAttributes]; });
    inputTable = readSymbolTable(attributes, Direction::Input);
    outputTable = readSymbolTable(attributes, Direction::Output);
  }
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

bool Program::evaluate(id request, Diagnostics &diags) {
  std::lock_guard<std::mutex> lock(shared->use);
  if (!ensureLoaded(diags))
    return false;
  @autoreleasepool {
    std::optional<AneError> error =
        retrying(Stage::Evaluate, [&](NSError **reason) {
          return [model.get() evaluateWithQoS:qualityOfService
                                      options:@{}
                                      request:request
                                        error:reason];
        });
    shared->lastUse = std::chrono::steady_clock::now();
    if (error)
      report(Stage::Evaluate, *error, staged.text(), diags);
    return !error;
  }
}
