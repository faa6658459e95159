//===- Targets.cpp - the table of targets ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// One row per chip. Nothing was measured for this table: a figure is for the
/// chip and the macOS of its source. A figure that is missing for a chip is the
/// most conservative one of adjacent chips, with low confidence.
///
//===----------------------------------------------------------------------===//

#include "anec/Target/Target.h"
#include "lib/Target/Chip.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace anec;

static constexpr Confidence High = Confidence::High;
static constexpr Confidence Medium = Confidence::Medium;
static constexpr Confidence Low = Confidence::Low;
static constexpr uint64_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;

/// Limits that no source distinguishes by chip.
static constexpr Limits common = {
    .sramBytes = {8 * MiB, "the least of all targets", Low},
    .surfaceBytes = {2 * GiB, "ANEForge docs: limit near 2 GB", Low},
    .weightBytes = {2 * GiB, "coremltools PR 2593: the compiler's error", High},
    .weightFiles = {16, "Orion #3 (M4, macOS 27): the 17th file fails", Medium},
    .opsPerProgram = {382, "maderix/ANE (M4): 383 chained convs fail", Medium},
    .rank = {5, "ANEForge docs", High},
    .channels = {65536, "ANEForge docs", Medium},
    .spatial = {16384, "ANEForge docs; ironmill; libane", High},
    .convInputChannels = {16384, "ironmill; maderix/ANE (M4): 32000 fail",
                          Medium},
    .convOutputChannels = {16384, "ANEForge #181", High},
    .convKernelWidth = {13, "ANEForge docs (M1)", Medium},
    .convKernelHeight = {31, "ANE microarchitecture study (M6)", Medium},
    .matmulContraction = {16384, "rustane #13 (M3 Ultra): 17920 fail", High},
    .matmulExtent = {16384, "rustane #13 (M3 Ultra): 17920 fail", High},
    .reducedElements = {65536, "ANEForge", Medium},
    .longReduction = {192, "ANEForge (M1, M2)", Medium},
    .concatExtent = {99999, "q38 (M5 Max), ANEForge: 100352 crash", High},
    .transposeExtent = {(1 << 23) - 2, "ANEForge (M1)", Medium},
    .maxPoolWindow = {8, "ANEForge", Medium},
    .avgPoolWindow = {29, "ANEForge (M1)", Medium},
    .compilesPerProcess = {119, "Orion; maderix/ANE; ironmill", High},
    .loadedPrograms = {55, "ironmill (M3 Pro)", Low},
};

static constexpr SurfaceRule surfaceRule = {
    .rowAlignment = {64, "ironmill (M3 Pro): RowStride of model attributes",
                     High},
    .minimumBytes = {49152, "Orion; Espresso; ironmill says 16384", Medium},
};

static constexpr Limits fromM2On(Limits limits) {
  limits.avgPoolWindow = {31, "ANEForge", Medium};
  return limits;
}

static constexpr Limits fromM3On(Limits limits) {
  limits = fromM2On(limits);
  limits.longReduction = {384, "ANEForge (M3 to M5)", Medium};
  return limits;
}

/// Applies the wider limits of the engine's A16 generation (M4 on).
static constexpr Limits fromM4On(Limits limits) {
  limits = fromM3On(limits);
  limits.spatial = {65536, "ANEForge docs", Medium};
  limits.matmulContraction = {32768, "ANEForge docs (M4): 40000 fail", Medium};
  limits.matmulExtent = {65536, "ANEForge docs", Medium};
  limits.convKernelWidth = {15, "ANEForge docs (M5)", Medium};
  return limits;
}

static constexpr Limits limitsOfM1() {
  Limits limits = common;
  limits.sramBytes = {8 * MiB, "libane; others say 2 and 16 MiB", Low};
  return limits;
}

static constexpr Limits limitsOfM2() {
  Limits limits = fromM2On(common);
  limits.sramBytes = {16 * MiB, "libane; others say 24 MiB", Low};
  return limits;
}

static constexpr Limits limitsOfM3() {
  Limits limits = fromM3On(common);
  limits.sramBytes = {32 * MiB, "libane", Low};
  return limits;
}

static constexpr Limits limitsOfM3Ultra() {
  Limits limits = limitsOfM3();
  limits.loadedPrograms = {121, "oMLX (M3 Ultra)", Medium};
  return limits;
}

