//===- E5rtTrapTest.cpp - drivers that use the E5 runtime wrong -----------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// As TrapTest.mm, for the functions of Espresso: the double must let each
/// mistake fail, or compute nothing where the runtime does.
///
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "anec/MIL/Printer.h"
#include "lib/Runtime/ANE/E5rt.h"
#include <dlfcn.h>
#include <fstream>

using namespace anec;
using ane::E5rt;
using ane::E5rtHandle;
using ane_double::ledger;

namespace {

enum Mistake {
  None,
  NoCache,       ///< no folder for bundles
  NoFile,        ///< no text
  OtherFunction, ///< not `main`
  OtherPort,     ///< no such name
  OutputAsInput, ///< an output's name among the inputs
  OtherBuffer,   ///< a type that does not exist
  SmallBuffer,
  NoBuffer,  ///< a port that is not bound
  BoundLate, ///< bound after the operation was encoded
  EncodedTwice,
  NotEncoded, ///< an empty stream
  NotForced,  ///< takes what was compiled from the file before
};

struct Outcome {
  std::string failed; ///< the function, empty when all went well
  std::string message;
  uint16_t y = 0;
};

/// A driver of y = x + x with x = 1.
class Driver {
public:
  Driver(Mistake mistake, const std::string &op, const std::string &type)
      : mistake(mistake),
        e5rt(E5rt::find(dlopen(ANE_DOUBLE, RTLD_NOW | RTLD_LOCAL))) {
    llvm::SmallString<128> made;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("e5rt", made));
    folder = made.str().str();
    if (mistake != NoFile)
      write(op, type);
  }
  ~Driver() { (void)llvm::sys::fs::remove_directories(folder); }

  void write(const std::string &op, const std::string &type) {
    std::string tensor = "tensor<" + type + ", [1, 8, 1, 40]> ";
    TestProgram program("program(1.3)\n{\n  func main<ios18>(" + tensor +
                        "x) {\n    " + tensor + "y = " + op +
                        "(x = x, y = x)[name = string(\"y\")];\n  } -> "
                        "(y);\n}\n");
    EXPECT_TRUE(
        writeMIL(*program.module, folder + "/model.mil", {}, program.diags));
  }

  Outcome drive();

private:
  bool did(const char *function, int64_t status) {
    if (!status)
      return true;
    outcome = {function, e5rt.e5rt_get_last_error_message()};
    return false;
  }
  bool compile(E5rtHandle &library);
  bool bind(void *operation, bool isInput, E5rtHandle &port, E5rtHandle &buffer,
            uint16_t *&memory);

  Mistake mistake;
  E5rt e5rt;
  std::string folder;
  Outcome outcome;
};

} // namespace

