//===- OpWorker.cpp - times a program with its inputs in place ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Loads a program, runs it once on the inputs FOLDER/NAME.bin, writes the
/// outputs to FOLDER/NAME.anec, and then answers each line `N` on standard
/// input with N times in milliseconds:
///
///   op-worker THREADS PROGRAM.ir FOLDER
///
/// Arrays are row-major in the program's types. Inputs are not written again
/// before a timed run, and outputs are not read.
///
//===----------------------------------------------------------------------===//

#include "anec/Formats/Source.h"
#include "benchmarks/Instructions.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <iostream>

using namespace anec;

static bool fail(const llvm::Twine &what) {
  llvm::errs() << "op-worker: " << what << '\n';
  return false;
}

static std::string pathOf(llvm::StringRef folder, llvm::StringRef name,
                          llvm::StringRef ending) {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name + ending);
  return std::string(path);
}

/// Runs once on the inputs of the folder, and writes the outputs to it.
static bool runOnce(Executable &executable, llvm::StringRef folder,
                    Diagnostics &diags) {
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> files;
  std::vector<llvm::ArrayRef<uint8_t>> inputs;
  for (const Port &port : executable.inputs()) {
    std::string path = pathOf(folder, port.name, ".bin");
    auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false);
    if (!file || (*file)->getBufferSize() != port.type.numBytes())
      return fail(path + " cannot be read, or has another size");
    inputs.push_back(
        {reinterpret_cast<const uint8_t *>((*file)->getBufferStart()),
         (*file)->getBufferSize()});
    files.push_back(std::move(*file));
  }
  std::vector<std::vector<uint8_t>> results;
  for (const Port &port : executable.outputs())
    results.emplace_back(port.type.numBytes());
  std::vector<llvm::MutableArrayRef<uint8_t>> outputs(results.begin(),
                                                      results.end());
  if (!executable.run(inputs, outputs, diags))
    return false;
  for (auto [port, result] : llvm::zip_equal(executable.outputs(), results)) {
    std::string path = pathOf(folder, port.name, ".anec");
    std::error_code error;
    llvm::raw_fd_ostream out(path, error);
    out.write(reinterpret_cast<const char *>(result.data()), result.size());
    out.close();
    if (error || out.has_error())
      return fail(path + " cannot be written");
  }
  return true;
}

static bool serve(Executable &executable, Diagnostics &diags) {
  llvm::outs() << "ready\n";
  llvm::outs().flush();
  for (unsigned count; std::cin >> count;) {
    const char *separator = "[";
    for (unsigned i = 0; i < count; ++i) {
      auto start = std::chrono::steady_clock::now();
      if (!executable.execute(diags))
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

static bool work(llvm::StringRef threads, llvm::StringRef program,
                 llvm::StringRef folder, Diagnostics &diags) {
  unsigned count = 0;
  if (threads.getAsInteger(10, count))
    return fail("the number of threads is no number");
  std::unique_ptr<Module> module = readSourceFile(program, {}, diags);
  if (!module)
    return false;
  LoadOptions options;
  options.workspace = std::make_shared<Workspace>(count);
  std::unique_ptr<Executable> executable =
      createCpuBackend()->load(*module->functions.front(), options, diags);
  return executable && runOnce(*executable, folder, diags) &&
         serve(*executable, diags);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    llvm::errs() << "usage: op-worker THREADS PROGRAM.ir FOLDER\n";
    return 2;
  }
  if (!chooseInstructions())
    return 2;
  Diagnostics diags;
  bool ok = work(argv[1], argv[2], argv[3], diags);
  diags.print(llvm::errs());
  return ok ? 0 : 1;
}
