//===- Check.cpp - anec check and anec explain ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <array>

using namespace anec;

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

/// The findings of one file. What keeps it from being read is in `diags`.
static std::vector<Finding> checkFile(llvm::StringRef path,
                                      const CompileOptions &options,
                                      const Assumptions &assumptions,
                                      Diagnostics &diags) {
  std::optional<llvm::StringRef> text = diags.addFile(path);
  if (!text)
    return {};
  SourceKind kind = sourceKind(path);
  std::optional<MILOutline> outline;
  if (kind == SourceKind::MIL)
    outline = outlineMIL(*text);
  std::unique_ptr<Module> module = readSource(
      *text, kind, llvm::sys::path::parent_path(path), options, diags);
  if (module && kind != SourceKind::MIL) {
    CompileOptions compiling = options;
    compiling.passes.passes = defaultPipeline().vec();
    std::optional<Package> package =
        compile(std::move(module), kind, compiling, diags);
    if (!package)
      return {};
    module = std::move(package->program);
  }
  return checkProgram(outline ? &*outline : nullptr, module.get(),
                      *options.passes.target, assumptions);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printCount(llvm::raw_ostream &out, size_t count,
                       llvm::StringRef what) {
  out << count << ' ' << what << (count == 1 ? "" : "s");
}

static void printText(llvm::ArrayRef<Finding> findings, const Target &target,
                      const Assumptions &assumptions, llvm::raw_ostream &out,
                      Diagnostics &diags) {
  for (const Finding &finding : findings)
    reportFinding(finding, assumptions, diags);
  diags.print(out, out.has_colors());
  std::array<size_t, 4> counts = {};
  for (const Diagnostic &diagnostic : diags.all())
    ++counts[size_t(diagnostic.severity())];
  out << target.name << ": ";
  printCount(out, diags.errorCount(), "error");
  out << ", ";
  printCount(out, counts[size_t(Severity::Warning)], "warning");
  out << ", ";
  printCount(out, counts[size_t(Severity::Remark)], "remark");
  out << '\n';
}

static void writeFinding(const Finding &finding, const Assumptions &assumptions,
                         const Diagnostics &diags, llvm::json::OStream &json) {
  const Rule &rule = *finding.rule;
  json.object([&] {
    json.attribute("rule", rule.id);
    json.attribute("impact", spelling(rule.impact));
    json.attribute("severity",
                   spelling(assumptions.isError(rule) ? Severity::Error
                                                      : severity(rule.impact)));
    if (std::optional<SourcePlace> place = diags.locate(finding.range)) {
      json.attribute("file", place->file);
      json.attribute("line", place->line);
      json.attribute("column", place->column);
      json.attribute("endLine", place->endLine);
      json.attribute("endColumn", place->endColumn);
    }
    json.attribute("message", llvm::json::fixUTF8(finding.what));
    json.attribute("summary", rule.summary);
    json.attribute("source", rule.source);
    json.attribute("date", rule.date);
    json.attribute("confidence", spelling(rule.confidence));
    if (!rule.conflict.empty())
      json.attribute("conflict", rule.conflict);
    json.attribute("advice", rule.advice);
    if (!rule.rewrite.empty())
      json.attribute("rewrite", rule.rewrite);
  });
}

static void writeDiagnostic(const Diagnostic &diagnostic,
                            const Diagnostics &diags,
                            llvm::json::OStream &json) {
  json.object([&] {
    json.attribute("id", diagnostic.kind->id);
    json.attribute("severity", spelling(diagnostic.severity()));
    if (std::optional<SourcePlace> place = diags.locate(diagnostic.range)) {
      json.attribute("file", place->file);
      json.attribute("line", place->line);
      json.attribute("column", place->column);
    } else if (!diagnostic.file.empty()) {
      json.attribute("file", diagnostic.file);
    }
    json.attribute("message", llvm::json::fixUTF8(diagnostic.message));
  });
}

static void printJson(llvm::ArrayRef<Finding> findings, const Target &target,
                      const Assumptions &assumptions, llvm::raw_ostream &out,
                      const Diagnostics &diags) {
  llvm::json::OStream json(out, 2);
  json.object([&] {
    json.attribute("target", target.name);
    json.attributeArray("findings", [&] {
      for (const Finding &finding : findings)
        writeFinding(finding, assumptions, diags, json);
    });
    // What was said when the programs were read.
    json.attributeArray("diagnostics", [&] {
      for (const Diagnostic &diagnostic : diags.all())
        writeDiagnostic(diagnostic, diags, json);
    });
  });
  out << '\n';
}

//===----------------------------------------------------------------------===//
// SARIF 2.1.0
//===----------------------------------------------------------------------===//

static llvm::StringRef sarifLevel(Severity severity) {
  return severity == Severity::Error     ? "error"
         : severity == Severity::Warning ? "warning"
                                         : "note";
}

static void writeSarifRules(llvm::json::OStream &json) {
  json.attributeArray("rules", [&] {
    for (const Rule *rule : allRules())
      json.object([&] {
        json.attribute("id", rule->id);
        json.attributeObject("shortDescription",
                             [&] { json.attribute("text", rule->summary); });
        json.attributeObject("help",
                             [&] { json.attribute("text", rule->advice); });
      });
  });
}

static void writeSarifResult(llvm::StringRef id, Severity severity,
                             llvm::StringRef message, llvm::StringRef file,
                             std::optional<SourcePlace> place,
                             llvm::json::OStream &json) {
  json.object([&] {
    json.attribute("ruleId", id);
    json.attribute("level", sarifLevel(severity));
    json.attributeObject("message", [&] {
      json.attribute("text", llvm::json::fixUTF8(message));
    });
    if (place)
      file = place->file;
    if (file.empty())
      return;
    json.attributeArray("locations", [&] {
      json.object([&] {
        json.attributeObject("physicalLocation", [&] {
          json.attributeObject("artifactLocation",
                               [&] { json.attribute("uri", file); });
          if (place)
            json.attributeObject("region", [&] {
              json.attribute("startLine", place->line);
              json.attribute("startColumn", place->column);
              json.attribute("endLine", place->endLine);
              json.attribute("endColumn", place->endColumn);
            });
        });
      });
    });
  });
}

static void printSarif(llvm::ArrayRef<Finding> findings,
                       const Assumptions &assumptions, llvm::raw_ostream &out,
                       const Diagnostics &diags) {
  llvm::json::OStream json(out, 2);
  json.object([&] {
    json.attribute("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json.attribute("version", "2.1.0");
    json.attributeArray("runs", [&] {
      json.object([&] {
        json.attributeObject("tool", [&] {
          json.attributeObject("driver", [&] {
            json.attribute("name", "anec");
            writeSarifRules(json);
          });
        });
        json.attributeArray("results", [&] {
          for (const Diagnostic &diagnostic : diags.all())
            writeSarifResult(diagnostic.kind->id, diagnostic.severity(),
                             diagnostic.message, diagnostic.file,
                             diags.locate(diagnostic.range), json);
          for (const Finding &finding : findings)
            writeSarifResult(finding.rule->id,
                             assumptions.isError(*finding.rule)
                                 ? Severity::Error
                                 : severity(finding.rule->impact),
                             finding.what, "", diags.locate(finding.range),
                             json);
        });
      });
    });
  });
  out << '\n';
}

/// The programs of a package, which is a folder; of anything else, itself.
static std::vector<std::string> programsOf(llvm::StringRef path) {
  if (!llvm::sys::fs::is_directory(path))
    return {path.str()};
  llvm::SmallString<128> kernels(path);
  llvm::sys::path::append(kernels, "kernels");
  std::vector<std::string> programs;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator file(kernels, code), end;
       file != end && !code; file.increment(code))
    if (llvm::sys::path::extension(file->path()) == ".mil")
      programs.push_back(file->path());
  llvm::sort(programs);
  // Of a folder that is no package, opening it says so.
  return programs.empty() ? std::vector<std::string>{path.str()} : programs;
}

bool anec::checkFiles(llvm::ArrayRef<std::string> paths,
                      const CompileOptions &options,
                      const Assumptions &assumptions, CheckFormat format,
                      llvm::raw_ostream &out, Diagnostics &diags) {
  std::vector<Finding> findings;
  for (const std::string &path : paths)
    for (const std::string &program : programsOf(path))
      llvm::append_range(findings,
                         checkFile(program, options, assumptions, diags));
  const Target &target = *options.passes.target;
  switch (format) {
  case CheckFormat::Text:
    printText(findings, target, assumptions, out, diags);
    break;
  case CheckFormat::Json:
    printJson(findings, target, assumptions, out, diags);
    break;
  case CheckFormat::Sarif:
    printSarif(findings, assumptions, out, diags);
    break;
  }
  return !diags.hasErrors() &&
         llvm::none_of(findings, [&](const Finding &finding) {
           return assumptions.isError(*finding.rule);
         });
}

//===----------------------------------------------------------------------===//
// Explaining
//===----------------------------------------------------------------------===//

void anec::explainRule(const Rule &rule, llvm::raw_ostream &out) {
  out << rule.id << ": " << rule.summary << "\n\n"
      << "  impact      " << spelling(rule.impact) << '\n'
      << "  chips       " << rule.chips.str() << '\n';
  if (rule.macOS.isKnown())
    out << "  macOS       " << rule.macOS.str() << '\n';
  out << "  source      " << rule.source << '\n'
      << "  read        " << rule.date << '\n'
      << "  confidence  " << spelling(rule.confidence) << '\n';
  if (!rule.conflict.empty())
    out << "  but         " << rule.conflict << '\n';
  out << "  instead     " << rule.advice << '\n';
  if (!rule.rewrite.empty())
    out << "  rewrite     " << rule.rewrite << '\n';
  out << "\n--assume=" << rule.id
      << "=allow switches it off, --assume=" << rule.id
      << "=deny makes it an error.\n";
}
