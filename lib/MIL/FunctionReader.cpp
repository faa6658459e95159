//===- FunctionReader.cpp - reads functions of MIL text -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "FunctionReader.h"
#include "lib/IR/Diags.h"
#include "lib/MIL/Diags.h"
#include "lib/MIL/Spelling.h"
#include "lib/Support/Diags.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

FunctionReader::FunctionReader(ValueReader &reader, FunctionBinder &binder,
                               Diagnostics &diags)
    : reader(reader), lexer(reader.lexer), binder(binder), diags(diags) {
  // Most statements are longer.
  constexpr size_t shortStatement = 128;
  binder.reserve(lexer.bytesLeft() / shortStatement);
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
    bool isValid = parsed && diags.errorCount() == errors;
    binder.addParameter({name.text, std::move(type), name.range()}, isValid);
    if (!reader.separate(')'))
      return false;
  }
  return true;
}

/// `[name = value, ...]`, which is optional.
bool FunctionReader::parseFunctionAttributes() {
  return reader.parseAttributes([&](const Token &name) {
    Literal value;
    SourceRange range;
    if (!reader.parseTypedLiteral(value, range))
      return false;
    if (name.text != "FlexibleShapeInformation")
      binder.ignoreAttribute(name.text, name.range());
    else if (!readFlexibleShapes(value, binder.shapes()))
      diags.report(range, diag::FlexibleShape, name.text);
    return true;
  });
}

/// `<ios18>`, which is optional.
bool FunctionReader::parseOpset(Token &opset) {
  if (!lexer.take('<'))
    return true;
  opset = lexer.peek();
  if (opset.kind != Token::Identifier)
    return reader.expected("an opset");
  lexer.take();
  return reader.expect('>');
}

bool FunctionReader::parseHeader() {
  Token keyword = lexer.take(); // `func`
  Token name = lexer.peek();
  if (name.kind != Token::Identifier)
    return reader.expected("the name of the function");
  lexer.take();
  SourceRange range = reader.rangeFrom(keyword.begin());
  if (!binder.begin(name.text, range))
    return false;
  Token opset;
  if (!parseOpset(opset))
    return false;
  if (!opset.text.empty())
    binder.setOpset(opset.text, opset.range());
  return parseParameters();
}

/// `-> (name, ...)`.
bool FunctionReader::parseResults(function_ref<void(const Token &)> add) {
  if (lexer.peek().kind != Token::Arrow)
    return reader.expected("`->`");
  lexer.take();
  if (!reader.expect('('))
    return false;
  while (!lexer.take(')')) {
    Token name = lexer.peek();
    if (name.kind != Token::Identifier)
      return reader.expected("the name of a result");
    lexer.take();
    add(name);
    if (!reader.separate(')'))
      return false;
  }
  return true;
}

bool FunctionReader::read() {
  if (!parseHeader() || !parseFunctionAttributes())
    return false;
  binder.bindParameterShapes();
  auto addResult = [this](const Token &name) {
    binder.addResult(name.text, name.range());
  };
  if (!parseBody() || !parseResults(addResult) || !finishStatement())
    return false;
  binder.finish();
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
    if (binder.isHopeless(lexer.peek().range()))
      return false;
    if (parseStatement(statement)) {
      binder.bind(statement);
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
    binder.skip(result.name);
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
      binder.skip(token.text);
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
    if (!reader.parseType(result.type))
      return false;
    Token name = lexer.peek();
    if (name.kind != Token::Identifier)
      return reader.expected("the name of a value");
    lexer.take();
    result.name = name.text;
    result.range = name.range();
    statement.results.push_back(std::move(result));
  } while (lexer.take(','));
  return reader.expect('=');
}

bool FunctionReader::parseArgumentValue(Argument &argument) {
  ArgumentValue &value = argument.values.emplace_back();
  if (reader.atType()) {
    if (!reader.parseTypedValue(value.constant, value.range, &value.isList))
      return false;
    return value.constant ||
           reader.unsupported(value.range, "a value that is not a tensor");
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
    if (!reader.parseTypedValue(value.constant, value.range, &value.isList))
      return false;
    attribute.range = reader.rangeFrom(name.begin());
    return true;
  });
}

bool FunctionReader::parseStatement(Statement &statement) {
  statement.clear();
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
  Token ownOpset;
  if (!parseOpset(ownOpset))
    return false;
  if (!ownOpset.text.empty())
    binder.checkOpset(ownOpset.text, ownOpset.range());
  if (!parseArguments(statement))
    return false;
  statement.range = reader.rangeFrom(op.begin());
  if (!parseAttributes(statement))
    return false;
  return parseBlocks(statement) && finishStatement();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// `(type name, ...)`, which a block without inputs lacks.
bool FunctionReader::parseBlockInputs(Block &block) {
  if (!lexer.take('('))
    return true;
  while (!lexer.take(')')) {
    ResultDeclaration &input = block.inputs.emplace_back();
    if (!reader.parseType(input.type))
      return false;
    Token name = lexer.peek();
    if (name.kind != Token::Identifier)
      return reader.expected("the name of an input");
    lexer.take();
    input.name = name.text;
    input.range = name.range();
    if (!reader.separate(')'))
      return false;
  }
  return true;
}

/// Skips from a `{` past its `}`.
bool FunctionReader::skipBlock() {
  unsigned depth = 0;
  do {
    if (lexer.peek().kind == Token::End || lexer.peek().kind == Token::Broken)
      return reader.expected("`}`");
    Token token = lexer.take();
    depth += token.is('{');
    depth -= token.is('}');
  } while (depth != 0);
  return true;
}

/// A block, whose statements are read each time that they are bound.
bool FunctionReader::parseBlock(Block &block) {
  if (!parseBlockInputs(block))
    return false;
  if (!lexer.peek().is('{'))
    return reader.expected("`{`");
  Lexer::Mark begin = lexer.mark();
  block.bindStatements = [this, begin] {
    Lexer::Mark end = lexer.mark();
    lexer.reset(begin);
    bool read = parseBody();
    lexer.reset(end);
    return read;
  };
  return skipBlock() && parseResults([&block](const Token &name) {
           ArgumentValue &result = block.results.emplace_back();
           result.name = name.text;
           result.range = name.range();
         });
}

bool FunctionReader::parseBlocks(Statement &statement) {
  while (lexer.peek().is('{') || lexer.peek().is('('))
    if (!parseBlock(statement.blocks.emplace_back()))
      return false;
  return true;
}
