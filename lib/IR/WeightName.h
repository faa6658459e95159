//===- WeightName.h - names of weights and their arrays ---------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The name of a weight is that of the model or layer that it belongs to, a
/// dot, and its own name: `attention.wq`. A repeated layer has one array for
/// each instance, called `attention.3.wq`. A layer that is called in another
/// stands in the own names of its weights: `block.attention.wq`, of which the
/// arrays are called `block.3.attention.wq`.
///
/// Weights of programs that others wrote keep the names that they have there.
/// The name of one that belongs to a repeated layer lists those of its arrays,
/// as for a shell: `encoder.layers.{0..11}.norm.weight`,
/// `MatMul_{131,155,179}`.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_WEIGHTNAME_H
#define ANEC_LIB_IR_WEIGHTNAME_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace anec {

/// `wq` of `attention.wq` and of `block.attention.wq`: what follows the last
/// dot outside of braces.
llvm::StringRef memberOf(llvm::StringRef weight);

/// `attention.3.wq` for weight `attention.wq` of instance 3; `w.3` for `w`; the
/// fourth name of a list. Without an instance, the name itself.
std::string instanceName(llvm::StringRef weight,
                         std::optional<int64_t> instance);

/// `attention.wq` of `attention.3.wq`, the array of an instance; other names
/// are their own.
std::string withoutInstance(llvm::StringRef array);

/// The names of the arrays that a name lists, or itself.
std::vector<std::string> arraysOf(llvm::StringRef weight);
/// The name that lists the names of arrays; see instanceName. Each can be an
/// instance, and there is at least one.
std::string listInstances(llvm::ArrayRef<llvm::StringRef> names);
/// Whether a name can be in a list: it has no braces and no comma.
bool canBeInstance(llvm::StringRef name);

} // namespace anec

#endif // ANEC_LIB_IR_WEIGHTNAME_H
