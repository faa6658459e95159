//===- TensorReader.cpp - tensors as constants ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "TensorReader.h"
#include "lib/Onnx/Diags.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace anec::onnx;
using proto::ElementType;

std::optional<DType> onnx::dtypeOf(ElementType type) {
  switch (type) {
  case ElementType::Float:
    return DType::FP32;
  case ElementType::UInt8:
    return DType::UInt8;
  case ElementType::Int8:
    return DType::Int8;
  case ElementType::UInt16:
    return DType::UInt16;
  case ElementType::Int16:
    return DType::Int16;
  case ElementType::Int32:
    return DType::Int32;
  case ElementType::Int64:
    return DType::Int64;
  case ElementType::Bool:
    return DType::Bool;
  case ElementType::Float16:
    return DType::FP16;
  case ElementType::Double:
    return DType::FP64;
  case ElementType::UInt32:
    return DType::UInt32;
  case ElementType::UInt64:
    return DType::UInt64;
  case ElementType::BFloat16:
    return DType::BF16;
  case ElementType::Float8E4M3FN:
    return DType::FP8E4M3FN;
  case ElementType::Float8E5M2:
    return DType::FP8E5M2;
  case ElementType::UInt4:
    return DType::UInt4;
  case ElementType::Int4:
    return DType::Int4;
  default:
    return std::nullopt;
  }
}

StringRef onnx::spelling(ElementType type) {
  switch (type) {
  case ElementType::Float:
    return "float";
  case ElementType::UInt8:
    return "uint8";
  case ElementType::Int8:
    return "int8";
  case ElementType::UInt16:
    return "uint16";
  case ElementType::Int16:
    return "int16";
  case ElementType::Int32:
    return "int32";
  case ElementType::Int64:
    return "int64";
  case ElementType::String:
    return "string";
  case ElementType::Bool:
    return "bool";
  case ElementType::Float16:
    return "float16";
  case ElementType::Double:
    return "double";
  case ElementType::UInt32:
    return "uint32";
  case ElementType::UInt64:
    return "uint64";
  case ElementType::Complex64:
    return "complex64";
  case ElementType::Complex128:
    return "complex128";
  case ElementType::BFloat16:
    return "bfloat16";
  case ElementType::Float8E4M3FN:
    return "float8e4m3fn";
  case ElementType::Float8E5M2:
    return "float8e5m2";
  case ElementType::UInt4:
    return "uint4";
  case ElementType::Int4:
    return "int4";
  case ElementType::Float8E4M3FNUZ:
    return "float8e4m3fnuz";
  case ElementType::Float8E5M2FNUZ:
    return "float8e5m2fnuz";
  case ElementType::Float4E2M1:
    return "float4e2m1";
  case ElementType::Float8E8M0:
    return "float8e8m0";
  case ElementType::UInt2:
    return "uint2";
  case ElementType::Int2:
    return "int2";
  case ElementType::Float6E2M3:
    return "float6e2m3";
  case ElementType::Float6E3M2:
    return "float6e3m2";
  case ElementType::Undefined:
    break;
  }
  return "unknown";
}

TensorReader::TensorReader(llvm::StringRef path, MappedFile model,
                           Diagnostics &diags)
    : path(path), model(std::move(model)), diags(diags) {}

ConstantRef TensorReader::read(const proto::Tensor &tensor) {
  std::optional<DType> dtype = dtypeOf(tensor.dataType);
  if (!dtype) {
    diags.reportFile(path, diag::OnnxTensorType, tensor.name,
                     spelling(tensor.dataType));
    return nullptr;
  }
  if (!checkedNumElements(tensor.dims)) {
    diags.reportFile(path, diag::OnnxTensorShape, tensor.name);
    return nullptr;
  }
  TensorType type(*dtype, tensor.dims);
  return tensor.dataLocation == 1 ? readExternal(tensor, type)
                                  : readElements(tensor, type);
}

