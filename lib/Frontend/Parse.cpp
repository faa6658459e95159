//===- Parse.cpp - .tdsl text to syntax tree ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The only file that sees ANTLR, its contexts and its exceptions. Three steps:
/// the tokens are checked (what the parser must not meet: stray characters,
/// nesting that would exhaust the stack); the parser runs with a recovery of
/// our own, by statement; its contexts become the nodes of Ast.h.
///
//===----------------------------------------------------------------------===//

#include "TDSLLexer.h"
#include "TDSLParser.h"
#include "anec/Frontend/Frontend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include <cmath>

using namespace anec;
using namespace anec::ast;
using antlr4::Token;
using tdsl::TDSLLexer;
using tdsl::TDSLParser;

/// Brackets and signs may nest this deep: every level takes stack in the
/// parser and in all that walks the tree.
static constexpr unsigned maxNesting = 200;
/// A token takes some hundreds of bytes until the text is parsed.
static constexpr size_t maxTextSize = 1 << 20;
static constexpr unsigned maxSyntaxErrors = 20;

//===----------------------------------------------------------------------===//
// Text and tokens
//===----------------------------------------------------------------------===//

namespace {

/// The text as ANTLR reads it: one symbol per byte, so that token positions
/// are offsets into the text. The grammar only looks at ASCII.
class ByteStream : public antlr4::CharStream {
public:
  explicit ByteStream(llvm::StringRef text) : text(text) {}

  void consume() override { ++position; }
  size_t LA(ssize_t i) override {
    size_t at = i > 0 ? position + i - 1 : position + i;
    return at < text.size() ? uint8_t(text[at]) : IntStream::EOF;
  }
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  size_t index() override { return position; }
  void seek(size_t index) override { position = std::min(index, text.size()); }
  size_t size() override { return text.size(); }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval &interval) override {
    return text.slice(interval.a, interval.b + 1).str();
  }
  std::string toString() const override { return text.str(); }

private:
  llvm::StringRef text;
  size_t position = 0;
};

/// Where tokens stand in the text.
struct Source {
  llvm::StringRef text;

  llvm::StringRef spelling(const Token *token) const {
    if (token->getType() == Token::EOF)
      return text.substr(text.size());
    return text.slice(token->getStartIndex(), token->getStopIndex() + 1);
  }
  Name name(const Token *token) const { return {spelling(token)}; }
  SourceRange range(const Token *token) const { return name(token).range(); }
  SourceRange range(const Token *first, const Token *last) const {
    return {range(first).Start, range(last).End};
  }
  SourceRange range(const antlr4::ParserRuleContext *context) const {
    return range(context->start, context->stop);
  }
};

using Tokens = std::vector<Token *>;

} // namespace

static bool isBad(const Token *token) {
  size_t type = token->getType();
  return type == TDSLLexer::BAD_NUMBER || type == TDSLLexer::OPEN_STRING ||
         type == TDSLLexer::UNKNOWN;
}

static bool isKeyword(size_t type) {
  return type >= TDSLLexer::CONFIG && type <= TDSLLexer::NO;
}

/// What ends a statement, or stands around some.
static bool isBoundary(size_t type) {
  return type == TDSLLexer::SEMICOLON || type == TDSLLexer::LEFT_BRACE ||
         type == TDSLLexer::RIGHT_BRACE;
}

/// Checks what makes a text a text at all.
static bool checkText(llvm::StringRef text, Diagnostics &diags) {
  auto at = [&](size_t offset) { return Name{text.substr(offset, 1)}.range(); };
  if (text.size() > maxTextSize) {
    diags.report(at(0), diag::TextTooLarge, text.size(), maxTextSize);
    return false;
  }
  if (size_t nul = text.find('\0'); nul != llvm::StringRef::npos) {
    diags.report(at(nul), diag::NulByte);
    return false;
  }
  auto *position = text.bytes_begin();
  if (!llvm::isLegalUTF8String(&position, text.bytes_end())) {
    diags.report(at(position - text.bytes_begin()), diag::InvalidUtf8,
                 "0x" + llvm::utohexstr(*position));
    return false;
  }
  return true;
}

