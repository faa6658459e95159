//===- Reference.h - the undivided model in double precision ----*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What a model gives and its gradients, by the interpreter, of the program as
/// it is after `differentiate` alone; and how far small changes move them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_FUZZ_MODELS_REFERENCE_H
#define ANEC_TEST_FUZZ_MODELS_REFERENCE_H

#include "anec/IR/IR.h"
#include "anec/Support/Diagnostics.h"
#include "anec/Target/Target.h"
#include "lib/Ops/Interpreter.h"
#include <map>

namespace anec::fuzz {

using Elements = std::vector<double>;

struct Results {
  double loss = 0;
  std::map<std::string, Elements> gradients; ///< by array: `f.3.w`
  double largest = 0;                        ///< of all values on the way
};

/// How a model is evaluated.
struct Evaluation {
  /// Changes inputs and weights by up to so much, relatively.
  double nudge = 0;
  /// Changes what each op gives.
  std::function<double(double)> disturb;
  /// Evaluates the program with the constants that lowering ops gives it, such
  /// as the share of an element in a mean, rounded to their types.
  bool isLowered = false;
  /// Rounds what each op gives to its element type.
  bool rounds = false;
  double lossScale = 1;
  uint64_t seed = 1; ///< of the changes
};

class Reference {
public:
  /// Of a training step, with random masks drawn from the seed, or else of
  /// what remains without training.
  Reference(uint64_t seed, bool trains) : seed(seed), trains(trains) {}

  /// False, with the reason reported, when the text is not a model that can be
  /// differentiated.
  bool open(llvm::StringRef text, Diagnostics &diags);

  /// Lowers the ops of a copy of the program, one by one, for `target`.
  bool lower(llvm::StringRef text, const Target &target);

  bool evaluate(const Evaluation &evaluation, Results &results,
                Diagnostics &diags);
  /// The loss of the program as it was written, with `steps` added to weights.
  bool loss(const std::map<std::string, Elements> &steps, double &loss,
            Diagnostics &diags);

  struct Weight {
    TensorType type;
    Elements elements;
  };
  /// The arrays that the model reads; complete after the first evaluation.
  const std::map<std::string, Weight> &weights() const { return arrays; }
  /// Inputs of the model by name.
  const std::map<std::string, RefTensor> &inputs() const { return given; }

private:
  const Weight &array(const Op &weight, std::optional<int64_t> instance);
  void chooseInputs();

  uint64_t seed;
  bool trains;
  std::unique_ptr<Module> forward, differentiated, lowered;
  const Function *model = nullptr;
  std::map<std::string, Weight> arrays;
  std::map<std::string, RefTensor> given;
};

/// `x` rounded to so many bits. What is rounded already stays, so that the
/// largest of some elements stays equal to one of them.
double roundTo(int bits, double x);

std::string replaceAll(llvm::StringRef text, llvm::StringRef what,
                       llvm::StringRef with);

/// Compares the gradients in `exact` with central differences of the loss along
/// random directions, which know nothing of gradient rules, and describes the
/// first `difference`. False when the program cannot be run.
bool compareWithDifferences(Reference &reference, const Results &exact,
                            uint64_t seed, std::string &difference,
                            Diagnostics &diags);

} // namespace anec::fuzz

#endif // ANEC_TEST_FUZZ_MODELS_REFERENCE_H
