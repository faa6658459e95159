//===- MILTest.cpp - MIL text through the library -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// What the tools do not reach: options of the library, and ops in forms that
/// no row of the table has.
///
//===----------------------------------------------------------------------===//

#include "anec/MIL/Printer.h"
#include "anec/MIL/Reader.h"
#include "lib/Arrays/StoredAs.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/MIL/Spelling.h"
#include "lib/Ops/Ops.h"
#include "lib/Ops/Rows/Activation.h"
#include "lib/Ops/Rows/Arithmetic.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/RmsNorm.h"
#include "test/Unit/TemporaryFolder.h"
#include "gtest/gtest.h"
#include <limits>

using namespace anec;
using namespace anec::test;

namespace {

std::unique_ptr<Module> read(llvm::StringRef text, Diagnostics &diags,
                             const OpTable &ops = opTable(),
                             llvm::StringRef folder = "/no/such/folder") {
  return readMIL(
      diags.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "x.mil")),
      folder, ops, diags);
}

std::string print(const Module &module, MILPrintOptions options = {}) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Diagnostics diags;
  EXPECT_TRUE(printMIL(module, out, options, diags)) << messages(diags);
  return text;
}

/// The text with the head and tail of every program.
std::string program(llvm::StringRef opset, llvm::StringRef parameters,
                    llvm::StringRef statements, llvm::StringRef results) {
  return ("program(1.3)\n[buildInfo = dict<string, string>({{\"k\", \"v\"}})]\n"
          "{\n    func main<" +
          opset + ">(" + parameters + ") {\n" + statements + "    } -> (" +
          results + ");\n}\n")
      .str();
}

TEST(MILSpelling, ExactFloats) {
  const std::pair<double, const char *> cases[] = {
      {0, "0x0p+0"},
      {-0.0, "-0x0p+0"},
      {1, "0x1p+0"},
      {-10, "-0x1.4p+3"},
      {0.1, "0x1.999999999999ap-4"},
      {0x1p-24, "0x1p-24"},
      {0x1p-1074, "0x1p-1074"},
      {0x1.8p-1060, "0x1.8p-1060"},
      {0x0.fffffffffffffp-1022, "0x1.ffffffffffffep-1023"},
      {std::numeric_limits<double>::max(), "0x1.fffffffffffffp+1023"},
      {std::numeric_limits<double>::infinity(), "inf"},
      {-std::numeric_limits<double>::infinity(), "-inf"},
      {std::numeric_limits<double>::quiet_NaN(), "nan"},
  };
  for (auto [value, expected] : cases) {
    std::string text;
    llvm::raw_string_ostream out(text);
    mil::writeFloat(out, value);
    EXPECT_EQ(text, expected);
  }
}

/// Every fp16 is read back as it was printed.
TEST(MILSpelling, EveryHalfRoundTrips) {
  std::vector<uint8_t> bytes;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    bool isNaN = (bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0;
    if (isNaN)
      continue; // one spelling for all
    bytes.push_back(bits & 0xff);
    bytes.push_back(bits >> 8);
  }
  ConstantRef all =
      Constant::copy({DType::FP16, {int64_t(bytes.size() / 2)}}, bytes);
  std::string text;
  llvm::raw_string_ostream out(text);
  mil::writeValue(out, *all, mil::Scalars::Bare);
  Diagnostics diags;
  auto module = read(program("ios18", "fp16 x",
                             mil::spellType(all->type()) +
                                 " c = const()[val = " + text + "];\n",
                             "c"),
                     diags);
  ASSERT_TRUE(module) << messages(diags);
  const Op &op = module->functions[0]->body().front();
  EXPECT_TRUE(op.constant(param::val)->equals(*all));
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

TEST(MILReader, MissingWeightsAreAnErrorUnlessAsked) {
  std::string text = program(
      "ios18", "fp16 x",
      "tensor<fp16, [2]> w = const()[val = tensor<fp16, [2]>(BLOBFILE(path = "
      "string(\"@model_path/w.bin\"), offset = uint64(64)))];\n",
      "w");
  Diagnostics diags;
  EXPECT_FALSE(read(text, diags));
  EXPECT_EQ(messages(diags), "cannot open the weight file "
                             "`/no/such/folder/w.bin`: No such file or "
                             "directory [blob-cannot-open]\n");
  Diagnostics others;
  MILReadOptions options;
  options.missingWeights = MILReadOptions::MissingWeights::Warn;
  auto module = readMIL(
      others.addBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "x.mil")),
      "/no/such/folder", opTable(), others, options);
  ASSERT_TRUE(module) << messages(others);
  const Constant *w = module->functions[0]->body().front().constant(param::val);
  ASSERT_TRUE(w->origin());
  EXPECT_TRUE(w->origin()->missing);
  EXPECT_EQ(w->asDoubles(), (std::vector<double>{0, 0}));
}

