//===- Convert.cpp - models and weights of others by the C API ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Import/Convert.h"
#include "Choices.h"
#include "Handles.h"
#include "Outputs.h"
#include "lib/Import/Import.h"
#include "lib/Support/Endings.h"

using namespace anec;
using namespace anec::c;

anec_status anec_import_options_init(anec_import_options *options,
                                     size_t struct_size) {
  return init(options, struct_size);
}

anec_status anec_convert_options_init(anec_convert_options *options,
                                      size_t struct_size) {
  return init(options, struct_size);
}

//===----------------------------------------------------------------------===//
// Importing
//===----------------------------------------------------------------------===//

static bool readImport(const anec_import_options &given, ImportOptions &options,
                       Diagnostics &diags) {
  if (given.positions < 0 || given.positions > INT32_MAX)
    return refuse("positions", "it is a number from 1 to 2147483647", diags);
  options.positions = given.positions;
  llvm::StringRef floats = orEmpty(given.floats);
  if (!floats.empty() && floats != spelling(DType::FP16) &&
      floats != spelling(DType::FP32))
    return refuse("floats", wrongChoice(floats, {"fp16", "fp32"}), diags);
  if (floats == spelling(DType::FP32))
    options.floats = DType::FP32;
  if (given.ignored_key_count && !given.ignored_keys)
    return refuse("ignored_keys", "it is null", diags);
  for (size_t i = 0; i < given.ignored_key_count; ++i)
    options.ignoredKeys.push_back(orEmpty(given.ignored_keys[i]).str());
  options.tokenizer = orEmpty(given.tokenizer).str();
  return true;
}

anec_status anec_import(const char *source, const char *program,
                        const anec_import_options *options,
                        anec_diagnostics *diags) try {
  Call call(diags);
  if (!source || !program)
    return call.refuseNull(source ? "program" : "source");
  std::optional<anec_import_options> given = take(options, {});
  if (!given)
    return call.refuse("options", badSize);
  if (!llvm::StringRef(program).ends_with(".tdsl"))
    return call.refuse("program", wrongEnding(program, {".tdsl"}));
  ImportOptions read;
  Diagnostics &own = call.diagnostics();
  return call.end(readImport(*given, read, own) &&
                  importModel(source, program, read, own));
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}

//===----------------------------------------------------------------------===//
// Converting
//===----------------------------------------------------------------------===//

static bool readFormat(llvm::StringRef name, const char *given,
                       llvm::ArrayRef<WeightFormat> choices,
                       std::optional<WeightFormat> &format,
                       Diagnostics &diags) {
  if (!given)
    return true;
  std::vector<llvm::StringRef> known;
  for (WeightFormat row : choices) {
    known.push_back(spelling(row));
    if (known.back() == given)
      format = row;
  }
  return format || refuse(name, wrongChoice(given, known), diags);
}

static bool readConversion(const anec_convert_options &given,
                           ConvertRequest &request, Diagnostics &diags) {
  CompileOptions read;
  static constexpr WeightFormat formats[] = {
      WeightFormat::Anec, WeightFormat::HuggingFace, WeightFormat::Llama2c,
      WeightFormat::Gguf};
  // GGUF is read alone.
  auto written = llvm::ArrayRef(formats).drop_back();
  if (!readFormat("from", given.from, formats, request.from, diags) ||
      !readFormat("to", given.to, written, request.to, diags) ||
      !readDefines(given.defines, given.define_count, read, diags))
    return false;
  request.config = orEmpty(given.config).str();
  request.model = orEmpty(given.model).str();
  request.read.defines = read.defines;
  request.mapping = orEmpty(given.weight_map).str();
  request.like = orEmpty(given.like).str();
  request.folder = folderOf(given.tokenizer, given.shard_size);
  return true;
}

/// Whether the options belong together.
static bool checkConversion(const ConvertRequest &request,
                            const anec_convert_options &given,
                            Diagnostics &diags) {
  if (!checkEnding(request.output, {".bin", ".gguf", ".safetensors"}, diags))
    return false;
  if (request.mapping.empty() && given.like)
    return refuse("like", "it is for `weight_map`", diags);
  if (llvm::StringRef(request.output).ends_with(".gguf") && !given.like)
    return refuse("output",
                  "a GGUF file needs `weight_map` and `like`, the file whose "
                  "metadata and tokenizer it gets",
                  diags);
  bool hasOthers = given.config || given.model || given.from || given.to;
  if (!request.mapping.empty() && hasOthers)
    return refuse("weight_map", "it says the model and both formats", diags);
  if ((given.tokenizer || given.shard_size) && !request.writesFolder())
    return refuse(given.tokenizer ? "tokenizer" : "shard_size",
                  "it is for an output that is a folder", diags);
  return true;
}

anec_status anec_convert(const char *input, const char *output,
                         const anec_convert_options *options,
                         anec_diagnostics *diags) try {
  Call call(diags);
  if (!input || !output)
    return call.refuseNull(input ? "output" : "input");
  std::optional<anec_convert_options> given = take(options, {});
  if (!given)
    return call.refuse("options", badSize);
  ConvertRequest request{.input = input, .output = output};
  Diagnostics &own = call.diagnostics();
  return call.end(readConversion(*given, request, own) &&
                  checkConversion(request, *given, own) &&
                  convertWeights(request, own));
} catch (const std::bad_alloc &) {
  return outOfMemory(diags);
}
