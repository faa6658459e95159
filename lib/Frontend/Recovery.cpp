//===- Recovery.cpp - recovery from syntax errors -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Hints.h"
#include "Syntax.h"
#include "lib/Frontend/Diags.h"
#include "lib/Support/Diags.h"
#include "lib/Support/OrList.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::tdsl;
using antlr4::Token;

static constexpr unsigned maxSyntaxErrors = 20;

static bool isKeyword(size_t type) {
  return type >= TDSLLexer::IMPORT && type <= TDSLLexer::NO;
}

/// Whether a token ends a statement, or encloses statements.
static bool isBoundary(size_t type) {
  return type == TDSLLexer::SEMICOLON || type == TDSLLexer::LEFT_BRACE ||
         type == TDSLLexer::RIGHT_BRACE;
}

namespace {

/// Reports errors in terms of the language, at most one for each statement, and
/// continues after the statement.
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
  bool reportForeignWord(antlr4::Parser &parser);
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
  return type == TDSLLexer::CONFIG || type == TDSLLexer::FN ||
         type == TDSLLexer::KERNEL || type == TDSLLexer::LAYER ||
         type == TDSLLexer::MODEL;
}

/// Whether the token at `index` follows, in the same statement, one that was
/// already reported.
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

/// "an expression or `)`": the expected tokens, grouped by concept.
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
         type == TDSLLexer::MINUS || type == TDSLLexer::NOT ||
         type == TDSLLexer::COLON || type == TDSLLexer::WEIGHT))
      continue;
    if (statement && (type == TDSLLexer::NAME || type == TDSLLexer::FROZEN ||
                      type == TDSLLexer::WEIGHT || type == TDSLLexer::REPEAT ||
                      type == TDSLLexer::RETURN || type == TDSLLexer::CONST))
      continue;
    std::string word = tokenInWords(type).str();
    if (word.empty()) {
      // The vocabulary quotes literals: '{'.
      word = parser.getVocabulary().getLiteralName(type);
      word.front() = word.back() = '`';
    }
    words.push_back(std::move(word));
  }
  if (expected.contains(Token::EOF)) // sorted first, but listed last
    std::rotate(words.begin() + statement + expression,
                words.begin() + statement + expression + 1, words.end());
  return orList(words);
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

/// The construct after which a missing `;` was expected.
static llvm::StringRef positionInWords(size_t rule) {
  switch (rule) {
  case TDSLParser::RuleImportStatement:
    return " after the import";
  case TDSLParser::RuleConfigEntry:
    return " after the config entry";
  case TDSLParser::RuleConstant:
    return " after the constant";
  case TDSLParser::RuleWeightStatement:
  case TDSLParser::RuleReturnStatement:
  case TDSLParser::RuleLetStatement:
    return " after the statement";
  default:
    return "";
  }
}

/// Reports `if`, `for`, `def` and the like, where a statement or a block
/// starts.
bool Recovery::reportForeignWord(antlr4::Parser &parser) {
  size_t rule = parser.getContext()->getRuleIndex();
  const Token *word = rule == TDSLParser::RuleFile ? parser.getCurrentToken()
                      : rule == TDSLParser::RuleLetStatement
                          ? parser.getContext()->start
                          : nullptr;
  if (!word || word->getType() != TDSLLexer::NAME)
    return false;
  llvm::StringRef advice = frontend::adviceForWord(source.spelling(word));
  if (advice.empty())
    return false;
  diags.report(source.range(word), diag::ForeignStatement,
               source.spelling(word), advice);
  return true;
}

/// What to write instead of a token that shows what was meant.
static llvm::StringRef adviceFor(antlr4::Parser &parser, size_t found,
                                 const antlr4::misc::IntervalSet &expected) {
  size_t rule = parser.getContext()->getRuleIndex();
  if (expected.contains(size_t(TDSLLexer::ARROW)))
    return "the types of the results follow the parameters: `-> fp16[4]`";
  if (rule != TDSLParser::RuleLetStatement ||
      !expected.contains(size_t(TDSLLexer::EQUALS)))
    return "";
  switch (found) {
  case TDSLLexer::LEFT_PAREN:
    return "a value needs a name: `y = f(x);`";
  case TDSLLexer::COLON:
    return "the type of a value follows from its expression";
  case TDSLLexer::PLUS:
  case TDSLLexer::MINUS:
  case TDSLLexer::STAR:
  case TDSLLexer::SLASH:
    return "a name is defined once: `y = x + 1;`";
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
  if (reportForeignWord(parser))
    return;
  antlr4::misc::IntervalSet expected = parser.getExpectedTokens();
  bool semicolon =
      expected.size() == 1 && expected.contains(size_t(TDSLLexer::SEMICOLON));
  SourceRange range = source.range(found);
  // A missing `;` is reported at the end of its line.
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
  llvm::StringRef advice = adviceFor(parser, found->getType(), expected);
  if (!advice.empty())
    report.note(source.range(found), diag::WriteInstead, advice);
  if (found->getType() != TDSLLexer::NAME)
    return;
  for (llvm::StringRef keyword : {"config", "kernel", "layer", "model"})
    if (expected.contains(size_t(TDSLLexer::KERNEL)) &&
        source.spelling(found).edit_distance(keyword) <= 2)
      report.note(source.range(found), diag::DidYouMean, keyword);
}

/// Whether the parser is at the first token of a line.
static bool startsLine(antlr4::Parser &parser) {
  const Token *last = parser.getTokenStream()->LT(-1);
  return last && parser.getCurrentToken()->getLine() > last->getLine();
}

/// Called before each decision and around each loop: reports all tokens that
/// are valid here, and resynchronizes in a list of statements.
void Recovery::sync(antlr4::Parser *parser) {
  const antlr4::atn::ATN &atn =
      parser->getInterpreter<antlr4::atn::ParserATNSimulator>()->atn;
  antlr4::misc::IntervalSet next =
      atn.nextTokens(atn.states[parser->getState()]);
  auto fits = [&] {
    return next.contains(Token::EPSILON) ||
           next.contains(parser->getTokenStream()->LA(1));
  };
  // At the end of a line, a `;` is missing: recoverInline handles that.
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
                found == TDSLLexer::FROZEN || found == TDSLLexer::WEIGHT ||
                found == TDSLLexer::RETURN || found == TDSLLexer::REPEAT ||
                found == TDSLLexer::CONST;
  if (!consequence && begins && startsLine(*parser) && expected.size() == 1 &&
      expected.contains(size_t(TDSLLexer::SEMICOLON))) {
    // A missing `;` at the end of a line: continue as if it were present.
    lastError = tokens.size();
    return parser->getCurrentToken();
  }
  throw antlr4::InputMismatchException(parser);
}

void Recovery::recover(antlr4::Parser *parser, std::exception_ptr error) {
  switch (parser->getContext()->getRuleIndex()) {
  case TDSLParser::RuleImportStatement:
  case TDSLParser::RuleConfigEntry:
  case TDSLParser::RuleConstant:
  case TDSLParser::RuleStatement:
    return skipStatement(*parser);
  case TDSLParser::RuleConfig:
  case TDSLParser::RuleInlined:
  case TDSLParser::RuleFunction:
  case TDSLParser::RuleFile:
    return skipBlock(*parser);
  default:
    std::rethrow_exception(error); // to the enclosing statement
  }
}

/// Skips past the next `;` or braced group, or up to the token that ends the
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

std::shared_ptr<antlr4::ANTLRErrorStrategy>
tdsl::makeRecovery(const Source &source, const Tokens &tokens,
                   Diagnostics &diags) {
  return std::make_shared<Recovery>(source, tokens, diags);
}
