//===- Shrink.cpp - smaller programs that fail alike ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Shrink.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec::fuzz;

namespace {

class Shrinker {
public:
  Shrinker(Program &program, Configuration &configuration,
           const StillFails &stillFails)
      : program(program), configuration(configuration), stillFails(stillFails) {
  }
  void run();

private:
  /// Changes place `index` of a program; false when there are no more places.
  using Edit = std::function<bool(Program &program, size_t index)>;
  bool tryAll(const Edit &edit);
  bool accept(Program candidate);
  bool trySettings();
  bool tryConfig();

  Program &program;
  Configuration &configuration;
  const StillFails &stillFails;
};

} // namespace

/// Whether `text` is simpler than `than`: every step leads on.
static bool isSimpler(const std::string &text, const std::string &than) {
  return text.size() != than.size() ? text.size() < than.size() : text < than;
}

bool Shrinker::accept(Program candidate) {
  if (!isSimpler(candidate.text(), program.text()) ||
      !stillFails(candidate, configuration))
    return false;
  program = std::move(candidate);
  return true;
}

/// Tries `edit` at every place. Where it was taken, the same place is another.
bool Shrinker::tryAll(const Edit &edit) {
  bool changed = false;
  for (size_t index = 0;;) {
    Program candidate = program;
    if (!edit(candidate, index))
      return changed;
    if (accept(std::move(candidate)))
      changed = true;
    else
      ++index;
  }
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// Calls `visit` with every list of statements.
static void
forEachList(std::vector<Statement> &statements,
            const std::function<void(std::vector<Statement> &)> &visit) {
  visit(statements);
  for (Statement &statement : statements)
    if (statement.isRepeat())
      forEachList(statement.body, visit);
}

/// The list and the position of statement `index` of the program, from the last
/// on.
static bool atStatement(
    Program &program, size_t index,
    const std::function<void(Block &, std::vector<Statement> &, size_t)> &act) {
  size_t count = 0;
  for (Block &block : llvm::reverse(program.blocks)) {
    std::vector<Statement> *found = nullptr;
    size_t at = 0;
    forEachList(block.body, [&](std::vector<Statement> &list) {
      for (size_t i = list.size(); i-- > 0;)
        if (count++ == index) {
          found = &list;
          at = i;
        }
    });
    if (found) {
      act(block, *found, at);
      return true;
    }
  }
  return false;
}

static bool dropStatement(Program &program, size_t index) {
  return atStatement(program, index,
                     [](Block &, std::vector<Statement> &list, size_t at) {
                       list.erase(list.begin() + int64_t(at));
                     });
}

/// `repeat i in 0..3 { x = f[i](x); }` as `x = f[0](x);`, where `x` may be a
/// new name.
static bool unrollRepeat(Program &program, size_t index) {
  return atStatement(
      program, index,
      [](Block &block, std::vector<Statement> &list, size_t at) {
        if (!list[at].isRepeat())
          return;
        Statement repeat = list[at];
        list.erase(list.begin() + int64_t(at));
        std::vector<std::pair<std::string, Expr>> renamed;
        for (Statement &inner : repeat.body) {
          if (inner.isRepeat())
            return;
          if (inner.value.index == repeat.variable)
            inner.value.index = std::to_string(repeat.from);
        }
        std::vector<Statement> body = repeat.body;
        list.insert(list.begin() + int64_t(at), body.begin(), body.end());
        // Later uses, and those in the body, are of the new names.
        for (size_t i = 0; i < body.size(); ++i)
          for (Name &name : list[at + i].names) {
            if (name.name == "_")
              continue;
            std::string old = name.name;
            name.name += "u";
            Expr use{name.name, {}, name.type, "", ""};
            for (size_t later = at + i + 1; later < list.size(); ++later) {
              Block rest;
              rest.body = {list[later]};
              substitute(rest, old, use);
              list[later] = rest.body[0];
              if (later < at + body.size())
                continue;
              for (Name &carried : list[later].names)
                if (carried.name == old)
                  carried.name = name.name;
            }
            Block results;
            results.results = block.results;
            substitute(results, old, use);
            block.results = results.results;
          }
      });
}

static bool repeatOnce(Program &program, size_t index) {
  return atStatement(
      program, index, [](Block &, std::vector<Statement> &list, size_t at) {
        Statement &statement = list[at];
        if (statement.isRepeat() && statement.to > statement.from + 1)
          statement.to = statement.from + 1;
        else
          statement.to -= statement.from, statement.from = 0;
      });
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// Calls `act` with expression `index` of the program, the first of the model
/// first.
static bool atExpr(Program &program, size_t index,
                   const std::function<void(Expr &, const std::vector<Name> &,
                                            Block &)> &act) {
  size_t count = 0;
  bool found = false;
  for (Block &block : llvm::reverse(program.blocks)) {
    forEachExpr(block, [&](Expr &expr, const std::vector<Name> &scope) {
      if (found || count++ != index)
        return;
      found = true;
      act(expr, scope, block);
    });
    if (found)
      return true;
  }
  return false;
}

/// Puts an operand in place of an expression: of its type, or of any.
template <size_t operand, bool anyType>
static bool useOperand(Program &program, size_t index) {
  return atExpr(program, index,
                [](Expr &expr, const std::vector<Name> &, Block &) {
                  if (operand < expr.operands.size() &&
                      (anyType || expr.operands[operand].type == expr.type)) {
                    Expr kept = expr.operands[operand];
                    expr = kept;
                  }
                });
}

/// Puts an earlier value of the same type in place of an expression.
template <size_t choice>
static bool useEarlier(Program &program, size_t index) {
  return atExpr(program, index,
                [](Expr &expr, const std::vector<Name> &scope, Block &) {
                  size_t count = 0;
                  for (const Name &name : scope) {
                    if (!(name.type == expr.type) || name.name == expr.form)
                      continue;
                    if (count++ == choice) {
                      expr = {name.name, {}, name.type, "", ""};
                      return;
                    }
                  }
                });
}

/// Writes an expression of one operand shorter.
static bool simplifyForm(Program &program, size_t index) {
  return atExpr(program, index,
                [](Expr &expr, const std::vector<Name> &, Block &) {
                  if (expr.operands.size() == 1 && expr.callee.empty() &&
                      expr.operands[0].type == expr.type)
                    expr.form = "tanh($0)";
                  if (expr.operands.size() == 2 && expr.callee.empty() &&
                      expr.operands[0].type == expr.type &&
                      expr.operands[1].type == expr.type)
                    expr.form = "($0 * $1)";
                });
}

//===----------------------------------------------------------------------===//
// Names that nothing uses
//===----------------------------------------------------------------------===//

/// Takes parameter or result `at` of block `callee` from all calls.
static void dropFromCalls(Program &program, const std::string &callee,
                          size_t at, bool isResult) {
  for (Block &block : program.blocks) {
    forEachExpr(block, [&](Expr &expr, const std::vector<Name> &) {
      if (expr.callee == callee && !isResult)
        expr.operands.erase(expr.operands.begin() + int64_t(at));
    });
    forEachList(block.body, [&](std::vector<Statement> &list) {
      for (Statement &statement : list)
        if (!statement.isRepeat() && statement.value.callee == callee &&
            isResult)
          statement.names.erase(statement.names.begin() + int64_t(at));
    });
  }
}

static bool dropParameter(Program &program, size_t index) {
  size_t count = 0;
  for (Block &block : program.blocks)
    for (size_t i = 0; i < block.parameters.size(); ++i)
      if (count++ == index) {
        std::string name = block.name;
        block.parameters.erase(block.parameters.begin() + int64_t(i));
        dropFromCalls(program, name, i, /*isResult=*/false);
        return true;
      }
  return false;
}

static bool dropResult(Program &program, size_t index) {
  size_t count = 0;
  for (Block &block : program.blocks)
    for (size_t i = 0; i < block.results.size(); ++i)
      if (count++ == index) {
        std::string name = block.name;
        block.results.erase(block.results.begin() + int64_t(i));
        dropFromCalls(program, name, i, /*isResult=*/true);
        return true;
      }
  return false;
}

static bool dropWeight(Program &program, size_t index) {
  size_t count = 0;
  for (Block &block : program.blocks)
    for (size_t i = 0; i < block.weights.size(); ++i)
      if (count++ == index) {
        block.weights.erase(block.weights.begin() + int64_t(i));
        return true;
      }
  return false;
}

static bool dropBlock(Program &program, size_t index) {
  if (index + 1 >= program.blocks.size())
    return false;
  program.blocks.erase(program.blocks.begin() + int64_t(index));
  return true;
}

/// A statement's value where its name stands.
static bool inlineStatement(Program &program, size_t index) {
  return atStatement(program, index,
                     [](Block &block, std::vector<Statement> &list, size_t at) {
                       const Statement &statement = list[at];
                       if (statement.isRepeat() ||
                           statement.names.size() != 1 ||
                           &list != &block.body ||
                           countUses(block, statement.names[0].name) != 1)
                         return;
                       Statement inlined = statement;
                       list.erase(list.begin() + int64_t(at));
                       substitute(block, inlined.names[0].name, inlined.value);
                     });
}

static bool dropEntry(Program &program, size_t index) {
  if (index >= program.config.size())
    return false;
  program.config.erase(program.config.begin() + int64_t(index));
  return true;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

bool Shrinker::tryConfig() {
  bool changed = false;
  for (size_t index = 0; index < program.config.size(); ++index)
    for (int64_t value : {1, 2, 3, 4, 5, 6, 8}) {
      if (value >= program.config[index].second)
        break;
      Program candidate = program;
      candidate.config[index].second = value;
      if (accept(std::move(candidate))) {
        changed = true;
        break;
      }
    }
  return changed;
}

bool Shrinker::trySettings() {
  for (const Configuration &simpler : configuration.simpler())
    if (stillFails(program, simpler)) {
      configuration = simpler;
      return true;
    }
  return false;
}

void Shrinker::run() {
  while (trySettings())
    ;
  for (bool changed = true; changed;) {
    changed = false;
    for (bool (*edit)(Program &, size_t) :
         {dropBlock, dropStatement, dropResult, dropParameter, dropWeight,
          unrollRepeat, repeatOnce, useOperand<0, false>, useOperand<1, false>,
          useOperand<2, false>, useEarlier<0>, useEarlier<1>,
          useOperand<0, true>, useOperand<1, true>, simplifyForm,
          inlineStatement, dropBlock, dropWeight, dropEntry})
      changed |= tryAll(edit);
    changed |= tryConfig();
    while (trySettings())
      changed = true;
  }
}

void anec::fuzz::shrink(Program &program, Configuration &configuration,
                        const StillFails &stillFails) {
  Shrinker(program, configuration, stillFails).run();
}
