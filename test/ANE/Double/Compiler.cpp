//===- Compiler.cpp - the double's compiler and engine --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Compiler.h"
#include "../Shim/Ledger.h"
#include "Text.h"
#include "Traps.h"
#include "anec/MIL/Reader.h"
#include "lib/Ops/Ops.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cstring>
#include <fstream>
#include <mutex>
#include <regex>
#include <thread>

using namespace anec;
using namespace ane_double;

static std::string readAll(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

static std::string firstError(const Diagnostics &diags) {
  for (const Diagnostic &diagnostic : diags.all()) {
    std::string place;
    if (auto where = diags.locate(diagnostic.range))
      place = " at model.mil:" + std::to_string(where->line) + ":" +
              std::to_string(where->column);
    return "InvalidMILProgram" + place + ": " + diagnostic.message;
  }
  return "InvalidMILProgram";
}

/// Reads MIL, with its weight files as `files` has them.
static std::unique_ptr<Module>
readProgram(const std::string &text, const std::string &folder,
            const std::map<std::string, std::string> &files,
            std::string &error) {
  Diagnostics diags;
  llvm::StringRef kept =
      diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "model.mil"));
  MILReadOptions options;
  for (const auto &[path, file] : files)
    options.weightFiles[path].path = file;
  std::unique_ptr<Module> module =
      readMIL(kept, folder, opTable(), diags, options);
  if (!module || diags.hasErrors()) {
    error = firstError(diags);
    return nullptr;
  }
  return module;
}

static std::set<std::string> pathsIn(const std::string &text) {
  static const std::regex pattern("BLOBFILE\\(path = [^\"]*\"([^\"]*)\"");
  std::set<std::string> paths;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end;
       it != end; ++it)
    paths.insert((*it)[1]);
  return paths;
}

/// Whether the engine could be asked for this: every record header complete.
static std::string checkWeights(const std::string &file) {
  std::string bytes = readAll(file);
  uint32_t words[2] = {};
  if (bytes.size() < 128)
    return "InvalidMILProgram: a weight file is cut off";
  std::memcpy(words, bytes.data() + 4, 4);
  std::memcpy(words + 1, bytes.data() + 64, 4);
  return words[0] == 2 && words[1] == 0xdeadbeef
             ? ""
             : "InvalidMILProgram: a weight file has another format";
}

/// A key of `buildInfo` that no known caller of the engine has; empty for none.
static std::string ownKeyIn(const std::string &text) {
  static const std::set<std::string> known = {
      "coremlc-component-MIL", "coremlc-version",
      "coremltools-component-milinternal", "coremltools-version"};
  std::smatch line;
  if (!std::regex_search(text, line, std::regex("buildInfo = [^\n]*")))
    return "";
  std::string entries = line[0];
  static const std::regex pattern("\\{\"([^\"]*)\"");
  for (std::sregex_iterator it(entries.begin(), entries.end(), pattern), end;
       it != end; ++it)
    if (!known.count((*it)[1]))
      return (*it)[1];
  return "";
}

/// Whether the environment names a text that the program has.
static bool names(const char *variable, const std::string &text) {
  const char *wanted = std::getenv(variable);
  return wanted && text.find(wanted) != std::string::npos;
}

