//===- SuiteKernel.cpp - programs that benchmarks run ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Bench/SuiteKernel.h"
#include "lib/IR/Builder.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Cast.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Constexpr.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Matmul.h"
#include "lib/Ops/Rows/Quantization.h"
#include "lib/Ops/Rows/Shape.h"
#include "lib/Ops/Rows/Slice.h"
#include "lib/Support/Half.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>
#include <cstring>

using namespace anec;

llvm::StringRef anec::describe(KernelForm form) {
  switch (form) {
  case KernelForm::Conv:
    return "conv";
  case KernelForm::ConvFp32:
    return "conv, fp32 I/O";
  case KernelForm::OneWeight:
    return "same, one weight";
  case KernelForm::Int8Weights:
    return "int8 weights";
  case KernelForm::Int8:
    return "W8A8";
  case KernelForm::Matmul:
    return "matmul";
  case KernelForm::PackedMatmul:
    return "matmul, packed";
  }
  llvm_unreachable("all forms handled");
}

static bool hasInt8Weights(KernelForm form) {
  return form == KernelForm::Int8Weights || form == KernelForm::Int8;
}

uint64_t SuiteKernel::weightBytes() const {
  uint64_t elements = uint64_t(inputs * outputs);
  if (hasInt8Weights(form))
    return elements * depth;
  return elements * 2 * (form == KernelForm::OneWeight ? 1 : depth);
}

SuiteKernel SuiteKernel::narrowed(int64_t positions) const {
  SuiteKernel narrow = *this;
  narrow.height = 1;
  narrow.width = positions;
  return narrow;
}

double anec::activationStep() { return 0x1p-5; }

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

namespace {
/// The elements of a weight, [outputs, inputs]: those of the cosine transform
/// of the longer extent, each row and column with a sign of its own.
class Matrix {
public:
  Matrix(const SuiteKernel &kernel, unsigned layer);

  double at(int64_t row, int64_t column) const {
    double value = cosines[(2 * column + 1) * row % int64_t(cosines.size())];
    if (row == 0)
      value *= std::sqrt(0.5);
    return signOf(row, rowSalt) * signOf(column, columnSalt) * value;
  }
  double largest() const { return peak; }

private:
  static uint64_t mixed(uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
  }
  static double signOf(int64_t index, uint64_t salt) {
    return mixed(uint64_t(index) + salt) & 1 ? -1 : 1;
  }

  uint64_t rowSalt, columnSalt;
  double peak;
  std::vector<double> cosines; ///< of a full period
};
} // namespace

Matrix::Matrix(const SuiteKernel &kernel, unsigned layer) {
  constexpr uint64_t odd = 0x9e3779b97f4a7c15;
  rowSalt = mixed((kernel.seed * 2) * odd + layer);
  columnSalt = mixed((kernel.seed * 2 + 1) * odd + layer);
  int64_t extent = std::max(kernel.inputs, kernel.outputs);
  peak = std::sqrt(2.0 / double(extent));
  cosines.resize(size_t(4 * extent));
  for (size_t i = 0; i < cosines.size(); ++i)
    cosines[i] = peak * std::cos(2 * M_PI * double(i) / double(cosines.size()));
}

static ConstantRef halvesOf(const Matrix &matrix, const SuiteKernel &kernel,
                            llvm::ArrayRef<int64_t> shape) {
  std::vector<float> row(size_t(kernel.inputs));
  std::vector<uint16_t> halves(size_t(kernel.outputs * kernel.inputs));
  for (int64_t i = 0; i < kernel.outputs; ++i) {
    for (int64_t j = 0; j < kernel.inputs; ++j)
      row[size_t(j)] = float(matrix.at(i, j));
    floatsToHalves(row.data(), halves.data() + i * kernel.inputs, row.size());
  }
  return Constant::copy(
      TensorType(DType::FP16, shape),
      {reinterpret_cast<const uint8_t *>(halves.data()), halves.size() * 2});
}

/// The largest power of two that lets every element be a multiple of it in
/// int8.
static double scaleFor(const Matrix &matrix) {
  return std::exp2(std::ceil(std::log2(matrix.largest() / 127)));
}

static ConstantRef bytesOf(const Matrix &matrix, const SuiteKernel &kernel,
                           llvm::ArrayRef<int64_t> shape) {
  double scale = scaleFor(matrix);
  std::vector<uint8_t> bytes;
  bytes.reserve(size_t(kernel.outputs * kernel.inputs));
  for (int64_t i = 0; i < kernel.outputs; ++i)
    for (int64_t j = 0; j < kernel.inputs; ++j)
      bytes.push_back(uint8_t(int8_t(std::lround(matrix.at(i, j) / scale))));
  return Constant::copy(TensorType(DType::Int8, shape), bytes);
}

ConstantRef anec::packedWeight(const SuiteKernel &kernel) {
  return halvesOf(Matrix(kernel, 0), kernel, {kernel.outputs, kernel.inputs});
}

