//===- Parser.cpp - template programs from their tokens -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

using namespace anec::jinja;
using namespace llvm;

namespace anec::jinja {
/// A body that is a function of its own: what is around it guards nothing in
/// it, and its loops are its own.
struct Unguarded {
  explicit Unguarded(Parser &parser, bool isFunction)
      : parser(parser), wasGuarded(parser.isGuarded), loops(parser.loops) {
    parser.isGuarded = false;
    if (isFunction)
      parser.loops = 0;
  }
  ~Unguarded() {
    parser.isGuarded = wasGuarded;
    parser.loops = loops;
  }
  Parser &parser;
  bool wasGuarded;
  unsigned loops;
};
} // namespace anec::jinja

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
        fail("`" + *(ends.end() - 1) + "` is missing");
      break;
    }
    Statement made{.kind = S::Data, .line = token().line};
    if (token().kind == T::Data) {
      made.text = std::move(tokens[next++].text);
      out.push_back(std::move(made));
    } else if (accept(T::Begin, "{{")) {
      made.kind = S::Output;
      made.value = tuple(false, true, false);
      expect(T::End, "}}");
      out.push_back(std::move(made));
    } else {
      expect(T::BlockBegin, "{%");
      if (any_of(ends, [&](StringRef end) { return isWord(end); }))
        break;
      out.push_back(block());
      expect(T::BlockEnd, "%}");
    }
  }
  return out;
}

/// The same, behind the end of a block.
std::vector<Statement>
Parser::blockBody(std::initializer_list<StringRef> ends) {
  operation(":"); // as in Python
  expect(T::BlockEnd, "%}");
  return body(ends);
}

std::vector<Statement> Parser::closedBody(StringRef end) {
  std::vector<Statement> made = blockBody({end});
  expect(T::Name, end);
  return made;
}

/// Whether values can be assigned to `target`.
bool Parser::checkTarget(const Expression &target) {
  if (target.kind == E::Name || target.kind == E::Member)
    return true;
  if (target.kind == E::Tuple && all_of(target.items, [&](const auto &item) {
        return checkTarget(*item);
      }))
    return true;
  failAt(target.line, "this cannot be assigned to");
  return false;
}

ExpressionPtr Parser::target(StringRef end, bool isName) {
  ExpressionPtr made =
      isName ? primary() : tuple(/*isTarget=*/true, false, false, end);
  if (!error && isName && made->kind != E::Name)
    failAt(made->line, "a name is expected");
  if (!error)
    checkTarget(*made);
  return made;
}

void Parser::conditional(Statement &made) {
  Nesting nesting(depth);
  if (depth > Nesting::most)
    fail("it is nested too deeply");
  made.kind = S::If;
  bool wasGuarded = isGuarded;
  isGuarded = true;
  auto restore = make_scope_exit([&] { isGuarded = wasGuarded; });
  made.value = tuple(false, /*hasChoice=*/false, false);
  made.body = blockBody({"elif", "else", "endif"});
  if (isWord("elif")) {
    Statement inner{.kind = S::If, .line = token().line};
    ++next;
    conditional(inner);
    made.otherwise.push_back(std::move(inner));
    return;
  }
  if (word("else"))
    made.otherwise = blockBody({"endif"});
  expect(T::Name, "endif");
}

void Parser::loop(Statement &made) {
  made.kind = S::For;
  made.targets.push_back(target("in"));
  expect(T::Name, "in");
  made.value = tuple(false, /*hasChoice=*/false, false, "recursive");
  Unguarded unguarded(*this, false);
  if (word("if"))
    made.condition = expression();
  made.isRecursive = word("recursive");
  ++loops;
  made.body = blockBody({"else", "endfor"});
  --loops;
  if (word("else"))
    made.otherwise = blockBody({"endfor"});
  expect(T::Name, "endfor");
}

void Parser::assignment(Statement &made) {
  made.targets.push_back(target());
  if (operation("=")) {
    made.kind = S::Set;
    made.value = tuple(false, true, false);
    return;
  }
  made.kind = S::SetBody;
  Unguarded unguarded(*this, false);
  if (isOperator("|"))
    made.value = filterChain(nullptr, false);
  made.body = closedBody("endset");
}

void Parser::with(Statement &made) {
  made.kind = S::With;
  while (!error && token().kind != T::BlockEnd) {
    if (!made.targets.empty())
      expect(T::Operator, ",");
    made.targets.push_back(target());
    expect(T::Operator, "=");
    made.values.push_back(expression());
  }
  Unguarded unguarded(*this, false);
  made.body = closedBody("endwith");
}