static constexpr Limits limitsOfM4() {
  Limits limits = fromM4On(common);
  limits.sramBytes = {32 * MiB, "maderix/ANE: slower beyond; libane says 48",
                      Medium};
  limits.convOutputChannels = {32000, "maderix/ANE: the largest that ran",
                               Medium};
  limits.loadedPrograms = {119, "maderix/ANE; Orion", Medium};
  return limits;
}

static constexpr Limits limitsOfM5() {
  Limits limits = fromM4On(common);
  limits.sramBytes = {32 * MiB,
                      "same as M4; Bryngelson reports a knee at 4.72 MB", Low};
  limits.convOutputChannels = {62080, "q38 (M5 Max): 124160 fail", Medium};
  limits.matmulContraction = {65536, "ANEForge docs", Medium};
  limits.loadedPrograms = {127, "q38 (M5 Max); 128 on M5 Pro", High};
  return limits;
}

static constexpr Limits limitsOfM6() {
  Limits limits = fromM4On(common);
  limits.sramBytes = {
      32 * MiB, "as M5; operands of 2 MiB and more are tiled (study)", Low};
  limits.opsPerProgram = {382, "as M4; 387 convs overflow the stack (study)",
                          Medium};
  limits.spatial = {65536, "as M5", Low};
  limits.convOutputChannels = {62080, "as M5", Low};
  limits.convKernelWidth = {15, "ANE microarchitecture study (M6)", Medium};
  limits.matmulContraction = {65536, "as M5", Low};
  limits.matmulExtent = {65536, "as M5", Low};
  limits.longReduction = {384, "as M5", Low};
  limits.avgPoolWindow = {31, "as M5", Low};
  limits.loadedPrograms = {127, "as M5", Low};
  return limits;
}

static constexpr Quoted<llvm::StringLiteral> modernText = {
    "1.3", "all projects that compile MIL text on macOS 15 and later", High};
static constexpr Quoted<llvm::StringLiteral> oldText = {
    "1.0", "dev-erik/ANE (M1, M2); Orion-fork runs 1.3 on M1 Pro", Medium};

/// The one figure that is fitted to the times of all targets together, those
/// that PublishedTimes.cpp does not hold out; TargetTest.cpp repeats the fit.
static constexpr Quoted<double> elementRate = {
    135, "fit to the times of all targets that are not held out", Medium};

static constexpr CostAnchors costOfM1 = {
    .floorMicroseconds = {220, "ANEForge fit (h13)", Medium},
    .convTeraflops = {12, "Bryngelson guide: slope of convolutions", Medium},
    .matmulTeraflops = {3.25, "ANEForge fit (h13)", Medium},
    .gigabytesPerSecond = {36,
                           "between 51 (weights) and 24 (activations), "
                           "Bryngelson guide",
                           Low},
    .elementGigabytesPerSecond = elementRate,
    .errorFactor = 2.2,
};
static constexpr CostAnchors costOfM2 = {
    .floorMicroseconds = {100, "ANEForge fit (h14, M2 Pro)", Medium},
    .convTeraflops = {7.3, "ANEForge fit (h14, M2 Pro)", Medium},
    .matmulTeraflops = {3.4, "ANEForge rooflines (M2 Pro)", Medium},
    .gigabytesPerSecond = {48, "ANEForge fit (h14, M2 Pro)", Medium},
    .elementGigabytesPerSecond = elementRate,
    .errorFactor = 2.5,
};
static constexpr CostAnchors costOfM3 = {
    .floorMicroseconds = {160, "as M4", Low},
    .convTeraflops = {16.8, "maderix/ANE (M3 Pro)", Medium},
    .matmulTeraflops = {5.6, "a third of the convolution rate, maderix/ANE",
                        Low},
    .gigabytesPerSecond = {52, "between 45 and 60, oMLX", Medium},
    .elementGigabytesPerSecond = elementRate,
    .errorFactor = 2,
};
static constexpr CostAnchors costOfM3Ultra = {
    .floorMicroseconds = {160, "as M4", Low},
    .convTeraflops = {11.6, "maderix/ANE (0.531 ms for 4.29 GFLOP)", Medium},
    .matmulTeraflops = {3.85, "H3 (M3 Ultra), one die", Medium},
    .gigabytesPerSecond = {52, "as M3", Low},
    .elementGigabytesPerSecond = elementRate,
    .errorFactor = 2,
};
static constexpr CostAnchors costOfM4 = {
    .floorMicroseconds = {160,
                          "fit to dev-erik/ANE (M4 Max); submission alone "
                          "takes 95",
                          Medium},
    .convTeraflops = {18.6, "maderix/ANE (128 convolutions)", High},
    .matmulTeraflops = {5.7, "maderix/ANE (2048^3)", Medium},
    .gigabytesPerSecond = {80,
                           "dev-erik/ANE (M4 Max, 50 to 72 MB of weights); "
                           "43 on M4",
                           Medium},
    .elementGigabytesPerSecond = elementRate,
    .errorFactor = 2.6,
};
static constexpr CostAnchors costOfM5 = {
    .floorMicroseconds = {110, "ANEForge fit (h17s)", Medium},
    .convTeraflops = {14.5, "ANEForge heuristics (M5)", Medium},
    .matmulTeraflops = {8.9, "ANEForge fit (h17s)", Medium},
    .gigabytesPerSecond = {114, "ANEForge heuristics (M5)", Medium},
    .elementGigabytesPerSecond = elementRate,
    .errorFactor = 2.3,
};
/// One of the two engines, which share the bandwidth.
static constexpr CostAnchors costOfM6 = {
    .floorMicroseconds = {160,
                          "study (M6): 30 to submit, 130 and more to complete, "
                          "through Core ML",
                          Low},
    .convTeraflops = {20.6, "study (M6): one engine; both reach 39.5", Medium},
    .matmulTeraflops = {8.9, "as M5", Low},
    .gigabytesPerSecond = {150, "study (M6): weights; 152, anemll-bench", High},
    .elementGigabytesPerSecond = elementRate,
    .errorFactor = 3,
};
/// The slowest figure of all chips for each anchor.
static constexpr CostAnchors costOfAny = {
    .floorMicroseconds = costOfM1.floorMicroseconds,
    .convTeraflops = costOfM2.convTeraflops,
    .matmulTeraflops = costOfM1.matmulTeraflops,
    .gigabytesPerSecond = costOfM1.gigabytesPerSecond,
    .elementGigabytesPerSecond = elementRate,
    .errorFactor = 3,
};

