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

/// The type of a handle.
enum class ParamType : uint8_t {
  Value,
  Any,
  Bool,
  Int,
  Float,
  String,
  Ints,
  Bools,
  Strings
};

/// The identity of a handle: a hash of its name, and its type, so that a handle
/// can be declared everywhere. test/Unit/Ops/OpTableTest.cpp compares them all.
enum class ParamId : uint32_t { None };
constexpr ParamId idOf(ParamType type, llvm::StringRef name) {
  uint32_t hash = 2166136261; // FNV-1a
  for (size_t at = 0; at < name.size(); ++at)
    hash = (hash ^ uint8_t(name.data()[at])) * 16777619;
  return ParamId(hash << 4 | (uint32_t(type) + 1));
}
constexpr ParamType typeOf(ParamId id) {
  return ParamType((uint32_t(id) & 15) - 1);
}

/// The name of a parameter, as written, and the identity of the handle: two
/// handles can have the same name and differ in type.
struct ParamName : llvm::StringLiteral {
  ParamId id = ParamId::None;

  constexpr ParamName() : StringLiteral("") {}
  constexpr ParamName(ParamId id, llvm::StringLiteral name)
      : StringLiteral(name), id(id) {}
  constexpr ParamName(ParamType type, llvm::StringLiteral name)
      : ParamName(idOf(type, name), name) {}
  friend constexpr bool operator==(const ParamName &lhs, const ParamName &rhs) {
    return lhs.id == rhs.id;
  }
};

/// An operand.
struct ValueParam : ParamName {
  constexpr explicit ValueParam(llvm::StringLiteral name)
      : ParamName(ParamType::Value, name) {}
};

/// A constant of any type.
struct ConstantParam : ParamName {
  using ParamName::ParamName;
};

// Constants whose type is known. `Type` is the C++ type of the value; `rank` is
// 0 for scalars and 1 for lists.
struct BoolParam : ConstantParam {
  constexpr explicit BoolParam(llvm::StringLiteral name)
      : ConstantParam(ParamType::Bool, name) {}
  using Type = bool;
  static constexpr int8_t rank = 0;
  static Type read(const Constant &value) { return value.asBool(); }
};
struct IntParam : ConstantParam {
  constexpr explicit IntParam(llvm::StringLiteral name)
      : ConstantParam(ParamType::Int, name) {}
  using Type = int64_t;
  static constexpr int8_t rank = 0;
  static Type read(const Constant &value) { return value.asInt(); }
};
struct FloatParam : ConstantParam {
  constexpr explicit FloatParam(llvm::StringLiteral name)
      : ConstantParam(ParamType::Float, name) {}
  using Type = double;
  static constexpr int8_t rank = 0;
  static Type read(const Constant &value) { return value.asDouble(); }
};
/// Reading one gives a view, which lives as long as the constant.
struct StringParam : ConstantParam {
  constexpr explicit StringParam(llvm::StringLiteral name)
      : ConstantParam(ParamType::String, name) {}
  using Type = llvm::StringRef;
  static constexpr int8_t rank = 0;
  static Type read(const Constant &value) { return value.asString(); }
};
struct IntsParam : ConstantParam {
  constexpr explicit IntsParam(llvm::StringLiteral name)
      : ConstantParam(ParamType::Ints, name) {}
  using Type = Shape;
  static constexpr int8_t rank = 1;
  static Type read(const Constant &value) { return value.asInts(); }
};
/// Booleans, read as 0 and 1.
struct BoolsParam : ConstantParam {
  constexpr explicit BoolsParam(llvm::StringLiteral name)
      : ConstantParam(ParamType::Bools, name) {}
  using Type = Shape;
  static constexpr int8_t rank = 1;
  static Type read(const Constant &value) { return value.asInts(); }
};
/// Reading one gives a view, which lives as long as the constant.
struct StringsParam : ConstantParam {
  constexpr explicit StringsParam(llvm::StringLiteral name)
      : ConstantParam(ParamType::Strings, name) {}
  using Type = llvm::ArrayRef<std::string>;
  static constexpr int8_t rank = 1;
  static Type read(const Constant &value) { return value.asStrings(); }
};
/// A constant whose type depends on the op.
struct AnyParam : ConstantParam {
  constexpr explicit AnyParam(llvm::StringLiteral name)
      : ConstantParam(ParamType::Any, name) {}
};

/// Declares a handle, in the namespace anec::param: its name in code, MIL's
/// name of the parameter, and its type. A name that ops use with several types
/// has a handle for each: the plain one is a constant, `...Value` an operand.
#define ANEC_PARAM(HANDLE, NAME, TYPE)                                         \
  inline constexpr TYPE##Param HANDLE{NAME};

} // namespace anec

#endif // ANEC_IR_PARAMS_H
