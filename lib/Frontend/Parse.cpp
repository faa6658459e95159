//===- Parse.cpp - .tdsl text to syntax tree ------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Hints.h"
#include "Syntax.h"
#include "lib/Frontend/Diags.h"
#include "lib/Frontend/Frontend.h"
#include "lib/Support/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"

using namespace anec;
using namespace anec::tdsl;
using antlr4::Token;

/// The maximum nesting of brackets and signs: every level uses stack in the
/// parser and in all code that visits the tree.
static constexpr unsigned maxNesting = 200;

namespace {

/// The text for ANTLR: one symbol per byte, so that token positions are offsets
/// into the text. The grammar uses only ASCII.
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

} // namespace

//===----------------------------------------------------------------------===//
// Checks before parsing
//===----------------------------------------------------------------------===//

bool tdsl::isBad(const Token *token) {
  size_t type = token->getType();
  return type == TDSLLexer::BAD_NUMBER || type == TDSLLexer::OPEN_STRING ||
         type == TDSLLexer::UNKNOWN;
}

/// Checks that the input is text.
static bool checkText(llvm::StringRef text, Diagnostics &diags) {
  auto at = [&](size_t offset) {
    return ast::Name{text.substr(offset, 1)}.range();
  };
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

/// Reports characters that the language does not use, with what to write.
static void reportCharacters(const Tokens &tokens, size_t first,
                             Diagnostics &diags, SourceRange range,
                             llvm::StringRef text) {
  auto report = diags.report(range, diag::UnexpectedCharacter, text);
  llvm::StringRef advice = frontend::adviceForCharacter(text[0]);
  auto isInteger = [&](size_t index) {
    return index < tokens.size() &&
           tokens[index]->getType() == TDSLLexer::INTEGER;
  };
  if (text == "." && (isInteger(first + 1) || (first && isInteger(first - 1))))
    advice = "a decimal has digits on both sides of the point";
  if (!advice.empty())
    report.note(range, diag::WriteInstead, advice);
}

/// Reports invalid tokens. Adjacent stray bytes are one error.
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
      reportCharacters(tokens, first, diags, range, text);
      // The rest of the line is the comment.
      while (text[0] == '#' &&
             tokens[i + 1]->getLine() == tokens[first]->getLine() &&
             tokens[i + 1]->getType() != Token::EOF)
        ++i;
    }
  }
}

/// Finds nesting that is too deep before any code recurses over it.
static bool checkNesting(const Tokens &tokens, const Source &source,
                         Diagnostics &diags) {
  llvm::SmallVector<unsigned, 32> enclosing; // the depth outside each bracket
  unsigned depth = 0, signs = 0;
  for (const Token *token : tokens) {
    size_t type = token->getType();
    if (token->getChannel() != Token::DEFAULT_CHANNEL)
      continue;
    if (type == TDSLLexer::MINUS || type == TDSLLexer::NOT) {
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
// Entry
//===----------------------------------------------------------------------===//

std::unique_ptr<ast::File> anec::parseSyntax(llvm::StringRef text,
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
  parser.setErrorHandler(makeRecovery(source, tokens, diags));
  try {
    TDSLParser::FileContext *context = parser.file();
    if (diags.errorCount() != errorsBefore)
      return nullptr;
    std::unique_ptr<ast::File> file = buildTree(context, source, diags);
    return diags.errorCount() == errorsBefore ? std::move(file) : nullptr;
  } catch (const TooManyErrors &) {
    return nullptr;
  }
}
