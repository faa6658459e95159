//===- ProgramSession.cpp - runs programs with named arrays ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/API/ProgramSession.h"
#include "SingleProgram.h"
#include "lib/API/Diags.h"
#include "lib/API/SourceModel.h"
#include "lib/Runtime/Diags.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace anec::api;

struct ProgramSession::State {
  explicit State(const ProgramSessionOptions &options) {
    load.numerics = options.numerics;
    load.workspace = std::make_shared<Workspace>(options.threads);
  }

  LoadOptions load;
  std::unique_ptr<Backend> backend;
  /// Exactly one is not null.
  std::unique_ptr<Session> package;
  std::unique_ptr<SingleProgram> program;
  std::vector<std::string> entries;
};

ProgramSession::ProgramSession(std::unique_ptr<State> state)
    : state(std::move(state)) {}
ProgramSession::~ProgramSession() = default;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// Returns null, with the reason reported, when the backend is not available.
static std::unique_ptr<Backend>
openBackend(const ProgramSessionOptions &options,
            const std::shared_ptr<Executor> &executor, Diagnostics &diags) {
  Backends builtin = Backends::builtin();
  const Backends &backends = options.backends ? *options.backends : builtin;
  BackendSettings settings = options.settings;
  settings.executor = executor;
  llvm::StringRef name = options.backend;
  if (name.empty())
    name = backends.defaultFor(thisPlatform()).name;
  return backends.open(name, settings, diags);
}

std::unique_ptr<ProgramSession>
ProgramSession::open(ModelPackage package, const ProgramSessionOptions &options,
                     Diagnostics &diags) {
  auto state = std::make_unique<State>(options);
  for (const PackagedEntry &entry : package.entries)
    state->entries.push_back(entry.name);
  const auto &executor = state->load.workspace->sharedExecutor();
  state->backend = openBackend(options, executor, diags);
  if (!state->backend)
    return nullptr;
  SessionOptions session;
  session.load = state->load;
  session.weights = options.weights;
  session.weights.executor = executor;
  session.recompute = options.recompute;
  state->package =
      Session::open(std::move(package), *state->backend, session, diags);
  if (!state->package)
    return nullptr;
  return std::unique_ptr<ProgramSession>(new ProgramSession(std::move(state)));
}

/// Opens a session on `module`, a MIL program for the backend to load.
std::unique_ptr<ProgramSession>
ProgramSession::openModule(std::unique_ptr<Module> module,
                           const ProgramSessionOptions &options,
                           Diagnostics &diags) {
  if (!module)
    return nullptr;
  auto state = std::make_unique<State>(options);
  state->backend =
      openBackend(options, state->load.workspace->sharedExecutor(), diags);
  if (!state->backend)
    return nullptr;
  state->load.milVersion = module->version;
  state->program = std::make_unique<SingleProgram>(
      std::move(module), *state->backend, state->load);
  state->entries = state->program->functions();
  return std::unique_ptr<ProgramSession>(new ProgramSession(std::move(state)));
}

std::unique_ptr<ProgramSession>
ProgramSession::open(const CompiledProgram &program,
                     const ProgramSessionOptions &options, Diagnostics &diags) {
  return openModule(program.readBack(diags), options, diags);
}

