//===- PassManager.cpp - runs and checks passes ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Passes/PassManager.h"
#include "Kernels/OpenedModule.h"
#include "VerifyNumerics.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/Verifier.h"
#include "lib/Passes/Diags.h"
#include "lib/Support/Suggestion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <chrono>

using namespace anec;

static constexpr const PassDef *table[] = {
#define PASS(NAME) &passes::NAME,
#include "anec/Passes/Passes.def"
#undef PASS
};

llvm::ArrayRef<const PassDef *> anec::allPasses() { return table; }

const PassDef *anec::findPass(llvm::StringRef name) {
  auto *it = llvm::find_if(
      table, [&](const PassDef *pass) { return pass->name == name; });
  return it == std::end(table) ? nullptr : *it;
}

void anec::reportUnknownPass(llvm::StringRef name,
                             llvm::ArrayRef<llvm::StringRef> others,
                             Diagnostics &diags) {
  Suggestion suggestion(name);
  for (const PassDef *pass : table)
    suggestion.consider(pass->name);
  for (llvm::StringRef other : others)
    suggestion.consider(other);
  suggestion.note(diags.report({}, diag::UnknownPass, name), {});
}

/// Appends the pass `name`. Reports a name that is neither a pass nor one of
/// `others`.
static bool appendPass(llvm::StringRef name,
                       llvm::ArrayRef<llvm::StringRef> others,
                       std::vector<const PassDef *> &passes,
                       Diagnostics &diags) {
  if (const PassDef *pass = findPass(name))
    passes.push_back(pass);
  else
    reportUnknownPass(name, others, diags);
  return findPass(name);
}

