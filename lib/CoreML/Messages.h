//===- Messages.h - the messages of Core ML's files -------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The inner messages of a model, with the field numbers that Apple publishes
/// in coremltools (mlmodel/format). They are read without the library of
/// protobuf: Debian's libsentencepiece exports a copy of that library, of
/// another version, and a process can have only one.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_MESSAGES_H
#define ANEC_LIB_COREML_MESSAGES_H

#include "Decoder.h"

namespace anec::coreml::proto {

class Operation;
class Argument;
class NamedValueType;
class ValueType;
class TensorType;
class Dimension;
class ListType;
class TupleType;
class DictionaryType;
class StateType;
class Value;
class TensorValue;
class TupleValue;
class ListValue;
class DictionaryValue;
class Metadata;
class ModelDescription;
class FunctionDescription;
class FeatureDescription;
class FeatureType;
class Int64FeatureType;
class DoubleFeatureType;
class StringFeatureType;
class SizeRange;
class ImageFeatureType;
class ArrayFeatureType;
class DictionaryFeatureType;
class SequenceFeatureType;
class StateFeatureType;

enum DataType : int {
  UNUSED_TYPE = 0,
  BOOL = 1,
  STRING = 2,
  FLOAT16 = 10,
  FLOAT32 = 11,
  FLOAT64 = 12,
  BFLOAT16 = 13,
  INT8 = 21,
  INT16 = 22,
  INT32 = 23,
  INT64 = 24,
  INT4 = 25,
  UINT8 = 31,
  UINT16 = 32,
  UINT32 = 33,
  UINT64 = 34,
  UINT4 = 35,
  UINT2 = 36,
  UINT1 = 37,
  UINT6 = 38,
  UINT3 = 39,
  FLOAT8E4M3FN = 40,
  FLOAT8E5M2 = 41
};

class Operation {
public:
  const std::string &type() const { return typeOf; }
  const Map<Argument> &inputs() const { return inputsOf; }
  const std::vector<NamedValueType> &outputs() const { return outputsOf; }
  int outputs_size() const { return int(outputsOf.size()); }
  const NamedValueType &outputs(int i) const { return outputsOf[size_t(i)]; }
  const std::vector<std::string> &blocks() const { return blocksOf; }
  int blocks_size() const { return int(blocksOf.size()); }
  const std::string &blocks(int i) const { return blocksOf[size_t(i)]; }
  const Map<Value> &attributes() const { return attributesOf; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.scalar(field, typeOf);
    case 2:
      return decoder.entry(field, inputsOf);
    case 3:
      return decoder.repeated(field, outputsOf);
    case 4:
      return decoder.repeated(field, blocksOf);
    case 5:
      return decoder.entry(field, attributesOf);
    default:
      return true;
    }
  }

private:
  std::string typeOf;
  Map<Argument> inputsOf;
  std::vector<NamedValueType> outputsOf;
  std::vector<std::string> blocksOf;
  Map<Value> attributesOf;
};

class Argument {
public:
  class Binding {
  public:
    enum BindingCase { BINDING_NOT_SET = 0, kName = 1, kValue = 2 };
    BindingCase binding_case() const { return BindingCase(bindingSet); }
    const std::string &name() const { return nameOf; }
    bool has_name() const { return bindingSet == 1; }
    const Value &value() const { return valueOr(valueOf); }
    bool has_value() const { return bindingSet == 2; }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.choose(field, bindingSet) &&
               decoder.scalar(field, nameOf);
      case 2:
        return decoder.choose(field, bindingSet) &&
               decoder.message(field, valueOf);
      default:
        return true;
      }
    }

  private:
    std::string nameOf;
    std::shared_ptr<Value> valueOf;
    int bindingSet = 0;
  };

  const std::vector<Binding> &arguments() const { return argumentsOf; }
  int arguments_size() const { return int(argumentsOf.size()); }
  const Binding &arguments(int i) const { return argumentsOf[size_t(i)]; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.repeated(field, argumentsOf);
    default:
      return true;
    }
  }

private:
  std::vector<Binding> argumentsOf;
};

class NamedValueType {
public:
  const std::string &name() const { return nameOf; }
  const ValueType &type() const { return valueOr(typeOf); }
  bool has_type() const { return typeOf != nullptr; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.scalar(field, nameOf);
    case 2:
      return decoder.message(field, typeOf);
    default:
      return true;
    }
  }

private:
  std::string nameOf;
  std::shared_ptr<ValueType> typeOf;
};

