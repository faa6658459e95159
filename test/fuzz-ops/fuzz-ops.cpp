//===- fuzz-ops.cpp - random graphs on the CPU backend --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Builds random functions from the op table, prints and reads each as MIL,
/// runs it on the CPU backend in fp32, and compares the results with the double
/// precision interpreter:
///
///   fuzz-ops --seed=1 --graphs=200      --seconds=1200 for a long run
///
/// A result that small changes of the inputs and of what each op gives, or
/// rounding to fp32, move as far as the tolerance (an argmax of near equals, a
/// floor at an integer, a difference of near equals) says nothing about the
/// backend, and is skipped. So are graphs with a value that fp32 cannot hold,
/// or a NaN: what larger, smaller and clipped make of that is left open. Ends
/// with the number of ops that took part;
/// `--min-ops=N` fails when there are fewer.
///
//===----------------------------------------------------------------------===//

#include "RandomGraph.h"
#include "anec/MIL/Printer.h"
#include "anec/MIL/Reader.h"
#include "lib/IR/Text.h"
#include "lib/IR/Verifier.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Ops/Ops.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "lib/Runtime/CPU/InstructionSets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>

using namespace anec;
namespace cl = llvm::cl;

static cl::opt<uint64_t> firstSeed("seed", cl::init(1),
                                   cl::desc("seed of the first graph"));
static cl::opt<unsigned> graphs("graphs", cl::init(200),
                                cl::desc("how many graphs"));
static cl::opt<unsigned> seconds("seconds", cl::init(0),
                                 cl::desc("run so long instead"));
static cl::opt<unsigned> opsPerGraph("ops", cl::init(6),
                                     cl::desc("most ops of a graph"));
static cl::opt<unsigned> minOps("min-ops", cl::init(0),
                                cl::desc("fail if fewer ops took part"));
static cl::opt<bool> storedOnly("stored",
                                cl::desc("only products with stored weights"));
static cl::opt<cpu::InstructionSet> instructions(
    "instructions", cl::init(cpu::detectInstructionSet()),
    cl::desc("the kernels to use; exit code 3 where the processor lacks them"),
    cl::values(clEnumValN(cpu::InstructionSet::Baseline, "baseline", ""),
               clEnumValN(cpu::InstructionSet::AVX2, "avx2", ""),
               clEnumValN(cpu::InstructionSet::AVX512, "avx512", ""),
               clEnumValN(cpu::InstructionSet::NEON, "neon", "")));
static cl::opt<bool> verbose("verbose", cl::desc("print every graph"));

/// Relative, for each op that a result went through.
static constexpr double tolerancePerOp = 3e-6;
/// Of an element: gelu's kernel, for one, is exact to so much of its argument.
static constexpr double absoluteTolerance = 1e-6;
static constexpr double nudge = 1e-6;       ///< of inputs
static constexpr double disturbance = 2e-7; ///< of every op's results

namespace {

class Fuzzer {
public:
  /// False when the graph of `seed` fails.
  bool run(uint64_t seed);

  unsigned compared = 0, skipped = 0, failed = 0;
  llvm::StringSet<> rows;

private:
  bool fail(const llvm::Twine &message);
  std::unique_ptr<Module> throughMil();
  bool execute(const Function &function, llvm::ArrayRef<RefTensor> inputs,
               std::vector<RefTensor> &outputs);
  bool compare(llvm::ArrayRef<RefTensor> inputs);
  bool staysModerate(llvm::ArrayRef<RefTensor> inputs);
  double nudged(double x, double by);
  std::vector<RefTensor> nudgedInputs(llvm::ArrayRef<RefTensor> inputs);

  uint64_t seed = 0;
  std::unique_ptr<Module> module;
  Function *function = nullptr;
  std::mt19937_64 random;
  std::optional<Diagnostics> diags;
};

} // namespace

bool Fuzzer::fail(const llvm::Twine &message) {
  ++failed;
  llvm::errs() << "seed " << seed << ": " << message << '\n';
  diags->print(llvm::errs());
  printIR(*module, llvm::errs());
  return false;
}

