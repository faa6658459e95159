//===- Text.cpp - what the double's compiler takes ------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Text.h"
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <vector>

using namespace ane_double;

namespace {

struct Token {
  std::string text; ///< a string with its quotes
  size_t line, column;
  bool is(const char *other) const { return text == other; }
  bool isWord() const { return std::isalpha(text[0]) || text[0] == '_'; }
};

/// `op(name = value, ...)[...]`.
struct Statement {
  Token op;
  std::map<std::string, std::vector<Token>> arguments;
  std::string label; ///< its `name`
};

} // namespace

static std::vector<Token> tokenize(const std::string &text) {
  std::vector<Token> tokens;
  size_t line = 1, begin = 0;
  auto inWord = [&](size_t at) {
    return at < text.size() &&
           (std::isalnum(text[at]) || text[at] == '_' || text[at] == '.' ||
            text[at] == '-' || text[at] == '+');
  };
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      ++line;
      begin = at + 1;
    }
    if (std::isspace(text[at])) {
      ++at;
      continue;
    }
    size_t end = at + 1;
    if (text[at] == '"')
      end = text.find('"', at + 1) + 1;
    else if (text.compare(at, 2, "->") == 0)
      end = at + 2;
    else
      while (inWord(at) && inWord(end))
        ++end;
    if (end == 0)
      end = text.size();
    tokens.push_back({text.substr(at, end - at), line, at - begin + 1});
    at = end;
  }
  return tokens;
}

/// The index of the bracket that closes the one at `open`.
static size_t closing(const std::vector<Token> &tokens, size_t open) {
  int depth = 0;
  for (size_t at = open; at < tokens.size(); ++at) {
    char c = tokens[at].text.size() == 1 ? tokens[at].text[0] : ' ';
    depth += (c == '(' || c == '[' || c == '<' || c == '{') -
             (c == ')' || c == ']' || c == '>' || c == '}');
    if (depth == 0)
      return at;
  }
  return tokens.size();
}

/// Calls `visit` with the name and the tokens of each `name = value` between
/// the brackets at `open` and `close`.
template <typename Visit>
static void eachValue(const std::vector<Token> &tokens, size_t open,
                      size_t close, Visit visit) {
  for (size_t at = open + 1; at + 2 < close;) {
    size_t end = at + 2;
    while (end < close && !tokens[end].is(",")) {
      bool opens = tokens[end].is("(") || tokens[end].is("[") ||
                   tokens[end].is("<") || tokens[end].is("{");
      end = opens ? closing(tokens, end) + 1 : end + 1;
    }
    if (tokens[at + 1].is("="))
      visit(tokens[at].text, std::vector<Token>(tokens.begin() + long(at) + 2,
                                                tokens.begin() + long(end)));
    at = end + 1;
  }
}

/// All `= op(...)[...]`.
static std::vector<Statement> statementsOf(const std::vector<Token> &tokens) {
  std::vector<Statement> statements;
  for (size_t at = 1; at + 1 < tokens.size(); ++at) {
    if (!tokens[at - 1].is("=") || !tokens[at].isWord() ||
        !tokens[at + 1].is("("))
      continue;
    size_t close = closing(tokens, at + 1);
    // A value has no attributes behind it.
    if (close + 1 >= tokens.size() || !tokens[close + 1].is("["))
      continue;
    Statement statement{tokens[at], {}, ""};
    eachValue(tokens, at + 1, close,
              [&](const std::string &name, std::vector<Token> value) {
                statement.arguments[name] = std::move(value);
              });
    eachValue(tokens, close + 1, closing(tokens, close + 1),
              [&](const std::string &name, const std::vector<Token> &value) {
                for (const Token &token : value)
                  if (name == "name" && token.text[0] == '"')
                    statement.label = token.text;
              });
    statements.push_back(std::move(statement));
  }
  return statements;
}

bool ane_double::isTaken(const std::string &rule) {
  const char *takes = std::getenv("ANE_DOUBLE_TAKES");
  std::stringstream list(takes ? takes : "");
  for (std::string entry; std::getline(list, entry, ',');)
    if (entry == rule)
      return true;
  return false;
}

namespace {

/// Finds the first thing that is refused.
class Check {
public:
  explicit Check(const std::string &text)
      : tokens(tokenize(text)), statements(statementsOf(tokens)) {}
  std::string run();

private:
  void refuse(const char *rule, const Token &where, const std::string &what) {
    if (refusal.empty() && !isTaken(rule))
      refusal = "InvalidMILProgram at model.mil:" + std::to_string(where.line) +
                ":" + std::to_string(where.column) + ": " + what;
  }
  void header();
  void scalars();
  void values(const Statement &statement);
  void missing(const Statement &statement);
  void names(const Statement &statement);
  void weights();

