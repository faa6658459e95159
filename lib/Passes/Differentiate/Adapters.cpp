//===- Adapters.cpp - low-rank adapters beside matrices -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Passes/Adapters.h"
#include "lib/IR/Builder.h"
#include "lib/IR/DerivedConstant.h"
#include "lib/IR/ParamNames.h"
#include "lib/IR/WeightName.h"
#include "lib/Ops/Params/Stored.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Passes/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"
#include <cmath>

using namespace anec;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral rankOption = "rank", alphaOption = "alpha",
                                     targetsOption = "targets";

std::optional<AdapterOptions> AdapterOptions::parse(llvm::StringRef text,
                                                    std::string &wrong) {
  AdapterOptions options;
  bool hasAlpha = false;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts) {
    auto [option, value] = part.split('=');
    bool ok = false;
    if (option == rankOption) {
      ok = !value.getAsInteger(10, options.rank) && options.rank >= 1 &&
           options.rank <= 65536;
    } else if (option == alphaOption) {
      ok = hasAlpha = !value.getAsDouble(options.alpha) &&
                      std::isfinite(options.alpha) && options.alpha > 0;
    } else if (option == targetsOption) {
      llvm::SmallVector<llvm::StringRef> names;
      value.split(names, ':', -1, /*KeepEmpty=*/false);
      for (llvm::StringRef target : names)
        options.targets.push_back(target.str());
      ok = !names.empty();
    }
    if (!ok) {
      wrong = "`" + part.str() +
              "` is not one of rank=N, alpha=NUMBER and targets=NAME:NAME";
      return std::nullopt;
    }
  }
  if (options.targets.empty()) {
    wrong = "there are no targets=NAME:NAME";
    return std::nullopt;
  }
  if (!hasAlpha)
    options.alpha = 2 * double(options.rank);
  return options;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

namespace {

/// The patterns, and whether each has matched.
class Targets {
public:
  bool read(llvm::ArrayRef<std::string> texts, Diagnostics &diags);
  /// Whether a pattern matches the matrix called `name`.
  bool match(llvm::StringRef name);
  bool reportUnmatched(const Module &module, Diagnostics &diags) const;

private:
  struct Target {
    std::string text;
    llvm::GlobPattern pattern;
    bool hasMatched = false;
  };
  std::vector<Target> targets;
};

} // namespace

bool Targets::read(llvm::ArrayRef<std::string> texts, Diagnostics &diags) {
  for (const std::string &text : texts) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    if (!pattern) {
      diags.report({}, diag::BadLoraTarget, text,
                   llvm::toString(pattern.takeError()));
      return false;
    }
    targets.push_back({text, std::move(*pattern)});
  }
  return true;
}

bool Targets::match(llvm::StringRef name) {
  bool any = false;
  for (Target &target : targets)
    if (target.pattern.match(name) || target.pattern.match(memberOf(name)))
      any = target.hasMatched = true;
  return any;
}

/// The matrices of the model that some op multiplies: `attention.wq`, ...
static std::string listMatrices(const Module &module) {
  llvm::StringSet<> seen;
  std::string names;
  for (const auto &function : module.functions)
    for (const Op &op : function->body())
      if (op.is(ops::Weight) && op.result()->type.rank() == 2 &&
          seen.insert(op.get(param::name)).second)
        names +=
            (names.empty() ? "`" : ", `") + op.get(param::name).str() + "`";
  return names.empty() ? "none" : names;
}

bool Targets::reportUnmatched(const Module &module, Diagnostics &diags) const {
  bool ok = true;
  for (const Target &target : targets) {
    if (target.hasMatched)
      continue;
    diags.report({}, diag::NoLoraTarget, target.text, listMatrices(module));
    ok = false;
  }
  return ok;
}

/// Whether an op is `linear(x, w)`, or `matmul` of its form.
static bool multipliesRows(const Op &op, const Value &weight) {
  if (op.is(ops::Linear))
    return op.operand(param::weight) == &weight &&
           op.operand(param::x) != &weight;
  return op.is(ops::Matmul) && op.operand(param::y) == &weight &&
         op.operand(param::x) != &weight && !op.get(param::transposeX) &&
         op.get(param::transposeY);
}

/// The products `w @ x` and `linear(x, w)` of `weight`, or else those of its
/// transpose, `transpose(w) @ x`; nothing when it is used otherwise, or not at
/// all.
static std::vector<Op *> productsOf(const Op &weight, bool isTransposed) {
  std::vector<Op *> products;
  const Value *value = weight.result();
  for (const Operand *use = value->firstUse(); use; use = use->nextUse()) {
    Op *user = use->owner();
    bool isProduct = user && user->is(ops::Matmul) &&
                     user->operand(param::x) == value &&
                     user->operand(param::y) != value &&
                     user->operand(param::y)->type.rank() >= 2 &&
                     user->get(param::transposeX) == isTransposed &&
                     !user->get(param::transposeY);
    bool isLinear = !isTransposed && user && multipliesRows(*user, *value);
    if (!isProduct && !isLinear)
      return {};
    products.push_back(user);
  }
  return products;
}