ConstantRef TensorReader::checkSize(const proto::Tensor &tensor,
                                    const TensorType &type,
                                    llvm::ArrayRef<uint8_t> bytes,
                                    std::shared_ptr<const void> owner) {
  if (bytes.size() == type.numBytes())
    return Constant::view(type, type.dtype, bytes, std::move(owner));
  diags.reportFile(path, diag::OnnxTensorSize, tensor.name, type.numBytes(),
                   bytes.size());
  return nullptr;
}

/// The elements, one each, as bytes of `Element`.
template <typename Element, typename Stored>
static std::vector<uint8_t> bytesOfElements(llvm::ArrayRef<Stored> values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(Element));
  for (size_t i = 0; i != values.size(); ++i) {
    Element element = Element(values[i]);
    std::memcpy(&bytes[i * sizeof(Element)], &element, sizeof(Element));
  }
  return bytes;
}

/// Small elements are in the field for int32, floats of 16 bits as their bits.
static std::vector<uint8_t> listedBytes(const proto::Tensor &tensor,
                                        DType dtype) {
  switch (dtype) {
  case DType::FP32:
    return bytesOfElements<float>(llvm::ArrayRef(tensor.floatData));
  case DType::FP64:
    return bytesOfElements<double>(llvm::ArrayRef(tensor.doubleData));
  case DType::Int64:
    return bytesOfElements<int64_t>(llvm::ArrayRef(tensor.int64Data));
  case DType::UInt64:
    return bytesOfElements<uint64_t>(llvm::ArrayRef(tensor.uint64Data));
  case DType::UInt32:
    return bytesOfElements<uint32_t>(llvm::ArrayRef(tensor.uint64Data));
  case DType::Int32:
    return bytesOfElements<int32_t>(llvm::ArrayRef(tensor.int32Data));
  case DType::Int16:
  case DType::UInt16:
  case DType::FP16:
  case DType::BF16:
    return bytesOfElements<uint16_t>(llvm::ArrayRef(tensor.int32Data));
  default:
    return bytesOfElements<uint8_t>(llvm::ArrayRef(tensor.int32Data));
  }
}

ConstantRef TensorReader::readElements(const proto::Tensor &tensor,
                                       const TensorType &type) {
  if (!tensor.rawData.empty() || type.numElements() == 0)
    return checkSize(tensor, type, tensor.rawData, model);
  auto bytes =
      std::make_shared<std::vector<uint8_t>>(listedBytes(tensor, type.dtype));
  return checkSize(tensor, type, *bytes, bytes);
}

ConstantRef TensorReader::readExternal(const proto::Tensor &tensor,
                                       const TensorType &type) {
  auto refuse = [&](llvm::StringRef why) {
    diags.reportFile(path, diag::OnnxExternal, tensor.name, why);
    return ConstantRef();
  };
  StringRef location;
  uint64_t offset = 0, length = type.numBytes();
  for (const proto::StringEntry &entry : tensor.externalData) {
    if (entry.key == "location")
      location = entry.value;
    else if (entry.key == "offset" && entry.value.getAsInteger(10, offset))
      return refuse("its offset is not a number");
    else if (entry.key == "length" && entry.value.getAsInteger(10, length))
      return refuse("its length is not a number");
  }
  if (location.empty())
    return refuse("it names no file");
  MappedFile &file = files[location];
  if (!file) {
    std::error_code code;
    std::optional<Folder> folder =
        Folder::open(llvm::sys::path::parent_path(path), code);
    file = folder ? mapFile(*folder, location, diags) : nullptr;
    if (!file)
      return refuse("`" + location.str() + "` must lie beside the model");
  }
  llvm::ArrayRef<uint8_t> bytes = bytesOf(*file);
  if (offset > bytes.size() || length > bytes.size() - offset)
    return refuse("`" + location.str() + "` is too short");
  return checkSize(tensor, type, bytes.slice(offset, length), file);
}