/// What the printed text gives when it is read again.
std::unique_ptr<Module> Fuzzer::throughMil() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  MILPrintOptions options;
  options.placement = MILPrintOptions::Placement::Keep; // in the text
  if (!printMIL(*module, stream, options, *diags))
    return nullptr;
  return readMIL(
      diags->addBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "graph.mil")),
      ".", opTable(), *diags);
}

bool Fuzzer::execute(const Function &function, llvm::ArrayRef<RefTensor> inputs,
                     std::vector<RefTensor> &outputs) {
  auto executable = createCpuBackend()->load(
      function,
      LoadOptions{Numerics::FP32,
                  std::make_shared<Workspace>(unsigned(1 + seed % 2))},
      *diags);
  if (!executable)
    return false;
  std::vector<ConstantRef> arrays;
  std::vector<llvm::ArrayRef<uint8_t>> in;
  for (auto [port, input] : llvm::zip_equal(executable->inputs(), inputs)) {
    arrays.push_back(Constant::fromDoubles(port.type, input.data));
    in.push_back(arrays.back()->bytes());
  }
  std::vector<std::vector<uint8_t>> bytes;
  for (const Port &port : executable->outputs())
    bytes.emplace_back(port.type.numBytes());
  std::vector<llvm::MutableArrayRef<uint8_t>> out(bytes.begin(), bytes.end());
  if (!executable->run(in, out, *diags) || !executable->run(in, out, *diags))
    return false;
  for (auto [port, array] : llvm::zip_equal(executable->outputs(), bytes))
    outputs.push_back(
        {port.type, Constant::copy(port.type, array)->asDoubles()});
  return true;
}

double Fuzzer::nudged(double x, double by) {
  return x + std::uniform_real_distribution<double>(-by, by)(random) *
                 std::max(1.0, std::fabs(x));
}

std::vector<RefTensor> Fuzzer::nudgedInputs(llvm::ArrayRef<RefTensor> inputs) {
  std::vector<RefTensor> result(inputs);
  for (RefTensor &input : result)
    if (isFloat(input.type.dtype))
      for (double &element : input.data)
        element = nudged(element, nudge);
  return result;
}

/// Whether fp32 can hold all of it, and none of it is NaN.
static bool isModerate(const RefTensor &tensor) {
  return llvm::all_of(tensor.data, [](double x) {
    double size = std::fabs(x);
    return x == 0 || std::isinf(x) || (size > 1e-30 && size < 1e30);
  });
}

/// Whether every value of the function is moderate.
bool Fuzzer::staysModerate(llvm::ArrayRef<RefTensor> inputs) {
  llvm::SmallVector<Value *, 8> results = function->resultValues(), all;
  std::vector<std::string> names = function->resultNames().vec(), allNames;
  auto setResults = [&](llvm::ArrayRef<Value *> values,
                        llvm::ArrayRef<std::string> names) {
    llvm::SmallVector<llvm::StringRef, 8> views(names.begin(), names.end());
    function->setResults(values, views);
  };
  for (Op &op : function->body())
    for (Value *result : op.resultValues()) {
      allNames.push_back("v" + std::to_string(all.size()));
      all.push_back(result);
    }
  setResults(all, allNames);
  std::vector<RefTensor> values;
  bool ran = interpret(*function, inputs, values, *diags);
  setResults(results, names);
  return ran && llvm::all_of(values, isModerate);
}

/// Where the two differ most, for messages.
static std::string worstElement(const RefTensor &got, const RefTensor &exact) {
  size_t worst = 0;
  auto difference = [&](size_t i) {
    double by = std::fabs(got.data[i] - exact.data[i]);
    return std::isnan(by) ? INFINITY : by;
  };
  for (size_t i = 0; i < got.data.size(); ++i)
    if (difference(i) > difference(worst))
      worst = i;
  return "; element " + std::to_string(worst) + " is " +
         std::to_string(got.data[worst]) + ", not " +
         std::to_string(exact.data[worst]);
}

/// Whether elements differ by no more than the absolute tolerance.
static bool isClose(const RefTensor &got, const RefTensor &exact) {
  return llvm::all_of(llvm::zip_equal(got.data, exact.data), [](auto pair) {
    auto [x, y] = pair;
    return x == y || std::fabs(x - y) <= absoluteTolerance;
  });
}