class ValueType {
public:
  enum TypeCase {
    TYPE_NOT_SET = 0,
    kTensorType = 1,
    kListType = 2,
    kTupleType = 3,
    kDictionaryType = 4,
    kStateType = 5
  };
  TypeCase type_case() const { return TypeCase(typeSet); }
  const TensorType &tensortype() const { return valueOr(tensorTypeOf); }
  bool has_tensortype() const { return typeSet == 1; }
  const ListType &listtype() const { return valueOr(listTypeOf); }
  bool has_listtype() const { return typeSet == 2; }
  const TupleType &tupletype() const { return valueOr(tupleTypeOf); }
  bool has_tupletype() const { return typeSet == 3; }
  const DictionaryType &dictionarytype() const {
    return valueOr(dictionaryTypeOf);
  }
  bool has_dictionarytype() const { return typeSet == 4; }
  const StateType &statetype() const { return valueOr(stateTypeOf); }
  bool has_statetype() const { return typeSet == 5; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.choose(field, typeSet) &&
             decoder.message(field, tensorTypeOf);
    case 2:
      return decoder.choose(field, typeSet) &&
             decoder.message(field, listTypeOf);
    case 3:
      return decoder.choose(field, typeSet) &&
             decoder.message(field, tupleTypeOf);
    case 4:
      return decoder.choose(field, typeSet) &&
             decoder.message(field, dictionaryTypeOf);
    case 5:
      return decoder.choose(field, typeSet) &&
             decoder.message(field, stateTypeOf);
    default:
      return true;
    }
  }

private:
  std::shared_ptr<TensorType> tensorTypeOf;
  std::shared_ptr<ListType> listTypeOf;
  std::shared_ptr<TupleType> tupleTypeOf;
  std::shared_ptr<DictionaryType> dictionaryTypeOf;
  std::shared_ptr<StateType> stateTypeOf;
  int typeSet = 0;
};

class TensorType {
public:
  DataType datatype() const { return dataTypeOf; }
  int64_t rank() const { return rankOf; }
  const std::vector<Dimension> &dimensions() const { return dimensionsOf; }
  int dimensions_size() const { return int(dimensionsOf.size()); }
  const Dimension &dimensions(int i) const { return dimensionsOf[size_t(i)]; }
  const Map<Value> &attributes() const { return attributesOf; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.enumeration(
          field, dataTypeOf, {0,  1,  2,  10, 11, 12, 13, 21, 22, 23, 24, 25,
                              31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41});
    case 2:
      return decoder.scalar(field, rankOf);
    case 3:
      return decoder.repeated(field, dimensionsOf);
    case 4:
      return decoder.entry(field, attributesOf);
    default:
      return true;
    }
  }

private:
  DataType dataTypeOf = DataType();
  int64_t rankOf = 0;
  std::vector<Dimension> dimensionsOf;
  Map<Value> attributesOf;
};

class Dimension {
public:
  class ConstantDimension {
  public:
    uint64_t size() const { return sizeOf; }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.scalar(field, sizeOf);
      default:
        return true;
      }
    }

  private:
    uint64_t sizeOf = 0;
  };

  class UnknownDimension {
  public:
    bool variadic() const { return variadicOf; }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.scalar(field, variadicOf);
      default:
        return true;
      }
    }

  private:
    bool variadicOf = false;
  };

  enum DimensionCase { DIMENSION_NOT_SET = 0, kConstant = 1, kUnknown = 2 };
  DimensionCase dimension_case() const { return DimensionCase(dimensionSet); }
  const ConstantDimension &constant() const { return valueOr(constantOf); }
  bool has_constant() const { return dimensionSet == 1; }
  const UnknownDimension &unknown() const { return valueOr(unknownOf); }
  bool has_unknown() const { return dimensionSet == 2; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.choose(field, dimensionSet) &&
             decoder.message(field, constantOf);
    case 2:
      return decoder.choose(field, dimensionSet) &&
             decoder.message(field, unknownOf);
    default:
      return true;
    }
  }

private:
  std::shared_ptr<ConstantDimension> constantOf;
  std::shared_ptr<UnknownDimension> unknownOf;
  int dimensionSet = 0;
};

class ListType {
public:
  const ValueType &type() const { return valueOr(typeOf); }
  bool has_type() const { return typeOf != nullptr; }
  const Dimension &length() const { return valueOr(lengthOf); }
  bool has_length() const { return lengthOf != nullptr; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.message(field, typeOf);
    case 2:
      return decoder.message(field, lengthOf);
    default:
      return true;
    }
  }

private:
  std::shared_ptr<ValueType> typeOf;
  std::shared_ptr<Dimension> lengthOf;
};

class TupleType {
public:
  const std::vector<ValueType> &types() const { return typesOf; }
  int types_size() const { return int(typesOf.size()); }
  const ValueType &types(int i) const { return typesOf[size_t(i)]; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.repeated(field, typesOf);
    default:
      return true;
    }
  }

private:
  std::vector<ValueType> typesOf;
};

class DictionaryType {
public:
  const ValueType &keytype() const { return valueOr(keyTypeOf); }
  bool has_keytype() const { return keyTypeOf != nullptr; }
  const ValueType &valuetype() const { return valueOr(valueTypeOf); }
  bool has_valuetype() const { return valueTypeOf != nullptr; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.message(field, keyTypeOf);
    case 2:
      return decoder.message(field, valueTypeOf);
    default:
      return true;
    }
  }

private:
  std::shared_ptr<ValueType> keyTypeOf;
  std::shared_ptr<ValueType> valueTypeOf;
};

