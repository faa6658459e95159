//===- Lower.cpp - a file's config, signatures and bodies -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "anec/Frontend/Diags.h"
#include "anec/IR/Diags.h"

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
        diags.report(entry.value->range, diag::ConfigNumber,
                     inWords(term, dimensions));
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
  if (decl.results.size() == 1) {
    const auto &result = signature.results[0];
    if (!result || result->type == TensorType(DType::FP32))
      return;
  }
  diags.report(
      {decl.results.front().range.Start, decl.results.back().range.End},
      diag::ModelResult, decl.name.text);
}

void FileLowering::collectSignatures() {
  for (const ast::FunctionDecl &decl : file.functions) {
    llvm::StringRef name = decl.name.text;
    if (signatures.contains(name))
      continue; // reported when it is lowered
    Signature signature{&decl, {}, {}};
    BodyLowering types(*this);
    for (const ast::Parameter &parameter : decl.parameters)
      signature.parameters.push_back(types.lowerType(parameter.type));
    for (const ast::Type &result : decl.results)
      signature.results.push_back(types.lowerType(result));
    signatures.insert({name, std::move(signature)});
  }
}

static FunctionKind irKind(ast::FunctionDecl::Kind kind) {
  switch (kind) {
  case ast::FunctionDecl::Kernel:
    return FunctionKind::Kernel;
  case ast::FunctionDecl::Layer:
    return FunctionKind::Layer;
  case ast::FunctionDecl::Model:
    break;
  }
  return FunctionKind::Host;
}

std::unique_ptr<Module> FileLowering::run(const FrontendOptions &options) {
  size_t errorsBefore = diags.errorCount();
  remarks = options.remarks;
  evaluateConfig(options);
  collectConstants();
  collectSignatures();
  if (file.functions.empty())
    diags.report({llvm::SMLoc::getFromPointer(text.begin()),
                  llvm::SMLoc::getFromPointer(text.begin())},
                 diag::NothingToCompile);
  for (const ast::FunctionDecl &decl : file.functions) {
    const Signature &signature = signatures[decl.name.text];
    if (signature.decl != &decl) {
      diags.report(decl.name.range(), diag::DuplicateFunction, decl.name.text)
          .note(signature.decl->name.range(), diag::PreviousDefinition,
                decl.name.text);
      continue;
    }
    Function *function =
        module->addFunction(irKind(decl.kind), decl.name.text, decl.header);
    if (decl.parameters.empty())
      diags.report(decl.name.range(), diag::NoParameters, decl.name.text);
    if (decl.kind == ast::FunctionDecl::Model)
      checkModelResult(decl, signature, diags);
    repeats = 0;
    BodyLowering(*this, decl, *function).run();
  }
  if (diags.errorCount() != errorsBefore)
    return nullptr;
  for (const auto &[name, constant] : constants)
    if (!constant.used && !name.starts_with("_"))
      diags.report(constant.declared, diag::UnusedVariable, name);
  markTargets(*module);
  return std::move(module);
}

std::unique_ptr<Module> anec::parseTDSL(llvm::StringRef text,
                                        const FrontendOptions &options,
                                        const OpTable &ops,
                                        Diagnostics &diags) {
  std::unique_ptr<ast::File> file = parseSyntax(text, diags);
  return file ? FileLowering(text, *file, ops, diags).run(options) : nullptr;
}
