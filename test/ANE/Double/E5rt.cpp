//===- E5rt.cpp - the double's E5 runtime ---------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The functions of Espresso, with the statuses and messages that others
/// recovered. Handles know what they are. A stream without operations runs
/// nothing and says success.
///
//===----------------------------------------------------------------------===//

#include "../Shim/Ledger.h"
#include "Compiler.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstring>
#include <map>

using namespace anec;
using namespace ane_double;

namespace {

enum class Kind {
  CompilerConfig,
  Compiler,
  CompilerOptions,
  Library,
  Function,
  OperationOptions,
  Operation,
  Port,
  Buffer,
  Stream,
};

struct Object {
  Kind kind;
  unsigned owners = 1;
  explicit Object(Kind kind) : kind(kind) {}
  virtual ~Object() = default;
};

struct CompilerConfig : Object {
  std::string cacheFolder;
  CompilerConfig() : Object(Kind::CompilerConfig) {}
};
struct CompilerObject : Object {
  std::string cacheFolder;
  CompilerObject() : Object(Kind::Compiler) {}
};
struct CompilerOptions : Object {
  uint64_t mask = 7;
  bool force = false;
  CompilerOptions() : Object(Kind::CompilerOptions) {}
};
/// Also what its functions and their options are.
struct Library : Object {
  std::string folder;
  Library() : Object(Kind::Library) { ++ledger().models; }
  ~Library() override { --ledger().models; }
};
struct Part : Object {
  Library *library;
  Part(Kind kind, Library *library) : Object(kind), library(library) {
    ++library->owners;
  }
  ~Part() override;
};
struct Buffer : Object {
  std::vector<uint8_t> memory;
  explicit Buffer(size_t bytes) : Object(Kind::Buffer), memory(bytes, 0x5a) {
    ++ledger().surfaces;
  }
  ~Buffer() override { --ledger().surfaces; }
};
struct Operation : Object {
  std::unique_ptr<LoadedProgram> program;
  std::map<std::string, Buffer *> bound;
  bool isEncoded = false;
  Operation() : Object(Kind::Operation) { ++ledger().loaded; }
  ~Operation() override;
};
struct PortObject : Object {
  Operation *operation;
  std::string name;
  PortObject(Operation *operation, std::string name)
      : Object(Kind::Port), operation(operation), name(std::move(name)) {
    ++operation->owners;
    ++ledger().requests;
  }
  ~PortObject() override;
};
struct Stream : Object {
  std::vector<Operation *> operations;
  Stream() : Object(Kind::Stream) { ++ledger().requests; }
  ~Stream() override;
};

} // namespace

static void drop(Object *object) {
  if (object && --object->owners == 0)
    delete object;
}
Part::~Part() { drop(library); }
Operation::~Operation() {
  for (auto &[name, buffer] : bound)
    drop(buffer);
  --ledger().loaded;
}
PortObject::~PortObject() {
  drop(operation);
  --ledger().requests;
}
Stream::~Stream() {
  for (Operation *operation : operations)
    drop(operation);
  --ledger().requests;
}

//===----------------------------------------------------------------------===//
// Statuses
//===----------------------------------------------------------------------===//

static std::string lastMessage;

static int64_t fail(const std::string &message) {
  lastMessage = message;
  return 1;
}

static bool isToFail() {
  const char *failure = countCall();
  if (failure)
    lastMessage = failure;
  return failure;
}

/// `object` if it is of this kind, else null.
template <typename T>
static T *as(void *object, Kind kind) {
  auto *known = static_cast<Object *>(object);
  return known && known->kind == kind ? static_cast<T *>(known) : nullptr;
}

static int64_t release(void **object) {
  if (!object || !*object)
    return fail("Invalid Function Argument: object is NULL");
  drop(static_cast<Object *>(*object));
  *object = nullptr;
  return 0;
}

#define EXPORTED extern "C" __attribute__((visibility("default")))
#define RELEASE(NAME)                                                          \
  EXPORTED int64_t NAME(void **object) { return release(object); }
RELEASE(e5rt_e5_compiler_config_options_release)
RELEASE(e5rt_e5_compiler_release)
RELEASE(e5rt_e5_compiler_options_release)
RELEASE(e5rt_program_library_release)
RELEASE(e5rt_program_function_release)
RELEASE(e5rt_precompiled_compute_op_create_options_release)
RELEASE(e5rt_execution_stream_operation_release)
RELEASE(e5rt_io_port_release)
RELEASE(e5rt_buffer_object_release)
RELEASE(e5rt_execution_stream_release)