class StateType {
public:
  const ValueType &wrappedtype() const { return valueOr(wrappedTypeOf); }
  bool has_wrappedtype() const { return wrappedTypeOf != nullptr; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.message(field, wrappedTypeOf);
    default:
      return true;
    }
  }

private:
  std::shared_ptr<ValueType> wrappedTypeOf;
};

class Value {
public:
  class ImmediateValue {
  public:
    enum ValueCase {
      VALUE_NOT_SET = 0,
      kTensor = 1,
      kTuple = 2,
      kList = 3,
      kDictionary = 4
    };
    ValueCase value_case() const { return ValueCase(valueSet); }
    const TensorValue &tensor() const { return valueOr(tensorOf); }
    bool has_tensor() const { return valueSet == 1; }
    const TupleValue &tuple() const { return valueOr(tupleOf); }
    bool has_tuple() const { return valueSet == 2; }
    const ListValue &list() const { return valueOr(listOf); }
    bool has_list() const { return valueSet == 3; }
    const DictionaryValue &dictionary() const { return valueOr(dictionaryOf); }
    bool has_dictionary() const { return valueSet == 4; }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.choose(field, valueSet) &&
               decoder.message(field, tensorOf);
      case 2:
        return decoder.choose(field, valueSet) &&
               decoder.message(field, tupleOf);
      case 3:
        return decoder.choose(field, valueSet) &&
               decoder.message(field, listOf);
      case 4:
        return decoder.choose(field, valueSet) &&
               decoder.message(field, dictionaryOf);
      default:
        return true;
      }
    }

  private:
    std::shared_ptr<TensorValue> tensorOf;
    std::shared_ptr<TupleValue> tupleOf;
    std::shared_ptr<ListValue> listOf;
    std::shared_ptr<DictionaryValue> dictionaryOf;
    int valueSet = 0;
  };

  class BlobFileValue {
  public:
    const std::string &filename() const { return fileNameOf; }
    uint64_t offset() const { return offsetOf; }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.scalar(field, fileNameOf);
      case 2:
        return decoder.scalar(field, offsetOf);
      default:
        return true;
      }
    }

  private:
    std::string fileNameOf;
    uint64_t offsetOf = 0;
  };

  enum ValueCase { VALUE_NOT_SET = 0, kImmediateValue = 3, kBlobFileValue = 5 };
  ValueCase value_case() const { return ValueCase(valueSet); }
  const std::string &docstring() const { return docStringOf; }
  const ValueType &type() const { return valueOr(typeOf); }
  bool has_type() const { return typeOf != nullptr; }
  const ImmediateValue &immediatevalue() const {
    return valueOr(immediateValueOf);
  }
  bool has_immediatevalue() const { return valueSet == 3; }
  const BlobFileValue &blobfilevalue() const {
    return valueOr(blobFileValueOf);
  }
  bool has_blobfilevalue() const { return valueSet == 5; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.scalar(field, docStringOf);
    case 2:
      return decoder.message(field, typeOf);
    case 3:
      return decoder.choose(field, valueSet) &&
             decoder.message(field, immediateValueOf);
    case 5:
      return decoder.choose(field, valueSet) &&
             decoder.message(field, blobFileValueOf);
    default:
      return true;
    }
  }

private:
  std::string docStringOf;
  std::shared_ptr<ValueType> typeOf;
  std::shared_ptr<ImmediateValue> immediateValueOf;
  std::shared_ptr<BlobFileValue> blobFileValueOf;
  int valueSet = 0;
};

