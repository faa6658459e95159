//===- Build.cpp - compiles a source to an output -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Driver/Build.h"
#include "lib/API/SourceModel.h"
#include "lib/Support/AtomicFile.h"
#include "lib/Support/Endings.h"
#include "lib/Support/OrList.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

static constexpr const OutputFormat *table[] = {
    &outputs::MIL,     &outputs::CoreML,     &outputs::CompiledCoreML,
    &outputs::IR,      &outputs::Program,    &outputs::Dot,
    &outputs::Report,  &outputs::ReportJson, &outputs::ReportPage,
    &outputs::Package,
};

llvm::ArrayRef<const OutputFormat *> anec::outputFormats() { return table; }

std::string anec::packageOutputs() {
  std::vector<std::string> names;
  for (const OutputFormat *format : table)
    if (format->show)
      names.push_back(format->name.str());
  return orList(names);
}

const OutputFormat *anec::findOutputFormat(llvm::StringRef name) {
  for (const OutputFormat *format : table)
    if (format->name == name)
      return format;
  return nullptr;
}

const OutputFormat *anec::outputFormat(llvm::StringRef path) {
  llvm::StringRef ending = endingOf(path);
  for (const OutputFormat *format : table)
    if (!ending.empty() && format->ending == ending)
      return format;
  bool isNameless = path.empty() || path == "-" || isSpecialFile(path);
  return isNameless ? table[0] : nullptr;
}

std::string anec::wrongOutput(llvm::StringRef path) {
  if (outputFormat(path))
    return "";
  std::vector<llvm::StringRef> endings;
  for (const OutputFormat *format : table)
    if (!format->ending.empty())
      endings.push_back(format->ending);
  return wrongEnding(path, endings);
}

bool OutputPlace::write(llvm::function_ref<void(llvm::raw_ostream &)> print,
                        Diagnostics &diags) const {
  if (isStream()) {
    print(*stream);
    return true;
  }
  AtomicFiles files(diags);
  OutputFile *file = files.add(path);
  if (!file)
    return false;
  print(*file);
  return files.commit();
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

std::vector<const PassDef *>
BuildRequest::passesOr(std::vector<const PassDef *> passes) const {
  if (hasPasses)
    passes = options.passes.passes;
  llvm::erase_if(passes, [&](const PassDef *pass) {
    return llvm::is_contained(skipped, pass);
  });
  return passes;
}

bool anec::build(const BuildRequest &request, const OutputFormat &format,
                 const OutputPlace &place, BuildResult &result,
                 Diagnostics &diags) {
  if (sourceFormat(request.input).stage == SourceStage::Package) {
    assert(format.show && "nothing of a package has this format");
    std::optional<ModelPackage> package =
        readPackage(request.input, diags, format.check);
    return package && format.show(*package, request, place, diags);
  }
  BuildRequest given = request;
  CompileOptions &options = given.options;
  if (!options.description)
    options.description = &result.description;
  std::optional<Source> source = openSource(request.input, diags);
  if (!source)
    return false;
  if (&format == &outputs::Program) {
    // Without a loss, the program is as exact as the source, and compiled to
    // what is asked for then.
    options.namesWeights = true;
    if (!options.objective && !options.precision)
      options.precision = DType::FP32;
  }
  std::unique_ptr<Module> module = readForCompiling(*source, options, diags);
  // A package has more to know of a model, and of adapters.
  bool isPackage = &format == &outputs::Package;
  if (!module || (options.objective && !isPackage &&
                  !makeModel(*module, options, diags, &result.reports)))
    return false;
  if (options.lora && !isPackage && !addAdapters(*module, *options.lora, diags))
    return false;
  return format.compile(std::move(module), given, place, result, diags);
}
