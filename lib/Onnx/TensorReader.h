//===- TensorReader.h - tensors as constants --------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_ONNX_TENSORREADER_H
#define ANEC_LIB_ONNX_TENSORREADER_H

#include "Messages.h"
#include "anec/IR/Constant.h"
#include "anec/Support/Diagnostics.h"
#include "anec/Support/MappedFile.h"
#include "llvm/ADT/StringMap.h"

namespace anec::onnx {

using llvm::StringRef;

/// The element type of constants; nothing for strings, complex numbers and
/// others that the IR lacks.
std::optional<DType> dtypeOf(proto::ElementType type);
/// As ONNX's documents spell it: `float`, `int64`.
StringRef spelling(proto::ElementType type);

/// Makes constants of tensors, which refer to the file's bytes where they can.
class TensorReader {
public:
  /// `model` is the file at `path`.
  TensorReader(llvm::StringRef path, MappedFile model, Diagnostics &diags);

  /// Returns null, with the reason reported, when the tensor is malformed.
  ConstantRef read(const proto::Tensor &tensor);

  /// The bytes of the model.
  size_t fileSize() const { return model->getBufferSize(); }

private:
  ConstantRef readElements(const proto::Tensor &tensor, const TensorType &type);
  /// The bytes in another file, below the folder of the model.
  ConstantRef readExternal(const proto::Tensor &tensor, const TensorType &type);
  ConstantRef checkSize(const proto::Tensor &tensor, const TensorType &type,
                        llvm::ArrayRef<uint8_t> bytes,
                        std::shared_ptr<const void> owner);

  std::string path;
  MappedFile model;
  Diagnostics &diags;
  llvm::StringMap<MappedFile> files;
};

} // namespace anec::onnx

#endif // ANEC_LIB_ONNX_TENSORREADER_H
