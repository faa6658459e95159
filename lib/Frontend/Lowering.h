//===- Lowering.h - syntax tree to IR --------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Lowers the syntax tree to IR: evaluates `config`, collects signatures, and
/// lowers each block's body through Builder.
///
/// An expression with a reported error has a poisoned term, and its uses are
/// poisoned without a report: one mistake is one error.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_FRONTEND_LOWERING_H
#define ANEC_LIB_FRONTEND_LOWERING_H

#include "Dimensions.h"
#include "Numbers.h"
#include "lib/Frontend/Frontend.h"
#include "lib/IR/Builder.h"
#include "lib/Support/Suggestion.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace anec::frontend {

/// The value of an expression.
struct Term {
  enum Kind { Poison, Tensor, Number, Boolean, String, List, Several };
  Kind kind = Poison;
  SourceRange range;
  Value *tensor = nullptr;
  frontend::Number number = {};
  bool boolean = false;
  llvm::StringRef text;       ///< of a string
  std::vector<Term> elements; ///< of a list; or the results of an op

  bool isPoison() const { return kind == Poison; }
  static Term ofTensor(Value *value, SourceRange range) {
    Term term{Tensor, range};
    term.tensor = value;
    return term;
  }
  static Term ofNumber(frontend::Number number, SourceRange range) {
    Term term{Number, range};
    term.number = number;
    return term;
  }
};

/// The arguments of a call, by parameter.
using GivenTerms = llvm::ArrayRef<std::vector<Term>>;

/// What a position of `x[2, 1:4]` takes along its axis.
struct Interval {
  int64_t begin, end;
  bool isDropped; ///< a single index, whose axis goes
};

/// A type and the spelling of its extents.
struct WrittenType {
  TensorType type;
  Spellings spellings;
};

/// The part of a block that calls need. A layer with parameters that are
/// numbers has one for each set of numbers that it is called with, too.
struct Signature {
  const ast::FunctionDecl *decl;
  std::string name;                                        ///< of the function
  std::vector<std::optional<WrittenType>> parameters = {}; ///< unset: reported
  std::vector<std::optional<WrittenType>> results = {};
  /// Of parameters that are numbers.
  std::vector<std::optional<Number::Kind>> kinds = {};
  std::vector<frontend::Number> numbers = {}; ///< of these parameters
  SourceRange firstCall = {};                 ///< with these numbers
  Function *function = nullptr;               ///< of a block
  enum State { Declared, Lowering, Lowered, Failed };
  State state = Declared;
};

/// The values of a variable of a `repeat`.
struct LoopRange {
  int64_t first = 0, last = 0;
};

/// A sum of variables with factors, and of an offset.
struct IndexForm {
  llvm::MapVector<Value *, int64_t> terms;
  int64_t offset = 0;
  Value *value = nullptr; ///< that has it, if there is one
};

/// A name of a body.
struct Binding {
  enum Kind { Parameter, Weight, Variable, Carried, LoopVariable };
  Kind kind;
  Term term;
  SourceRange declared;
  bool used = false;
};

/// Names in the order of their declaration.
using Names = llvm::MapVector<llvm::StringRef, Binding>;

class FileLowering {
public:
  FileLowering(llvm::StringRef text, const ast::File &file, const OpTable &ops,
               Diagnostics &diags)
      : text(text), file(file), ops(ops), diags(diags) {}

  std::unique_ptr<Module> run(const FrontendOptions &options);

  llvm::StringRef text;
  const ast::File &file;
  const OpTable &ops;
  Diagnostics &diags;
  std::unique_ptr<Module> module = std::make_unique<Module>();
  Dimensions dimensions;
  Names config;
  Names constants; ///< of the file; each body that uses one lowers it
  llvm::StringMap<Signature> signatures;
  unsigned repeats = 0; ///< in the model being lowered
  bool remarks = false;

