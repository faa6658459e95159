//===- AnecWorker.cpp - runs programs on the CPU backend on request -------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Loads MIL programs that feed each other, runs them once, and then as often
/// as each line on standard input says, answering with the times:
///
///   anec-worker THREADS IN.bin OUT.bin A.mil B.mil ...
///
/// Every program has one input and one output, of the same type throughout.
///
//===----------------------------------------------------------------------===//

#include "anec/MIL/Reader.h"
#include "benchmarks/Instructions.h"
#include "lib/Ops/Ops.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <iostream>

using namespace anec;

namespace {

class Chain {
public:
  bool load(llvm::StringRef path, const LoadOptions &options,
            Diagnostics &diags) {
    std::optional<llvm::StringRef> text = diags.addFile(path);
    if (!text)
      return false;
    std::unique_ptr<Module> module =
        readMIL(*text, llvm::sys::path::parent_path(path), opTable(), diags);
    if (!module)
      return false;
    std::unique_ptr<Executable> program =
        createCpuBackend()->load(*module->functions.front(), options, diags);
    if (!program)
      return false;
    results.emplace_back(program->outputs().front().type.numBytes());
    programs.push_back(std::move(program));
    return true;
  }

  bool run(llvm::ArrayRef<uint8_t> input, Diagnostics &diags) {
    for (auto [program, result] : llvm::zip_equal(programs, results)) {
      if (!program->run(input, llvm::MutableArrayRef(result), diags))
        return false;
      input = result;
    }
    return true;
  }

  size_t inputBytes() const {
    return programs.front()->inputs().front().type.numBytes();
  }
  llvm::ArrayRef<uint8_t> result() const { return results.back(); }

private:
  std::vector<std::unique_ptr<Executable>> programs;
  std::vector<std::vector<uint8_t>> results;
};

} // namespace

/// Answers each line `N` with N times in milliseconds.
static bool serve(Chain &chain, llvm::ArrayRef<uint8_t> input,
                  Diagnostics &diags) {
  llvm::outs() << "ready\n";
  llvm::outs().flush();
  for (unsigned count; std::cin >> count;) {
    const char *separator = "[";
    for (unsigned i = 0; i < count; ++i) {
      auto start = std::chrono::steady_clock::now();
      if (!chain.run(input, diags))
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

static bool work(llvm::ArrayRef<const char *> arguments, Diagnostics &diags) {
  LoadOptions options;
  auto fail = [](const char *what) {
    llvm::errs() << "anec-worker: " << what << '\n';
    return false;
  };
  unsigned threads = 0;
  if (llvm::StringRef(arguments[0]).getAsInteger(10, threads))
    return fail("the number of threads is no number");
  options.workspace = std::make_shared<Workspace>(threads);
  Chain chain;
  for (const char *path : arguments.drop_front(3))
    if (!chain.load(path, options, diags))
      return false;
  auto input = llvm::MemoryBuffer::getFile(arguments[1], /*IsText=*/false);
  if (!input || (*input)->getBufferSize() != chain.inputBytes())
    return fail("the input cannot be read, or has another size");
  llvm::ArrayRef<uint8_t> bytes(
      reinterpret_cast<const uint8_t *>((*input)->getBufferStart()),
      (*input)->getBufferSize());
  if (!chain.run(bytes, diags))
    return false;
  std::error_code error;
  llvm::raw_fd_ostream out(arguments[2], error);
  out.write(reinterpret_cast<const char *>(chain.result().data()),
            chain.result().size());
  out.close();
  if (error || out.has_error())
    return fail("the output cannot be written");
  return serve(chain, bytes, diags);
}

int main(int argc, char **argv) {
  llvm::ArrayRef<const char *> arguments(argv + 1, argv + argc);
  if (arguments.size() < 4) {
    llvm::errs() << "usage: anec-worker THREADS IN.bin OUT.bin A.mil ...\n";
    return 2;
  }
  if (!chooseInstructions())
    return 2;
  Diagnostics diags;
  bool ok = work(arguments, diags);
  diags.print(llvm::errs());
  return ok ? 0 : 1;
}
