//===- Docs.cpp - reference pages made from the tables --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Docs.h"
#include "../Diags.h"
#include "anec/Arrays/Diags.h"
#include "anec/Frontend/Diags.h"
#include "anec/IR/Diags.h"
#include "anec/MIL/Diags.h"
#include "anec/Ops/Diags.h"
#include "anec/Ops/Ops.h"
#include "anec/Package/Diags.h"
#include "anec/Passes/Diags.h"
#include "anec/Passes/PassManager.h"
#include "anec/Runtime/Diags.h"
#include "anec/Support/Diagnostics.h"
#include "anec/Target/Diags.h"
#include "anec/Target/Predict.h"
#include "anec/Target/Rule.h"
#include "anec/Train/Diags.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace anec;

static void printGenerated(llvm::StringRef page, llvm::raw_ostream &out) {
  out << "<!-- Made by `anec --dump-docs=" << page << "`; do not edit. -->\n\n";
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static void printParameter(const ParamDef &param, llvm::raw_ostream &out) {
  out << "| `" << param.name << "` | ";
  if (param.isConstant())
    out << (param.rank == 0   ? "constant"
            : param.rank == 1 ? "constant list"
                              : "constant tensor");
  else
    out << (param.kind == ParamKind::Variadic ? "values" : "value");
  out << " | " << param.dtypes.str();
  if (param.typeVar)
    out << " (" << param.typeVar << ')';
  out << " | ";
  if (param.kind == ParamKind::OptionalValue ||
      param.kind == ParamKind::OptionalConstant)
    out << "optional";
  else if (!param.fallback.empty())
    out << '`' << param.fallback << '`';
  else
    out << "required";
  out << " | " << param.doc << " |\n";
}

static llvm::StringRef gradientOf(const OpDef &op) {
  if (op.gradient)
    return "by a rule";
  return op.has(trait::ZeroGradient) ? "zero" : "none";
}

/// Whether a program could want the gradient of the op: it has operands that
/// may be floats.
static bool takesFloats(const OpDef &op) {
  return !op.has(trait::Constexpr) &&
         llvm::any_of(op.parameters(), [](const ParamDef &param) {
           return !param.isConstant() && (param.dtypes.contains(DType::FP16) ||
                                          param.dtypes.contains(DType::FP32));
         });
}

static void printOpPage(const OpDef &op, llvm::raw_ostream &out) {
  out << "### " << op.name << "\n\n" << op.summary << "\n\n";
  if (!op.has(trait::Mil))
    out << (op.decompose
                ? "Not an op of MIL: `decompose` writes it as such.\n\n"
                : "Not an op of MIL.\n\n");
  if (!op.parameters().empty()) {
    out << "| parameter | kind | element types | default | |\n"
           "|---|---|---|---|---|\n";
    for (const ParamDef &param : op.parameters())
      printParameter(param, out);
    out << '\n';
  }
  bool any = false;
  for (auto [index, text] : llvm::enumerate(op.constraints)) {
    if (text.empty())
      continue;
    out << "- (C" << index + 1 << ") " << text << '\n';
    any = true;
  }
  if (any)
    out << '\n';
  if (takesFloats(op))
    out << "Gradient: " << gradientOf(op) << ".\n\n";
}

static void printOps(llvm::raw_ostream &out) {
  printGenerated("ops", out);
  out << "# Ops\n\n"
         "Every op of the table: MIL's, under MIL's names and with MIL's "
         "meaning, and the\nauthoring ops that a program may use and "
         "`decompose` writes as MIL ops.\n"
         "Parameters with the same letter have the same element type.\n";
  llvm::MapVector<llvm::StringRef, std::vector<const OpDef *>> families;
  for (const OpDef *op : opTable().all())
    families[op->family].push_back(op);
  std::vector<llvm::StringRef> names;
  for (const auto &[family, ops] : families)
    names.push_back(family);
  llvm::sort(names);
  for (llvm::StringRef family : names) {
    out << "\n## " << family << "\n";
    for (const OpDef *op : families[family]) {
      out << '\n';
      std::string page;
      llvm::raw_string_ostream stream(page);
      printOpPage(*op, stream);
      out << llvm::StringRef(page).rtrim('\n') << '\n';
    }
  }
  out << "\n## Not differentiable\n\n"
         "Ops without a gradient rule. Where a gradient has to pass one, "
         "`differentiate`\nreports it.\n\n";
  for (const OpDef *op : opTable().all())
    if (takesFloats(*op) && !op->gradient && !op->has(trait::ZeroGradient) &&
        op->family != "host")
      out << "- `" << op->name << "`\n";
  out << "\n## Not supported\n\n"
         "Ops of MIL that have no row. A program that has one is refused with "
         "the reason.\n\n"
         "| op | reason |\n|---|---|\n";
  for (const UnsupportedOp &op : opTable().unsupported())
    out << "| " << op.name << " | " << op.reason << " |\n";
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

/// One limit of all targets: a row, with the sources below it.
template <typename Get>
static void printLimit(llvm::StringRef what, Get get, llvm::raw_ostream &out,
                       std::vector<std::string> &sources) {
  out << "| " << what << " |";
  llvm::MapVector<llvm::StringRef, std::vector<llvm::StringRef>> cited;
  for (const Target &target : allTargets()) {
    const auto &figure = get(target);
    out << ' ' << figure.value << " |";
    cited[figure.source].push_back(target.name);
  }
  out << '\n';
  std::string text = "- " + what.str() + ": ";
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      cited, stream,
      [&](const auto &entry) {
        stream << entry.first << " (" << llvm::join(entry.second, ", ") << ")";
      },
      "; ");
  sources.push_back(text);
}

/// Those that no row of `publishedTimes` is of.
static std::string unpublishedTargets() {
  std::vector<std::string> names;
  for (const Target &target : allTargets())
    if (llvm::none_of(publishedTimes(), [&](const PublishedTime &time) {
          return time.target == target.name;
        }))
      names.push_back("`" + target.name.str() + "`");
  return llvm::join(names, " and ");
}

static void printPublished(llvm::raw_ostream &out) {
  out << "\n## Predicted and published\n\n"
         "`t = dispatch + max(operations / peak, bytes / bandwidth)`, for each "
         "program that\nruns. A row marked *fitted* is one that an anchor was "
         "chosen by; none was by the\nothers. The last column is predicted "
         "over "
         "published. The factor that times are\nwithin was widened until it "
         "held all rows of a target, fitted or not: it says how far\noff "
         "these were, and no more. "
      << unpublishedTargets()
      << " have no row: theirs is a guess.\n\n"
         "| target | what | source | published ms | predicted ms | ratio | "
         "fitted |\n|---|---|---|---|---|---|---|\n";
  for (const PublishedTime &time : publishedTimes()) {
    double predicted = predictMilliseconds(time);
    out << "| " << time.target << " | " << time.what << " | " << time.source
        << llvm::format(" | %.3f | %.3f | %.2f | ", time.milliseconds,
                        predicted, predicted / time.milliseconds)
        << (time.fitted ? "fitted" : "") << " |\n";
  }
}

static void printTargetsPage(llvm::raw_ostream &out) {
  printGenerated("targets", out);
  out << "# Targets\n\n"
         "What is published about each chip's neural engine. Nothing here was "
         "measured by\nthis project. `generic`, the default, is the safe side "
         "of all.\n\nWith `--target=NAME`, `legalize` rewrites what breaks "
         "one of the target's\n[rules](rules.md), makes inputs and outputs "
         "fit (rows padded, fp16, in the order of\ntheir names; "
         "`--remarks` says which), and reports what is still broken as an\n"
         "error. Without it, inputs and outputs stay as they are declared, and "
         "nothing is\nreported.\n\n|  |";
  for (const Target &target : allTargets())
    out << ' ' << target.name << " |";
  out << "\n|---|";
  for (size_t i = 0; i < allTargets().size(); ++i)
    out << "---|";
  out << '\n';
  std::vector<std::string> sources;
#define LIMIT(WHAT, FIELD)                                                     \
  printLimit(                                                                  \
      WHAT, [](const Target &target) -> const auto & { return target.FIELD; }, \
      out, sources)
  LIMIT("on-chip bytes", limits.sramBytes);
  LIMIT("bytes of an input or output", limits.surfaceBytes);
  LIMIT("bytes of weights", limits.weightBytes);
  LIMIT("weight files", limits.weightFiles);
  LIMIT("ops in a program", limits.opsPerProgram);
  LIMIT("rank", limits.rank);
  LIMIT("channels", limits.channels);
  LIMIT("width and height", limits.spatial);
  LIMIT("input channels of `conv`", limits.convInputChannels);
  LIMIT("output channels of `conv`", limits.convOutputChannels);
  LIMIT("kernel width", limits.convKernelWidth);
  LIMIT("kernel height", limits.convKernelHeight);
  LIMIT("contraction of `matmul`", limits.matmulContraction);
  LIMIT("rows and columns of `matmul`", limits.matmulExtent);
  LIMIT("compilations in a process", limits.compilesPerProcess);
  LIMIT("loaded programs", limits.loadedPrograms);
  LIMIT("rows start at multiples of", surface.rowAlignment);
  LIMIT("least bytes of an input or output", surface.minimumBytes);
  LIMIT("MIL version", milVersion);
  LIMIT("numerics", numerics);
  LIMIT("dispatch, us", cost.floorMicroseconds);
  LIMIT("convolutions, TFLOP/s", cost.convTeraflops);
  LIMIT("other ops, TFLOP/s", cost.matmulTeraflops);
  LIMIT("bandwidth, GB/s", cost.gigabytesPerSecond);
#undef LIMIT
  out << "| times are within a factor of |";
  for (const Target &target : allTargets())
    out << ' ' << target.cost.errorFactor << " |";
  out << "\n\n## Sources\n\n";
  for (const std::string &source : sources)
    out << source << '\n';
  printPublished(out);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

static void printRule(const Rule &rule, llvm::raw_ostream &out) {
  out << "\n### " << rule.id << "\n\n"
      << rule.summary << ".\n\n- impact: " << spelling(rule.impact)
      << "\n- chips: " << rule.chips.str() << '\n';
  if (rule.macOS.isKnown())
    out << "- macOS: " << rule.macOS.str() << '\n';
  out << "- source: " << rule.source << "; read in " << rule.date << ", "
      << spelling(rule.confidence) << " confidence\n";
  if (!rule.conflict.empty())
    out << "- but: " << rule.conflict << '\n';
  out << "- instead: " << rule.advice << '\n';
  if (!rule.rewrite.empty())
    out << "- rewrite: `" << rule.rewrite << "`\n";
  if (!rule.danger.empty())
    out << "- probed last: " << rule.danger << '\n';
  if (!rule.unprobed.empty())
    out << "- not probed: " << rule.unprobed << '\n';
}

/// The rules that `ane-run probe` cannot judge.
static void printUnprobed(llvm::raw_ostream &out) {
  out << "\n`ane-run probe` tries the rules on the machine it runs on "
         "([ane.md](ane.md#what-this-machine-takes)),\nexcept:\n\n"
         "| rule | why |\n|---|---|\n";
  for (const Rule *rule : allRules())
    if (!rule->unprobed.empty())
      out << "| " << rule->id << " | " << rule->unprobed << " |\n";
}

static void printRules(llvm::raw_ostream &out) {
  printGenerated("rules", out);
  out << "# Rules\n\n"
         "What a program must not do on some chip. `anec check FILE.mil "
         "--target=NAME` reports\nthem, `anec explain RULE` prints one, and "
         "`--assume=RULE=allow` or `deny` overrules\none. A rule holds for "
         "`generic` when it holds for any chip.\n\n"
         "Nothing here was measured by this project or is documented by the "
         "vendor: a rule is\nas good as its source, and where sources "
         "disagree, both stand here. *error* and\n*silent-corruption* "
         "(wrong results) are errors; *warning* may be refused or be less\n"
         "accurate; *performance* is slow.\n\n"
         "Where a source says which macOS it saw a rule on, the rule holds "
         "from that version\non, or to the last where it is known to be gone; "
         "`--os=15.6` switches off those that\ndo not hold on 15.6.\n\n"
      << allRules().size() << " rules, by family.\n";
  printUnprobed(out);
  llvm::MapVector<llvm::StringRef, std::vector<const Rule *>> families;
  for (const Rule *rule : allRules())
    families[rule->family].push_back(rule);
  std::vector<llvm::StringRef> names;
  for (const auto &[family, rows] : families)
    names.push_back(family);
  llvm::sort(names);
  for (llvm::StringRef family : names) {
    out << "\n## " << family << '\n';
    llvm::sort(families[family], [](const Rule *lhs, const Rule *rhs) {
      return lhs->id < rhs->id;
    });
    for (const Rule *rule : families[family])
      printRule(*rule, out);
  }
}

//===----------------------------------------------------------------------===//
// Passes and diagnostics
//===----------------------------------------------------------------------===//

static void printPasses(llvm::raw_ostream &out) {
  printGenerated("passes", out);
  out << "# Passes\n\nThe default pipeline: ";
  llvm::interleaveComma(defaultPipeline(), out, [&](const PassDef *pass) {
    out << '`' << pass->name << '`';
  });
  out << ".\n\nThe tolerance is how far a result may move, relative and in "
         "double precision,\nbefore `--verify-numerics` reports the pass.\n";
  std::vector<const PassDef *> sorted = allPasses().vec();
  llvm::sort(sorted, [](const PassDef *lhs, const PassDef *rhs) {
    return lhs->name < rhs->name;
  });
  for (const PassDef *pass : sorted) {
    out << "\n## " << pass->name << "\n\n"
        << pass->summary << ".\n\n```\n"
        << pass->description << "\n```\n\nTolerance: " << pass->tolerance
        << '\n';
    for (const StatDef &stat : pass->stats)
      if (!stat.name.empty())
        out << "\n- `" << stat.name << "`: " << stat.summary << '\n';
  }
}

static void printDiagnostics(llvm::raw_ostream &out) {
  printGenerated("diagnostics", out);
  out << "# Diagnostics\n\nThe id stands in brackets after the message; "
         "`{0}`, `{1}`, ... are filled in.\n\n"
         "| id | severity | message |\n|---|---|---|\n";
  std::vector<diag::Kind> kinds = {
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Arrays/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Frontend/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/IR/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/MIL/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Ops/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Package/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Passes/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Runtime/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Target/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Train/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "anec/Support/Diags.def"
#define DIAG(NAME, SEVERITY, ID, TEXT) diag::NAME,
#include "../Diags.def"
  };
  llvm::sort(kinds,
             [](diag::Kind lhs, diag::Kind rhs) { return lhs->id < rhs->id; });
  for (diag::Kind kind : kinds) {
    std::string text;
    for (char c : kind->text)
      text += c == '|' ? std::string("\\|") : std::string(1, c);
    out << "| " << kind->id << " | " << spelling(kind->severity) << " | "
        << text << " |\n";
  }
}

bool anec::printDocs(llvm::StringRef page, llvm::raw_ostream &out) {
  if (page == "ops")
    printOps(out);
  else if (page == "passes")
    printPasses(out);
  else if (page == "targets")
    printTargetsPage(out);
  else if (page == "rules")
    printRules(out);
  else if (page == "diagnostics")
    printDiagnostics(out);
  else
    return false;
  return true;
}
