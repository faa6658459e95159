//===- SerializedModel.cpp - models as messages ---------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SerializedModel.h"
#include "ProgramWriter.h"
#include "lib/CoreML/Diags.h"
#include <limits>

using namespace anec;
using namespace anec::coreml;
using namespace anec::protobuf;

std::optional<SerializedModel>
SerializedModel::make(const PreparedModel &prepared, KeptShapes *kept,
                      llvm::StringRef path, Diagnostics &diags) {
  SerializedModel model;
  ProgramWriter program(prepared.deployment);
  model.description = prepared.emit(program);
  if (auto buildInfo = prepared.buildInfo(); !buildInfo.empty())
    program.addBuildInfo(buildInfo);
  std::optional<std::string> source;
  if (kept) {
    source = kept->program(program.bytes());
    if (!source)
      return std::nullopt;
    kept->describe(model.description);
  }
  std::string &bytes = model.bytes;
  appendTag(bytes, proto::model::SpecificationVersion, Wire::Varint);
  appendNumber(bytes, Wire::Varint,
               uint64_t(prepared.deployment.specification));
  appendBytes(bytes, proto::model::Description, serialize(model.description));
  appendBytes(bytes, proto::model::MLProgram,
              source ? llvm::StringRef(*source) : program.bytes());
  if (bytes.size() <= size_t(std::numeric_limits<int32_t>::max()))
    return model;
  diags.reportFile(path, diag::ModelTooLarge, bytes.size());
  return std::nullopt;
}
