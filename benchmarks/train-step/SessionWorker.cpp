//===- SessionWorker.cpp - runs a package's training step on request ------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Opens a package, runs its training entry once, and then as often as each
/// line on standard input says, answering with the times of forward and
/// backward, or of whole steps with AdamW as `ane-run train` does them:
///
///   anec-session-worker THREADS fp16|fp32 MODEL.anepkg SEED TOKENS.bin
///   TARGETS.bin LOSS.txt [adamw]
///
/// Tokens and targets are int32; the first loss goes to LOSS.txt. The line
/// `usage` is answered with the peak of memory, in bytes, and the milliseconds
/// of the last step's parts.
///
//===----------------------------------------------------------------------===//

#include "anec/Runtime/Session.h"
#include "anec/Train/AdamW.h"
#include "benchmarks/Instructions.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <iostream>
#include <sys/resource.h>

using namespace anec;

namespace {

class Trainer {
public:
  bool open(llvm::StringRef path, const SessionOptions &options,
            Diagnostics &diags) {
    auto package = readPackage(path, diags);
    if (!package)
      return false;
    for (const PackagedEntry &each : package->entries)
      if (llvm::StringRef(each.name).ends_with(".train"))
        entry = each.name;
    session = Session::open(std::move(*package), *backend, options, diags);
    if (!session || !session->prepare(entry, diags))
      return false;
    if (hasOptimizer) {
      optimizer =
          std::make_unique<AdamW>(session->weights(), session->gradients(),
                                  options.load.workspace->executor());
    }
    return true;
  }
  bool step(llvm::ArrayRef<uint8_t> tokens, llvm::ArrayRef<uint8_t> targets,
            Diagnostics &diags) {
    float scale = 1;
    llvm::ArrayRef<uint8_t> scaleBytes(
        reinterpret_cast<const uint8_t *>(&scale), sizeof(scale));
    llvm::MutableArrayRef<uint8_t> lossBytes(reinterpret_cast<uint8_t *>(&loss),
                                             sizeof(loss));
    return session->run(entry, {tokens, targets, scaleBytes}, {lossBytes},
                        diags) &&
           (!optimizer || update(diags));
  }
  void printUsage(llvm::raw_ostream &out) const {
    double kernels = 0, host = 0;
    for (const PartTime &part : session->times(entry))
      (part.kind == PartTime::Kernel ? kernels : host) += part.seconds * 1e3;
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    out << "{\"bytes\": " << uint64_t(usage.ru_maxrss) * 1024
        << ", \"kernels\": " << kernels << ", \"host\": " << host
        << ", \"optimizer\": " << optimizerMs << "}\n";
  }
  float loss = 0;
  bool hasOptimizer = false;

private:
  bool update(Diagnostics &diags) {
    auto start = std::chrono::steady_clock::now();
    Hyperparameters hyper;
    double norm = optimizer->gradientNorm();
    optimizer->step(hyper, 1e-4, 1, norm > hyper.clip ? hyper.clip / norm : 1,
                    ++updates);
    bool ok = session->weightsChanged(diags);
    optimizerMs = std::chrono::duration<double, std::milli>(
                      std::chrono::steady_clock::now() - start)
                      .count();
    return ok;
  }

  std::unique_ptr<AdamW> optimizer;
  uint64_t updates = 0;
  double optimizerMs = 0;
  std::unique_ptr<Backend> backend = createCpuBackend();
  std::unique_ptr<Session> session;
  std::string entry;
};

} // namespace

static std::unique_ptr<llvm::MemoryBuffer> read(const char *path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false);
  return buffer ? std::move(*buffer) : nullptr;
}

static llvm::ArrayRef<uint8_t> elementsOf(const llvm::MemoryBuffer &buffer) {
  return {reinterpret_cast<const uint8_t *>(buffer.getBufferStart()),
          buffer.getBufferSize()};
}

static bool work(char **argument, bool hasOptimizer, Diagnostics &diags) {
  SessionOptions options;
  options.load.numerics =
      llvm::StringRef(argument[1]) == "fp32" ? Numerics::FP32 : Numerics::FP16;
  uint64_t seed = 0;
  unsigned threads = 0;
  auto tokens = read(argument[4]), targets = read(argument[5]);
  if (llvm::StringRef(argument[0]).getAsInteger(10, threads) ||
      llvm::StringRef(argument[3]).getAsInteger(10, seed) || !tokens ||
      !targets) {
    llvm::errs() << "anec-session-worker: bad arguments\n";
    return false;
  }
  options.weights.seed = seed;
  options.load.workspace = std::make_shared<Workspace>(threads);
  Trainer trainer;
  trainer.hasOptimizer = hasOptimizer;
  if (!trainer.open(argument[2], options, diags) ||
      !trainer.step(elementsOf(*tokens), elementsOf(*targets), diags))
    return false;
  std::error_code error;
  llvm::raw_fd_ostream(argument[6], error) << trainer.loss << '\n';
  llvm::outs() << "ready\n";
  llvm::outs().flush();
  for (std::string line; std::getline(std::cin, line);) {
    unsigned count = 0;
    if (line == "usage") {
      trainer.printUsage(llvm::outs());
      llvm::outs().flush();
      continue;
    }
    if (llvm::StringRef(line).getAsInteger(10, count))
      return false;
    const char *separator = "[";
    for (unsigned i = 0; i < count; ++i) {
      auto start = std::chrono::steady_clock::now();
      if (!trainer.step(elementsOf(*tokens), elementsOf(*targets), diags))
        return false;
      std::chrono::duration<double, std::milli> elapsed =
          std::chrono::steady_clock::now() - start;
      llvm::outs() << separator << elapsed.count();
      separator = ", ";
    }
    llvm::outs() << "]\n";
    llvm::outs().flush();
  }
  return true;
}

int main(int argc, char **argv) {
  if (argc != 8 && argc != 9) {
    llvm::errs()
        << "usage: anec-session-worker THREADS fp16|fp32 MODEL.anepkg SEED "
           "TOKENS.bin TARGETS.bin LOSS.txt [adamw]\n";
    return 2;
  }
  if (!chooseInstructions())
    return 2;
  Diagnostics diags;
  bool hasOptimizer = argc == 9 && llvm::StringRef(argv[8]) == "adamw";
  bool ok = work(argv + 1, hasOptimizer, diags);
  diags.print(llvm::errs());
  return ok ? 0 : 1;
}