bool anec::parsePipeline(llvm::StringRef text,
                         std::vector<const PassDef *> &passes,
                         Diagnostics &diags) {
  llvm::SmallVector<llvm::StringRef> names;
  text.split(names, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  bool ok = true;
  for (llvm::StringRef name : names)
    ok &= appendPass(name.trim(), {}, passes, diags);
  return ok;
}

bool anec::parsePipeline(llvm::StringRef text,
                         const ModelPipelineOptions &model,
                         std::vector<const PassDef *> &passes,
                         Diagnostics &diags) {
  llvm::SmallVector<llvm::StringRef> names;
  text.split(names, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  bool ok = true;
  for (llvm::StringRef name : names) {
    if (name.trim() == "default")
      llvm::append_range(passes, defaultPipeline());
    else if (name.trim() == "model")
      llvm::append_range(passes, modelPipeline(model));
    else
      ok &= appendPass(name.trim(), {"default", "model"}, passes, diags);
  }
  return ok;
}

PassContext::PassContext(const PassDef &pass, const PassManagerOptions &options,
                         Diagnostics &diags)
    : pass(pass), target(*options.target), targetChosen(options.targetChosen),
      assumptions(options.assumptions), decode(options.decode),
      takesMixedTypes(options.takesMixedTypes),
      examples(options.examples.get()), diags(diags), remarks(options.remarks) {
}

bool PassContext::isRewrittenFor(const Rule &rule) const {
  bool isWanted = rule.rewriteWhen == RewriteWhen::Chosen
                      ? targetChosen
                      : rule.confidence != Confidence::Low;
  return assumptions.demands(rule, target) &&
         (isWanted || assumptions.denies(rule));
}

void PassContext::count(llvm::StringRef stat, uint64_t amount) {
  for (unsigned index = 0; index < maxStats; ++index)
    if (pass.stats[index].name == stat) {
      counts[index] += amount;
      return;
    }
  assert(false && "the pass's row has no such counter");
}

/// Calls `run` and adds its effect to the report. Returns whether it changed
/// anything, or nothing after an error.
static std::optional<bool> apply(const PassDef &pass,
                                 const PassManagerOptions &options,
                                 Diagnostics &diags, PassReport &report,
                                 llvm::function_ref<bool(PassContext &)> run) {
  PassContext ctx(pass, options, diags);
  size_t errors = diags.errorCount();
  auto start = std::chrono::steady_clock::now();
  bool changed = run(ctx);
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  report.seconds += elapsed.count();
  report.runs += 1;
  report.changes += changed;
  for (unsigned stat = 0; stat < maxStats; ++stat)
    report.counts[stat] += ctx.total(stat);
  if (diags.errorCount() != errors)
    return std::nullopt;
  return changed;
}

/// Runs one pass on one function with all requested checks.
static bool runPass(const PassDef &pass, Function &function,
                    const PassManagerOptions &options, Diagnostics &diags,
                    PassReport &report) {
  std::optional<NumericsProbe> probe;
  if (options.verifyNumerics) {
    probe.emplace(function);
    if (!probe->evaluateBefore(function, diags))
      return false;
  }
  std::optional<bool> changed =
      apply(pass, options, diags, report,
            [&](PassContext &ctx) { return pass.run(function, ctx); });
  if (!changed)
    return false;
  if (options.verifyEach && *changed && !verify(function, diags)) {
    diags.report(function.range, diag::PassBrokeIR, pass.name, function.name);
    return false;
  }
  if (probe && *changed && !probe->compareAfter(function, pass, diags))
    return false;
  if (options.afterPass)
    options.afterPass(pass, function);
  return true;
}

namespace {
/// The form of a module between its passes.
struct ModuleForm {
  explicit ModuleForm(Module &module) : module(module) {}

  Module &module;
  std::optional<OpenedModule> opened; ///< while its kernels are open
  /// A pass has changed it since it was last closed.
  bool changed = false;
};
} // namespace

/// Runs a pass on the module, in the form that its row says. With `staysOpen`,
/// the next pass gets it as this one leaves it.
static bool runInForm(const PassDef &pass, ModuleForm &form, bool staysOpen,
                      PassContext &ctx) {
  if (pass.runOnModule)
    return pass.runOnModule(form.module, ctx);
  if (!form.opened)
    form.opened.emplace(form.module);
  bool changed = pass.runOnOpened(*form.opened, ctx);
  if (staysOpen) {
    form.opened->settle(changed);
  } else {
    form.opened->close();
    form.opened.reset();
  }
  return changed;
}

/// The same for a pass on the whole module. While kernels are open, the checks
/// are of the host functions that have their ops.
static bool runModulePass(const PassDef &pass, ModuleForm &form, bool staysOpen,
                          const PassManagerOptions &options, Diagnostics &diags,
                          PassReport &report) {
  Module &module = form.module;
  std::optional<ModuleProbe> probe;
  if (options.verifyNumerics && !pass.changesInterface) {
    probe.emplace(module);
    if (!probe->evaluateBefore(module, diags))
      return false;
  }
  std::optional<bool> changed =
      apply(pass, options, diags, report, [&](PassContext &ctx) {
        return runInForm(pass, form, staysOpen, ctx);
      });
  if (!changed)
    return false;
  form.changed |= *changed;
  bool checks = options.verifyEach && form.changed;
  if (checks &&
      !(form.opened ? form.opened->verify(diags) : verify(module, diags))) {
    diags.report({}, diag::PassBrokeModule, pass.name);
    return false;
  }
  if (probe && form.changed && !probe->compareAfter(module, pass, diags))
    return false;
  form.changed &= staysOpen;
  if (options.afterPass)
    for (const auto &function : module.functions)
      options.afterPass(pass, *function);
  return true;
}

/// Checks what `pass` needs of `module`.
static bool checkNeeds(const PassDef &pass, const Module &module,
                       Diagnostics &diags) {
  bool ok = true;
  if (pass.needs == Need::Bodies)
    for (const auto &function : module.functions)
      if (function->isDeclaration()) {
        diags.report(function->range, diag::NeedsBodies, pass.name,
                     function->name);
        ok = false;
      }
  if (pass.needs != Need::NotCalled)
    return ok;
  for (const auto &host : module.functions)
    for (const Op &op : host->body()) {
      const Function *callee = op.def().has(trait::Call)
                                   ? module.findFunction(op.get(param::callee))
                                   : nullptr;
      if (!callee || callee->isDeclaration())
        continue;
      diags.report(callee->range, diag::NeedsNotCalled, pass.name, callee->name,
                   host->name);
      return false;
    }
  return true;
}

namespace {
/// Runs the passes of a pipeline one by one, up to the limit.
class PipelineRun {
public:
  PipelineRun(Module &module, const PassManagerOptions &options,
              Diagnostics &diags)
      : form(module), options(options), diags(diags) {}

  /// Runs pass `place` of the pipeline on everything it applies to.
  [[nodiscard]] bool run(size_t place, PassReport &report);

private:
  bool isAtLimit() const { return options.limit && executed == *options.limit; }
  /// Whether the pass after `place` can have the module with its kernels open:
  /// nobody looks at them in between.
  bool staysOpenAfter(size_t place) const {
    return !isAtLimit() && !options.afterPass &&
           place + 1 < options.passes.size() &&
           options.passes[place + 1]->runOnOpened;
  }

  ModuleForm form;
  const PassManagerOptions &options;
  Diagnostics &diags;
  unsigned executed = 0;
};
} // namespace

bool PipelineRun::run(size_t place, PassReport &report) {
  const PassDef &pass = *options.passes[place];
  assert(!!pass.run + !!pass.runOnModule + !!pass.runOnOpened == 1 &&
         "a pass has one way to run");
  if (!checkNeeds(pass, form.module, diags))
    return false;
  if (!pass.run) {
    if (isAtLimit())
      return true;
    ++executed;
    return runModulePass(pass, form, staysOpenAfter(place), options, diags,
                         report);
  }
  for (const auto &function : form.module.functions) {
    if (function->kind == FunctionKind::Host || function->isDeclaration())
      continue;
    if (isAtLimit())
      return true;
    ++executed;
    if (!runPass(pass, *function, options, diags, report))
      return false;
  }
  return true;
}

bool anec::runPasses(Module &module, const PassManagerOptions &options,
                     Diagnostics &diags, std::vector<PassReport> *reports) {
  PipelineRun run(module, options, diags);
  for (size_t place = 0; place < options.passes.size(); ++place) {
    PassReport report{options.passes[place]};
    bool ok = run.run(place, report);
    if (reports)
      reports->push_back(report);
    if (!ok)
      return false;
  }
  return true;
}