std::string ane_double::compile(const CompileJob &job) {
  const std::string &folder = job.folder;
  std::string text = readAll(folder + "/" + job.textFile);
  if (text.empty())
    return "InvalidMILProgram: there is no " + job.textFile;
  if (names("ANE_DOUBLE_CRASH", text))
    std::abort();
  if (names("ANE_DOUBLE_EXIT", text))
    std::_Exit(3);
  if (names("ANE_DOUBLE_HANG", text))
    std::this_thread::sleep_for(std::chrono::hours(1));
  if (names("ANE_DOUBLE_REFUSE", text))
    return "ANECCompile() FAILED: err=()";
  if (std::string refusal = refusalOf(text); !refusal.empty())
    return refusal;
  if (std::string key = ownKeyIn(text);
      !key.empty() && ledger().isTrapped("own-keys"))
    return "InvalidMILProgram: buildInfo has the unknown key " + key;
  const std::string &output = job.output.empty() ? folder : job.output;
  if (llvm::sys::fs::create_directories(output))
    return "ANECCompile() FAILED: err=(cannot write " + output + ")";
  std::map<std::string, std::string> files;
  unsigned number = 0;
  std::string manifest;
  for (const std::string &path : pathsIn(text)) {
    if (job.knownPaths && !job.knownPaths->count(path))
      return "InvalidMILProgram: no weights for " + path;
    const std::string root = "@model_path/";
    std::string file =
        folder + "/" + (path.rfind(root, 0) ? path : path.substr(root.size()));
    if (!llvm::sys::fs::exists(file))
      return "InvalidMILProgram: there is no " + file;
    if (std::string error = checkWeights(file); !error.empty())
      return error;
    // The 17th file is one too many; published of macOS 27.
    if (number == 16 && !isTaken("weight-files"))
      return "InvalidMILProgram: too many weight files";
    if (std::getenv("ANE_DOUBLE_ONE_ARRAY") && readAll(file)[0] != 1)
      return "InvalidMILProgram: several arrays in " + path;
    // What is compiled has a copy: the files may change afterwards.
    std::string copy = output + "/" + job.tag + "data" +
                       (number ? std::to_string(number) : "");
    ++number;
    if (llvm::sys::fs::copy_file(file, copy))
      return "ANECCompile() FAILED: err=(cannot write data)";
    files[path] = copy;
    manifest += path + "\n";
  }
  std::string error;
  std::unique_ptr<Module> module = readProgram(text, folder, files, error);
  if (!module)
    return error;
  const Function &function = *module->functions.front();
  if (function.body().empty() || function.numResults() == 0)
    return "ANECCompile() FAILED: err=()";
  for (const Op &op : function.body())
    if (!op.def().eval)
      return "ANECCompile() FAILED: err=()";
  if (std::string refusal = refusalByTraps(function, number); !refusal.empty())
    return refusal;
  std::ofstream(output + "/" + job.tag + "net.plist") << number << '\n'
                                                      << manifest << text;
  return "";
}

bool ane_double::isCompiled(const std::string &folder, const std::string &tag) {
  return llvm::sys::fs::exists(folder + "/" + tag + "net.plist") &&
         ledger().odd != "unseen";
}

//===----------------------------------------------------------------------===//
// The engine
//===----------------------------------------------------------------------===//

/// Rows begin at multiples of 64 bytes.
static Placement place(const Port &port) {
  Placement placement{port.name, port.type, 1, 0, 0, 1, 0};
  const Shape &shape = port.type.shape;
  for (size_t axis = 0; axis + 1 < shape.size(); ++axis)
    placement.rows *= size_t(shape[axis]);
  placement.rowBytes =
      size_t(shape.empty() ? 1 : shape.back()) * byteSize(port.type.dtype, 1);
  placement.stride = ledger().isTrapped("packed-rows")
                         ? placement.rowBytes
                         : (placement.rowBytes + 63) / 64 * 64;
  if (shape.size() >= 2)
    placement.planeRows = std::max<size_t>(1, size_t(shape.rbegin()[1]));
  placement.planeStride = placement.planeRows * placement.stride;
  if (ledger().isTrapped("padded-planes"))
    placement.planeStride = (placement.planeStride + 511) / 512 * 512;
  return placement;
}

/// Symbols stand in the order of the bytes of their names.
static void placeAll(llvm::ArrayRef<Port> ports, const std::string &suffix,
                     std::vector<Placement> &placements,
                     std::vector<unsigned> &order) {
  for (unsigned i = 0; i < ports.size(); ++i)
    order.push_back(i);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return ports[a].name + suffix < ports[b].name + suffix;
  });
  for (unsigned port : order)
    placements.push_back(place(ports[port]));
}

