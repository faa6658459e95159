//===- Interface.cpp - rules about inputs and outputs ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Predicates.h"
#include "lib/Target/Chip.h"

using namespace anec;

static constexpr llvm::StringLiteral interfaceFamily = "interface";

/// An input or an output of a program.
struct Port {
  bool isInput;
  llvm::StringRef name;
  const Value *value;

  const TensorType &type() const { return value->type; }
  SourceRange range() const { return value->range(); }
  llvm::StringRef kind() const { return isInput ? "input" : "output"; }
};

static llvm::SmallVector<Port> inputs(const Function &function) {
  llvm::SmallVector<Port> ports;
  for (const auto &param : function.parameters())
    ports.push_back({true, param->name, param.get()});
  return ports;
}

static llvm::SmallVector<Port> outputs(const Function &function) {
  llvm::SmallVector<Port> ports;
  for (unsigned i = 0; i < function.numResults(); ++i)
    ports.push_back({false, function.resultNames()[i], function.result(i)});
  return ports;
}

static void eachPort(const Function &function,
                     llvm::function_ref<Verdict(const Port &)> judge,
                     ReportBreach report) {
  for (const auto &ports : {inputs(function), outputs(function)})
    for (const Port &port : ports)
      if (Verdict what = judge(port))
        report(port.range(), *what);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static void noFp32(const Function &function, const Target &target,
                   ReportBreach report) {
  eachPort(
      function,
      [](const Port &port) -> Verdict {
        if (port.type().dtype != DType::FP32)
          return {};
        return broken("{0} `{1}` is fp32", port.kind(), port.name);
      },
      report);
}
constinit const Rule rules::IoFp32 = {
    .id = "io-fp32",
    .family = interfaceFamily,
    .summary = "inputs and outputs are fp16",
    .chips = {Chip::M1, Chip::M2},
    .macOS = {"15.6-"},
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source = "Orion-fork (M1 Pro, M1 Max), Espresso #18 (M1 Ultra), rustane "
              "#11 (M2 Max)",
    .date = "2026-09",
    .confidence = Confidence::High,
    .advice = "declare them fp16 and convert on the host, which is also faster",
    .rewrite = Rewrite::LegalInterface,
    .ofFunction = noFp32,
};

static void ioDType(const Function &function, const Target &target,
                    ReportBreach report) {
  eachPort(
      function,
      [](const Port &port) -> Verdict {
        constexpr DTypeSet accepted = {DType::FP16, DType::FP32, DType::Bool};
        if (accepted.contains(port.type().dtype))
          return {};
        return broken("{0} `{1}` is {2}", port.kind(), port.name,
                      spelling(port.type().dtype));
      },
      report);
}
constinit const Rule rules::IoDType = {
    .id = "io-dtype",
    .family = interfaceFamily,
    .summary = "inputs and outputs are fp16, fp32 or bool",
    .paths = {EnginePath::InMemory},
    .source = "ironmill (M3 Pro); for int8 outputs also Orion",
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict =
        "E5 accepts int8, uint8, int16 and uint16, but not fp32 (ANEForge)",
    .advice = "keep integers on the host, or pass small integers as fp16",
    .rewrite = Rewrite::LegalInterface,
    .ofFunction = ioDType,
};

static void boolOutput(const Function &function, const Target &target,
                       ReportBreach report) {
  eachPort(
      function,
      [](const Port &port) -> Verdict {
        if (port.type().dtype != DType::Bool)
          return {};
        return broken("{0} `{1}` is bool", port.kind(), port.name);
      },
      report);
}
constinit const Rule rules::IoBool = {
    .id = "io-bool",
    .family = interfaceFamily,
    .summary = "inputs and outputs are not bool",
    .chips = {Chip::M3, Chip::M4},
    .paths = {EnginePath::InMemory},
    .impact = Impact::Warning,
    .source = "Orion, ironmill: bool is used only inside a program",
    .date = "2026-11",
    .conflict = "mil-hwx-compiler (M1) and ironmill compile bool inputs, of "
                "one byte per element",
    .advice = "cast to fp16",
    .ofFunction = boolOutput,
};

static void ioRank0(const Function &function, const Target &target,
                    ReportBreach report) {
  eachPort(
      function,
      [](const Port &port) -> Verdict {
        if (!port.type().isScalar())
          return {};
        return broken("{0} `{1}` is a scalar", port.kind(), port.name);
      },
      report);
}
constinit const Rule rules::IoScalar = {
    .id = "io-scalar",
    .family = interfaceFamily,
    .summary = "inputs and outputs have a rank of at least 1",
    .macOS = {"14"},
    .source = "FluidInference #82: rank 0 breaks the compiler of macOS 14",
    .date = "2026-11",
    .advice = "give it the shape [1]",
    .rewrite = Rewrite::LegalInterface,
    .ofFunction = ioRank0,
};

static void ioRank4(const Function &function, const Target &target,
                    ReportBreach report) {
  eachPort(
      function,
      [](const Port &port) -> Verdict {
        if (port.type().rank() == 4)
          return {};
        return broken("{0} `{1}` has rank {2}", port.kind(), port.name,
                      port.type().rank());
      },
      report);
}
constinit const Rule rules::IoRank4 = {
    .id = "io-rank-4",
    .family = interfaceFamily,
    .summary = "inputs and outputs are [1, channels, 1, width]",
    .paths = {EnginePath::InMemory},
    .impact = Impact::Layout,
    .source = "maderix/ANE, Orion, Espresso, rustane: all kernels that train",
    .date = "2026-11",
    .conflict = "mil-hwx-compiler (M1 to M6), ironmill and ANEForge use other "
                "ranks too, padded with ones on the left",
    .advice = "reshape to this layout, which the engine uses in memory",
    .rewrite = Rewrite::AssignLayout,
    .ofFunction = ioRank4,
};

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static uint64_t rowBytes(const TensorType &type) {
  return byteSize(type.dtype, type.isScalar() ? 1 : type.shape.back());
}

static void ioRow64(const Function &function, const Target &target,
                    ReportBreach report) {
  uint64_t alignment = target.surface.rowAlignment;
  eachPort(
      function,
      [&](const Port &port) -> Verdict {
        uint64_t rows = port.type().numElements() /
                        std::max<int64_t>(1, extentFromEnd(port.type(), 0));
        if (rowBytes(port.type()) % alignment == 0 || rows <= 1)
          return {};
        return broken("rows of {0} `{1}` have {2} bytes, and start every {3}",
                      port.kind(), port.name, rowBytes(port.type()),
                      llvm::alignTo(rowBytes(port.type()), alignment));
      },
      report);
}
constinit const Rule rules::IoRow64 = {
    .id = "io-row-64",
    .family = interfaceFamily,
    .summary = "rows of inputs and outputs are a multiple of 64 bytes (32 "
               "elements of fp16)",
    .paths = {EnginePath::InMemory},
    .impact = Impact::Layout,
    .source = "ironmill (M3 Pro: RowStride 64), rustane (M4 Max), q38 (M5 "
              "Max), H3 (M3 Ultra), ANE-LM (M3 Max)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict = "the compiler takes any width and pads rows itself "
                "(mil-hwx-compiler, M1 to M6); E5 pads them too (ANEForge)",
    .advice = "pad the width to a multiple of 32, or write elements at the "
              "padded rows, as `ane-run` does",
    .rewrite = Rewrite::LegalInterface,
    .ofFunction = ioRow64,
};

static void ioWidth32(const Function &function, const Target &target,
                      ReportBreach report) {
  for (const Port &port : inputs(function))
    if (extentFromEnd(port.type(), 0) < 32 && port.type().numElements() > 1)
      report(port.range(), *broken("input `{0}` is {1} wide", port.name,
                                   extentFromEnd(port.type(), 0)));
}
constinit const Rule rules::IoWidth32 = {
    .id = "io-width-32",
    .family = interfaceFamily,
    .summary = "inputs are at least 32 wide",
    .chips = {Chip::M3, Chip::M5},
    .macOS = {"26.3-"},
    .paths = {EnginePath::InMemory},
    .impact = Impact::Warning,
    .source = "skyfallsin field guide (M3 Max): widths of 1 and 16 give "
              "garbage; q38 (M5 Max): widths of 1 to 16 give zeros",
    .date = "2026-11",
    .conflict =
        "Orion runs fp32 inputs 16 wide on M4 Max, pmetal runs 12 with strides",
    .advice = "pad the width to a multiple of 32",
    .rewrite = Rewrite::LegalInterface,
    .ofFunction = ioWidth32,
};

static void ioRow128(const Function &function, const Target &target,
                     ReportBreach report) {
  eachPort(
      function,
      [](const Port &port) -> Verdict {
        if (port.type().numBytes() % 128 == 0)
          return {};
        return broken("{0} `{1}` has {2} bytes", port.kind(), port.name,
                      port.type().numBytes());
      },
      report);
}
constinit const Rule rules::IoBytes128 = {
    .id = "io-bytes-128",
    .family = interfaceFamily,
    .summary = "the size of each input and output is a multiple of 128 bytes",
    .chips = {Chip::M5},
    .macOS = {"26.3-"},
    .paths = {EnginePath::InMemory},
    .impact = Impact::Layout,
    .source = "maderix/ANE PR #35 (M5)",
    .date = "2026-03",
    .confidence = Confidence::Low,
    .advice = "pad the width to a multiple of 64",
    .ofFunction = ioRow128,
};

static void ioMinimum(const Function &function, const Target &target,
                      ReportBreach report) {
  const SurfaceRule unpadded = {target.surface.rowAlignment, {0, "", {}}};
  eachPort(
      function,
      [&](const Port &port) -> Verdict {
        uint64_t bytes = surfaceBytes(unpadded, port.type());
        if (bytes >= target.surface.minimumBytes)
          return {};
        return broken("{0} `{1}` takes {2} bytes", port.kind(), port.name,
                      bytes);
      },
      report);
}
constinit const Rule rules::IoMinimum = {
    .id = "io-minimum",
    .family = interfaceFamily,
    .summary = "buffers of inputs and outputs have at least 48 KiB",
    .macOS = {"15-26"},
    .paths = {EnginePath::InMemory},
    .impact = Impact::Layout,
    .source =
        "Orion (M4 Max), Espresso (M3 Max): status 0x1d for smaller buffers",
    .date = "2026-11",
    .conflict =
        "ironmill (M3 Pro) says 16 KiB; padded rows can explain the "
        "difference, and on macOS 27 the sizes that the model reports suffice "
        "(pmetal)",
    .advice =
        "allocate larger buffers than the program needs, as `ane-run` does",
    .ofFunction = ioMinimum,
};

static void ioMaximum(const Function &function, const Target &target,
                      ReportBreach report) {
  eachPort(
      function,
      [&](const Port &port) -> Verdict {
        uint64_t bytes = surfaceBytes(target.surface, port.type());
        if (bytes <= target.limits.surfaceBytes)
          return {};
        return broken("{0} `{1}` takes {2} bytes", port.kind(), port.name,
                      bytes);
      },
      report);
}
constinit const Rule rules::IoMaximum = {
    .id = "io-maximum",
    .family = interfaceFamily,
    .summary = "an input or output takes at most 2 GiB",
    .source = "ANEForge: programs end near 2 GB; oMLX (M3 Ultra): 0x20004 at "
              "3.75 GiB",
    .date = "2026-11",
    .confidence = Confidence::Low,
    .advice = "split it along the channels",
    .danger = "its program has an input and an output of 2 GiB",
    .ofFunction = ioMaximum,
};

/// Reports ports whose memory differs in size from that of the first.
static void uniform(llvm::ArrayRef<Port> ports, const Target &target,
                    ReportBreach report) {
  for (const Port &port : ports) {
    uint64_t first = surfaceBytes(target.surface, ports[0].type());
    uint64_t bytes = surfaceBytes(target.surface, port.type());
    if (bytes != first)
      report(port.range(),
             *broken("{0} `{1}` takes {2} bytes, and `{3}` takes {4}",
                     port.kind(), port.name, bytes, ports[0].name, first));
  }
}
constinit const Rule rules::IoUniformInputs = {
    .id = "io-uniform-inputs",
    .family = interfaceFamily,
    .summary = "all inputs have the same size",
    .paths = {EnginePath::InMemory},
    .impact = Impact::Layout,
    .source = "Orion (M4 Max), Espresso (M3 Max): status 0x1d",
    .date = "2026-11",
    .confidence = Confidence::Low,
    .conflict = "H3, q38, mlx-serve and oMLX bind different sizes; wrong order "
                "or unpadded rows can explain the failures",
    .advice = "pack them into one input, or allocate every buffer as large as "
              "the largest",
    .ofFunction =
        [](const Function &function, const Target &target,
           ReportBreach report) { uniform(inputs(function), target, report); },
};
constinit const Rule rules::IoUniformOutputs = {
    .id = "io-uniform-outputs",
    .family = interfaceFamily,
    .summary = "all outputs have the same size",
    .paths = {EnginePath::InMemory},
    .impact = Impact::Layout,
    .source = "Orion (M4 Max), Espresso (M3 Max): status 0x1d",
    .date = "2026-11",
    .confidence = Confidence::Low,
    .conflict = "H3, q38, mlx-serve and oMLX bind different sizes; wrong order "
                "or unpadded rows can explain the failures",
    .advice = "concatenate them into one output, or allocate every buffer as "
              "large as the largest",
    .ofFunction =
        [](const Function &function, const Target &target,
           ReportBreach report) { uniform(outputs(function), target, report); },
};

static void ioOneInput(const Function &function, const Target &target,
                       ReportBreach report) {
  llvm::SmallVector<Port> ports = inputs(function);
  if (ports.size() > 1)
    report(ports[1].range(),
           *broken("the program has {0} inputs", ports.size()));
}
constinit const Rule rules::IoOneInput = {
    .id = "io-one-input",
    .family = interfaceFamily,
    .summary = "a program has one input",
    .paths = {EnginePath::InMemory},
    .impact = Impact::Layout,
    .source = "maderix/ANE (M4), luengnat/rustane (M4): status 0x1d",
    .date = "2026-11",
    .confidence = Confidence::Low,
    .conflict = "Orion, rustane, H3 and q38 run programs with several inputs",
    .advice = "pack inputs along the channels, or bind them in the order of "
              "their names",
    .ofFunction = ioOneInput,
};

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Reports the first port whose name sorts before that of the previous port.
static void ordered(llvm::ArrayRef<Port> ports, llvm::StringRef suffix,
                    ReportBreach report) {
  for (size_t i = 1; i < ports.size(); ++i)
    if ((ports[i].name + suffix).str() < (ports[i - 1].name + suffix).str()) {
      report(ports[i].range(),
             *broken("{0} `{1}` is declared behind `{2}`, and bound before it",
                     ports[i].kind(), ports[i].name, ports[i - 1].name));
      return;
    }
}
constinit const Rule rules::IoInputOrder = {
    .id = "io-input-order",
    .family = interfaceFamily,
    .summary = "inputs are declared in bytewise order of their names, because "
               "they are bound in that order",
    .paths = {EnginePath::InMemory},
    .impact = Impact::Warning,
    .source = "Orion (M4 Max), q38 (M5 Max), ironmill (M3 Pro)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "declare them in that order, or rename them",
    .rewrite = Rewrite::LegalInterface,
    .ofFunction =
        [](const Function &function, const Target &, ReportBreach report) {
          ordered(inputs(function), "", report);
        },
};
constinit const Rule rules::IoOutputOrder = {
    .id = "io-output-order",
    .family = interfaceFamily,
    .summary = "outputs are returned in bytewise order of their names with "
               "`@output`, because they are bound in that order",
    .paths = {EnginePath::InMemory},
    .impact = Impact::Warning,
    .source = "Orion (M4 Max), q38 (M5 Max), ironmill (M3 Pro)",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "return them in that order, or rename them",
    .rewrite = Rewrite::LegalInterface,
    .ofFunction =
        [](const Function &function, const Target &, ReportBreach report) {
          ordered(outputs(function), "@output", report);
        },
};
