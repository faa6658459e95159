//===- Parser.cpp - the textual form, read --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Recursive descent without recursion: the form has no nesting. Errors skip to
/// the next line, and the values a broken op would have given exist with their
/// declared types, so that one mistake is reported once.
///
//===----------------------------------------------------------------------===//

#include "anec/IR/Builder.h"
#include "anec/IR/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace anec;

/// What one short line may allocate.
static constexpr int64_t maxSplatElements = int64_t(1) << 26;

namespace {

/// Walks over the text; knows characters, not meaning.
class Cursor {
public:
  explicit Cursor(llvm::StringRef text) : text(text), at(text.begin()) {}

  const char *position() const { return at; }
  void skipSpace() {
    while (at != text.end()) {
      if (at[0] == '/' && at + 1 != text.end() && at[1] == '/')
        skipLine();
      else if (llvm::isSpace(*at))
        ++at;
      else
        return;
    }
  }
  void skipLine() {
    while (at != text.end() && *at != '\n')
      ++at;
  }
  bool atEnd() {
    skipSpace();
    return at == text.end();
  }
  char peek() {
    skipSpace();
    return at == text.end() ? '\0' : *at;
  }
  bool consume(llvm::StringRef token) {
    skipSpace();
    llvm::StringRef rest(at, text.end() - at);
    if (!rest.starts_with(token))
      return false;
    at += token.size();
    return true;
  }
  /// Letters, digits, `_` and `.`; empty when there is none.
  llvm::StringRef word() {
    skipSpace();
    const char *begin = at;
    while (at != text.end() && (llvm::isAlnum(*at) || *at == '_' || *at == '.'))
      ++at;
    return {begin, size_t(at - begin)};
  }
  /// A number, `inf` or `nan`, with sign and exponent.
  llvm::StringRef number() {
    skipSpace();
    const char *begin = at;
    if (at != text.end() && (*at == '-' || *at == '+'))
      ++at;
    while (at != text.end() &&
           (llvm::isAlnum(*at) || *at == '.' ||
            ((*at == '-' || *at == '+') && (at[-1] == 'e' || at[-1] == 'p'))))
      ++at;
    return {begin, size_t(at - begin)};
  }
  /// The characters of a quoted string; false when it does not end.
  bool quoted(std::string &value) {
    if (!consume("\""))
      return false;
    for (; at != text.end() && *at != '"'; ++at) {
      if (*at == '\\' && at + 1 != text.end()) {
        ++at;
        value += *at == 'n' ? '\n' : *at;
        continue;
      }
      value += *at;
    }
    if (at == text.end())
      return false;
    ++at;
    return true;
  }

private:
  llvm::StringRef text;
  const char *at;
};

class Parser {
public:
  Parser(llvm::StringRef buffer, const OpTable &ops, Diagnostics &diags,
         const BlobResolver &resolveBlob)
      : cursor(buffer), ops(ops), diags(diags), resolveBlob(resolveBlob) {}

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
  // Errors. All return false, to be `return`ed.
  SourceRange here() const { return rangeFrom(cursor.position()); }
  SourceRange rangeFrom(const char *begin) const {
    return {llvm::SMLoc::getFromPointer(begin),
            llvm::SMLoc::getFromPointer(cursor.position())};
  }
  bool expected(llvm::StringRef what) {
    cursor.skipSpace();
    diags.report(here(), diag::Expected, what);
    return false;
  }
  bool expect(llvm::StringRef token) {
    return cursor.consume(token) || expected(("`" + token + "`").str());
  }
  void skipToFunction() {
    while (!cursor.atEnd()) {
      cursor.skipLine();
      char next = cursor.peek();
      if (next == 'k' || next == 'l' || next == 'h')
        return;
    }
  }

  bool parseProgram();
  bool parseFunction();
  bool parseHeader();
  bool parseResultDeclarations();
  bool parseStatement();
  bool parseReturn();
  bool parseValueName(std::string &name);
  bool parseOperands(llvm::SmallVectorImpl<Value *> &operands);
  bool parseConstants(const OpDef &def,
                      llvm::SmallVectorImpl<ConstantRef> &slots);
  bool parseType(TensorType &type);
  bool parseConstant(ConstantRef &constant);
  bool parseTypedConstant(ConstantRef &constant);
  bool parseList(ConstantRef &constant);
  bool parseElements(TensorType type, char close, ConstantRef &constant);
  bool parseNumber(double &value);
  bool defineResults(const OpDef *def, SourceRange range,
                     llvm::ArrayRef<std::string> names,
                     llvm::ArrayRef<TensorType> types,
                     llvm::ArrayRef<Value *> operands,
                     llvm::ArrayRef<ConstantRef> constants);
  bool define(llvm::StringRef name, Value *value, SourceRange range);
  Value *poison(const TensorType &type, llvm::StringRef name);

  Cursor cursor;
  const OpTable &ops;
  Diagnostics &diags;
  const BlobResolver &resolveBlob;

  /// Stand-ins for values that a broken op would have given; they outlive the
  /// module whose ops use them.
  std::vector<std::unique_ptr<Value>> poisoned;
  std::unique_ptr<Module> module;

