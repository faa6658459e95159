//===- ane-run.cpp - the runner's command line ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Flags -> library -> exit code: 0 done, 1 the input is at fault, 2 wrong
/// usage, 3 the machine or the backend failed.
///
//===----------------------------------------------------------------------===//

#include "../CommandLine.h"
#include "../ExitCode.h"
#include "../InputShape.h"
#include "Arguments.h"
#include "BackendFlags.h"
#include "Commands.h"
#include "Generate.h"
#include "Probe.h"
#include "Restart.h"
#include "Suites/SuiteFlags.h"
#include "Train.h"
#include "anec/Package/ModelPackage.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;
namespace cl = llvm::cl;

namespace {

cl::OptionCategory category("ane-run options");
cl::SubCommand infoCommand("info", "Print a program's signature and cost");
cl::SubCommand benchCommand("bench", "Time a program, or the kernels that "
                                     "others published figures of");
cl::SubCommand doctorCommand("doctor",
                             "Tell what of the Neural Engine is there");
cl::SubCommand compileCommand("compile-staged",
                              "What --isolate has a child do; not for people");
cl::SubCommand tokenizeCommand("tokenize", "Turn text into token ids, or back");

cl::opt<std::string> program(cl::Positional,
                             cl::desc("PROGRAM.mil|.mlmodelc|.anepkg"),
                             cl::sub(cl::SubCommand::getTopLevel()),
                             cl::sub(infoCommand), cl::sub(benchCommand),
                             cl::cat(category));
cl::opt<std::string>
    functionName("function", cl::value_desc("NAME"),
                 cl::desc("Which function, when there are several"),
                 cl::sub(cl::SubCommand::getTopLevel()), cl::sub(infoCommand),
                 cl::sub(benchCommand), cl::cat(category));
cl::list<std::string> inputs(
    "input", cl::value_desc("NAME=SOURCE"),
    cl::desc("An input: a .npy file, random:SEED, zeros, ones, or bytes:FILE"),
    cl::sub(cl::SubCommand::getTopLevel()), cl::sub(benchCommand),
    cl::cat(category));
cl::list<std::string>
    states("state", cl::value_desc("NAME=SOURCE"),
           cl::desc("What a state holds before, as for --input (default: "
                    "zeros)"),
           cl::sub(cl::SubCommand::getTopLevel()), cl::sub(benchCommand),
           cl::cat(category));
cl::list<std::string>
    shapes("shape", cl::value_desc("NAME=1x3x64"),
           cl::desc("The shape of an input with unknown extents (default: "
                    "that of its .npy file, or the program's default)"),
           cl::sub(cl::SubCommand::getTopLevel()), cl::sub(infoCommand),
           cl::sub(benchCommand), cl::cat(category));
cl::opt<std::string>
    outputDir("output-dir", cl::value_desc("FOLDER"),
              cl::desc("Write each output, and what each state "
                       "holds then, to FOLDER/NAME.npy"),
              cl::cat(category));
cl::opt<bool> compareReference(
    "compare",
    cl::desc("Also evaluate in double precision and print the error"),
    cl::cat(category));
cl::opt<bool> reportHazards(
    "report-hazards",
    cl::desc("With an emulated engine, list the ops whose partial sums, "
             "products or results go beyond what it can hold"),
    cl::cat(category));
BackendFlags backendFlags(category, cl::SubCommand::getTopLevel(),
                          benchCommand);
cl::opt<AnePath> anePath("path", cl::desc("The methods to go by:"),
                         cl::init(AnePath::InMemory), anePathValues(),
                         cl::sub(doctorCommand), cl::sub(compileCommand),
                         cl::cat(category));
cl::opt<std::string> stagedFolder(cl::Positional, cl::desc("FOLDER"),
                                  cl::sub(compileCommand), cl::cat(category));
cl::opt<unsigned> iterations("iterations", cl::value_desc("N"), cl::init(100),
                             cl::desc("Timed runs (default 100; of a suite, as "
                                      "published)"),
                             cl::sub(benchCommand), cl::cat(category));
cl::opt<unsigned> warmup("warmup", cl::value_desc("N"), cl::init(10),
                         cl::desc("Runs before timing starts (default 10; of "
                                  "a suite, as published)"),
                         cl::sub(benchCommand), cl::cat(category));
SuiteFlags suiteFlags(category, benchCommand);
cl::opt<bool> profile("profile", cl::desc("Also print what each step took"),
                      cl::sub(benchCommand), cl::cat(category));
cl::opt<bool> json("json", cl::desc("Print JSON"), cl::sub(infoCommand),
                   cl::sub(doctorCommand), cl::sub(benchCommand),
                   cl::cat(category));

cl::opt<std::string>
    weights("weights", cl::value_desc("FILE|FOLDER"),
            cl::desc("A package's weights: a .safetensors file or a folder of "
                     ".npy (default: those in the package)"),
            cl::sub(cl::SubCommand::getTopLevel()), cl::sub(benchCommand),
            cl::cat(category));
cl::opt<std::string>
    weightMap("weight-map", cl::value_desc("FILE.json"),
              cl::desc("Names of weights -> names in --weights"),
              cl::sub(cl::SubCommand::getTopLevel()), cl::sub(benchCommand),
              cl::cat(category));
cl::opt<uint64_t> initSeed("init", cl::value_desc("SEED"),
                           cl::desc("Draw the weights that --weights lacks"),
                           cl::sub(cl::SubCommand::getTopLevel()),
                           cl::sub(benchCommand), cl::cat(category));
cl::opt<std::string>
    gradients("gradients", cl::value_desc("FOLDER|FILE.safetensors"),
              cl::desc("Run a package's backward too, and write the gradient "
                       "of each weight"),
              cl::cat(category));

cl::opt<std::string> text(cl::Positional, cl::desc("TEXT"), cl::init("-"),
                          cl::sub(tokenizeCommand), cl::cat(category));
cl::opt<std::string>
    tokenizer("tokenizer", cl::value_desc("FILE"),
              cl::desc("A SentencePiece .model or llama2.c's tokenizer.bin "
                       "(default: the bytes of the text)"),
              cl::sub(tokenizeCommand), cl::cat(category));
cl::opt<std::string> tokenFile("o", cl::value_desc("TOKENS.bin"),
                               cl::desc("Write the ids there, 16 bits each"),
                               cl::sub(tokenizeCommand), cl::cat(category));
cl::opt<bool> decode("decode", cl::desc("TEXT has ids; print what they spell"),
                     cl::sub(tokenizeCommand), cl::cat(category));

constexpr char overview[] = "ane-run - runs MIL programs on the Apple Neural "
                            "Engine, or on the CPU from\n"
                            "the same text and weights\n";
constexpr char closing[] = R"(
EXAMPLES:
  ane-run out.mil --input x=x.npy --output-dir results
  ane-run out.mil --input x=random:1 --compare
  ane-run out.mil --input x=x.npy --numerics=m4 --report-hazards
  ane-run out.mil --input tokens=bytes:README.md --numerics=fp32
  ane-run decode.mil --input x=x.npy --state cache=out/cache.npy --output-dir out
  ane-run info out.mil
  ane-run bench out.mil --iterations 50 --json
  ane-run bench out.mil --profile
  ane-run bench --list
  ane-run bench --suite=peak --backend=ane
  ane-run bench --suite=all --backend=ane -o m4-max.json --plot=charts
  ane-run bench --suite=sram --quick --beside=m4-max.json
  ane-run bench --suite=dispatch --row=768x256 --iterations=2000
  ane-run bench --suite=int8 --emit=programs
  ane-run info model.anepkg
  ane-run model.anepkg --input tokens=t.npy --input targets=u.npy --init=1
  ane-run model.anepkg --input tokens=t.npy --input targets=u.npy --init=1 --gradients g.safetensors
  ane-run bench model.anepkg --init=1 --iterations 10
  ane-run out.mil --input x=x.npy --backend=ane --output-dir results
  ane-run doctor
  ane-run probe --backend=ane -o here.json
  ane-run generate model.anepkg --weights=model.safetensors --prompt="Once"
  ane-run tokenize story.txt --tokenizer=tokenizer.model -o story.bin
  ane-run train model.anepkg --data book.txt --steps 500 --checkpoint run
  ane-run plot run/train.jsonl -o loss.svg

EXIT STATUS: 0 done, 1 the input is at fault, 2 wrong usage, 3 the machine failed
)";

} // namespace

