//===- Session.cpp - runs a package ---------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Runtime/Session.h"
#include "PlanBuilder.h"
#include "Run.h"
#include "lib/Runtime/Diags.h"

using namespace anec;
using namespace anec::session;

namespace {
/// A prepared entry.
struct Entry {
  Entry(std::unique_ptr<const Plan> made, SessionContext &context)
      : plan(std::move(made)), run(*plan, context) {}
  std::unique_ptr<const Plan> plan;
  Run run;
};
} // namespace

struct Session::State {
  State(ModelPackage package, Backend &backend, const SessionOptions &options)
      : package(std::move(package)),
        options(options), context{this->package, backend, this->options,
                                  arrays,        states,  workspaceOf(options)},
        loading(context.backend.capabilities().loadsInBackground
                    ? context.workspace->executor()
                    : caller) {
    if (!this->options.weights.executor)
      this->options.weights.executor = context.workspace->sharedExecutor();
    if (options.overlap.value_or(!backend.capabilities().computesOnProcessor))
      context.besideKernels =
          std::make_shared<Workspace>(context.workspace->sharedExecutor());
  }
  static std::shared_ptr<Workspace> workspaceOf(const SessionOptions &options) {
    return options.load.workspace ? options.load.workspace
                                  : std::make_shared<Workspace>();
  }

  ModelPackage package;
  SessionOptions options;
  Arrays arrays;
  States states;
  SessionContext context;
  llvm::StringMap<std::unique_ptr<Entry>> entries;
  /// Runs tasks as they are submitted.
  Executor caller{1};
  /// Loads the programs of changed weights, which the entries own: in parallel
  /// with the caller when the backend supports it.
  TaskQueue loading;

  bool stage(Diagnostics &diags);
  std::vector<std::shared_ptr<KernelProgram>> bakedPrograms() const;
  void reload();
};

Session::Session(std::unique_ptr<State> state) : state(std::move(state)) {}
Session::~Session() = default;

std::unique_ptr<Session> Session::open(ModelPackage package, Backend &backend,
                                       const SessionOptions &options,
                                       Diagnostics &diags) {
  auto state = std::make_unique<State>(std::move(package), backend, options);
  if (!state->arrays.open(state->package, state->options.weights, diags))
    return nullptr;
  return std::unique_ptr<Session>(new Session(std::move(state)));
}

const ModelPackage &Session::package() const { return state->package; }

bool Session::prepare(llvm::StringRef name, Diagnostics &diags) {
  std::unique_ptr<Entry> &entry = state->entries[name];
  // Weights that were given away to be changed are read from their masters.
  if (entry && !(entry->plan->readsStored && state->arrays.gaveMasters()))
    return true;
  if (!chooseEntry(state->package, name, {}, diags))
    return false;
  std::unique_ptr<const Plan> plan =
      PlanBuilder(state->context)
          .build(*state->package.schedule->findFunction(name), diags);
  if (!plan)
    return false;
  entry = std::make_unique<Entry>(std::move(plan), state->context);
  // What was copied is not read from files again.
  state->arrays.releasePages();
  // Copies first requested by this entry.
  return state->stage(diags);
}

llvm::ArrayRef<Port> Session::inputs(llvm::StringRef entry) const {
  return state->entries.find(entry)->second->plan->inputs;
}

llvm::ArrayRef<Port> Session::outputs(llvm::StringRef entry) const {
  return state->entries.find(entry)->second->plan->outputs;
}

bool Session::run(llvm::StringRef entry,
                  llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
                  llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
                  Diagnostics &diags, Gradients gradients,
                  GradientReady ready) {
  return prepare(entry, diags) && state->entries[entry]->run.execute(
                                      inputs, outputs, gradients, ready, diags);
}

llvm::ArrayRef<NamedFloats> Session::weights() const {
  return state->arrays.weights();
}

llvm::ArrayRef<NamedFloats> Session::trainedWeights() const {
  return state->arrays.trainedWeights();
}

bool Session::State::stage(Diagnostics &diags) {
  arrays.round(context.workspace->executor());
  for (auto &entry : entries)
    if (entry.second && !entry.second->run.stage(diags))
      return false;
  return true;
}

std::vector<std::shared_ptr<KernelProgram>>
Session::State::bakedPrograms() const {
  std::vector<std::shared_ptr<KernelProgram>> programs;
  for (const auto &entry : entries)
    if (entry.second)
      entry.second->plan->appendBaked(programs);
  return programs;
}

/// Loads the programs that have weights as constants, with the current weights:
/// the first ones run while the last ones are loaded, when the backend supports
/// both at once.
void Session::State::reload() {
  std::vector<std::shared_ptr<KernelProgram>> programs = bakedPrograms();
  for (const auto &program : programs)
    program->captureWeights();
  for (const auto &program : programs)
    program->loadNext(loading);
}

bool Session::weightsChanged(Diagnostics &diags) {
  if (state->package.isQuantized()) {
    diags.reportFile(state->package.folder, diag::QuantizedWeights);
    return false;
  }
  state->reload();
  return state->stage(diags);
}

bool Session::takeAdapter(llvm::StringRef adapter, Diagnostics &diags) {
  if (!state->arrays.takeAdapter(state->package, adapter, diags))
    return false;
  state->reload();
  return state->stage(diags);
}

unsigned Session::programsPerUpdate() const {
  return unsigned(state->bakedPrograms().size());
}

bool Session::canTakeWeights() const {
  std::optional<unsigned> left = state->context.backend.loadsLeft();
  return !left || programsPerUpdate() <= *left;
}

llvm::ArrayRef<NamedFloats> Session::gradients() const {
  return state->arrays.gradients();
}

llvm::ArrayRef<NamedFloats> Session::states(llvm::StringRef entry) const {
  return state->entries.find(entry)->second->plan->states;
}

std::vector<PartTime> Session::times(llvm::StringRef entry) const {
  return state->entries.find(entry)->second->run.times();
}

uint64_t Session::memoryBytes() const {
  uint64_t bytes = state->arrays.bytes() + state->states.bytes();
  for (const auto &entry : state->entries)
    if (entry.second)
      bytes += entry.second->plan->memoryBytes;
  return bytes;
}
