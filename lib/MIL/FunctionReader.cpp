//===- FunctionReader.cpp - reads functions of MIL text -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FunctionReader.h"
#include "anec/IR/Diags.h"
#include "anec/MIL/Diags.h"
#include "anec/MIL/Spelling.h"
#include "anec/Ops/Ops.h"
#include "llvm/ADT/StringSwitch.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

/// For input that is not MIL, more errors would not help.
static constexpr size_t maxErrors = 50;

FunctionReader::FunctionReader(ValueReader &reader, Module &module,
                               const OpTable &ops, RequestedShapes &requested,
                               Diagnostics &diags)
    : reader(reader), lexer(reader.lexer), module(module), ops(ops),
      requested(requested), diags(diags), errorsBefore(diags.errorCount()) {
  // Most statements are longer. Reserving space avoids rehashing the table
  // while a large function is read.
  constexpr size_t shortStatement = 128;
  symbols.reserve(unsigned(lexer.bytesLeft() / shortStatement));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool FunctionReader::parseParameters() {
  if (!reader.expect('('))
    return false;
  while (!lexer.take(')')) {
    ParsedType type;
    size_t errors = diags.errorCount();
    bool parsed = reader.parseValueType(type);
    // A type that is valid but unsupported has been read completely.
    if (!parsed && !type.range.isValid())
      return false;
    Token name = lexer.peek();
    if (name.kind != Token::Identifier)
      return reader.expected("the name of a parameter");
    lexer.take();
    Value *value = function->addParameter(type.tensor, name.text);
    value->declared = name.range();
    value->holder = type.holder();
    value->layout = std::move(type.layout);
    if (parsed)
      flexible.push_back({value, type.tensor, type.range});
    define(name.text, name.range(),
           diags.errorCount() == errors ? value : nullptr);
    if (!reader.separate(')'))
      return false;
  }
  return true;
}

/// Whether `name` is an annotation of functions and ops in dumps of Core ML's
/// compiler.
static bool isAnalysis(StringRef name) {
  return StringSwitch<bool>(name)
      .Cases("BackendSupport", "EstimatedRuntime", "SelectedBackend", true)
      .Cases("ValidationMessage", "milId", true)
      .Default(name.ends_with("_ms") &&
               (name.starts_with("Launch_") || name.starts_with("Src_")));
}

void FunctionReader::ignoreAttribute(StringRef name, SourceRange range) {
  if (isAnalysis(name)) {
    if (!std::exchange(ignoredAnalysis, true))
      diags.report(range, diag::IgnoredAnalysis, name);
  } else if (ignoredAttributes.try_emplace(name, true).second) {
    diags.report(range, diag::IgnoredAttribute, name);
  }
}

/// `[name = value, ...]`, which is optional.
bool FunctionReader::parseFunctionAttributes() {
  return reader.parseAttributes([&](const Token &name) {
    Literal value;
    SourceRange range;
    if (!reader.parseTypedLiteral(value, range))
      return false;
    if (name.text != "FlexibleShapeInformation")
      ignoreAttribute(name.text, name.range());
    else if (!shapes.read(value))
      diags.report(range, diag::FlexibleShape, name.text);
    return true;
  });
}

/// Chooses shapes for the parameters with unknown extents.
void FunctionReader::bindParameterShapes() {
  for (const FlexibleParameter &parameter : flexible) {
    const InputShape *wanted = requested.find(parameter.value->name);
    const Shape &declared = parameter.declared.shape;
    bool known = !is_contained(declared, unknownExtent);
    if (known && (!wanted || wanted->isHint || declared == wanted->shape))
      continue;
    if (known)
      diags.report(parameter.typeRange, diag::ShapeDoesNotFit,
                   parameter.value->name, spellType(*parameter.value),
                   shapeToString(wanted->shape));
    else if (!shapes.choose(parameter, wanted, diags))
      symbols[parameter.value->name].value = nullptr;
  }
}

/// `<ios18>`, which is optional. Opsets later than the known ones are accepted:
/// a program may use only known features.
bool FunctionReader::parseOpset(StringRef &opset) {
  if (!lexer.take('<'))
    return true;
  Token name = lexer.peek();
  if (name.kind != Token::Identifier)
    return reader.expected("an opset");
  lexer.take();
  opset = name.text;
  StringRef digits = opset;
  unsigned number = 0;
  constexpr unsigned first = 15;
  if (!digits.consume_front("ios") || digits.getAsInteger(10, number) ||
      number < first)
    diags.report(name.range(), diag::UnknownOpset, opset);
  return reader.expect('>');
}

bool FunctionReader::parseHeader() {
  Token keyword = lexer.take(); // `func`
  Token name = lexer.peek();
  if (name.kind != Token::Identifier)
    return reader.expected("the name of the function");
  lexer.take();
  SourceRange range = reader.rangeFrom(keyword.begin());
  if (Function *previous = module.findFunction(name.text)) {
    diags.report(range, diag::DuplicateFunction, name.text)
        .note(previous->range, diag::PreviousDefinition, name.text);
    return false;
  }
  function = module.addFunction(FunctionKind::Kernel, name.text, range);
  builder.emplace(*function, &diags);
  builder->setDescribe([](const Value &value) { return spellType(value); });
  StringRef opset;
  if (!parseOpset(opset))
    return false;
  if (!opset.empty())
    function->opset = opset.str();
  return parseParameters();
}

bool FunctionReader::parseResults() {
  if (lexer.peek().kind != Token::Arrow)
    return reader.expected("`->`");
  lexer.take();
  if (!reader.expect('('))
    return false;
  SmallVector<Value *, 4> values;
  SmallVector<StringRef, 4> names;
  bool known = true;
  while (!lexer.take(')')) {
    Token name = lexer.peek();
    if (name.kind != Token::Identifier)
      return reader.expected("the name of a result");
    lexer.take();
    Symbol *symbol = lookup(name.text, name.range());
    known &= symbol && symbol->value;
    if (known && symbol->value->holder == Holder::State) {
      diags.report(name.range(), diag::ResultHolder, name.text,
                   describe(symbol->value->holder));
      known = false;
    }
    if (known) {
      values.push_back(symbol->value);
      names.push_back(name.text);
    }
    if (!reader.separate(')'))
      return false;
  }
  if (known)
    function->setResults(values, names);
  return finishStatement();
}

/// Erases ops and constants that were only used to compute constant parameters,
/// from the last to the first, since erasing an op can make earlier ones
/// unused.
void FunctionReader::eraseFoldedOps() {
  if (computedOps.empty())
    return;
  for (Op &op : make_early_inc_range(reverse(function->body()))) {
    bool unused = none_of(op.resultValues(),
                          [](const Value *value) { return value->hasUses(); });
    if (!unused || !computedOps.lookup(&op))
      continue;
    for (const Value *operand : op.operandValues()) {
      const Op *source = operand ? operand->definingOp() : nullptr;
      if (source && (computedOps.contains(source) || source->is(ops::Const)))
        computedOps[source] = true;
    }
    op.erase();
  }
}

void FunctionReader::eraseFoldedConstants() {
  for (auto &[name, symbol] : symbols)
    if (symbol.folded && symbol.value && !symbol.value->hasUses())
      symbol.value->definingOp()->erase();
}

bool FunctionReader::read() {
  symbols.clear();
  flexible.clear();
  shapes = FlexibleShapes();
  computedValues.clear();
  computedOps.clear();
  if (!parseHeader() || !parseFunctionAttributes())
    return false;
  bindParameterShapes();
  if (!parseBody() || !parseResults())
    return false;
  eraseFoldedConstants();
  eraseFoldedOps();
  return true;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

bool FunctionReader::parseBody() {
  if (!reader.expect('{'))
    return false;
  Statement statement;
  while (!lexer.take('}')) {
    if (lexer.peek().kind == Token::End)
      return reader.expected("`}`");
    if (diags.errorCount() - errorsBefore >= maxErrors) {
      diags.report(lexer.peek().range(), diag::TooManyErrors);
      return false;
    }
    if (parseStatement(statement)) {
      bind(statement);
      continue;
    }
    skipStatement(statement);
  }
  return true;
}

/// Skips past the next `;`, or to the `}` that ends the block, over nested
/// blocks. The names that the statement defines are declared without a value,
/// so that their uses report no further errors.
void FunctionReader::skipStatement(const Statement &statement) {
  for (const ResultDeclaration &result : statement.results)
    symbols.insert({result.name, Symbol()});
  bool beforeOp = statement.opName.empty();
  unsigned depth = 0;
  while (lexer.peek().kind != Token::End) {
    if (lexer.peek().is('{')) {
      ++depth;
    } else if (lexer.peek().is('}')) {
      if (depth == 0)
        return;
      --depth;
    }
    Token token = lexer.take();
    beforeOp &= !token.is('(') && !token.is('=');
    if (beforeOp && token.kind == Token::Identifier && lexer.peek().is('='))
      symbols.insert({token.text, Symbol()});
    if (token.kind == Token::Broken || (depth == 0 && token.is(';')))
      return;
  }
}

/// A missing `;` is reported at its expected position, and reading continues.
bool FunctionReader::finishStatement() {
  if (lexer.take(';'))
    return true;
  SMLoc end = SMLoc::getFromPointer(lexer.previousEnd());
  StringRef between(lexer.previousEnd(),
                    lexer.peek().begin() - lexer.previousEnd());
  if (!between.contains('\n'))
    return reader.expected("`;`");
  diags.report({end, end}, diag::ExpectedSyntax, "`;`", "the end of the line");
  return true;
}

bool FunctionReader::parseResultDeclarations(Statement &statement) {
  if (!reader.atType())
    return true;
  do {
    ResultDeclaration result;
    bool parsed = reader.parseValueType(result.type);
    Token name = lexer.peek();
    if (name.kind != Token::Identifier)
      return parsed && reader.expected("the name of a value");
    lexer.take();
    result.name = name.text;
    result.range = name.range();
    statement.results.push_back(std::move(result));
    if (!parsed)
      return false;
  } while (lexer.take(','));
  return reader.expect('=');
}

bool FunctionReader::parseArgumentValue(Argument &argument) {
  ArgumentValue &value = argument.values.emplace_back();
  if (reader.atType()) {
    if (!reader.parseTypedValue(value.constant, value.range))
      return false;
    return value.constant ||
           reader.unsupported(value.range, "a value that is no tensor");
  }
  if (reader.isUntyped(argument.name))
    return false;
  Token name = lexer.peek();
  if (name.kind != Token::Identifier)
    return reader.expected("a name or a typed value");
  lexer.take();
  value.name = name.text;
  value.range = name.range();
  return true;
}

bool FunctionReader::parseArgument(Argument &argument) {
  Token name = lexer.peek();
  if (name.kind != Token::Identifier)
    return reader.expected("the name of a parameter");
  lexer.take();
  argument.name = name.text;
  if (!reader.expect('='))
    return false;
  if (lexer.take('(')) {
    do {
      if (!parseArgumentValue(argument))
        return false;
    } while (lexer.take(','));
    if (!reader.expect(')'))
      return false;
  } else if (!parseArgumentValue(argument)) {
    return false;
  }
  argument.range = reader.rangeFrom(name.begin());
  return true;
}

bool FunctionReader::parseArguments(Statement &statement) {
  if (!reader.expect('('))
    return false;
  while (!lexer.take(')')) {
    if (!parseArgument(statement.arguments.emplace_back()))
      return false;
    if (!reader.separate(')'))
      return false;
  }
  return true;
}

/// `[name = typed value, ...]`, which is optional. The constant of a value that
/// is not a tensor is null.
bool FunctionReader::parseAttributes(Statement &statement) {
  return reader.parseAttributes([&](const Token &name) {
    Argument &attribute = statement.attributes.emplace_back();
    attribute.name = name.text;
    ArgumentValue &value = attribute.values.emplace_back();
    if (!reader.atType())
      return !reader.isUntyped(attribute.name) &&
             reader.expected("a type and a value");
    if (!reader.parseTypedValue(value.constant, value.range))
      return false;
    attribute.range = reader.rangeFrom(name.begin());
    return true;
  });
}

bool FunctionReader::parseStatement(Statement &statement) {
  statement.results.clear();
  statement.arguments.clear();
  statement.attributes.clear();
  statement.opName = "";
  if (!parseResultDeclarations(statement))
    return false;
  Token op = lexer.peek();
  if (op.kind != Token::Identifier)
    return reader.expected(statement.results.empty() ? "a type or `}`"
                                                     : "the name of an op");
  if (statement.results.empty() && lexer.peekBehind() == '=')
    return reader.expected("a type before the name of a value");
  lexer.take();
  if (statement.results.empty() && lexer.peek().kind == Token::Identifier) {
    diags.report(op.range(), diag::UnknownType, op.text);
    return false;
  }
  statement.opName = op.text;
  statement.opRange = op.range();
  StringRef ownOpset;
  if (!parseOpset(ownOpset))
    return false;
  if (!parseArguments(statement))
    return false;
  statement.range = reader.rangeFrom(op.begin());
  if (!parseAttributes(statement))
    return false;
  if (lexer.peek().is('{'))
    return reader.unsupported(statement.opRange,
                              "an op with blocks of its own");
  return finishStatement();
}
