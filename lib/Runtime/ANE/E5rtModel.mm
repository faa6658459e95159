//===- E5rtModel.mm - programs by Espresso's E5 runtime -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// `--path=e5rt`. The runtime compiles the text to a program library for the
/// engine alone; a stream runs an operation of its function, with a buffer for
/// each port.
///
//===----------------------------------------------------------------------===//

#include "../Apple/Call.h"
#include "Model.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace anec;
using namespace anec::ane;

/// The bit of the Neural Engine; the others are the processor and the GPU.
static constexpr uint64_t engineMask = 4;
/// A buffer with an address for the processor.
static constexpr uint32_t hostBuffer = 0;

namespace {

/// A port of the operation, and the buffer that is bound to it.
struct BoundPort {
  E5rtHandle port, buffer;
  uint8_t *memory = nullptr;
};

/// What is loaded of a program; destroyed in reverse order.
struct LoadedOperation {
  E5rtHandle function, options, operation;
  std::vector<BoundPort> inputs, outputs;
  E5rtHandle stream;
};

class E5rtModel : public Model {
public:
  E5rtModel(const E5rt &functions, std::string textFile,
            std::string cacheFolder, const ProgramPorts &ports)
      : e5rt(functions), textFile(std::move(textFile)),
        cacheFolder(std::move(cacheFolder)), ports(ports) {}

  BOOL compile(NSError **error) override;
  BOOL load(NSError **error) override;
  BOOL evaluate(const ModelRun &run, NSError **error) override;
  BOOL unload(NSError **) override {
    loaded.reset();
    return YES;
  }
  // A library works only in the process that compiled it.
  BOOL isCompiled() override { return NO; }
  NSDictionary *attributes() override { return nil; }

private:
  /// Whether the call `name` succeeded; sets the error otherwise.
  BOOL check(const char *name, int64_t status, NSError **error) const;
  BOOL loadOperation(NSError **error);
  BOOL bind(const Port &port, bool isInput, BoundPort &bound,
            NSError **error) const;

  const E5rt &e5rt;
  std::string textFile, cacheFolder;
  ProgramPorts ports;
  E5rtHandle library;
  std::optional<LoadedOperation> loaded;
};

} // namespace

BOOL E5rtModel::check(const char *name, int64_t status, NSError **error) const {
  if (status == 0)
    return YES;
  const char *reason = e5rt.e5rt_get_last_error_message
                           ? e5rt.e5rt_get_last_error_message()
                           : nullptr;
  *error = errorOf("e5rt", status,
                   std::string(name) + (reason ? ": " : "") +
                       (reason ? reason : ""));
  return NO;
}