  /// The variables of repeats, also where their bodies get those around them.
  llvm::DenseMap<const Value *, LoopRange> loopVariables;
  /// The values of indices in a function, by their terms, sorted, and their
  /// offset.
  std::map<
      std::pair<const Function *, std::vector<std::pair<Value *, int64_t>>>,
      Value *>
      indices;
  /// The first call of a block in another; those of all models are one.
  llvm::DenseMap<
      std::pair<const ast::FunctionDecl *, const ast::FunctionDecl *>,
      const ast::ReferenceExpr *>
      firstCalls;
  std::map<std::string, Signature> specializations; ///< by function
  /// The weights of all blocks, of which specializations share those of one.
  struct DeclaredWeight {
    WrittenType type;
    SourceRange firstCall;
  };
  llvm::StringMap<DeclaredWeight> weights;
  /// The weights of blocks that were inlined in a function.
  std::map<const Function *, llvm::StringMap<Value *>> inlinedWeights;
  /// Functions whose bodies are being lowered, each called by the one before.
  std::vector<const ast::FunctionDecl *> active;
  unsigned depth = 0;    ///< of the expression being lowered
  size_t inlined = 0;    ///< expressions and ops
  bool exceeded = false; ///< a limit of them; it was reported
  /// Each `fn` with a call without errors.
  llvm::DenseSet<const ast::FunctionDecl *> checked;
  /// What was called by a name that the language has too.
  llvm::DenseSet<const ast::FunctionDecl *> shadowing;

  /// The row called `name` in the language, by its own name or its alias.
  const OpDef *findOp(llvm::StringRef name) const;
  /// Warns once of a callee with the name of an op or a function of numbers,
  /// which `call` does not reach. What is not called shadows nothing.
  void warnOfShadow(const ast::ReferenceExpr *call,
                    const ast::FunctionDecl &callee);
  /// Lowers the body of a block, if that has not begun.
  void lowerBlock(Signature &signature);
  /// The block for `numbers`; `callee` itself when it has no such parameters.
  /// Errors in its body are noted to be found by `call`.
  Signature &specialize(Signature &callee,
                        const std::vector<frontend::Number> &numbers,
                        SourceRange call);
  /// Whether `callee` can be inlined at `call`; reports why not.
  [[nodiscard]] bool canInline(const ast::ReferenceExpr *call,
                               const ast::FunctionDecl &callee);
  /// How `value` follows from variables of repeats; nothing when it does not.
  std::optional<IndexForm> indexFormOf(Value *value, unsigned depth = 0) const;

private:
  void collectFns();
  void evaluateConfig(const FrontendOptions &options);
  void collectConstants();
  void collectSignatures();
};

/// Lowers expressions and statements of one body.
class BodyLowering {
public:
  /// For expressions outside bodies, in config values and signatures, where
  /// only numbers are valid.
  explicit BodyLowering(FileLowering &file) : file(file), diags(file.diags) {}
  /// For a block, or (with the enclosing body) for the body of a `repeat`.
  BodyLowering(FileLowering &file, const Signature &own, Function &function,
               BodyLowering *outer = nullptr);
  /// For the body of a `fn` that `caller` calls.
  BodyLowering(FileLowering &file, const ast::FunctionDecl &fn,
               BodyLowering &caller);

  /// Lowers the block's parameters and statements.
  void run();

  // Expressions.cpp
  Term lower(const ast::Expr *expr);
  /// An integer known at compile time; anything else is an error.
  std::optional<int64_t> lowerInteger(const ast::Expr *expr);
  std::optional<WrittenType> lowerType(const ast::Type &type);

private:
  FileLowering &file;
  Diagnostics &diags;
  const ast::FunctionDecl *decl = nullptr;
  const ast::FunctionDecl *block = nullptr; ///< the one that `function` is of
  const Signature *own = nullptr;           ///< of that block
  Function *function = nullptr;
  BodyLowering *outer = nullptr;
  std::optional<Builder> builder;
  Names names;
  /// Values with a user-given name.
  llvm::DenseSet<const Value *> named;
  /// Values of the outer body that a `repeat`'s body reads.
  std::vector<Value *> captured;
  /// Whether the statements are those of a `repeat` in this body.
  bool isUnrolling = false;
  /// How many of the file's constants can be used here.
  size_t visibleConstants = SIZE_MAX;
  Term returned; ///< by a `fn`