TEST(MILReader, WeightsOfTheWrongTypeAreReportedInTheText) {
  TemporaryFolder folder;
  Diagnostics diags;
  std::string constant = "fp16 c = const()[val = fp16(0)];\n";
  std::string values = "[0";
  for (int index = 1; index < 10; ++index)
    values += ", " + std::to_string(index);
  auto module = read(program("ios18", "fp16 x",
                             "tensor<fp16, [10]> w = const()[val = "
                             "tensor<fp16, [10]>(" +
                                 values + "])];\n",
                             "w"),
                     diags);
  ASSERT_TRUE(module) << messages(diags);
  ASSERT_TRUE(writeMIL(*module, folder / "out.mil", {}, diags));
  auto readAs = [&](llvm::StringRef type, unsigned offset) {
    Diagnostics diags;
    std::string blob = (type +
                        "(BLOBFILE(path = string(\"@model_path/weights/"
                        "out.bin\"), offset = uint64(" +
                        llvm::Twine(offset) + ")))")
                           .str();
    bool ok =
        read(program("ios18", "fp16 x",
                     (type + " w = const()[val = " + blob + "];\n").str(), "w"),
             diags, opTable(), folder / "") != nullptr;
    EXPECT_EQ(ok, !diags.hasErrors());
    return diags.all().empty() ? "" : diags.all()[0].kind->id.str();
  };
  EXPECT_EQ(readAs("tensor<fp16, [10]>", 64), "");
  EXPECT_EQ(readAs("tensor<fp16, [2, 5]>", 64), "");
  EXPECT_EQ(readAs("tensor<fp16, [11]>", 64), "blob-size");
  EXPECT_EQ(readAs("tensor<fp32, [10]>", 64), "blob-dtype");
  EXPECT_EQ(readAs("tensor<fp16, [10]>", 128), "blob-no-record");
}

/// A kernel with a weight: unknown values have a place, known ones are written
/// in the declared element type.
TEST(MILPrinter, WeightsHaveAPlaceBeforeTheyHaveValues) {
  Module module;
  Function *function = module.addFunction(FunctionKind::Kernel, "scale");
  Value *x = function->addParameter({DType::FP16, {2}}, "x");
  Builder builder(*function);
  Value *w = builder.build(ops::Weight, {},
                           {Attr(param::name, "layer.w"),
                            Attr(param::dtype, DType::FP16),
                            Attr(param::shape, llvm::ArrayRef<int64_t>{2})},
                           "w");
  Value *y = builder.build(ops::Mul, {x, w}, {}, "y");
  function->setResults(y, llvm::StringRef("y"));

  MILPrintOptions options;
  options.only = function;
  options.weightPath = "@model_path/weights/out.bin";
  std::string text = print(module, options);
  EXPECT_NE(text.find("func main<ios18>"), std::string::npos);
  EXPECT_NE(text.find("val = tensor<fp16, [2]>(BLOBFILE(path = "
                      "string(\"@model_path/weights/out.bin\"), offset = "
                      "uint64(64)))"),
            std::string::npos);

  TemporaryFolder folder;
  Diagnostics diags;
  EXPECT_FALSE(writeMIL(module, folder / "out.mil", options, diags));
  EXPECT_EQ(messages(diags),
            "the value of `layer.w` is not known [unknown-weight]\n");
  EXPECT_EQ(folder.names(), std::vector<std::string>{});

  options.resolve = [](const Op &op) {
    EXPECT_EQ(op.get(param::name), "layer.w");
    return declaredAs(Constant::fromDoubles({DType::FP32, {2}}, {0.1, 1e9}),
                      DType::FP16);
  };
  Diagnostics warnings;
  ASSERT_TRUE(writeMIL(module, folder / "out.mil", options, warnings));
  EXPECT_EQ(messages(warnings),
            "1 of the 2 elements of `layer.w` are too large for fp16 and "
            "become infinite [half-overflow]\n");
  EXPECT_EQ(readBytes(folder / "out.mil"), text);
  auto again = read(text, warnings, opTable(), folder / "");
  ASSERT_TRUE(again) << messages(warnings);
  const Constant *value =
      again->functions[0]->body().front().constant(param::val);
  EXPECT_EQ(value->doubleAt(0), 0x1.998p-4);
  EXPECT_EQ(value->doubleAt(1), std::numeric_limits<double>::infinity());
}

