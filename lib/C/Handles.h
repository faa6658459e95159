//===- Handles.h - what the handles of the C API are ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A handle owns the Diagnostics with the texts that its objects' source ranges
/// point into. Each call reports to its own Diagnostics and copies the reports
/// to the caller's list, which owns all its data.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_C_HANDLES_H
#define ANEC_LIB_C_HANDLES_H

#include "anec-c.h"
#include "anec/API/Compile.h"
#include "anec/API/Inspect.h"
#include "anec/API/ProgramSession.h"
#include "anec/API/Trainer.h"
#include "anec/CoreML/WantedDescription.h"
#include "anec/Report/ErrorDescription.h"
#include "anec/Report/RuleDescription.h"
#include "anec/Target/ErrorLog.h"
#include "anec/Train/TokenData.h"
#include "anec/Train/Trainer.h"
#include "lib/MIL/Compare.h"
#include "lib/Runtime/Comparison.h"
#include <atomic>
#include <cstring>

struct anec_diagnostics {
  struct Record {
    anec_severity severity;
    std::string id, message, file;
    std::optional<anec::SourcePlace> place; ///< its file is in `file`
  };
  std::vector<Record> records;
  std::string text;
};

struct anec_program {
  std::unique_ptr<anec::Diagnostics> diags;
  /// Exactly one has a value.
  std::optional<anec::CompiledProgram> kernel;
  std::optional<anec::ModelPackage> model;
  std::string mil;    ///< printed on demand
  std::string folder; ///< of the model, when it was asked for
};

struct anec_findings {
  struct Record {
    const anec::Rule *rule;
    std::string message, file;
    std::optional<anec::SourcePlace> place; ///< its file is in `file`
    bool isError;
  };
  std::vector<Record> records;
};

struct anec_logged_errors {
  struct Record {
    const anec::KnownError *error; ///< null when it is not known
    anec::LoggedLines lines;
    std::string rules;
  };
  std::vector<Record> records;
};

struct anec_differences {
  struct Record {
    const char *kind;
    std::string function, op, part, left, right, text;
    anec::ArrayDifference values;
  };
  std::vector<Record> records;
  std::string text, counts;
};

struct anec_comparisons {
  struct Record {
    anec::OutputComparison output;
    std::string place;
  };
  std::vector<Record> records;
};

struct anec_costs {
  struct Record {
    std::string name, bound;
    anec_cost cost;
  };
  std::vector<Record> records;
};

struct anec_session {
  std::unique_ptr<anec::Diagnostics> diags;
  std::unique_ptr<anec::ProgramSession> session;
  std::atomic<bool> isInterrupted{false}; ///< what runs
};

struct anec_trainer {
  anec_session *session;
  std::unique_ptr<anec::Trainer> trainer;
};

struct anec_windows {
  std::optional<anec::TokenData> data;
  std::optional<anec::Windows> windows;
  anec::DataPosition position;
  size_t length;
};

namespace anec::c {

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// A call of the API: its diagnostics and its status.
class Call {
public:
  /// `sources` locates ranges that the call's own Diagnostics do not know.
  explicit Call(anec_diagnostics *out, const Diagnostics *sources = nullptr)
      : out(out), sources(sources) {}

  Diagnostics &diagnostics() { return *diags; }
  /// Ends the call: copies the diagnostics and returns the status.
  anec_status end(bool ok);
  /// Ends the call because argument `name` is invalid.
  anec_status refuse(llvm::StringRef name, llvm::StringRef reason);
  anec_status refuseNull(llvm::StringRef name) {
    return refuse(name, "it is null");
  }
  /// The Diagnostics for a handle that the call creates; after `end`.
  std::unique_ptr<Diagnostics> takeDiagnostics() { return std::move(diags); }

private:
  void append(const Diagnostic &diagnostic);

