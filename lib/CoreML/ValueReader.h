//===- ValueReader.h - types and values of ML programs ----------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_COREML_VALUEREADER_H
#define ANEC_LIB_COREML_VALUEREADER_H

#include "Messages.h"
#include "anec/Support/Folder.h"
#include "lib/MIL/Statement.h"
#include "lib/MIL/WeightFiles.h"

namespace anec::coreml {

/// Reads types and values of messages. Functions that return false have
/// reported the reason at the range; `name` is for messages.
class ValueReader {
public:
  /// `weights` is the folder of the weight files; none when there is no such
  /// folder. `weightPath` is its path.
  ValueReader(std::optional<Folder> weights, llvm::StringRef weightPath,
              MILReadOptions &options, Diagnostics &diags)
      : folder(std::move(weights)), folderPath(weightPath.str()),
        options(options), files("", options, diags), diags(diags) {}

  bool readType(const proto::ValueType &message, llvm::StringRef name,
                SourceRange range, mil::ParsedType &type);
  /// A type of tensors, states, or buffers.
  bool readValueType(const proto::ValueType &message, llvm::StringRef name,
                     SourceRange range, mil::ParsedType &type);
  /// Leaves the constant null for values other than tensors and lists of
  /// scalars.
  bool readValue(const proto::Value &message, llvm::StringRef name,
                 SourceRange range, mil::ArgumentValue &value);

private:
  bool readTensorType(const proto::TensorType &message, llvm::StringRef name,
                      SourceRange range, mil::ParsedType &type);
  bool readTensor(const proto::TensorValue &message, const TensorType &type,
                  llvm::StringRef name, SourceRange range, ConstantRef &value);
  bool readList(const proto::ListValue &message, DType dtype,
                llvm::StringRef name, SourceRange range, ConstantRef &value);
  bool readBlob(const proto::BlobFileValue &message, const TensorType &type,
                SourceRange range, ConstantRef &value);

  std::optional<Folder> folder;
  std::string folderPath;
  MILReadOptions &options;
  mil::WeightFiles files;
  Diagnostics &diags;
};

} // namespace anec::coreml

#endif // ANEC_LIB_COREML_VALUEREADER_H
