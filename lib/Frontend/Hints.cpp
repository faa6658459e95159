//===- Hints.cpp - what to write instead ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Hints.h"
#include "lib/Support/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace anec;
using namespace anec::frontend;

llvm::StringRef frontend::elementTypeFor(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases("half", "float16", "f16", "bf16", "bfloat16", "fp16")
      .Cases("float", "float32", "f32", "double", "float64", "fp32")
      .Cases("f64", "fp64", "fp32")
      .Cases("int", "i32", "int64", "i64", "long", "int32")
      .Cases("uint", "uint32", "u32", "uint64", "u64", "int32")
      .Cases("short", "i16", "int16")
      .Case("u16", "uint16")
      .Cases("char", "i8", "int4", "int8")
      .Cases("byte", "u8", "uint4", "uint8")
      .Cases("boolean", "i1", "bool")
      .Default("");
}

namespace {
struct Synonym {
  llvm::StringLiteral elsewhere, here;
};
} // namespace

static constexpr Synonym parameterNames[] = {
    {"attention_mask", "mask"},
    {"attn_mask", "mask"},
    {"axis", "axes"},
    {"axes", "axis"},
    {"base", "theta"},
    {"bias", "beta"},
    {"depth", "one_hot_vector_size"},
    {"dilation", "dilations"},
    {"dim", "axis"},
    {"dim", "axes"},
    {"dims", "axes"},
    {"dims", "perm"},
    {"eps", "epsilon"},
    {"high", "beta"},
    {"in", "x"},
    {"input", "x"},
    {"is_causal", "causal"},
    {"keepdim", "keep_dims"},
    {"keepdims", "keep_dims"},
    {"kernel_size", "kernel_sizes"},
    {"key", "k"},
    {"labels", "targets"},
    {"low", "alpha"},
    {"max", "beta"},
    {"min", "alpha"},
    {"n_heads", "heads"},
    {"negative_slope", "alpha"},
    {"num_heads", "heads"},
    {"other", "y"},
    {"padding", "pad"},
    {"query", "q"},
    {"repeats", "reps"},
    {"scale_factor", "scale_factor_height"},
    {"size", "shape"},
    {"start", "begin"},
    {"stride", "strides"},
    {"target", "targets"},
    {"tensors", "values"},
    {"value", "v"},
    {"weight", "gamma"},
    {"weights", "weight"},
};

llvm::StringRef frontend::parameterFor(llvm::StringRef name,
                                       llvm::ArrayRef<ParamDef> parameters) {
  for (const Synonym &synonym : parameterNames)
    if (synonym.elsewhere == name &&
        llvm::any_of(parameters, [&](const ParamDef &param) {
          return param.name == synonym.here;
        }))
      return synonym.here;
  return "";
}

llvm::StringRef frontend::opFor(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases("add_n", "plus", "add")
      .Case("arange", "iota")
      .Cases("argmax", "arg_max", "reduce_argmax")
      .Cases("argmin", "arg_min", "reduce_argmin")
      .Cases("astype", "to", "convert", "cast")
      .Cases("attention", "scaled_dot_product", "sdpa")
      .Cases("avgpool", "avg_pool2d", "average_pool", "avg_pool")
      .Cases("batchnorm", "batch_normalization", "batch_norm")
      .Cases("cat", "concatenate", "concat")
      .Case("clamp", "clip")
      .Cases("conv2d", "conv1d", "convolution", "conv")
      .Cases("div", "divide", "real_div")
      .Cases("embedding", "lookup", "gather")
      .Case("flip", "reverse")
      .Cases("full", "zeros", "ones", "fill")
      .Cases("if_else", "cond", "where")
      .Cases("layernorm", "layer_normalization", "layer_norm")
      .Cases("maxpool", "max_pool2d", "max_pool")
      .Cases("mm", "bmm", "dot", "matmul")
      .Cases("multiply", "times", "mul")
      .Cases("nll_loss", "softmax_cross_entropy", "cross_entropy")
      .Cases("permute", "swapaxes", "t", "transpose")
      .Case("power", "pow")
      .Case("prod", "reduce_prod")
      .Case("reciprocal", "inverse")
      .Cases("rms_norm", "RMSNorm", "rmsnorm")
      .Cases("rotary", "rotary_embedding", "rope")
      .Cases("subtract", "minus", "sub")
      .Case("swish", "silu")
      .Cases("tril", "triu", "band_part")
      .Case("unsqueeze", "expand_dims")
      .Cases("view", "resize_to", "reshape")
      .Cases("zeros_like", "ones_like", "full_like", "fill_like")
      .Default("");
}

llvm::StringRef frontend::adviceForWord(llvm::StringRef word) {
  return llvm::StringSwitch<llvm::StringRef>(word)
      .Cases("if", "else", "elif", "switch", "match",
             "write `where(condition, a, b)`, which computes both and chooses")
      .Cases("for", "while", "loop",
             "a model repeats statements with `repeat i in 0..n { ... }`")
      .Cases("let", "var", "auto", "val",
             "a value is defined by `name = expression;`")
      .Cases("def", "func", "function", "fun", "proc",
             "write `fn`, `kernel`, `layer` or `model`")
      .Cases("class", "struct", "module", "write `layer` or `model`")
      .Cases("include", "use", "from", "using", "write `import \"file.tdsl\";`")
      .Cases("print", "assert", "pass", "del",
             "a statement declares a weight, defines a value, repeats or "
             "returns")
      .Cases("param", "parameter", "declare a trained array with `weight`")
      .Default("");
}

llvm::StringRef frontend::adviceForCharacter(char character) {
  switch (character) {
  case '#':
    return "a comment starts with `//`";
  case '.':
    return "a value has no members: call an op, as in `transpose(x, perm = [1, "
           "0])`";
  case '\'':
    return "a string stands between double quotes";
  case '%':
    return "the remainder is `mod(a, b)`";
  case '^':
    return "a power is `a ** b`";
  case '&':
    return "write `and`";
  case '|':
    return "write `or`";
  case '!':
  case '~':
    return "write `not`";
  case '?':
    return "write `where(condition, a, b)`";
  default:
    return "";
  }
}

bool frontend::noteInstead(Diagnostics::Report report, const ast::Name &name,
                           llvm::StringRef known,
                           const Suggestion &suggestion) {
  llvm::StringRef text = known.empty() ? suggestion.found() : known;
  if (text.empty())
    return false;
  report.note(name.range(), diag::DidYouMean, text);
  return true;
}
