//===- Differences.cpp - comparing programs by the C API ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "lib/IR/OpDef.h"
#include "lib/Report/DifferenceReport.h"

using namespace anec;
using namespace anec::c;

anec_status anec_diff_options_init(anec_diff_options *options,
                                   size_t struct_size) {
  return init(options, struct_size);
}

static const char *kindOf(Difference::Kind kind) {
  switch (kind) {
  case Difference::FunctionMissing:
    return "function";
  case Difference::Signature:
    return "signature";
  case Difference::OpMissing:
    return "op";
  case Difference::ResultType:
    return "type";
  case Difference::Argument:
    return "argument";
  case Difference::Weights:
    return "weights";
  }
  return "";
}

static anec_differences::Record recordDifference(const Difference &difference) {
  anec_differences::Record made{
      kindOf(difference.kind), difference.function,  "", difference.part,
      difference.leftText,     difference.rightText, "", difference.values};
  if (const Op *op = difference.left ? difference.left : difference.right)
    made.op = op->def().name.str();
  llvm::raw_string_ostream stream(made.text);
  printDifference(difference, stream);
  made.text = llvm::StringRef(made.text).rtrim().str();
  if (difference.kind == Difference::OpMissing)
    (difference.left ? made.left : made.right) =
        llvm::StringRef(made.text).drop_front(2).str();
  return made;
}

static anec_status diffTo(const char *left, const char *right,
                          const anec_diff_options &given, Call &call,
                          anec_differences **out) {
  ReadOptions options;
  Diagnostics &diags = call.diagnostics();
  if (!readShapes(given.shapes, given.shape_count, options, diags))
    return call.end(false);
  if (given.part)
    options.part = *given.part;
  if (given.ignore_weights)
    options.missingWeights = MILReadOptions::MissingWeights::Warn;
  std::unique_ptr<Module> one = readSourceFile(left, options, diags);
  std::unique_ptr<Module> other = readSourceFile(right, options, diags);
  anec_status status = call.end(one && other);
  if (status != ANEC_OK)
    return status;
  std::vector<Difference> differences =
      compareModules(*one, *other, {given.ignore_weights != 0});
  auto made = std::make_unique<anec_differences>();
  for (const Difference &difference : differences)
    made->records.push_back(recordDifference(difference));
  llvm::raw_string_ostream text(made->text), counts(made->counts);
  printDifferences(differences, left, right, text);
  printDifferenceCounts(differences, left, right, counts);
  *out = made.release();
  return ANEC_OK;
}

anec_status anec_diff_files(const char *left, const char *right,
                            const anec_diff_options *options,
                            anec_differences **out,
                            anec_diagnostics *diags) try {
  Call call(diags);
  if (!out)
    return call.refuseNull("out");
  *out = nullptr;
  if (!left || !right)
    return call.refuseNull(left ? "right" : "left");
  std::optional<anec_diff_options> given = take(options, {});
  if (!given)
    return call.refuse("options", badSize);
  for (const char *path : {left, right})
    if (sourceFormat(path).stage == SourceStage::Package)
      return call.refuse(path == left ? "left" : "right",
                         "it is a package of a model, and not a program");
  return diffTo(left, right, *given, call, out);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

void anec_differences_destroy(anec_differences *differences) {
  delete differences;
}

size_t anec_differences_count(const anec_differences *differences) {
  return countOf(differences);
}

static anec_difference
describedDifference(const anec_differences::Record &record) {
  return {sizeof(anec_difference), record.kind,
          record.function.c_str(), record.op.c_str(),
          record.part.c_str(),     record.left.c_str(),
          record.right.c_str(),    record.values.elements,
          record.values.differing, record.values.absolute,
          record.values.relative,  record.text.c_str()};
}

anec_status anec_differences_get(const anec_differences *differences,
                                 size_t index, anec_difference *out) {
  return giveRecord(differences, index, out, describedDifference);
}

const char *anec_differences_text(const anec_differences *differences) {
  return differences ? differences->text.c_str() : "";
}

const char *anec_differences_counts(const anec_differences *differences) {
  return differences ? differences->counts.c_str() : "";
}
