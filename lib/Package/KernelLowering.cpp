//===- KernelLowering.cpp - one kernel of a package, as MIL ---------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "KernelLowering.h"
#include "PortPlaces.h"
#include "anec/Ops/Report.h"
#include "anec/Target/Target.h"
#include "lib/Ops/Cost.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Package/QuantizeKernel.h"
#include "lib/Target/Tasks.h"

using namespace anec;

static std::unique_ptr<Function> declarationOf(const Function &kernel) {
  auto declaration = std::make_unique<Function>(FunctionKind::Kernel,
                                                kernel.name, kernel.range);
  declaration->opset = kernel.opset;
  declaration->setRole(kernel.role, kernel.owner);
  for (const auto &param : kernel.parameters())
    declaration->addParameter(param->type, param->name, param->role())
        ->declared = param->declared;
  llvm::SmallVector<TensorType, 4> types;
  llvm::SmallVector<llvm::StringRef, 4> names;
  for (unsigned index = 0; index < kernel.numResults(); ++index) {
    types.push_back(kernel.result(index)->type);
    names.push_back(kernel.resultNames()[index]);
  }
  declaration->declareResults(types, names, kernel.resultRoles());
  return declaration;
}

static std::vector<PackagedTensor>
nameTensors(llvm::ArrayRef<TensorType> types,
            llvm::ArrayRef<llvm::StringRef> names) {
  std::vector<PackagedTensor> tensors;
  for (auto [type, name] : llvm::zip_equal(types, names)) {
    PackagedTensor &tensor = tensors.emplace_back();
    tensor.name = name.str();
    tensor.type = type;
  }
  return tensors;
}

/// Records where in `ports` the tensors are.
static void place(std::vector<PackagedTensor> &tensors,
                  llvm::ArrayRef<TensorType> ports, IOMode io, PortKind kind) {
  llvm::SmallVector<TensorType, 8> types;
  for (const PackagedTensor &tensor : tensors)
    types.push_back(tensor.type);
  std::optional<std::vector<PortPlace>> places =
      placeTensors(types, ports, io, kind);
  assert(places && "only the last axis gets wider");
  for (auto [tensor, place] : llvm::zip_equal(tensors, *places)) {
    tensor.port = place.port;
    tensor.region = place.region;
  }
}

static void describeInterface(const Function &declaration,
                              PackagedKernel &out) {
  llvm::SmallVector<TensorType, 4> types;
  llvm::SmallVector<llvm::StringRef, 4> names;
  for (const auto &param : declaration.parameters()) {
    types.push_back(param->type);
    names.push_back(param->name);
  }
  out.inputs = nameTensors(types, names);
  for (auto [tensor, param] :
       llvm::zip_equal(out.inputs, declaration.parameters()))
    tensor.role = param->role();
  types.clear();
  names.clear();
  for (unsigned index = 0; index < declaration.numResults(); ++index) {
    types.push_back(declaration.result(index)->type);
    names.push_back(declaration.resultNames()[index]);
  }
  out.outputs = nameTensors(types, names);
  for (auto [tensor, role] :
       llvm::zip_equal(out.outputs, declaration.resultRoles()))
    tensor.role = role;
}

static void describeCost(const Function &kernel, const Target &target,
                         PackagedKernel &out) {
  FunctionReport report = makeReport(kernel);
  out.ops = report.ops;
  out.flops = report.flops;
  out.inputBytes = report.inputBytes;
  out.outputBytes = report.outputBytes;
  out.weightBytes = report.weightBytes;
  out.workingSet = report.activationPeak + report.weightBytes;
  Work work;
  work.bytes = report.inputBytes + report.outputBytes + report.weightBytes;
  for (const Op &op : kernel.body()) {
    (op.is(ops::Conv) ? work.convFlops : work.otherFlops) += countFlops(op);
    work.elementBytes += elementBytes(op);
  }
  out.microseconds = predictMicroseconds(target, work);
}

std::optional<LoweredKernel>
anec::lowerKernel(std::unique_ptr<Function> &kernel,
                  const PackageOptions &options, Executor &executor,
                  ExactForm exactForm, Diagnostics &diags,
                  std::vector<PassReport> *reports) {
  std::unique_ptr<Function> declaration = declarationOf(*kernel);
  LoweredKernel lowered;
  lowered.module = std::make_unique<Module>();
  PackagedKernel &out = lowered.description;
  out.name = kernel->name;
  out.role = kernel->role;
  out.owner = kernel->of().str();
  describeInterface(*declaration, out);
  std::swap(kernel, declaration);
  Function &function = *declaration;
  lowered.module->functions.push_back(std::move(declaration));

  PassManagerOptions passes = options.passes;
  if (passes.passes.empty())
    passes.passes = defaultPipeline().vec();
  passes.passes.insert(passes.passes.begin(), options.io == IOMode::Packed
                                                  ? &passes::PackIO
                                                  : &passes::OrderIO);
  if (!runPasses(*lowered.module, passes, diags, reports))
    return std::nullopt;
  if (options.quantization) {
    KernelQuantization request{
        *options.quantization, opsetOf(function, options.milVersion),
        options.passes,        options.quantizationReport,
        options.inputMoments,  std::move(exactForm)};
    lowered.quantized = quantizeKernel(*lowered.module, request, executor,
                                       /*value=*/nullptr, diags);
    if (!lowered.quantized)
      return std::nullopt;
  }
  function.name = "main"; // of its program
  for (const auto &param : function.parameters())
    out.inputPorts.push_back(param->type);
  for (const Value *result : function.resultValues())
    out.outputPorts.push_back(result->type);
  place(out.inputs, out.inputPorts, options.io, PortKind::Input);
  place(out.outputs, out.outputPorts, options.io, PortKind::Output);
  describeCost(function, *options.passes.target, out);
  return lowered;
}
