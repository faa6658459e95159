//===- BackendFlags.cpp - what programs run on, and how -------------------===//
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

cl::ValuesClass anec::anePathValues() {
  return cl::values(clEnumValN(AnePath::InMemory, spelling(AnePath::InMemory),
                               "in-memory models (default)"),
                    clEnumValN(AnePath::Client, spelling(AnePath::Client),
                               "the framework's client"),
                    clEnumValN(AnePath::Direct, spelling(AnePath::Direct),
                               "the client, run without the system's daemon"),
                    clEnumValN(AnePath::RealTime, spelling(AnePath::RealTime),
                               "the same, at real-time quality of service"));
}

BackendFlags::BackendFlags()
    : numerics(
          "numerics", cl::desc("How the CPU backend computes:"),
          cl::init(Numerics::FP16),
          cl::values(
              clEnumValN(Numerics::FP16, "fp16",
                         "round to the declared type after each op (default)"),
              clEnumValN(Numerics::FP32, "fp32",
                         "round nothing; fp16 outputs come out as fp32"),
              clEnumValN(Numerics::M1, "m1",
                         "as is published of that chip's engine"),
              clEnumValN(Numerics::M3, "m3", "the same of the M3 Ultra"),
              clEnumValN(Numerics::M4, "m4", "the same of the M4"))),
      threads("threads", cl::value_desc("N"), cl::init(0),
              cl::desc("Threads (default: one per processor)")),
      kind("backend",
           cl::desc(defaultBackend(thisPlatform()) == BackendKind::Ane
                        ? "What programs run on (default here: ane; with flags "
                          "that cpu alone has, cpu; or what ANEC_BACKEND says):"
                        : "What programs run on (default here: cpu; ane on "
                          "Apple silicon, or with flags that it alone has; or "
                          "what ANEC_BACKEND says):"),
           cl::values(
               clEnumValN(BackendKind::Cpu, "cpu", "the processor"),
               clEnumValN(BackendKind::Ane, "ane",
                          "the Neural Engine, on macOS; see docs/ane.md"))),
      heartbeat("heartbeat", cl::value_desc("SECONDS"),
                cl::desc("With the ane backend, run a small program when none "
                         "ran for so long, to keep the engine awake (3 is "
                         "below what it waits)")),
      isolate("isolate",
              cl::desc("With the ane backend, compile each program in a child "
                       "process")),
      reuse("reuse-compiled",
            cl::desc("With the ane backend, keep what is compiled for later "
                     "processes, and load what earlier ones kept")),
      path("path",
           cl::desc("With the ane backend, the methods to go by; see "
                    "docs/ane.md:"),
           cl::init(AnePath::InMemory), anePathValues()),
      compileLimit(
          "compile-limit", cl::value_desc("N"),
          cl::init(AneOptions().compileLimit),
          cl::desc("With the ane backend, programs that a process compiles "
                   "before it stops, or trains on in a new one (default 110)")),
      weightFiles(
          "weight-files", cl::value_desc("N"), cl::init(1),
          cl::desc("With the ane backend, the weight files of a program, "
                   "an array to each as far as they go (default 1; "
                   "16 may be the most)")) {}

BackendChoice BackendFlags::choice() const {
  BackendChoice choice;
  choice.kind = chosen();
  choice.ane = defaultAneOptions();
  choice.ane.heartbeatSeconds = heartbeat;
  choice.ane.reuse = reuse;
  choice.ane.path = path;
  choice.ane.compileLimit = compileLimit;
  choice.ane.mostWeightFiles = weightFiles;
  if (isolate)
    choice.ane.compileCommand = {ownExecutable(), "compile-staged",
                                 ("--path=" + spelling(path)).str()};
  return choice;
}

llvm::StringRef BackendFlags::flagOfCpu() const {
  return numerics.getNumOccurrences() ? "--numerics" : ownFlagOfCpu;
}

llvm::StringRef BackendFlags::flagOfAne() const {
  return heartbeat.getNumOccurrences()      ? "--heartbeat"
         : isolate                          ? "--isolate"
         : reuse                            ? "--reuse-compiled"
         : path.getNumOccurrences()         ? "--path"
         : compileLimit.getNumOccurrences() ? "--compile-limit"
         : weightFiles.getNumOccurrences()  ? "--weight-files"
                                            : "";
}

/// What the environment has for the default.
static llvm::StringRef backendOfEnvironment() {
  const char *name = std::getenv("ANEC_BACKEND");
  return name ? name : "";
}

BackendKind BackendFlags::chosen() const {
  if (kind.getNumOccurrences())
    return kind;
  bool hasCpuFlags = !flagOfCpu().empty(), hasAneFlags = !flagOfAne().empty();
  llvm::StringRef named = backendOfEnvironment();
  if (hasCpuFlags == hasAneFlags && !named.empty())
    return named == "ane" ? BackendKind::Ane : BackendKind::Cpu;
  return defaultBackend(thisPlatform(), hasCpuFlags, hasAneFlags);
}

std::string BackendFlags::check() const {
  llvm::StringRef named = backendOfEnvironment();
  if (!named.empty() && named != "cpu" && named != "ane")
    return ("ANEC_BACKEND is `cpu` or `ane`, not `" + named + "`").str();
  bool isAne = chosen() == BackendKind::Ane;
  llvm::StringRef other = isAne ? flagOfCpu() : flagOfAne();
  if (!other.empty())
    return (other + " is of --backend=" + (isAne ? "cpu" : "ane")).str();
  if (compileLimit == 0)
    return "--compile-limit is at least 1";
  if (weightFiles == 0)
    return "--weight-files is at least 1";
  return heartbeat < 0 ? "--heartbeat takes a number of seconds" : "";
}

std::vector<std::string> BackendFlags::words() const {
  if (chosen() == BackendKind::Cpu)
    return {"--backend=cpu"};
  return {"--backend=ane", ("--path=" + spelling(path)).str(),
          "--weight-files=" + std::to_string(weightFiles)};
}
