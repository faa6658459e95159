//===- Executable.mm - a program with surfaces of its own -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Executable.h"
#include "../Apple/Call.h"
#include "../Apple/Measures.h"
#include "PerfStats.h"
#include "lib/Runtime/Diags.h"

using namespace anec;
using namespace anec::ane;

/// The layout of `port` in the engine, as far as it says. Returns nothing, with
/// the reason reported, when it is none that anec knows.
static std::optional<RowLayout>
layoutOf(const Port &port, const SymbolTable &table, Diagnostics &diags) {
  if (!takes(Measure::PaddedRows))
    return denseLayout(port.type);
  if (!takes(Measure::ReportedRows))
    return paddedLayout(port.type);
  std::string problem;
  std::optional<RowLayout> layout =
      reportedLayout(port.type, table.layouts.lookup(port.name), problem);
  if (!layout)
    diags.report({}, diag::AneLayout, port.name, problem);
  return layout;
}

/// Creates a surface for each port, with at least the bytes that the engine
/// expects, or with contiguous rows.
static bool makeSurfaces(llvm::ArrayRef<Port> ports, const SymbolTable &table,
                         bool asDeclared, std::vector<Surface> &surfaces,
                         Diagnostics &diags) {
  surfaces.reserve(ports.size());
  for (const Port &port : ports) {
    std::optional<RowLayout> layout =
        asDeclared ? denseLayout(port.type) : layoutOf(port, table, diags);
    if (!layout)
      return false;
    std::optional<Surface> surface = Surface::create(port, *layout, diags);
    if (!surface)
      return false;
    surfaces.push_back(std::move(*surface));
  }
  return true;
}

std::unique_ptr<AneExecutable>
AneExecutable::make(std::shared_ptr<Program> program, std::vector<Port> inputs,
                    std::vector<Port> outputs, uint64_t constantBytes,
                    Diagnostics &diags, bool asDeclared) {
  std::unique_ptr<AneExecutable> made(new AneExecutable);
  made->program = std::move(program);
  made->inputPorts = std::move(inputs);
  made->outputPorts = std::move(outputs);
  made->weightBytes = constantBytes;
  if (!makeSurfaces(made->inputPorts, made->program->inputs(), asDeclared,
                    made->inputSurfaces, diags) ||
      !makeSurfaces(made->outputPorts, made->program->outputs(), asDeclared,
                    made->outputSurfaces, diags) ||
      !made->makeRequest(asDeclared, diags))
    return nullptr;
  return made;
}

/// Wraps surfaces in the engine's order; returns nil when one cannot be
/// wrapped.
static NSArray *wrap(id<AneSurfaceClass> wrapper,
                     llvm::ArrayRef<unsigned> order,
                     llvm::ArrayRef<Surface> surfaces) {
  NSMutableArray *wrapped = [NSMutableArray array];
  for (unsigned port : order) {
    id object = [wrapper objectWithIOSurface:surfaces[port].get()];
    if (!object)
      return nil;
    [wrapped addObject:object];
  }
  return wrapped;
}

static NSArray *portNumbers(llvm::ArrayRef<unsigned> values) {
  NSMutableArray *array = [NSMutableArray array];
  for (unsigned value : values)
    [array addObject:[NSNumber numberWithUnsignedInt:value]];
  return array;
}

namespace {
/// What a request reads and writes.
struct RequestParts {
  NSArray *inputs, *inputIndices, *outputs, *outputIndices;
  NSNumber *procedure;
};
} // namespace

/// A request without weights.
static id requestOf(id<AneRequestClass> requests, const RequestParts &parts) {
  id statistics = takes(Measure::NoStatistics)
                      ? nil
                      : [[[NSObject alloc] init] autorelease];
  if (takes(Measure::ShortRequest) &&
      ![requests respondsToSelector:@selector
                 (requestWithInputs:
                       inputIndices:outputs:outputIndices:weightsBuffer
                                   :perfStats:procedureIndex:)])
    return [requests requestWithInputs:parts.inputs
                          inputIndices:parts.inputIndices
                               outputs:parts.outputs
                         outputIndices:parts.outputIndices
                             perfStats:(NSArray *)statistics
                        procedureIndex:parts.procedure];
  return [requests requestWithInputs:parts.inputs
                        inputIndices:parts.inputIndices
                             outputs:parts.outputs
                       outputIndices:parts.outputIndices
                       weightsBuffer:nil
                           perfStats:(NSArray *)statistics
                      procedureIndex:parts.procedure];
}