  void makeBuilder();

  // Expressions.cpp
  Term lowerName(const ast::ReferenceExpr *expr);
  Term lowerList(const ast::ListExpr *expr);
  Term lowerTyped(const ast::TypedExpr *expr);
  std::optional<DType> lowerElementType(const ast::Name &name);
  void reportUnknownName(const ast::Name &name);
  /// The binding of `name`, here or in an enclosing body; null when there is
  /// none.
  Binding *findName(llvm::StringRef name);
  Binding *findConstant(llvm::StringRef name);

  // Operators.cpp
  Term lowerChain(const ast::BinaryExpr *expr);
  void checkAlongAxis(const Term &vector, const Value &other);
  Term lowerBinary(const ast::BinaryExpr *expr, const Term &lhs,
                   const Term &rhs);
  Term lowerNumbers(const ast::BinaryExpr *expr, const Number &lhs,
                    const Number &rhs);
  Term lowerPower(const ast::BinaryExpr *expr, const Term &lhs,
                  const Term &rhs);
  Term lowerNegation(const ast::NegationExpr *expr);
  Term lowerNot(const ast::NotExpr *expr);

  // Parts.cpp
  Term lowerPart(const ast::PartExpr *expr);
  Term partOfList(const ast::PartExpr *expr, const Term &list);
  Term partOfTensor(const ast::PartExpr *expr, Value *value);
  std::optional<Interval> lowerPosition(const ast::Position &position,
                                        unsigned axis, int64_t extent,
                                        const Term &whole);

  // Functions.cpp
  std::vector<Term> lowerArguments(const ast::ReferenceExpr *expr);
  Term lowerQuotient(const ast::ReferenceExpr *expr,
                     const ast::BinaryExpr *quotient);
  Term lowerNumberFunction(const ast::ReferenceExpr *expr,
                           llvm::ArrayRef<Term> terms);
  Term lowerIota(const ast::ReferenceExpr *expr);

  // Calls.cpp
  Term lowerCall(const ast::ReferenceExpr *expr);
  Term lowerBuiltin(const ast::ReferenceExpr *expr, const OpDef &def,
                    std::vector<Term> terms);
  Value *fitTensor(const ast::ReferenceExpr *expr, const ParamDef &param,
                   const Term &term, std::optional<DType> dtype);
  /// Creates the op; its results become a tensor, or several.
  Term build(const OpDef &def, llvm::ArrayRef<Value *> operands,
             llvm::ArrayRef<ConstantRef> constants, SourceRange range,
             llvm::StringRef writtenAs,
             llvm::ArrayRef<NamedInteger> hints = {});

  // Literals.cpp
  /// A `const` of a number, or of lists of numbers; null, with the reason
  /// reported, when they do not fit.
  Value *literal(const Term &term, DType dtype);
  std::optional<double> element(const Term &term, DType dtype);
  bool flatten(const Term &term, unsigned depth, Shape &shape,
               std::vector<const Term *> &leaves);
  ConstantRef fitConstant(const ast::ReferenceExpr *expr, const OpDef &def,
                          GivenTerms given, const ParamDef &param, bool &ok);
  ConstantRef makeConstant(llvm::ArrayRef<const Term *> terms,
                           const Shape &shape, const ParamDef &param,
                           std::optional<DType> dtype);
  ConstantRef changedDefault(const ast::ReferenceExpr *expr, const OpDef &def,
                             GivenTerms given, const ParamDef &param);