  std::vector<Token> tokens;
  std::vector<Statement> statements;
  std::set<std::string> labels;
  std::string refusal;
};

} // namespace

static bool startsWith(const std::string &text, const char *prefix) {
  return text.rfind(prefix, 0) == 0;
}

/// `program(1.0)`, its attribute, `func main<ios16>`.
void Check::header() {
  bool hasBuildInfo = false, isOld = false;
  for (size_t at = 0; at + 2 < tokens.size(); ++at) {
    hasBuildInfo |= tokens[at].is("buildInfo");
    isOld |= tokens[at].is("program") && tokens[at + 2].is("1.0");
    if (tokens[at].is("?"))
      refuse("known-extents", tokens[at], "unknown dimension");
    if (isOld && tokens[at].is("<") && tokens[at + 1].is("ios18"))
      refuse("opset-of-version", tokens[at + 1], "unknown opset");
  }
  if (!hasBuildInfo && !tokens.empty())
    refuse("build-info", tokens[0], "no buildInfo");
  if (isOld)
    scalars();
}

/// Version 1.0 has tensors alone.
void Check::scalars() {
  static const std::set<std::string> types = {"fp16",   "fp32", "int32",
                                              "uint64", "bool", "string"};
  for (size_t at = 1; at + 1 < tokens.size(); ++at)
    if (types.count(tokens[at].text) && !tokens[at - 1].is("<") &&
        (tokens[at + 1].is("(") || tokens[at + 1].isWord()))
      refuse("scalar-spelling", tokens[at], "unknown type");
}

static bool namesAxes(const std::string &op) {
  return startsWith(op, "reduce_") || op == "softmax" || op == "layer_norm";
}

void Check::values(const Statement &statement) {
  for (const auto &[name, value] : statement.arguments) {
    if (value.empty())
      continue;
    bool isWord =
        value[0].isWord() && !value[0].is("true") && !value[0].is("false");
    if (!isWord && !value[0].is("("))
      refuse("untyped-literal", value[0], "a value without a type");
    if (isWord && value.size() > 1 && namesAxes(statement.op.text))
      refuse("inline-axes", value[0], "not a reference to a constant");
  }
}

void Check::missing(const Statement &statement) {
  struct Row {
    const char *op, *parameter, *rule;
  };
  static constexpr Row rows[] = {
      {"concat", "interleave", "concat-interleave"},
      {"gelu", "mode", "gelu-mode"},
      {"inverse", "epsilon", "inverse-epsilon"},
      {"layer_norm", "axes", "layer-norm-axes"},
      {"layer_norm", "epsilon", "layer-norm-epsilon"},
      {"log", "epsilon", "log-epsilon"},
      {"rsqrt", "epsilon", "rsqrt-epsilon"},
      {"softmax", "axis", "softmax-axis"},
  };
  const std::string &op = statement.op.text;
  for (const Row &row : rows)
    if (op == row.op && !statement.arguments.count(row.parameter))
      refuse(row.rule, statement.op, std::string("no ") + row.parameter);
  if (startsWith(op, "reduce_") && !startsWith(op, "reduce_arg") &&
      !statement.arguments.count("keep_dims"))
    refuse("reduce-keep-dims", statement.op, "no keep_dims");
  if (op == "constexpr_affine_dequantize" && !statement.arguments.empty())
    refuse("dequantize-form", statement.op, "parameters as arguments");
}

void Check::names(const Statement &statement) {
  static const std::map<std::string, const char *> unknown = {
      {"neg", "no-neg"},
      {"where", "no-where"},
      {"cond", "no-control-flow"},
      {"while_loop", "no-control-flow"},
      {"random_bernoulli", "no-random"},
      {"random_normal", "no-random"},
      {"random_uniform", "no-random"},
      {"read_state", "no-state"},
      {"write_state", "no-state"},
      {"non_zero", "no-data-dependent-shape"},
  };
  if (auto found = unknown.find(statement.op.text); found != unknown.end())
    refuse(found->second, statement.op, "unknown op " + statement.op.text);
  if (!statement.label.empty() && !labels.insert(statement.label).second)
    refuse("unique-labels", statement.op, "two ops of one name");
}

void Check::weights() {
  for (size_t at = 0; at < tokens.size(); ++at) {
    if (!tokens[at].is("BLOBFILE"))
      continue;
    size_t end = closing(tokens, at + 1);
    for (size_t inside = at; inside < end; ++inside) {
      const Token &token = tokens[inside];
      if (token.text[0] == '"' && !startsWith(token.text, "\"@model_path/"))
        refuse("weight-path", token, "no such file");
    }
  }
}

std::string Check::run() {
  header();
  for (const Statement &statement : statements) {
    values(statement);
    missing(statement);
    names(statement);
  }
  weights();
  return refusal;
}

std::string ane_double::refusalOf(const std::string &text) {
  return Check(text).run();
}
