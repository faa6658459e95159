//===- Program.cpp - compiling by the C API -------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Choices.h"
#include "Handles.h"
#include "anec/CoreML/WantedDescription.h"
#include "anec/Support/MappedFile.h"
#include "lib/Support/Endings.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace anec;
using namespace anec::c;

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

using OpenSource = llvm::function_ref<std::optional<Source>(Diagnostics &)>;

/// Whether what was compiled is what `given` asks for; reports what is not.
static bool isAsked(const Compiled &compiled, const anec_compile_options &given,
                    Diagnostics &diags) {
  if (!compiled.program)
    return true;
  llvm::StringRef reason = "it is for models, and this is a kernel";
  return (!given.decode || refuse("decode", reason, diags)) &&
         (!given.lora || refuse("lora", reason, diags));
}

/// `path` is that of a source in a file; null for a text.
static anec_status compileTo(OpenSource open, const char *path,
                             const anec_compile_options *options,
                             anec_program **out, anec_diagnostics *diags) {
  Call call(diags);
  std::optional<anec_compile_options> given = take(options, {});
  if (!given)
    return call.refuse("options", badSize);
  CompileOptions read;
  Diagnostics &own = call.diagnostics();
  if (!readOptions(*given, read, own))
    return call.end(false);
  std::optional<Source> source = open(own);
  if (!source)
    return call.end(false);
  bool isCalibrated = given->quantize && (given->calibration_count ||
                                          given->calibration_text_count);
  if (isCalibrated && !path)
    return call.refuse("calibration", "the source must be a file: it is "
                                      "compiled twice");
  if (path && !calibrate(path, *given, read, own))
    return call.end(false);
  Compiled compiled = compileSource(*source, read, orEmpty(given->folder), own);
  anec_status status = call.end(compiled && isAsked(compiled, *given, own));
  if (status == ANEC_OK)
    *out = new anec_program{call.takeDiagnostics(), std::move(compiled.program),
                            std::move(compiled.package), "", ""};
  return status;
}

anec_status anec_compile_file(const char *path,
                              const anec_compile_options *options,
                              anec_program **out, anec_diagnostics *diags) try {
  if (!out)
    return Call(diags).refuseNull("out");
  *out = nullptr;
  if (!path)
    return Call(diags).refuseNull("path");
  return compileTo([&](Diagnostics &own) { return openSource(path, own); },
                   path, options, out, diags);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

anec_status anec_compile_text(const char *text, const char *name,
                              const anec_compile_options *options,
                              anec_program **out, anec_diagnostics *diags) try {
  if (!out)
    return Call(diags).refuseNull("out");
  *out = nullptr;
  if (!text)
    return Call(diags).refuseNull("text");
  if (!name)
    return Call(diags).refuseNull("name");
  return compileTo(
      [&](Diagnostics &own) -> std::optional<Source> {
        return textSource(
            own.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name)),
            name);
      },
      /*path=*/nullptr, options, out, diags);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

void anec_program_destroy(anec_program *program) { delete program; }

//===----------------------------------------------------------------------===//
// Compiled programs
//===----------------------------------------------------------------------===//

int anec_program_is_model(const anec_program *program) {
  return program && program->model;
}