TEST(MILPrinter, SharedBytesAreWrittenOnce) {
  Module module;
  Function *function = module.addFunction(FunctionKind::Kernel, "main");
  Value *x = function->addParameter({DType::FP16, {16}}, "x");
  ConstantRef ones =
      Constant::fromDoubles({DType::FP16, {16}}, std::vector<double>(16, 1));
  Builder builder(*function);
  for (int count = 0; count < 2; ++count) {
    Value *c = builder.build(ops::Const, {}, {Attr(param::val, ones)}, "c");
    x = builder.build(ops::Mul, {x, c}, {}, "y");
  }
  function->setResults(x, llvm::StringRef("y"));
  std::string text = print(module);
  EXPECT_NE(text.find(" c = const()"), std::string::npos);
  EXPECT_NE(text.find(" c_1 = const()"), std::string::npos);
  EXPECT_EQ(text.find("uint64(192)"), std::string::npos);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

TEST(MILPrinter, RefusesWhatIsNoMil) {
  Module module;
  Function *function = module.addFunction(FunctionKind::Layer, "norm");
  Value *x = function->addParameter({DType::FP16, {4, 2}}, "x");
  Value *gamma = function->addParameter({DType::FP16, {4}}, "gamma");
  Builder builder(*function);
  Value *y = builder.build(ops::RmsNorm, {x, gamma}, {}, "y");
  function->setResults(y, llvm::StringRef("y"));
  Diagnostics diags;
  std::string text;
  llvm::raw_string_ostream out(text);
  EXPECT_FALSE(printMIL(module, out, {}, diags));
  EXPECT_EQ(
      messages(diags),
      "`norm` is a layer function; only kernels can be printed as MIL "
      "[not-a-kernel]\n"
      "`rmsnorm` is not a MIL op; it has to be decomposed before it can be "
      "printed [not-mil]\n");
  EXPECT_EQ(text, "");
}

/// Results have the names of the function's interface.
TEST(MILPrinter, NamesOfResults) {
  Module module;
  Function *function = module.addFunction(FunctionKind::Kernel, "main");
  Value *x = function->addParameter({DType::FP16, {2}}, "x");
  Builder builder(*function);
  Value *y = builder.build(ops::Relu, x, {}, "inner");
  function->setResults({y, y, x, x}, {"first", "second", "copy", "x"});
  std::string text = print(module);
  size_t begin = text.find("        tensor");
  EXPECT_EQ(text.substr(begin),
            "        tensor<fp16, [2]> first = relu(x = x)[name = "
            "string(\"first\")];\n"
            "        tensor<fp16, [2]> second = identity(x = first)[name = "
            "string(\"second\")];\n"
            "        tensor<fp16, [2]> copy = identity(x = x)[name = "
            "string(\"copy\")];\n"
            "    } -> (first, second, copy, x);\n}\n");
}

//===----------------------------------------------------------------------===//
// Ops that unpack weights
//===----------------------------------------------------------------------===//

TEST(MIL, ArgumentsInAttributes) {
  std::string text = program(
      "ios17", "tensor<fp32, [4]> x",
      "        tensor<fp32, [4]> w = constexpr_affine_dequantize()[axis = "
      "int32(0), name = string(\"w\"), quantized_data = tensor<int8, [4]>([1, "
      "2, 3, 4]), scale = fp32(0x1p-1), zero_point = int8(-1)];\n"
      "        tensor<fp32, [4]> y = add(x = x, y = w)[name = "
      "string(\"y\")];\n",
      "y");
  Diagnostics diags;
  auto module = read(text, diags, opTable());
  ASSERT_TRUE(module) << messages(diags);
  EXPECT_EQ(print(*module), text);
}

TEST(MIL, AttributesThatAreNoParameters) {
  Diagnostics diags;
  EXPECT_FALSE(
      read(program("ios17", "fp16 x",
                   "tensor<fp16, [1]> w = constexpr_affine_dequantize()[axis = "
                   "int32(0), scales = fp16(1)];\n",
                   "x"),
           diags, opTable()));
  EXPECT_EQ(messages(diags), "`constexpr_affine_dequantize` has no parameter "
                             "`scales` [unknown-parameter]\n");
}

} // namespace