class TensorValue {
public:
  class RepeatedFloats {
  public:
    const std::vector<float> &values() const { return valuesOf; }
    int values_size() const { return int(valuesOf.size()); }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.repeated(field, valuesOf);
      default:
        return true;
      }
    }

  private:
    std::vector<float> valuesOf;
  };

  class RepeatedInts {
  public:
    const std::vector<int32_t> &values() const { return valuesOf; }
    int values_size() const { return int(valuesOf.size()); }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.repeated(field, valuesOf);
      default:
        return true;
      }
    }

  private:
    std::vector<int32_t> valuesOf;
  };

  class RepeatedBools {
  public:
    const std::vector<uint8_t> &values() const { return valuesOf; }
    int values_size() const { return int(valuesOf.size()); }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.repeated(field, valuesOf);
      default:
        return true;
      }
    }

  private:
    std::vector<uint8_t> valuesOf;
  };

  class RepeatedStrings {
  public:
    const std::vector<std::string> &values() const { return valuesOf; }
    int values_size() const { return int(valuesOf.size()); }
    const std::string &values(int i) const { return valuesOf[size_t(i)]; }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.repeated(field, valuesOf);
      default:
        return true;
      }
    }

  private:
    std::vector<std::string> valuesOf;
  };

  class RepeatedLongInts {
  public:
    const std::vector<int64_t> &values() const { return valuesOf; }
    int values_size() const { return int(valuesOf.size()); }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.repeated(field, valuesOf);
      default:
        return true;
      }
    }

  private:
    std::vector<int64_t> valuesOf;
  };

  class RepeatedDoubles {
  public:
    const std::vector<double> &values() const { return valuesOf; }
    int values_size() const { return int(valuesOf.size()); }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.repeated(field, valuesOf);
      default:
        return true;
      }
    }

  private:
    std::vector<double> valuesOf;
  };

  class RepeatedBytes {
  public:
    const std::string &values() const { return valuesOf; }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.scalar(field, valuesOf);
      default:
        return true;
      }
    }

  private:
    std::string valuesOf;
  };

  enum ValueCase {
    VALUE_NOT_SET = 0,
    kFloats = 1,
    kInts = 2,
    kBools = 3,
    kStrings = 4,
    kLongInts = 5,
    kDoubles = 6,
    kBytes = 7
  };
  ValueCase value_case() const { return ValueCase(valueSet); }
  const RepeatedFloats &floats() const { return valueOr(floatsOf); }
  bool has_floats() const { return valueSet == 1; }
  const RepeatedInts &ints() const { return valueOr(intsOf); }
  bool has_ints() const { return valueSet == 2; }
  const RepeatedBools &bools() const { return valueOr(boolsOf); }
  bool has_bools() const { return valueSet == 3; }
  const RepeatedStrings &strings() const { return valueOr(stringsOf); }
  bool has_strings() const { return valueSet == 4; }
  const RepeatedLongInts &longints() const { return valueOr(longIntsOf); }
  bool has_longints() const { return valueSet == 5; }
  const RepeatedDoubles &doubles() const { return valueOr(doublesOf); }
  bool has_doubles() const { return valueSet == 6; }
  const RepeatedBytes &bytes() const { return valueOr(bytesOf); }
  bool has_bytes() const { return valueSet == 7; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.choose(field, valueSet) &&
             decoder.message(field, floatsOf);
    case 2:
      return decoder.choose(field, valueSet) && decoder.message(field, intsOf);
    case 3:
      return decoder.choose(field, valueSet) && decoder.message(field, boolsOf);
    case 4:
      return decoder.choose(field, valueSet) &&
             decoder.message(field, stringsOf);
    case 5:
      return decoder.choose(field, valueSet) &&
             decoder.message(field, longIntsOf);
    case 6:
      return decoder.choose(field, valueSet) &&
             decoder.message(field, doublesOf);
    case 7:
      return decoder.choose(field, valueSet) && decoder.message(field, bytesOf);
    default:
      return true;
    }
  }

private:
  std::shared_ptr<RepeatedFloats> floatsOf;
  std::shared_ptr<RepeatedInts> intsOf;
  std::shared_ptr<RepeatedBools> boolsOf;
  std::shared_ptr<RepeatedStrings> stringsOf;
  std::shared_ptr<RepeatedLongInts> longIntsOf;
  std::shared_ptr<RepeatedDoubles> doublesOf;
  std::shared_ptr<RepeatedBytes> bytesOf;
  int valueSet = 0;
};

class TupleValue {
public:
  const std::vector<Value> &values() const { return valuesOf; }
  int values_size() const { return int(valuesOf.size()); }
  const Value &values(int i) const { return valuesOf[size_t(i)]; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.repeated(field, valuesOf);
    default:
      return true;
    }
  }

private:
  std::vector<Value> valuesOf;
};

class ListValue {
public:
  const std::vector<Value> &values() const { return valuesOf; }
  int values_size() const { return int(valuesOf.size()); }
  const Value &values(int i) const { return valuesOf[size_t(i)]; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.repeated(field, valuesOf);
    default:
      return true;
    }
  }

private:
  std::vector<Value> valuesOf;
};

class DictionaryValue {
public:
  class KeyValuePair {
  public:
    const Value &key() const { return valueOr(keyOf); }
    bool has_key() const { return keyOf != nullptr; }
    const Value &value() const { return valueOr(valueOf); }
    bool has_value() const { return valueOf != nullptr; }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.message(field, keyOf);
      case 2:
        return decoder.message(field, valueOf);
      default:
        return true;
      }
    }

  private:
    std::shared_ptr<Value> keyOf;
    std::shared_ptr<Value> valueOf;
  };

  const std::vector<KeyValuePair> &values() const { return valuesOf; }
  int values_size() const { return int(valuesOf.size()); }
  const KeyValuePair &values(int i) const { return valuesOf[size_t(i)]; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.repeated(field, valuesOf);
    default:
      return true;
    }
  }

private:
  std::vector<KeyValuePair> valuesOf;
};

class Metadata {
public:
  const std::string &shortdescription() const { return shortDescriptionOf; }
  const std::string &versionstring() const { return versionStringOf; }
  const std::string &author() const { return authorOf; }
  const std::string &license() const { return licenseOf; }
  const Map<std::string> &userdefined() const { return userDefinedOf; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.scalar(field, shortDescriptionOf);
    case 2:
      return decoder.scalar(field, versionStringOf);
    case 3:
      return decoder.scalar(field, authorOf);
    case 4:
      return decoder.scalar(field, licenseOf);
    case 100:
      return decoder.entry(field, userDefinedOf);
    default:
      return true;
    }
  }

private:
  std::string shortDescriptionOf;
  std::string versionStringOf;
  std::string authorOf;
  std::string licenseOf;
  Map<std::string> userDefinedOf;
};

