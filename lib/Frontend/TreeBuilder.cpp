//===- TreeBuilder.cpp - ANTLR contexts to nodes --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Syntax.h"
#include "lib/Frontend/Diags.h"
#include <cmath>

using namespace anec;
using namespace anec::ast;
using namespace anec::tdsl;
using antlr4::Token;

namespace {

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
  FunctionDecl function(TDSLParser::InlinedContext *context);
  Type type(TDSLParser::TypeContext *context);
  llvm::ArrayRef<Statement *> statements(TDSLParser::BlockContext *context);
  Statement *statement(TDSLParser::StatementContext *context);
  Expr *expression(antlr4::ParserRuleContext *context);
  Expr *chain(antlr4::ParserRuleContext *context);
  Expr *value(TDSLParser::ValueContext *context);
  Expr *negation(TDSLParser::NegationContext *context);
  Expr *inversion(TDSLParser::InversionContext *context);
  Expr *power(TDSLParser::PowerContext *context);
  Expr *primary(TDSLParser::PrimaryContext *context);
  Expr *integer(const Token *token);
  Expr *decimal(const Token *token);
  Expr *reference(TDSLParser::ReferenceContext *context);
  Expr *call(TDSLParser::ReferenceContext *context);
  Position position(TDSLParser::PositionContext *context);
  Expr *part(Expr *value, TDSLParser::IndexContext *context,
             const Token *first);
};

} // namespace

void TreeBuilder::add(TDSLParser::FileContext *context) {
  for (TDSLParser::ImportStatementContext *import : context->importStatement())
    file.imports.push_back(
        {{name(import->STRING()).text.drop_front().drop_back()}});
  for (TDSLParser::ConfigContext *config : context->config())
    for (TDSLParser::ConfigEntryContext *entry : config->configEntry())
      file.config.push_back(
          {name(entry->NAME()), expression(entry->expression())});
  for (TDSLParser::ConstantContext *constant : context->constant())
    file.constants.push_back(
        {name(constant->NAME()), value(constant->value())});
  for (TDSLParser::FunctionContext *block : context->function())
    file.functions.push_back(function(block));
  for (TDSLParser::InlinedContext *fn : context->inlined())
    file.functions.push_back(function(fn));
}

FunctionDecl TreeBuilder::function(TDSLParser::InlinedContext *context) {
  std::vector<Parameter> parameters;
  for (size_t index = 1; index < context->NAME().size(); ++index)
    parameters.push_back({name(context->NAME(index)), {}});
  return {FunctionDecl::Fn,
          name(context->NAME(0)),
          file.copy(parameters),
          {},
          statements(context->block()),
          source.range(context->start, context->RIGHT_PAREN()->getSymbol()),
          source.range(context->stop)};
}

FunctionDecl TreeBuilder::function(TDSLParser::FunctionContext *context) {
  std::vector<Parameter> parameters;
  for (TDSLParser::ParameterContext *parameter : context->parameter())
    parameters.push_back({name(parameter->NAME()), type(parameter->type())});
  std::vector<Result> results;
  if (TDSLParser::TypeContext *only = context->results()->type())
    results.push_back({{}, type(only)});
  for (TDSLParser::ResultContext *result : context->results()->result())
    results.push_back(
        {result->NAME() ? name(result->NAME()) : Name(), type(result->type())});
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
  for (TDSLParser::StatementContext *child : context->statement()) {
    TDSLParser::WeightStatementContext *weight = child->weightStatement();
    if (!weight) {
      list.push_back(statement(child));
      continue;
    }
    bool frozen = weight->FROZEN() != nullptr;
    for (TDSLParser::WeightsContext *weights : weight->weights())
      list.push_back(
          file.make<WeightStatement>({{Statement::Weight, source.range(child)},
                                      names(weights->NAME()),
                                      type(weights->type()),
                                      frozen}));
  }
  return file.copy(list);
}

Statement *TreeBuilder::statement(TDSLParser::StatementContext *context) {
  SourceRange range = source.range(context);
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
                                  value(let->value()),
                                  let->CONST() != nullptr});
}

/// An expression of any level. Most have one operand, which is what they are.
Expr *TreeBuilder::expression(antlr4::ParserRuleContext *context) {
  while (true) {
    if (auto *operand = dynamic_cast<TDSLParser::NegationContext *>(context))
      return negation(operand);
    if (auto *operand = dynamic_cast<TDSLParser::InversionContext *>(context);
        operand && operand->NOT())
      return inversion(operand);
    if (context->children.size() > 1)
      return chain(context);
    context =
        static_cast<antlr4::ParserRuleContext *>(context->children.front());
  }
}

/// A list of operands with operators between them, folded from the left.
Expr *TreeBuilder::chain(antlr4::ParserRuleContext *context) {
  auto operand = [&](size_t index) {
    return static_cast<antlr4::ParserRuleContext *>(context->children[index]);
  };
  bool compares = dynamic_cast<TDSLParser::ComparisonContext *>(context);
  Expr *result = expression(operand(0));
  for (size_t i = 1; i + 1 < context->children.size(); i += 2) {
    auto *op = static_cast<antlr4::tree::TerminalNode *>(context->children[i]);
    if (compares && i > 1)
      diags.report(name(op).range(), diag::ComparisonChain);
    Expr *rhs = expression(operand(i + 1));
    result = file.make<BinaryExpr>(
        {{Expr::Binary, source.range(context->start, operand(i + 1)->stop)},
         name(op),
         result,
         rhs});
  }
  return result;
}

