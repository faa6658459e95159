//===- BackendFlags.cpp - flags of backends and runs ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "BackendFlags.h"
#include "lib/Support/OrList.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>

using namespace anec;
namespace cl = llvm::cl;

std::string anec::ownExecutable() {
  return llvm::sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&ownExecutable));
}

//===----------------------------------------------------------------------===//
// Flags of options
//===----------------------------------------------------------------------===//

/// The flag of an option.
struct MachineFlags::Flag {
  Flag(const BackendRow &row, const BackendOption &option)
      : row(row), option(option),
        help("With the " + row.name + " backend, " + option.help.str()) {
    switch (option.kind) {
    case BackendOption::Switch:
      make<cl::opt<bool>>([](bool isSet) { return isSet ? "true" : "false"; });
      break;
    case BackendOption::Count:
    case BackendOption::Index:
      make<WholeFlag<unsigned>>(
          [](unsigned count) { return std::to_string(count); });
      break;
    case BackendOption::Seconds:
      make<NumberFlag>([](double seconds) { return std::to_string(seconds); });
      break;
    case BackendOption::Choice: {
      help += ":";
      auto &choice = make<ChoiceFlag<Place>>([&option](Place place) {
        return option.choices[unsigned(place)].name.str();
      });
      for (auto [place, value] : llvm::enumerate(option.choices))
        choice.getParser().addLiteralOption(value.name, Place(place),
                                            value.help);
      break;
    }
    case BackendOption::Path:
      make<cl::opt<std::string>>([](const std::string &path) { return path; });
      break;
    }
  }

  bool isGiven() const {
    return flag->getNumOccurrences() > 0 &&
           (option.kind != BackendOption::Switch || text() == "true");
  }
  /// The text of the value for the backend.
  std::string valueText() const {
    return flag->getNumOccurrences() > 0 ? text() : option.initial.str();
  }

  const BackendRow &row;
  const BackendOption &option;

private:
  template <typename Flag, typename Text>
  Flag &make(Text textOf) {
    auto made =
        std::make_unique<Flag>(llvm::StringRef(option.name),
                               cl::value_desc(option.value), cl::desc(help));
    Flag &result = *made;
    text = [&result, textOf] { return std::string(textOf(result.getValue())); };
    flag = std::move(made);
    return result;
  }

  std::string help;
  std::unique_ptr<cl::Option> flag;
  std::function<std::string()> text;
};

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// The default backend that the environment sets.
static llvm::StringRef backendOfEnvironment() {
  const char *name = std::getenv("ANEC_BACKEND");
  return name ? name : "";
}

/// "`cpu`, `ane` or `other`".
static std::string namesOfBackends() {
  std::vector<std::string> names;
  for (const BackendRow &row : toolBackends().rows())
    names.push_back("`" + row.name + "`");
  return orList(names);
}

static const MachineFlags *current = nullptr;

MachineFlags::MachineFlags(llvm::ArrayRef<BackendOption::Scope> scopes)
    : backendHelp("The backend to run programs on (default: ANEC_BACKEND if "
                  "set, else " +
                  toolBackends().defaultFor(thisPlatform()).name +
                  "; a flag that only one backend has selects that backend):"),
      backend(std::make_unique<ChoiceFlag<Place>>("backend",
                                                  cl::desc(backendHelp))) {
  current = this;
  for (const BackendRow &row : toolBackends().rows()) {
    backendNames += (backendNames.empty() ? "" : "|") + row.name;
    backend->getParser().addLiteralOption(
        row.name, Place(backend->getParser().getNumOptions()), row.summary);
    for (const BackendOption &option : row.options)
      if (option.environment.empty() &&
          llvm::is_contained(scopes, option.scope))
        flags.push_back(std::make_unique<Flag>(row, option));
  }
  backend->setValueStr(backendNames);
}

MachineFlags::~MachineFlags() { current = nullptr; }

const MachineFlags *MachineFlags::ofCommand() { return current; }

void MachineFlags::require(llvm::StringRef what, Need need) {
  required.emplace_back(what.str(), std::move(need));
}

std::vector<std::pair<std::string, MachineFlags::Need>>
MachineFlags::needs() const {
  std::vector<std::pair<std::string, Need>> all = required;
  for (const auto &flag : flags)
    if (flag->isGiven())
      all.emplace_back("--" + flag->option.name.str(),
                       [&option = flag->option](const BackendRow &row) {
                         return row.findOption(option.name) != nullptr;
                       });
  return all;
}

