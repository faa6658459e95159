//===- grad-check.cpp - gradients beside finite differences ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
///   grad-check FILE.ir             checks every function of the file
///   grad-check --coverage FILE...  every gradient rule has a case among them
///
/// A function is differentiated, and the gradient of a random combination of
/// its results compared with central differences, all in double precision, for
/// every float parameter. Then the backward is decomposed, and must give the
/// same. Inputs are normally distributed; comments say otherwise for all of a
/// function:
///
///   // positive: @name   magnitudes, and 0.2 more
///   // unit: @name       in (-1, 1)
///
/// A function of the file with the role `backward` of @name is checked in place
/// of what `differentiate` would make of @name. It must be found wrong when a
/// comment says so:
///
///   // wrong: @name
///
//===----------------------------------------------------------------------===//

#include "anec/Passes/PassManager.h"
#include "lib/IR/Text.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Ops/Ops.h"
#include "lib/Ops/Rows/Loss.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace anec;

/// Relative, norm of the difference over norm of the gradient.
static constexpr double tolerance = 1e-6;
/// A gradient whose norm is below is zero as far as differences can tell.
static constexpr double zero = 1e-8;
static constexpr double step = 1e-5;

namespace {

class Checker {
public:
  explicit Checker(llvm::StringRef path) : path(path) {}
  /// Parses the file and differentiates its functions; false after errors.
  bool read();
  bool run();
  const Module &forward() const { return *original; }

private:
  bool fail(const Function &function, const llvm::Twine &message) {
    llvm::errs() << path << ": error: @" << function.name << ": " << message
                 << '\n';
    return false;
  }
  void readDomains(llvm::StringRef text);
  RefTensor input(const Function &function, unsigned slot) const;
  const Function &backwardOf(const Function &function) const;
  bool check(const Function &function);
  bool evaluate(const Function &function, llvm::ArrayRef<RefTensor> inputs,
                std::vector<RefTensor> &outputs);
  bool loss(const Function &function, llvm::ArrayRef<RefTensor> inputs,
            double &value);
  bool differences(const Function &function, std::vector<RefTensor> inputs,
                   unsigned slot, std::vector<double> &gradient);
  bool checkDecomposed(const Function &function,
                       llvm::ArrayRef<RefTensor> inputs,
                       llvm::ArrayRef<RefTensor> results);

  std::string path;
  Diagnostics diags;
  std::unique_ptr<Module> original, module, decomposed;
  llvm::StringMap<std::string> domains; ///< by function
  llvm::StringSet<> wrong;
  std::vector<std::unique_ptr<Function>> written; ///< backwards of the file
};

} // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

void Checker::readDomains(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n');
  for (llvm::StringRef line : lines) {
    if (!line.consume_front("// "))
      continue;
    auto [domain, name] = line.split(": @");
    if (domain == "positive" || domain == "unit")
      domains[name.trim()] = domain.str();
    else if (domain == "wrong")
      wrong.insert(name.trim());
  }
}

/// Takes the backwards that the file has itself out of `module`.
static std::vector<std::unique_ptr<Function>> takeBackwards(Module &module) {
  std::vector<std::unique_ptr<Function>> taken;
  for (auto &function : module.functions)
    if (function->role == FunctionRole::Backward)
      taken.push_back(std::move(function));
  llvm::erase(module.functions, nullptr);
  return taken;
}

bool Checker::read() {
  std::optional<llvm::StringRef> text = diags.addFile(path);
  if (!text)
    return false;
  readDomains(*text);
  PassManagerOptions differentiate, decompose;
  differentiate.passes = {&passes::Differentiate};
  decompose.passes = {&passes::Decompose};
  original = parseIR(*text, opTable(), diags);
  module = parseIR(*text, opTable(), diags);
  decomposed = parseIR(*text, opTable(), diags);
  if (!original || !module || !decomposed)
    return false;
  written = takeBackwards(*original);
  takeBackwards(*module);
  takeBackwards(*decomposed);
  return runPasses(*module, differentiate, diags) &&
         runPasses(*decomposed, differentiate, diags) &&
         runPasses(*decomposed, decompose, diags);
}