static bool runOnPackage(Diagnostics &diags) {
  if (infoCommand)
    return printPackageInfo(program, json, llvm::outs(), diags);
  PackageRunOptions options;
  options.backend = backendFlags.choice();
  options.load = {backendFlags.numerics, backendFlags.threads};
  options.weights.source = weights;
  options.weights.mapping = weightMap;
  if (initSeed.getNumOccurrences())
    options.weights.seed = initSeed;
  options.entry = functionName;
  options.inputs = {inputs.begin(), inputs.end()};
  options.outputDir = outputDir;
  options.gradients = gradients;
  options.json = json;
  options.profile = profile;
  if (!benchCommand)
    return runPackage(program, options, llvm::outs(), diags);
  if (iterations.getNumOccurrences())
    options.iterations = iterations;
  if (warmup.getNumOccurrences())
    options.warmup = warmup;
  return benchPackage(program, options, llvm::outs(), diags);
}

static bool run(Diagnostics &diags) {
  AneOptions options = defaultAneOptions();
  options.path = anePath;
  if (doctorCommand)
    return runDoctor(options, json, llvm::outs(), diags);
  if (compileCommand)
    return compileStaged(stagedFolder, options, diags);
  if (tokenizeCommand)
    return tokenize(text, {tokenizer, tokenFile, decode}, llvm::outs(), diags);
  if (isPackagePath(program))
    return runOnPackage(diags);
  std::vector<InputShape> wanted;
  for (const std::string &shape : shapes)
    wanted.push_back(*parseInputShape(shape));
  appendShapesOfFiles(inputs, wanted);
  std::optional<LoadedProgram> loaded = loadProgram(
      program, functionName, std::move(wanted), bool(infoCommand), diags);
  if (!loaded)
    return false;
  if (infoCommand) {
    printInfo(*loaded, json, llvm::outs());
    return true;
  }
  LoadOptions load{backendFlags.numerics, backendFlags.threads};
  if (benchCommand)
    return bench(*loaded,
                 {backendFlags.choice(),
                  load,
                  {inputs.begin(), inputs.end()},
                  {states.begin(), states.end()},
                  iterations,
                  warmup,
                  json,
                  profile},
                 llvm::outs(), diags);
  return runOnce(*loaded,
                 {backendFlags.choice(),
                  load,
                  {inputs.begin(), inputs.end()},
                  {states.begin(), states.end()},
                  outputDir,
                  compareReference,
                  reportHazards},
                 llvm::outs(), diags);
}