EXPORTED const char *e5rt_get_last_error_message() {
  return lastMessage.c_str();
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

EXPORTED int64_t e5rt_e5_compiler_config_options_create(void **options) {
  if (isToFail())
    return 1;
  *options = static_cast<Object *>(new CompilerConfig);
  return 0;
}

EXPORTED int64_t e5rt_e5_compiler_config_options_set_cache_bundle_location(
    void *options, const char *folder) {
  auto *config = as<CompilerConfig>(options, Kind::CompilerConfig);
  if (isToFail())
    return 1;
  if (!config || !folder)
    return fail("Invalid Function Argument");
  config->cacheFolder = folder;
  return 0;
}

EXPORTED int64_t e5rt_e5_compiler_create_with_config(void **compiler,
                                                     void *options) {
  auto *config = as<CompilerConfig>(options, Kind::CompilerConfig);
  if (isToFail())
    return 1;
  if (!config)
    return fail("Invalid Function Argument");
  auto *made = new CompilerObject;
  made->cacheFolder = config->cacheFolder;
  *compiler = static_cast<Object *>(made);
  return 0;
}

EXPORTED int64_t e5rt_e5_compiler_options_create(void **options) {
  if (isToFail())
    return 1;
  *options = static_cast<Object *>(new CompilerOptions);
  return 0;
}

EXPORTED int64_t e5rt_e5_compiler_options_set_compute_device_types_mask(
    void *options, uint64_t mask) {
  auto *known = as<CompilerOptions>(options, Kind::CompilerOptions);
  if (isToFail())
    return 1;
  if (!known)
    return fail("Invalid Function Argument");
  known->mask = mask;
  return 0;
}

EXPORTED int64_t e5rt_e5_compiler_options_set_force_recompilation(void *options,
                                                                  int force) {
  auto *known = as<CompilerOptions>(options, Kind::CompilerOptions);
  if (isToFail())
    return 1;
  if (!known)
    return fail("Invalid Function Argument");
  known->force = force;
  return 0;
}

EXPORTED int64_t e5rt_e5_compiler_options_set_segmenter(void *options,
                                                        const char *name) {
  if (isToFail())
    return 1;
  return as<CompilerOptions>(options, Kind::CompilerOptions) && name
             ? 0
             : fail("Invalid Function Argument");
}

static constexpr const char tag[] = "e5rt-";

/// The engine takes small integers and halves alone.
static std::string refusedPort(llvm::ArrayRef<Port> ports) {
  for (const Port &port : ports)
    switch (port.type.dtype) {
    case DType::FP16:
    case DType::Int8:
    case DType::UInt8:
    case DType::Int16:
    case DType::UInt16:
      break;
    default:
      return "unsupported type of port " + port.name;
    }
  return "";
}

EXPORTED int64_t e5rt_e5_compiler_compile(void *compiler, const char *file,
                                          void *options, void **library) {
  auto *known = as<CompilerObject>(compiler, Kind::Compiler);
  auto *wanted = as<CompilerOptions>(options, Kind::CompilerOptions);
  if (isToFail())
    return 1;
  if (!known || !wanted || !file)
    return fail("Invalid Function Argument");
  if (++ledger().compiles > ledger().compileLimit)
    return fail("ANECCompile() FAILED: err=()");
  if (ledger().isTrapped("e5-crash"))
    std::abort();
  if (wanted->mask == 1)
    return fail("compiled for the processor: this double is of the engine");
  if (known->cacheFolder.empty() ||
      llvm::sys::fs::create_directories(known->cacheFolder))
    return fail("Invalid E5 path specified. @ GetE5PathFromCompositeBundle");
  CompileJob job{llvm::sys::path::parent_path(file).str(), tag};
  job.textFile = llvm::sys::path::filename(file).str();
  // Unless told otherwise, what was compiled from a file of this name is taken
  // for its text.
  if (wanted->force || !isCompiled(job.folder, tag)) {
    std::string failure = compile(job);
    if (!failure.empty())
      return fail(failure);
  }
  std::string error;
  std::unique_ptr<LoadedProgram> program = load(job.folder, tag, error);
  if (program)
    error = refusedPort(program->executable->inputs());
  if (program && error.empty())
    error = refusedPort(program->executable->outputs());
  if (!error.empty())
    return fail(error);
  auto *made = new Library;
  made->folder = job.folder;
  *library = static_cast<Object *>(made);
  return 0;
}

EXPORTED int64_t e5rt_program_library_retain_program_function(void *library,
                                                              const char *name,
                                                              void **function) {
  auto *known = as<Library>(library, Kind::Library);
  if (isToFail())
    return 1;
  if (!known || !name || std::string(name) != "main")
    return fail("no such function");
  *function = static_cast<Object *>(new Part(Kind::Function, known));
  return 0;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

EXPORTED int64_t
e5rt_precompiled_compute_op_create_options_create_with_program_function(
    void **options, void *function) {
  auto *known = as<Part>(function, Kind::Function);
  if (isToFail())
    return 1;
  if (!known)
    return fail("Cannot provide program function as nullptr. @ Create");
  *options =
      static_cast<Object *>(new Part(Kind::OperationOptions, known->library));
  return 0;
}

EXPORTED int64_t e5rt_precompiled_compute_op_create_options_set_operation_name(
    void *options, const char *name) {
  if (isToFail())
    return 1;
  return as<Part>(options, Kind::OperationOptions) && name
             ? 0
             : fail("Invalid Function Argument");
}

EXPORTED int64_t
e5rt_precompiled_compute_op_create_options_set_allocate_intermediate_buffers(
    void *options, int) {
  if (isToFail())
    return 1;
  return as<Part>(options, Kind::OperationOptions)
             ? 0
             : fail("Invalid Function Argument");
}

EXPORTED int64_t
e5rt_execution_stream_operation_create_precompiled_compute_operation_with_options(
    void **operation, void *options) {
  auto *known = as<Part>(options, Kind::OperationOptions);
  if (isToFail())
    return 1;
  if (!known)
    return fail("Invalid Function Argument");
  if (unsigned(ledger().loaded) >= ledger().loadedLimit)
    return fail("Program load failure (status=0x50004)");
  std::string error;
  auto made = std::make_unique<Operation>();
  made->program = load(known->library->folder, tag, error);
  if (!made->program)
    return fail(error);
  ++ledger().loads;
  *operation = static_cast<Object *>(made.release());
  return 0;
}

static int64_t retainPort(void *operation, const char *name, bool isInput,
                          void **port) {
  auto *known = as<Operation>(operation, Kind::Operation);
  if (isToFail())
    return 1;
  if (!known || !name)
    return fail("Invalid Function Argument");
  llvm::ArrayRef<Port> ports = isInput ? known->program->executable->inputs()
                                       : known->program->executable->outputs();
  for (const Port &each : ports)
    if (each.name == name) {
      *port = static_cast<Object *>(new PortObject(known, name));
      return 0;
    }
  return fail(std::string("there is no port ") + name);
}

EXPORTED int64_t e5rt_execution_stream_operation_retain_input_port(
    void *operation, const char *name, void **port) {
  return retainPort(operation, name, true, port);
}
EXPORTED int64_t e5rt_execution_stream_operation_retain_output_port(
    void *operation, const char *name, void **port) {
  return retainPort(operation, name, false, port);
}

EXPORTED int64_t e5rt_buffer_object_alloc(void **buffer, uint64_t bytes,
                                          uint32_t type) {
  if (isToFail())
    return 1;
  if (type > 2)
    return fail("Invalid BufferType @ AllocMemory");
  *buffer = static_cast<Object *>(new Buffer(bytes));
  return 0;
}

EXPORTED int64_t e5rt_buffer_object_get_data_ptr(void *buffer, void **memory) {
  auto *known = as<Buffer>(buffer, Kind::Buffer);
  if (isToFail())
    return 1;
  if (!known)
    return fail("Invalid Function Argument");
  *memory = known->memory.data();
  return 0;
}

EXPORTED int64_t e5rt_io_port_bind_buffer_object(void *port, void *buffer) {
  auto *known = as<PortObject>(port, Kind::Port);
  auto *bound = as<Buffer>(buffer, Kind::Buffer);
  if (isToFail())
    return 1;
  if (!known || !bound)
    return fail("Invalid Function Argument");
  if (known->operation->isEncoded)
    return fail("the operation is in use");
  ++bound->owners;
  drop(std::exchange(known->operation->bound[known->name], bound));
  return 0;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

EXPORTED int64_t e5rt_execution_stream_create(void **stream) {
  if (isToFail())
    return 1;
  *stream = static_cast<Object *>(new Stream);
  return 0;
}

EXPORTED int64_t e5rt_execution_stream_encode_operation(void *stream,
                                                        void *operation) {
  auto *known = as<Stream>(stream, Kind::Stream);
  auto *encoded = as<Operation>(operation, Kind::Operation);
  if (isToFail())
    return 1;
  if (!known || !encoded)
    return fail("Invalid Function Argument");
  if (encoded->isEncoded)
    return fail("Reset stream to add more operations to stream.");
  encoded->isEncoded = true;
  ++encoded->owners;
  known->operations.push_back(encoded);
  return 0;
}

/// The memory that is bound to `ports`; false when there is none, or too
/// little.
template <typename Pointer>
static bool findMemory(const Operation &operation, llvm::ArrayRef<Port> ports,
                       std::vector<Pointer> &memory) {
  for (const Port &port : ports) {
    auto bound = operation.bound.find(port.name);
    if (bound == operation.bound.end() ||
        bound->second->memory.size() < port.type.numBytes())
      return false;
    memory.push_back(bound->second->memory.data());
  }
  return true;
}

EXPORTED int64_t e5rt_execution_stream_execute_sync(void *stream) {
  auto *known = as<Stream>(stream, Kind::Stream);
  if (isToFail())
    return 1;
  if (!known)
    return fail("Invalid Function Argument");
  for (Operation *operation : known->operations) {
    std::vector<const uint8_t *> inputs;
    std::vector<uint8_t *> outputs;
    const Executable &executable = *operation->program->executable;
    if (!findMemory(*operation, executable.inputs(), inputs) ||
        !findMemory(*operation, executable.outputs(), outputs))
      return fail("a port has no buffer of its size");
    ++ledger().evaluations;
    ++ledger().e5rtRuns;
    runDense(*operation->program, inputs, outputs);
  }
  return 0;
}
