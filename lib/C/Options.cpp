//===- Options.cpp - options and arrays of the C API ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Choices.h"
#include "Handles.h"
#include "lib/API/Diags.h"
#include "lib/MIL/ShapeArgument.h"
#include "lib/Probe/Measured.h"
#include "lib/Probe/ProbedTarget.h"
#include "lib/Support/Suggestion.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;
using namespace anec::c;

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

static constexpr std::pair<anec_dtype, DType> dtypes[] = {
    {ANEC_BOOL, DType::Bool},     {ANEC_FP16, DType::FP16},
    {ANEC_FP32, DType::FP32},     {ANEC_FP64, DType::FP64},
    {ANEC_BF16, DType::BF16},     {ANEC_INT8, DType::Int8},
    {ANEC_INT16, DType::Int16},   {ANEC_INT32, DType::Int32},
    {ANEC_INT64, DType::Int64},   {ANEC_UINT8, DType::UInt8},
    {ANEC_UINT16, DType::UInt16}, {ANEC_UINT32, DType::UInt32},
    {ANEC_UINT64, DType::UInt64},
};

anec_dtype anec::c::dtypeOf(DType dtype) {
  for (const auto &[theirs, ours] : dtypes)
    if (ours == dtype)
      return theirs;
  return ANEC_OTHER_DTYPE;
}

std::optional<DType> anec::c::dtypeOf(anec_dtype dtype) {
  for (const auto &[theirs, ours] : dtypes)
    if (theirs == dtype)
      return ours;
  return std::nullopt;
}

static constexpr std::pair<anec_numerics, Numerics> numericsTable[] = {
    {ANEC_NUMERICS_FP16, Numerics::FP16}, {ANEC_NUMERICS_FP32, Numerics::FP32},
    {ANEC_NUMERICS_M1, Numerics::M1},     {ANEC_NUMERICS_M3, Numerics::M3},
    {ANEC_NUMERICS_M4, Numerics::M4},     {ANEC_NUMERICS_M2, Numerics::M2},
};

std::optional<Numerics> anec::c::numericsOf(anec_numerics numerics) {
  for (const auto &[theirs, ours] : numericsTable)
    if (theirs == numerics)
      return ours;
  return std::nullopt;
}

