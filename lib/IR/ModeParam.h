//===- ModeParam.h - parameters that are modes ------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Handles of constants with a word for each of a few modes:
/// `op.get(param::padType)` is a PadType, and `{param::padType,
/// PadType::Custom}` an Attr. Enumerations and handles are in the header of the
/// family, lib/Ops/Params. lib/Ops/Modes.h has what rows say of them.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_IR_MODEPARAM_H
#define ANEC_LIB_IR_MODEPARAM_H

#include "anec/IR/Params.h"
#include "anec/Support/Words.h"

namespace anec {

/// A string constant that is the word of a value of `Enum`, which the row's
/// `infer` checks.
template <Worded Enum>
struct ModeParam : ConstantParam {
  constexpr explicit ModeParam(llvm::StringLiteral name)
      : ConstantParam(ParamType::String, name) {}
  using Type = Enum;
  static constexpr int8_t rank = 0;
  static Enum read(const Constant &value) {
    std::optional<Enum> mode = parseWord<Enum>(value.asString());
    assert(mode && "a mode that the row does not take");
    return *mode;
  }
};

/// A string constant that names an element type, which the row's `infer`
/// checks.
struct DTypeParam : ConstantParam {
  constexpr explicit DTypeParam(llvm::StringLiteral name)
      : ConstantParam(ParamType::String, name) {}
  using Type = DType;
  static constexpr int8_t rank = 0;
  static DType read(const Constant &value) {
    std::optional<DType> dtype = parseDType(value.asString());
    assert(dtype && "a name that the row does not take");
    return *dtype;
  }
};

/// Declares the handle of a mode, like ANEC_PARAM.
#define ANEC_MODE(HANDLE, NAME, ENUM)                                          \
  inline constexpr ModeParam<ENUM> HANDLE{NAME};

} // namespace anec

#endif // ANEC_LIB_IR_MODEPARAM_H