class ModelDescription {
public:
  const std::vector<FeatureDescription> &input() const { return inputOf; }
  int input_size() const { return int(inputOf.size()); }
  const FeatureDescription &input(int i) const { return inputOf[size_t(i)]; }
  const std::vector<FeatureDescription> &output() const { return outputOf; }
  int output_size() const { return int(outputOf.size()); }
  const FeatureDescription &output(int i) const { return outputOf[size_t(i)]; }
  const std::string &predictedfeaturename() const {
    return predictedFeatureNameOf;
  }
  const std::string &predictedprobabilitiesname() const {
    return predictedProbabilitiesNameOf;
  }
  const std::vector<FeatureDescription> &state() const { return stateOf; }
  int state_size() const { return int(stateOf.size()); }
  const FeatureDescription &state(int i) const { return stateOf[size_t(i)]; }
  const std::vector<FunctionDescription> &functions() const {
    return functionsOf;
  }
  int functions_size() const { return int(functionsOf.size()); }
  const FunctionDescription &functions(int i) const {
    return functionsOf[size_t(i)];
  }
  const std::string &defaultfunctionname() const {
    return defaultFunctionNameOf;
  }
  const std::vector<FeatureDescription> &traininginput() const {
    return trainingInputOf;
  }
  int traininginput_size() const { return int(trainingInputOf.size()); }
  const FeatureDescription &traininginput(int i) const {
    return trainingInputOf[size_t(i)];
  }
  const Metadata &metadata() const { return valueOr(metadataOf); }
  bool has_metadata() const { return metadataOf != nullptr; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.repeated(field, inputOf);
    case 10:
      return decoder.repeated(field, outputOf);
    case 11:
      return decoder.scalar(field, predictedFeatureNameOf);
    case 12:
      return decoder.scalar(field, predictedProbabilitiesNameOf);
    case 13:
      return decoder.repeated(field, stateOf);
    case 20:
      return decoder.repeated(field, functionsOf);
    case 21:
      return decoder.scalar(field, defaultFunctionNameOf);
    case 50:
      return decoder.repeated(field, trainingInputOf);
    case 100:
      return decoder.message(field, metadataOf);
    default:
      return true;
    }
  }

private:
  std::vector<FeatureDescription> inputOf;
  std::vector<FeatureDescription> outputOf;
  std::string predictedFeatureNameOf;
  std::string predictedProbabilitiesNameOf;
  std::vector<FeatureDescription> stateOf;
  std::vector<FunctionDescription> functionsOf;
  std::string defaultFunctionNameOf;
  std::vector<FeatureDescription> trainingInputOf;
  std::shared_ptr<Metadata> metadataOf;
};

class FunctionDescription {
public:
  const std::string &name() const { return nameOf; }
  const std::vector<FeatureDescription> &input() const { return inputOf; }
  int input_size() const { return int(inputOf.size()); }
  const FeatureDescription &input(int i) const { return inputOf[size_t(i)]; }
  const std::vector<FeatureDescription> &output() const { return outputOf; }
  int output_size() const { return int(outputOf.size()); }
  const FeatureDescription &output(int i) const { return outputOf[size_t(i)]; }
  const std::string &predictedfeaturename() const {
    return predictedFeatureNameOf;
  }
  const std::string &predictedprobabilitiesname() const {
    return predictedProbabilitiesNameOf;
  }
  const std::vector<FeatureDescription> &state() const { return stateOf; }
  int state_size() const { return int(stateOf.size()); }
  const FeatureDescription &state(int i) const { return stateOf[size_t(i)]; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.scalar(field, nameOf);
    case 2:
      return decoder.repeated(field, inputOf);
    case 3:
      return decoder.repeated(field, outputOf);
    case 4:
      return decoder.scalar(field, predictedFeatureNameOf);
    case 5:
      return decoder.scalar(field, predictedProbabilitiesNameOf);
    case 6:
      return decoder.repeated(field, stateOf);
    default:
      return true;
    }
  }

private:
  std::string nameOf;
  std::vector<FeatureDescription> inputOf;
  std::vector<FeatureDescription> outputOf;
  std::string predictedFeatureNameOf;
  std::string predictedProbabilitiesNameOf;
  std::vector<FeatureDescription> stateOf;
};

class FeatureDescription {
public:
  const std::string &name() const { return nameOf; }
  const std::string &shortdescription() const { return shortDescriptionOf; }
  const FeatureType &type() const { return valueOr(typeOf); }
  bool has_type() const { return typeOf != nullptr; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.scalar(field, nameOf);
    case 2:
      return decoder.scalar(field, shortDescriptionOf);
    case 3:
      return decoder.message(field, typeOf);
    default:
      return true;
    }
  }

private:
  std::string nameOf;
  std::string shortDescriptionOf;
  std::shared_ptr<FeatureType> typeOf;
};

