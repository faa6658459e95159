//===- op-check.cpp - value tests of ops ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Checks the functions of an .ir file against lines among its comments:
///
///   // run: @name([1, 2], [3]) == [1, 2, 3] within 1e-6
///   // random: @name
///
/// Arguments are flat, in parameter order, and that of a state is what it holds
/// before. Several results are separated by `;`; what states hold afterwards
/// follows them. `run` compares the rows' double-precision reference with the
/// values written down. Both then take the function the whole way: decompose,
/// print as MIL with weights, read that back, and run it on the CPU in both
/// numerics, each compared with the reference. A function with an op that has
/// no MIL form is checked by its reference alone.
///
//===----------------------------------------------------------------------===//

#include "anec/MIL/Printer.h"
#include "anec/MIL/Reader.h"
#include "anec/Passes/PassManager.h"
#include "lib/IR/Text.h"
#include "lib/IR/Verifier.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Ops/Ops.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace anec;

// How far results may be from the reference, relative (norm of the difference
// over norm of the reference).
static constexpr double decomposedFP32 = 1e-6; ///< constants are fp32
static constexpr double decomposedFP16 = 2e-3; ///< constants are fp16
static constexpr double executedFP32 = 2e-6;   ///< fp32 arithmetic
static constexpr double executedFP16 = 5e-3;   ///< fp16 after every op

namespace {

struct Line {
  unsigned number = 0;
  std::string function;
  bool random = false;
  std::vector<std::vector<double>> arguments, results;
  double tolerance = 1e-6;
};

/// Parses the lines; counts what does not parse.
class LineParser {
public:
  explicit LineParser(llvm::StringRef text) : rest(text) {}

  bool parse(Line &line) {
    if (!take("@"))
      return false;
    line.function =
        rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; })
            .str();
    rest = rest.drop_front(line.function.size());
    if (line.random)
      return rest.trim().empty();
    if (!take("("))
      return false;
    while (!take(")"))
      if (!array(line.arguments.emplace_back()) ||
          (!take(",") && !rest.ltrim().starts_with(")")))
        return false;
    if (!take("=="))
      return false;
    do
      if (!array(line.results.emplace_back()))
        return false;
    while (take(";"));
    if (take("within") && !number(line.tolerance))
      return false;
    return rest.trim().empty();
  }

private:
  bool take(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  bool number(double &value) {
    rest = rest.ltrim();
    llvm::StringRef text = rest.take_while([](char c) {
      return llvm::isAlnum(c) || c == '.' || c == '-' || c == '+';
    });
    rest = rest.drop_front(text.size());
    if (text == "true" || text == "false") {
      value = text == "true";
      return true;
    }
    if (text.ends_with("inf") || text.ends_with("nan")) {
      value = text.ends_with("inf") ? INFINITY : NAN;
      value = text.starts_with("-") ? -value : value;
      return true;
    }
    return !text.empty() && !text.getAsDouble(value);
  }
  bool array(std::vector<double> &values) {
    double scalar;
    if (!take("["))
      return number(scalar) && (values.push_back(scalar), true);
    while (!take("]")) {
      if (!number(values.emplace_back()))
        return false;
      if (!take(",") && !rest.ltrim().starts_with("]"))
        return false;
    }
    return true;
  }
  llvm::StringRef rest;
};

/// Checks one file and prints what is wrong.
class Checker {
public:
  explicit Checker(llvm::StringRef path) : path(path) {}
  int run();

private:
  bool fail(const llvm::Twine &message) {
    llvm::errs() << path << ':' << line.number << ": error: @" << line.function
                 << ": " << message << '\n';
    ++failures;
    return false;
  }
  bool readLines(llvm::StringRef text);
  void check();
  bool checkValues(llvm::ArrayRef<RefTensor> results);
  bool checkError(const llvm::Twine &what, llvm::ArrayRef<RefTensor> got,
                  llvm::ArrayRef<RefTensor> reference, double tolerance);
  void checkAsMil(const Function &function, llvm::ArrayRef<RefTensor> inputs,
                  llvm::ArrayRef<RefTensor> reference);
  std::unique_ptr<Module> throughMil(const Function &function,
                                     Diagnostics &diags);
  bool execute(const Function &function, Numerics numerics,
               llvm::ArrayRef<RefTensor> inputs,
               std::vector<RefTensor> &outputs, Diagnostics &diags);

  llvm::StringRef path;
  std::vector<Line> lines;
  Line line;
  const Module *current = nullptr; ///< holds the function under check alone
  unsigned failures = 0;
};

} // namespace