#define DO(NAME, ...)                                                          \
  do {                                                                         \
    if (!did(#NAME, e5rt.NAME(__VA_ARGS__)))                                   \
      return false;                                                            \
  } while (false)

bool Driver::compile(E5rtHandle &library) {
  E5rtHandle config(e5rt.e5rt_e5_compiler_config_options_release),
      compiler(e5rt.e5rt_e5_compiler_release),
      options(e5rt.e5rt_e5_compiler_options_release);
  DO(e5rt_e5_compiler_config_options_create, config.out());
  if (mistake != NoCache)
    DO(e5rt_e5_compiler_config_options_set_cache_bundle_location, config.get(),
       (folder + "/cache").c_str());
  DO(e5rt_e5_compiler_create_with_config, compiler.out(), config.get());
  DO(e5rt_e5_compiler_options_create, options.out());
  DO(e5rt_e5_compiler_options_set_compute_device_types_mask, options.get(), 4);
  DO(e5rt_e5_compiler_options_set_force_recompilation, options.get(),
     mistake != NotForced);
  DO(e5rt_e5_compiler_compile, compiler.get(), (folder + "/model.mil").c_str(),
     options.get(), library.out());
  return true;
}

bool Driver::bind(void *operation, bool isInput, E5rtHandle &port,
                  E5rtHandle &buffer, uint16_t *&memory) {
  port = E5rtHandle(e5rt.e5rt_io_port_release);
  buffer = E5rtHandle(e5rt.e5rt_buffer_object_release);
  const char *name = mistake == OtherPort       ? "z"
                     : mistake == OutputAsInput ? "y"
                     : isInput                  ? "x"
                                                : "y";
  if (isInput)
    DO(e5rt_execution_stream_operation_retain_input_port, operation, name,
       port.out());
  else
    DO(e5rt_execution_stream_operation_retain_output_port, operation, name,
       port.out());
  DO(e5rt_buffer_object_alloc, buffer.out(), mistake == SmallBuffer ? 64 : 640,
     mistake == OtherBuffer ? 3 : 0);
  void *found = nullptr;
  DO(e5rt_buffer_object_get_data_ptr, buffer.get(), &found);
  memory = static_cast<uint16_t *>(found);
  if (mistake != NoBuffer && mistake != BoundLate)
    DO(e5rt_io_port_bind_buffer_object, port.get(), buffer.get());
  return true;
}

Outcome Driver::drive() {
  outcome = Outcome();
  E5rtHandle library(e5rt.e5rt_program_library_release),
      function(e5rt.e5rt_program_function_release),
      options(e5rt.e5rt_precompiled_compute_op_create_options_release),
      operation(e5rt.e5rt_execution_stream_operation_release),
      stream(e5rt.e5rt_execution_stream_release), ports[2], buffers[2];
  uint16_t *x = nullptr, *y = nullptr;
  auto all = [&] {
    if (!compile(library))
      return false;
    DO(e5rt_program_library_retain_program_function, library.get(),
       mistake == OtherFunction ? "other" : "main", function.out());
    DO(e5rt_precompiled_compute_op_create_options_create_with_program_function,
       options.out(), function.get());
    DO(e5rt_execution_stream_operation_create_precompiled_compute_operation_with_options,
       operation.out(), options.get());
    if (!bind(operation.get(), true, ports[0], buffers[0], x) ||
        !bind(operation.get(), false, ports[1], buffers[1], y))
      return false;
    std::fill_n(x, mistake == SmallBuffer ? 32 : 320, 0x3c00);
    y[0] = 0x7ea5;
    DO(e5rt_execution_stream_create, stream.out());
    if (mistake != NotEncoded)
      DO(e5rt_execution_stream_encode_operation, stream.get(), operation.get());
    if (mistake == EncodedTwice)
      DO(e5rt_execution_stream_encode_operation, stream.get(), operation.get());
    if (mistake == BoundLate)
      DO(e5rt_io_port_bind_buffer_object, ports[0].get(), buffers[0].get());
    DO(e5rt_execution_stream_execute_sync, stream.get());
    outcome.y = y[0];
    return true;
  };
  (void)all();
  return outcome;
}

static Outcome drive(Mistake mistake, const std::string &type = "fp16") {
  Outcome outcome = Driver(mistake, "add", type).drive();
  EXPECT_EQ(ledger().surfaces, 0);
  EXPECT_EQ(ledger().models, 0);
  EXPECT_EQ(ledger().requests, 0);
  EXPECT_EQ(ledger().loaded, 0);
  return outcome;
}

TEST(AneE5rtTraps, RightDriver) {
  Outcome outcome = drive(None);
  EXPECT_EQ(outcome.failed, "") << outcome.message;
  EXPECT_EQ(outcome.y, 0x4000);
}

TEST(AneE5rtTraps, Mistakes) {
  struct Row {
    Mistake mistake;
    const char *failed, *message;
  };
  const Row rows[] = {
      {NoCache, "e5rt_e5_compiler_compile", "Invalid E5 path specified"},
      {NoFile, "e5rt_e5_compiler_compile", "there is no model.mil"},
      {OtherFunction, "e5rt_program_library_retain_program_function",
       "no such function"},
      {OtherPort, "e5rt_execution_stream_operation_retain_input_port",
       "there is no port z"},
      {OutputAsInput, "e5rt_execution_stream_operation_retain_input_port",
       "there is no port y"},
      {OtherBuffer, "e5rt_buffer_object_alloc",
       "Invalid BufferType @ AllocMemory"},
      {SmallBuffer, "e5rt_execution_stream_execute_sync", "no buffer"},
      {NoBuffer, "e5rt_execution_stream_execute_sync", "no buffer"},
      {BoundLate, "e5rt_io_port_bind_buffer_object", "in use"},
      {EncodedTwice, "e5rt_execution_stream_encode_operation", "Reset stream"},
  };
  for (const Row &row : rows) {
    Outcome outcome = drive(row.mistake);
    EXPECT_EQ(outcome.failed, row.failed) << outcome.message;
    EXPECT_NE(outcome.message.find(row.message), std::string::npos)
        << outcome.message;
  }
}

TEST(AneE5rtTraps, TypesOfPorts) {
  for (const char *type : {"fp32", "int32"}) {
    Outcome outcome = drive(None, type);
    EXPECT_EQ(outcome.failed, "e5rt_e5_compiler_compile");
    EXPECT_NE(outcome.message.find("unsupported type of port x"),
              std::string::npos)
        << outcome.message;
  }
}

// An empty stream runs nothing, and says success.
TEST(AneE5rtTraps, NotEncoded) {
  Outcome outcome = drive(NotEncoded);
  EXPECT_EQ(outcome.failed, "");
  EXPECT_EQ(outcome.y, 0x7ea5);
}

// Who does not force it gets what was compiled from a file of this name.
TEST(AneE5rtTraps, StaleLibrary) {
  for (Mistake mistake : {NotForced, None}) {
    Driver driver(mistake, "add", "fp16");
    EXPECT_EQ(driver.drive().y, 0x4000);
    driver.write("mul", "fp16");
    EXPECT_EQ(driver.drive().y, mistake == NotForced ? 0x4000 : 0x3c00);
  }
}

TEST(AneE5rtTraps, CompileLimit) {
  unsigned before = ledger().compileLimit;
  ledger().compiles = 0;
  ledger().compileLimit = 1;
  EXPECT_EQ(drive(None).failed, "");
  EXPECT_EQ(drive(None).failed, "e5rt_e5_compiler_compile");
  ledger().compileLimit = before;
}
