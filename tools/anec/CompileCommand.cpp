//===- CompileCommand.cpp - anec FILE -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CommandTable.h"
#include "CompileFlags.h"
#include "Report.h"
#include "anec/IR/Text.h"
#include "anec/MIL/Canonical.h"
#include "anec/Package/ScheduleDot.h"
#include "anec/Report/PassStatistics.h"
#include "anec/Report/ReferencePages.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/Format.h"

using namespace anec;

/// The process ends after this module: taking it apart op by op would cost a
/// large one a tenth of the time. Static, so that leak checkers find it, and
/// volatile, so that the compiler does not see that nobody reads it.
static Module &keepToTheEnd(std::unique_ptr<Module> module) {
  static Module *volatile kept = nullptr;
  kept = module.release();
  return *kept;
}

static bool emitIR(std::unique_ptr<Module> module,
                   const CompileRequest &request, Diagnostics &diags,
                   std::vector<PassReport> &reports) {
  const CompileOptions &options = request.options;
  Module &program = keepToTheEnd(std::move(module));
  if (!options.kernel.empty() && !selectKernel(program, options.kernel, diags))
    return false;
  PassManagerOptions passes = options.passes;
  passes.passes = request.passesOr({});
  if (!runPasses(program, passes, diags, &reports))
    return false;
  return request.write([&](llvm::raw_ostream &out) { printIR(program, out); },
                       diags);
}

/// MIL that is read is left as it is, but for passes that are asked for; a
/// program is compiled.
static std::optional<Package> compileKernel(std::unique_ptr<Module> module,
                                            const CompileRequest &request,
                                            Diagnostics &diags,
                                            std::vector<PassReport> &reports) {
  const SourceFormat &format = sourceFormat(request.input);
  CompileOptions options = request.options;
  options.passes.passes = request.passesOr(format.stage == SourceStage::MIL
                                               ? std::vector<const PassDef *>()
                                               : defaultPipeline().vec());
  return compile(std::move(module), format, options, diags, &reports);
}

static bool emitMIL(std::unique_ptr<Module> module,
                    const CompileRequest &request, Diagnostics &diags,
                    std::vector<PassReport> &reports) {
  std::optional<Package> package =
      compileKernel(std::move(module), request, diags, reports);
  if (!package)
    return false;
  if (request.canonical) {
    makeCanonical(*package->program);
    package->placement = MILPrintOptions::Placement::Gather;
  }
  bool ok = request.toStandardOutput() ? package->print(llvm::outs(), diags)
                                       : package->write(request.output, diags);
  keepToTheEnd(std::move(package->program));
  return ok;
}

static PassManagerOptions modelPasses(const CompileRequest &request) {
  PassManagerOptions options = request.options.passes;
  options.passes = request.passesOr(modelPipeline(request.pipeline));
  return options;
}

/// Compiles a model with its host schedule.
static bool emitPackage(std::unique_ptr<Module> module,
                        const CompileRequest &request, Diagnostics &diags,
                        std::vector<PassReport> &reports) {
  if (!runPasses(*module, modelPasses(request), diags, &reports))
    return false;
  PackageOptions package;
  package.io = request.io;
  package.weightMode = request.weightMode;
  package.weights = request.options.weights;
  package.milVersion = request.options.milVersion;
  package.passes = request.options.passes;
  package.passes.passes.clear();
  return writePackage(std::move(module), request.output, package, diags,
                      &reports);
}

/// A model is shown as it would be packaged.
static bool emitDot(std::unique_ptr<Module> module,
                    const CompileRequest &request, Diagnostics &diags,
                    std::vector<PassReport> &reports) {
  Module &program = keepToTheEnd(std::move(module));
  if (!runPasses(program, modelPasses(request), diags, &reports))
    return false;
  return request.write([&](llvm::raw_ostream &out) { printDot(program, out); },
                       diags);
}

/// What can be said of a package: what it costs, or its schedule, as a picture
/// or as IR.
static bool emitPackaged(const CompileRequest &request, Diagnostics &diags) {
  bool isReport = request.emit == Emit::Report || request.emit == Emit::Json;
  std::optional<ModelPackage> package =
      readPackage(request.input, diags,
                  isReport ? PackageCheck::Presence : PackageCheck::Digests);
  if (!package)
    return false;
  if (isReport)
    return reportPackage(*package, request, diags);
  return request.write(
      [&](llvm::raw_ostream &out) {
        request.emit == Emit::Dot ? printDot(*package->schedule, out)
                                  : printIR(*package->schedule, out);
      },
      diags);
}

