//===- Compare.cpp - comparing a run with its reference -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "lib/API/Diags.h"
#include "lib/Driver/Reference.h"
#include "lib/Runtime/ProgramRun.h"
#include <cmath>

using namespace anec;
using namespace anec::c;

anec_status anec_compare_options_init(anec_compare_options *options,
                                      size_t struct_size) {
  return init(options, struct_size);
}

/// Arguments NAME=SOURCE. Returns false, with the reason reported, when one is
/// invalid.
static bool readSources(llvm::StringRef name, const char *const *given,
                        size_t count, std::vector<std::string> &sources,
                        Diagnostics &diags) {
  if (count && !given)
    return refuse(name, "it is null", diags);
  for (size_t i = 0; i < count; ++i) {
    auto [port, source] = orEmpty(given[i]).split('=');
    if (port.empty() || source.empty())
      return refuse(name, "it takes NAME=SOURCE", diags);
    sources.push_back(given[i]);
  }
  return true;
}

static bool readTolerance(const anec_compare_options &given,
                          Tolerance &tolerance, Diagnostics &diags) {
  auto isRight = [](const double *limit) {
    return !limit || (*limit >= 0 && std::isfinite(*limit));
  };
  if (!isRight(given.atol) || !isRight(given.rtol))
    return refuse(isRight(given.atol) ? "rtol" : "atol",
                  "it is a number, 0 or more", diags);
  if (given.atol)
    tolerance.absolute = *given.atol;
  if (given.rtol)
    tolerance.relative = *given.rtol;
  tolerance.equalNaN = given.equal_nan;
  return true;
}

namespace {
/// A program that is read to be run, with what it says of its inputs.
struct ReadProgram {
  ModelDescription description;
  std::unique_ptr<Module> module;
  const Function *function = nullptr;
};
} // namespace

static bool readProgram(const char *path, CompileOptions options,
                        llvm::StringRef function,
                        llvm::ArrayRef<std::string> inputs, ReadProgram &read,
                        Diagnostics &diags) {
  appendFiles(inputs, options.shapes, options.values);
  options.function = function.str();
  options.onlyDefaultFunction = true;
  options.suppresses = true;
  options.description = &read.description;
  read.module = readSourceFile(path, options, diags);
  if (read.module)
    read.function = findFunctionToRun(*read.module, function, diags);
  return read.function && hasWeightValues(*read.function, diags);
}

static bool compare(const char *path, const ProgramSessionOptions &session,
                    CompileOptions options, const anec_compare_options &given,
                    std::vector<OutputComparison> &outputs,
                    Diagnostics &diags) {
  RunOptions run;
  run.compare.emplace();
  if (!readSources("inputs", given.inputs, given.input_count, run.inputs,
                   diags) ||
      !readSources("states", given.states, given.state_count, run.states,
                   diags) ||
      !readTolerance(given, *run.compare, diags))
    return false;
  llvm::StringRef function = orEmpty(given.function);
  ReadProgram program;
  if (!readProgram(path, options, function, run.inputs, program, diags))
    return false;
  auto executor = std::make_shared<Executor>(session.threads);
  std::unique_ptr<Backend> backend =
      session.backends->open(session.backend, session.settings, diags);
  if (!backend)
    return false;
  std::optional<LoadedReference> reference;
  if (given.reference) {
    options.weights.executor = executor;
    reference = loadReference(given.reference, options, function,
                              *program.function, run.inputs, diags);
    if (!reference)
      return false;
    run.reference = reference->source;
  }
  run.load.numerics = session.numerics;
  run.load.workspace = std::make_shared<Workspace>(executor);
  run.load.milVersion = program.module->version;
  run.description = program.description.find(program.function->name);
  run.comparisons = &outputs;
  llvm::raw_null_ostream nowhere;
  return runOnce(*program.function, *backend, run, nowhere, diags);
}

anec_status anec_compare_file(const char *path,
                              const anec_session_options *session,
                              const anec_compare_options *options,
                              anec_comparisons **out,
                              anec_diagnostics *diags) try {
  Call call(diags);
  if (!out)
    return call.refuseNull("out");
  *out = nullptr;
  if (!path)
    return call.refuseNull("path");
  std::optional<anec_compare_options> given = take(options, {});
  if (!given)
    return call.refuse("options", badSize);
  anec_status status = ANEC_OK;
  Backends backends = makeBackends();
  std::optional<ProgramSessionOptions> read =
      readSessionOptions(session, backends, call, status);
  if (!read)
    return status;
  Diagnostics &own = call.diagnostics();
  for (const char *source : {path, given->reference})
    if (source && sourceFormat(source).stage == SourceStage::Package)
      return call.refuse(source == path ? "path" : "reference",
                         "it is a package of a model, and not a program");
  CompileOptions compile = std::move(read->compile);
  compile.weights = read->weights;
  if (!readDefines(given->defines, given->define_count, compile, own))
    return call.end(false);
  std::vector<OutputComparison> outputs;
  bool ok = compare(path, *read, std::move(compile), *given, outputs, own);
  status = call.end(ok);
  if (status != ANEC_OK)
    return status;
  *out = new anec_comparisons;
  for (OutputComparison &output : outputs) {
    std::string place = output.place();
    (*out)->records.push_back({std::move(output), std::move(place)});
  }
  return ANEC_OK;
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

void anec_comparisons_destroy(anec_comparisons *comparisons) {
  delete comparisons;
}

size_t anec_comparisons_count(const anec_comparisons *comparisons) {
  return countOf(comparisons);
}

static anec_comparison
describedComparison(const anec_comparisons::Record &record) {
  const auto &[output, place] = record;
  return {sizeof(anec_comparison),
          output.name.c_str(),
          output.isRight(),
          output.type.numElements(),
          output.wrong,
          output.relativeError,
          output.largestError,
          output.allowed,
          place.c_str(),
          output.value,
          output.reference};
}

anec_status anec_comparisons_get(const anec_comparisons *comparisons,
                                 size_t index, anec_comparison *out) {
  return giveRecord(comparisons, index, out, describedComparison);
}