class FeatureType {
public:
  enum TypeCase {
    TYPE_NOT_SET = 0,
    kInt64Type = 1,
    kDoubleType = 2,
    kStringType = 3,
    kImageType = 4,
    kMultiArrayType = 5,
    kDictionaryType = 6,
    kSequenceType = 7,
    kStateType = 8
  };
  TypeCase Type_case() const { return TypeCase(TypeSet); }
  const Int64FeatureType &int64type() const { return valueOr(int64TypeOf); }
  bool has_int64type() const { return TypeSet == 1; }
  const DoubleFeatureType &doubletype() const { return valueOr(doubleTypeOf); }
  bool has_doubletype() const { return TypeSet == 2; }
  const StringFeatureType &stringtype() const { return valueOr(stringTypeOf); }
  bool has_stringtype() const { return TypeSet == 3; }
  const ImageFeatureType &imagetype() const { return valueOr(imageTypeOf); }
  bool has_imagetype() const { return TypeSet == 4; }
  const ArrayFeatureType &multiarraytype() const {
    return valueOr(multiArrayTypeOf);
  }
  bool has_multiarraytype() const { return TypeSet == 5; }
  const DictionaryFeatureType &dictionarytype() const {
    return valueOr(dictionaryTypeOf);
  }
  bool has_dictionarytype() const { return TypeSet == 6; }
  const SequenceFeatureType &sequencetype() const {
    return valueOr(sequenceTypeOf);
  }
  bool has_sequencetype() const { return TypeSet == 7; }
  const StateFeatureType &statetype() const { return valueOr(stateTypeOf); }
  bool has_statetype() const { return TypeSet == 8; }
  bool isoptional() const { return isOptionalOf; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.choose(field, TypeSet) &&
             decoder.message(field, int64TypeOf);
    case 2:
      return decoder.choose(field, TypeSet) &&
             decoder.message(field, doubleTypeOf);
    case 3:
      return decoder.choose(field, TypeSet) &&
             decoder.message(field, stringTypeOf);
    case 4:
      return decoder.choose(field, TypeSet) &&
             decoder.message(field, imageTypeOf);
    case 5:
      return decoder.choose(field, TypeSet) &&
             decoder.message(field, multiArrayTypeOf);
    case 6:
      return decoder.choose(field, TypeSet) &&
             decoder.message(field, dictionaryTypeOf);
    case 7:
      return decoder.choose(field, TypeSet) &&
             decoder.message(field, sequenceTypeOf);
    case 8:
      return decoder.choose(field, TypeSet) &&
             decoder.message(field, stateTypeOf);
    case 1000:
      return decoder.scalar(field, isOptionalOf);
    default:
      return true;
    }
  }

private:
  std::shared_ptr<Int64FeatureType> int64TypeOf;
  std::shared_ptr<DoubleFeatureType> doubleTypeOf;
  std::shared_ptr<StringFeatureType> stringTypeOf;
  std::shared_ptr<ImageFeatureType> imageTypeOf;
  std::shared_ptr<ArrayFeatureType> multiArrayTypeOf;
  std::shared_ptr<DictionaryFeatureType> dictionaryTypeOf;
  std::shared_ptr<SequenceFeatureType> sequenceTypeOf;
  std::shared_ptr<StateFeatureType> stateTypeOf;
  bool isOptionalOf = false;
  int TypeSet = 0;
};

class Int64FeatureType {
public:
  /// Takes a field; false when it is malformed.
  bool take(const Field &, Decoder &) { return true; }
};

class DoubleFeatureType {
public:
  /// Takes a field; false when it is malformed.
  bool take(const Field &, Decoder &) { return true; }
};

class StringFeatureType {
public:
  /// Takes a field; false when it is malformed.
  bool take(const Field &, Decoder &) { return true; }
};

class SizeRange {
public:
  uint64_t lowerbound() const { return lowerBoundOf; }
  int64_t upperbound() const { return upperBoundOf; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.scalar(field, lowerBoundOf);
    case 2:
      return decoder.scalar(field, upperBoundOf);
    default:
      return true;
    }
  }

private:
  uint64_t lowerBoundOf = 0;
  int64_t upperBoundOf = 0;
};