anec_status anec_program_folder(anec_program *program, const char **out,
                                anec_diagnostics *diags) try {
  if (out)
    *out = nullptr;
  if (!program || !out)
    return Call(diags).refuseNull(program ? "out" : "program");
  Call call(diags, program->diags.get());
  if (!program->model)
    return call.end(true);
  if (program->folder.empty()) {
    std::optional<std::string> folder =
        folderOf(*program->model, call.diagnostics());
    if (!folder)
      return call.end(false);
    program->folder = std::move(*folder);
  }
  *out = program->folder.c_str();
  return call.end(true);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

anec_status anec_program_mil(anec_program *program, const char **out,
                             anec_diagnostics *diags) try {
  if (out)
    *out = nullptr;
  if (!program || !out)
    return Call(diags).refuseNull(program ? "out" : "program");
  Call call(diags, program->diags.get());
  if (!program->kernel)
    return call.end(true);
  if (program->mil.empty()) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (!program->kernel->print(stream, call.diagnostics()))
      return call.end(false);
    program->mil = std::move(text);
  }
  *out = program->mil.c_str();
  return call.end(true);
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

/// Writes a kernel in the form that the ending of `path` selects.
static bool writeKernel(const CompiledProgram &kernel, llvm::StringRef path,
                        CoreMLOptions options, Diagnostics &diags) {
  llvm::StringRef ending = endingOf(path);
  if (ending == ".mil")
    return kernel.write(path, diags);
  // A package adds casts to its program, which the handle's does not get.
  CompiledProgram copy{.program = kernel.readBack(diags),
                       .declared = kernel.declared};
  if (!copy.program)
    return false;
  bool isPackage = ending == ".mlpackage";
  kernel.shapes.keep(options, !isPackage, diags);
  const ModelDescription *description = kernel.description.get();
  return isPackage
             ? copy.writeCoreML(path, options, description, diags)
             : copy.writeCompiledCoreML(path, options, description, diags);
}

anec_status anec_program_write(anec_program *program, const char *path,
                               anec_diagnostics *diags) try {
  if (!program)
    return Call(diags).refuseNull("program");
  Call call(diags, program->diags.get());
  if (!path)
    return call.refuseNull("path");
  std::string wrong =
      program->model ? wrongEnding(path, {".anepkg"})
                     : wrongEnding(path, {".mil", ".mlpackage", ".mlmodelc"});
  if (!wrong.empty())
    return call.refuse("path", wrong);
  Diagnostics &own = call.diagnostics();
  return call.end(program->model
                      ? copyPackage(*program->model, path, own)
                      : writeKernel(*program->kernel, path, {}, own));
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

//===----------------------------------------------------------------------===//
// Core ML
//===----------------------------------------------------------------------===//

anec_status anec_coreml_options_init(anec_coreml_options *options,
                                     size_t struct_size) {
  return init(options, struct_size);
}

/// The error in the options, apart from what a description says; empty when
/// they are valid.
std::string anec::c::readCoreML(const anec_coreml_options &given,
                                CoreMLOptions &options) {
  if (given.deployment &&
      !(options.deployment = findDeployment(given.deployment))) {
    std::vector<llvm::StringRef> known;
    for (const Deployment &row : deployments())
      known.insert(known.end(), {row.macOS, row.iOS});
    return "`deployment`: " + wrongChoice(given.deployment, known);
  }
  llvm::StringRef floats = orEmpty(given.floats);
  if (!floats.empty() && floats != spelling(DType::FP16) &&
      floats != spelling(DType::FP32))
    return "`floats`: " + wrongChoice(floats, {"fp16", "fp32"});
  if (!floats.empty())
    options.floats = *parseDType(floats);
  if (given.describe && given.describe_text)
    return "it has a description as a file and as a text";
  return "";
}

/// What the description says. Returns false, with the reason reported, on
/// failure.
bool anec::c::readWanted(const anec_coreml_options &given,
                         CoreMLOptions &options, Diagnostics &diags) {
  std::optional<WantedDescription> wanted;
  if (given.describe)
    wanted = readWantedDescription(given.describe, diags);
  else if (given.describe_text)
    wanted = parseWantedDescription(
        diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(
            given.describe_text, "description")),
        /*folder=*/"", diags);
  else
    return true;
  if (wanted)
    options.wanted = std::make_shared<WantedDescription>(std::move(*wanted));
  return wanted.has_value();
}

anec_status anec_program_write_coreml(anec_program *program, const char *path,
                                      const anec_coreml_options *options,
                                      anec_diagnostics *diags) try {
  if (!program)
    return Call(diags).refuseNull("program");
  Call call(diags, program->diags.get());
  if (!path)
    return call.refuseNull("path");
  if (!program->kernel)
    return call.refuse("program", "it is a model's package");
  std::string wrong = wrongEnding(path, {".mlpackage", ".mlmodelc"});
  if (!wrong.empty())
    return call.refuse("path", wrong);
  std::optional<anec_coreml_options> given = take(options, {});
  if (!given)
    return call.refuse("options", badSize);
  CoreMLOptions read;
  wrong = readCoreML(*given, read);
  if (!wrong.empty())
    return call.refuse("options", wrong);
  Diagnostics &own = call.diagnostics();
  return call.end(readWanted(*given, read, own) &&
                  writeKernel(*program->kernel, path, read, own));
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}
