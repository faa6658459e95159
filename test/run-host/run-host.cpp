//===- run-host.cpp - runs a model in the interpreter ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
///   run-host PROGRAM FUNCTION ARRAYS OUTPUT [--round] [NAME=VALUE...]
///
/// differentiates PROGRAM (.tdsl or .ir, with these `config` entries), runs
/// the host function FUNCTION, and writes its results and the gradients of all
/// weights to the folder OUTPUT, as .npy of doubles. ARRAYS is a folder of .npy
/// with the arguments by the names of the parameters, and the weights: WEIGHT,
/// or WEIGHT.I for instance I. With --round every op rounds its results to
/// their element type, else all is computed in double precision.
///
//===----------------------------------------------------------------------===//

#include "anec/Arrays/ArraySource.h"
#include "anec/anec.h"
#include "lib/Arrays/Npy.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Interpreter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

namespace {

struct Arguments {
  std::string program, function, arrays, output;
  bool round = false;
  CompileOptions options;
};

using Arrays = llvm::StringMap<RefTensor>;

} // namespace

static bool parseArguments(llvm::ArrayRef<const char *> words,
                           Arguments &arguments) {
  if (words.size() < 4)
    return false;
  arguments.program = words[0];
  arguments.function = words[1];
  arguments.arrays = words[2];
  arguments.output = words[3];
  for (llvm::StringRef word : words.drop_front(4)) {
    auto [name, value] = word.split('=');
    if (word == "--round")
      arguments.round = true;
    else if (!value.empty())
      arguments.options.defines.emplace_back(name.str(), value.str());
    else
      return false;
  }
  return true;
}

static std::unique_ptr<Module> readDifferentiated(const Arguments &arguments,
                                                  Diagnostics &diags) {
  std::unique_ptr<Module> module =
      readSourceFile(arguments.program, arguments.options, diags);
  PassManagerOptions passes;
  passes.passes = {&passes::ExposeMasks, &passes::Differentiate};
  if (!module || !runPasses(*module, passes, diags))
    return nullptr;
  return module;
}

/// Elements of array `name`, which has to be there with `count` of them.
static std::vector<double> elements(const ArraySource &source,
                                    const std::string &name, int64_t count) {
  ConstantRef array = source.lookup(name);
  if (!array || array->numElements() != count) {
    llvm::errs() << "run-host: there is no array `" << name << "` with "
                 << count << " elements\n";
    std::exit(1);
  }
  return array->asDoubles();
}

static std::string keyOf(const Op &op, std::optional<int64_t> instance) {
  std::string key = op.get(param::name).str();
  return instance ? key + "." + std::to_string(*instance) : key;
}

static bool run(const Module &module, const Function &function,
                const ArraySource &source, bool round, Arrays &results,
                Diagnostics &diags) {
  std::vector<RefTensor> inputs, outputs;
  for (const auto &parameter : function.parameters())
    inputs.push_back(
        {parameter->type,
         elements(source, parameter->name, parameter->type.numElements())});
  InterpreterOptions options;
  options.roundToDType = round;
  options.weights = [&](const Op &op, std::optional<int64_t> instance) {
    return elements(source, keyOf(op, instance),
                    op.result()->type.numElements());
  };
  options.accumulate = [&](const Op &op, std::optional<int64_t> instance,
                           const RefTensor &value) {
    RefTensor &sum = results[keyOf(op, instance)];
    if (sum.data.empty())
      sum = {value.type, std::vector<double>(value.data.size())};
    for (size_t i = 0; i < value.data.size(); ++i)
      sum.data[i] += value.data[i];
  };
  if (!interpretModule(module, function, inputs, outputs, diags, options))
    return false;
  for (auto [name, output] : llvm::zip_equal(function.resultNames(), outputs))
    results[name] = output;
  return true;
}

static bool write(const Arrays &results, llvm::StringRef folder) {
  if (llvm::sys::fs::create_directories(folder))
    return false;
  for (const auto &entry : results) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, entry.getKey() + ".npy");
    std::error_code error;
    llvm::raw_fd_ostream out(path, error);
    const RefTensor &tensor = entry.getValue();
    if (error ||
        !writeNpy(out, *Constant::fromDoubles({DType::FP64, tensor.type.shape},
                                              tensor.data)))
      return false;
  }
  return true;
}

int main(int argc, char **argv) {
  Arguments arguments;
  if (!parseArguments(llvm::ArrayRef<const char *>(argv + 1, argc - 1),
                      arguments)) {
    llvm::errs() << "usage: run-host PROGRAM FUNCTION ARRAYS OUTPUT [--round] "
                    "[NAME=VALUE...]\n";
    return 2;
  }
  Diagnostics diags;
  Arrays results;
  std::unique_ptr<Module> module = readDifferentiated(arguments, diags);
  std::optional<ArraySource> source =
      ArraySource::open(arguments.arrays, diags);
  const Function *function =
      module ? module->findFunction(arguments.function) : nullptr;
  bool ok = function && source &&
            run(*module, *function, *source, arguments.round, results, diags) &&
            write(results, arguments.output);
  diags.print(llvm::errs());
  if (!ok)
    llvm::errs() << "run-host: `" << arguments.function << "` did not run\n";
  return ok ? 0 : 1;
}