std::unique_ptr<ProgramSession>
ProgramSession::openFile(llvm::StringRef path,
                         const ProgramSessionOptions &options,
                         Diagnostics &diags) {
  std::optional<Source> source = openSource(path, diags);
  if (!source)
    return nullptr;
  if (source->format->stage == SourceStage::Package) {
    std::optional<ModelPackage> package = readPackage(path, diags);
    return package ? open(std::move(*package), options, diags) : nullptr;
  }
  if (source->format->stage == SourceStage::MIL && !options.compile.objective) {
    CompileOptions given = options.compile;
    return openModule(readForCompiling(*source, given, diags), options, diags);
  }
  Compiled compiled = compileSource(*source, options.compile, "", diags);
  if (compiled.package)
    return open(std::move(*compiled.package), options, diags);
  return compiled.program ? open(*compiled.program, options, diags) : nullptr;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

llvm::ArrayRef<std::string> ProgramSession::entries() const {
  return state->entries;
}

const PackagedEntry *ProgramSession::findEntry(llvm::StringRef name) const {
  return state->package ? state->package->package().findEntry(name) : nullptr;
}

bool ProgramSession::trains(llvm::StringRef name) const {
  const PackagedEntry *entry = findEntry(name);
  return entry && entry->role == FunctionRole::Train;
}

llvm::StringRef ProgramSession::defaultEntry(bool wanted) const {
  if (state->entries.size() == 1 && !wanted)
    return state->entries.front();
  llvm::StringRef found;
  for (const std::string &entry : state->entries) {
    if (trains(entry) != wanted)
      continue;
    if (!found.empty())
      return "";
    found = entry;
  }
  return found;
}

/// Returns the entry that `name` selects; empty, with the reason reported, when
/// the choice is ambiguous.
llvm::StringRef ProgramSession::resolve(llvm::StringRef name,
                                        Diagnostics &diags) const {
  if (name.empty())
    name = defaultEntry();
  if (name.empty())
    diags.report({}, diag::NoDefaultEntry,
                 "`" + llvm::join(state->entries, "`, `") + "`");
  return name;
}

bool ProgramSession::prepare(llvm::StringRef entry, Diagnostics &diags) {
  entry = resolve(entry, diags);
  if (entry.empty())
    return false;
  return state->package ? state->package->prepare(entry, diags)
                        : state->program->prepare(entry, diags) != nullptr;
}

std::optional<llvm::ArrayRef<Port>>
ProgramSession::inputs(llvm::StringRef entry, Diagnostics &diags) {
  if (!prepare(entry, diags))
    return std::nullopt;
  entry = resolve(entry, diags);
  return state->package ? state->package->inputs(entry)
                        : state->program->prepare(entry, diags)->inputs();
}

std::optional<llvm::ArrayRef<Port>>
ProgramSession::outputs(llvm::StringRef entry, Diagnostics &diags) {
  if (!prepare(entry, diags))
    return std::nullopt;
  entry = resolve(entry, diags);
  return state->package ? state->package->outputs(entry)
                        : state->program->prepare(entry, diags)->outputs();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

bool ProgramSession::run(llvm::StringRef entry,
                         llvm::ArrayRef<InputArray> inputs,
                         llvm::ArrayRef<OutputArray> outputs,
                         Diagnostics &diags, Gradients gradients) {
  if (!prepare(entry, diags))
    return false;
  entry = resolve(entry, diags);
  if (state->program)
    return state->program->run(entry, inputs, outputs, diags);
  Session &session = *state->package;
  const PackagedEntry &packaged = *findEntry(entry);
  std::optional<size_t> scale = packaged.inputOf(ValueRole::LossScale);
  // The loss scale is 1 unless it is given, and random masks are their means.
  auto fallback = [&](size_t index) {
    const std::optional<RandomMask> &mask = packaged.inputs[index].mask;
    return index == scale ? std::optional(1.0f)
           : mask         ? std::optional(float(mask->mean()))
                          : std::nullopt;
  };
  PortArrays arrays;
  if (!arrays.takeInputs("input", session.inputs(entry), inputs, fallback,
                         diags) ||
      !arrays.takeOutputs("output", session.outputs(entry), outputs, diags) ||
      !session.run(entry, arrays.inputs(), arrays.outputs(), diags, gradients))
    return false;
  arrays.giveOutputs(session.outputs(entry), outputs);
  return true;
}

llvm::ArrayRef<NamedFloats> ProgramSession::gradients() const {
  return state->package ? state->package->gradients()
                        : llvm::ArrayRef<NamedFloats>();
}

llvm::ArrayRef<NamedFloats> ProgramSession::weights() const {
  return state->package ? state->package->weights()
                        : llvm::ArrayRef<NamedFloats>();
}

llvm::ArrayRef<NamedFloats> ProgramSession::trainedWeights() const {
  return state->package ? state->package->trainedWeights()
                        : llvm::ArrayRef<NamedFloats>();
}

bool ProgramSession::weightsChanged(Diagnostics &diags) {
  return !state->package || state->package->weightsChanged(diags);
}

bool ProgramSession::saveWeights(llvm::StringRef path,
                                 Diagnostics &diags) const {
  ModelFacts facts;
  if (state->package)
    facts = state->package->package().facts;
  return writeArrays(weights(), facts, path, diags);
}

/// Reports that a single program cannot do something.
static void reportNeedsPackage(llvm::StringRef what, Diagnostics &diags) {
  diags.report({}, diag::NeedsPackage, what);
}

bool ProgramSession::takeAdapter(llvm::StringRef adapter, Diagnostics &diags) {
  if (state->package)
    return state->package->takeAdapter(adapter, diags);
  reportNeedsPackage("take adapters", diags);
  return false;
}

bool ProgramSession::setState(const InputArray &array, Diagnostics &diags) {
  if (state->program && prepare("", diags))
    return state->program->setState(array, diags);
  if (state->package)
    diags.report({}, diag::NoSuchInput, "state", array.name, "none");
  return false;
}

bool ProgramSession::getState(const OutputArray &array, Diagnostics &diags) {
  if (state->program && prepare("", diags))
    return state->program->getState(array, diags);
  if (state->package)
    diags.report({}, diag::NoSuchInput, "state", array.name, "none");
  return false;
}

Session *ProgramSession::packageSession() { return state->package.get(); }

llvm::StringRef ProgramSession::backendName() const {
  return state->backend->name();
}

Numerics ProgramSession::numerics() const { return state->load.numerics; }

Executor &ProgramSession::executor() const {
  return state->load.workspace->executor();
}