//===----------------------------------------------------------------------===//
// Adapters
//===----------------------------------------------------------------------===//

/// A `weight` op of `shape` called like `base` with `ending`, before `next`.
static Value *addWeight(Function &function, Op &next, const Op &base,
                        llvm::StringRef ending, Shape shape) {
  std::string name = base.get(param::name).str() + ending.str();
  Builder builder(function);
  builder.setInsertionPoint(&next);
  builder.setRange(base.range());
  return builder.build(ops::Weight, {},
                       {{param::name, Constant::string(name)},
                        {param::dtype, base.constant(param::dtype)},
                        {param::shape, Constant::int32s(shape)},
                        {param::frozen, false}},
                       memberOf(name));
}

/// Adds the adapter's product to that of `product`.
static void adapt(Function &function, Op &product, const Value &weight,
                  Value *a, Value *b, double scale) {
  Builder builder(function);
  builder.setInsertionPoint(&*std::next(product.getIterator()));
  builder.setRange(product.range());
  bool isLinear = multipliesRows(product, weight);
  auto times = [&](Value *matrix, Value *x) {
    return isLinear ? builder.build(ops::Matmul, {x, matrix},
                                    {{param::transposeY, true}})
                    : builder.build(ops::Matmul, {matrix, x});
  };
  Value *down = times(a, product.operand(isLinear ? param::x : param::y));
  Value *up = times(b, down);
  if (scale != 1) {
    Value *factor = builder.build(
        ops::Const, {},
        Attr(param::val, derivedConstant({up->type.dtype}, scale)));
    up = builder.build(ops::Mul, {up, factor});
  }
  // The sum takes the place of the product everywhere but in itself.
  Value *before = product.result();
  Op *sum = builder.create(ops::Add, {before, up});
  before->replaceAllUsesWith(sum->result());
  sum->setOperand(unsigned(ops::Add.valueSlot(param::x)), before);
  std::swap(sum->result()->name, before->name);
}

std::optional<AddedAdapters> anec::addAdapters(Module &module,
                                               const AdapterOptions &options,
                                               Diagnostics &diags) {
  AddedAdapters added;
  Targets targets;
  if (!targets.read(options.targets, diags))
    return std::nullopt;
  bool hasModel = false;
  llvm::StringSet<> taken, adapted;
  for (const auto &function : module.functions) {
    hasModel |= function->kind == FunctionKind::Host;
    for (const Op &op : function->body())
      if (op.is(ops::Weight))
        taken.insert(op.get(param::name));
  }
  if (!hasModel) {
    diags.report({}, diag::LoraWithoutModel);
    return std::nullopt;
  }
  bool ok = true;
  for (const auto &function : module.functions) {
    std::vector<Op *> weights;
    for (Op &op : function->body())
      if (op.is(ops::Weight))
        weights.push_back(&op);
    for (Op *weight : weights) {
      weight->setConstant(param::frozen, Constant::boolean(true));
      std::string name = weight->get(param::name).str();
      const TensorType &type = weight->result()->type;
      if (type.rank() != 2 || !targets.match(name))
        continue;
      std::vector<Op *> products = productsOf(*weight, false);
      bool isTransposed = products.empty();
      if (isTransposed)
        products = productsOf(*weight, true);
      bool isTaken =
          taken.contains(name + "_lora_a") || taken.contains(name + "_lora_b");
      if (products.empty() || isTaken) {
        if (isTaken)
          diags.report(weight->range(), diag::LoraExists, name);
        else
          diags.report(weight->range(), diag::LoraUse, name);
        ok = false;
        continue;
      }
      Op &next = *std::next(weight->getIterator());
      Value *a = addWeight(*function, next, *weight, "_lora_a",
                           {options.rank, type.shape[isTransposed ? 0 : 1]});
      Value *b = addWeight(*function, next, *weight, "_lora_b",
                           {type.shape[isTransposed ? 1 : 0], options.rank});
      for (Op *product : products)
        adapt(*function, *product, *weight->result(), a, b, options.scale());
      if (!adapted.insert(name).second)
        continue;
      added.zeros.push_back(name + "_lora_b");
      if (isTransposed)
        added.transposed.push_back(name);
    }
  }
  return targets.reportUnmatched(module, diags) && ok ? std::optional(added)
                                                      : std::nullopt;
}