const BackendRow &MachineFlags::chosen() const {
  const Backends &backends = toolBackends();
  if (backend->getNumOccurrences())
    return backends.rows()[unsigned(backend->getValue())];
  const BackendRow *named = backends.find(backendOfEnvironment());
  std::vector<Need> wanted;
  for (auto &[what, need] : needs())
    wanted.push_back(need);
  return backends.choose(named ? *named : backends.defaultFor(thisPlatform()),
                         wanted);
}

std::string MachineFlags::check() const {
  const Backends &backends = toolBackends();
  llvm::StringRef named = backendOfEnvironment();
  if (!named.empty() && !backends.find(named))
    return "ANEC_BACKEND is " + namesOfBackends() + ", not `" + named.str() +
           "`";
  const BackendRow &row = chosen();
  for (const auto &[what, need] : needs()) {
    if (need(row))
      continue;
    std::vector<std::string> owners;
    for (const BackendRow &each : backends.rows())
      if (need(each))
        owners.push_back(each.name);
    return what + " requires --backend=" + llvm::join(owners, " or ");
  }
  for (const auto &flag : flags)
    if (std::string wrong = flag->option.check(flag->valueText());
        !wrong.empty())
      return "--" + wrong;
  return "";
}

BackendChoice MachineFlags::choice() const {
  BackendChoice choice{&chosen(), {}};
  for (const auto &flag : flags)
    if (flag->isGiven())
      choice.settings.values[flag->option.name.str()] = flag->valueText();
  for (const BackendOption &option : choice.row->options)
    if (!option.environment.empty())
      if (const char *value = std::getenv(option.environment.data()))
        choice.settings.values[option.name.str()] = value;
  if (choice.row->help)
    choice.settings.helperCommand = {ownExecutable(), "compile-staged",
                                     "--backend=" + choice.row->name};
  return choice;
}

std::vector<std::string> MachineFlags::words() const {
  const BackendRow &row = chosen();
  std::vector<std::string> words = {"--backend=" + row.name};
  for (const auto &flag : flags)
    if (&flag->row == &row && flag->option.scope != BackendOption::Process)
      words.push_back("--" + flag->option.name.str() + "=" + flag->valueText());
  return words;
}

//===----------------------------------------------------------------------===//
// How programs run
//===----------------------------------------------------------------------===//

static constexpr BackendOption::Scope allScopes[] = {
    BackendOption::Machine, BackendOption::Program, BackendOption::Process};

BackendFlags::BackendFlags()
    : MachineFlags(allScopes),
      numerics(
          "numerics", cl::value_desc("fp16|fp32|m1|m2|m3|m4"),
          cl::desc("Arithmetic of the CPU backend:"), cl::init(Numerics::FP16),
          cl::values(
              choiceOf(Numerics::FP16,
                       "round to the declared type after each op (default)"),
              choiceOf(Numerics::FP32,
                       "do not round; fp16 outputs become fp32"),
              choiceOf(Numerics::M1,
                       "emulate the published arithmetic of the M1 engine"),
              choiceOf(Numerics::M2, "the same for the M2"),
              choiceOf(Numerics::M3, "the same for the M3 Ultra"),
              choiceOf(Numerics::M4, "the same for the M4"))),
      threads("threads", cl::value_desc("N"), cl::init(0),
              cl::desc("Threads (default: one per processor)")) {}

std::vector<std::pair<std::string, MachineFlags::Need>>
BackendFlags::needs() const {
  auto all = MachineFlags::needs();
  if (numerics.getNumOccurrences())
    all.emplace_back("--numerics", [](const BackendRow &row) {
      return row.capabilities.hasNumerics;
    });
  return all;
}

std::vector<std::string> BackendFlags::words() const {
  std::vector<std::string> words = MachineFlags::words();
  if (threads.getNumOccurrences())
    words.push_back("--threads=" + std::to_string(threads));
  return words;
}

const std::shared_ptr<Workspace> &BackendFlags::workspace() const {
  if (!shared)
    shared = std::make_shared<Workspace>(threads);
  return shared;
}

LoadOptions BackendFlags::load() const { return {numerics, workspace()}; }

BackendChoice BackendFlags::choice() const {
  BackendChoice choice = MachineFlags::choice();
  choice.settings.executor = executor();
  return choice;
}