/// Calls a function of the runtime, and returns NO when it fails.
#define CALL(NAME, ...)                                                        \
  do {                                                                         \
    if (!check(#NAME, e5rt.NAME(__VA_ARGS__), error))                          \
      return NO;                                                               \
  } while (false)

BOOL E5rtModel::compile(NSError **error) {
  E5rtHandle config(e5rt.e5rt_e5_compiler_config_options_release),
      compiler(e5rt.e5rt_e5_compiler_release),
      options(e5rt.e5rt_e5_compiler_options_release),
      compiled(e5rt.e5rt_program_library_release);
  CALL(e5rt_e5_compiler_config_options_create, config.out());
  CALL(e5rt_e5_compiler_config_options_set_cache_bundle_location, config.get(),
       cacheFolder.c_str());
  CALL(e5rt_e5_compiler_create_with_config, compiler.out(), config.get());
  CALL(e5rt_e5_compiler_options_create, options.out());
  CALL(e5rt_e5_compiler_options_set_compute_device_types_mask, options.get(),
       engineMask);
  CALL(e5rt_e5_compiler_options_set_force_recompilation, options.get(), 1);
  CALL(e5rt_e5_compiler_options_set_segmenter, options.get(), "graph");
  CALL(e5rt_e5_compiler_compile, compiler.get(), textFile.c_str(),
       options.get(), compiled.out());
  library = std::move(compiled);
  return YES;
}

BOOL E5rtModel::bind(const Port &port, bool isInput, BoundPort &bound,
                     NSError **error) const {
  bound.port = E5rtHandle(e5rt.e5rt_io_port_release);
  bound.buffer = E5rtHandle(e5rt.e5rt_buffer_object_release);
  const char *name = port.name.c_str();
  void *operation = loaded->operation.get();
  if (isInput)
    CALL(e5rt_execution_stream_operation_retain_input_port, operation, name,
         bound.port.out());
  else
    CALL(e5rt_execution_stream_operation_retain_output_port, operation, name,
         bound.port.out());
  CALL(e5rt_buffer_object_alloc, bound.buffer.out(),
       llvm::alignTo(std::max<uint64_t>(port.type.numBytes(), 1), 64),
       hostBuffer);
  void *memory = nullptr;
  CALL(e5rt_buffer_object_get_data_ptr, bound.buffer.get(), &memory);
  bound.memory = static_cast<uint8_t *>(memory);
  CALL(e5rt_io_port_bind_buffer_object, bound.port.get(), bound.buffer.get());
  return YES;
}

BOOL E5rtModel::load(NSError **error) {
  if (loadOperation(error))
    return YES;
  loaded.reset();
  return NO;
}

BOOL E5rtModel::loadOperation(NSError **error) {
  loaded.emplace();
  LoadedOperation &made = *loaded;
  made.function = E5rtHandle(e5rt.e5rt_program_function_release);
  made.options =
      E5rtHandle(e5rt.e5rt_precompiled_compute_op_create_options_release);
  made.operation = E5rtHandle(e5rt.e5rt_execution_stream_operation_release);
  made.stream = E5rtHandle(e5rt.e5rt_execution_stream_release);
  CALL(e5rt_program_library_retain_program_function, library.get(), "main",
       made.function.out());
  CALL(e5rt_precompiled_compute_op_create_options_create_with_program_function,
       made.options.out(), made.function.get());
  CALL(e5rt_precompiled_compute_op_create_options_set_operation_name,
       made.options.get(), "main");
  CALL(
      e5rt_precompiled_compute_op_create_options_set_allocate_intermediate_buffers,
      made.options.get(), 1);
  CALL(
      e5rt_execution_stream_operation_create_precompiled_compute_operation_with_options,
      made.operation.out(), made.options.get());
  for (const Port &port : ports.inputs)
    if (!bind(port, /*isInput=*/true, made.inputs.emplace_back(), error))
      return NO;
  for (const Port &port : ports.outputs)
    if (!bind(port, /*isInput=*/false, made.outputs.emplace_back(), error))
      return NO;
  CALL(e5rt_execution_stream_create, made.stream.out());
  // Once: an encoded operation runs as often as its stream is executed.
  CALL(e5rt_execution_stream_encode_operation, made.stream.get(),
       made.operation.get());
  return YES;
}

BOOL E5rtModel::evaluate(const ModelRun &run, NSError **error) {
  for (auto [array, bound] : llvm::zip_equal(run.inputs, loaded->inputs))
    std::memcpy(bound.memory, array.bytes().data(), array.bytes().size());
  for (auto [array, bound] : llvm::zip_equal(run.outputs, loaded->outputs))
    array.markUnwritten(bound.memory);
  CALL(e5rt_execution_stream_execute_sync, loaded->stream.get());
  for (auto [array, bound] : llvm::zip_equal(run.outputs, loaded->outputs))
    std::memcpy(array.bytes().data(), bound.memory, array.bytes().size());
  return YES;
}

#undef CALL

std::unique_ptr<Model> ane::makeE5rtModel(const Engine &engine,
                                          StagedProgram &staged,
                                          const ProgramPorts &ports,
                                          Diagnostics &diags) {
  if (!moveToOwnFolder(engine, staged, diags))
    return nullptr;
  llvm::SmallString<128> cache(staged.folder());
  llvm::sys::path::append(cache, "e5rt-cache");
  return std::make_unique<E5rtModel>(engine.framework.e5rt, staged.textFile(),
                                     cache.str().str(), ports);
}
