//===- Programs.h - programs for tests of the ane backend ------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef ANEC_TEST_ANE_PROGRAMS_H
#define ANEC_TEST_ANE_PROGRAMS_H

#include "../Shim/Ledger.h"
#include "anec/MIL/Reader.h"
#include "anec/Runtime/ANE/AneBackend.h"
#include "lib/Ops/Interpreter.h"
#include "lib/Ops/Ops.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <algorithm>

namespace anec {

inline std::string textOf(const Diagnostics &diags) {
  std::string text;
  llvm::raw_string_ostream out(text);
  diags.print(out);
  return text;
}

/// A program as text, with what it is read into.
struct TestProgram {
  explicit TestProgram(const std::string &text) {
    llvm::StringRef kept =
        diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "test.mil"));
    module = readMIL(kept, "", opTable(), diags);
    EXPECT_TRUE(module) << textOf(diags);
  }
  const Function &function() const { return *module->functions.front(); }

  Diagnostics diags;
  std::unique_ptr<Module> module;
};

/// Inputs and outputs whose order by name is not the declared one, and rows
/// that are not multiples of 64 bytes.
inline std::string twoByTwo() {
  return R"(program(1.3)
{
  func main<ios18>(tensor<fp16, [1, 8, 1, 40]> b, tensor<fp16, [1, 8, 1, 40]> a) {
    tensor<fp16, [1, 8, 1, 40]> y = sub(x = b, y = a)[name = string("y")];
    tensor<fp16, [1, 8, 1, 40]> y2 = add(x = b, y = a)[name = string("y2")];
  } -> (y, y2);
}
)";
}

/// A third of x, where the text has the number that fp16 rounds.
inline std::string third() {
  return R"(program(1.3)
[buildInfo = dict<string, string>({{"anec-derived-numbers", "main.third=0x1.5555555555555p-2"}})]
{
  func main<ios18>(tensor<fp16, [1, 8, 1, 40]> x) {
    fp16 third = const()[name = string("third"), val = fp16(0x1.554p-2)];
    tensor<fp16, [1, 8, 1, 40]> y = mul(x = x, y = third)[name = string("y")];
  } -> (y);
}
)";
}

/// A 1x1 convolution with weights of `scale`, 2 * `scale`, ...
inline std::string convolution(double scale) {
  std::string weights;
  for (int i = 0; i < 32 * 8; ++i)
    weights += (i ? ", " : "") + std::to_string(scale * ((i % 7) - 3));
  return R"(program(1.3)
{
  func main<ios18>(tensor<fp16, [1, 8, 1, 40]> x) {
    tensor<fp16, [32, 8, 1, 1]> w = const()[name = string("w"), val = tensor<fp16, [32, 8, 1, 1]>([)" +
         weights + R"(])];
    string pt = const()[name = string("pt"), val = string("valid")];
    tensor<int32, [2]> st = const()[name = string("st"), val = tensor<int32, [2]>([1, 1])];
    tensor<int32, [4]> pd = const()[name = string("pd"), val = tensor<int32, [4]>([0, 0, 0, 0])];
    int32 gr = const()[name = string("gr"), val = int32(1)];
    tensor<fp16, [1, 32, 1, 40]> y = conv(dilations = st, groups = gr, pad = pd, pad_type = pt, strides = st, weight = w, x = x)[name = string("y")];
  } -> (y);
}
)";
}

/// A program with two arrays.
inline std::string twoArrays() {
  std::string two = convolution(0.25);
  two.replace(two.find("y = conv"), 1, "h");
  two.replace(two.find("string(\"y\")"), 11, "string(\"h\")");
  std::string more;
  for (int i = 0; i < 40 * 32; ++i)
    more += (i ? ", " : "") + std::to_string(i % 5);
  two.replace(two.find("  } -> (y)"), 0,
              "    tensor<fp16, [1, 32, 1, 40]> k = const()[name = "
              "string(\"k\"), val = tensor<fp16, [1, 32, 1, 40]>([" +
                  more +
                  "])];\n    tensor<fp16, [1, 32, 1, 40]> y = add(x = h, y = "
                  "k)[name = string(\"y\")];\n");
  return two;
}

/// What `executable` makes of arrays that are drawn from `seed`.
inline std::vector<std::vector<uint8_t>>
runOnce(Executable &executable, uint64_t seed, Diagnostics &diags) {
  std::vector<ConstantRef> arrays;
  llvm::SmallVector<llvm::ArrayRef<uint8_t>> in;
  for (const Port &port : executable.inputs()) {
    arrays.push_back(
        Constant::fromDoubles(port.type, randomTensor(port.type, seed++).data));
    in.push_back(arrays.back()->bytes());
  }
  std::vector<std::vector<uint8_t>> results;
  for (const Port &port : executable.outputs())
    results.emplace_back(port.type.numBytes());
  llvm::SmallVector<llvm::MutableArrayRef<uint8_t>> out(results.begin(),
                                                        results.end());
  if (!executable.run(in, out, diags))
    return {};
  return results;
}

/// The path that options of the double have.
inline AnePath testedPath = AnePath::InMemory;

/// Tests of what is the same by each path.
class OnEachPath : public testing::TestWithParam<AnePath> {
protected:
  void SetUp() override { testedPath = GetParam(); }
  void TearDown() override { testedPath = AnePath::InMemory; }
};
inline std::string nameOfPath(const testing::TestParamInfo<AnePath> &info) {
  std::string name = spelling(info.param).str();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// The double, in place of the framework.
inline AneOptions doubleOptions() {
  AneOptions options;
  options.path = testedPath;
  options.framework = ANE_DOUBLE;
  options.backoffMilliseconds = 1;
  // A test process compiles more than one of a user's.
  options.compileLimit = 1u << 30;
  static const auto compiles = std::make_shared<std::atomic<unsigned>>(0);
  options.compiles = compiles;
  ane_double::ledger().compileLimit = 1u << 30;
  return options;
}

inline std::unique_ptr<Backend>
openDouble(AneOptions options = doubleOptions()) {
  Diagnostics diags;
  std::unique_ptr<Backend> backend = createAneBackend(options, diags);
  EXPECT_TRUE(backend) << textOf(diags);
  return backend;
}

/// Where the double's daemon keeps what it compiled in memory.
inline std::string daemonFolder() {
  std::string temporary = inspectAne(doubleOptions()).temporaryFolder;
  return (llvm::sys::path::parent_path(temporary) + "/GNUstep-aned").str();
}

/// Staged folders, of this process or another.
inline unsigned stagedFolders() {
  unsigned count = 0;
  std::error_code code;
  std::string folder = inspectAne(doubleOptions()).temporaryFolder;
  for (llvm::sys::fs::directory_iterator it(folder, code), end;
       it != end && !code; it.increment(code))
    ++count;
  return count;
}

/// Nothing is alive.
inline void expectNothingLeft(unsigned folders) {
  const ane_double::Ledger &ledger = ane_double::ledger();
  EXPECT_EQ(ledger.surfaces, 0);
  EXPECT_EQ(ledger.locks, 0);
  EXPECT_EQ(ledger.models, 0);
  EXPECT_EQ(ledger.requests, 0);
  EXPECT_EQ(ledger.loaded, 0);
  EXPECT_EQ(stagedFolders(), folders);
}

} // namespace anec

#endif // ANEC_TEST_ANE_PROGRAMS_H
