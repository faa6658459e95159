//===- Outline.cpp - MIL text as written ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/MIL/Outline.h"
#include "Lexer.h"
#include "anec/IR/Type.h"
#include "lib/Ops/Ops.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::mil;
using namespace llvm;

const OutlineArgument *OutlineStatement::argument(StringRef name) const {
  for (const OutlineArgument &given : arguments)
    if (given.name.text == name)
      return &given;
  return nullptr;
}

namespace {

using Tokens = ArrayRef<Token>;

OutlineWord word(const Token &token) { return {token.text, token.range()}; }

/// The string of a token, without quotes.
OutlineWord unquoted(const Token &token) {
  return {token.text.drop_front().drop_back(), token.range()};
}

SourceRange rangeOf(Tokens tokens) {
  return {tokens.front().range().Start, tokens.back().range().End};
}

bool isDTypeName(const Token &token) {
  return token.kind == Token::Identifier && parseDType(token.text);
}

bool opens(const Token &token) {
  return token.is('(') || token.is('[') || token.is('{') || token.is('<');
}
bool closes(const Token &token) {
  return token.is(')') || token.is(']') || token.is('}') || token.is('>');
}

/// The index of the bracket that closes the first of `tokens`; their end, if
/// there is none.
size_t closing(Tokens tokens) {
  unsigned depth = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    depth += opens(tokens[i]);
    depth -= closes(tokens[i]) && depth;
    if (!depth)
      return i;
  }
  return tokens.size();
}

/// Calls `element` for each range of `tokens` between commas.
void split(Tokens tokens, function_ref<void(Tokens)> element) {
  size_t begin = 0;
  for (size_t i = 0; i <= tokens.size(); ++i) {
    if (i < tokens.size() && opens(tokens[i]))
      i += closing(tokens.drop_front(i));
    if (i < tokens.size() && !tokens[i].is(','))
      continue;
    size_t end = std::min(i, tokens.size());
    if (end > begin)
      element(tokens.slice(begin, end - begin));
    begin = end + 1;
  }
}

OutlineArgument::Form formOf(Tokens value) {
  const Token &first = value.front();
  bool literal = first.kind == Token::String || first.kind == Token::Number ||
                 first.is('[') || first.isWord("true") || first.isWord("false");
  if (literal)
    return OutlineArgument::Untyped;
  return value.size() == 1 ? OutlineArgument::Name : OutlineArgument::Typed;
}

/// `name = value`, or `name = (value, ...)`.
void readArgument(Tokens tokens, std::vector<OutlineArgument> &arguments) {
  if (tokens.size() < 3 || !tokens[1].is('='))
    return;
  Tokens value = tokens.drop_front(2);
  OutlineArgument argument{word(tokens[0]), OutlineArgument::Name, {}};
  SourceRange range = rangeOf(value);
  argument.value = {
      StringRef(range.Start.getPointer(),
                range.End.getPointer() - range.Start.getPointer()),
      range};
  if (value.front().is('(') && value.size() > 1)
    split(value.drop_front().drop_back(), [&](Tokens element) {
      argument.form = std::max(argument.form, formOf(element));
    });
  else
    argument.form = formOf(value);
  arguments.push_back(argument);
}

/// Interprets the tokens up to a `;` or a brace.
class Scanner {
public:
  explicit Scanner(MILOutline &outline) : outline(outline) {}

  void readHeader(Tokens tokens) {
    for (size_t i = 0; i + 2 < tokens.size(); ++i) {
      if (tokens[i].isWord("program") && tokens[i + 1].is('('))
        outline.version = word(tokens[i + 2]);
      outline.hasBuildInfo |= tokens[i].isWord("buildInfo");
    }
  }

  /// `func main<ios18>(...)`.
  void readFunction(Tokens tokens) {
    OutlineFunction &function = outline.functions.emplace_back();
    if (tokens.size() > 1)
      function.name = word(tokens[1]);
    if (tokens.size() > 3 && tokens[2].is('<'))
      function.opset = word(tokens[3]);
    readTypes(tokens.drop_front(std::min<size_t>(tokens.size(), 2)));
  }