/// Reports the tokens that are none. Neighbouring stray bytes are one error.
static void reportBadTokens(const Tokens &tokens, const Source &source,
                            Diagnostics &diags) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!isBad(tokens[i]))
      continue;
    size_t first = i;
    while (tokens[i]->getType() == TDSLLexer::UNKNOWN &&
           tokens[i + 1]->getType() == TDSLLexer::UNKNOWN &&
           tokens[i + 1]->getStartIndex() == tokens[i]->getStopIndex() + 1)
      ++i;
    SourceRange range = source.range(tokens[first], tokens[i]);
    llvm::StringRef text = source.text.slice(tokens[first]->getStartIndex(),
                                             tokens[i]->getStopIndex() + 1);
    switch (tokens[i]->getType()) {
    case TDSLLexer::BAD_NUMBER:
      diags.report(range, diag::MalformedNumber, text);
      break;
    case TDSLLexer::OPEN_STRING:
      diags.report(range, diag::UnterminatedString);
      break;
    default:
      diags.report(range, diag::UnexpectedCharacter, text);
    }
  }
}

/// Finds nesting that is too deep before anything recurses over it.
static bool checkNesting(const Tokens &tokens, const Source &source,
                         Diagnostics &diags) {
  llvm::SmallVector<unsigned, 32> enclosing; // the depth outside each bracket
  unsigned depth = 0, signs = 0;
  for (const Token *token : tokens) {
    size_t type = token->getType();
    if (token->getChannel() != Token::DEFAULT_CHANNEL)
      continue;
    if (type == TDSLLexer::MINUS) {
      ++signs;
    } else if (type == TDSLLexer::LEFT_PAREN ||
               type == TDSLLexer::LEFT_BRACKET ||
               type == TDSLLexer::LEFT_BRACE) {
      enclosing.push_back(depth);
      depth += signs + 1;
      signs = 0;
    } else {
      signs = 0;
      if ((type == TDSLLexer::RIGHT_PAREN || type == TDSLLexer::RIGHT_BRACKET ||
           type == TDSLLexer::RIGHT_BRACE) &&
          !enclosing.empty())
        depth = enclosing.pop_back_val();
    }
    if (depth + signs > maxNesting) {
      diags.report(source.range(token), diag::NestingTooDeep, maxNesting);
      return false;
    }
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Syntax errors
//===----------------------------------------------------------------------===//

namespace {

/// Thrown when enough errors have been reported.
struct TooManyErrors {};

/// Reports errors in the user's words, at most one for each statement, and
/// goes on after the statement.
class Recovery : public antlr4::DefaultErrorStrategy {
public:
  Recovery(const Source &source, const Tokens &tokens, Diagnostics &diags)
      : source(source), tokens(tokens), diags(diags) {}

  void reset(antlr4::Parser *) override {}
  bool inErrorRecoveryMode(antlr4::Parser *) override { return false; }
  void reportMatch(antlr4::Parser *) override {}

  void reportError(antlr4::Parser *parser,
                   const antlr4::RecognitionException &) override {
    report(*parser);
  }
  void sync(antlr4::Parser *parser) override;
  Token *recoverInline(antlr4::Parser *parser) override;
  void recover(antlr4::Parser *parser, std::exception_ptr error) override;

private:
  const Source &source;
  const Tokens &tokens;
  Diagnostics &diags;
  size_t lastError = 0;
  unsigned errors = 0;

  void report(antlr4::Parser &parser);
  bool isConsequence(size_t index) const;
  std::string describeExpected(antlr4::Parser &parser,
                               antlr4::misc::IntervalSet &expected) const;
  std::string describeFound(const Token *token) const;
  const Token *unclosedBracket(size_t index, size_t closer) const;
  void skipStatement(antlr4::Parser &parser);
  void skipBlock(antlr4::Parser &parser);
};

} // namespace

static bool startsBlock(size_t type) {
  return type == TDSLLexer::CONFIG || type == TDSLLexer::KERNEL ||
         type == TDSLLexer::LAYER || type == TDSLLexer::MODEL;
}

/// Whether the token at `index` follows, in the same statement, one that was
/// reported already.
bool Recovery::isConsequence(size_t index) const {
  auto boundary = [](const Token *t) { return isBoundary(t->getType()); };
  llvm::ArrayRef<Token *> before = llvm::ArrayRef(tokens).take_front(index);
  for (const Token *token : llvm::reverse(before)) {
    if (boundary(token))
      break;
    if (isBad(token))
      return true;
  }
  return errors && lastError <= index &&
         llvm::none_of(before.drop_front(std::min(lastError, index)), boundary);
}

static llvm::StringRef tokenInWords(size_t type) {
  switch (type) {
  case Token::EOF:
    return "the end of the file";
  case TDSLLexer::NAME:
    return "a name";
  case TDSLLexer::INTEGER:
  case TDSLLexer::DECIMAL:
    return "a number";
  case TDSLLexer::STRING:
    return "a string";
  default:
    return "";
  }
}

/// "an expression or `)`": the expected tokens, grouped as people think of
/// them.
std::string
Recovery::describeExpected(antlr4::Parser &parser,
                           antlr4::misc::IntervalSet &expected) const {
  llvm::SmallVector<std::string, 8> words;
  bool expression = expected.contains(size_t(TDSLLexer::LEFT_PAREN)) &&
                    expected.contains(size_t(TDSLLexer::DECIMAL));
  bool statement = expected.contains(size_t(TDSLLexer::RETURN));
  if (expression)
    words.push_back("an expression");
  if (statement)
    words.push_back("a statement");
  for (ssize_t symbol : expected.toList()) {
    size_t type = symbol;
    if (expression &&
        (type == TDSLLexer::NAME || type == TDSLLexer::INTEGER ||
         type == TDSLLexer::DECIMAL || type == TDSLLexer::STRING ||
         type == TDSLLexer::YES || type == TDSLLexer::NO ||
         type == TDSLLexer::LEFT_PAREN || type == TDSLLexer::LEFT_BRACKET ||
         type == TDSLLexer::MINUS || type == TDSLLexer::WEIGHT))
      continue;
    if (statement && (type == TDSLLexer::NAME || type == TDSLLexer::WEIGHT ||
                      type == TDSLLexer::REPEAT || type == TDSLLexer::RETURN))
      continue;
    std::string word = tokenInWords(type).str();
    if (word.empty()) {
      // The vocabulary quotes literals: '{'.
      word = parser.getVocabulary().getLiteralName(type);
      word.front() = word.back() = '`';
    }
    words.push_back(std::move(word));
  }
  if (expected.contains(Token::EOF)) // sorts first, and reads best last
    std::rotate(words.begin() + statement + expression,
                words.begin() + statement + expression + 1, words.end());
  std::string text;
  for (auto [i, word] : llvm::enumerate(words)) {
    text += i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
    text += word;
  }
  return text;
}

std::string Recovery::describeFound(const Token *token) const {
  if (token->getType() == Token::EOF)
    return "the end of the file";
  llvm::StringRef text = source.spelling(token);
  std::string words = isKeyword(token->getType()) ? "the keyword `" : "`";
  words += text.take_front(40);
  words += text.size() > 40 ? "...`" : "`";
  return words;
}

/// The bracket that `closer` would close before token `index`.
const Token *Recovery::unclosedBracket(size_t index, size_t closer) const {
  size_t opener = closer == TDSLLexer::RIGHT_PAREN     ? TDSLLexer::LEFT_PAREN
                  : closer == TDSLLexer::RIGHT_BRACKET ? TDSLLexer::LEFT_BRACKET
                                                       : TDSLLexer::LEFT_BRACE;
  unsigned closed = 0;
  for (const Token *token :
       llvm::reverse(llvm::ArrayRef(tokens).take_front(index))) {
    if (token->getType() == closer)
      ++closed;
    else if (token->getType() == opener && closed-- == 0)
      return token;
  }
  return nullptr;
}

/// What a missing `;` was expected after.
static llvm::StringRef positionInWords(size_t rule) {
  switch (rule) {
  case TDSLParser::RuleConfigEntry:
    return " after the config entry";
  case TDSLParser::RuleWeightStatement:
  case TDSLParser::RuleReturnStatement:
  case TDSLParser::RuleLetStatement:
    return " after the statement";
  default:
    return "";
  }
}

void Recovery::report(antlr4::Parser &parser) {
  const Token *found = parser.getCurrentToken();
  size_t index = found->getTokenIndex();
  if (isConsequence(index))
    return;
  lastError = index;
  if (++errors > maxSyntaxErrors) {
    diags.report(source.range(found), diag::TooManyErrors);
    throw TooManyErrors();
  }
  antlr4::misc::IntervalSet expected = parser.getExpectedTokens();
  bool semicolon =
      expected.size() == 1 && expected.contains(size_t(TDSLLexer::SEMICOLON));
  SourceRange range = source.range(found);
  // The place of a missing `;` is the end of the line it is missing from.
  if (const Token *last = parser.getTokenStream()->LT(-1); semicolon && last)
    range.Start = range.End = source.range(last).End;
  auto report = diags.report(
      range, diag::ExpectedSyntax,
      describeExpected(parser, expected) +
          (semicolon ? positionInWords(parser.getContext()->getRuleIndex())
                     : llvm::StringRef())
              .str(),
      describeFound(found));
  for (size_t closer : {TDSLLexer::RIGHT_PAREN, TDSLLexer::RIGHT_BRACKET,
                        TDSLLexer::RIGHT_BRACE}) {
    bool far = isBoundary(found->getType()) || found->getType() == Token::EOF ||
               isKeyword(found->getType());
    if (!far || !expected.contains(closer))
      continue;
    if (const Token *opener = unclosedBracket(index, closer))
      report.note(source.range(opener), diag::ToMatch, source.spelling(opener));
  }
  if (found->getType() != TDSLLexer::NAME)
    return;
  for (llvm::StringRef keyword : {"config", "kernel", "layer", "model"})
    if (expected.contains(size_t(TDSLLexer::KERNEL)) &&
        source.spelling(found).edit_distance(keyword) <= 2)
      report.note(source.range(found), diag::DidYouMean, keyword);
}

/// Whether the parser stands at the first token of a line.
static bool startsLine(antlr4::Parser &parser) {
  const Token *last = parser.getTokenStream()->LT(-1);
  return last && parser.getCurrentToken()->getLine() > last->getLine();
}

/// Called before each decision and around each loop: the place to say all
/// that could stand here, and in a list of statements to get back in step.
void Recovery::sync(antlr4::Parser *parser) {
  const antlr4::atn::ATN &atn =
      parser->getInterpreter<antlr4::atn::ParserATNSimulator>()->atn;
  antlr4::misc::IntervalSet next =
      atn.nextTokens(atn.states[parser->getState()]);
  auto fits = [&] {
    return next.contains(Token::EPSILON) ||
           next.contains(parser->getTokenStream()->LA(1));
  };
  // At the end of a line, what is missing is a `;`: leave it to recoverInline.
  bool ends =
      next.contains(size_t(TDSLLexer::SEMICOLON)) && startsLine(*parser);
  if (fits() || ends)
    return;
  report(*parser);
  switch (parser->getContext()->getRuleIndex()) {
  case TDSLParser::RuleConfig:
  case TDSLParser::RuleBlock:
    while (!fits() && !startsBlock(parser->getTokenStream()->LA(1)) &&
           parser->getTokenStream()->LA(1) != Token::EOF)
      skipStatement(*parser);
    break;
  case TDSLParser::RuleFile:
    skipBlock(*parser);
    break;
  }
  if (!fits())
    throw antlr4::InputMismatchException(parser);
}

Token *Recovery::recoverInline(antlr4::Parser *parser) {
  bool consequence = isConsequence(parser->getCurrentToken()->getTokenIndex());
  report(*parser);
  antlr4::misc::IntervalSet expected = parser->getExpectedTokens();
  size_t found = parser->getTokenStream()->LA(1);
  bool begins = found == TDSLLexer::NAME || found == TDSLLexer::RIGHT_BRACE ||
                found == TDSLLexer::WEIGHT || found == TDSLLexer::RETURN ||
                found == TDSLLexer::REPEAT;
  if (!consequence && begins && startsLine(*parser) && expected.size() == 1 &&
      expected.contains(size_t(TDSLLexer::SEMICOLON))) {
    // A forgotten `;` at the end of a line: go on as if it were there.
    lastError = tokens.size();
    return parser->getCurrentToken();
  }
  throw antlr4::InputMismatchException(parser);
}

void Recovery::recover(antlr4::Parser *parser, std::exception_ptr error) {
  switch (parser->getContext()->getRuleIndex()) {
  case TDSLParser::RuleConfigEntry:
  case TDSLParser::RuleStatement:
    return skipStatement(*parser);
  case TDSLParser::RuleConfig:
  case TDSLParser::RuleFunction:
  case TDSLParser::RuleFile:
    return skipBlock(*parser);
  default:
    std::rethrow_exception(error); // to the statement around it
  }
}

/// Skips to after the next `;` or braced group, or to before what ends the
/// block.
void Recovery::skipStatement(antlr4::Parser &parser) {
  unsigned depth = 0;
  while (true) {
    size_t type = parser.getTokenStream()->LA(1);
    if (type == Token::EOF || startsBlock(type) ||
        (depth == 0 && type == TDSLLexer::RIGHT_BRACE))
      return;
    parser.consume();
    if (type == TDSLLexer::LEFT_BRACE)
      ++depth;
    else if (type == TDSLLexer::RIGHT_BRACE && --depth == 0)
      return;
    else if (type == TDSLLexer::SEMICOLON && depth == 0)
      return;
  }
}

void Recovery::skipBlock(antlr4::Parser &parser) {
  while (parser.getTokenStream()->LA(1) != Token::EOF &&
         !startsBlock(parser.getTokenStream()->LA(1)))
    parser.consume();
}

//===----------------------------------------------------------------------===//
// Contexts to nodes
//===----------------------------------------------------------------------===//

namespace {

/// Makes our tree from that of a text without syntax errors.
class TreeBuilder {
public:
  TreeBuilder(const Source &source, File &file, Diagnostics &diags)
      : source(source), file(file), diags(diags) {}

  void add(TDSLParser::FileContext *context);

private:
  const Source &source;
  File &file;
  Diagnostics &diags;

  Name name(antlr4::tree::TerminalNode *node) {
    return source.name(node->getSymbol());
  }
  llvm::ArrayRef<Name>
  names(const std::vector<antlr4::tree::TerminalNode *> &nodes) {
    std::vector<Name> list;
    for (antlr4::tree::TerminalNode *node : nodes)
      list.push_back(name(node));
    return file.copy(list);
  }
  template <typename Context>
  llvm::ArrayRef<Expr *> expressions(const std::vector<Context *> &contexts) {
    std::vector<Expr *> list;
    for (Context *context : contexts)
      list.push_back(expression(context));
    return file.copy(list);
  }

  FunctionDecl function(TDSLParser::FunctionContext *context);
  Type type(TDSLParser::TypeContext *context);
  llvm::ArrayRef<Statement *> statements(TDSLParser::BlockContext *context);
  Statement *statement(TDSLParser::StatementContext *context);
  Expr *expression(TDSLParser::ExpressionContext *context) {
    return chain(context);
  }
  Expr *expression(TDSLParser::ProductContext *context) {
    return chain(context);
  }
  Expr *expression(TDSLParser::NegationContext *context);
  Expr *chain(antlr4::ParserRuleContext *context);
  Expr *primary(TDSLParser::PrimaryContext *context);
  Expr *integer(const Token *token);
  Expr *decimal(const Token *token);
  Expr *reference(TDSLParser::ReferenceContext *context);
};

} // namespace

void TreeBuilder::add(TDSLParser::FileContext *context) {
  for (TDSLParser::ConfigContext *config : context->config())
    for (TDSLParser::ConfigEntryContext *entry : config->configEntry())
      file.config.push_back(
          {name(entry->NAME()), expression(entry->expression())});
  for (TDSLParser::FunctionContext *fn : context->function())
    file.functions.push_back(function(fn));
}

FunctionDecl TreeBuilder::function(TDSLParser::FunctionContext *context) {
  std::vector<Parameter> parameters;
  for (TDSLParser::ParameterContext *parameter : context->parameter())
    parameters.push_back({name(parameter->NAME()), type(parameter->type())});
  std::vector<Type> results;
  for (TDSLParser::TypeContext *result : context->results()->type())
    results.push_back(type(result));
  return {context->KERNEL()  ? FunctionDecl::Kernel
          : context->LAYER() ? FunctionDecl::Layer
                             : FunctionDecl::Model,
          name(context->NAME()),
          file.copy(parameters),
          file.copy(results),
          statements(context->block()),
          source.range(context->start, context->results()->stop),
          source.range(context->stop)};
}

Type TreeBuilder::type(TDSLParser::TypeContext *context) {
  return {source.range(context), name(context->NAME()),
          expressions(context->expression())};
}

llvm::ArrayRef<Statement *>
TreeBuilder::statements(TDSLParser::BlockContext *context) {
  std::vector<Statement *> list;
  for (TDSLParser::StatementContext *child : context->statement())
    list.push_back(statement(child));
  return file.copy(list);
}

Statement *TreeBuilder::statement(TDSLParser::StatementContext *context) {
  SourceRange range = source.range(context);
  if (auto *weight = context->weightStatement())
    return file.make<WeightStatement>({{Statement::Weight, range},
                                       names(weight->NAME()),
                                       type(weight->type())});
  if (auto *repeat = context->repeatStatement())
    return file.make<RepeatStatement>({{Statement::Repeat, range},
                                       name(repeat->NAME()),
                                       expression(repeat->expression(0)),
                                       expression(repeat->expression(1)),
                                       statements(repeat->block())});
  if (auto *result = context->returnStatement())
    return file.make<ReturnStatement>(
        {{Statement::Return, range}, expressions(result->expression())});
  auto *let = context->letStatement();
  return file.make<LetStatement>({{Statement::Let, range},
                                  names(let->NAME()),
                                  expression(let->expression())});
}

/// A list of operands with operators between them, folded from the left.
Expr *TreeBuilder::chain(antlr4::ParserRuleContext *context) {
  auto operand = [&](size_t index) -> Expr * {
    auto *child = context->children[index];
    if (auto *product = dynamic_cast<TDSLParser::ProductContext *>(child))
      return expression(product);
    return expression(static_cast<TDSLParser::NegationContext *>(child));
  };
  Expr *result = operand(0);
  for (size_t i = 1; i + 1 < context->children.size(); i += 2) {
    auto *op = static_cast<antlr4::tree::TerminalNode *>(context->children[i]);
    Expr *rhs = operand(i + 1);
    auto *last =
        static_cast<antlr4::ParserRuleContext *>(context->children[i + 1]);
    result = file.make<BinaryExpr>(
        {{Expr::Binary, source.range(context->start, last->stop)},
         name(op),
         result,
         rhs});
  }
  return result;
}

Expr *TreeBuilder::expression(TDSLParser::NegationContext *context) {
  if (TDSLParser::PrimaryContext *operand = context->primary())
    return primary(operand);
  return file.make<NegationExpr>({{Expr::Negation, source.range(context)},
                                  expression(context->negation())});
}

Expr *TreeBuilder::primary(TDSLParser::PrimaryContext *context) {
  if (context->INTEGER())
    return integer(context->start);
  if (context->DECIMAL())
    return decimal(context->start);
  if (auto *parenthesized = context->expression())
    return expression(parenthesized);
  if (auto *list = context->list())
    return file.make<ListExpr>(
        {{Expr::List, source.range(context)}, expressions(list->expression())});
  if (auto *ref = context->reference())
    return reference(ref);
  if (context->STRING())
    return file.make<StringExpr>(
        {{Expr::String, source.range(context)},
         source.spelling(context->start).drop_front().drop_back()});
  return file.make<BooleanExpr>(
      {{Expr::Boolean, source.range(context)}, context->YES() != nullptr});
}

Expr *TreeBuilder::integer(const Token *token) {
  int64_t value = 0;
  if (source.spelling(token).getAsInteger(10, value))
    diags.report(source.range(token), diag::NumberOutOfRange);
  return file.make<IntegerExpr>({{Expr::Integer, source.range(token)}, value});
}

Expr *TreeBuilder::decimal(const Token *token) {
  // Reading takes time quadratic in the digits, and no double needs so many.
  constexpr size_t maxDigits = 400;
  double value = 0;
  llvm::StringRef text = source.spelling(token);
  if (text.size() > maxDigits || text.getAsDouble(value) || std::isinf(value))
    diags.report(source.range(token), diag::NumberOutOfRange);
  return file.make<DecimalExpr>({{Expr::Decimal, source.range(token)}, value});
}

Expr *TreeBuilder::reference(TDSLParser::ReferenceContext *context) {
  std::vector<Argument> arguments;
  if (context->arguments())
    for (TDSLParser::ArgumentContext *arg : context->arguments()->argument()) {
      TDSLParser::ParameterNameContext *parameter = arg->parameterName();
      arguments.push_back({parameter ? source.name(parameter->start) : Name(),
                           expression(arg->expression())});
    }
  TDSLParser::IndexContext *index = context->index();
  return file.make<ReferenceExpr>(
      {{Expr::Reference, source.range(context)},
       name(context->NAME()),
       index ? expression(index->expression()) : nullptr,
       context->arguments() != nullptr,
       file.copy(arguments)});
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

std::unique_ptr<File> anec::parseSyntax(llvm::StringRef text,
                                        Diagnostics &diags) {
  size_t errorsBefore = diags.errorCount();
  text.consume_front("\xEF\xBB\xBF"); // a byte order mark
  if (!checkText(text, diags))
    return nullptr;

  Source source{text};
  ByteStream stream(text);
  TDSLLexer lexer(&stream);
  lexer.removeErrorListeners(); // every byte is some token
  antlr4::CommonTokenStream tokenStream(&lexer);
  tokenStream.fill();
  Tokens tokens = tokenStream.getTokens();
  reportBadTokens(tokens, source, diags);
  if (!checkNesting(tokens, source, diags))
    return nullptr;

  TDSLParser parser(&tokenStream);
  parser.removeErrorListeners();
  parser.setErrorHandler(std::make_shared<Recovery>(source, tokens, diags));
  try {
    TDSLParser::FileContext *context = parser.file();
    if (diags.errorCount() != errorsBefore)
      return nullptr;
    auto file = std::make_unique<File>();
    TreeBuilder(source, *file, diags).add(context);
    return diags.errorCount() == errorsBefore ? std::move(file) : nullptr;
  } catch (const TooManyErrors &) {
    return nullptr;
  }
}