static constexpr Target targets[] = {
    {
        .name = "generic",
        .summary = "programs that all chips accept",
        .chips = ChipSet::all(),
        .limits = common,
        .surface = surfaceRule,
        .milVersion = modernText,
        .opset = "ios18",
        .numerics = {"fp16", "chips differ; `generic` rounds after every op",
                     High},
        .cost = costOfAny,
    },
    {
        .name = "m1",
        .summary = "M1, M1 Pro, M1 Max, M1 Ultra (h13)",
        .chips = {Chip::M1},
        .limits = limitsOfM1(),
        .surface = surfaceRule,
        .milVersion = oldText,
        .opset = "ios16",
        .numerics = {"m1", "Bryngelson guide", Medium},
        .cost = costOfM1,
    },
    {
        .name = "m2",
        .summary = "M2, M2 Pro, M2 Max, M2 Ultra (h14)",
        .chips = {Chip::M2},
        .limits = limitsOfM2(),
        .surface = surfaceRule,
        .milVersion = oldText,
        .opset = "ios16",
        .numerics = {"m2",
                     "omarchy-ane (M2 Max): small products; ANEForge (M2 Pro): "
                     "overflow, slices",
                     Medium},
        .cost = costOfM2,
    },
    {
        .name = "m3",
        .summary = "M3, M3 Pro, M3 Max (h15)",
        .chips = {Chip::M3},
        .limits = limitsOfM3(),
        .surface = surfaceRule,
        .milVersion = modernText,
        .opset = "ios18",
        .numerics = {"m3", "H3 (M3 Ultra); no source for M3 itself", Low},
        .cost = costOfM3,
    },
    {
        .name = "m3-ultra",
        .summary = "M3 Ultra (h15d): two dies",
        .chips = {Chip::M3Ultra},
        .limits = limitsOfM3Ultra(),
        .surface = surfaceRule,
        .milVersion = modernText,
        .opset = "ios18",
        .numerics = {"m3", "H3 (M3 Ultra, macOS 26.5)", Medium},
        .cost = costOfM3Ultra,
    },
    {
        .name = "m4",
        .summary = "M4, M4 Pro, M4 Max (h16)",
        .chips = {Chip::M4},
        .limits = limitsOfM4(),
        .surface = surfaceRule,
        .milVersion = modernText,
        .opset = "ios18",
        .numerics = {"m4", "ANE microarchitecture study", Medium},
        .cost = costOfM4,
    },
    {
        .name = "m5",
        .summary = "M5, M5 Pro, M5 Max (h17)",
        .chips = {Chip::M5},
        .limits = limitsOfM5(),
        .surface = surfaceRule,
        .milVersion = modernText,
        .opset = "ios18",
        .numerics = {"m4", "ANEForge: overflow and rounding same as M4", Low},
        .cost = costOfM5,
    },
    {
        .name = "m6",
        .summary = "M6 (h18): two engines",
        .chips = {Chip::M6},
        .limits = limitsOfM6(),
        .surface = surfaceRule,
        .milVersion = modernText,
        .opset = "ios18",
        .numerics = {"m4", "ANE microarchitecture study: the same on both",
                     Medium},
        .cost = costOfM6,
    },
};

