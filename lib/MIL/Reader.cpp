//===- Reader.cpp - MIL text to IR ----------------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/MIL/Reader.h"
#include "DerivedNumbers.h"
#include "FunctionReader.h"
#include "lib/MIL/Diags.h"
#include "lib/Support/Diags.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

namespace {

/// `program(version)[attributes]{functions}`.
class ProgramReader {
public:
  ProgramReader(ValueReader &reader, FunctionBinder &binder, Diagnostics &diags)
      : reader(reader), lexer(reader.lexer), binder(binder), diags(diags) {}

  bool read(Module &module) {
    return readVersion(module) && readAttributes(module) &&
           readFunctions(module);
  }

private:
  bool readVersion(Module &module) {
    if (!lexer.peek().isWord("program"))
      return reader.expected("`program`");
    lexer.take();
    if (!reader.expect('('))
      return false;
    Token version = lexer.peek();
    if (version.kind != Token::Number)
      return reader.expected("a version");
    if (version.text != "1.0" && version.text != "1.3" &&
        version.text != "1.5") {
      diags.report(version.range(), diag::MilVersion, version.text);
      return false;
    }
    lexer.take();
    module.version = version.text.str();
    return reader.expect(')');
  }

  bool readAttributes(Module &module) {
    return reader.parseAttributes(
        [&](const Token &name) { return readAttribute(module, name); });
  }

  bool readAttribute(Module &module, const Token &name) {
    if (name.text == "buildInfo") {
      ParsedType type;
      return reader.parseType(type) &&
             reader.parseStringPairs(module.buildInfo);
    }
    ConstantRef value;
    SourceRange range;
    if (!reader.parseTypedValue(value, range))
      return false;
    diags.report(name.range(), diag::IgnoredAttribute, name.text);
    return true;
  }

  bool readFunctions(Module &module) {
    Token brace = lexer.peek();
    if (!reader.expect('{'))
      return false;
    FunctionReader functions(reader, binder, diags);
    while (!lexer.take('}')) {
      if (!lexer.peek().isWord("func"))
        return reader.expected("`func` or `}`");
      if (!functions.read())
        return false;
    }
    if (lexer.peek().kind != Token::End)
      return reader.expected("the end of the text");
    if (module.functions.empty()) {
      diags.report(brace.range(), diag::NoFunction);
      return false;
    }
    return true;
  }

  ValueReader &reader;
  Lexer &lexer;
  FunctionBinder &binder;
  Diagnostics &diags;
};

} // namespace

/// Removes all functions but the one called `name`, unless that is empty.
static bool keepFunction(Module &module, StringRef name, Diagnostics &diags) {
  if (name.empty())
    return true;
  if (!module.findFunction(name)) {
    std::string all;
    for (const auto &function : module.functions)
      all += (all.empty() ? "`" : ", `") + function->name + "`";
    diags.report({}, diag::NoSuchFunction, name, all);
    return false;
  }
  erase_if(module.functions,
           [&](const auto &function) { return function->name != name; });
  return true;
}

std::unique_ptr<Module> anec::readMIL(StringRef buffer,
                                      StringRef modelDirectory,
                                      const OpTable &ops, Diagnostics &diags,
                                      const MILReadOptions &options) {
  if (size_t nul = buffer.find('\0'); nul != StringRef::npos) {
    const char *at = buffer.data() + nul;
    diags.report({SMLoc::getFromPointer(at), SMLoc::getFromPointer(at + 1)},
                 diag::NulByte);
    return nullptr;
  }
  size_t errors = diags.errorCount();
  auto module = std::make_unique<Module>();
  WeightFiles weights(modelDirectory, options, diags);
  ValueReader reader(buffer, weights, diags);
  RequestedShapes requested(options.shapes, options.values);
  FunctionBinder binder(*module, ops, requested, diags, options.description);
  if (ProgramReader(reader, binder, diags).read(*module))
    requested.reportUnused(diags);
  if (diags.errorCount() != errors ||
      !keepFunction(*module, options.function, diags))
    return nullptr;
  restoreDerivedNumbers(*module);
  return module;
}
