//===- ProbeOne.cpp - one program of a probe ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Probe.h"
#include "ProbeProgram.h"
#include "anec/IR/OpDef.h"
#include "anec/MIL/Reader.h"
#include "anec/Ops/Interpreter.h"
#include "anec/Ops/Ops.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

namespace {
/// What came of a program.
struct Outcome {
  std::string what, message;
  std::optional<double> error;
};
} // namespace

/// The tests' programs name weight files that nobody has: small numbers stand
/// for their values.
static void drawMissingWeights(Function &function) {
  uint64_t seed = 1;
  for (Op &op : function.body())
    for (const ParamDef &param : op.def().parameters()) {
      const Constant *value =
          param.isConstant() ? op.constant(param.name) : nullptr;
      if (!value || !value->origin() || !value->origin()->missing ||
          !isFloat(value->dtype()))
        continue;
      RefTensor drawn = randomTensor(value->type(), seed++);
      for (double &element : drawn.data)
        element *= 0.05;
      op.setConstant(param.name,
                     Constant::fromDoubles(value->type(), drawn.data));
    }
}

static std::string firstMessage(const Diagnostics &diags) {
  return diags.all().empty()
             ? ""
             : diags.all().back().message + " [" +
                   diags.all().back().kind->id.str() + "]";
}

/// The elements of all outputs; nothing when it does not load or run.
static std::optional<std::vector<double>> runOn(Backend &backend,
                                                const Module &module,
                                                Diagnostics &diags) {
  LoadOptions load;
  load.milVersion = module.version;
  std::unique_ptr<Executable> executable =
      backend.load(*module.functions.front(), load, diags);
  if (!executable)
    return std::nullopt;
  std::vector<ConstantRef> arrays;
  llvm::SmallVector<llvm::ArrayRef<uint8_t>> in;
  for (const Port &port : executable->inputs()) {
    arrays.push_back(Constant::fromDoubles(
        port.type, randomTensor(port.type, arrays.size() + 1).data));
    in.push_back(arrays.back()->bytes());
  }
  std::vector<std::vector<uint8_t>> bytes;
  for (const Port &port : executable->outputs())
    bytes.emplace_back(port.type.numBytes());
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> out(bytes.begin(),
                                                        bytes.end());
  if (!executable->run(in, out, diags))
    return std::nullopt;
  std::vector<double> elements;
  for (auto [port, data] : llvm::zip_equal(executable->outputs(), bytes))
    llvm::append_range(elements, Constant::copy(port.type, data)->asDoubles());
  return elements;
}

/// Wrong is what no table of an activation explains.
static constexpr double tolerance = 0.05;

static Outcome runBoth(llvm::StringRef text, const BackendChoice &choice,
                       Diagnostics &diags) {
  MILReadOptions options;
  options.missingWeights = MILReadOptions::MissingWeights::Ignore;
  llvm::StringRef kept = diags.addBuffer(
      llvm::MemoryBuffer::getMemBuffer(text, "probe.mil", false));
  std::unique_ptr<Module> module =
      readMIL(kept, "", opTable(), diags, options);
  // The engine gets what anec prints, and that is no such program.
  if (!module || module->functions.size() != 1)
    return {"not-written", firstMessage(diags)};
  drawMissingWeights(*module->functions.front());
  Diagnostics ofCpu, ofEngine;
  std::optional<std::vector<double>> wanted =
      runOn(*createCpuBackend(), *module, ofCpu);
  if (!wanted)
    return {"not-compared", firstMessage(ofCpu)};
  std::unique_ptr<Backend> backend = makeBackend(choice, diags);
  if (!backend)
    return {};
  std::optional<std::vector<double>> got = runOn(*backend, *module, ofEngine);
  if (!got)
    return {"refused", firstMessage(ofEngine)};
  double error = relativeError(*got, *wanted);
  return {error <= tolerance ? "right" : "wrong", "",
          std::isfinite(error) ? error : 1e30};
}

bool anec::probeOne(llvm::StringRef name, const BackendChoice &backend,
                    llvm::raw_ostream &out, Diagnostics &diags) {
  auto [rule, kind] = name.split('.');
  const ProbeProgram *program = findProbeProgram(rule, kind);
  Outcome outcome = program ? runBoth(program->text, backend, diags)
                            : Outcome{"no-program", ""};
  if (outcome.what.empty())
    return false;
  llvm::json::OStream json(out);
  json.object([&] {
    json.attribute("outcome", outcome.what);
    if (!outcome.message.empty())
      json.attribute("message", outcome.message);
    if (outcome.error)
      json.attribute("relative_error", *outcome.error);
  });
  out << '\n';
  return true;
}
