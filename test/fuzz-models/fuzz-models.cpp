//===- fuzz-models.cpp - random models through the whole compiler ---------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Generates models as .tdsl text, compiles each to a package in one of the
/// compiler's configurations, runs it on the CPU backend, and compares the loss
/// and every gradient with the interpreter's of the undivided model, in double
/// precision:
///
///   fuzz-models --seed=1 --models=300     --seconds=3600 for a long run
///   fuzz-models --shrink=4711             a small program that fails alike
///
/// The reference's gradients are compared with differences of the loss, every
/// program of the package is read back and checked for its target, and the
/// records of weight files are compared with the manifest. Each model has a
/// process of its own, so that a crash is one failure among others.
///
/// Gradients that changes of the size of rounding errors move as far as the
/// tolerance say nothing, and are skipped. Ends with the constructs and
/// configurations that took part.
///
//===----------------------------------------------------------------------===//

#include "ModelCheck.h"
#include "RandomModel.h"
#include "Shrink.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cstdlib>
#include <deque>
#include <map>

using namespace anec;
using namespace anec::fuzz;
namespace cl = llvm::cl;

static cl::opt<uint64_t> firstSeed("seed", cl::init(1),
                                   cl::desc("seed of the first model"));
static cl::opt<unsigned> models("models", cl::init(100),
                                cl::desc("how many models"));
static cl::opt<unsigned> seconds("seconds", cl::init(0),
                                 cl::desc("run so long instead"));
static cl::opt<unsigned> jobs("jobs", cl::init(1),
                              cl::desc("models at the same time"));
static cl::opt<bool>
    allConfigurations("all-configurations",
                      cl::desc("every model in every configuration"));
static cl::opt<std::string>
    shrinkSeed("shrink",
               cl::desc("make the program of this seed small, as long as it "
                        "fails in the same way"));
static cl::opt<std::string>
    checkedFile("check", cl::desc("check this program, with weights of --seed, "
                                  "in all configurations"));
static cl::opt<unsigned> patience("patience", cl::init(60),
                                  cl::desc("seconds that a model may take"));
static cl::opt<bool> verbose("verbose", cl::desc("print every model"));
static cl::opt<bool> table("table", cl::desc("print what took part"));
static cl::opt<unsigned>
    minConstructs("min-constructs", cl::init(0),
                  cl::desc("fail if fewer constructs took part"));

namespace {

class Fuzzer {
public:
  /// Starts a model, and ends the first that was started when there are enough.
  void add(uint64_t seed, const Configuration &configuration);
  void finish();
  void printTable(llvm::raw_ostream &out) const;

  unsigned models = 0, compared = 0, illConditioned = 0, limits = 0, failed = 0;
  unsigned gradients = 0, skipped = 0;
  std::map<std::string, unsigned> constructs, configurations;

private:
  struct Started {
    uint64_t seed;
    Program program;
    Configuration configuration;
    ForkedCheck check;
  };
  void end(Started &started);

  std::deque<Started> running;
  std::map<std::string, unsigned> kinds; ///< of failures and limits
};

} // namespace

//===----------------------------------------------------------------------===//
// Many models
//===----------------------------------------------------------------------===//

static void describe(uint64_t seed, const std::string &text,
                     const Configuration &configuration,
                     llvm::raw_ostream &out) {
  out << "// seed " << seed << '\n'
      << "// anec model.tdsl -o model.anepkg" << configuration.compileFlags()
      << '\n'
      << "// ane-run model.anepkg" << configuration.runFlags()
      << ", loss scale " << configuration.lossScale << '\n'
      << configuration.textOf(text);
}

void Fuzzer::add(uint64_t seed, const Configuration &configuration) {
  Program program = randomModel(seed);
  std::string text = program.text();
  if (verbose)
    describe(seed, text, configuration, llvm::outs());
  llvm::outs().flush();
  running.push_back({seed, std::move(program), configuration,
                     ForkedCheck(text, configuration, seed, patience)});
  if (running.size() >= jobs) {
    end(running.front());
    running.pop_front();
  }
}

void Fuzzer::finish() {
  for (Started &started : running)
    end(started);
  running.clear();
}

void Fuzzer::end(Started &started) {
  Outcome outcome = started.check.wait();
  ++models;
  gradients += outcome.gradients;
  skipped += outcome.skipped;
  for (const std::string &construct : started.program.constructs)
    ++constructs[construct];
  for (const std::string &name : started.configuration.names())
    ++configurations[name];
  switch (outcome.status) {
  case Outcome::Compared:
    ++compared;
    return;
  case Outcome::IllConditioned:
    ++illConditioned;
    return;
  case Outcome::Limit:
    ++limits;
    ++kinds["limit: " + outcome.kind];
    return;
  case Outcome::Failed:
    break;
  }
  ++failed;
  ++kinds["failed: " + outcome.kind];
  llvm::outs() << "seed " << started.seed << ": " << outcome.kind << '\n'
               << outcome.details;
  describe(started.seed, started.program.text(), started.configuration,
           llvm::outs());
  llvm::outs() << '\n';
  llvm::outs().flush();
}

