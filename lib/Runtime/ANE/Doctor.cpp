//===- Doctor.cpp - prints the engine's interface -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Doctor.h"
#include "lib/Runtime/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

/// Prints what each path lacks; `asked` is the requested path.
static void printPaths(const AneInspection &found, AnePath asked,
                       llvm::raw_ostream &out) {
  for (AnePath path : anePaths) {
    out << "  " << llvm::left_justify(spelling(path), 16);
    unsigned missing =
        llvm::count_if(found.symbols, [&](const AneInspection::Symbol &symbol) {
          return symbol.needed && !symbol.found &&
                 llvm::is_contained(symbol.paths, path);
        });
    out << (missing ? llvm::utostr(missing) + " missing" : "all found")
        << (path == asked ? ", selected" : "") << '\n';
  }
}

static void print(const AneInspection &found, AnePath path,
                  llvm::raw_ostream &out) {
  out << "framework:  " << found.framework << ": "
      << (found.openError.empty() ? "opened" : found.openError) << '\n';
  for (const AneInspection::Symbol &symbol : found.symbols)
    out << "  " << (symbol.found ? "found   " : "missing ") << symbol.name
        << (symbol.needed ? "" : " (optional)")
        << (symbol.typesDiffer()
                ? ", with types " + symbol.types + " where anec expects " +
                      symbol.calledWith
                : "")
        << '\n';
  out << "paths:\n";
  printPaths(found, path, out);
  out << "chip:       " << found.chip << '\n'
      << "system:     " << found.system << '\n'
      << "virtual:    "
      << (!found.isVirtualMachine   ? "the framework does not say"
          : *found.isVirtualMachine ? "this is a virtual machine, which has no "
                                      "engine that programs can use"
                                    : "no")
      << '\n'
      << "temporary:  " << found.temporaryFolder << ": "
      << (found.folderError.empty() ? "writable" : found.folderError) << '\n'
      << "compiles:   " << found.compiles << " of " << found.compileLimit
      << " allowed per process\n"
      << (found.chaining.empty() ? "" : "chaining:   " + found.chaining)
      << (found.chainingError.empty() ? "" : ": " + found.chainingError)
      << (found.chaining.empty() ? "" : "\n")
      << (found.suffices(path) ? "programs can be run\n"
                               : "programs cannot be run\n");
}

static void printJson(const AneInspection &found, AnePath path,
                      llvm::raw_ostream &out) {
  llvm::json::OStream json(out, 2);
  json.object([&] {
    json.attribute("framework", found.framework);
    json.attribute("open_error", found.openError);
    json.attributeArray("symbols", [&] {
      for (const AneInspection::Symbol &symbol : found.symbols)
        json.object([&] {
          json.attribute("name", symbol.name);
          json.attribute("found", symbol.found);
          json.attribute("needed", symbol.needed);
          json.attribute("types", symbol.types);
          json.attribute("called_with", symbol.calledWith);
          json.attribute("types_differ", symbol.typesDiffer());
          json.attributeArray("paths", [&] {
            for (AnePath user : symbol.paths)
              json.value(spelling(user));
          });
        });
    });
    json.attribute("chip", found.chip);
    json.attribute("system", found.system);
    if (found.isVirtualMachine)
      json.attribute("virtual_machine", *found.isVirtualMachine);
    else
      json.attribute("virtual_machine", nullptr);
    json.attribute("temporary_folder", found.temporaryFolder);
    json.attribute("folder_error", found.folderError);
    json.attribute("compile_limit", int64_t(found.compileLimit));
    if (!found.chaining.empty())
      json.attributeObject("chaining", [&] {
        json.attribute("verdict", found.chaining);
        json.attribute("message", found.chainingError);
      });
    json.attributeObject("paths", [&] {
      for (AnePath each : anePaths)
        json.attribute(spelling(each), found.suffices(each));
    });
    json.attribute("path", spelling(path));
    json.attribute("suffices", found.suffices(path));
  });
  out << '\n';
}

/// Reports the first missing part, as running a program would.
static void reportMissing(const AneInspection &found, AnePath path,
                          Diagnostics &diags) {
  if (!found.openError.empty()) {
    diags.reportFile(found.framework, diag::AneNoFramework, found.openError);
    return;
  }
  if (found.isVirtualMachine.value_or(false))
    diags.report({}, diag::AneVirtualMachine);
  if (!found.folderError.empty())
    diags.reportFile(found.temporaryFolder, diag::AneStaging,
                     found.folderError);
  for (const AneInspection::Symbol &symbol : found.symbols)
    if (symbol.needed && !symbol.found &&
        llvm::is_contained(symbol.paths, path))
      diags.reportFile(found.framework, diag::AneNoSymbol, symbol.name);
}

bool ane::writeInspection(const AneOptions &options, bool json,
                          llvm::raw_ostream &out, Diagnostics &diags) {
  AneInspection found = inspectAne(options);
  json ? printJson(found, options.path, out) : print(found, options.path, out);
  if (!found.suffices(options.path))
    reportMissing(found, options.path, diags);
  return found.suffices(options.path);
}
