//===- AneBackend.mm - programs on the Neural Engine ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Runtime/ANE/AneBackend.h"
#include "Executable.h"
#include "Heartbeat.h"
#include "anec/IR/Builder.h"
#include "anec/IR/Names.h"
#include "anec/Ops/Ops.h"
#include "anec/Runtime/Diags.h"

using namespace anec;
using namespace anec::ane;

/// What the engine's surfaces can hold and Executable can give.
static bool checkPort(const Value &value, Diagnostics &diags) {
  if (value.holder != Holder::Tensor) {
    diags.report(value.range(), diag::AneNoState, value.name,
                 describe(value.holder));
    return false;
  }
  DType dtype = value.type.dtype;
  if (dtype == DType::FP16 || dtype == DType::FP32 || dtype == DType::Int32)
    return true;
  diags.report(value.range(), diag::BackendLacksType, "ane", value.type.str());
  return false;
}

static uint64_t bytesOfConstants(const Function &function) {
  uint64_t bytes = 0;
  for (const Op &op : function.body())
    for (const ConstantRef &constant : op.constants())
      if (constant && constant->dtype() != DType::String)
        bytes += constant->type().numBytes();
  return bytes;
}

namespace {

class AneBackend : public Backend {
public:
  explicit AneBackend(std::shared_ptr<Engine> engine)
      : engine(std::move(engine)) {}
  llvm::StringRef name() const override { return "ane"; }
  bool computesOnProcessor() const override { return false; }
  bool loadsAside() const override { return true; }
  std::optional<unsigned> loadsLeft() const override {
    if (!engine->options.compileCommand.empty() && !engine->compilesItself)
      return std::nullopt;
    unsigned used = CompileCount::value(), limit = engine->options.compileLimit;
    return used < limit ? limit - used : 0;
  }

  std::unique_ptr<Executable> load(const Function &function,
                                   const LoadOptions &options,
                                   Diagnostics &diags) override;
  bool takesText() const override { return true; }
  std::unique_ptr<Executable> loadText(const ProgramText &program,
                                       Diagnostics &diags) override;
  bool startHeartbeat(Diagnostics &diags);

private:
  std::shared_ptr<Program> programFor(StagedProgram staged, Diagnostics &diags);

  std::shared_ptr<Engine> engine;
  std::unique_ptr<Heartbeat> heartbeat;
};

} // namespace

/// Programs that are equal are compiled and loaded once.
std::shared_ptr<Program> AneBackend::programFor(StagedProgram staged,
                                                Diagnostics &diags) {
  std::string digest = staged.digest();
  {
    std::lock_guard<std::mutex> lock(engine->tableMutex);
    if (std::shared_ptr<Program> known = engine->programs[digest].lock())
      return known;
  }
  std::shared_ptr<Program> made =
      Program::make(engine, std::move(staged), diags);
  std::lock_guard<std::mutex> lock(engine->tableMutex);
  // Programs with new weights come with each update, and those before them go.
  for (auto entry = engine->programs.begin();
       entry != engine->programs.end();) {
    auto gone = entry++;
    if (gone->second.expired())
      engine->programs.erase(gone);
  }
  if (made)
    engine->programs[digest] = made;
  return made;
}

std::unique_ptr<Executable> AneBackend::load(const Function &function,
                                             const LoadOptions &options,
                                             Diagnostics &diags) {
  std::vector<Port> inputs, outputs;
  bool ok = true;
  for (const auto &param : function.parameters()) {
    ok &= checkPort(*param, diags);
    inputs.push_back({param->name, param->type});
  }
  for (unsigned i = 0; i < function.numResults(); ++i) {
    ok &= checkPort(*function.result(i), diags);
    outputs.push_back({function.resultNames()[i], function.result(i)->type});
  }
  if (!ok)
    return nullptr;
  std::optional<StagedProgram> staged = StagedProgram::write(
      function, options.milVersion, engine->options.mostWeightFiles,
      engine->temporaryFolder, engine->nextSalt(), diags);
  std::shared_ptr<Program> program =
      staged ? programFor(std::move(*staged), diags) : nullptr;
  return program ? AneExecutable::make(std::move(program), std::move(inputs),
                                       std::move(outputs),
                                       bytesOfConstants(function), diags)
                 : nullptr;
}

std::unique_ptr<Executable> AneBackend::loadText(const ProgramText &program,
                                                 Diagnostics &diags) {
  uint64_t weightBytes = 0;
  for (const ProgramText::WeightFile &file : program.weightFiles)
    weightBytes += file.bytes.size();
  std::optional<StagedProgram> staged = StagedProgram::writeText(
      program, engine->temporaryFolder, engine->nextSalt(), diags);
  std::shared_ptr<Program> compiled =
      staged ? programFor(std::move(*staged), diags) : nullptr;
  return compiled ? AneExecutable::make(std::move(compiled), program.inputs,
                                        program.outputs, weightBytes, diags,
                                        program.asDeclared)
                  : nullptr;
}

/// `y = x + x` on the smallest input that every chip takes.
bool AneBackend::startHeartbeat(Diagnostics &diags) {
  Module module;
  Function *function = module.addFunction(FunctionKind::Kernel, "main");
  Value *x =
      function->addParameter(TensorType(DType::FP16, {1, 64, 1, 64}), "x");
  Op *sum = Op::create(ops::Add, {x, x}, {}, {x->type}, {"y"}, {});
  function->insert(sum);
  function->setResults({sum->result()});
  std::unique_ptr<Executable> beat = load(*function, {}, diags);
  if (!beat)
    return false;
  heartbeat = std::make_unique<Heartbeat>(engine, std::move(beat),
                                          engine->options.heartbeatSeconds);
  return true;
}

std::unique_ptr<Backend> anec::createAneBackend(const AneOptions &options,
                                                Diagnostics &diags) {
  std::shared_ptr<Engine> engine = Engine::open(options, diags);
  if (!engine)
    return nullptr;
  auto backend = std::make_unique<AneBackend>(std::move(engine));
  if (options.heartbeatSeconds > 0 && !backend->startHeartbeat(diags))
    return nullptr;
  return backend;
}

bool anec::compileStagedProgram(llvm::StringRef folder,
                                const AneOptions &options, Diagnostics &diags) {
  AneOptions own = options;
  own.reuse = true;
  std::shared_ptr<Engine> engine = Engine::open(own, diags);
  std::optional<StagedProgram> staged =
      engine ? StagedProgram::open(folder, diags) : std::nullopt;
  return staged && Program::compileAside(*engine, std::move(*staged), diags);
}