static void printCounts(const std::map<std::string, unsigned> &counts,
                        llvm::raw_ostream &out) {
  for (const auto &[name, count] : counts) {
    out.indent(2) << name;
    out.indent(unsigned(name.size() < 44 ? 44 - name.size() : 1))
        << count << '\n';
  }
}

void Fuzzer::printTable(llvm::raw_ostream &out) const {
  out << "constructs, by models that have them:\n";
  printCounts(constructs, out);
  out << "configurations, by models:\n";
  printCounts(configurations, out);
  if (!kinds.empty())
    out << "limits and failures:\n";
  printCounts(kinds, out);
}

static int runMany() {
  auto start = std::chrono::steady_clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  };
  Fuzzer fuzzer;
  for (uint64_t count = 0; seconds ? elapsed() < seconds : count < models;
       ++count) {
    uint64_t seed = firstSeed + count;
    if (!allConfigurations) {
      fuzzer.add(seed, Configuration::random(seed));
      continue;
    }
    for (const Configuration &configuration : Configuration::all())
      fuzzer.add(seed, configuration);
  }
  fuzzer.finish();
  if (table)
    fuzzer.printTable(llvm::outs());
  llvm::outs() << fuzzer.models << " models of " << fuzzer.constructs.size()
               << " constructs: " << fuzzer.compared << " compared ("
               << fuzzer.gradients << " gradients), " << fuzzer.illConditioned
               << " ill-conditioned (and " << fuzzer.skipped << " gradients), "
               << fuzzer.limits << " beyond the chip, " << fuzzer.failed
               << " failed\n";
  if (fuzzer.constructs.size() < minConstructs) {
    llvm::errs() << "fewer constructs than " << minConstructs << " took part\n";
    return 1;
  }
  return fuzzer.failed ? 1 : 0;
}

//===----------------------------------------------------------------------===//
// One program
//===----------------------------------------------------------------------===//

static int runShrink(uint64_t seed) {
  Program program = randomModel(seed);
  Configuration configuration = Configuration::random(seed);
  Outcome outcome =
      ForkedCheck(program.text(), configuration, seed, patience).wait();
  if (outcome.status != Outcome::Failed) {
    llvm::outs() << "seed " << seed << " does not fail\n";
    return 0;
  }
  unsigned tried = 0;
  shrink(program, configuration,
         [&](const Program &candidate, const Configuration &other) {
           ++tried;
           Outcome now =
               ForkedCheck(candidate.text(), other, seed, patience).wait();
           if (now.status != Outcome::Failed || now.kind != outcome.kind)
             return false;
           outcome.details = now.details;
           return true;
         });
  llvm::outs() << outcome.kind << " (" << tried << " programs tried)\n"
               << outcome.details;
  describe(seed, program.text(), configuration, llvm::outs());
  return 1;
}

static int runFile() {
  auto file = llvm::MemoryBuffer::getFile(checkedFile);
  if (!file) {
    llvm::errs() << "cannot read `" << checkedFile << "`\n";
    return 2;
  }
  std::string text = (*file)->getBuffer().str();
  unsigned failed = 0;
  for (const Configuration &configuration : Configuration::all()) {
    Outcome outcome =
        ForkedCheck(text, configuration, firstSeed, patience).wait();
    static constexpr const char *words[] = {"compared", "ill-conditioned",
                                            "limit", "failed"};
    llvm::outs() << words[int(outcome.status)] << ' ' << outcome.kind << ':'
                 << configuration.compileFlags() << configuration.runFlags()
                 << ' ' << outcome.gradients << " gradients, "
                 << outcome.skipped << " skipped\n"
                 << outcome.details;
    failed += outcome.status == Outcome::Failed;
  }
  return failed ? 1 : 0;
}

/// What a process does once is done before others are made of it.
static void warmUp() {
  Diagnostics diags;
  std::unique_ptr<Module> module = readSource(
      textSource(diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(
                     randomModel(3).text(), "model.tdsl")),
                 "model.tdsl"),
      {}, diags);
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv,
                              "Compiles, runs and compares random models.\n");
  // Packages are small, and there are many.
  if (!std::getenv("TMPDIR") && llvm::sys::fs::is_directory("/dev/shm"))
    ::setenv("TMPDIR", "/dev/shm", 1);
  warmUp();
  uint64_t seed = 0;
  if (!shrinkSeed.empty()) {
    if (llvm::StringRef(shrinkSeed).getAsInteger(10, seed)) {
      llvm::errs() << "--shrink takes a seed\n";
      return 2;
    }
    return runShrink(seed);
  }
  return checkedFile.empty() ? runMany() : runFile();
}
