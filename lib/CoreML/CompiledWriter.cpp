//===- CompiledWriter.cpp - IR to compiled Core ML models -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CompiledData.h"
#include "CompiledFolder.h"
#include "CompiledMetadata.h"
#include "lib/CoreML/Diags.h"
#include "lib/CoreML/Writer.h"
#include "lib/IR/Blocks.h"
#include "lib/Support/AtomicFile.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace anec::coreml;
using llvm::StringRef;

/// Prints the MIL text, and counts what is in it.
static std::vector<FunctionStatistics> printText(const PreparedModel &prepared,
                                                 llvm::raw_ostream &out) {
  std::vector<FunctionStatistics> functions;
  prepared.placed.printText(out, [&](mil::ProgramSink &printer) {
    ProgramStatistics statistics(printer);
    (void)prepared.emit(statistics);
    functions = statistics.functions();
  });
  return functions;
}

static void warnOfData(StringRef path, Diagnostics &diags) {
  diags.reportFile(path, diag::CompiledData).note({}, diag::CompiledByApple);
}

/// Whether the text that Core ML's compiler would write is known.
static bool isSpelled(const Module &module, Diagnostics &diags) {
  for (const auto &function : module.functions)
    for (const Op &op : function->body())
      if (blocksSlot(op.def()) >= 0) {
        diags.report(op.range(), diag::CompiledBlocks, op.def().name)
            .note({}, diag::CompiledByApple);
        return false;
      }
  return true;
}

bool anec::writeCompiledCoreML(Module &module, StringRef path,
                               const CoreMLWriteOptions &options,
                               Diagnostics &diags) {
  std::optional<PreparedModel> prepared =
      PreparedModel::prepare(module, options, diags);
  if (!prepared || !isSpelled(module, diags))
    return false;
  std::optional<SerializedModel> model =
      SerializedModel::make(*prepared, /*kept=*/nullptr, path, diags);
  if (!model)
    return false;
  const PlacedMIL &placed = prepared->placed;
  std::unique_ptr<AtomicFolder> folder =
      AtomicFolder::create(path, compiled::folder(), diags);
  if (!folder)
    return false;
  AtomicFiles files(folder->folder(), diags);
  if (placed.needsWeightFile() &&
      !placed.addWeightFile("", compiled::weightFile, options.resolve, files,
                            diags))
    return false;
  auto add = [&](StringRef name, StringRef bytes) {
    OutputFile *file = files.add("", name);
    if (file)
      *file << bytes;
    return file != nullptr;
  };
  OutputFile *text = files.add("", compiled::textFile);
  if (!text)
    return false;
  std::vector<FunctionStatistics> functions = printText(*prepared, *text);
  StringRef name = llvm::sys::path::stem(path.rtrim('/'));
  std::optional<std::string> data = compiledData(*prepared, *model);
  if (data && (!add(compiled::dataFile, *data) ||
               !add(compiled::analyticsFile, analyticsData(*model, name))))
    return false;
  CompiledMetadata metadata{prepared->deployment, model->description, functions,
                            name};
  if (!add(compiled::metadataFile, metadata.text()) || !files.commit() ||
      !folder->commit())
    return false;
  if (!data)
    warnOfData(path, diags);
  return true;
}
