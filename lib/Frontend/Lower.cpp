//===- Lower.cpp - a file's config, signatures and bodies -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Imports.h"
#include "Lowering.h"
#include "lib/Frontend/Diags.h"
#include "lib/IR/Diags.h"
#include "lib/IR/Verifier.h"
#include "llvm/ADT/StringSwitch.h"

using namespace anec;
using namespace anec::frontend;

//===----------------------------------------------------------------------===//
// Config
//===----------------------------------------------------------------------===//

/// Finds the definition of each entry that `--define` overrides.
static llvm::StringMap<Number> readDefines(const FrontendOptions &options,
                                           const ast::File &file,
                                           Diagnostics &diags) {
  llvm::StringMap<Number> values;
  for (const auto &[name, text] : options.defines) {
    std::string flag = "--define " + name + "=" + text;
    std::optional<Number> number = parseNumber(text);
    if (!number) {
      diags.reportFile(flag, diag::DefineValue, text);
      continue;
    }
    bool known = llvm::is_contained(
        llvm::map_range(file.config,
                        [](const ast::ConfigEntry &e) { return e.name.text; }),
        llvm::StringRef(name));
    if (!known) {
      Suggestion suggestion(name);
      for (const ast::ConfigEntry &entry : file.config)
        suggestion.consider(entry.name.text);
      auto report = diags.reportFile(flag, diag::DefineName, name);
      suggestion.note(report, {});
      continue;
    }
    values[name] = *number;
  }
  return values;
}

/// Whether the entry's own expression is an integer, so that overriding it with
/// a decimal is an error.
static bool isIntegerExpr(const ast::Expr *expr, const Names &config) {
  while (auto *binary = llvm::dyn_cast<ast::BinaryExpr>(expr)) {
    if (!isIntegerExpr(binary->rhs, config))
      return false;
    expr = binary->lhs;
  }
  if (auto *negation = llvm::dyn_cast<ast::NegationExpr>(expr))
    return isIntegerExpr(negation->operand, config);
  if (auto *reference = llvm::dyn_cast<ast::ReferenceExpr>(expr)) {
    if (reference->isCall)
      return givesInteger(
          reference->name.text,
          llvm::all_of(reference->arguments, [&](const ast::Argument &arg) {
            return isIntegerExpr(arg.value, config);
          }));
    auto it = config.find(reference->name.text);
    return it != config.end() && it->second.term.kind == Term::Number &&
           it->second.term.number.isInteger;
  }
  return llvm::isa<ast::IntegerExpr>(expr);
}

void FileLowering::evaluateConfig(const FrontendOptions &options) {
  llvm::StringMap<Number> defines = readDefines(options, file, diags);
  for (const ast::ConfigEntry &entry : file.config) {
    Term term;
    if (auto it = defines.find(entry.name.text); it != defines.end()) {
      term = Term::ofNumber(it->second, entry.name.range());
      if (!it->second.isInteger && isIntegerExpr(entry.value, config)) {
        diags.report(entry.value->range, diag::DefineInteger, entry.name.text,
                     it->second.str());
        term = {};
      }
    } else {
      term = BodyLowering(*this).lower(entry.value);
      if (!term.isPoison() && term.kind != Term::Number) {
        auto report = diags.report(entry.value->range, diag::ConfigNumber,
                                   inWords(term, dimensions));
        if (term.kind == Term::List)
          report.note(entry.name.range(), diag::ConfigList, entry.name.text);
        term = {};
      }
    }
    if (term.kind == Term::Number && term.number.isInteger)
      dimensions.addConfig(entry.name.text, term.number.integer);
    if (term.kind == Term::Number)
      module->config.emplace_back(entry.name.text.str(), term.number.str());
    auto [it, isNew] = config.insert(
        {entry.name.text,
         Binding{Binding::Variable, std::move(term), entry.name.range()}});
    if (!isNew)
      diags.report(entry.name.range(), diag::AlreadyDefined, entry.name.text)
          .note(it->second.declared, diag::PreviousDefinition, entry.name.text);
  }
}

void FileLowering::collectConstants() {
  for (const ast::ConstantDecl &constant : file.constants) {
    const ast::Name &name = constant.name;
    auto it = config.find(name.text);
    bool isNew = it == config.end();
    if (isNew)
      std::tie(it, isNew) = constants.insert(
          {name.text, Binding{Binding::Variable, {}, name.range()}});
    if (!isNew)
      diags.report(name.range(), diag::AlreadyDefined, name.text)
          .note(it->second.declared, diag::PreviousDefinition, name.text);
  }
}

//===----------------------------------------------------------------------===//
// Signatures and bodies
//===----------------------------------------------------------------------===//

static void checkModelResult(const ast::FunctionDecl &decl,
                             const Signature &signature, Diagnostics &diags) {
  for (auto [declared, result] : llvm::zip(decl.results, signature.results))
    if (result && result->type != TensorType(DType::FP32))
      diags.report(declared.type.range, diag::ModelResult, decl.name.text);
}

/// Reports a name that two results have.
static void checkResultNames(const ast::FunctionDecl &decl,
                             Diagnostics &diags) {
  llvm::StringMap<SourceRange> places;
  for (const ast::Result &result : decl.results) {
    if (result.name.text.empty())
      continue;
    auto [it, isNew] = places.insert({result.name.text, result.name.range()});
    if (!isNew)
      diags.report(result.name.range(), diag::AlreadyDefined, result.name.text)
          .note(it->second, diag::PreviousDefinition, result.name.text);
  }
}