  Function *function = nullptr;
  llvm::StringMap<Value *, llvm::BumpPtrAllocator> scope;
  struct ResultDeclaration {
    std::string name;
    TensorType type;
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
  diags.report(range, diag::Redefinition, name)
      .note(it->second->range(), diag::PreviousDefinition, name);
  return false;
}

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

bool Parser::parseType(TensorType &type) {
  cursor.skipSpace();
  const char *begin = cursor.position();
  llvm::StringRef word = cursor.word();
  std::optional<DType> dtype = parseDType(word);
  if (!dtype)
    return expected("a type such as `fp16[4, 8]`");
  type = TensorType(*dtype);
  if (!cursor.consume("["))
    return true;
  while (!cursor.consume("]")) {
    int64_t extent = 0;
    if (cursor.number().getAsInteger(10, extent) || extent < 0)
      return expected("an extent");
    type.shape.push_back(extent);
    if (cursor.peek() != ']' && !expect(","))
      return false;
  }
  if (type.rank() == 0)
    return expected("an extent");
  if (!checkedNumElements(type.shape)) {
    diags.report(rangeFrom(begin), diag::TypeTooLarge, type.str());
    return false;
  }
  return true;
}

bool Parser::parseNumber(double &value) {
  llvm::StringRef text = cursor.number();
  if (text == "true" || text == "false") {
    value = text == "true";
    return true;
  }
  if (text == "inf" || text == "-inf" || text == "nan" || text == "-nan") {
    value = text.ends_with("inf") ? std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::quiet_NaN();
    value = text.starts_with("-") ? -value : value;
    return true;
  }
  return !text.empty() && !text.getAsDouble(value) ? true
                                                   : expected("a number");
}

/// The elements of a constant of `type` up to `close`, row-major.
bool Parser::parseElements(TensorType type, char close, ConstantRef &constant) {
  const char *begin = cursor.position();
  std::vector<double> numbers;
  std::vector<std::string> strings;
  while (cursor.peek() != close) {
    if (type.dtype == DType::String) {
      strings.emplace_back();
      if (!cursor.quoted(strings.back()))
        return expected("a string");
    } else if (!parseNumber(numbers.emplace_back())) {
      return false;
    }
    if (cursor.peek() != close && !expect(","))
      return false;
  }
  if (!expect(llvm::StringRef(&close, 1)))
    return false;
  size_t count = numbers.size() + strings.size();
  if (count != size_t(type.numElements())) {
    diags.report(rangeFrom(begin), diag::ElementCount, type.str(),
                 type.numElements(), count);
    return false;
  }
  constant = type.dtype == DType::String
                 ? Constant::strings(std::move(type), std::move(strings))
                 : Constant::fromDoubles(std::move(type), numbers);
  return true;
}

/// `fp16(...)`, `fp16[2] splat(...)`, `fp16[2] hex("...")`,
/// `fp16[2] blob("path", offset)`.
bool Parser::parseTypedConstant(ConstantRef &constant) {
  cursor.skipSpace();
  const char *begin = cursor.position();
  TensorType type;
  if (!parseType(type))
    return false;
  bool makeable =
      type.dtype != DType::FP8E4M3FN && type.dtype != DType::FP8E5M2;
  if (makeable && cursor.consume("("))
    return parseElements(type, ')', constant);
  if (makeable && type.dtype != DType::String && cursor.consume("splat(")) {
    double value;
    if (!parseNumber(value) || !expect(")"))
      return false;
    if (type.numElements() > maxSplatElements) {
      diags.report(rangeFrom(begin), diag::TypeTooLarge, type.str());
      return false;
    }
    constant = Constant::fromDoubles(
        type, std::vector<double>(type.numElements(), value));
    return true;
  }
  if (type.dtype != DType::String && cursor.consume("hex(")) {
    std::string digits, bytes;
    if (!cursor.quoted(digits) || !llvm::tryGetFromHex(digits, bytes))
      return expected("hexadecimal bytes");
    if (bytes.size() != type.numBytes()) {
      diags.report(rangeFrom(begin), diag::ByteCount, type.str(),
                   type.numBytes(), bytes.size());
      return false;
    }
    constant = Constant::copy(type, llvm::arrayRefFromStringRef(bytes));
    return expect(")");
  }
  if (cursor.consume("blob(")) {
    BlobOrigin origin;
    if (!cursor.quoted(origin.path))
      return expected("a path");
    if (!expect(","))
      return false;
    if (cursor.number().getAsInteger(10, origin.offset))
      return expected("an offset");
    if (!expect(")"))
      return false;
    if (resolveBlob)
      constant = resolveBlob(type, origin, rangeFrom(begin));
    else
      diags.report(rangeFrom(begin), diag::NoBlobsHere, origin.path);
    return constant != nullptr;
  }
  return expected("the elements of the constant");
}

/// The rest of `[1, 2]`, `[true, false]` or `["a", "b"]`.
bool Parser::parseList(ConstantRef &constant) {
  std::vector<double> values;
  std::vector<std::string> strings;
  bool isText = cursor.peek() == '"';
  DType dtype = llvm::isAlpha(cursor.peek()) ? DType::Bool : DType::Int32;
  while (!cursor.consume("]")) {
    if (isText ? !cursor.quoted(strings.emplace_back())
               : !parseNumber(values.emplace_back()))
      return isText ? expected("a string") : false;
    if (cursor.peek() != ']' && !expect(","))
      return false;
  }
  Shape shape = {int64_t(isText ? strings.size() : values.size())};
  constant = isText
                 ? Constant::strings({DType::String, shape}, std::move(strings))
                 : Constant::fromDoubles({dtype, shape}, values);
  return true;
}

bool Parser::parseConstant(ConstantRef &constant) {
  char next = cursor.peek();
  if (next == '"') {
    std::string value;
    if (!cursor.quoted(value))
      return expected("the end of the string");
    constant = Constant::string(value);
    return true;
  }
  if (cursor.consume("["))
    return parseList(constant);
  if (cursor.consume("true") || next == 't') {
    constant = Constant::boolean(true);
    return true;
  }
  if (cursor.consume("false")) {
    constant = Constant::boolean(false);
    return true;
  }
  if (llvm::isDigit(next) || next == '-' || cursor.consume("inf") ||
      cursor.consume("nan")) {
    llvm::StringRef text = cursor.number();
    int64_t integer;
    if (!text.getAsInteger(10, integer) && llvm::isInt<32>(integer)) {
      constant = Constant::int32(integer);
      return true;
    }
    double number;
    if (text.getAsDouble(number))
      return expected("a number");
    constant = Constant::scalar(DType::FP64, number);
    return true;
  }
  return parseTypedConstant(constant);
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

bool Parser::parseOperands(llvm::SmallVectorImpl<Value *> &operands) {
  if (!expect("("))
    return false;
  while (!cursor.consume(")")) {
    cursor.skipSpace();
    const char *begin = cursor.position();
    std::string name;
    if (cursor.consume("none")) {
      operands.push_back(nullptr);
    } else {
      if (!parseValueName(name))
        return false;
      Value *value = scope.lookup(name);
      if (!value) {
        if (!scope.count(name)) // else it was broken, and reported, above
          diags.report(rangeFrom(begin), diag::UndefinedValue, name);
        return false;
      }
      operands.push_back(value);
    }
    if (cursor.peek() != ')' && !expect(","))
      return false;
  }
  return true;
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
    int slot = def.constantSlot(name);
    if (slot < 0) {
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
  bool ok = def && parseOperands(operands) && parseConstants(*def, constants);
  SourceRange range = rangeFrom(begin);
  if (ok && !names.empty()) {
    ok = expect(":");
    for (size_t index = 0; ok && index < names.size(); ++index)
      ok = (index == 0 || expect(",")) && parseType(types.emplace_back());
  }
  if (ok)
    return defineResults(def, range, names, types, operands, constants);
  // Known, but to be silent about.
  for (const std::string &name : names)
    scope.try_emplace(name, nullptr);
  return false;
}

bool Parser::parseReturn() {
  SourceRange range = here();
  llvm::SmallVector<Value *, 2> values;
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
  if (!ok)
    return false;
  if (values.size() != declaredResults.size()) {
    diags.report(range, diag::ReturnCount, function->name,
                 declaredResults.size(), values.size());
    return false;
  }
  llvm::SmallVector<llvm::StringRef, 2> names;
  for (auto [value, declared] : llvm::zip_equal(values, declaredResults)) {
    if (!(value->type == declared.type)) {
      diags.report(range, diag::ReturnType, declared.name, declared.type.str(),
                   value->type.str());
      ok = false;
    }
    names.push_back(declared.name);
  }
  function->setResults(values, names);
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
  if (!expect("->") || !expect("("))
    return false;
  while (!cursor.consume(")")) {
    ResultDeclaration &result = declaredResults.emplace_back();
    if (cursor.peek() == '%') {
      if (!parseValueName(result.name) || !expect(":"))
        return false;
    } else {
      result.name = "result" + std::to_string(declaredResults.size() - 1);
    }
    if (!parseType(result.type))
      return false;
    if (cursor.peek() != ')' && !expect(","))
      return false;
  }
  return true;
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
    TensorType type;
    if (!parseValueName(paramName))
      return false;
    SourceRange range = rangeFrom(paramBegin);
    if (!expect(":") || !parseType(type))
      return false;
    Value *param = function->addParameter(type, paramName);
    param->declared = range;
    if (!define(paramName, param, range))
      return false;
    if (cursor.peek() != ')' && !expect(","))
      return false;
  }
  return parseResultDeclarations() && expect("{");
}

bool Parser::parseFunction() {
  scope.clear();
  if (!parseHeader())
    return false;
  bool returned = false;
  while (!cursor.consume("}")) {
    if (cursor.atEnd())
      return expected("`}`");
    bool ok = true;
    if (returned)
      ok = expected("`}`");
    else if (cursor.consume("return"))
      ok = returned = parseReturn();
    else
      ok = parseStatement();
    if (!ok)
      cursor.skipLine();
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
  return Parser(buffer, ops, diags, resolveBlob).parse();
}