/// Built once: a request refers to surfaces, whose contents change.
bool AneExecutable::makeRequest(bool asDeclared, Diagnostics &diags) {
  auto order = [&](llvm::ArrayRef<Port> ports, const SymbolTable &table,
                   Direction direction) -> std::optional<SymbolOrder> {
    return asDeclared ? declaredOrder(ports.size())
                      : orderSymbols(ports, table, direction, diags);
  };
  std::optional<SymbolOrder> in =
      order(inputPorts, program->inputs(), Direction::Input);
  std::optional<SymbolOrder> out =
      order(outputPorts, program->outputs(), Direction::Output);
  if (!in || !out)
    return false;
  inputOrder = *in;
  outputOrder = *out;
  @autoreleasepool {
    const PrivateFramework &framework = program->engine().framework;
    NSNumber *procedure =
        [NSNumber numberWithUnsignedInt:program->engine().options.procedure];
    id made = nil;
    bool wrapped = false;
    std::string raised = guardFramework([&] {
      NSArray *ins = wrap(framework.surfaces, in->ports, inputSurfaces);
      NSArray *outs = wrap(framework.surfaces, out->ports, outputSurfaces);
      wrapped = ins && outs;
      if (wrapped)
        made = requestOf(framework.requests,
                         {ins, portNumbers(in->indices), outs,
                          portNumbers(out->indices), procedure});
    });
    if (!made) {
      diags.report({}, diag::AneNoObject,
                   wrapped ? "request" : "object for a surface",
                   raised.empty() ? "it gave nil" : raised);
      return false;
    }
    request = Retained<id>(made);
    return true;
  }
}

bool AneExecutable::writeInput(unsigned port, const Region &region,
                               const float *elements, Diagnostics &diags) {
  return inputSurfaces[port].write(region, elements, diags);
}

bool AneExecutable::readOutput(unsigned port, const Region &region,
                               float *elements, Diagnostics &diags) {
  return outputSurfaces[port].read(region, elements, diags);
}

/// Notes what the surfaces at the engine's symbols are, and should be.
static void noteSurfaces(llvm::StringRef kind, llvm::ArrayRef<Port> ports,
                         llvm::ArrayRef<Surface> surfaces,
                         const SymbolOrder &order, const SymbolTable &table,
                         Diagnostics::Report report) {
  for (auto [port, index] : llvm::zip_equal(order.ports, order.indices)) {
    const Surface &surface = surfaces[port];
    uint64_t expected = table.layouts.lookup(ports[port].name).bytes();
    report.note({}, diag::AneBound, kind, ports[port].name, index,
                surface.bytes(), surface.rowStride(),
                expected ? std::to_string(expected)
                         : "a number of bytes that it does not report");
  }
}

bool AneExecutable::execute(Diagnostics &diags) {
  auto describeAll = [this](Diagnostics::Report report) {
    noteSurfaces("input", inputPorts, inputSurfaces, inputOrder,
                 program->inputs(), report);
    noteSurfaces("output", outputPorts, outputSurfaces, outputOrder,
                 program->outputs(), report);
  };
  lastSeconds.reset();
  if (!program->evaluate({request.get()}, describeAll, diags))
    return false;
  if (program->engine().options.perfStats)
    lastSeconds = ane::engineSeconds(request.get());
  return true;
}

bool AneExecutable::run(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
                        llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
                        Diagnostics &diags) {
  assert(inputs.size() == inputPorts.size() &&
         outputs.size() == outputPorts.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputSurfaces[i].write(inputs[i], diags))
      return false;
  if (!execute(diags))
    return false;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputSurfaces[i].read(outputs[i], diags))
      return false;
  return true;
}

uint64_t AneExecutable::activationBytes() const {
  uint64_t bytes = 0;
  for (const Surface &surface : inputSurfaces)
    bytes += surface.bytes();
  for (const Surface &surface : outputSurfaces)
    bytes += surface.bytes();
  return bytes;
}
