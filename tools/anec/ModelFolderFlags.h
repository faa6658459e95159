//===- ModelFolderFlags.h - flags of commands that write folders -*- C++
//-*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TOOLS_ANEC_MODELFOLDERFLAGS_H
#define ANEC_TOOLS_ANEC_MODELFOLDERFLAGS_H

#include "../BytesFlag.h"
#include "lib/Arrays/ModelFolder.h"

namespace anec {

/// Of `convert` and `merge`, for -o FOLDER.
class ModelFolderFlags {
public:
  /// The error in the values; empty when they are valid.
  std::string check() const { return shardSize.check(); }
  /// The values, after `check`.
  ModelFolderOptions options() const {
    return {tokenizer, shardSize.valueOr(ModelFolderOptions().shardSize)};
  }
  bool isGiven() const { return !tokenizer.empty() || shardSize.isGiven(); }

private:
  llvm::cl::opt<std::string> tokenizer{
      "tokenizer", llvm::cl::value_desc("FOLDER"),
      llvm::cl::desc("For -o FOLDER: copies the tokenizer, chat templates and "
                     "generation_config.json of this folder (default: those of "
                     "the run or folder that the weights come from)")};
  BytesFlag shardSize{
      "shard-size", "For -o FOLDER: the bytes that one file of weights has at "
                    "most, such as 200MB (default: 5GB)"};
};

} // namespace anec

#endif // ANEC_TOOLS_ANEC_MODELFOLDERFLAGS_H