static bool emitAs(std::unique_ptr<Module> module,
                   const CompileRequest &request, Diagnostics &diags,
                   std::vector<PassReport> &reports) {
  switch (request.emit) {
  case Emit::MIL:
    if (isPackagePath(request.output))
      return emitPackage(std::move(module), request, diags, reports);
    return emitMIL(std::move(module), request, diags, reports);
  case Emit::IR:
    return emitIR(std::move(module), request, diags, reports);
  case Emit::Dot:
    return emitDot(std::move(module), request, diags, reports);
  case Emit::Report:
  case Emit::Json: {
    // As it would be printed as MIL.
    std::optional<Package> package =
        compileKernel(std::move(module), request, diags, reports);
    return package && reportProgram(keepToTheEnd(std::move(package->program)),
                                    request, diags);
  }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static void printTargets(llvm::raw_ostream &out) {
  for (const Target &target : allTargets())
    out << llvm::left_justify(target.name, 10) << target.summary << '\n';
}

/// The diagnostics of the library and of the command lines.
static std::vector<diag::AnyKind> allDiagnostics() {
  std::vector<diag::AnyKind> kinds = libraryDiagnostics();
  for (diag::AnyKind kind : {
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::AnyKind(diag::NAME),
#include "../Diags.def"
       })
    kinds.push_back(kind);
  return kinds;
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

namespace {
class Compile : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  ExitCode printPage(const Invocation &call) const;
  bool compile(const PassManagerOptions &target, Diagnostics &diags) const;

  CompileFlags flags;
  llvm::cl::opt<bool> listTargets{"list-targets",
                                  llvm::cl::desc("Print the targets and exit")};
  llvm::cl::opt<std::string> dumpDocs{
      "dump-docs", llvm::cl::value_desc("ops|passes|diagnostics|rules|targets"),
      llvm::cl::desc("Print a reference page made from the tables and exit")};
};
} // namespace

ExitCode Compile::printPage(const Invocation &call) const {
  if (printReferencePage(dumpDocs, allDiagnostics(), llvm::outs()))
    return Done;
  return call.usageError("--dump-docs takes `ops`, `passes`, `rules`, "
                         "`targets` or `diagnostics`, not `" +
                         dumpDocs + "`");
}

bool Compile::compile(const PassManagerOptions &target,
                      Diagnostics &diags) const {
  std::optional<CompileRequest> request = flags.read(target, diags);
  if (!request)
    return false;
  if (sourceFormat(request->input).stage == SourceStage::Package)
    return emitPackaged(*request, diags);
  std::unique_ptr<Module> module =
      readSourceFile(request->input, request->options, diags);
  if (!module)
    return false;
  std::vector<PassReport> reports;
  bool ok = emitAs(std::move(module), *request, diags, reports);
  // LLVM's own flag --stats.
  if (llvm::AreStatisticsEnabled())
    printPassCounts(reports, llvm::errs());
  if (flags.timePasses)
    printPassTimes(reports, llvm::errs());
  return ok;
}

ExitCode Compile::run(const Invocation &call) {
  if (listTargets) {
    printTargets(llvm::outs());
    return Done;
  }
  if (dumpDocs.getNumOccurrences())
    return printPage(call);
  PassManagerOptions target;
  if (ExitCode code = flags.target.read(call, target); code != Done)
    return code;
  if (std::string wrong = flags.check(); !wrong.empty())
    return call.usageError(wrong);
  Diagnostics diags;
  bool ok = compile(target, diags);
  finishOutput(diags);
  if (flags.diagnostics == DiagnosticsFormat::Json)
    diags.printJson(llvm::errs());
  else
    diags.print(llvm::errs(), llvm::errs().has_colors());
  return exitCode(ok, diags);
}

constinit const CommandDef commands::Compile = {
    .synopsis = "FILE.tdsl|.ir|.mil|.mlmodelc|.anepkg",
    // A flag of LLVM, which its command line adds to every program.
    .details = "  --stats prints what the passes counted.\n",
    .examples =
        R"(  anec mlp.tdsl --init=7 -o out/mlp.mil       MIL and random weights
  anec attention.tdsl --weights=model.safetensors -o attention.mil
  anec attention.tdsl --define seq=64         MIL text to standard output
  anec llama.tdsl -o llama.anepkg             a model: kernels and host schedule
  anec llama.tdsl --forward-only --init=1 -o llama.anepkg
  anec llama.tdsl --emit=dot | dot -Tsvg      its kernels, taps and host ops
  anec attention.tdsl --emit=ir --passes=decompose,matmul-to-conv
  anec llama.tdsl --emit=ir --passes=model --remarks     kernels and schedule
  anec attention.tdsl --verify-numerics --stats --init=1 -o attention.mil
  anec out.mil                                read, check and print again
  anec flexible.mil --shape x=1x128 -o x.mil  at a shape of its input
  anec out.mil --emit=report                  what it is made of
  anec out.mil --emit=report --target=m4      and what it would take there
  anec llama.anepkg --emit=report --format=html -o cost.html   what a step takes
)",
    .make = makeCommand<::Compile>,
};