  // Statements.cpp
  void lowerParameters();
  void lowerStatements(llvm::ArrayRef<ast::Statement *> statements);
  void lowerWeight(const ast::WeightStatement *statement);
  Term lowerConst(llvm::ArrayRef<ast::Name> names, const ast::Expr *expr);
  void lowerLet(const ast::LetStatement *statement);
  void lowerReturn(const ast::ReturnStatement *statement);
  bool checkResult(const Term &term, unsigned index);
  bool checkWeight(const ast::Name &name, const WrittenType &type);
  void bind(const ast::Name &name, Binding::Kind kind, Term term);
  void warnUnused();

  // Models.cpp
  Term lowerBlockCall(const ast::ReferenceExpr *expr, Signature &callee);
  /// Nothing after an error.
  std::optional<std::vector<Term>>
  fitArguments(const ast::ReferenceExpr *expr, const ast::FunctionDecl &callee);
  bool checkArguments(const ast::ReferenceExpr *expr, const Signature &callee,
                      llvm::ArrayRef<Term> terms,
                      llvm::SmallVectorImpl<Value *> &operands,
                      std::vector<frontend::Number> &numbers);
  bool checkIndexing(const ast::ReferenceExpr *expr, Signature &callee);
  Term callBlock(const ast::ReferenceExpr *expr, const Signature &callee,
                 llvm::ArrayRef<Value *> arguments, const Term &index);
  void lowerRepeat(const ast::RepeatStatement *statement);
  // Unroll.cpp
  /// Whether the variable is a number, for each of whose values the body is
  /// lowered.
  bool isUnrolled(const ast::RepeatStatement *statement, LoopRange range) const;
  void lowerUnrolled(const ast::RepeatStatement *statement, LoopRange range,
                     llvm::ArrayRef<llvm::StringRef> carried);
  // Models.cpp
  void findCarried(llvm::ArrayRef<ast::Statement *> statements,
                   llvm::SmallVectorImpl<llvm::StringRef> &carried);
  bool bindCarried(const ast::RepeatStatement *statement, LoopRange range,
                   llvm::ArrayRef<llvm::StringRef> carried);
  bool setCarriedResults(llvm::ArrayRef<llvm::StringRef> carried);

  // Indices.cpp
  /// A number, or an `int32` that follows from variables of repeats.
  Term lowerIndex(const ast::Expr *expr);
  std::optional<IndexForm> lowerIndexForm(const ast::Expr *expr);
  std::optional<IndexForm> lowerIndexChain(const ast::BinaryExpr *expr);
  Value *buildIndex(const IndexForm &form);

  // Inline.cpp
  Term lowerFnCall(const ast::ReferenceExpr *expr, const Signature &callee);
  Term runInlined(const std::vector<Term> &arguments);
  void returnInlined(const ast::ReturnStatement *statement);
  Term inlineBlock(const ast::ReferenceExpr *expr, const Signature &callee,
                   llvm::ArrayRef<Value *> operands,
                   std::optional<int64_t> instance);
  Value *ownWeight(const Op &weight, const std::string &path);
};

/// Sets the role Target on inputs of models that are only used as targets of a
/// loss.
void markTargets(Module &module);

/// Whether `name` is a function of numbers, such as `sqrt`.
bool isNumberFunction(llvm::StringRef name);
/// Whether its result is an integer, whatever its arguments, or when they are.
bool givesInteger(llvm::StringRef function, bool ofIntegers);

/// Whether a constant tensor can be made of the term: a number, a truth value,
/// or nested lists of them.
bool isLiteral(const Term &term);
/// The element type that a literal has where nothing else determines it.
DType ownType(const Term &literal);

/// The element type of the literals for `param`, which the tensors and literals
/// among the arguments determine.
std::optional<DType> literalType(const OpDef &def, GivenTerms given,
                                 const ParamDef &param);

/// "a tensor `fp16[4]`", "the number 3", ...
std::string inWords(const Term &term, const Dimensions &dimensions);

/// "1 result", "2 results".
std::string counted(size_t count, llvm::StringRef one);

} // namespace anec::frontend

#endif // ANEC_LIB_FRONTEND_LOWERING_H
