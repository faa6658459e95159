//===- Run.cpp - ane-run PROGRAM ------------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Diags.h"
#include "Arguments.h"
#include "Commands.h"
#include "anec/Arrays/Npy.h"
#include "anec/IR/Names.h"
#include "anec/Ops/Interpreter.h"
#include "anec/Ops/Ops.h"
#include "anec/Support/AtomicFile.h"
#include "anec/anec.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace anec;

std::optional<LoadedProgram> anec::loadProgram(llvm::StringRef path,
                                               llvm::StringRef wanted,
                                               std::vector<InputShape> shapes,
                                               bool onlyToLook,
                                               Diagnostics &diags) {
  LoadedProgram program;
  CompileOptions options;
  options.shapes = std::move(shapes);
  if (onlyToLook)
    options.missingWeights = MILReadOptions::MissingWeights::Warn;
  program.module = readSourceFile(path, options, diags);
  if (!program.module)
    return std::nullopt;
  std::vector<std::string> names;
  for (const auto &function : program.module->functions) {
    names.push_back("`" + function->name + "`");
    if (wanted.empty() || function->name == wanted)
      program.function = function.get();
  }
  if (wanted.empty() && names.size() > 1) {
    diags.report({}, diag::SeveralFunctions, llvm::join(names, ", "));
    return std::nullopt;
  }
  if (!program.function) {
    diags.report({}, diag::NoSuchFunction, wanted, llvm::join(names, ", "));
    return std::nullopt;
  }
  if (!onlyToLook)
    for (const Op &op : program.function->body())
      if (op.is(ops::Weight)) {
        diags.report(op.range(), diag::WeightsNotCompiled, op.get(param::name));
        return std::nullopt;
      }
  return program;
}

void anec::printSummary(const Port &port, const Constant &value,
                        llvm::raw_ostream &out) {
  double low = 0, high = 0, sum = 0;
  int64_t count = value.numElements();
  for (int64_t i = 0; i < count; ++i) {
    double element = value.doubleAt(i);
    low = i == 0 ? element : std::min(low, element);
    high = i == 0 ? element : std::max(high, element);
    sum += element;
  }
  out << "  " << port.name << ": " << port.type.str();
  if (count)
    out << llvm::format("  min %.5g  max %.5g  mean %.5g", low, high,
                        sum / double(count));
  out << '\n';
}

bool anec::writeOutputs(llvm::ArrayRef<Port> ports,
                        llvm::ArrayRef<ConstantRef> values,
                        llvm::StringRef folder, Diagnostics &diags) {
  AtomicFiles files(diags);
  for (auto [port, value] : llvm::zip_equal(ports, values)) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, sanitizeName(port.name, "output") + ".npy");
    OutputFile *file = files.add(path);
    if (!file)
      return false;
    if (!writeNpy(*file, *value)) {
      diags.report({}, diag::NotAnArrayFile, port.name, port.type.str());
      return false;
    }
  }
  return files.commit();
}

/// Prints how far every output is from the program evaluated in double
/// precision, in which only constants and inputs are rounded.
static bool compareWithReference(const Function &function, const Arrays &given,
                                 llvm::ArrayRef<Port> ports,
                                 llvm::ArrayRef<ConstantRef> outputs,
                                 llvm::raw_ostream &out, Diagnostics &diags) {
  std::vector<RefTensor> in, reference, states;
  auto input = given.inputs.begin(), state = given.states.begin();
  for (const auto &param : function.parameters()) {
    const Constant &array =
        param->holder == Holder::State ? **state++ : **input++;
    in.push_back({param->type, array.asDoubles()});
  }
  if (!interpret(function, in, reference, diags, {}, &states))
    return false;
  llvm::append_range(reference, states);
  for (auto [port, output, exact] : llvm::zip_equal(ports, outputs, reference))
    out << "  " << port.name
        << llvm::format(": relative error %.3g against the double-precision "
                        "reference\n",
                        relativeError(output->asDoubles(), exact.data));
  return true;
}

static void printHazards(llvm::ArrayRef<OpHazards> hazards,
                         llvm::raw_ostream &out) {
  out << "hazards (counted, in emulation):"
      << (hazards.empty() ? " none\n" : "\n");
  for (const OpHazards &op : hazards) {
    out << "  " << op.op << " " << op.result << ": " << op.type.str() << '\n';
    auto line = [&](uint64_t count, const char *what) {
      if (count)
        out << "    " << count << ' ' << what << '\n';
    };
    line(op.partialSums, "results with a partial sum of 2^15 or more");
    line(op.products, "products taken for zero");
    line(op.overflows, "finite results beyond 65504");
  }
}

bool anec::runOnce(const LoadedProgram &program, const RunOptions &options,
                   llvm::raw_ostream &out, Diagnostics &diags) {
  std::unique_ptr<Backend> backend = options.backend.open(diags);
  if (!backend)
    return false;
  LoadOptions load = options.load;
  load.milVersion = program.module->version;
  std::unique_ptr<Executable> executable =
      backend->load(*program.function, load, diags);
  if (!executable)
    return false;
  std::optional<Arrays> given =
      readArrays(*executable, options.inputs, options.states, "", diags);
  if (!given)
    return false;
  RunBuffers buffers(*executable, *given);
  auto start = std::chrono::steady_clock::now();
  if (!buffers.run(*executable, diags))
    return false;
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;

  std::vector<ConstantRef> outputs = buffers.outputs(*executable);
  std::vector<Port> ports = executable->outputs();
  llvm::append_range(ports, executable->states());
  out << program.function->name
      << llvm::format(": ran in %.3f ms on ", elapsed.count() * 1e3)
      << backend->name() << " (measured, first run)\n";
  for (auto [port, value] : llvm::zip_equal(ports, outputs))
    printSummary(port, *value, out);
  if (options.reportHazards)
    printHazards(executable->hazards(), out);
  if (options.compare && !compareWithReference(*program.function, *given, ports,
                                               outputs, out, diags))
    return false;
  return options.outputDir.empty() ||
         writeOutputs(ports, outputs, options.outputDir, diags);
}
