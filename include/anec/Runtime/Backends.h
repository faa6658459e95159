//===- Backends.h - the backends of a program -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A table of backends, which a program builds: the rows of this library, and
/// its own. A row describes a backend before it is opened, including its
/// options.
///
///   anec::Backends backends = anec::Backends::builtin();
///   backends.add(anec::aneBackend()); // with the library anec-ane
///   auto backend = backends.open("ane", {.values = {{"path", "client"}}},
///                                diags);
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_BACKENDS_H
#define ANEC_RUNTIME_BACKENDS_H

#include "anec/Runtime/AskedPlace.h"
#include "anec/Runtime/Backend.h"
#include <deque>
#include <functional>
#include <map>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace anec {

/// An option of one backend: `--NAME=VALUE` on a command line.
struct BackendOption {
  enum Kind : uint8_t {
    Switch,  ///< `true` or `false`
    Count,   ///< at least 1
    Index,   ///< at least 0
    Seconds, ///< not negative
    Choice,  ///< one of `choices`
    Path,    ///< of a file
  };
  /// The subject of an option.
  enum Scope : uint8_t {
    Machine, ///< how programs reach the machine
    Program, ///< how programs are made
    Process, ///< only the process that opens the backend, not its children
    Inspect, ///< what BackendRow::inspect reports
  };
  struct Value {
    llvm::StringLiteral name, help;
  };

  llvm::StringLiteral name; ///< `compile-limit`
  Kind kind;
  Scope scope;
  llvm::StringLiteral help;         ///< after "With the NAME backend, "
  llvm::StringLiteral value = "";   ///< its value's placeholder in help: `N`
  llvm::StringLiteral initial = ""; ///< without it
  llvm::ArrayRef<Value> choices = {};
  /// The environment variable used instead of a flag; empty for none.
  llvm::StringLiteral environment = "";

  /// The reason why `text` is not a valid value; empty when it is valid.
  std::string check(llvm::StringRef text) const;
};

struct BackendSettings {
  /// Values of options by name; the others have their initial ones.
  std::map<std::string, std::string, std::less<>> values = {};
  /// Its threads are used by the backend outside of kernels; null for the
  /// calling thread.
  std::shared_ptr<Executor> executor = nullptr;
  /// Words that make a process run BackendRow::help with what the backend
  /// appends to them; empty where there is no such process.
  std::vector<std::string> helperCommand = {};
};

/// The machine that programs run on, for comparable reports.
struct MachineNames {
  std::string chip = "not known", system = "not known";
  /// Where programs are staged; empty when nowhere.
  std::string temporaryFolder = {};
};

struct BackendRow {
  std::string name;    ///< `ane`
  std::string summary; ///< `the Neural Engine, on macOS; see docs/use/ane.md`
  BackendCapabilities capabilities;
  llvm::ArrayRef<BackendOption> options;
  /// False when this program was built without it: opening it reports that.
  bool isBuilt = true;
  /// Returns null, with the reason reported, when the machine does not have it.
  std::function<std::unique_ptr<Backend>(const BackendSettings &,
                                         Diagnostics &)>
      open;
  std::function<MachineNames(const BackendSettings &)> machine;
  /// Writes the machine's available features, as text or JSON. Returns false,
  /// with the missing parts reported, when programs cannot be run. Null when
  /// there is nothing to report.
  std::function<bool(const BackendSettings &, bool json, llvm::raw_ostream &,
                     Diagnostics &)>
      inspect = nullptr;
  /// Asks where ops would run. Returns nothing, with the reason reported, when
  /// there is no answer. Null for machines that cannot be asked.
  std::function<std::optional<std::vector<AskedPlace>>(
      const PlacementQuestion &, const BackendSettings &, Diagnostics &)>
      place = nullptr;
  /// Whether a process that opens the backend with these settings should do
  /// nothing else, because it can crash. Null for backends that never need one.
  std::function<bool(const BackendSettings &)> needsOwnProcess = nullptr;
  /// The value of `path` to try when that of the settings refuses programs
  /// with this message, for a reason that the other one need not have; empty
  /// for none. Null for backends without paths.
  std::function<std::string(const BackendSettings &, llvm::StringRef message)>
      otherPath = nullptr;
  /// Runs in a process of BackendSettings::helperCommand, with the word that
  /// the backend appended; null for backends that start none.
  std::function<bool(llvm::StringRef word, const BackendSettings &,
                     Diagnostics &)>
      help = nullptr;

  const BackendOption *findOption(llvm::StringRef name) const;
  /// The value of an option in `settings`; empty for an unknown option.
  llvm::StringRef valueOf(llvm::StringRef option,
                          const BackendSettings &settings) const;
  /// Whether all values are valid for options of this backend; reports those
  /// that are not.
  [[nodiscard]] bool check(const BackendSettings &settings,
                           Diagnostics &diags) const;
};

/// Properties of the platform that a program is built for.
struct Platform {
  bool isMac = false;
  bool isAppleSilicon = false;

  bool hasEngine() const { return isMac && isAppleSilicon; }
};
constexpr Platform thisPlatform() {
  Platform platform;
#ifdef __APPLE__
  platform.isMac = true;
#endif
#if defined(__APPLE__) && defined(__arm64__)
  platform.isAppleSilicon = true;
#endif
  return platform;
}

class Backends {
public:
  /// The backends of this library: `cpu`, and `ane` and `coreml`, marked as not
  /// built until `aneBackend()` and `coreMLBackend()` are added, which replace
  /// them.
  static Backends builtin();

  /// Replaces the row of that name, if there is one.
  void add(BackendRow row);
  const std::deque<BackendRow> &rows() const { return table; }
  const BackendRow *find(llvm::StringRef name) const;

  /// The default backend: the first backend that is built for the engine where
  /// the platform has one, and the first that computes on the processor
  /// elsewhere. There is no fallback when it does not work: numbers and times
  /// of another backend are not those requested.
  const BackendRow &defaultFor(const Platform &platform) const;

  /// `preferred` when it meets all of `needs`, else the first row that does;
  /// `preferred` again when none does.
  const BackendRow &
  choose(const BackendRow &preferred,
         llvm::ArrayRef<std::function<bool(const BackendRow &)>> needs) const;

  /// Opens the backend of that name. Returns null, with the reason reported,
  /// when there is none, a setting is wrong, or the machine does not have it.
  [[nodiscard]] std::unique_ptr<Backend> open(llvm::StringRef name,
                                              const BackendSettings &settings,
                                              Diagnostics &diags) const;

private:
  std::deque<BackendRow> table; ///< rows stay where they are
};

} // namespace anec

#endif // ANEC_RUNTIME_BACKENDS_H
