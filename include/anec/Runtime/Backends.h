//===- Backends.h - the backends of a program -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A table of backends, which a program builds: those of this library, and rows
/// of its own. A row has all that others need to know of a backend before it is
/// opened, its options included.
///
///   anec::Backends backends = anec::Backends::builtin();
///   backends.add(anec::aneBackend()); // with the library anec-ane
///   auto backend = backends.open("ane", {.values = {{"path", "client"}}},
///                                diags);
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_RUNTIME_BACKENDS_H
#define ANEC_RUNTIME_BACKENDS_H

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
    Seconds, ///< not negative
    Choice,  ///< one of `choices`
    Path,    ///< of a file
  };
  /// What an option is about.
  enum Scope : uint8_t {
    Machine, ///< how programs reach the machine
    Program, ///< how programs are made
    Process, ///< the process that opens the backend, and none that it starts
  };
  struct Value {
    llvm::StringLiteral name, help;
  };

  llvm::StringLiteral name; ///< `compile-limit`
  Kind kind;
  Scope scope;
  llvm::StringLiteral help;         ///< after "With the NAME backend, "
  llvm::StringLiteral value = "";   ///< what stands for its value in help: `N`
  llvm::StringLiteral initial = ""; ///< without it
  llvm::ArrayRef<Value> choices = {};
  /// The environment variable that has it in place of a flag; empty for none.
  llvm::StringLiteral environment = "";

  /// What is wrong with `text` as its value; empty when nothing is.
  std::string check(llvm::StringRef text) const;
};

struct BackendSettings {
  /// Values of options by name; the others have their initial ones.
  std::map<std::string, std::string, std::less<>> values = {};
  /// Whose threads the backend uses outside of kernels; null for the thread
  /// that calls it.
  std::shared_ptr<Executor> executor = nullptr;
  /// Words that make a process run BackendRow::help with what the backend
  /// appends to them; empty where there is no such process.
  std::vector<std::string> helperCommand = {};
};

/// What programs run on, for reports that people compare.
struct MachineNames {
  std::string chip = "not known", system = "not known";
  /// Where programs are staged; empty when nowhere.
  std::string temporaryFolder = {};
};

struct BackendRow {
  std::string name;    ///< `ane`
  std::string summary; ///< `the Neural Engine, on macOS; see docs/ane.md`
  BackendCapabilities capabilities;
  llvm::ArrayRef<BackendOption> options;
  /// False where this program was built without it: opening it says so.
  bool isBuilt = true;
  /// Null, with the reason reported, when the machine does not have it.
  std::function<std::unique_ptr<Backend>(const BackendSettings &,
                                         Diagnostics &)>
      open;
  std::function<MachineNames(const BackendSettings &)> machine;
  /// Writes what of the machine is there, as text or JSON; false, with what is
  /// missing reported, when programs cannot be run. Null where there is nothing
  /// to tell.
  std::function<bool(const BackendSettings &, bool json, llvm::raw_ostream &,
                     Diagnostics &)>
      inspect = nullptr;
  /// What a process of BackendSettings::helperCommand does with the word that
  /// the backend appended; null for backends that start none.
  std::function<bool(llvm::StringRef word, const BackendSettings &,
                     Diagnostics &)>
      help = nullptr;

  const BackendOption *findOption(llvm::StringRef name) const;
  /// The value that `settings` gives an option; empty for one it has not.
  llvm::StringRef valueOf(llvm::StringRef option,
                          const BackendSettings &settings) const;
  /// Whether all values are of options of this backend and fit them; reports
  /// those that do not.
  [[nodiscard]] bool check(const BackendSettings &settings,
                           Diagnostics &diags) const;
};

/// What is known of a platform when a program is built for it.
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
  /// The backends of this library: `cpu`, and `ane` as one that is not built
  /// until `aneBackend()` is added, which takes its place.
  static Backends builtin();

  /// Takes the place of the row of that name, if there is one.
  void add(BackendRow row);
  const std::deque<BackendRow> &rows() const { return table; }
  const BackendRow *find(llvm::StringRef name) const;

  /// What runs where nothing else is said: the first backend that is built for
  /// the engine where the platform has one, and the first that computes on the
  /// processor elsewhere. It is never changed because it does not work: numbers
  /// and times of another backend are not those that were asked for.
  const BackendRow &defaultFor(const Platform &platform) const;

  /// `preferred` when it meets all of `needs`, else the first row that does;
  /// `preferred` again when none does.
  const BackendRow &
  choose(const BackendRow &preferred,
         llvm::ArrayRef<std::function<bool(const BackendRow &)>> needs) const;

  /// Opens the backend of that name. Null, with the reason reported, when there
  /// is none, a setting is wrong, or the machine does not have it.
  [[nodiscard]] std::unique_ptr<Backend> open(llvm::StringRef name,
                                              const BackendSettings &settings,
                                              Diagnostics &diags) const;

private:
  std::deque<BackendRow> table; ///< rows stay where they are
};

} // namespace anec

#endif // ANEC_RUNTIME_BACKENDS_H