std::unique_ptr<LoadedProgram> ane_double::load(const std::string &folder,
                                                const std::string &tag,
                                                std::string &error) {
  std::ifstream plist(folder + "/" + tag + "net.plist");
  if (!plist) {
    error = "Program load failure: the model is not compiled";
    return nullptr;
  }
  unsigned count = 0;
  plist >> count;
  plist.ignore();
  std::map<std::string, std::string> files;
  for (unsigned i = 0; i < count; ++i) {
    std::string path;
    std::getline(plist, path);
    files[path] = folder + "/" + tag + "data" + (i ? std::to_string(i) : "");
  }
  std::string text((std::istreambuf_iterator<char>(plist)), {});
  if (names("ANE_DOUBLE_ALIAS", text))
    text = std::regex_replace(text, std::regex("uint64\\([0-9]+\\)"),
                              "uint64(64)");
  std::unique_ptr<Module> module = readProgram(text, folder, files, error);
  if (!module)
    return nullptr;
  LoadOptions options;
  static const auto workspace = std::make_shared<Workspace>(1);
  options.workspace = workspace;
  if (const char *chip = std::getenv("ANE_DOUBLE_NUMERICS"))
    options.numerics = chip == std::string("m1")   ? Numerics::M1
                       : chip == std::string("m2") ? Numerics::M2
                       : chip == std::string("m3") ? Numerics::M3
                                                   : Numerics::M4;
  Diagnostics diags;
  auto loaded = std::make_unique<LoadedProgram>();
  static Backend *backend = createCpuBackend().release();
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  loaded->poisons = poisonsByTraps(*module->functions.front());
  spoilByTraps(*module->functions.front());
  loaded->executable =
      backend->load(*module->functions.front(), options, diags);
  if (!loaded->executable) {
    error = "Program load failure";
    return nullptr;
  }
  placeAll(loaded->executable->inputs(), "", loaded->inputs,
           loaded->inputPorts);
  placeAll(loaded->executable->outputs(), "@output", loaded->outputs,
           loaded->outputPorts);
  loaded->isWrong = names("ANE_DOUBLE_WRONG", text);
  loaded->isStale = names("ANE_DOUBLE_STALE", text);
  return loaded;
}

void ane_double::run(LoadedProgram &program,
                     llvm::ArrayRef<const uint8_t *> inputs,
                     llvm::ArrayRef<uint8_t *> outputs) {
  if (program.isStale && program.hasRun)
    return;
  program.hasRun = true;
  std::vector<std::vector<uint8_t>> in(inputs.size()), out(outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Placement &from = program.inputs[i];
    std::vector<uint8_t> &to = in[program.inputPorts[i]];
    to.resize(from.rows * from.rowBytes);
    for (size_t row = 0; row < from.rows; ++row)
      std::memcpy(to.data() + row * from.rowBytes,
                  inputs[i] + from.offsetOf(row), from.rowBytes);
    if (ledger().isTrapped("narrow") && !from.type.shape.empty() &&
        from.type.shape.back() < 32)
      std::memset(to.data(), 0x5a, to.size());
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    out[program.outputPorts[i]].resize(program.outputs[i].rows *
                                       program.outputs[i].rowBytes);
  llvm::SmallVector<llvm::ArrayRef<uint8_t>> inRefs(in.begin(), in.end());
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> outRefs(out.begin(),
                                                            out.end());
  Diagnostics diags;
  if (!program.executable->run(inRefs, outRefs, diags))
    return;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Placement &to = program.outputs[i];
    const std::vector<uint8_t> &from = out[program.outputPorts[i]];
    for (size_t row = 0; row < to.rows; ++row)
      std::memcpy(outputs[i] + to.offsetOf(row),
                  from.data() + row * to.rowBytes, to.rowBytes);
    if (program.isWrong)
      std::memset(outputs[i] + to.offsetOf(to.rows - 1), 0, to.rowBytes);
    if (ledger().isPoisoned)
      std::memset(outputs[i], 0, to.bytes());
  }
  if (program.poisons)
    ledger().isPoisoned = true;
}
