//===- Writer.cpp - IR to Core ML packages --------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/CoreML/Writer.h"
#include "PackageFolder.h"
#include "PreparedModel.h"
#include "SerializedModel.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/AtomicFolder.h"

using namespace anec;
using namespace anec::coreml;
using llvm::StringRef;

bool anec::writeCoreMLPackage(Module &module, StringRef path,
                              const CoreMLWriteOptions &options,
                              Diagnostics &diags) {
  std::optional<PreparedModel> prepared =
      PreparedModel::prepare(module, options, diags);
  if (!prepared)
    return false;
  std::unique_ptr<KeptShapes> kept;
  if (!options.shapesOf.empty()) {
    auto opened = KeptShapes::open(options.shapesOf, diags);
    if (!opened)
      return false;
    kept = std::move(*opened);
  }
  std::optional<SerializedModel> model =
      SerializedModel::make(*prepared, kept.get(), path, diags);
  if (!model)
    return false;
  const PlacedMIL &placed = prepared->placed;
  std::unique_ptr<AtomicFolder> folder =
      AtomicFolder::create(path, coreMLFolder(), diags);
  if (!folder)
    return false;
  AtomicFiles files(folder->folder(), diags);
  if (placed.needsWeightFile() &&
      !placed.addWeightFile("", weightFile, options.resolve, files, diags))
    return false;
  OutputFile *modelOut = files.add("", modelFile);
  OutputFile *manifest = modelOut ? files.add("", manifestFile) : nullptr;
  if (!manifest)
    return false;
  *modelOut << model->bytes;
  *manifest << manifestOf(model->bytes, placed.needsWeightFile());
  return files.commit() && folder->commit();
}