/// Sources: mil-hwx-compiler for the generations, coremltools and ANEForge for
/// names with a letter.
static constexpr HardwareName otherNames[] = {
    {"h13", "m1"},  {"a14", "m1"},     {"h14", "m2"},        {"a15", "m2"},
    {"h15", "m3"},  {"a16", "m3"},     {"h15d", "m3-ultra"}, {"h16", "m4"},
    {"h16g", "m4"}, {"a17-pro", "m4"}, {"h17", "m5"},        {"h17s", "m5"},
    {"a18", "m5"},  {"a18-pro", "m5"}, {"h18", "m6"},        {"h18g", "m6"},
    {"h18p", "m6"}, {"a19", "m6"},     {"a19-pro", "m6"},
};

llvm::ArrayRef<Target> anec::allTargets() { return targets; }

llvm::ArrayRef<HardwareName> anec::hardwareNames() { return otherNames; }

const Target *anec::findTarget(llvm::StringRef name) {
  for (const HardwareName &other : otherNames)
    if (other.name == name)
      name = other.target;
  const auto *found = llvm::find_if(
      targets, [&](const Target &target) { return target.name == name; });
  return found == std::end(targets) ? nullptr : found;
}

std::string ChipSet::str() const {
  if (*this == all())
    return "all";
  llvm::SmallVector<llvm::StringRef> names;
  for (const Target &target : allTargets().drop_front())
    if (intersects(target.chips))
      names.push_back(target.name);
  return llvm::join(names, ", ");
}

uint64_t anec::surfaceBytes(const SurfaceRule &rule, const TensorType &type) {
  uint64_t rows = 1;
  for (int64_t extent : llvm::ArrayRef(type.shape).drop_back(!type.isScalar()))
    rows *= uint64_t(extent);
  uint64_t row =
      byteSize(type.dtype, type.isScalar() ? 1 : uint64_t(type.shape.back()));
  return std::max<uint64_t>(rows * llvm::alignTo(row, rule.rowAlignment),
                            rule.minimumBytes);
}

double anec::predictMicroseconds(const Target &target, const Work &work) {
  const CostAnchors &anchors = target.cost;
  double compute = double(work.convFlops) / (anchors.convTeraflops * 1e6) +
                   double(work.otherFlops) / (anchors.matmulTeraflops * 1e6);
  double move = double(work.bytes) / (anchors.gigabytesPerSecond * 1e3);
  double elements =
      double(work.elementBytes) / (anchors.elementGigabytesPerSecond * 1e3);
  return anchors.floorMicroseconds + std::max(compute, move) + elements;
}

/// Whether `text` has `words`, and not as a part of others, as in `M10`.
static bool hasWords(llvm::StringRef text, llvm::StringRef words) {
  return (" " + text + " ").str().find((" " + words + " ").str()) !=
         std::string::npos;
}

const Target *anec::findTargetOfChip(llvm::StringRef chip) {
  struct Row {
    const char *words, *target;
  };
  // More specific names come first.
  static constexpr Row rows[] = {{"M3 Ultra", "m3-ultra"},
                                 {"M1", "m1"},
                                 {"M2", "m2"},
                                 {"M3", "m3"},
                                 {"M4", "m4"},
                                 {"M5", "m5"},
                                 {"M6", "m6"},
                                 {"A14", "a14"},
                                 {"A15", "a15"},
                                 {"A16", "a16"},
                                 {"A17 Pro", "a17-pro"},
                                 {"A18", "a18"},
                                 {"A19", "a19"}};
  for (const Row &row : rows)
    if (hasWords(chip, row.words))
      return findTarget(row.target);
  return nullptr;
}
