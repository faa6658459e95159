//===- DecodeWorker.cpp - runs a package, or reads memory, on request -----===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
///   anec-decode-worker THREADS read MEGABYTES
///   anec-decode-worker THREADS run MODEL.anepkg fp16|fp32 [ENTRY [POSITION]]
///
/// THREADS can be `cpu`: one thread, measured in processor time.
///
/// Answers each line `N` with the times of N runs in milliseconds: of reading a
/// buffer that no cache holds, or of an entry of a package, by default the
/// first, with inputs of zeros, or at a position of the text. The line `usage`
/// is answered with the peak of memory in bytes.
///
//===----------------------------------------------------------------------===//

#include "anec/Runtime/Session.h"
#include "benchmarks/Instructions.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <ctime>
#include <functional>
#include <iostream>
#include <sys/resource.h>

using namespace anec;

/// A sum that compilers turn into vectors, and that waits for memory only.
static float sumOf(const float *floats, size_t count) {
  constexpr size_t lanes = 32;
  float sums[lanes] = {};
  for (size_t i = 0; i + lanes <= count; i += lanes)
    for (size_t lane = 0; lane < lanes; ++lane)
      sums[lane] += floats[i + lane];
  float sum = 0;
  for (float each : sums)
    sum += each;
  return sum;
}

/// Whether processor time is measured, of one thread.
static bool measuresProcessor = false;

static double milliseconds() {
  timespec now;
  clock_gettime(measuresProcessor ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC,
                &now);
  return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
}

static void answer(const std::function<bool()> &run) {
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "usage") {
      rusage usage = {};
      getrusage(RUSAGE_SELF, &usage);
      std::cout << uint64_t(usage.ru_maxrss) * 1024 << std::endl;
      continue;
    }
    std::cout << '[';
    for (int i = 0, count = std::atoi(line.c_str()); i < count; ++i) {
      double start = milliseconds();
      if (!run())
        return;
      std::cout << (i ? ", " : "") << milliseconds() - start;
    }
    std::cout << ']' << std::endl;
  }
}

static bool read(Executor &executor, size_t megabytes) {
  size_t count = (megabytes << 20) / sizeof(float);
  AlignedArray buffer = makeAlignedArray(count);
  std::fill_n(buffer.get(), count, 1.0f);
  std::vector<float> sums(executor.size());
  answer([&] {
    executor.parallelRanges(
        count, 4096, [&](size_t begin, size_t end, unsigned worker) {
          sums[worker] += sumOf(buffer.get() + begin, end - begin);
        });
    return true;
  });
  return sums[0] >= 0;
}

static bool runPackage(const SessionOptions &options, llvm::StringRef path,
                       std::string entry, int32_t position,
                       Diagnostics &diags) {
  std::optional<ModelPackage> package = readPackage(path, diags);
  if (!package)
    return false;
  if (entry.empty())
    entry = package->entries.front().name;
  std::unique_ptr<Backend> backend = createCpuBackend();
  std::unique_ptr<Session> session =
      Session::open(std::move(*package), *backend, options, diags);
  if (!session || !session->prepare(entry, diags))
    return false;
  std::vector<std::vector<uint8_t>> in, out;
  for (const Port &port : session->inputs(entry)) {
    in.emplace_back(port.type.numBytes());
    if (port.name == "position")
      std::memcpy(in.back().data(), &position, sizeof position);
  }
  for (const Port &port : session->outputs(entry))
    out.emplace_back(port.type.numBytes());
  std::vector<llvm::ArrayRef<uint8_t>> inputs(in.begin(), in.end());
  std::vector<llvm::MutableArrayRef<uint8_t>> outputs(out.begin(), out.end());
  answer([&] {
    return session->run(entry, inputs, outputs, diags, Gradients::None);
  });
  return !diags.hasErrors();
}

int main(int argc, char **argv) {
  if (!chooseInstructions())
    return 2;
  llvm::StringRef kind = argc > 3 ? argv[2] : "";
  measuresProcessor = argc > 1 && llvm::StringRef(argv[1]) == "cpu";
  unsigned threads = measuresProcessor ? 1 : argc > 1 ? std::atoi(argv[1]) : 0;
  Diagnostics diags;
  SessionOptions options;
  options.load.workspace = std::make_shared<Workspace>(threads);
  bool ok = false;
  if (kind == "read") {
    ok = read(options.load.workspace->executor(), std::atoi(argv[3]));
  } else if (kind == "run" && argc > 4) {
    options.load.numerics =
        llvm::StringRef(argv[4]) == "fp32" ? Numerics::FP32 : Numerics::FP16;
    ok = runPackage(options, argv[3], argc > 5 ? argv[5] : "",
                    argc > 6 ? std::atoi(argv[6]) : 0, diags);
  } else {
    llvm::errs() << "usage: anec-decode-worker THREADS read MEGABYTES\n"
                    "       anec-decode-worker THREADS run PACKAGE fp16|fp32 "
                    "[ENTRY [POSITION]]\n";
    return 2;
  }
  diags.print(llvm::errs());
  return ok ? 0 : 1;
}
