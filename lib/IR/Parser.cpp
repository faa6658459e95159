//===- Parser.cpp - parses the textual form -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A recursive descent parser; only blocks of ops nest.
/// After an error it skips to the next line and creates the results of the
/// broken op with their declared types, so that one mistake is reported once.
///
//===----------------------------------------------------------------------===//

#include "CallForm.h"
#include "TextReader.h"
#include "lib/IR/Builder.h"
#include "lib/IR/Diags.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/Verifier.h"
#include "lib/Support/Diags.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Allocator.h"

using namespace anec;

namespace {

class Parser : TextReader {
public:
  Parser(llvm::StringRef buffer, const OpTable &ops, Diagnostics &diags,
         const BlobResolver &resolveBlob)
      : TextReader(buffer, diags, resolveBlob), ops(ops) {}

  std::unique_ptr<Module> parse() {
    size_t before = diags.errorCount();
    module = std::make_unique<Module>();
    if (cursor.peek() == 'p' && cursor.consume("program"))
      parseProgram();
    while (!cursor.atEnd())
      if (!parseFunction())
        skipToFunction();
    if (diags.errorCount() != before)
      return nullptr;
    return std::move(module);
  }

private:
  void skipToFunction() {
    while (!cursor.atEnd()) {
      cursor.skipLine(cursor.position());
      char next = cursor.peek();
      if (next == 'k' || next == 'l' || next == 'h')
        return;
    }
  }

  bool parseProgram();
  bool parseFunction();
  bool parseHeader();
  bool parseParameterType(Value &param);
  bool parsePerAxis(llvm::StringRef name, unsigned rank, Shape &values);
  bool parseResultDeclarations();
  bool isDeclaration();
  void declare();
  bool parseStatement();
  bool parseBlocks(const OpDef &def, llvm::SmallVectorImpl<ConstantRef> &slots);
  std::unique_ptr<Function> parseBlock();
  bool parseBlockBody(Function &block);
  bool parseReturn();
  bool parseReturned(llvm::SmallVectorImpl<Value *> &values);
  bool parseValueName(std::string &name);
  bool parseCallee(const OpDef &def, std::string &callee,
                   llvm::SmallVectorImpl<Value *> &operands);
  bool parseOperand(Value *&operand);
  bool parseOperands(llvm::SmallVectorImpl<Value *> &operands);
  bool parseConstants(const OpDef &def,
                      llvm::SmallVectorImpl<ConstantRef> &slots);
  bool defineResults(const OpDef *def, SourceRange range,
                     llvm::ArrayRef<std::string> names,
                     llvm::ArrayRef<TensorType> types,
                     llvm::ArrayRef<Value *> operands,
                     llvm::ArrayRef<ConstantRef> constants);
  bool define(llvm::StringRef name, Value *value, SourceRange range);
  Value *poison(const TensorType &type, llvm::StringRef name);

  const OpTable &ops;

  /// Placeholders for the results of broken ops; they outlive the module whose
  /// ops use them.
  std::vector<std::unique_ptr<Value>> poisoned;
  std::unique_ptr<Module> module;

  Function *function = nullptr;
  unsigned depth = 0; ///< of blocks
  llvm::StringMap<Value *, llvm::BumpPtrAllocator> scope;
  struct ResultDeclaration {
    std::string name;
    TensorType type;
    ValueRole role = ValueRole::Output;
  };
  llvm::SmallVector<ResultDeclaration, 2> declaredResults;
};

} // namespace

Value *Parser::poison(const TensorType &type, llvm::StringRef name) {
  poisoned.push_back(std::make_unique<Value>(type, name, nullptr, 0));
  return poisoned.back().get();
}