Expr *TreeBuilder::value(TDSLParser::ValueContext *context) {
  Expr *literal = expression(context->expression());
  if (!context->NAME())
    return literal;
  return file.make<TypedExpr>(
      {{Expr::Typed, source.range(context)}, literal, name(context->NAME())});
}

Expr *TreeBuilder::inversion(TDSLParser::InversionContext *context) {
  return file.make<NotExpr>(
      {{Expr::Not, source.range(context)}, expression(context->inversion())});
}

Expr *TreeBuilder::negation(TDSLParser::NegationContext *context) {
  if (TDSLParser::PowerContext *operand = context->power())
    return power(operand);
  return file.make<NegationExpr>(
      {{Expr::Negation, source.range(context)}, negation(context->negation())});
}

Expr *TreeBuilder::power(TDSLParser::PowerContext *context) {
  Expr *base = primary(context->primary(0));
  if (!context->POWER())
    return base;
  TDSLParser::PrimaryContext *last = context->primary(1);
  Expr *exponent = primary(last);
  if (antlr4::tree::TerminalNode *minus = context->MINUS())
    exponent = file.make<NegationExpr>(
        {{Expr::Negation, source.range(minus->getSymbol(), last->stop)},
         exponent});
  return file.make<BinaryExpr>({{Expr::Binary, source.range(context)},
                                name(context->POWER()),
                                base,
                                exponent});
}

Expr *TreeBuilder::primary(TDSLParser::PrimaryContext *context) {
  if (context->INTEGER())
    return integer(context->start);
  if (context->DECIMAL())
    return decimal(context->start);
  if (auto *group = context->group()) {
    Expr *inner = value(group->value());
    for (TDSLParser::IndexContext *index : group->index())
      inner = part(inner, index, group->start);
    return inner;
  }
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
  // Conversion takes time quadratic in the number of digits, and no double
  // needs more.
  constexpr size_t maxDigits = 400;
  double value = 0;
  llvm::StringRef text = source.spelling(token);
  if (text.size() > maxDigits || text.getAsDouble(value) || std::isinf(value))
    diags.report(source.range(token), diag::NumberOutOfRange);
  return file.make<DecimalExpr>({{Expr::Decimal, source.range(token)}, value});
}

Position TreeBuilder::position(TDSLParser::PositionContext *context) {
  TDSLParser::RangeContext *range = context->range();
  return {source.range(context),
          context->expression() ? expression(context->expression()) : nullptr,
          range && range->expression() ? expression(range->expression())
                                       : nullptr,
          range != nullptr};
}

Expr *TreeBuilder::part(Expr *value, TDSLParser::IndexContext *context,
                        const Token *first) {
  std::vector<Position> positions;
  for (TDSLParser::PositionContext *child : context->position())
    positions.push_back(position(child));
  return file.make<PartExpr>({{Expr::Part, source.range(first, context->stop)},
                              value,
                              file.copy(positions)});
}

/// The indices before the arguments are of the layer, those behind of what the
/// call gives.
Expr *TreeBuilder::reference(TDSLParser::ReferenceContext *context) {
  bool isCall = context->arguments() != nullptr;
  Expr *result =
      isCall
          ? call(context)
          : file.make<ReferenceExpr>(
                {{Expr::Reference, source.range(context->NAME()->getSymbol())},
                 name(context->NAME()),
                 nullptr,
                 false,
                 {}});
  for (TDSLParser::IndexContext *index : context->index())
    if (!isCall || index->start->getTokenIndex() >
                       context->arguments()->start->getTokenIndex())
      result = part(result, index, context->start);
  return result;
}

Expr *TreeBuilder::call(TDSLParser::ReferenceContext *context) {
  std::vector<Argument> arguments;
  for (TDSLParser::ArgumentContext *arg : context->arguments()->argument()) {
    TDSLParser::ParameterNameContext *parameter = arg->parameterName();
    arguments.push_back({parameter ? source.name(parameter->start) : Name(),
                         value(arg->value())});
  }
  Expr *index = nullptr;
  for (TDSLParser::IndexContext *child : context->index()) {
    if (child->start->getTokenIndex() >
        context->arguments()->start->getTokenIndex())
      break;
    if (index || child->position().size() != 1 || child->position(0)->range())
      diags.report(source.range(child), diag::InstanceIndex,
                   source.spelling(context->NAME()->getSymbol()));
    else
      index = expression(child->position(0)->expression());
  }
  return file.make<ReferenceExpr>(
      {{Expr::Reference,
        source.range(context->start, context->arguments()->stop)},
       name(context->NAME()),
       index,
       true,
       file.copy(arguments)});
}

std::unique_ptr<File> tdsl::buildTree(TDSLParser::FileContext *context,
                                      const Source &source,
                                      Diagnostics &diags) {
  auto file = std::make_unique<File>();
  TreeBuilder(source, *file, diags).add(context);
  return file;
}
