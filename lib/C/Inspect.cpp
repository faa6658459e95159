//===- Inspect.cpp - rules and costs of the C API -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "anec/Report/RuleDescription.h"
#include "lib/Support/Listing.h"
#include "lib/Target/Diags.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;
using namespace anec::c;

/// Reads the options. Returns nothing, with the call ended and its status in
/// `status`, when they are invalid.
static std::optional<CompileOptions>
takeOptions(const anec_compile_options *options, Call &call,
            anec_status &status) {
  std::optional<anec_compile_options> given = take(options, {});
  if (!given) {
    status = call.refuse("options", badSize);
    return std::nullopt;
  }
  CompileOptions read;
  if (!readOptions(*given, read, call.diagnostics())) {
    status = call.end(false);
    return std::nullopt;
  }
  return read;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// `sources` owns the texts of a compiled program's findings; null when `diags`
/// does.
static anec_findings *recordFindings(llvm::ArrayRef<Finding> findings,
                                     const Assumptions &assumptions,
                                     const Diagnostics &diags,
                                     const Diagnostics *sources) {
  auto *list = new anec_findings;
  for (const Finding &finding : findings) {
    std::optional<SourcePlace> place = diags.locate(finding.range);
    if (!place && sources)
      place = sources->locate(finding.range);
    std::string message = finding.what;
    if (place && place->line == 0)
      message = (listedWords(finding.range) + ": " + message).str();
    list->records.push_back({finding.rule, message,
                             place ? place->file.str() : "", place,
                             assumptions.isError(*finding.rule)});
  }
  return list;
}

using FindBreaches = llvm::function_ref<std::vector<Finding>(
    const CompileOptions &, Diagnostics &)>;

static anec_status checkTo(FindBreaches find, Call &call,
                           const anec_compile_options *options,
                           const Diagnostics *sources, anec_findings **out) {
  anec_status status = ANEC_OK;
  std::optional<CompileOptions> read = takeOptions(options, call, status);
  if (!read)
    return status;
  Diagnostics &diags = call.diagnostics();
  std::vector<Finding> findings = find(*read, diags);
  bool ok = !diags.hasErrors();
  if (ok)
    *out = recordFindings(findings, read->passes.assumptions, diags, sources);
  return call.end(ok);
}

anec_status anec_check_file(const char *path,
                            const anec_compile_options *options,
                            anec_findings **out, anec_diagnostics *diags) try {
  Call call(diags);
  if (!out)
    return call.refuseNull("out");
  *out = nullptr;
  if (!path)
    return call.refuseNull("path");
  return checkTo(
      [&](const CompileOptions &read, Diagnostics &own) {
        return checkFile(path, read, own).findings;
      },
      call, options, nullptr, out);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

anec_status anec_check(anec_program *program,
                       const anec_compile_options *options, anec_findings **out,
                       anec_diagnostics *diags) try {
  if (out)
    *out = nullptr;
  if (!program || !out)
    return Call(diags).refuseNull(program ? "out" : "program");
  Call call(diags, program->diags.get());
  return checkTo(
      [&](const CompileOptions &read, Diagnostics &own) {
        return program->model ? check(*program->model, read, own)
                              : check(*program->kernel, read);
      },
      call, options, program->diags.get(), out);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

void anec_findings_destroy(anec_findings *findings) { delete findings; }

size_t anec_findings_count(const anec_findings *findings) {
  return countOf(findings);
}

static anec_finding described(const anec_findings::Record &record) {
  SourcePlace place = record.place.value_or(SourcePlace());
  return {sizeof(anec_finding),
          record.rule->id.data(),
          record.message.c_str(),
          spelling(record.rule->impact).data(),
          record.isError,
          record.file.c_str(),
          place.line,
          place.column,
          place.endLine,
          place.endColumn};
}

anec_status anec_findings_get(const anec_findings *findings, size_t index,
                              anec_finding *out) {
  return giveRecord(findings, index, out, described);
}

/// Returns the rule called `id`; null, with the reason reported, when there is
/// none.
static const Rule *ruleCalled(const char *id, Diagnostics &diags) {
  const Rule *rule = findRule(id);
  if (!rule)
    diags.report({}, diag::UnknownRule, id);
  return rule;
}

anec_status anec_explain(const char *id, anec_rule *out,
                         anec_diagnostics *diags) try {
  Call call(diags);
  if (!id)
    return call.refuseNull("id");
  if (!canGive(out))
    return call.refuse("out", badSize);
  const Rule *rule = ruleCalled(id, call.diagnostics());
  if (rule)
    give({sizeof(anec_rule), rule->id.data(), rule->summary.data(),
          spelling(rule->impact).data(), rule->source.data(),
          spelling(rule->confidence).data(), rule->advice.data()},
         out);
  return call.end(rule);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

anec_status anec_explain_text(const char *id, char *text, size_t capacity,
                              size_t *count, anec_diagnostics *diags) try {
  Call call(diags);
  if (!id || !count || (!text && capacity))
    return call.refuseNull(!id ? "id" : !count ? "count" : "text");
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  if (const KnownError *error = findKnownError(id))
    printKnownError(*error, stream);
  else if (const Rule *rule = ruleCalled(id, call.diagnostics()))
    printRule(*rule, stream);
  else
    return call.end(false);
  std::copy_n(printed.begin(), std::min(capacity, printed.size()), text);
  *count = printed.size();
  return call.end(true);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

//===----------------------------------------------------------------------===//
// Logs
//===----------------------------------------------------------------------===//

static anec_logged_errors *record(const ErrorLog &log) {
  auto *list = new anec_logged_errors;
  for (const LoggedError &logged : log.errors) {
    std::vector<llvm::StringRef> rules;
    for (const Rule *rule : rulesOf(*logged.error))
      rules.push_back(rule->id);
    list->records.push_back({logged.error, logged, llvm::join(rules, " ")});
  }
  for (const LoggedLines &unknown : log.unknown)
    list->records.push_back({nullptr, unknown, ""});
  return list;
}

anec_status anec_explain_log_file(const char *path, anec_logged_errors **out,
                                  anec_diagnostics *diags) try {
  Call call(diags);
  if (!out)
    return call.refuseNull("out");
  *out = nullptr;
  if (!path)
    return call.refuseNull("path");
  std::optional<ErrorLog> log = findErrorsInFile(path, call.diagnostics());
  if (log)
    *out = record(*log);
  return call.end(log.has_value());
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

anec_status anec_explain_log_text(const char *text, size_t size,
                                  anec_logged_errors **out,
                                  anec_diagnostics *diags) try {
  Call call(diags);
  if (!out)
    return call.refuseNull("out");
  *out = nullptr;
  if (!text && size)
    return call.refuseNull("text");
  *out = record(findErrors(llvm::StringRef(text, size)));
  return call.end(true);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

void anec_logged_errors_destroy(anec_logged_errors *errors) { delete errors; }

size_t anec_logged_errors_count(const anec_logged_errors *errors) {
  return countOf(errors);
}

static anec_logged_error described(const anec_logged_errors::Record &record) {
  anec_logged_error error = {
      sizeof(anec_logged_error), "", "", "", "", "", "", ""};
  if (const KnownError *known = record.error) {
    error.id = known->id.data();
    error.summary = known->summary.data();
    error.cause = known->cause.data();
    error.remedy = known->remedy.data();
    error.source = known->source.data();
    error.confidence = spelling(known->confidence).data();
    error.is_vague = known->isVague();
  }
  error.rules = record.rules.c_str();
  error.text = record.lines.excerpt.c_str();
  error.lines = record.lines.count;
  error.first_line = record.lines.first;
  error.last_line = record.lines.last;
  return error;
}

anec_status anec_logged_errors_get(const anec_logged_errors *errors,
                                   size_t index, anec_logged_error *out) {
  return giveRecord(errors, index, out, described);
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

static void append(const RunCost &run, anec_costs &costs) {
  Prediction sum = run.sum();
  anec_cost cost = {};
  cost.struct_size = sizeof(anec_cost);
  cost.dispatches = run.dispatches();
  cost.host_ops = run.hostOps;
  cost.flops = sum.work.convFlops + sum.work.otherFlops;
  cost.bytes = sum.work.bytes;
  cost.element_bytes = sum.work.elementBytes;
  cost.tasks = sum.tasks;
  cost.microseconds = sum.total;
  cost.least = sum.least;
  cost.most = sum.most;
  costs.records.push_back({run.name, sum.bound().str(), cost});
}

static anec_costs *makeCosts(const ModelCost &model) {
  auto *costs = new anec_costs;
  for (const RunCost &run : model.runs)
    append(run, *costs);
  return costs;
}

anec_status anec_predict_file(const char *path,
                              const anec_compile_options *options,
                              anec_costs **out, anec_diagnostics *diags) try {
  Call call(diags);
  if (!out)
    return call.refuseNull("out");
  *out = nullptr;
  if (!path)
    return call.refuseNull("path");
  anec_status status = ANEC_OK;
  std::optional<CompileOptions> read = takeOptions(options, call, status);
  if (!read)
    return status;
  std::optional<ModelCost> model = predictFile(path, *read, call.diagnostics());
  if (model)
    *out = makeCosts(*model);
  return call.end(model.has_value());
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

anec_status anec_predict(anec_program *program,
                         const anec_compile_options *options, anec_costs **out,
                         anec_diagnostics *diags) try {
  if (out)
    *out = nullptr;
  if (!program || !out)
    return Call(diags).refuseNull(program ? "out" : "program");
  Call call(diags, program->diags.get());
  anec_status status = ANEC_OK;
  std::optional<CompileOptions> read = takeOptions(options, call, status);
  if (!read)
    return status;
  const Target &target = *read->passes.target;
  ModelCost cost;
  if (program->kernel) {
    cost.runs.push_back(predict(*program->kernel, target));
  } else {
    std::optional<ModelCost> model =
        predictModel(*program->model, target, call.diagnostics());
    if (!model)
      return call.end(false);
    cost = std::move(*model);
  }
  *out = makeCosts(cost);
  return call.end(true);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

void anec_costs_destroy(anec_costs *costs) { delete costs; }

size_t anec_costs_count(const anec_costs *costs) { return countOf(costs); }

static anec_cost described(const anec_costs::Record &record) {
  anec_cost cost = record.cost;
  cost.name = record.name.c_str();
  cost.bound = record.bound.c_str();
  return cost;
}

anec_status anec_costs_get(const anec_costs *costs, size_t index,
                           anec_cost *out) {
  return giveRecord(costs, index, out, described);
}
