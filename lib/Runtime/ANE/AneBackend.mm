//===- AneBackend.mm - programs on the Neural Engine ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Runtime/ANE/AneBackend.h"
#include "../Apple/ConstantBytes.h"
#include "../Apple/Measures.h"
#include "Doctor.h"
#include "Executable.h"
#include "Heartbeat.h"
#include "HostExecutable.h"
#include "SmallProgram.h"
#include "WidePorts.h"
#include "lib/IR/Blocks.h"
#include "lib/Runtime/Diags.h"

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

/// Whether the engine can run the ops; reports control flow.
static bool checkOps(const Function &function, Diagnostics &diags) {
  bool ok = true;
  for (const Op &op : function.body())
    if (blocksSlot(op.def()) >= 0) {
      diags.report(op.range(), diag::BackendLacksOp, "ane", op.def().name);
      ok = false;
    }
  return ok;
}

/// Whether inputs and outputs of a path without requests can have this type.
static bool takesType(AnePath path, DType type) {
  if (path == AnePath::E5)
    return type == DType::FP16 || type == DType::FP32 || type == DType::Int32;
  // ANEForge; bool, bf16, fp32 and int32 are refused.
  return type == DType::FP16 || type == DType::Int8 || type == DType::UInt8 ||
         type == DType::Int16 || type == DType::UInt16;
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
  std::shared_ptr<Program> programFor(StagedProgram staged,
                                      const ProgramPorts &ports,
                                      Diagnostics &diags);
  std::unique_ptr<Executable> executableFor(std::shared_ptr<Program> program,
                                            const ProgramPorts &ports,
                                            uint64_t weightBytes,
                                            bool asDeclared,
                                            Diagnostics &diags) const;

  std::shared_ptr<Engine> engine;
  std::unique_ptr<Heartbeat> heartbeat;
};

} // namespace

std::shared_ptr<Program> AneBackend::programFor(StagedProgram staged,
                                                const ProgramPorts &ports,
                                                Diagnostics &diags) {
  std::string digest = staged.digest();
  return engine->programs.find(digest, [&] {
    return Program::make(engine, std::move(staged), ports, diags);
  });
}

/// Reports an input or output that the path refuses.
static bool checkPort(AnePath path, llvm::StringRef name,
                      const TensorType &type, SourceRange range,
                      Diagnostics &diags) {
  if (takesRequests(path) || takesType(path, type.dtype))
    return true;
  diags.report(range, diag::AnePathLacksType, name, type.str(), spelling(path));
  return false;
}

/// Whether the path calls compilers that have been seen to crash the process.
static bool needsOwnProcess(const AneOptions &options) {
  return takes(Measure::OwnProcess) && !takesRequests(options.path) &&
         !options.hasOwnProcess;
}

/// Reports a procedure where the path has none, and a path that needs a process
/// of its own.
static bool checkPath(const AneOptions &options, Diagnostics &diags) {
  if (needsOwnProcess(options)) {
    diags.report({}, diag::AneOwnProcess, spelling(options.path));
    return false;
  }
  if (takesRequests(options.path) || !options.procedure)
    return true;
  diags.report({}, diag::AnePathLacksProcedures, spelling(options.path));
  return false;
}

std::unique_ptr<Executable>
AneBackend::executableFor(std::shared_ptr<Program> program,
                          const ProgramPorts &ports, uint64_t weightBytes,
                          bool asDeclared, Diagnostics &diags) const {
  if (!program)
    return nullptr;
  if (!takesRequests(engine->options.path))
    return std::make_unique<HostExecutable>(std::move(program), ports,
                                            weightBytes);
  return AneExecutable::make(std::move(program), ports.inputs, ports.outputs,
                             weightBytes, diags, asDeclared);
}

std::unique_ptr<Executable> AneBackend::load(const Function &function,
                                             const LoadOptions &options,
                                             Diagnostics &diags) {
  bool hasTensors = checkHolders(function, diags);
  if (!checkPorts(function, diags) || !hasTensors || !checkOps(function, diags))
    return nullptr;
  AnePath path = engine->options.path;
  bool ok = checkPath(engine->options, diags);
  ProgramPorts ports;
  for (const auto &param : function.parameters()) {
    ok &= checkPort(path, param->name, param->type, param->range(), diags);
    ports.inputs.push_back({param->name, param->type});
  }
  for (unsigned i = 0; i < function.numResults(); ++i) {
    const Value &result = *function.result(i);
    const std::string &name = function.resultNames()[i];
    ok &= checkPort(path, name, result.type, result.range(), diags);
    ports.outputs.push_back({name, result.type});
  }
  if (!ok)
    return nullptr;
  ports.isWidened = path == AnePath::E5;
  std::unique_ptr<Module> wide =
      ports.isWidened ? widenPorts(function) : nullptr;
  std::optional<StagedProgram> staged = StagedProgram::write(
      wide ? *wide->functions.front() : function, options.milVersion,
      takes(Measure::OneWeightFile) ? engine->options.mostWeightFiles : 16,
      engine->temporaryFolder, engine->nextSalt(), *engine->options.executor,
      diags);
  return executableFor(
      staged ? programFor(std::move(*staged), ports, diags) : nullptr, ports,
      bytesOfConstants(function), /*asDeclared=*/false, diags);
}

std::unique_ptr<Executable> AneBackend::loadText(const ProgramText &program,
                                                 Diagnostics &diags) {
  ProgramPorts ports{program.inputs, program.outputs};
  AnePath path = engine->options.path;
  bool ok = checkPath(engine->options, diags);
  // Core ML has no arrays of other types. What its runtime refuses it says
  // itself, so that rules about types can be probed.
  for (const std::vector<Port> *side : {&ports.inputs, &ports.outputs})
    for (const Port &port : *side)
      if (path == AnePath::E5)
        ok &= checkPort(path, port.name, port.type, {}, diags);
  if (!ok)
    return nullptr;
  uint64_t weightBytes = 0;
  for (const ProgramText::WeightFile &file : program.weightFiles)
    weightBytes += file.bytes.size();
  std::optional<StagedProgram> staged = StagedProgram::writeText(
      program, engine->temporaryFolder, engine->nextSalt(), diags);
  return executableFor(staged ? programFor(std::move(*staged), ports, diags)
                              : nullptr,
                       ports, weightBytes, program.asDeclared, diags);
}

bool AneBackend::startHeartbeat(Diagnostics &diags) {
  std::unique_ptr<Module> module = smallProgram();
  std::unique_ptr<Executable> beat =
      load(*module->functions.front(), {}, diags);
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
  row.needsOwnProcess = [options](const BackendSettings &settings) {
    return needsOwnProcess(options(settings));
  };
  row.otherPath = [options](const BackendSettings &settings,
                            llvm::StringRef message) -> std::string {
    FrameworkError error = decode(Stage::Compile, message);
    return takes(Measure::OtherPath) && error.is(errors::StagedBundle) &&
                   options(settings).path == AnePath::InMemory
               ? spelling(AnePath::Client).str()
               : "";
  };
  row.help = [options](llvm::StringRef folder, const BackendSettings &settings,
                       Diagnostics &diags) {
    return compileStagedProgram(folder, options(settings), diags);
  };
  return row;
}
