//===- anec.cpp - the compiler's command line -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Flags -> library -> exit code: 0 done, 1 the input is at fault, 2 wrong
/// usage, 3 the machine failed. Each command has a file of its own, with its
/// flags.
///
//===----------------------------------------------------------------------===//

#include "../CommandLine.h"
#include "../ExitCode.h"
#include "Check.h"
#include "Compile.h"
#include "CompileFlags.h"
#include "Convert.h"
#include "Diff.h"
#include "Explain.h"
#include "Flags.h"
#include "anec/Report/ReferencePages.h"
#include "llvm/Support/Format.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

cl::opt<bool> listTargets("list-targets",
                          cl::desc("Print the targets and exit"),
                          cl::cat(anecCategory()));
cl::opt<std::string>
    dumpDocs("dump-docs",
             cl::value_desc("ops|passes|diagnostics|rules|targets"),
             cl::desc("Print a reference page made from the tables and exit"),
             cl::cat(anecCategory()));

constexpr char overview[] =
    "anec - compiles tensor programs to MIL for the Apple Neural Engine\n";
constexpr char closing[] = R"(
  --stats                                   - Print what the passes counted

EXAMPLES:
  anec mlp.tdsl --init=7 -o out/mlp.mil       MIL and random weights
  anec attention.tdsl --weights=model.safetensors -o attention.mil
  anec attention.tdsl --define seq=64         MIL text to standard output
  anec llama.tdsl -o llama.anepkg             a model: kernels and host schedule
  anec llama.tdsl --forward-only --init=1 -o llama.anepkg
  anec llama.tdsl --emit=dot | dot -Tsvg      its kernels, taps and host ops
  anec attention.tdsl --emit=ir --passes=decompose,matmul-to-conv
  anec llama.tdsl --emit=ir --passes=model --remarks     kernels and schedule
  anec out.mil                                read, check and print again
  anec flexible.mil --shape x=1x128 -o x.mil  at a shape of its input
  anec out.mil --emit=report                  what it is made of
  anec out.mil --emit=report --target=m4      and what it would take there
  anec llama.anepkg --emit=report --format=html -o cost.html   what a step takes
  anec check out.mil --target=m1              what a chip refuses, and why
  anec check out.mil --target=m1 --os=15.6    as far as it is known of that macOS
  anec explain io-row-64                      the story of a rule
  anec convert stories15M.bin -o stories15M.safetensors
  anec diff old.mil new.mil                   what differs; 1 if anything does
  anec attention.tdsl --verify-numerics --stats --init=1 -o attention.mil

EXIT STATUS: 0 done, 1 the input is at fault, 2 wrong usage, 3 the machine failed
)";

} // namespace

static void printTargets(llvm::raw_ostream &out) {
  for (const Target &target : allTargets())
    out << llvm::left_justify(target.name, 10) << target.summary << '\n';
}

/// The diagnostics of the library and of the command lines.
static std::vector<diag::Kind> allDiagnostics() {
  std::vector<diag::Kind> kinds = libraryDiagnostics();
  for (diag::Kind kind : {
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::Kind(diag::NAME),
#include "../Diags.def"
       })
    kinds.push_back(kind);
  return kinds;
}

static int runDumpDocs() {
  if (printReferencePage(dumpDocs, allDiagnostics(), llvm::outs()))
    return Done;
  return usageError("anec", "--dump-docs takes `ops`, `passes`, `rules`, "
                            "`targets` or `diagnostics`, not `" +
                                dumpDocs + "`");
}

int main(int argc, char **argv) {
  endWhenMemoryEnds();
  endOnFatalErrors();
  cl::HideUnrelatedOptions(anecCategory());
  hideFlagsInCheck();
  hideFlagsInConvert();
  hideFlagsInDiff();
  hideFlagsInExplain();
  if (!parseCommandLine(argc, argv, "anec", overview, closing))
    return UsageError;
  for (auto run :
       {runCheckCommand, runConvertCommand, runDiffCommand, runExplainCommand})
    if (std::optional<int> code = run())
      return *code;
  if (listTargets) {
    printTargets(llvm::outs());
    return Done;
  }
  int code = Done;
  const Target *target = compileTargetFlags().find(code);
  if (!target)
    return code;
  return dumpDocs.getNumOccurrences() ? runDumpDocs() : runCompile(*target);
}
