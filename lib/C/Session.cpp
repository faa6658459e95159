//===- Session.cpp - running by the C API ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Choices.h"
#include "Handles.h"
#include "lib/Support/Interruption.h"

using namespace anec;
using namespace anec::c;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

anec_status anec_session_options_init(anec_session_options *options,
                                      size_t struct_size) {
  return init(options, struct_size);
}

using OpenSession = llvm::function_ref<std::unique_ptr<ProgramSession>(
    const ProgramSessionOptions &, Diagnostics &)>;

std::optional<ProgramSessionOptions>
anec::c::readSessionOptions(const anec_session_options *options,
                            const Backends &backends, Call &call,
                            anec_status &status) {
  std::optional<anec_session_options> given = take(options, {});
  if (!given) {
    status = call.refuse("options", badSize);
    return std::nullopt;
  }
  std::optional<Numerics> numerics = numericsOf(given->numerics);
  if (!numerics) {
    status = call.refuse(
        "numerics", wrongChoice(given->numerics,
                                {"ANEC_NUMERICS_FP16", "ANEC_NUMERICS_FP32",
                                 "ANEC_NUMERICS_M1", "ANEC_NUMERICS_M3",
                                 "ANEC_NUMERICS_M4", "ANEC_NUMERICS_M2"}));
    return std::nullopt;
  }
  ProgramSessionOptions read;
  read.backends = &backends;
  if (given->backend)
    read.backend = given->backend;
  read.numerics = *numerics;
  read.threads = given->threads;
  read.weights.source = orEmpty(given->weights).str();
  read.weights.mapping = orEmpty(given->weight_map).str();
  if (given->seed)
    read.weights.seed = *given->seed;
  if (!readShapes(given->shapes, given->shape_count, read.compile,
                  call.diagnostics())) {
    status = call.end(false);
    return std::nullopt;
  }
  return read;
}

static anec_status openTo(OpenSession open, const anec_session_options *options,
                          anec_session **out, anec_diagnostics *diags) {
  Call call(diags);
  anec_status status = ANEC_OK;
  Backends backends = makeBackends();
  std::optional<ProgramSessionOptions> read =
      readSessionOptions(options, backends, call, status);
  if (!read)
    return status;
  std::unique_ptr<ProgramSession> session = open(*read, call.diagnostics());
  status = call.end(session != nullptr);
  if (status == ANEC_OK)
    *out = new anec_session{call.takeDiagnostics(), std::move(session)};
  return status;
}

