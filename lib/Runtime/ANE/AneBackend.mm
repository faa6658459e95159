//===- AneBackend.mm - programs on the Neural Engine ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Runtime/ANE/AneBackend.h"
#include "Doctor.h"
#include "Executable.h"
#include "Heartbeat.h"
#include "anec/IR/Builder.h"
#include "anec/IR/Names.h"
#include "anec/Ops/Ops.h"
#include "anec/Runtime/Diags.h"

using namespace anec;
using namespace anec::ane;

/// Reports parameters that are not tensors, which programs of the engine do not
/// support.
static bool checkHolders(const Function &function, Diagnostics &diags) {
  bool ok = true;
  for (const auto &param : function.parameters())
    if (param->holder != Holder::Tensor) {
      diags.report(param->range(), diag::AneNoState, param->name,
                   describe(param->holder));
      ok = false;
    }
  return ok;
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
  AneBackend(const BackendRow &row, std::shared_ptr<Engine> engine)
      : Backend(row.name, capabilitiesOf(row, engine->options)),
        engine(std::move(engine)) {}
  std::optional<unsigned> loadsLeft() const override {
    if (!engine->options.compileCommand.empty() && !engine->compilesItself)
      return std::nullopt;
    unsigned used = engine->options.compiles->load();
    unsigned limit = engine->options.compileLimit;
    return used < limit ? limit - used : 0;
  }

  std::unique_ptr<Executable> load(const Function &function,
                                   const LoadOptions &options,
                                   Diagnostics &diags) override;
  std::unique_ptr<Executable> loadText(const ProgramText &program,
                                       Diagnostics &diags) override;
  bool startHeartbeat(Diagnostics &diags);

private:
  static BackendCapabilities capabilitiesOf(const BackendRow &row,
                                            const AneOptions &options) {
    BackendCapabilities can = row.capabilities;
    can.loadLimit = options.compileLimit;
    return can;
  }
  std::shared_ptr<Program> programFor(StagedProgram staged, Diagnostics &diags);

  std::shared_ptr<Engine> engine;
  std::unique_ptr<Heartbeat> heartbeat;
};

} // namespace

/// Equal programs are compiled and loaded once.
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
  // Each update adds programs with new weights, and releases the previous ones.
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
  bool hasTensors = checkHolders(function, diags);
  if (!checkPorts(function, diags) || !hasTensors)
    return nullptr;
  std::vector<Port> inputs, outputs;
  for (const auto &param : function.parameters())
    inputs.push_back({param->name, param->type});
  for (unsigned i = 0; i < function.numResults(); ++i)
    outputs.push_back({function.resultNames()[i], function.result(i)->type});
  std::optional<StagedProgram> staged = StagedProgram::write(
      function, options.milVersion, engine->options.mostWeightFiles,
      engine->temporaryFolder, engine->nextSalt(), *engine->options.executor,
      diags);
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

/// `y = x + x` on the smallest input that every chip accepts.
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
  auto backend =
      std::make_unique<AneBackend>(aneBackendNotBuilt(), std::move(engine));
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

BackendRow anec::aneBackend() {
  // All backends of the row share one count, because the compiler counts per
  // process.
  auto compiles = std::make_shared<std::atomic<unsigned>>(0);
  auto options = [compiles](const BackendSettings &settings) {
    AneOptions result = aneOptions(settings);
    result.compiles = compiles;
    return result;
  };
  BackendRow row = aneBackendNotBuilt();
  row.isBuilt = true;
  row.open = [options](const BackendSettings &settings, Diagnostics &diags) {
    return createAneBackend(options(settings), diags);
  };
  row.machine = [options](const BackendSettings &settings) {
    AneInspection found = inspectAne(options(settings));
    return MachineNames{found.chip, found.system, found.temporaryFolder};
  };
  row.inspect = [options](const BackendSettings &settings, bool json,
                          llvm::raw_ostream &out, Diagnostics &diags) {
    return writeInspection(options(settings), json, out, diags);
  };
  row.help = [options](llvm::StringRef folder, const BackendSettings &settings,
                       Diagnostics &diags) {
    return compileStagedProgram(folder, options(settings), diags);
  };
  return row;
}