RefTensor Checker::input(const Function &function, unsigned slot) const {
  const TensorType &type = function.parameters()[slot]->type;
  RefTensor tensor = randomTensor(type, slot + 1);
  std::string domain = domains.lookup(function.name);
  for (double &x : tensor.data) {
    if (domain == "positive" && isFloat(type.dtype))
      x = std::fabs(x) + 0.2;
    if (domain == "unit" && isFloat(type.dtype))
      x = 0.9 * x / (1 + std::fabs(x));
  }
  return tensor;
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

bool Checker::evaluate(const Function &function,
                       llvm::ArrayRef<RefTensor> inputs,
                       std::vector<RefTensor> &outputs) {
  return interpret(function, inputs, outputs, diags);
}

/// What the gradient of result `index` is.
static RefTensor seed(const Function &function, unsigned index) {
  return randomTensor(function.result(index)->type, 1000 + index);
}

bool Checker::loss(const Function &function, llvm::ArrayRef<RefTensor> inputs,
                   double &value) {
  std::vector<RefTensor> outputs;
  if (!evaluate(function, inputs, outputs))
    return false;
  value = 0;
  for (auto [index, output] : llvm::enumerate(outputs))
    if (isFloat(output.type.dtype))
      for (auto [y, dy] :
           llvm::zip_equal(output.data, seed(function, unsigned(index)).data))
        value += y * dy;
  return true;
}

bool Checker::differences(const Function &function,
                          std::vector<RefTensor> inputs, unsigned slot,
                          std::vector<double> &gradient) {
  gradient.resize(inputs[slot].data.size());
  for (size_t i = 0; i < gradient.size(); ++i) {
    double &x = inputs[slot].data[i], at = x, above, below;
    x = at + step;
    if (!loss(function, inputs, above))
      return false;
    x = at - step;
    if (!loss(function, inputs, below))
      return false;
    x = at;
    gradient[i] = (above - below) / (2 * step);
  }
  return true;
}

/// The names of the backward's results say whose gradients they are.
static const RefTensor *find(const Function &backward,
                             llvm::ArrayRef<RefTensor> results,
                             const std::string &name) {
  for (auto [index, result] : llvm::enumerate(backward.resultNames()))
    if (result == name + ".gradient")
      return &results[index];
  return nullptr;
}

static double norm(llvm::ArrayRef<double> values) {
  double sum = 0;
  for (double value : values)
    sum += value * value;
  return std::sqrt(sum);
}

const Function &Checker::backwardOf(const Function &function) const {
  auto isBackward = [&](const auto &other) {
    return other->role == FunctionRole::Backward &&
           other->of() == function.name;
  };
  auto own = llvm::find_if(written, isBackward);
  if (own != written.end())
    return **own;
  return **llvm::find_if(module->functions, isBackward);
}

bool Checker::check(const Function &function) {
  const Function &backward = backwardOf(function);
  std::vector<RefTensor> inputs, results;
  for (unsigned slot = 0; slot < function.parameters().size(); ++slot)
    inputs.push_back(input(function, slot));
  std::vector<RefTensor> arguments = inputs;
  for (unsigned index = 0; index < function.numResults(); ++index)
    if (isFloat(function.result(index)->type.dtype))
      arguments.push_back(seed(function, index));
  if (!evaluate(backward, arguments, results))
    return fail(function, "cannot be evaluated");
  std::string errors;
  for (auto [slot, parameter] : llvm::enumerate(function.parameters())) {
    if (!isFloat(parameter->type.dtype))
      continue;
    std::vector<double> expected;
    if (!differences(function, inputs, unsigned(slot), expected))
      return fail(function, "cannot be evaluated");
    const RefTensor *gradient = find(backward, results, parameter->name);
    std::vector<double> zeros(expected.size());
    llvm::ArrayRef<double> got = gradient ? gradient->data : zeros;
    double error =
        norm(expected) < zero ? norm(got) : relativeError(got, expected);
    if (!(error <= tolerance))
      errors += std::string(errors.empty() ? "" : ", ") + "the gradient of %" +
                parameter->name + " is off by " + std::to_string(error);
  }
  if (wrong.contains(function.name))
    return !errors.empty() || fail(function, "is right");
  if (!errors.empty())
    return fail(function, errors);
  return &backward != module->findFunction(backward.name) ||
         checkDecomposed(backward, arguments, results);
}

/// Constants of the decompositions are fp32, and so rounded.
bool Checker::checkDecomposed(const Function &function,
                              llvm::ArrayRef<RefTensor> inputs,
                              llvm::ArrayRef<RefTensor> results) {
  const Function &other = *decomposed->findFunction(function.name);
  std::vector<RefTensor> got;
  for (const Op &op : other.body())
    if (!op.def().has(trait::Mil) && !op.is(ops::CrossEntropy))
      return fail(function, "`" + op.def().name + "` is not an op of MIL");
  if (!evaluate(other, inputs, got))
    return fail(function, "cannot be evaluated when it is decomposed");
  for (auto [mine, its] : llvm::zip_equal(got, results))
    if (norm(its.data) > zero && relativeError(mine.data, its.data) > 1e-5)
      return fail(function, "changes when it is decomposed");
  return true;
}

bool Checker::run() {
  bool ok = read();
  if (ok)
    for (const auto &function : original->functions)
      ok &= check(*function);
  diags.print(llvm::errs());
  return ok;
}

//===----------------------------------------------------------------------===//
// Coverage
//===----------------------------------------------------------------------===//

static bool checkCoverage(llvm::ArrayRef<const char *> paths) {
  llvm::StringSet<> used;
  for (const char *path : paths) {
    Checker checker(path);
    if (!checker.read()) {
      llvm::errs() << path << ": error: cannot be differentiated\n";
      return false;
    }
    for (const auto &function : checker.forward().functions)
      for (const Op &op : function->body())
        used.insert(op.def().name);
  }
  bool ok = true;
  unsigned rules = 0;
  for (const OpDef *def : opTable().all()) {
    if (!def->gradient && !def->decomposeForGradient &&
        !def->has(trait::ZeroGradient))
      continue;
    ++rules;
    if (used.contains(def->name))
      continue;
    llvm::errs() << "error: no case for the gradient of `" << def->name
                 << "`\n";
    ok = false;
  }
  if (ok)
    llvm::outs() << "all of " << rules << " gradients have a case\n";
  return ok;
}

int main(int argc, char **argv) {
  llvm::ArrayRef<const char *> words(argv + 1, argc - 1);
  if (words.size() > 1 && llvm::StringRef(words[0]) == "--coverage")
    return checkCoverage(words.drop_front()) ? 0 : 1;
  if (words.size() != 1) {
    llvm::errs() << "usage: grad-check FILE.ir | --coverage FILE.ir...\n";
    return 2;
  }
  return Checker(words[0]).run() ? 0 : 1;
}
