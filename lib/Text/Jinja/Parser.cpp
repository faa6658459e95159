//===- Parser.cpp - template programs from their tokens -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Parser.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec::jinja;
using namespace llvm;

std::string Parser::name() {
  if (token().kind != T::Name) {
    fail("a name is expected, and there is `" + token().text + "`");
    return "";
  }
  return tokens[next++].text;
}

ExpressionPtr Parser::make(E kind, StringRef text) {
  auto made = std::make_unique<Expression>();
  made->kind = kind;
  made->offset = token().offset;
  made->text = text.str();
  return made;
}

/// The statements up to a block that begins with one of `ends`, whose name is
/// the next token.
std::vector<Statement> Parser::body(std::initializer_list<StringRef> ends) {
  Nesting nesting(depth);
  if (depth > Nesting::most)
    fail("it is nested too deeply");
  std::vector<Statement> out;
  while (!error) {
    if (token().kind == T::Finish) {
      if (ends.size())
        fail("`" + *ends.begin() + "` is missing");
      break;
    }
    Statement made{.kind = S::Text, .offset = token().offset};
    if (token().kind == T::Text) {
      made.text = tokens[next++].text;
      out.push_back(std::move(made));
    } else if (accept(T::Begin, "{{")) {
      made.kind = S::Output;
      made.value = expression();
      expect(T::End, "}}");
      out.push_back(std::move(made));
    } else {
      expect(T::BlockBegin, "{%");
      if (any_of(ends, [&](StringRef end) { return isName(end); }))
        break;
      block(out);
    }
  }
  return out;
}

void Parser::endBlock(StringRef name) {
  expect(T::Name, name);
  expect(T::BlockEnd, "%}");
}

Statement Parser::conditional() {
  Nesting nesting(depth);
  if (depth > Nesting::most)
    fail("it is nested too deeply");
  Statement made{.kind = S::If, .offset = token().offset};
  made.value = expression();
  expect(T::BlockEnd, "%}");
  made.body = body({"endif", "else", "elif"});
  if (word("elif")) {
    made.otherwise.push_back(conditional());
    return made;
  }
  if (word("else")) {
    expect(T::BlockEnd, "%}");
    made.otherwise = body({"endif"});
  }
  endBlock("endif");
  return made;
}

Statement Parser::loop() {
  Statement made{.kind = S::For, .offset = token().offset};
  do
    made.names.push_back(name());
  while (operation(","));
  expect(T::Name, "in");
  made.value = expression(/*hasChoice=*/false);
  if (word("if"))
    made.condition = expression();
  expect(T::BlockEnd, "%}");
  made.body = body({"endfor", "else"});
  if (word("else")) {
    expect(T::BlockEnd, "%}");
    made.otherwise = body({"endfor"});
  }
  endBlock("endfor");
  return made;
}

Statement Parser::assignment() {
  Statement made{.kind = S::Set, .offset = token().offset};
  do
    made.names.push_back(name());
  while (operation(","));
  if (operation("."))
    made.text = name();
  if (operation("=")) {
    made.value = expression();
    if (is(T::Operator, ",")) { // a tuple
      ++next;
      ExpressionPtr first = std::move(made.value);
      made.value = make(E::List, "", std::move(first));
      do
        made.value->items.push_back(expression());
      while (operation(","));
    }
    expect(T::BlockEnd, "%}");
    return made;
  }
  expect(T::BlockEnd, "%}");
  made.body = body({"endset"});
  endBlock("endset");
  return made;
}

Statement Parser::macro() {
  Statement made{.kind = S::Macro, .offset = token().offset};
  made.text = name();
  expect(T::Operator, "(");
  while (!error && !operation(")")) {
    made.names.push_back(name());
    made.defaults.push_back(operation("=") ? expression() : nullptr);
    if (!operation(",") && !is(T::Operator, ")"))
      expect(T::Operator, ")");
  }
  expect(T::BlockEnd, "%}");
  made.body = body({"endmacro"});
  endBlock("endmacro");
  return made;
}

void Parser::block(std::vector<Statement> &out) {
  size_t offset = token().offset;
  if (word("if"))
    return out.push_back(conditional());
  if (word("for"))
    return out.push_back(loop());
  if (word("set"))
    return out.push_back(assignment());
  if (word("macro"))
    return out.push_back(macro());
  if (isName("break") || isName("continue")) {
    S kind = word("break") ? S::Break : (++next, S::Continue);
    out.push_back({.kind = kind, .offset = offset});
    return expect(T::BlockEnd, "%}");
  }
  // What an assistant says, for training: a mark that prints nothing.
  if (word("generation")) {
    expect(T::BlockEnd, "%}");
    for (Statement &inner : body({"endgeneration"}))
      out.push_back(std::move(inner));
    return endBlock("endgeneration");
  }
  fail("`" + token().text + "` is no statement that anec knows");
}

std::vector<Statement> Parser::program() { return body({}); }

std::optional<std::vector<Statement>> anec::jinja::parse(StringRef program,
                                                         TemplateError &error) {
  std::vector<Token> tokens = tokenize(program, error);
  if (error)
    return std::nullopt;
  std::vector<Statement> statements =
      Parser(std::move(tokens), error).program();
  if (error)
    return std::nullopt;
  return statements;
}
