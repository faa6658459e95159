//===- WeightFile.cpp - rules about weight files --------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Predicates.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Target/Chip.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace anec;

static constexpr llvm::StringLiteral weightFileFamily = "weights";

static void recordOffset(const MILOutline &text, const Target &target,
                         ReportBreach report) {
  for (const OutlineBlob &blob : text.blobs)
    if (blob.offset && (*blob.offset < 64 || *blob.offset % 8 != 0))
      report(
          blob.range,
          llvm::formatv("no record can be at offset {0}", *blob.offset).str());
}
constinit const Rule rules::RecordOffset = {
    .id = "record-offset",
    .family = weightFileFamily,
    .summary = "`offset` is the offset of a record's header: behind the header "
               "of the file, which takes 64 bytes",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source = "Orion, maderix/ANE: InvalidMILProgram at other offsets",
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict = "macOS 26.6 compiles records at offsets such as 88, which are "
                "not multiples of 64 (mil-hwx-compiler, M1 and M2)",
    .advice = "use the header's offset: that of the first record is 64, and "
              "its data start at 128",
    .ofText = recordOffset,
};

static void weightPath(const MILOutline &text, const Target &target,
                       ReportBreach report) {
  for (const OutlineBlob &blob : text.blobs)
    if (!blob.path.text.starts_with("@model_path/"))
      report(blob.path.range,
             llvm::formatv("the weight file `{0}` is not under `@model_path`",
                           blob.path.text)
                 .str());
}
constinit const Rule rules::WeightPath = {
    .id = "weight-path",
    .family = weightFileFamily,
    .summary = "weight files are under `@model_path/`",
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source = "maderix/ANE, Orion: keys of the weight dictionary start with "
              "it; the compiler's service reads no other folder",
    .date = "2026-11",
    .confidence = Confidence::High,
    .advice = "write `@model_path/weights/NAME.bin`",
    .ofText = weightPath,
};

/// The distinct weight files, in order of first use.
static std::vector<const OutlineBlob *> weightFiles(const MILOutline &text) {
  std::vector<const OutlineBlob *> files;
  llvm::StringSet<> seen;
  for (const OutlineBlob &blob : text.blobs)
    if (seen.insert(blob.path.text).second)
      files.push_back(&blob);
  return files;
}

static void weightFileCount(const MILOutline &text, const Target &target,
                            ReportBreach report) {
  std::vector<const OutlineBlob *> files = weightFiles(text);
  unsigned limit = target.limits.weightFiles;
  if (files.size() > limit)
    report(files[limit]->range,
           llvm::formatv("this is the first of {0} weight files too many",
                         files.size() - limit)
               .str());
}
constinit const Rule rules::WeightFiles = {
    .id = "weight-files",
    .family = weightFileFamily,
    .summary = "a program names at most 16 weight files",
    .macOS = {"15-"},
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .source =
        "Orion #3 (M4 mini): the 17th fails; one file of 128 records runs",
    .date = "2026-09",
    .advice = "put all weights into one file, as `anec -o` does",
    .ofText = weightFileCount,
};

static void weightFileSlot(const MILOutline &text, const Target &target,
                           ReportBreach report) {
  if (weightFiles(text).size() != target.limits.weightFiles)
    return;
  llvm::StringSet<> scalars;
  eachStatement(text, [&](const OutlineStatement &statement) {
    bool isScalar =
        statement.def == &ops::Const && !statement.attributes.empty() &&
        llvm::any_of(statement.attributes, [](const OutlineArgument &given) {
          llvm::StringRef value = given.value.text;
          return given.name.text == param::val &&
                 (value.starts_with("fp16(") || value.starts_with("fp32(") ||
                  value.starts_with("tensor<fp16, []>"));
        });
    if (isScalar && !statement.results.empty())
      scalars.insert(statement.results[0].text);
    bool isBinary =
        llvm::is_contained({&ops::Add, &ops::Sub, &ops::Mul, &ops::RealDiv,
                            &ops::Pow, &ops::Maximum, &ops::Minimum},
                           statement.def);
    for (const OutlineArgument &given : statement.arguments)
      if (isBinary && scalars.contains(given.value.text))
        report(statement.range,
               llvm::formatv("`{0}` with the constant `{1}` takes the place of "
                             "a weight file, and all are taken",
                             statement.op.text, given.value.text)
                   .str());
  });
}
constinit const Rule rules::WeightFileSlot = {
    .id = "weight-file-slot",
    .family = weightFileFamily,
    .summary = "an op of a value and a scalar constant uses up one of the 16 "
               "weight files",
    .chips = {Chip::M4},
    .macOS = {"27-"},
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .impact = Impact::Warning,
    .source = "tyrauber in Orion #3 (M4 mini)",
    .date = "2026-09",
    .advice = "put all weights into one file, as `anec -o` does",
    .ofText = weightFileSlot,
};

static void oneWeightFile(const MILOutline &text, const Target &target,
                          ReportBreach report) {
  std::vector<const OutlineBlob *> files = weightFiles(text);
  if (files.size() > 1)
    report(files[1]->range,
           llvm::formatv("this is the second of {0} weight files", files.size())
               .str());
}
constinit const Rule rules::OneWeightFile = {
    .id = "one-weight-file",
    .family = weightFileFamily,
    .summary = "a program names one weight file",
    .macOS = {"27-"},
    .paths = {EnginePath::InMemory},
    .impact = Impact::Warning,
    .source = "pmetal #34, qwen-ane (M5 Max): Code=10, because the framework "
              "and the compiler's service hash several files in different "
              "orders",
    .date = "2026-11",
    .confidence = Confidence::High,
    .conflict = "Orion #3 (M4 mini) runs up to 16 files; few files can be in "
                "the same order by chance",
    .advice = "put all weights into one file, as `anec -o` does",
    .ofText = oneWeightFile,
};

static void oneRecordPerFile(const MILOutline &text, const Target &target,
                             ReportBreach report) {
  llvm::StringMap<uint64_t> first;
  for (const OutlineBlob &blob : text.blobs) {
    auto [at, isNew] =
        first.try_emplace(blob.path.text, blob.offset.value_or(0));
    if (!isNew && at->second != blob.offset)
      report(blob.range,
             llvm::formatv("`{0}` holds several arrays", blob.path.text).str());
  }
}
constinit const Rule rules::OneRecordPerFile = {
    .id = "one-record-per-file",
    .family = weightFileFamily,
    .summary = "a weight file holds one array",
    .chips = {Chip::M1},
    .macOS = {"15-26"},
    .paths = {EnginePath::InMemory, EnginePath::E5},
    .impact = Impact::Warning,
    .source = "dev-erik/ANE (M1)",
    .date = "2026-03",
    .confidence = Confidence::Low,
    .conflict = "its files had headers of the wrong size, which M1 may check; "
                "ANEForge's files hold many arrays on M1",
    .advice =
        "use one file per array if the compiler reports InvalidMILProgram; "
        "macOS 27 takes one file only",
    .rewrite = Rewrite::SeparateFiles,
    .ofText = oneRecordPerFile,
};