anec_status anec_session_open(const anec_program *program,
                              const anec_session_options *options,
                              anec_session **out, anec_diagnostics *diags) try {
  if (out)
    *out = nullptr;
  if (!program || !out)
    return Call(diags).refuseNull(program ? "out" : "program");
  return openTo(
      [&](const ProgramSessionOptions &read,
          Diagnostics &own) -> std::unique_ptr<ProgramSession> {
        if (program->kernel)
          return ProgramSession::open(*program->kernel, read, own);
        // The session reads the package again, and shares its files.
        std::optional<ModelPackage> package = readAgain(*program->model, own);
        return package ? ProgramSession::open(std::move(*package), read, own)
                       : nullptr;
      },
      options, out, diags);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

anec_status anec_session_open_file(const char *path,
                                   const anec_session_options *options,
                                   anec_session **out,
                                   anec_diagnostics *diags) try {
  if (out)
    *out = nullptr;
  if (!path || !out)
    return Call(diags).refuseNull(path ? "out" : "path");
  return openTo(
      [&](const ProgramSessionOptions &read, Diagnostics &own) {
        return ProgramSession::openFile(path, read, own);
      },
      options, out, diags);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

void anec_session_destroy(anec_session *session) { delete session; }

anec_numerics anec_session_numerics(const anec_session *session) {
  return session ? numericsOf(session->session->numerics())
                 : ANEC_NUMERICS_FP16;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

size_t anec_session_entry_count(const anec_session *session) {
  return session ? session->session->entries().size() : 0;
}

anec_status anec_session_entry(const anec_session *session, size_t index,
                               anec_entry *out) {
  if (index >= anec_session_entry_count(session) || !canGive(out))
    return ANEC_USAGE_ERROR;
  const std::string &name = session->session->entries()[index];
  const PackagedEntry *entry = session->session->findEntry(name);
  give({sizeof(anec_entry), name.c_str(),
        entry ? spelling(entry->role).data() : "",
        session->session->trains(name)},
       out);
  return ANEC_OK;
}

namespace {
/// Inputs or outputs.
struct PortSide {
  std::optional<llvm::ArrayRef<Port>> (ProgramSession::*ports)(llvm::StringRef,
                                                               Diagnostics &);
  std::vector<PackagedValue> PackagedEntry::*values;
  RolePlace place;
};
constexpr PortSide inputSide = {&ProgramSession::inputs, &PackagedEntry::inputs,
                                RolePlace::Parameter};
constexpr PortSide outputSide = {&ProgramSession::outputs,
                                 &PackagedEntry::outputs, RolePlace::Result};
} // namespace

/// The role of the port at `index`.
static ValueRole roleOf(const ProgramSession &session, llvm::StringRef entry,
                        const PortSide &side, size_t index) {
  const PackagedEntry *found =
      session.findEntry(entry.empty() ? session.defaultEntry() : entry);
  return found ? (found->*side.values)[index].role : defaultRole(side.place);
}

static anec_status countPorts(anec_session *session, const PortSide &side,
                              const char *entry, size_t *out,
                              anec_diagnostics *diags) {
  if (!session || !out)
    return Call(diags).refuseNull(session ? "out" : "session");
  Call call(diags, session->diags.get());
  auto ports =
      (*session->session.*side.ports)(orEmpty(entry), call.diagnostics());
  if (ports)
    *out = ports->size();
  return call.end(ports.has_value());
}

static anec_status givePort(anec_session *session, const PortSide &side,
                            const char *entry, size_t index, anec_port *out,
                            anec_diagnostics *diags) {
  if (!session)
    return Call(diags).refuseNull("session");
  Call call(diags, session->diags.get());
  if (!canGive(out))
    return call.refuse("out", badSize);
  auto ports =
      (*session->session.*side.ports)(orEmpty(entry), call.diagnostics());
  if (!ports)
    return call.end(false);
  if (index >= ports->size())
    return call.refuse("index", "there are not so many");
  const Port &port = (*ports)[index];
  give(
      {sizeof(anec_port), port.name.c_str(), dtypeOf(port.type.dtype),
       port.type.shape.size(), port.type.shape.data(),
       size_t(port.type.numBytes()),
       spelling(roleOf(*session->session, orEmpty(entry), side, index)).data()},
      out);
  return call.end(true);
}

anec_status anec_session_input_count(anec_session *session, const char *entry,
                                     size_t *out, anec_diagnostics *diags) try {
  return countPorts(session, inputSide, entry, out, diags);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

anec_status anec_session_output_count(anec_session *session, const char *entry,
                                      size_t *out,
                                      anec_diagnostics *diags) try {
  return countPorts(session, outputSide, entry, out, diags);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

anec_status anec_session_input(anec_session *session, const char *entry,
                               size_t index, anec_port *out,
                               anec_diagnostics *diags) try {
  return givePort(session, inputSide, entry, index, out, diags);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

anec_status anec_session_output(anec_session *session, const char *entry,
                                size_t index, anec_port *out,
                                anec_diagnostics *diags) try {
  return givePort(session, outputSide, entry, index, out, diags);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

anec_status anec_session_run(anec_session *session, const char *entry,
                             const anec_input *inputs, size_t input_count,
                             const anec_output *outputs, size_t output_count,
                             anec_diagnostics *diags) try {
  if (!session)
    return Call(diags).refuseNull("session");
  Call call(diags, session->diags.get());
  anec_status status = ANEC_OK;
  auto in = readInputs(inputs, input_count, call, status);
  if (!in)
    return status;
  auto out = readOutputs(outputs, output_count, call, status);
  if (!out)
    return status;
  session->isInterrupted = false;
  Interruption scope(session->isInterrupted);
  return call.end(
      session->session->run(orEmpty(entry), *in, *out, call.diagnostics()));
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

void anec_session_interrupt(anec_session *session) {
  if (session)
    session->isInterrupted = true;
}

anec_status anec_session_set_state(anec_session *session,
                                   const anec_input *state,
                                   anec_diagnostics *diags) try {
  if (!session)
    return Call(diags).refuseNull("session");
  Call call(diags, session->diags.get());
  anec_status status = ANEC_OK;
  auto array = readInputs(state, 1, call, status);
  if (!array)
    return status;
  return call.end(
      session->session->setState(array->front(), call.diagnostics()));
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

anec_status anec_session_get_state(anec_session *session,
                                   const anec_output *state,
                                   anec_diagnostics *diags) try {
  if (!session)
    return Call(diags).refuseNull("session");
  Call call(diags, session->diags.get());
  anec_status status = ANEC_OK;
  auto array = readOutputs(state, 1, call, status);
  if (!array)
    return status;
  return call.end(
      session->session->getState(array->front(), call.diagnostics()));
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

//===----------------------------------------------------------------------===//
// Weights and gradients
//===----------------------------------------------------------------------===//

static anec_status giveFloats(llvm::ArrayRef<NamedFloats> arrays, size_t index,
                              anec_floats *out) {
  if (index >= arrays.size() || !canGive(out))
    return ANEC_USAGE_ERROR;
  const NamedFloats &array = arrays[index];
  give({sizeof(anec_floats), array.name.c_str(), array.type.shape.size(),
        array.type.shape.data(), array.elements.data(), array.elements.size()},
       out);
  return ANEC_OK;
}

static llvm::ArrayRef<NamedFloats> weightsOf(const anec_session *session) {
  return session ? session->session->weights() : llvm::ArrayRef<NamedFloats>();
}

static llvm::ArrayRef<NamedFloats> gradientsOf(const anec_session *session) {
  return session ? session->session->gradients()
                 : llvm::ArrayRef<NamedFloats>();
}

size_t anec_session_weight_count(const anec_session *session) {
  return weightsOf(session).size();
}

anec_status anec_session_weight(const anec_session *session, size_t index,
                                anec_floats *out) {
  return giveFloats(weightsOf(session), index, out);
}

size_t anec_session_gradient_count(const anec_session *session) {
  return gradientsOf(session).size();
}

anec_status anec_session_gradient(const anec_session *session, size_t index,
                                  anec_floats *out) {
  return giveFloats(gradientsOf(session), index, out);
}

anec_status anec_session_weights_changed(anec_session *session,
                                         anec_diagnostics *diags) try {
  if (!session)
    return Call(diags).refuseNull("session");
  Call call(diags, session->diags.get());
  return call.end(session->session->weightsChanged(call.diagnostics()));
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

anec_status anec_session_take_adapter(anec_session *session, const char *path,
                                      anec_diagnostics *diags) try {
  if (!session)
    return Call(diags).refuseNull("session");
  Call call(diags, session->diags.get());
  return call.end(
      session->session->takeAdapter(orEmpty(path), call.diagnostics()));
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

anec_status anec_session_save_weights(anec_session *session, const char *path,
                                      anec_diagnostics *diags) try {
  if (!session)
    return Call(diags).refuseNull("session");
  Call call(diags, session->diags.get());
  if (!path)
    return call.refuseNull("path");
  return call.end(session->session->saveWeights(path, call.diagnostics()));
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}
