//===- fuzz-decode.cpp - decoding equals the full forward -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Generates language models, and compares the logits of programs that decode
/// them, of random blocks, prefills and contexts, with those of the undivided
/// model:
///
///   fuzz-decode --seed=1 --models=300     --seconds=3600 for a long run
///   fuzz-decode --shrink=4711             a simpler case that fails too
///
//===----------------------------------------------------------------------===//

#include "DecodeCheck.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace anec::fuzz;
namespace cl = llvm::cl;

static cl::opt<uint64_t> firstSeed("seed", cl::init(1),
                                   cl::desc("seed of the first model"));
static cl::opt<unsigned> models("models", cl::init(100),
                                cl::desc("how many models"));
static cl::opt<unsigned> seconds("seconds", cl::init(0),
                                 cl::desc("run so long instead"));
static cl::opt<uint64_t> shrunkSeed("shrink", cl::init(0),
                                    cl::desc("simplify the case of this seed"));
static cl::opt<bool> verbose("verbose", cl::desc("print every model"));

namespace {
struct Case {
  std::string text;
  std::vector<unsigned> choices;
  DecodeOutcome outcome;
};
} // namespace

static Case runCase(uint64_t seed, std::vector<unsigned> given = {}) {
  Choices choices(seed, std::move(given));
  Decoder decoder = randomDecoder(choices);
  if (verbose) {
    llvm::outs() << "// seed " << seed << '\n' << decoder.text << '\n';
    llvm::outs().flush();
  }
  Case made;
  made.outcome = checkDecoder(decoder, choices, seed);
  made.text = decoder.text;
  made.choices = choices.all();
  return made;
}

/// Makes choices smaller as long as the case fails.
static int shrink(uint64_t seed) {
  Case best = runCase(seed);
  for (bool changed = !best.outcome.failure.empty(); changed;) {
    changed = false;
    for (size_t i = 0; i < best.choices.size(); ++i)
      for (unsigned smaller : {0u, best.choices[i] / 2, best.choices[i] - 1}) {
        if (smaller >= best.choices[i])
          continue;
        std::vector<unsigned> choices = best.choices;
        choices[i] = smaller;
        Case tried = runCase(seed, std::move(choices));
        if (tried.outcome.failure.empty())
          continue;
        best = std::move(tried);
        changed = true;
        break;
      }
  }
  llvm::outs() << best.text << "// " << best.outcome.failure << '\n';
  return best.outcome.failure.empty() ? 0 : 1;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv, "decoding equals the full forward\n");
  if (shrunkSeed)
    return shrink(shrunkSeed);
  auto start = std::chrono::steady_clock::now();
  auto goesOn = [&](uint64_t count) {
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - start;
    return seconds ? elapsed.count() < seconds : count < models;
  };
  unsigned failed = 0, columns = 0, illConditioned = 0;
  uint64_t count = 0;
  double worst = 0;
  for (; goesOn(count); ++count) {
    uint64_t seed = firstSeed + count;
    Case made = runCase(seed);
    columns += made.outcome.columns;
    illConditioned += made.outcome.illConditioned;
    worst = std::max(worst, made.outcome.worst);
    if (made.outcome.failure.empty())
      continue;
    ++failed;
    llvm::outs() << "seed " << seed << ": " << made.outcome.failure << '\n'
                 << made.text << '\n';
    llvm::outs().flush();
  }
  llvm::outs() << count << " models: " << columns
               << " columns of logits compared, the worst "
               << llvm::format("%.1e", worst) << " of the largest, "
               << illConditioned << " ill-conditioned, " << failed
               << " failed\n";
  return failed != 0;
}
