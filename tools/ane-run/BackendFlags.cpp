//===- BackendFlags.cpp - --backend and what belongs to it ----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BackendFlags.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>

using namespace anec;
namespace cl = llvm::cl;

std::string anec::ownExecutable() {
  return llvm::sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&ownExecutable));
}

BackendFlags::BackendFlags(cl::OptionCategory &category, cl::SubCommand &first,
                           cl::SubCommand &second)
    : kind("backend", cl::desc("What programs run on:"),
           cl::init(BackendKind::Cpu),
           cl::values(
               clEnumValN(BackendKind::Cpu, "cpu", "the processor (default)"),
               clEnumValN(BackendKind::Ane, "ane",
                          "the Neural Engine, on macOS; see docs/ane.md")),
           cl::sub(first), cl::sub(second), cl::cat(category)),
      heartbeat("heartbeat", cl::value_desc("SECONDS"),
                cl::desc("With the ane backend, run a small program when none "
                         "ran for so long, to keep the engine awake (4 is "
                         "below what it waits)"),
                cl::sub(first), cl::sub(second), cl::cat(category)),
      isolate("isolate",
              cl::desc("With the ane backend, compile each program in a child "
                       "process"),
              cl::sub(first), cl::sub(second), cl::cat(category)),
      reuse("reuse-compiled",
            cl::desc("With the ane backend, keep what is compiled for later "
                     "processes, and load what earlier ones kept"),
            cl::sub(first), cl::sub(second), cl::cat(category)) {}

BackendChoice BackendFlags::choice() const {
  BackendChoice choice;
  choice.kind = kind;
  choice.ane = defaultAneOptions();
  choice.ane.heartbeatSeconds = heartbeat;
  choice.ane.reuse = reuse;
  if (isolate)
    choice.ane.compileCommand = {ownExecutable(), "compile-staged"};
  return choice;
}

std::string BackendFlags::check() const {
  return heartbeat < 0 ? "--heartbeat takes a number of seconds" : "";
}
