//===- WholeModel.cpp - compiles a model to one program -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/API/WholeModel.h"
#include "QuantizeProgram.h"
#include "lib/CoreML/Writer.h"
#include "lib/IR/OpDef.h"
#include "lib/Package/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace anec;

std::vector<const PassDef *>
anec::wholeModelPasses(const CompileOptions &options) {
  std::vector<const PassDef *> result = wholeModelPipeline(options.decode);
  for (const PassDef *pass : defaultPipeline())
    if (pass != &passes::PositiveIndices) // before the host is lowered
      result.push_back(pass);
  return result;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

static bool decodes(const Function &function) {
  return function.role == FunctionRole::Decode ||
         function.role == FunctionRole::Prefill;
}

/// The tokens that a program with caches reads at once.
static int64_t blockOf(const Function &function) {
  const Value *tokens = function.parameterOf(ValueRole::Input);
  return tokens && tokens->type.rank() ? tokens->type.shape.back() : 1;
}

/// `main` for the only function, and `decode4` or `prefill64` for programs of
/// one model; the functions of several keep the names of these.
static void nameFunctions(Module &module) {
  auto &functions = module.functions;
  if (functions.size() == 1) {
    functions.front()->name = plainFunction.str();
    return;
  }
  llvm::StringRef owner = functions.front()->of();
  if (!llvm::all_of(functions, [&](const auto &function) {
        return decodes(*function) && function->of() == owner;
      }))
    return;
  for (const auto &function : functions)
    function->name =
        spelling(function->role).str() + std::to_string(blockOf(*function));
}

/// Names the states `k_cache`, `v_cache`, `k_cache_1`, ... in their order,
/// which is that of all functions: an application gives those of one to the
/// next by name. Passes number equal names by what else a function has.
static void nameStates(Function &function) {
  llvm::StringMap<unsigned> numbers;
  for (const auto &param : function.parameters()) {
    if (param->holder != Holder::State)
      continue;
    llvm::StringRef stem = llvm::StringRef(param->name).rtrim("0123456789");
    if (stem.size() == param->name.size() || !stem.consume_back("_"))
      stem = param->name;
    unsigned number = numbers[stem]++;
    std::string name = stem.str();
    param->name = number ? name + "_" + std::to_string(number) : name;
  }
}

/// The function that runs unless another one is named: the one for the fewest
/// tokens, which can continue any text.
static const Function &defaultFunction(const Module &module) {
  const Function *chosen = module.functions.front().get();
  for (const auto &function : module.functions)
    if (function->role == FunctionRole::Decode &&
        (chosen->role != FunctionRole::Decode ||
         blockOf(*function) < blockOf(*chosen)))
      chosen = function.get();
  return *chosen;
}

//===----------------------------------------------------------------------===//
// The description
//===----------------------------------------------------------------------===//

static std::string summaryOf(const Function &function, const Value &param) {
  if (!decodes(function))
    return "";
  switch (param.role()) {
  case ValueRole::Input:
    return "ids of " + std::to_string(blockOf(function)) +
           " tokens that follow what the states have";
  case ValueRole::Position:
    return "how many tokens precede them; with them, at most the context";
  case ValueRole::Wanted:
    return "the index of the token that gets logits";
  default:
    return "";
  }
}

/// Logits are what a loss takes as the scores of classes. That these are ids of
/// tokens, and which token is predicted, is known of programs that decode.
static std::string scoresSummary(const Function &function) {
  return decodes(function) ? "scores of the ids that may come next"
                           : "scores of the classes, before softmax";
}

/// What tools for Core ML show of inputs and outputs.
static void describeModel(const Module &module, ModelDescription &description) {
  description.defaultFunction = defaultFunction(module).name;
  for (const auto &function : module.functions) {
    FunctionDescription &described = description.of(function->name);
    for (const auto &param : function->parameters())
      if (std::string text = summaryOf(*function, *param); !text.empty()) {
        FeatureDescription &feature = described.inputs.emplace_back();
        feature.name = param->name;
        feature.summary = std::move(text);
      }
    if (std::optional<unsigned> logits = function->resultOf(ValueRole::Logits))
      described.outputOf(function->resultNames()[*logits]).summary =
          scoresSummary(*function);
  }
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

std::optional<CompiledProgram>
anec::compileWholeModel(std::unique_ptr<Module> module,
                        const CompileOptions &options,
                        ModelDescription &description, Diagnostics &diags,
                        std::vector<PassReport> *reports) {
  std::optional<WeightBinding> weights =
      WeightBinding::open(options.weights, diags);
  if (!weights || !weights->fits(ModelFacts::of(*module), diags))
    return std::nullopt;
  CompiledProgram program{std::move(module), std::move(*weights),
                          options.milVersion};
  if (program.milVersion.empty())
    program.milVersion = options.passes.target->milVersion.value.str();
  PassManagerOptions passes = options.passes;
  passes.decode.hasOneContext = true;
  // Lowering changes how weights are used, which decides how they are drawn.
  passes.afterPass = [&](const PassDef &pass, const Function &function) {
    if (&pass == &passes::InlineHost)
      addInitialValues(function, program.initialValues);
    if (options.passes.afterPass)
      options.passes.afterPass(pass, function);
  };
  if (!runPasses(*program.program, passes, diags, reports) ||
      !program.weights.hasSome(namesOfWeights(*program.program), diags))
    return std::nullopt;
  if (program.program->functions.empty()) {
    diags.report({}, diag::NoModel);
    return std::nullopt;
  }
  if (options.quantization && !quantizeProgram(program, options, diags))
    return std::nullopt;
  nameFunctions(*program.program);
  for (const auto &function : program.program->functions)
    nameStates(*function);
  describeModel(*program.program, description);
  return program;
}
