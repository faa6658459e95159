//===- Params.h - handles for the parameters of ops -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Handles of op parameters, used in rows and in all other code:
/// `op.get(param::axis)` is an int64_t, `op.operand(param::weight)` a Value. An
/// unknown name or a wrong type is a compile-time error; a parameter that the
/// op's row lacks fails an assertion.
///
/// Names in text (IR, MIL, keyword arguments) are looked up in a row by
/// OpDef::findValueParam and findConstantParam.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_IR_PARAMS_H
#define ANEC_IR_PARAMS_H

#include "anec/IR/Constant.h"

namespace anec {

enum class ParamId : uint16_t {
  None,
#define PARAM(HANDLE, NAME, TYPE) HANDLE,
#include "anec/IR/Params.def"
};

/// The name of a parameter, as written, and the identity of the handle: two
/// handles can have the same name and differ in type.
struct ParamName : llvm::StringLiteral {
  ParamId id = ParamId::None;

  constexpr ParamName() : StringLiteral("") {}
  constexpr ParamName(ParamId id, llvm::StringLiteral name)
      : StringLiteral(name), id(id) {}
  friend constexpr bool operator==(const ParamName &lhs, const ParamName &rhs) {
    return lhs.id == rhs.id;
  }
};

/// An operand.
struct ValueParam : ParamName {
  using ParamName::ParamName;
};

/// A constant of any type.
struct ConstantParam : ParamName {
  using ParamName::ParamName;
};

// Constants whose type is known. `Type` is the C++ type of the value; `rank` is
// 0 for scalars and 1 for lists.
struct BoolParam : ConstantParam {
  using ConstantParam::ConstantParam;
  using Type = bool;
  static constexpr int8_t rank = 0;
  static Type read(const Constant &value) { return value.asBool(); }
};
struct IntParam : ConstantParam {
  using ConstantParam::ConstantParam;
  using Type = int64_t;
  static constexpr int8_t rank = 0;
  static Type read(const Constant &value) { return value.asInt(); }
};
struct FloatParam : ConstantParam {
  using ConstantParam::ConstantParam;
  using Type = double;
  static constexpr int8_t rank = 0;
  static Type read(const Constant &value) { return value.asDouble(); }
};
/// Reading one gives a view, which lives as long as the constant.
struct StringParam : ConstantParam {
  using ConstantParam::ConstantParam;
  using Type = llvm::StringRef;
  static constexpr int8_t rank = 0;
  static Type read(const Constant &value) { return value.asString(); }
};
struct IntsParam : ConstantParam {
  using ConstantParam::ConstantParam;
  using Type = Shape;
  static constexpr int8_t rank = 1;
  static Type read(const Constant &value) { return value.asInts(); }
};
/// Booleans, read as 0 and 1.
struct BoolsParam : ConstantParam {
  using ConstantParam::ConstantParam;
  using Type = Shape;
  static constexpr int8_t rank = 1;
  static Type read(const Constant &value) { return value.asInts(); }
};
/// Reading one gives a view, which lives as long as the constant.
struct StringsParam : ConstantParam {
  using ConstantParam::ConstantParam;
  using Type = llvm::ArrayRef<std::string>;
  static constexpr int8_t rank = 1;
  static Type read(const Constant &value) { return value.asStrings(); }
};
/// A constant whose type depends on the op.
struct AnyParam : ConstantParam {
  using ConstantParam::ConstantParam;
};

/// The handles.
namespace param {
#define PARAM(HANDLE, NAME, TYPE)                                              \
  inline constexpr TYPE##Param HANDLE{ParamId::HANDLE, NAME};
#include "anec/IR/Params.def"
} // namespace param

} // namespace anec

#endif // ANEC_IR_PARAMS_H