PackedLayout anec::inputLayout(const SuiteKernel &kernel) {
  llvm::SmallVector<TensorType, 2> parts = {
      TensorType(DType::FP16, {kernel.inputs * kernel.height, kernel.width})};
  if (kernel.form == KernelForm::PackedMatmul)
    parts.push_back(TensorType(DType::FP16, {kernel.outputs, kernel.inputs}));
  return packTensors(parts);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {
class KernelBuilder {
public:
  KernelBuilder(const SuiteKernel &kernel, Function &function)
      : kernel(kernel), function(function), builder(function) {}
  void build();

private:
  Value *constant(ConstantRef value, const llvm::Twine &name) {
    return builder.build(ops::Const, {}, {{param::val, std::move(value)}},
                         name.str());
  }
  Value *cast(Value *value, DType dtype, llvm::StringRef name) {
    return builder.build(ops::Cast, {value}, {{param::dtype, dtype}}, name);
  }
  Value *weight(unsigned layer);
  Value *unpacked(const Matrix &matrix, llvm::ArrayRef<int64_t> shape,
                  const std::string &name);
  Value *throughInt8(Value *value, unsigned layer);
  Value *part(Value *input, const Region &region, const std::string &name);
  void buildConvolutions();
  void buildMatmul();

  const SuiteKernel &kernel;
  Function &function;
  Builder builder;
};
} // namespace

Value *KernelBuilder::unpacked(const Matrix &matrix,
                               llvm::ArrayRef<int64_t> shape,
                               const std::string &name) {
  Value *data = constant(bytesOf(matrix, kernel, shape), name + "_data");
  Value *zero = constant(Constant::scalar(DType::Int8, 0), name + "_zero");
  Value *scale = constant(Constant::scalar(DType::FP16, scaleFor(matrix)),
                          name + "_scale");
  return builder.build(ops::ConstexprAffineDequantize, {data, zero, scale},
                       {{param::axis, 0}}, name);
}

Value *KernelBuilder::weight(unsigned layer) {
  Matrix matrix(kernel, layer);
  int64_t shape[] = {kernel.outputs, kernel.inputs, 1, 1};
  std::string name = "w" + std::to_string(layer);
  if (hasInt8Weights(kernel.form))
    return unpacked(matrix, shape, name);
  return constant(halvesOf(matrix, kernel, shape), name);
}

Value *KernelBuilder::throughInt8(Value *value, unsigned layer) {
  std::string number = std::to_string(layer);
  Value *step = constant(Constant::scalar(DType::FP16, activationStep()),
                         "step" + number);
  Value *rounded =
      builder.build(ops::Quantize, {value, step},
                    {{param::outputDtype, DType::Int8}}, "q" + number);
  return builder.build(ops::Dequantize, {rounded, step}, {}, "d" + number);
}

void KernelBuilder::buildConvolutions() {
  bool isWide = kernel.form == KernelForm::ConvFp32 ||
                kernel.form == KernelForm::OneWeight;
  Value *value = function.addParameter(
      TensorType(isWide ? DType::FP32 : DType::FP16,
                 {1, kernel.inputs, kernel.height, kernel.width}),
      "x");
  if (isWide)
    value = cast(value, DType::FP16, "x16");
  Value *filter = nullptr;
  for (unsigned layer = 0; layer < kernel.depth; ++layer) {
    if (!filter || kernel.form != KernelForm::OneWeight)
      filter = weight(layer);
    if (layer && kernel.form == KernelForm::Int8)
      value = throughInt8(value, layer - 1);
    value = builder.build(ops::Conv, {value, filter}, {},
                          "c" + std::to_string(layer));
  }
  if (isWide)
    value = cast(value, DType::FP32, "y32");
  function.setResults({value}, {"y"});
}

/// A part of a packed input, as a matrix.
Value *KernelBuilder::part(Value *input, const Region &region,
                           const std::string &name) {
  int64_t begin[] = {0, region.channel, 0, region.column};
  int64_t size[] = {1, region.channels, 1, region.columns};
  int64_t matrix[] = {1, 1, region.channels, region.columns};
  Value *slice = builder.build(ops::SliceBySize, {input},
                               {{param::begin, llvm::ArrayRef(begin)},
                                {param::size, llvm::ArrayRef(size)}},
                               name + "_part");
  return builder.build(ops::Reshape, {slice},
                       {{param::shape, llvm::ArrayRef(matrix)}}, name);
}

void KernelBuilder::buildMatmul() {
  assert(kernel.depth == 1 && kernel.height == 1 && "one matmul, of matrices");
  PackedLayout layout = inputLayout(kernel);
  Value *x = nullptr, *filter = nullptr;
  if (kernel.form == KernelForm::PackedMatmul) {
    Value *input = function.addParameter(
        TensorType(DType::FP16, {1, layout.channels, 1, layout.columns}),
        "input");
    x = part(input, layout.parts[0], "x");
    filter = part(input, layout.parts[1], "w0");
  } else {
    x = function.addParameter(
        TensorType(DType::FP16, {1, 1, layout.channels, layout.columns}), "x");
    int64_t shape[] = {1, 1, kernel.outputs, kernel.inputs};
    filter = constant(packedWeight(kernel)->reshaped(shape), "w0");
  }
  function.setResults({builder.build(ops::Matmul, {filter, x}, {}, "c0")},
                      {"y"});
}

void KernelBuilder::build() {
  bool isMatmul = kernel.form == KernelForm::Matmul ||
                  kernel.form == KernelForm::PackedMatmul;
  if (isMatmul)
    buildMatmul();
  else
    buildConvolutions();
}

std::unique_ptr<Module> anec::buildKernel(const SuiteKernel &kernel,
                                          llvm::StringRef milVersion) {
  assert((kernel.depth == 1 || kernel.inputs == kernel.outputs) &&
         "a chain is of square matrices");
  auto module = std::make_unique<Module>();
  module->version = milVersion.str();
  Function *function = module->addFunction(FunctionKind::Kernel, "main");
  if (milVersion == "1.0")
    function->opset = "ios16";
  KernelBuilder(kernel, *function).build();
  return module;
}
