//===- PackageReport.cpp - the contents of a package ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/PackageReport.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Package/ScheduleWalk.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace anec;

/// The calls of each kernel in one run of `entry`.
static std::map<std::string, unsigned> countCalls(const ModelPackage &package,
                                                  const Function &entry) {
  std::map<std::string, unsigned> calls;
  walkSchedule(*package.schedule, entry,
               [&](const Op &op, const KnownIntegers &) {
                 if (op.is(ops::Call))
                   ++calls[op.get(param::callee).str()];
               });
  return calls;
}

static std::string listTensors(llvm::ArrayRef<PackagedTensor> tensors) {
  std::vector<std::string> words;
  for (const PackagedTensor &tensor : tensors)
    words.push_back(tensor.name + shapeToString(tensor.type.shape));
  return llvm::join(words, ", ");
}

static double megabytes(uint64_t bytes) { return double(bytes) * 1e-6; }

static void printKernel(const PackagedKernel &kernel, unsigned calls,
                        llvm::raw_ostream &out) {
  out << kernel.name
      << llvm::format(
             ": %u calls, %u ops, %.3f GFLOP, in %.3f MB, out %.3f MB, weights "
             "%.3f MB, working set %.3f MB, %.0f us (predicted)\n",
             calls, kernel.ops, double(kernel.flops) * 1e-9,
             megabytes(kernel.inputBytes), megabytes(kernel.outputBytes),
             megabytes(kernel.weightBytes), megabytes(kernel.workingSet),
             kernel.microseconds);
  out << "  in   " << listTensors(kernel.inputs) << '\n';
  out << "  out  " << listTensors(kernel.outputs) << '\n';
  if (kernel.constants.empty())
    return;
  std::vector<std::string> words;
  for (const PackagedConstant &constant : kernel.constants) {
    words.push_back(constant.view.str());
    if (const std::optional<PackagedPart> &part = constant.quantized)
      words.back() += " (" + part->form.str() + " " +
                      spelling(part->part, part->form).str() + ")";
  }
  out << "  weights  " << llvm::join(words, ", ") << '\n';
}

void anec::printReport(const ModelPackage &package, llvm::raw_ostream &out) {
  out << package.folder << ": " << package.compiler << ", target "
      << package.target << ", io " << spelling(package.io) << ", weights "
      << spelling(package.weightMode) << '\n';
  for (const PackagedEntry &entry : package.entries) {
    const Function &function = *package.schedule->findFunction(entry.name);
    std::map<std::string, unsigned> calls = countCalls(package, function);
    unsigned total = 0;
    int64_t flops = 0;
    for (const auto &[name, count] : calls) {
      total += count;
      flops += count * package.findKernel(name)->flops;
    }
    out << "entry " << entry.name << ": " << total << " kernel calls of "
        << calls.size() << " kernels, "
        << llvm::format("%.3f GFLOP in kernels\n", double(flops) * 1e-9);
  }
  std::map<std::string, unsigned> calls;
  for (const PackagedEntry &entry : package.entries)
    for (const auto &[name, count] :
         countCalls(package, *package.schedule->findFunction(entry.name)))
      calls[name] += count;
  for (const PackagedKernel &kernel : package.kernels)
    printKernel(kernel, calls[kernel.name], out);
  int64_t elements = 0, frozen = 0;
  size_t arrays = 0;
  for (const PackagedWeight &weight : package.weights) {
    arrays += weight.arrays().size();
    int64_t own = int64_t(weight.arrays().size()) * weight.type.numElements();
    elements += own;
    frozen += weight.frozen ? own : 0;
  }
  out << "weights: " << arrays << " arrays, " << elements << " parameters";
  if (frozen)
    out << ", " << frozen << " of them frozen";
  if (package.values.empty() && package.weightMode == WeightMode::Packed)
    out << ", without values";
  out << '\n';
}