static std::unique_ptr<Module> parseFile(llvm::StringRef path,
                                         Diagnostics &diags) {
  std::optional<llvm::StringRef> text = diags.addFile(path);
  return text ? parseIR(*text, opTable(), diags) : nullptr;
}

/// The results, and what states hold afterwards.
static bool evaluate(const Function &function, llvm::ArrayRef<RefTensor> inputs,
                     std::vector<RefTensor> &results, Diagnostics &diags) {
  std::vector<RefTensor> states;
  if (!interpret(function, inputs, results, diags, {}, &states))
    return false;
  llvm::append_range(results, states);
  return true;
}

bool Checker::readLines(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> all;
  text.split(all, '\n');
  for (auto [index, content] : llvm::enumerate(all)) {
    line = Line();
    line.number = unsigned(index) + 1;
    llvm::StringRef rest = content.trim();
    if (!rest.consume_front("//"))
      continue;
    rest = rest.ltrim();
    if (rest.consume_front("random:"))
      line.random = true;
    else if (!rest.consume_front("run:"))
      continue;
    if (!LineParser(rest.ltrim()).parse(line))
      return fail("cannot read this line");
    lines.push_back(line);
  }
  if (lines.empty())
    return fail("the file has no `// run:` and no `// random:` line");
  return true;
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

bool Checker::checkValues(llvm::ArrayRef<RefTensor> results) {
  if (results.size() != line.results.size())
    return fail("has " + llvm::Twine(results.size()) + " results, " +
                llvm::Twine(line.results.size()) + " written down");
  for (auto [index, result] : llvm::enumerate(results)) {
    const std::vector<double> &expected = line.results[index];
    if (result.data.size() != expected.size())
      return fail("result " + llvm::Twine(index) + " has " +
                  llvm::Twine(result.data.size()) + " elements, " +
                  llvm::Twine(expected.size()) + " written down");
    for (size_t i = 0; i < expected.size(); ++i) {
      double got = result.data[i], want = expected[i];
      bool same = got == want || (std::isnan(got) && std::isnan(want)) ||
                  std::fabs(got - want) <=
                      line.tolerance * std::max(1.0, std::fabs(want));
      if (!same)
        return fail("element " + llvm::Twine(i) + " of result " +
                    llvm::Twine(index) + " is " + std::to_string(got) +
                    ", not " + std::to_string(want));
    }
  }
  return true;
}

bool Checker::checkError(const llvm::Twine &what, llvm::ArrayRef<RefTensor> got,
                         llvm::ArrayRef<RefTensor> reference,
                         double tolerance) {
  for (auto [index, pair] : llvm::enumerate(llvm::zip_equal(got, reference))) {
    double error =
        relativeError(std::get<0>(pair).data, std::get<1>(pair).data);
    if (error > tolerance)
      return fail(what + ": result " + llvm::Twine(index) + " is off by " +
                  std::to_string(error) + ", more than " +
                  std::to_string(tolerance));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The way through MIL
//===----------------------------------------------------------------------===//

static bool isMil(const Function &function) {
  return llvm::all_of(function.body(), [](const Op &op) {
    return op.def().has(trait::Mil) || op.is(ops::Weight);
  });
}

static bool hasHalves(const Function &function) {
  auto isHalf = [](const Value *value) {
    return value->type.dtype == DType::FP16;
  };
  for (const Op &op : function.body())
    if (llvm::any_of(op.resultValues(), isHalf))
      return true;
  return false;
}

/// What MIL text and weight file give when they are read again.
std::unique_ptr<Module> Checker::throughMil(const Function &function,
                                            Diagnostics &diags) {
  llvm::SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("op-check", folder)) {
    fail("cannot make a temporary folder");
    return nullptr;
  }
  llvm::SmallString<128> file(folder);
  llvm::sys::path::append(file, "op.mil");
  MILPrintOptions options;
  options.only = &function;
  options.resolve = [](const Op &weight) {
    return Constant::fromDoubles(weight.result()->type, randomWeight(weight));
  };
  std::unique_ptr<Module> module;
  if (writeMIL(*current, file, options, diags)) {
    std::optional<llvm::StringRef> text = diags.addFile(file);
    if (text)
      module = readMIL(*text, folder, opTable(), diags);
  }
  llvm::sys::fs::remove_directories(folder);
  return module;
}

bool Checker::execute(const Function &function, Numerics numerics,
                      llvm::ArrayRef<RefTensor> inputs,
                      std::vector<RefTensor> &outputs, Diagnostics &diags) {
  LoadOptions options{numerics, std::make_shared<Workspace>(2)};
  std::unique_ptr<Executable> executable =
      createCpuBackend()->load(function, options, diags);
  if (!executable)
    return false;
  std::vector<ConstantRef> arrays, states;
  std::vector<llvm::ArrayRef<uint8_t>> in;
  for (auto [param, input] : llvm::zip_equal(function.parameters(), inputs)) {
    if (param->holder == Holder::State) {
      const Port &port = executable->states()[states.size()];
      states.push_back(Constant::fromDoubles(port.type, input.data));
      continue;
    }
    arrays.push_back(Constant::fromDoubles(param->type, input.data));
    in.push_back(arrays.back()->bytes());
  }
  std::vector<std::vector<uint8_t>> bytes;
  for (const Port &port : executable->outputs())
    bytes.emplace_back(port.type.numBytes());
  std::vector<llvm::MutableArrayRef<uint8_t>> out(bytes.begin(), bytes.end());
  // Twice: the second run must not see what the first left behind.
  for (int i = 0; i < 2; ++i) {
    for (auto [index, state] : llvm::enumerate(states))
      if (!executable->setState(unsigned(index), state->bytes(), diags))
        return false;
    if (!executable->run(in, out, diags))
      return false;
  }
  outputs.clear();
  for (auto [port, array] : llvm::zip_equal(executable->outputs(), bytes))
    outputs.push_back(
        {port.type, Constant::copy(port.type, array)->asDoubles()});
  for (auto [index, port] : llvm::enumerate(executable->states())) {
    std::vector<uint8_t> array(port.type.numBytes());
    if (!executable->getState(unsigned(index), array, diags))
      return false;
    outputs.push_back(
        {port.type, Constant::copy(port.type, array)->asDoubles()});
  }
  return true;
}

void Checker::checkAsMil(const Function &function,
                         llvm::ArrayRef<RefTensor> inputs,
                         llvm::ArrayRef<RefTensor> reference) {
  Diagnostics diags;
  bool halves = hasHalves(function);
  std::unique_ptr<Module> mil = throughMil(function, diags);
  std::vector<RefTensor> exact, got;
  bool ok = mil && evaluate(*mil->functions[0], inputs, exact, diags);
  if (ok && checkError("decomposed, printed and read back", exact, reference,
                       halves ? decomposedFP16 : decomposedFP32)) {
    for (Numerics numerics : {Numerics::FP32, Numerics::FP16}) {
      bool rounds = numerics == Numerics::FP16 && halves;
      if (!execute(*mil->functions[0], numerics, inputs, got, diags))
        break;
      checkError(rounds ? "run in fp16" : "run in fp32", got, exact,
                 rounds ? executedFP16 : executedFP32);
    }
  }
  if (diags.hasErrors()) {
    fail("does not run as MIL:");
    diags.print(llvm::errs());
  }
}

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

void Checker::check() {
  Diagnostics diags;
  std::unique_ptr<Module> module = parseFile(path, diags);
  Function *function = module ? module->findFunction(line.function) : nullptr;
  if (!function) {
    fail("there is no such function, or it does not parse");
    diags.print(llvm::errs());
    return;
  }
  std::vector<RefTensor> inputs, results;
  for (auto [index, param] : llvm::enumerate(function->parameters())) {
    inputs.push_back(randomTensor(param->type, index + 1));
    if (line.random)
      continue;
    if (index >= line.arguments.size() ||
        int64_t(line.arguments[index].size()) != param->type.numElements()) {
      fail("argument " + llvm::Twine(index) + " does not fit " +
           param->type.str());
      return;
    }
    for (size_t i = 0; i < line.arguments[index].size(); ++i)
      inputs[index].data[i] =
          roundToDType(line.arguments[index][i], param->type.dtype);
  }
  if (!evaluate(*function, inputs, results, diags)) {
    fail("cannot be evaluated:");
    diags.print(llvm::errs());
    return;
  }
  if (!line.random && !checkValues(results))
    return;

  PassManagerOptions passes;
  passes.passes = {findPass("decompose")};
  llvm::erase_if(module->functions,
                 [&](const auto &other) { return other.get() != function; });
  if (!runPasses(*module, passes, diags)) {
    fail("cannot be decomposed:");
    diags.print(llvm::errs());
    return;
  }
  if (!isMil(*function)) // a host op
    return;
  function->kind = FunctionKind::Kernel;
  current = module.get();
  checkAsMil(*function, inputs, results);
}

int Checker::run() {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return fail("cannot open"), 1;
  if (!readLines((*buffer)->getBuffer()))
    return 1;
  std::vector<Line> all = lines;
  for (const Line &next : all) {
    line = next;
    check();
  }
  return failures ? 1 : 0;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: op-check FILE.ir\n";
    return 2;
  }
  return Checker(argv[1]).run();
}