/// Puts functions in source order, the bodies of a model's repeats after it:
/// blocks were lowered when they were called first.
static void sortFunctions(Module &module, const ast::File &file) {
  llvm::StringMap<size_t> places;
  for (auto [place, decl] : llvm::enumerate(file.functions))
    places.insert({decl.name.text, place});
  llvm::stable_sort(module.functions, [&](const auto &lhs, const auto &rhs) {
    // `attention` of `attention.window_128`.
    return places.lookup(lhs->of().split('.').first) <
           places.lookup(rhs->of().split('.').first);
  });
}

static FunctionKind irKind(ast::FunctionDecl::Kind kind) {
  switch (kind) {
  case ast::FunctionDecl::Kernel:
    return FunctionKind::Kernel;
  case ast::FunctionDecl::Layer:
    return FunctionKind::Layer;
  case ast::FunctionDecl::Model:
  case ast::FunctionDecl::Fn:
    break;
  }
  return FunctionKind::Host;
}

/// `int` and `float` are the types of parameters that are numbers.
static std::optional<Number::Kind> numberKind(const ast::Type &type) {
  if (!type.extents.empty())
    return std::nullopt;
  return llvm::StringSwitch<std::optional<Number::Kind>>(type.dtype.text)
      .Case("int", Number::Int)
      .Case("float", Number::Float)
      .Default(std::nullopt);
}

void FileLowering::collectSignatures() {
  for (const ast::FunctionDecl &decl : file.functions) {
    llvm::StringRef name = decl.name.text;
    if (decl.kind == ast::FunctionDecl::Fn || signatures.contains(name))
      continue; // reported when it is lowered
    Signature signature{&decl, name.str()};
    BodyLowering types(*this);
    for (const ast::Parameter &parameter : decl.parameters) {
      std::optional<Number::Kind> kind = numberKind(parameter.type);
      signature.kinds.push_back(kind);
      signature.parameters.push_back(kind ? std::nullopt
                                          : types.lowerType(parameter.type));
      if (kind && decl.kind != ast::FunctionDecl::Layer)
        diags.report(parameter.type.range, diag::NumberParameter,
                     parameter.name.text);
    }
    for (const ast::Result &result : decl.results)
      signature.results.push_back(types.lowerType(result.type));
    signatures.insert({name, std::move(signature)});
  }
}

void FileLowering::lowerBlock(Signature &signature) {
  if (signature.state != Signature::Declared)
    return;
  const ast::FunctionDecl &decl = *signature.decl;
  signature.state = Signature::Lowering;
  signature.function =
      module->addFunction(irKind(decl.kind), signature.name, decl.header);
  bool hasInput = llvm::is_contained(signature.kinds, std::nullopt);
  if (!hasInput)
    diags.report(decl.name.range(), diag::NoParameters, decl.name.text);
  checkResultNames(decl, diags);
  if (decl.kind == ast::FunctionDecl::Model) {
    checkModelResult(decl, signature, diags);
    repeats = 0;
  }
  active.push_back(&decl);
  BodyLowering(*this, signature, *signature.function).run();
  active.pop_back();
  // An error in what it calls may be reported already.
  bool ok = hasInput && signature.function->numResults() != 0;
  signature.state = ok ? Signature::Lowered : Signature::Failed;
}

std::unique_ptr<Module> FileLowering::run(const FrontendOptions &options) {
  size_t errorsBefore = diags.errorCount();
  remarks = options.remarks;
  collectFns();
  evaluateConfig(options);
  collectConstants();
  collectSignatures();
  if (llvm::all_of(file.functions, [](const ast::FunctionDecl &decl) {
        return decl.kind == ast::FunctionDecl::Fn;
      }))
    diags.report({llvm::SMLoc::getFromPointer(text.begin()),
                  llvm::SMLoc::getFromPointer(text.begin())},
                 diag::NothingToCompile);
  for (const ast::FunctionDecl &decl : file.functions) {
    Signature &signature = signatures.find(decl.name.text)->second;
    if (signature.decl != &decl) {
      diags.report(decl.name.range(), diag::DuplicateFunction, decl.name.text)
          .note(signature.decl->name.range(), diag::PreviousDefinition,
                decl.name.text);
      continue;
    }
    // With numbers, it is lowered for each call.
    bool takesNumbers = llvm::any_of(
        signature.kinds, [](const auto &kind) { return kind.has_value(); });
    if (decl.kind != ast::FunctionDecl::Fn &&
        !(takesNumbers && decl.kind == ast::FunctionDecl::Layer))
      lowerBlock(signature);
  }
  if (diags.errorCount() != errorsBefore)
    return nullptr;
  for (const auto &[name, constant] : constants)
    if (!constant.used && !name.starts_with("_"))
      diags.report(constant.declared, diag::UnusedVariable, name);
  // What follows goes through repeats.
  if (!verifyRuns(*module, diags))
    return nullptr;
  sortFunctions(*module, file);
  markTargets(*module);
  return std::move(module);
}

std::unique_ptr<Module> anec::parseTDSL(llvm::StringRef text,
                                        const FrontendOptions &options,
                                        const OpTable &ops,
                                        Diagnostics &diags) {
  std::unique_ptr<Program> program = parseProgram(text, diags);
  return program ? FileLowering(text, program->merged, ops, diags).run(options)
                 : nullptr;
}