  std::unique_ptr<Diagnostics> diags = std::make_unique<Diagnostics>();
  anec_diagnostics *out;
  const Diagnostics *sources;
};

/// Ends a call that an allocation has interrupted, from a handler of
/// std::bad_alloc: no exception leaves the library.
anec_status outOfMemory(anec_diagnostics *out) noexcept;

//===----------------------------------------------------------------------===//
// Structs
//===----------------------------------------------------------------------===//

/// Copies the caller's struct, with defaults for members that its version
/// lacks. Returns nothing when its size is invalid.
template <typename Struct>
std::optional<Struct> take(const Struct *given, const Struct &defaults) {
  Struct taken = defaults;
  if (!given)
    return taken;
  if (given->struct_size < sizeof(size_t) ||
      given->struct_size > sizeof(Struct))
    return std::nullopt;
  std::memcpy(&taken, given, given->struct_size);
  return taken;
}

/// Whether `out` is a struct that can be filled.
template <typename Struct>
bool canGive(const Struct *out) {
  return out && out->struct_size >= sizeof(size_t) &&
         out->struct_size <= sizeof(Struct);
}

/// Fills the members that `out` has.
template <typename Struct>
void give(Struct value, Struct *out) {
  size_t size = out->struct_size;
  std::memcpy(out, &value, size);
  out->struct_size = size;
}

/// Gives the caller's struct of `size` bytes its defaults.
template <typename Struct>
anec_status init(Struct *options, size_t size, const Struct &defaults = {}) {
  if (!options || size < sizeof(size_t) || size > sizeof(Struct))
    return ANEC_USAGE_ERROR;
  options->struct_size = size;
  give(defaults, options);
  return ANEC_OK;
}

/// The records of a handle.
template <typename Handle>
size_t countOf(const Handle *handle) {
  return handle ? handle->records.size() : 0;
}

/// Fills `out` with what `describe` says of one record of a handle.
template <typename Handle, typename Struct>
anec_status giveRecord(const Handle *handle, size_t index, Struct *out,
                       Struct (*describe)(const typename Handle::Record &)) {
  if (index >= countOf(handle) || !canGive(out))
    return ANEC_USAGE_ERROR;
  give(describe(handle->records[index]), out);
  return ANEC_OK;
}

/// The reason for refusing a struct's size.
inline constexpr llvm::StringLiteral badSize =
    "its `struct_size` is not that of a struct that this library knows";

inline llvm::StringRef orEmpty(const char *text) { return text ? text : ""; }

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Reports that the argument `name` is invalid, and returns false.
[[nodiscard]] bool refuse(llvm::StringRef name, llvm::StringRef reason,
                          Diagnostics &diags);
/// Of shapes in words, `NAME=1x3x64`. Returns false, with the reason reported,
/// when one is invalid.
[[nodiscard]] bool readShapes(const char *const *shapes, size_t count,
                              ReadOptions &options, Diagnostics &diags);
/// The same for all options.
[[nodiscard]] bool readOptions(const anec_compile_options &given,
                               CompileOptions &options, Diagnostics &diags);
/// Overrides of `config` entries.
[[nodiscard]] bool readDefines(const char *const *defines, size_t count,
                               CompileOptions &options, Diagnostics &diags);
/// What becomes of the weights.
[[nodiscard]] bool readQuantization(const anec_compile_options &given,
                                    CompileOptions &options,
                                    Diagnostics &diags);
/// Runs the source at `path` on the examples of `given`, if it is quantized by
/// any. Returns false, with the reason reported, on failure.
[[nodiscard]] bool calibrate(llvm::StringRef path,
                             const anec_compile_options &given,
                             CompileOptions &options, Diagnostics &diags);
/// The options for Core ML of `given`, but what it says of itself. Returns the
/// error in them; empty when they are valid.
std::string readCoreML(const anec_coreml_options &given,
                       CoreMLOptions &options);
/// The rest. Returns false, with the reason reported, on failure.
[[nodiscard]] bool readWanted(const anec_coreml_options &given,
                              CoreMLOptions &options, Diagnostics &diags);
/// The backends that sessions can use.
Backends makeBackends();
std::optional<Numerics> numericsOf(anec_numerics numerics);
anec_numerics numericsOf(Numerics numerics);
anec_dtype dtypeOf(DType dtype);
std::optional<DType> dtypeOf(anec_dtype dtype);

/// Reads the options of a session. Returns nothing, with the call ended and its
/// status in `status`, when they are invalid. `backends` must outlive the
/// result.
std::optional<ProgramSessionOptions>
readSessionOptions(const anec_session_options *options,
                   const Backends &backends, Call &call, anec_status &status);

/// Reads the arrays of `inputs`. Returns nothing, with the call refused and its
/// status in `status`, when one is invalid.
std::optional<std::vector<InputArray>> readInputs(const anec_input *inputs,
                                                  size_t count, Call &call,
                                                  anec_status &status);
std::optional<std::vector<OutputArray>> readOutputs(const anec_output *outputs,
                                                    size_t count, Call &call,
                                                    anec_status &status);
/// The paths of a struct. Returns nothing, with the call refused and its status
/// in `status`, when there are some at a null pointer.
std::optional<std::vector<std::string>> readPaths(const char *const *paths,
                                                  size_t count, Call &call,
                                                  anec_status &status);
/// The tokens of `paths` by the tokenizer of a handle, or null for bytes, as
/// TokenData::open gives them. Text.cpp defines it, or NoLanguageModels.cpp.
[[nodiscard]] std::optional<TokenData>
openTokens(const std::vector<std::string> &paths,
           const anec_tokenizer *tokenizer, int64_t vocabulary,
           Diagnostics &diags);

} // namespace anec::c

#endif // ANEC_LIB_C_HANDLES_H