class ImageFeatureType {
public:
  enum ColorSpace : int {
    INVALID_COLOR_SPACE = 0,
    GRAYSCALE = 10,
    RGB = 20,
    BGR = 30,
    GRAYSCALE_FLOAT16 = 40
  };
  class ImageSize {
  public:
    uint64_t width() const { return widthOf; }
    uint64_t height() const { return heightOf; }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.scalar(field, widthOf);
      case 2:
        return decoder.scalar(field, heightOf);
      default:
        return true;
      }
    }

  private:
    uint64_t widthOf = 0;
    uint64_t heightOf = 0;
  };

  class EnumeratedImageSizes {
  public:
    const std::vector<ImageSize> &sizes() const { return sizesOf; }
    int sizes_size() const { return int(sizesOf.size()); }
    const ImageSize &sizes(int i) const { return sizesOf[size_t(i)]; }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.repeated(field, sizesOf);
      default:
        return true;
      }
    }

  private:
    std::vector<ImageSize> sizesOf;
  };

  class ImageSizeRange {
  public:
    const SizeRange &widthrange() const { return valueOr(widthRangeOf); }
    bool has_widthrange() const { return widthRangeOf != nullptr; }
    const SizeRange &heightrange() const { return valueOr(heightRangeOf); }
    bool has_heightrange() const { return heightRangeOf != nullptr; }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.message(field, widthRangeOf);
      case 2:
        return decoder.message(field, heightRangeOf);
      default:
        return true;
      }
    }

  private:
    std::shared_ptr<SizeRange> widthRangeOf;
    std::shared_ptr<SizeRange> heightRangeOf;
  };

  enum SizeFlexibilityCase {
    SIZEFLEXIBILITY_NOT_SET = 0,
    kEnumeratedSizes = 21,
    kImageSizeRange = 31
  };
  SizeFlexibilityCase SizeFlexibility_case() const {
    return SizeFlexibilityCase(SizeFlexibilitySet);
  }
  int64_t width() const { return widthOf; }
  int64_t height() const { return heightOf; }
  ColorSpace colorspace() const { return colorSpaceOf; }
  const EnumeratedImageSizes &enumeratedsizes() const {
    return valueOr(enumeratedSizesOf);
  }
  bool has_enumeratedsizes() const { return SizeFlexibilitySet == 21; }
  const ImageSizeRange &imagesizerange() const {
    return valueOr(imageSizeRangeOf);
  }
  bool has_imagesizerange() const { return SizeFlexibilitySet == 31; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.scalar(field, widthOf);
    case 2:
      return decoder.scalar(field, heightOf);
    case 3:
      return decoder.enumeration(field, colorSpaceOf, {0, 10, 20, 30, 40});
    case 21:
      return decoder.choose(field, SizeFlexibilitySet) &&
             decoder.message(field, enumeratedSizesOf);
    case 31:
      return decoder.choose(field, SizeFlexibilitySet) &&
             decoder.message(field, imageSizeRangeOf);
    default:
      return true;
    }
  }

private:
  int64_t widthOf = 0;
  int64_t heightOf = 0;
  ColorSpace colorSpaceOf = ColorSpace();
  std::shared_ptr<EnumeratedImageSizes> enumeratedSizesOf;
  std::shared_ptr<ImageSizeRange> imageSizeRangeOf;
  int SizeFlexibilitySet = 0;
};

class ArrayFeatureType {
public:
  enum ArrayDataType : int {
    INVALID_ARRAY_DATA_TYPE = 0,
    FLOAT16 = 65552,
    FLOAT32 = 65568,
    DOUBLE = 65600,
    INT8 = 131080,
    INT32 = 131104
  };
  class Shape {
  public:
    const std::vector<int64_t> &shape() const { return shapeOf; }
    int shape_size() const { return int(shapeOf.size()); }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.repeated(field, shapeOf);
      default:
        return true;
      }
    }

  private:
    std::vector<int64_t> shapeOf;
  };

  class EnumeratedShapes {
  public:
    const std::vector<Shape> &shapes() const { return shapesOf; }
    int shapes_size() const { return int(shapesOf.size()); }
    const Shape &shapes(int i) const { return shapesOf[size_t(i)]; }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.repeated(field, shapesOf);
      default:
        return true;
      }
    }

  private:
    std::vector<Shape> shapesOf;
  };

  class ShapeRange {
  public:
    const std::vector<SizeRange> &sizeranges() const { return sizeRangesOf; }
    int sizeranges_size() const { return int(sizeRangesOf.size()); }
    const SizeRange &sizeranges(int i) const { return sizeRangesOf[size_t(i)]; }
    /// Takes a field; false when it is malformed.
    bool take(const Field &field, Decoder &decoder) {
      switch (field.number) {
      case 1:
        return decoder.repeated(field, sizeRangesOf);
      default:
        return true;
      }
    }

  private:
    std::vector<SizeRange> sizeRangesOf;
  };

  enum ShapeFlexibilityCase {
    SHAPEFLEXIBILITY_NOT_SET = 0,
    kEnumeratedShapes = 21,
    kShapeRange = 31
  };
  ShapeFlexibilityCase ShapeFlexibility_case() const {
    return ShapeFlexibilityCase(ShapeFlexibilitySet);
  }
  enum DefaultOptionalValueCase {
    DEFAULTOPTIONALVALUE_NOT_SET = 0,
    kIntDefaultValue = 41,
    kFloatDefaultValue = 51,
    kDoubleDefaultValue = 61
  };
  DefaultOptionalValueCase defaultOptionalValue_case() const {
    return DefaultOptionalValueCase(defaultOptionalValueSet);
  }
  const std::vector<int64_t> &shape() const { return shapeOf; }
  int shape_size() const { return int(shapeOf.size()); }
  ArrayDataType datatype() const { return dataTypeOf; }
  const EnumeratedShapes &enumeratedshapes() const {
    return valueOr(enumeratedShapesOf);
  }
  bool has_enumeratedshapes() const { return ShapeFlexibilitySet == 21; }
  const ShapeRange &shaperange() const { return valueOr(shapeRangeOf); }
  bool has_shaperange() const { return ShapeFlexibilitySet == 31; }
  int32_t intdefaultvalue() const { return intDefaultValueOf; }
  bool has_intdefaultvalue() const { return defaultOptionalValueSet == 41; }
  float floatdefaultvalue() const { return floatDefaultValueOf; }
  bool has_floatdefaultvalue() const { return defaultOptionalValueSet == 51; }
  double doubledefaultvalue() const { return doubleDefaultValueOf; }
  bool has_doubledefaultvalue() const { return defaultOptionalValueSet == 61; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.repeated(field, shapeOf);
    case 2:
      return decoder.enumeration(field, dataTypeOf,
                                 {0, 65552, 65568, 65600, 131080, 131104});
    case 21:
      return decoder.choose(field, ShapeFlexibilitySet) &&
             decoder.message(field, enumeratedShapesOf);
    case 31:
      return decoder.choose(field, ShapeFlexibilitySet) &&
             decoder.message(field, shapeRangeOf);
    case 41:
      return decoder.choose(field, defaultOptionalValueSet) &&
             decoder.scalar(field, intDefaultValueOf);
    case 51:
      return decoder.choose(field, defaultOptionalValueSet) &&
             decoder.scalar(field, floatDefaultValueOf);
    case 61:
      return decoder.choose(field, defaultOptionalValueSet) &&
             decoder.scalar(field, doubleDefaultValueOf);
    default:
      return true;
    }
  }

