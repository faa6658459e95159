//===- CompileCommand.cpp - anec FILE -------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../Terminal.h"
#include "CommandTable.h"
#include "CompileFlags.h"
#include "lib/Report/PassStatistics.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/Format.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static void printTargets(llvm::raw_ostream &out) {
  for (const Target &target : allTargets()) {
    out << llvm::left_justify(target.name, 10) << target.summary;
    llvm::StringRef separator = "; also ";
    for (const HardwareName &other : hardwareNames()) {
      if (other.target != target.name)
        continue;
      out << separator << other.name;
      separator = ", ";
    }
    out << '\n';
  }
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

/// Keeps a module until the process ends: destroying a large one takes a tenth
/// of the time of compiling it. Static, so that leak checkers find it, and
/// volatile, so that the compiler keeps a variable that nothing reads.
static void keepToTheEnd(std::unique_ptr<Module> module) {
  static Module *volatile kept = nullptr;
  kept = module.release();
}

namespace {
class Compile : public Command {
public:
  ExitCode run(const Invocation &call) override;

private:
  bool compile(const PassManagerOptions &target, Diagnostics &diags) const;

  CompileFlags flags;
  llvm::cl::opt<bool> listTargets{"list-targets",
                                  llvm::cl::desc("Print the targets and exit")};
};
} // namespace

bool Compile::compile(const PassManagerOptions &target,
                      Diagnostics &diags) const {
  std::optional<BuildRequest> request = flags.read(target, diags);
  if (!request ||
      !flags.quantize.calibrateFor(*request, flags.isNarrowed(), diags))
    return false;
  BuildResult result;
  bool ok = build(*request, flags.format(), flags.place(), result, diags);
  // LLVM's own flag --stats.
  if (llvm::AreStatisticsEnabled())
    printPassCounts(result.reports, llvm::errs());
  if (flags.passes.timePasses)
    printPassTimes(result.reports, llvm::errs());
  keepToTheEnd(std::move(result.module));
  return ok && flags.quantize.writeReport(diags);
}

ExitCode Compile::run(const Invocation &call) {
  if (listTargets) {
    printTargets(llvm::outs());
    return Done;
  }
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
    diags.print(llvm::errs(), hasColors(llvm::errs()));
  return exitCode(ok, diags);
}

constinit const CommandDef commands::Compile = {
    .synopsis =
        "FILE.tdsl|.ir|.mil|.onnx|.pt2|.mlpackage|.mlmodel|.mlmodelc|.anepkg",
    // A flag of LLVM, which its command line adds to every program.
    .details = "  --stats prints the statistics of the passes.\n",
    .usual = "o emit weights init define shape kernel target precision "
             "quantize decode forward-only list-targets remarks",
    .examples =
        R"(  anec mlp.tdsl --init=7 -o out/mlp.mil       MIL and random weights
  anec attention.tdsl --weights=model.safetensors -o attention.mil
  anec attention.tdsl --define seq=64         MIL text to standard output
  anec llama.tdsl -o llama.anepkg             a model: kernels and host schedule
  anec llama.tdsl --forward-only --init=1 -o llama.anepkg
  anec llama.tdsl --decode --context=2048 --block=1,4 --prefill=64,256 --init=1 -o llama.anepkg
  anec llama.tdsl --decode --batch=4 --init=1 -o llama.anepkg    4 texts at once
  anec llama.tdsl --decode --cache=state --context=1024 --weights=w.safetensors \
       -o llama.mlpackage                     for an application, with states
  anec vit.tdsl --weights=w.safetensors -o vit.mlpackage   a whole model
  anec llama.tdsl --lora=rank=8,targets=wq:wv -o tune.anepkg   to fine-tune
  anec llama.tdsl --emit=dot | dot -Tsvg      graph of kernels, taps, host ops
  anec attention.tdsl --emit=ir --passes=decompose,matmul-to-conv
  anec llama.tdsl --emit=ir --passes=model --remarks     kernels and schedule
  anec attention.tdsl --verify-numerics --stats --init=1 -o attention.mil
  anec out.mil                                read, check and print again
  anec flexible.mil --shape x=1x128 -o x.mil  with the given input shape
  anec model.mlpackage --function=main -o model.mil    MIL of a Core ML package
  anec mlp.tdsl --init=7 -o mlp.mlpackage --deployment=macos13   and a package
  anec mlp.tdsl --weights=w.safetensors --quantize=int8 -o mlp.mil
  anec llama.tdsl --forward-only --weights=w.safetensors --quantize=int8 \
       --quantize-report -o llama.anepkg      and the error of each weight
  anec llama.tdsl --forward-only --weights=w.safetensors --quantize=int4 \
       --calibrate=wiki.txt -o llama.anepkg   rounded for what a text needs
  anec llama.tdsl --decode --weights=w.safetensors --quantize=w8a8 \
       --calibrate=wiki.txt --quantize-skip=feed_forward.w2 -o llama.anepkg
                                              int8 activations too
  anec model.mlpackage --quantize=lut4 -o small.mlpackage
  anec net.pt2 --loss=mse -o net.tdsl         an imported model as a program
  anec out.mil --emit=report                  statistics of the program
  anec out.mil --emit=report --target=m4      with predicted times on M4
  anec llama.anepkg --emit=report --format=html -o cost.html   cost of a step
)",
    .make = makeCommand<::Compile>,
};
