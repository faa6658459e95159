//===- SourceReference.cpp - a program beside its source ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Runtime/SourceReference.h"
#include "lib/IR/Names.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Runtime/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;

static std::string listOf(llvm::ArrayRef<Port> ports) {
  std::vector<std::string> names;
  for (const Port &port : ports)
    names.push_back("`" + port.name + "`");
  return names.empty() ? "none" : llvm::join(names, ", ");
}

/// The places in `theirs`, which `file` has, of `ours`, which the program has.
/// `kind` is such as "input". Returns nothing, with the reasons reported, when
/// they are not the same.
static std::optional<std::vector<size_t>> pairPorts(llvm::StringRef kind,
                                                    llvm::ArrayRef<Port> ours,
                                                    llvm::ArrayRef<Port> theirs,
                                                    llvm::StringRef file,
                                                    Diagnostics &diags) {
  bool ok = true;
  std::vector<bool> isTaken(theirs.size());
  std::vector<size_t> places;
  for (const Port &port : ours) {
    std::optional<size_t> place = findByName(theirs, port.name);
    // Converters make up a name where a result had none.
    if (!place && kind == "output" && ours.size() == 1 && theirs.size() == 1)
      place = 0;
    if (!place || isTaken[*place]) {
      diags.reportFile(file, diag::NotInReference, kind, port.name,
                       listOf(theirs));
      ok = false;
      continue;
    }
    isTaken[*place] = true;
    places.push_back(*place);
    const TensorType &type = theirs[*place].type;
    if (withoutOnes(type.shape) != withoutOnes(port.type.shape)) {
      diags.reportFile(file, diag::ReferenceShape, kind, theirs[*place].name,
                       type.str(), port.type.str());
      ok = false;
    }
  }
  for (auto [port, taken] : llvm::zip_equal(theirs, isTaken))
    if (!taken) {
      diags.reportFile(file, diag::OnlyInReference, kind, port.name,
                       listOf(ours));
      ok = false;
    }
  return ok ? std::optional(places) : std::nullopt;
}

static std::vector<Port> portsOf(const Function &function, bool areStates) {
  std::vector<Port> ports;
  for (const auto &param : function.parameters())
    if ((param->holder == Holder::State) == areStates)
      ports.push_back({param->name, param->type, !param->hasUses()});
  return ports;
}

static std::vector<Port> resultsOf(const Function &function) {
  std::vector<Port> ports;
  for (unsigned i = 0; i < function.numResults(); ++i)
    ports.push_back({function.resultNames()[i], function.result(i)->type});
  return ports;
}

/// The inputs of a run in the order of the program. One that the reference has
/// in another float type, as `theirs` says in the same order, is read again for
/// it: it is not rounded to the program's.
static std::optional<std::vector<ConstantRef>>
readInputs(const RunInputs &run, llvm::ArrayRef<TensorType> theirs,
           Diagnostics &diags) {
  std::vector<ConstantRef> arrays = run.arrays.inputs;
  std::vector<Port> ports;
  std::vector<size_t> places;
  for (auto [place, port] : llvm::enumerate(run.inputs)) {
    const TensorType &type = theirs[place];
    if (!isFloat(type.dtype) || !isFloat(port.type.dtype) ||
        type.dtype == port.type.dtype)
      continue;
    ports.push_back({port.name, {type.dtype, port.type.shape}});
    places.push_back(place);
  }
  std::vector<std::string> arguments;
  llvm::copy_if(run.arguments, std::back_inserter(arguments),
                [&](llvm::StringRef argument) {
                  return llvm::any_of(ports, [&](const Port &port) {
                    return port.name == argument.split('=').first;
                  });
                });
  auto again = readPorts("input", ports, arguments, /*fallback=*/"", diags,
                         run.description);
  if (!again)
    return std::nullopt;
  for (auto [place, array] : llvm::zip_equal(places, *again))
    arrays[place] = array;
  return arrays;
}

std::optional<std::vector<std::vector<double>>>
anec::evaluateSource(const SourceReference &reference, const RunInputs &run,
                     llvm::ArrayRef<Port> results, Diagnostics &diags) {
  const Function &function = *reference.function;
  std::vector<Port> inputs = portsOf(function, /*areStates=*/false),
                    states = portsOf(function, /*areStates=*/true),
                    outputs = resultsOf(function);
  auto pair = [&](llvm::StringRef kind, llvm::ArrayRef<Port> ours,
                  llvm::ArrayRef<Port> theirs) {
    return pairPorts(kind, ours, theirs, reference.file, diags);
  };
  auto inputPlaces = pair("input", run.inputs, inputs);
  auto statePlaces = pair("state", run.states, states);
  auto outputPlaces =
      pair("output", results.drop_back(run.states.size()), outputs);
  if (!inputPlaces || !statePlaces || !outputPlaces)
    return std::nullopt;

  std::vector<TensorType> types;
  for (size_t place : *inputPlaces)
    types.push_back(inputs[place].type);
  std::optional<std::vector<ConstantRef>> given = readInputs(run, types, diags);
  if (!given)
    return std::nullopt;
  std::vector<RefTensor> ofInputs(inputs.size()), ofStates(states.size()), in;
  for (auto [place, array] : llvm::zip_equal(*inputPlaces, *given))
    ofInputs[place] = {inputs[place].type, array->asDoubles()};
  for (auto [place, array] : llvm::zip_equal(*statePlaces, run.arrays.states))
    ofStates[place] = {states[place].type, array->asDoubles()};
  auto input = ofInputs.begin(), state = ofStates.begin();
  for (const auto &param : function.parameters())
    in.push_back(param->holder == Holder::State ? *state++ : *input++);

  std::vector<RefTensor> out, after;
  if (!interpret(function, in, out, diags, {}, &after))
    return std::nullopt;
  std::vector<std::vector<double>> values;
  for (size_t place : *outputPlaces)
    values.push_back(std::move(out[place].data));
  for (size_t place : *statePlaces)
    values.push_back(std::move(after[place].data));
  return values;
}