private:
  std::vector<int64_t> shapeOf;
  ArrayDataType dataTypeOf = ArrayDataType();
  std::shared_ptr<EnumeratedShapes> enumeratedShapesOf;
  std::shared_ptr<ShapeRange> shapeRangeOf;
  int32_t intDefaultValueOf = 0;
  float floatDefaultValueOf = 0;
  double doubleDefaultValueOf = 0;
  int ShapeFlexibilitySet = 0;
  int defaultOptionalValueSet = 0;
};

class DictionaryFeatureType {
public:
  enum KeyTypeCase {
    KEYTYPE_NOT_SET = 0,
    kInt64KeyType = 1,
    kStringKeyType = 2
  };
  KeyTypeCase KeyType_case() const { return KeyTypeCase(KeyTypeSet); }
  const Int64FeatureType &int64keytype() const {
    return valueOr(int64KeyTypeOf);
  }
  bool has_int64keytype() const { return KeyTypeSet == 1; }
  const StringFeatureType &stringkeytype() const {
    return valueOr(stringKeyTypeOf);
  }
  bool has_stringkeytype() const { return KeyTypeSet == 2; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.choose(field, KeyTypeSet) &&
             decoder.message(field, int64KeyTypeOf);
    case 2:
      return decoder.choose(field, KeyTypeSet) &&
             decoder.message(field, stringKeyTypeOf);
    default:
      return true;
    }
  }

private:
  std::shared_ptr<Int64FeatureType> int64KeyTypeOf;
  std::shared_ptr<StringFeatureType> stringKeyTypeOf;
  int KeyTypeSet = 0;
};

class SequenceFeatureType {
public:
  enum TypeCase { TYPE_NOT_SET = 0, kInt64Type = 1, kStringType = 3 };
  TypeCase Type_case() const { return TypeCase(TypeSet); }
  const Int64FeatureType &int64type() const { return valueOr(int64TypeOf); }
  bool has_int64type() const { return TypeSet == 1; }
  const StringFeatureType &stringtype() const { return valueOr(stringTypeOf); }
  bool has_stringtype() const { return TypeSet == 3; }
  const SizeRange &sizerange() const { return valueOr(sizeRangeOf); }
  bool has_sizerange() const { return sizeRangeOf != nullptr; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.choose(field, TypeSet) &&
             decoder.message(field, int64TypeOf);
    case 3:
      return decoder.choose(field, TypeSet) &&
             decoder.message(field, stringTypeOf);
    case 101:
      return decoder.message(field, sizeRangeOf);
    default:
      return true;
    }
  }

private:
  std::shared_ptr<Int64FeatureType> int64TypeOf;
  std::shared_ptr<StringFeatureType> stringTypeOf;
  std::shared_ptr<SizeRange> sizeRangeOf;
  int TypeSet = 0;
};

class StateFeatureType {
public:
  enum TypeCase { TYPE_NOT_SET = 0, kArrayType = 1 };
  TypeCase Type_case() const { return TypeCase(TypeSet); }
  const ArrayFeatureType &arraytype() const { return valueOr(arrayTypeOf); }
  bool has_arraytype() const { return TypeSet == 1; }
  /// Takes a field; false when it is malformed.
  bool take(const Field &field, Decoder &decoder) {
    switch (field.number) {
    case 1:
      return decoder.choose(field, TypeSet) &&
             decoder.message(field, arrayTypeOf);
    default:
      return true;
    }
  }

private:
  std::shared_ptr<ArrayFeatureType> arrayTypeOf;
  int TypeSet = 0;
};
} // namespace anec::coreml::proto

#endif // ANEC_LIB_COREML_MESSAGES_H