bool Parser::define(llvm::StringRef name, Value *value, SourceRange range) {
  auto [it, inserted] = scope.try_emplace(name, value);
  if (inserted)
    return true;
  // A null value had an error above; it still cannot be redefined.
  SourceRange previous = it->second ? it->second->range() : SourceRange();
  diags.report(range, diag::Redefinition, name)
      .note(previous, diag::PreviousDefinition, name);
  return false;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

bool Parser::parseValueName(std::string &name) {
  if (!cursor.consume("%"))
    return expected("a value such as `%x`");
  name = cursor.word().str();
  return !name.empty() || expected("the name of a value");
}

/// `%name`, of a value defined above.
bool Parser::parseOperand(Value *&operand) {
  cursor.skipSpace();
  const char *begin = cursor.position();
  std::string name;
  if (!parseValueName(name))
    return false;
  operand = scope.lookup(name);
  if (!operand && !scope.count(name)) // otherwise it was reported above
    diags.report(rangeFrom(begin), diag::UndefinedValue, name);
  return operand != nullptr;
}

bool Parser::parseOperands(llvm::SmallVectorImpl<Value *> &operands) {
  if (!expect("("))
    return false;
  while (!cursor.consume(")")) {
    Value *operand = nullptr;
    if (!cursor.consume("none") && !parseOperand(operand))
      return false;
    operands.push_back(operand);
    if (cursor.peek() != ')' && !expect(","))
      return false;
  }
  return true;
}

/// `@name` or `@name[%index]`, of an op that applies a function.
bool Parser::parseCallee(const OpDef &def, std::string &callee,
                         llvm::SmallVectorImpl<Value *> &operands) {
  if (!def.has(trait::Call))
    return true;
  if (!expect("@"))
    return false;
  callee = cursor.word().str();
  if (callee.empty())
    return expected("the name of a function");
  operands.push_back(nullptr);
  return !cursor.consume("[") || (parseOperand(operands.back()) && expect("]"));
}

/// Sets the constants that the form writes outside the braces.
static void setCall(const OpDef &def, llvm::StringRef callee,
                    llvm::ArrayRef<TensorType> types,
                    llvm::SmallVectorImpl<ConstantRef> &constants) {
  std::vector<std::string> spelled;
  for (const TensorType &type : types)
    spelled.push_back(type.str());
  TensorType list(DType::String, {int64_t(spelled.size())});
  constants[def.constantSlot(param::callee)] = Constant::string(callee);
  constants[def.constantSlot(param::results)] =
      Constant::strings(list, std::move(spelled));
}

bool Parser::parseConstants(const OpDef &def,
                            llvm::SmallVectorImpl<ConstantRef> &slots) {
  slots.resize(def.numConstantParams());
  if (!cursor.consume("{"))
    return true;
  while (!cursor.consume("}")) {
    cursor.skipSpace();
    const char *begin = cursor.position();
    llvm::StringRef name = cursor.word();
    int slot = def.findConstantParam(name);
    if (slot < 0 || isWrittenApart(def, slot)) {
      diags.report(rangeFrom(begin), diag::UnknownParameter, def.name, name);
      return false;
    }
    if (!expect("=") || !parseConstant(slots[slot]))
      return false;
    if (cursor.peek() != '}' && !expect(","))
      return false;
  }
  return true;
}

bool Parser::defineResults(const OpDef *def, SourceRange range,
                           llvm::ArrayRef<std::string> names,
                           llvm::ArrayRef<TensorType> types,
                           llvm::ArrayRef<Value *> operands,
                           llvm::ArrayRef<ConstantRef> constants) {
  Op *op = nullptr;
  if (def) {
    Builder builder(*function, &diags);
    builder.setRange(range);
    llvm::SmallVector<llvm::StringRef, 3> views(names.begin(), names.end());
    op = builder.createWithSlots(*def, operands, constants, views);
  }
  if (op && op->numResults() != names.size()) {
    diags.report(range, diag::ResultCount, def->name, op->numResults(),
                 names.size());
    op = nullptr;
  }
  bool ok = op != nullptr;
  for (size_t index = 0; index < names.size(); ++index) {
    if (op && !(op->result(index)->type == types[index])) {
      diags.report(range, diag::ResultType, names[index], types[index].str(),
                   def->name, op->result(index)->type.str());
      ok = false;
    }
    Value *value = op ? op->result(index) : poison(types[index], names[index]);
    ok &= define(names[index], value, range);
  }
  return ok;
}

bool Parser::parseStatement() {
  cursor.skipSpace();
  const char *begin = cursor.position();
  llvm::SmallVector<std::string, 2> names;
  if (cursor.peek() == '%') {
    do {
      if (!parseValueName(names.emplace_back()))
        return false;
    } while (cursor.consume(","));
    if (!expect("="))
      return false;
  }
  cursor.skipSpace();
  const char *nameBegin = cursor.position();
  llvm::StringRef opName = cursor.word();
  if (opName.empty())
    return expected("an op, `return` or `}`");
  const OpDef *def = ops.find(opName);
  if (!def) {
    Diagnostics::Report report =
        diags.report(rangeFrom(nameBegin), diag::UnknownOp, opName);
    llvm::StringRef near = ops.suggest(opName);
    if (!near.empty())
      report.note(rangeFrom(nameBegin), diag::DidYouMean, near);
  }
  llvm::SmallVector<Value *, 4> operands;
  llvm::SmallVector<ConstantRef, 4> constants;
  llvm::SmallVector<TensorType, 2> types;
  std::string callee;
  bool ok = def && parseCallee(*def, callee, operands) &&
            parseOperands(operands) && parseConstants(*def, constants);
  SourceRange range = rangeFrom(begin);
  if (ok && !names.empty()) {
    ok = expect(":");
    for (size_t index = 0; ok && index < names.size(); ++index)
      ok = (index == 0 || expect(",")) && parseType(types.emplace_back());
  }
  if (ok && blocksSlot(*def) >= 0)
    ok = parseBlocks(*def, constants);
  if (ok && def->has(trait::Call))
    setCall(*def, callee, types, constants);
  if (ok)
    return defineResults(def, range, names, types, operands, constants);
  // Known, but without reports for their uses.
  for (const std::string &name : names)
    scope.try_emplace(name, nullptr);
  return false;
}

/// The values after `return`.
bool Parser::parseReturned(llvm::SmallVectorImpl<Value *> &values) {
  bool ok = true;
  while (cursor.peek() == '%') {
    cursor.skipSpace();
    const char *begin = cursor.position();
    std::string name;
    if (!parseValueName(name))
      return false;
    Value *value = scope.lookup(name);
    if (!value) {
      if (!scope.count(name))
        diags.report(rangeFrom(begin), diag::UndefinedValue, name);
      ok = false;
    }
    values.push_back(value);
    if (!cursor.consume(","))
      break;
  }
  return ok;
}

bool Parser::parseReturn() {
  SourceRange range = here();
  llvm::SmallVector<Value *, 2> values;
  if (!parseReturned(values))
    return false;
  bool ok = true;
  if (values.size() != declaredResults.size()) {
    diags.report(range, diag::ReturnCount, function->name,
                 declaredResults.size(), values.size());
    return false;
  }
  llvm::SmallVector<llvm::StringRef, 2> names;
  llvm::SmallVector<ValueRole, 2> roles;
  for (auto [value, declared] : llvm::zip_equal(values, declaredResults)) {
    if (value->holder == Holder::State) {
      diags.report(range, diag::ResultHolder, value->name,
                   describe(value->holder));
      ok = false;
    }
    if (!(value->type == declared.type)) {
      diags.report(range, diag::ReturnType, declared.name, declared.type.str(),
                   value->type.str());
      ok = false;
    }
    names.push_back(declared.name);
    roles.push_back(declared.role);
  }
  function->setResults(values, names, roles);
  return ok;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Ops up to `return %y, ...` and `}`.
bool Parser::parseBlockBody(Function &block) {
  if (!expect("{"))
    return false;
  bool ok = true;
  while (!cursor.consume("return")) {
    if (cursor.atEnd() || cursor.peek() == '}')
      return expected("`return`");
    const char *begin = cursor.position();
    if (parseStatement())
      continue;
    ok = false;
    cursor.skipLine(begin);
  }
  llvm::SmallVector<Value *, 4> values;
  if (!parseReturned(values) || !expect("}"))
    return false;
  if (ok)
    setBlockResults(block, values);
  return ok;
}

/// `(%x: fp16[4], ...) {`, a body and `}`; null after an error.
std::unique_ptr<Function> Parser::parseBlock() {
  auto block =
      std::make_unique<Function>(FunctionKind::Kernel, "block", here());
  if (!expect("("))
    return nullptr;
  while (!cursor.consume(")")) {
    cursor.skipSpace();
    const char *begin = cursor.position();
    std::string name;
    TensorType type;
    if (!parseValueName(name) || !expect(":") || !parseType(type))
      return nullptr;
    Value *param = block->addParameter(type, name);
    param->declared = rangeFrom(begin);
    if (!define(name, param, param->declared) ||
        (cursor.peek() != ')' && !expect(",")))
      return nullptr;
  }
  function = block.get();
  return parseBlockBody(*block) ? std::move(block) : nullptr;
}

/// The blocks of an op, which know no names of values around them.
bool Parser::parseBlocks(const OpDef &def,
                         llvm::SmallVectorImpl<ConstantRef> &slots) {
  if (depth == maxBlockDepth)
    return expected("fewer blocks inside each other");
  ++depth;
  Function *around = function;
  auto known = std::move(scope);
  std::vector<std::unique_ptr<Function>> blocks;
  bool ok = true;
  while (ok && cursor.peek() == '(') {
    scope.clear();
    blocks.push_back(parseBlock());
    ok = blocks.back() != nullptr;
  }
  scope = std::move(known);
  function = around;
  --depth;
  if (ok)
    slots[blocksSlot(def)] = Blocks::make(std::move(blocks));
  return ok;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool Parser::parseProgram() {
  module->version.clear();
  if (!cursor.quoted(module->version))
    return expected("the version");
  if (!expect("{"))
    return false;
  while (!cursor.consume("}")) {
    auto &[key, value] = module->buildInfo.emplace_back();
    if (!cursor.quoted(key))
      return expected("a key");
    if (!expect("="))
      return false;
    if (!cursor.quoted(value))
      return expected("a string");
    if (cursor.peek() != '}' && !expect(","))
      return false;
  }
  return true;
}

bool Parser::parseResultDeclarations() {
  declaredResults.clear();
  llvm::StringSet<> names;
  if (!expect("->") || !expect("("))
    return false;
  while (!cursor.consume(")")) {
    cursor.skipSpace();
    const char *begin = cursor.position();
    ResultDeclaration &result = declaredResults.emplace_back();
    if (cursor.peek() == '%') {
      if (!parseValueName(result.name) || !expect(":"))
        return false;
    } else {
      result.name = "result" + std::to_string(declaredResults.size() - 1);
    }
    if (!parseType(result.type) || !parseRole(RolePlace::Result, result.role))
      return false;
    if (!names.insert(result.name).second) {
      diags.report(rangeFrom(begin), diag::DuplicateName, result.name,
                   function->name);
      return false;
    }
    if (cursor.peek() != ')' && !expect(","))
      return false;
  }
  return true;
}

bool Parser::parsePerAxis(llvm::StringRef name, unsigned rank, Shape &values) {
  if (!expect(",") || !expect(name) || !expect("=") || !expect("["))
    return false;
  while (!cursor.consume("]")) {
    if (cursor.number().getAsInteger(10, values.emplace_back()))
      return expected("an integer");
    if (cursor.peek() != ']' && !expect(","))
      return false;
  }
  return values.size() == rank || expected("an integer for each axis");
}

bool Parser::parseParameterType(Value &param) {
  bool isState = cursor.consume("state<");
  if (!isState && !cursor.consume("buffer<"))
    return parseType(param.type);
  param.holder = isState ? Holder::State : Holder::Buffer;
  if (!parseType(param.type))
    return false;
  if (isState)
    return expect(">");
  param.layout = std::make_unique<BufferLayout>();
  unsigned rank = param.type.rank();
  return parsePerAxis("strides", rank, param.layout->strides) &&
         parsePerAxis("interleave", rank, param.layout->interleave) &&
         expect(">");
}

bool Parser::parseHeader() {
  cursor.skipSpace();
  const char *begin = cursor.position();
  llvm::StringRef word = cursor.word();
  FunctionKind kind;
  if (word == "kernel")
    kind = FunctionKind::Kernel;
  else if (word == "layer")
    kind = FunctionKind::Layer;
  else if (word == "host")
    kind = FunctionKind::Host;
  else
    return expected("`kernel`, `layer` or `host`");
  if (!expect("@"))
    return false;
  llvm::StringRef name = cursor.word();
  if (name.empty())
    return expected("the name of the function");
  if (Function *previous = module->findFunction(name)) {
    diags.report(rangeFrom(begin), diag::DuplicateFunction, name)
        .note(previous->range, diag::PreviousDefinition, name);
    return false;
  }
  function = module->addFunction(kind, name, rangeFrom(begin));
  if (cursor.consume("<")) {
    function->opset = cursor.word().str();
    if (!expect(">"))
      return false;
  }
  if (!expect("("))
    return false;
  while (!cursor.consume(")")) {
    cursor.skipSpace();
    const char *paramBegin = cursor.position();
    std::string paramName;
    if (!parseValueName(paramName))
      return false;
    SourceRange range = rangeFrom(paramBegin);
    Value *param = function->addParameter({}, paramName);
    param->declared = range;
    if (!expect(":") || !parseParameterType(*param))
      return false;
    ValueRole role = param->role();
    if (!parseRole(role, param->mask))
      return false;
    param->setRole(role);
    if (param->role() != role) {
      diags.report(range, diag::StateRole, paramName, spelling(role));
      return false;
    }
    if (!define(paramName, param, range))
      return false;
    if (cursor.peek() != ')' && !expect(","))
      return false;
  }
  return parseResultDeclarations() && parseRole(*function);
}

/// A kernel without a body is a declaration: its body is in another file.
bool Parser::isDeclaration() {
  if (function->kind != FunctionKind::Kernel)
    return false;
  char next = cursor.peek();
  return cursor.atEnd() || next == 'k' || next == 'l' || next == 'h';
}

void Parser::declare() {
  llvm::SmallVector<TensorType, 2> types;
  llvm::SmallVector<llvm::StringRef, 2> names;
  llvm::SmallVector<ValueRole, 2> roles;
  for (const ResultDeclaration &result : declaredResults) {
    types.push_back(result.type);
    names.push_back(result.name);
    roles.push_back(result.role);
  }
  function->declareResults(types, names, roles);
}

bool Parser::parseFunction() {
  scope.clear();
  if (!parseHeader())
    return false;
  if (isDeclaration()) {
    declare();
    return true;
  }
  if (!expect("{"))
    return false;
  bool returned = false;
  while (!cursor.consume("}")) {
    if (cursor.atEnd())
      return expected("`}`");
    const char *begin = cursor.position();
    bool ok = true;
    if (returned)
      ok = expected("`}`");
    else if (cursor.consume("return"))
      ok = returned = parseReturn();
    else
      ok = parseStatement();
    if (!ok)
      cursor.skipLine(begin);
  }
  if (!returned && declaredResults.empty())
    function->setResults({});
  else if (!returned && !diags.hasErrors())
    return expected("`return`");
  return true;
}

std::unique_ptr<Module> anec::parseIR(llvm::StringRef buffer,
                                      const OpTable &ops, Diagnostics &diags,
                                      const BlobResolver &resolveBlob) {
  std::unique_ptr<Module> module =
      Parser(buffer, ops, diags, resolveBlob).parse();
  // Ops were checked when they were built, without other functions.
  if (!module || !verifyCalls(*module, diags) || !verifyRuns(*module, diags))
    return nullptr;
  bool ok = true;
  for (const auto &function : module->functions)
    ok &= verifyRoles(*function, diags);
  ok &= verifyOwners(*module, diags);
  return ok && !diags.hasErrors() ? std::move(module) : nullptr;
}