anec_numerics anec::c::numericsOf(Numerics numerics) {
  for (const auto &[theirs, ours] : numericsTable)
    if (ours == numerics)
      return theirs;
  return ANEC_NUMERICS_FP16;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

anec_status anec_compile_options_init(anec_compile_options *options,
                                      size_t struct_size) {
  return init(options, struct_size);
}

bool anec::c::refuse(llvm::StringRef name, llvm::StringRef reason,
                     Diagnostics &diags) {
  diags.report({}, diag::BadArgument, name, reason);
  return false;
}

bool anec::c::readDefines(const char *const *defines, size_t count,
                          CompileOptions &options, Diagnostics &diags) {
  if (count && !defines)
    return refuse("defines", "it is null", diags);
  for (size_t i = 0; i < count; ++i) {
    llvm::StringRef define = orEmpty(defines[i]);
    if (!define.contains('='))
      return refuse("defines", "it takes NAME=VALUE", diags);
    auto [name, value] = define.split('=');
    options.defines.emplace_back(name.str(), value.str());
  }
  return true;
}

/// The chip called `given`, or in the results of a probe. Returns nothing, with
/// the reason reported, when there is none.
static std::optional<ProbedTarget>
findChip(llvm::StringRef given, llvm::StringRef macOS, Diagnostics &diags) {
  ProbedTarget chip{given.str(), {}};
  if (given.ends_with(".json")) {
    std::optional<ProbedTarget> probed = readProbedTarget(given, macOS, diags);
    if (!probed)
      return std::nullopt;
    chip = std::move(*probed);
  }
  if (findTarget(chip.target))
    return chip;
  std::string known;
  Suggestion suggestion(chip.target);
  for (const Target &other : allTargets()) {
    known += (known.empty() ? "`" : ", `") + other.name.str() + "`";
    suggestion.consider(other.name);
  }
  diags.report({}, diag::NoSuchTarget, chip.target, known,
               didYouMean(suggestion));
  return std::nullopt;
}

/// The chip, and what is assumed of it.
static bool readTarget(const anec_compile_options &given,
                       CompileOptions &options, Diagnostics &diags) {
  if (given.assumption_count && !given.assumptions)
    return refuse("assumptions", "it is null", diags);
  std::vector<std::string> assumed;
  for (size_t i = 0; i < given.assumption_count; ++i)
    assumed.push_back(orEmpty(given.assumptions[i]).str());
  if (given.target) {
    std::optional<ProbedTarget> chip =
        findChip(given.target, orEmpty(given.macos), diags);
    if (!chip)
      return false;
    options.setTarget(*findTarget(chip->target));
    if (chip->floor) {
      options.passes.measuredTarget = std::make_shared<const Target>(
          withFloor(*options.passes.target, *chip->floor));
      options.passes.target = options.passes.measuredTarget.get();
    }
    assumed = assumptionsOf(*chip, assumed);
  }
  return llvm::all_of(assumed, [&](const std::string &text) {
    return parseAssumption(text, options.passes.assumptions, diags);
  });
}

static bool readSystem(const anec_compile_options &given,
                       CompileOptions &options, Diagnostics &diags) {
  Assumptions &assumptions = options.passes.assumptions;
  if (given.framework) {
    std::optional<EnginePath> path = parseWord<EnginePath>(given.framework);
    if (!path)
      return refuse("framework",
                    wrongChoice(given.framework, knownWords<EnginePath>()),
                    diags);
    assumptions.path = *path;
  }
  if (given.macos && !(assumptions.macOS = OSVersion::parse(given.macos)))
    return refuse("macos",
                  "it takes a version such as `15` or `15.6`, not `" +
                      std::string(given.macos) + "`",
                  diags);
  return true;
}

static bool readModes(const anec_compile_options &given,
                      CompileOptions &options, Diagnostics &diags) {
  options.train = !given.forward_only;
  switch (given.weight_mode) {
  case ANEC_WEIGHTS_AUTO:
    break;
  case ANEC_WEIGHTS_PACKED:
    options.weightMode = WeightMode::Packed;
    break;
  case ANEC_WEIGHTS_BAKED:
    options.weightMode = WeightMode::Baked;
    break;
  default:
    return refuse("weight_mode",
                  wrongChoice(given.weight_mode,
                              {"ANEC_WEIGHTS_AUTO", "ANEC_WEIGHTS_PACKED",
                               "ANEC_WEIGHTS_BAKED"}),
                  diags);
  }
  if (given.io != ANEC_IO_PACKED && given.io != ANEC_IO_SEPARATE)
    return refuse("io",
                  wrongChoice(given.io, {"ANEC_IO_PACKED", "ANEC_IO_SEPARATE"}),
                  diags);
  options.io = given.io == ANEC_IO_PACKED ? IOMode::Packed : IOMode::Separate;
  if (given.fusion != ANEC_FUSE_DEFAULT && given.fusion != ANEC_FUSE_MAX)
    return refuse(
        "fusion",
        wrongChoice(given.fusion, {"ANEC_FUSE_DEFAULT", "ANEC_FUSE_MAX"}),
        diags);
  options.fusion =
      given.fusion == ANEC_FUSE_MAX ? Fusion::Max : Fusion::Default;
  return true;
}

static bool readLoss(const anec_compile_options &given, CompileOptions &options,
                     Diagnostics &diags) {
  if (given.train_weight_count && !given.train_weights)
    return refuse("train_weights", "it is null", diags);
  if (!given.loss)
    return !given.train_weight_count ||
           refuse("train_weights", "it is for `loss`", diags);
  std::string wrong;
  options.objective = Objective::parse(given.loss, wrong);
  if (!options.objective)
    return refuse("loss", wrong, diags);
  for (size_t i = 0; i < given.train_weight_count; ++i)
    options.objective->trained.push_back(orEmpty(given.train_weights[i]).str());
  return true;
}

static bool readPrecision(const anec_compile_options &given,
                          CompileOptions &options, Diagnostics &diags) {
  switch (given.precision) {
  case ANEC_PRECISION_SOURCE:
    break;
  case ANEC_PRECISION_FP16:
    options.precision = DType::FP16;
    break;
  case ANEC_PRECISION_FP32:
    options.precision = DType::FP32;
    break;
  default:
    return refuse("precision",
                  wrongChoice(given.precision,
                              {"ANEC_PRECISION_SOURCE", "ANEC_PRECISION_FP16",
                               "ANEC_PRECISION_FP32"}),
                  diags);
  }
  if (!given.calibration_count)
    return true;
  if (!given.calibration)
    return refuse("calibration", "it is null", diags);
  if (options.precision != DType::FP16 && !given.quantize)
    return refuse("calibration",
                  "it is for programs in fp16 and for weights that are "
                  "quantized; set `precision` or `quantize`",
                  diags);
  for (size_t i = 0; i < given.calibration_count; ++i) {
    auto [name, file] = orEmpty(given.calibration[i]).split('=');
    if (name.empty() || !file.ends_with(".npy"))
      return refuse("calibration", "it takes NAME=FILE.npy", diags);
    options.calibration.push_back(given.calibration[i]);
  }
  return true;
}

/// A list of positions of the programs of `decode`.
static bool readPositions(llvm::StringRef name, const int64_t *given,
                          size_t count, bool isOfDecode,
                          std::vector<int64_t> &positions, Diagnostics &diags) {
  if (!count)
    return true;
  if (!isOfDecode)
    return refuse(name, "it is for `decode`", diags);
  if (!given)
    return refuse(name, "it is null", diags);
  positions.assign(given, given + count);
  return llvm::all_of(positions, [](int64_t number) { return number >= 1; }) ||
         refuse(name, "it has numbers of positions, at least 1", diags);
}

static bool readDecode(const anec_compile_options &given,
                       CompileOptions &options, Diagnostics &diags) {
  std::string wrong;
  if (given.lora && !(options.lora = AdapterOptions::parse(given.lora, wrong)))
    return refuse("lora", wrong, diags);
  options.function = orEmpty(given.function).str();
  if (given.part)
    options.part = *given.part;
  DecodePrograms &programs = options.passes.decode;
  bool decodes = given.decode;
  if (!readPositions("blocks", given.blocks, given.block_count, decodes,
                     programs.blocks, diags) ||
      !readPositions("prefills", given.prefills, given.prefill_count, decodes,
                     programs.prefills, diags) ||
      !readPositions("ladder", given.ladder, given.ladder_count, decodes,
                     programs.ladder, diags))
    return false;
  if (!decodes)
    return (!given.context || refuse("context", "it is for `decode`", diags)) &&
           (!given.batch || refuse("batch", "it is for `decode`", diags));
  if (given.context < 0)
    return refuse("context", "it is a number of positions, at least 1", diags);
  if (given.batch < 0 || given.batch > maxBatch)
    return refuse("batch",
                  "it is a number of texts, 1 to " + std::to_string(maxBatch),
                  diags);
  options.train = false;
  options.decode = true;
  programs.context = given.context;
  programs.batch = given.batch ? given.batch : 1;
  return true;
}

bool anec::c::readShapes(const char *const *shapes, size_t count,
                         ReadOptions &options, Diagnostics &diags) {
  if (count && !shapes)
    return refuse("shapes", "it is null", diags);
  for (size_t i = 0; i < count; ++i) {
    std::optional<InputShape> shape = parseInputShape(orEmpty(shapes[i]));
    if (!shape)
      return refuse("shapes", "it takes NAME=1x3x64", diags);
    options.shapes.push_back(std::move(*shape));
  }
  return true;
}

static bool readFixes(const anec_compile_options &given, ReadOptions &options,
                      Diagnostics &diags) {
  if (given.fix_count && !given.fixes)
    return refuse("fixes", "it is null", diags);
  for (size_t i = 0; i < given.fix_count; ++i) {
    std::optional<InputValue> value = parseFixedInput(orEmpty(given.fixes[i]));
    if (!value)
      return refuse("fixes", "it takes NAME=NUMBER or NAME=NUMBER,NUMBER",
                    diags);
    options.values.push_back(std::move(*value));
  }
  return true;
}

bool anec::c::readOptions(const anec_compile_options &given,
                          CompileOptions &options, Diagnostics &diags) {
  options.kernel = orEmpty(given.kernel).str();
  options.weights.source = orEmpty(given.weights).str();
  options.weights.mapping = orEmpty(given.weight_map).str();
  if (given.seed)
    options.weights.seed = *given.seed;
  options.milVersion = orEmpty(given.mil_version).str();
  if (!options.milVersion.empty() && options.milVersion != "1.0" &&
      options.milVersion != "1.3")
    return refuse("mil_version",
                  wrongChoice(options.milVersion, {"1.3", "1.0"}), diags);
  options.remarks = options.passes.remarks = given.remarks;
  return readTarget(given, options, diags) &&
         readDefines(given.defines, given.define_count, options, diags) &&
         readSystem(given, options, diags) &&
         readModes(given, options, diags) &&
         readPrecision(given, options, diags) &&
         readQuantization(given, options, diags) &&
         readDecode(given, options, diags) && readLoss(given, options, diags) &&
         readShapes(given.shapes, given.shape_count, options, diags) &&
         readFixes(given, options, diags);
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Converts an array of the caller's structs, all of the same size.
template <typename Ours, typename Theirs>
static std::optional<std::vector<Ours>>
readArrays(const Theirs *arrays, size_t count, llvm::StringRef what, Call &call,
           anec_status &status) {
  std::vector<Ours> result;
  if (count && !arrays) {
    status = call.refuseNull(what);
    return std::nullopt;
  }
  const char *next = reinterpret_cast<const char *>(arrays);
  for (size_t i = 0; i < count; ++i) {
    std::optional<Theirs> array =
        take(reinterpret_cast<const Theirs *>(next), Theirs());
    if (!array) {
      status = call.refuse(what, badSize);
      return std::nullopt;
    }
    next += array->struct_size;
    std::optional<DType> dtype = dtypeOf(array->dtype);
    const char *reason = !array->name                   ? "a name is null"
                         : !array->data && array->bytes ? "its data is null"
                         : !dtype                       ? "it has no such dtype"
                                                        : nullptr;
    if (reason) {
      status = call.refuse(what, reason);
      return std::nullopt;
    }
    Ours &taken =
        result.emplace_back(array->name, *dtype, array->data, array->bytes);
    if (array->dims)
      taken.shape = llvm::ArrayRef(array->dims, array->rank);
  }
  return result;
}

std::optional<std::vector<InputArray>>
anec::c::readInputs(const anec_input *inputs, size_t count, Call &call,
                    anec_status &status) {
  return readArrays<InputArray>(inputs, count, "inputs", call, status);
}

std::optional<std::vector<OutputArray>>
anec::c::readOutputs(const anec_output *outputs, size_t count, Call &call,
                     anec_status &status) {
  return readArrays<OutputArray>(outputs, count, "outputs", call, status);
}