/// The parameters of a macro, or of the body of a call.
void Parser::signature(Statement &made) {
  expect(T::Operator, "(");
  while (!error && !operation(")")) {
    if (!made.names.empty())
      expect(T::Operator, ",");
    made.names.push_back(target("", /*isName=*/true)->text);
    if (operation("="))
      made.defaults.push_back(expression());
    else if (!made.defaults.empty())
      fail("a parameter without a default is behind one with a default");
  }
}

/// The body of a function, and what it uses of what it can be given.
void Parser::functionBody(Statement &made, StringRef end) {
  Unguarded unguarded(*this, true);
  macros.push_back(&made);
  made.body = closedBody(end);
  macros.pop_back();
  made.usesVarargs &= !is_contained(made.names, "varargs");
  made.usesKwargs &= !is_contained(made.names, "kwargs");
  made.usesCaller &= !is_contained(made.names, "caller");
}

void Parser::macro(Statement &made) {
  made.kind = S::Macro;
  made.text = target("", /*isName=*/true)->text;
  signature(made);
  functionBody(made, "endmacro");
}

void Parser::callBlock(Statement &made) {
  made.kind = S::Call;
  if (isOperator("("))
    signature(made);
  made.value = expression();
  if (!error && made.value->kind != E::Call)
    failAt(made.line, "`call` needs a call");
  functionBody(made, "endcall");
}

void Parser::namedBlock(Statement &made) {
  made.kind = S::Block;
  made.text = name();
  if (is_contained(blocks, made.text))
    failAt(made.line, "there are two blocks `" + made.text + "`");
  blocks.push_back(made.text);
  made.isScoped = word("scoped");
  if (word("required"))
    failAt(made.line, "the block `" + made.text +
                          "` is required, and no other template has it");
  Unguarded unguarded(*this, true);
  made.body = closedBody("endblock");
  word(made.text);
}

/// include, import, from and extends need other templates, and there are none.
void Parser::load(Statement &made, StringRef kind) {
  made.kind = S::Load;
  made.text = kind.str();
  made.value = expression();
  while (!error && token().kind != T::BlockEnd)
    ++next;
}

Statement Parser::block() {
  Statement made{.kind = S::Data, .line = token().line};
  std::string kind = name();
  StringRef word = kind;
  if (word == "if") {
    conditional(made);
  } else if (word == "for") {
    loop(made);
  } else if (word == "set") {
    assignment(made);
  } else if (word == "with") {
    with(made);
  } else if (word == "macro") {
    macro(made);
  } else if (word == "call") {
    callBlock(made);
  } else if (word == "filter") {
    made.kind = S::Filter;
    Unguarded unguarded(*this, false);
    made.value = filterChain(nullptr, /*begins=*/true);
    made.body = closedBody("endfilter");
  } else if (word == "block") {
    namedBlock(made);
  } else if (word == "generation") {
    made.kind = S::Generation;
    Unguarded unguarded(*this, true);
    made.body = closedBody("endgeneration");
  } else if (word == "break" || word == "continue") {
    made.kind = word == "break" ? S::Break : S::Continue;
    if (loops == 0 && !error)
      failAt(made.line, "`" + word + "` is outside of a loop");
  } else if (word == "do") {
    made.kind = S::Evaluate;
    made.value = tuple(false, true, false);
  } else if (word == "print") {
    made.kind = S::Scope;
    while (!error && token().kind != T::BlockEnd) {
      if (!made.body.empty())
        expect(T::Operator, ",");
      Statement output{.kind = S::Output, .line = made.line};
      output.value = expression();
      made.body.push_back(std::move(output));
    }
  } else if (word == "autoescape") {
    made.kind = S::Scope;
    made.value = expression();
    bool isOff = !error && made.value->kind == E::Literal &&
                 !made.value->literal.isTrue();
    if (!error && !isOff)
      failAt(made.line, "`autoescape` is not supported");
    Unguarded unguarded(*this, false);
    made.body = closedBody("endautoescape");
  } else if (word == "include" || word == "import" || word == "from" ||
             word == "extends") {
    load(made, word);
  } else if (!error) {
    failAt(made.line, "there is no statement `" + word + "`");
  }
  return made;
}

std::vector<Statement> Parser::program() {
  std::vector<Statement> made = body({});
  if (!error && !unknown.empty())
    error = unknown.front();
  return made;
}

std::optional<std::vector<Statement>> anec::jinja::parse(StringRef program,
                                                         TemplateError &error) {
  std::vector<Token> tokens = tokenize(program, error);
  if (error)
    return std::nullopt;
  std::vector<Statement> statements =
      Parser(std::move(tokens), error).program();
  if (!error)
    foldConstants(statements, error);
  if (error)
    return std::nullopt;
  return statements;
}