static ExitCode runSuiteFlags() {
  SuiteOptions options;
  options.backend = backendFlags.choice();
  options.load = {backendFlags.numerics, backendFlags.threads};
  options.json = json;
  if (iterations.getNumOccurrences())
    options.iterations = iterations;
  if (warmup.getNumOccurrences())
    options.warmup = warmup;
  return suiteFlags.run(std::move(options));
}

static bool checkSources(llvm::StringRef flag,
                         llvm::ArrayRef<std::string> arguments) {
  for (const std::string &argument : arguments) {
    auto [name, source] = llvm::StringRef(argument).split('=');
    if (name.empty() || source.empty()) {
      usageError("ane-run",
                 flag + " takes NAME=SOURCE, not `" + argument + "`");
      return false;
    }
  }
  return true;
}

int main(int argc, char **argv) {
  endWhenMemoryEnds();
  endOnFatalErrors();
  keepArguments(argv);
  cl::HideUnrelatedOptions(category);
  cl::HideUnrelatedOptions(category, infoCommand);
  cl::HideUnrelatedOptions(category, benchCommand);
  cl::HideUnrelatedOptions(category, tokenizeCommand);
  hideFlagsOfOthers();
  hideFlagsInProbe();
  cl::HideUnrelatedOptions(category, doctorCommand);
  cl::HideUnrelatedOptions(category, compileCommand);
  hideFlagsInGenerate();
  if (!parseCommandLine(argc, argv, "ane-run", overview, closing))
    return UsageError;
  if (std::optional<int> code = runProbeCommands())
    return *code;
  if (std::optional<int> code = runTrainCommands())
    return *code;
  if (std::optional<int> code = runGenerateCommand())
    return *code;
  if (tokenizeCommand && decode && tokenFile.getNumOccurrences())
    return usageError("ane-run", "--decode prints text; it takes no -o");
  if (compileCommand && stagedFolder.empty())
    return usageError("ane-run", "compile-staged takes a folder");
  bool takesProgram = !tokenizeCommand && !doctorCommand && !compileCommand;
  if (std::string wrong = suiteFlags.check(); !wrong.empty())
    return usageError("ane-run", wrong);
  bool takesSuite = benchCommand && suiteFlags.isGiven();
  if (takesSuite && (!program.empty() || profile))
    return usageError("ane-run", "--suite takes no program and no --profile");
  if (program.empty() && takesProgram && !takesSuite)
    return usageError("ane-run", "no program; see ane-run --help");
  if (iterations == 0)
    return usageError("ane-run", "--iterations is at least 1");
  if (!checkSources("--input", inputs) || !checkSources("--state", states))
    return UsageError;
  for (const std::string &shape : shapes)
    if (!parseInputShape(shape))
      return usageError("ane-run",
                        "--shape takes NAME=1x3x64, not `" + shape + "`");

  if (profile && !isPackagePath(program))
    backendFlags.needCpuFor("--profile");
  if (std::string wrong = backendFlags.check(); !wrong.empty())
    return usageError("ane-run", wrong);
  if (reportHazards && !isEmulated(backendFlags.numerics))
    return usageError("ane-run",
                      "--report-hazards takes --numerics=m1, m3 or m4");

  if (takesSuite)
    return runSuiteFlags();
  Diagnostics diags;
  bool ok = run(diags);
  finishOutput(diags);
  diags.print(llvm::errs(), llvm::errs().has_colors());
  return exitCode(ok, diags);
}