bool Fuzzer::compare(llvm::ArrayRef<RefTensor> inputs) {
  std::unique_ptr<Module> mil = throughMil();
  std::vector<RefTensor> exact, got;
  if (!mil)
    return fail("cannot be printed and read as MIL");
  if (!interpret(*function, inputs, exact, *diags) ||
      !execute(*mil->functions[0], inputs, got))
    return fail("cannot be run");
  if (!staysModerate(inputs)) {
    skipped += exact.size();
    return true;
  }
  // References that show how far each result turns on small changes.
  std::vector<std::vector<RefTensor>> others(5);
  InterpreterOptions disturbed;
  disturbed.disturb = [&](double x) { return nudged(x, disturbance); };
  for (std::vector<RefTensor> &other : others)
    if (!interpret(*function, nudgedInputs(inputs), other, *diags, disturbed))
      return fail("cannot be run on changed inputs");
  // Small changes hardly ever make two numbers equal that are nearly so;
  // rounding does.
  disturbed.disturb = [](double x) { return double(float(x)); };
  if (!interpret(*function, inputs, others.emplace_back(), *diags, disturbed))
    return fail("cannot be run with rounded results");

  double tolerance = tolerancePerOp * double(function->body().size());
  for (unsigned i = 0; i < exact.size(); ++i) {
    double moved = 0;
    for (const std::vector<RefTensor> &other : others)
      moved = std::max(moved, relativeError(other[i].data, exact[i].data));
    if (moved > tolerance) {
      ++skipped;
      continue;
    }
    ++compared;
    double error = relativeError(got[i].data, exact[i].data);
    if (!(error <= tolerance) && !isClose(got[i], exact[i]))
      return fail("result " + llvm::Twine(i) + " (" +
                  function->resultNames()[i] + ") is off by " +
                  std::to_string(error) + worstElement(got[i], exact[i]));
  }
  return true;
}

bool Fuzzer::run(uint64_t graphSeed) {
  seed = graphSeed;
  diags.emplace();
  module = std::make_unique<Module>();
  RandomGraph graph(seed, *module);
  random = graph.random;
  if (storedOnly)
    graph.addStoredProduct();
  else
    graph.grow(1 + unsigned(seed % opsPerGraph));
  graph.finish();
  function = &graph.function;
  if (verbose)
    printIR(*module, llvm::outs());
  for (const Op &op : function->body())
    rows.insert(op.def().name);
  if (!verify(*module, *diags))
    return fail("is malformed");
  std::vector<RefTensor> inputs;
  for (const auto &parameter : function->parameters())
    inputs.push_back(randomTensor(parameter->type, random()));
  return compare(inputs);
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "Runs random graphs of ops.\n");
  const char *named = std::getenv("ANEC_INSTRUCTIONS");
  bool isNamed = named && instructions.getNumOccurrences() == 0;
  if (!(isNamed ? cpu::useInstructionSet(llvm::StringRef(named))
                : cpu::useInstructionSet(instructions))) {
    llvm::errs() << "error: the processor lacks these instructions\n";
    return 3;
  }
  auto start = std::chrono::steady_clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  };
  Fuzzer fuzzer;
  uint64_t count = 0;
  for (; seconds ? elapsed() < seconds : count < graphs; ++count)
    fuzzer.run(firstSeed + count);
  llvm::outs() << count << " graphs of " << fuzzer.rows.size()
               << " ops: " << fuzzer.compared << " results compared, "
               << fuzzer.skipped << " ill-conditioned, " << fuzzer.failed
               << " failed\n";
  if (fuzzer.rows.size() < minOps) {
    llvm::errs() << "fewer ops than " << minOps << " took part; missing:";
    for (const OpDef *op : opTable().all())
      if (op->has(trait::Mil) && op->eval && !fuzzer.rows.contains(op->name))
        llvm::errs() << ' ' << op->name;
    llvm::errs() << '\n';
    return 1;
  }
  return fuzzer.failed ? 1 : 0;
}