  void readStatement(Tokens tokens) {
    if (outline.functions.empty())
      return;
    readTypes(tokens);
    readBlob(tokens);
    size_t op = findOp(tokens);
    if (op == tokens.size())
      return;
    OutlineStatement statement;
    statement.op = word(tokens[op]);
    statement.def = opTable().find(statement.op.text);
    readResults(tokens.take_front(op - 1), statement);
    Tokens rest = tokens.drop_front(op + 1);
    size_t end = closing(rest);
    statement.range =
        rangeOf(tokens.slice(op, std::min(end + 2, tokens.size() - op)));
    readList(rest, end, statement.arguments);
    rest = rest.drop_front(std::min(end + 1, rest.size()));
    if (!rest.empty() && rest.front().is('['))
      readList(rest, closing(rest), statement.attributes);
    readLabel(rest, statement);
    outline.functions.back().statements.push_back(std::move(statement));
  }

private:
  /// The index of the name after the `=` outside of brackets; the size if there
  /// is none.
  static size_t findOp(Tokens tokens) {
    for (size_t i = 0; i + 2 < tokens.size(); ++i) {
      if (opens(tokens[i])) {
        i += closing(tokens.drop_front(i));
        continue;
      }
      if (i > 0 && tokens[i].is('=') &&
          tokens[i + 1].kind == Token::Identifier && tokens[i + 2].is('('))
        return i + 1;
    }
    return tokens.size();
  }

  static void readList(Tokens bracket, size_t end,
                       std::vector<OutlineArgument> &arguments) {
    if (end == 0 || end >= bracket.size())
      return;
    split(bracket.slice(1, end - 1),
          [&](Tokens argument) { readArgument(argument, arguments); });
  }

  static void readResults(Tokens tokens, OutlineStatement &statement) {
    split(tokens, [&](Tokens declaration) {
      if (declaration.back().kind == Token::Identifier)
        statement.results.push_back(word(declaration.back()));
    });
  }

  /// `[name = string("x")]`.
  static void readLabel(Tokens attributes, OutlineStatement &statement) {
    for (size_t i = 0; i + 1 < attributes.size(); ++i)
      if (attributes[i].isWord("name") && attributes[i + 1].is('='))
        for (const Token &token : attributes.drop_front(i + 2)) {
          if (token.kind == Token::String)
            statement.label = unquoted(token);
          if (token.kind == Token::String || token.is('='))
            return;
        }
  }

  void readBlob(Tokens tokens) {
    for (size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (!tokens[i].isWord("BLOBFILE") || !tokens[i + 1].is('('))
        continue;
      size_t end = closing(tokens.drop_front(i + 1));
      Tokens inside = tokens.slice(i + 1, std::min(end, tokens.size() - i - 1));
      OutlineBlob blob;
      blob.range = rangeOf(tokens.slice(i, inside.size() + 1));
      for (const Token &token : inside) {
        uint64_t offset;
        if (token.kind == Token::String)
          blob.path = unquoted(token);
        else if (token.kind == Token::Number &&
                 !token.text.getAsInteger(10, offset))
          blob.offset = offset;
      }
      outline.blobs.push_back(blob);
    }
  }

  /// Reads the spelling of scalars, and unknown extents.
  void readTypes(Tokens tokens) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (!outline.unknownExtent.isValid() && tokens[i].is('?'))
        outline.unknownExtent = tokens[i].range();
      if (!outline.tensorScalar.isValid() && i + 5 < tokens.size() &&
          tokens[i].isWord("tensor") && tokens[i + 4].is('[') &&
          tokens[i + 5].is(']'))
        outline.tensorScalar = tokens[i].range();
      bool inType = i > 0 && tokens[i - 1].is('<');
      bool typesValue =
          i + 1 < tokens.size() &&
          (tokens[i + 1].is('(') || tokens[i + 1].kind == Token::Identifier);
      if (!outline.bareScalar.isValid() && isDTypeName(tokens[i]) && !inType &&
          typesValue)
        outline.bareScalar = tokens[i].range();
    }
  }

  MILOutline &outline;
};

} // namespace

MILOutline anec::outlineMIL(StringRef text) {
  MILOutline outline;
  Scanner scanner(outline);
  Diagnostics ignored; // The reader reports invalid tokens.
  Lexer lexer(text.take_until([](char c) { return c == '\0'; }), ignored);
  std::vector<Token> tokens;
  unsigned brackets = 0;
  while (lexer.peek().kind != Token::End) {
    Token token = lexer.take();
    // Braces inside brackets belong to dictionaries.
    brackets += token.is('(') || token.is('[');
    brackets -= (token.is(')') || token.is(']')) && brackets;
    bool ends =
        token.is(';') || (!brackets && (token.is('{') || token.is('}')));
    if (!ends) {
      tokens.push_back(token);
      continue;
    }
    if (token.is(';'))
      brackets = 0;
    if (!tokens.empty() && tokens.front().isWord("program"))
      scanner.readHeader(tokens);
    else if (!tokens.empty() && tokens.front().isWord("func"))
      scanner.readFunction(tokens);
    else if (!tokens.empty())
      scanner.readStatement(tokens);
    tokens.clear();
  }
  return outline;
}
