//===- StoredWeight.cpp - constants that stay as stored -------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "StoredWeight.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Convolution.h"
#include "lib/Ops/Params/Indices.h"
#include "lib/Ops/Rows/Constants.h"
#include "lib/Ops/Rows/Constexpr.h"
#include "lib/Ops/Rows/ConstexprLookup.h"
#include "lib/Ops/Rows/Conv.h"
#include "lib/Ops/Rows/Gather.h"
#include "lib/Ops/Rows/Matmul.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace anec;
using namespace anec::cpu;

namespace {

/// A form, and the bits of an element.
struct FormRow {
  DType dtype;
  StoredForm form;
  unsigned bits;
};

/// Reads the constant that a value is, or is unpacked from.
class WeightReader {
public:
  WeightReader(const Schedule &schedule, size_t rows, size_t columns,
               bool transposed)
      : schedule(schedule), transposed(transposed),
        first(transposed ? columns : rows) {
    weight->matrix.rows = rows;
    weight->matrix.columns = columns;
  }

  std::shared_ptr<StoredWeight> read(const Value *value);

private:
  const Constant *constant(const Value *value) const;
  bool readMaker(const Op &maker);
  bool readBlockwise(const Op &maker);
  bool readAffine(const Op &maker);
  bool readLookup(const Op &maker);
  bool setData(const Constant *data, llvm::ArrayRef<FormRow> forms);
  bool setBlocks(llvm::ArrayRef<int64_t> dense, llvm::ArrayRef<int64_t> blocks);
  std::vector<float> perBlock(llvm::ArrayRef<double> values, size_t each) const;
  BlockNumbers inPlace(const Constant &numbers) const;
  void turn();

  const Schedule &schedule;
  bool transposed;
  size_t first; ///< the first extent as stored
  /// The number of blocks along the stored axes.
  size_t firstBlocks = 1, secondBlocks = 1;
  unsigned bits = 0;
  std::shared_ptr<StoredWeight> weight = std::make_shared<StoredWeight>();
};

} // namespace

static constexpr FormRow floatForms[] = {
    {DType::FP32, StoredForm::Float32, 32},
    {DType::FP16, StoredForm::Float16, 16},
    {DType::BF16, StoredForm::BFloat16, 16}};
static constexpr FormRow integerForms[] = {
    {DType::Int8, StoredForm::Int8, 8},
    {DType::UInt8, StoredForm::UInt8, 8},
    {DType::Int4, StoredForm::Index4, 4},
    {DType::UInt4, StoredForm::Index4, 4}};
static constexpr FormRow indexForms[] = {{DType::UInt1, StoredForm::Index1, 1},
                                         {DType::UInt2, StoredForm::Index2, 2},
                                         {DType::UInt3, StoredForm::Index3, 3},
                                         {DType::UInt4, StoredForm::Index4, 4},
                                         {DType::UInt6, StoredForm::Index6, 6},
                                         {DType::UInt8, StoredForm::Index8, 8}};

/// Entries of a table, whose registers hold 16.
static size_t paddedEntries(size_t entries) {
  return std::max<size_t>(entries, 16);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// The constant under a value that may be renamed; null for another value.
const Constant *WeightReader::constant(const Value *value) const {
  const Op *maker = schedule.root(value)->definingOp();
  return maker && maker->is(ops::Const) ? maker->constant(param::val) : nullptr;
}

bool WeightReader::setData(const Constant *data,
                           llvm::ArrayRef<FormRow> forms) {
  // What is stored wider than it is declared is rounded when it is read.
  if (!data || data->storedDType() != data->dtype())
    return false;
  const FormRow *row = llvm::find_if(
      forms, [&](const FormRow &each) { return each.dtype == data->dtype(); });
  if (row == forms.end())
    return false;
  weight->matrix.form = row->form;
  weight->data = data;
  weight->matrix.data = data->bytes().data();
  bits = row->bits;
  return true;
}

/// Whether `blocks` divide the axes of `dense` that make up an axis of the
/// matrix into runs of one length, and into how many.
static std::optional<size_t> runs(llvm::ArrayRef<int64_t> dense,
                                  llvm::ArrayRef<int64_t> blocks) {
  size_t count = 1;
  bool divided = false;
  for (auto [extent, number] : llvm::zip_equal(dense, blocks)) {
    if (divided && number != 1)
      return std::nullopt;
    divided |= number != extent;
    count *= size_t(number);
  }
  return count;
}

/// `blocks` is the number of blocks along each axis of `dense`.
bool WeightReader::setBlocks(llvm::ArrayRef<int64_t> dense,
                             llvm::ArrayRef<int64_t> blocks) {
  size_t leading = 0, product = 1;
  while (leading < dense.size() && product != first)
    product *= size_t(dense[leading++]);
  if (product != first)
    return false;
  // Axes of one element can be on either side.
  while (leading < dense.size() && dense[leading] == 1 && first != 1)
    ++leading;
  std::optional<size_t> rows =
      runs(dense.take_front(leading), blocks.take_front(leading));
  std::optional<size_t> columns =
      runs(dense.drop_front(leading), blocks.drop_front(leading));
  if (!rows || !columns)
    return false;
  firstBlocks = *rows;
  secondBlocks = *columns;
  return true;
}

/// Values of blocks, `each` of a block, in the order of the matrix.
std::vector<float> WeightReader::perBlock(llvm::ArrayRef<double> values,
                                          size_t each) const {
  std::vector<float> result;
  size_t rows = transposed ? secondBlocks : firstBlocks;
  size_t columns = transposed ? firstBlocks : secondBlocks;
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column) {
      size_t stored = transposed ? column * secondBlocks + row
                                 : row * secondBlocks + column;
      size_t length = each == 1 ? 1 : paddedEntries(each);
      for (size_t i = 0; i < length; ++i)
        result.push_back(i < each ? float(values[stored * each + i]) : 0.0f);
    }
  return result;
}

/// The numbers of blocks where they are stored, if they have the order of the
/// matrix and a type that kernels read.
BlockNumbers WeightReader::inPlace(const Constant &numbers) const {
  bool isHalf = numbers.storedDType() == DType::FP16;
  if (transposed || numbers.storedDType() != numbers.dtype() ||
      (!isHalf && numbers.dtype() != DType::FP32))
    return {};
  return {numbers.bytes().data(), isHalf};
}

// scale * (data - offset)
bool WeightReader::readBlockwise(const Op &maker) {
  const Constant *data = constant(maker.operand(0u));
  const Constant *scale = constant(maker.operand(1u));
  const Value *offset = maker.operand(2u);
  if (!setData(data, integerForms) || !scale || (offset && !constant(offset)))
    return false;
  if (!setBlocks(maker.operand(0u)->type.shape, maker.operand(1u)->type.shape))
    return false;
  weight->matrix.scales = inPlace(*scale);
  if (weight->matrix.scales.data)
    weight->scaleData = scale;
  else
    weight->scales = perBlock(scale->asDoubles(), 1);
  if (offset)
    weight->offsets = perBlock(constant(offset)->asDoubles(), 1);
  return true;
}

// scale * (data - zero_point), both with one element or with those of an axis
bool WeightReader::readAffine(const Op &maker) {
  const Constant *data = constant(maker.operand(0u));
  const Value *zero = maker.operand(1u);
  const Constant *scale = constant(maker.operand(2u));
  if (!setData(data, integerForms) || !scale || (zero && !constant(zero)))
    return false;
  llvm::ArrayRef<int64_t> shape = maker.operand(0u)->type.shape;
  std::vector<double> scales = scale->asDoubles();
  std::vector<double> zeros =
      zero ? constant(zero)->asDoubles() : std::vector<double>{0.0};
  size_t count = std::max(scales.size(), zeros.size());
  Shape blocks(shape.size(), 1);
  int64_t axis = maker.get(param::axis);
  if (count > 1)
    blocks[size_t(axis < 0 ? axis + int64_t(shape.size()) : axis)] =
        int64_t(count);
  scales.resize(count, scales.front());
  zeros.resize(count, zeros.front());
  if (!setBlocks(shape, blocks))
    return false;
  weight->scales = perBlock(scales, 1);
  if (llvm::any_of(zeros, [](double each) { return each != 0; }))
    weight->offsets = perBlock(zeros, 1);
  return true;
}

// A table [entries] for all packed numbers, or [blocks.., entries, 1].
bool WeightReader::readLookup(const Op &maker) {
  const Constant *indices = constant(maker.operand(0u));
  const Constant *table = constant(maker.operand(1u));
  if (!table || !isFloat(table->dtype()) || !setData(indices, indexForms))
    return false;
  llvm::ArrayRef<int64_t> extents = maker.operand(1u)->type.shape;
  size_t entries = size_t(extents.back());
  if (maker.constant(param::shape)) {
    const FormRow *row = llvm::find_if(indexForms, [&](const FormRow &each) {
      return size_t(1) << each.bits == entries;
    });
    weight->matrix.form = row->form;
    bits = row->bits;
  } else {
    entries = size_t(extents[extents.size() - 2]);
    if (extents.back() != 1 ||
        !setBlocks(maker.operand(0u)->type.shape, extents.drop_back(2)))
      return false;
  }
  weight->tables = perBlock(table->asDoubles(), entries);
  weight->matrix.tableSize = paddedEntries(entries);
  return true;
}

bool WeightReader::readMaker(const Op &maker) {
  if (maker.is(ops::Const))
    return setData(maker.constant(param::val), floatForms);
  if (maker.is(ops::ConstexprCast))
    return setData(constant(maker.operand(0u)), floatForms);
  if (maker.is(ops::ConstexprBlockwiseShiftScale))
    return readBlockwise(maker);
  if (maker.is(ops::ConstexprAffineDequantize))
    return readAffine(maker);
  return maker.is(ops::ConstexprLutToDense) && readLookup(maker);
}

/// Copies the elements with their axes exchanged.
void WeightReader::turn() {
  StoredMatrix &matrix = weight->matrix;
  weight->turned.assign(matrix.rows * matrix.rowBytes, 0);
  const uint8_t *from = matrix.data;
  uint8_t *to = weight->turned.data();
  matrix.data = to;
  // A few rows at a time, which write whole cache lines.
  constexpr size_t tile = 64;
  size_t bytes = bits / 8;
  for (size_t left = 0; left < matrix.columns; left += tile)
    for (size_t row = 0; row < matrix.rows; ++row)
      for (size_t column = left; column < std::min(matrix.columns, left + tile);
           ++column) {
        size_t source = column * matrix.rows + row;
        if (bytes != 0) {
          std::memcpy(to + row * matrix.rowBytes + column * bytes,
                      from + source * bytes, bytes);
          continue;
        }
        uint8_t *out = to + row * matrix.rowBytes;
        for (size_t bit = 0; bit < bits; ++bit) {
          size_t in = source * bits + bit, at = column * bits + bit;
          out[at / 8] |= uint8_t((from[in / 8] >> in % 8 & 1) << at % 8);
        }
      }
}

std::shared_ptr<StoredWeight> WeightReader::read(const Value *value) {
  StoredMatrix &matrix = weight->matrix;
  const Op *maker = schedule.root(value)->definingOp();
  if (matrix.rows == 0 || matrix.columns == 0 || !readMaker(*maker))
    return nullptr;
  bool isWhole = (bits * matrix.columns) % 8 == 0;
  if (!isWhole)
    return nullptr;
  matrix.rowBytes = matrix.columns * bits / 8;
  size_t rowBlocks = transposed ? secondBlocks : firstBlocks;
  size_t columnBlocks = transposed ? firstBlocks : secondBlocks;
  matrix.blockRows = matrix.rows / rowBlocks;
  matrix.blockColumns = matrix.columns / columnBlocks;
  // An integer of four bits is an index into the table of their values.
  if (bits == 4 && weight->tables.empty()) {
    bool isSigned = weight->data->dtype() == DType::Int4;
    matrix.fourBits = isSigned ? FourBits::Signed : FourBits::Unsigned;
    for (int i = 0; i < 16; ++i)
      weight->tables.push_back(float(isSigned && i > 7 ? i - 16 : i));
  }
  auto pointer = [](const std::vector<float> &values) {
    return values.empty() ? nullptr : values.data();
  };
  auto numbers = [&](const std::vector<float> &values) {
    return BlockNumbers{reinterpret_cast<const uint8_t *>(pointer(values))};
  };
  if (!matrix.scales.data)
    matrix.scales = numbers(weight->scales);
  matrix.offsets = numbers(weight->offsets);
  matrix.tables = pointer(weight->tables);
  if (transposed)
    turn();
  return weight;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static size_t elements(llvm::ArrayRef<int64_t> shape) {
  return size_t(TensorType(DType::FP32, shape).numElements());
}

static bool isPointwise(const Op &conv) {
  llvm::ArrayRef<int64_t> x = conv.operand(param::x)->type.shape;
  llvm::ArrayRef<int64_t> weight = conv.operand(param::weight)->type.shape;
  if (conv.get(param::groups) != 1)
    return false;
  for (unsigned axis = 0; axis + 2 < x.size(); ++axis) {
    ConvAxis each = convAxis(conv, axis, x[axis + 2], weight[axis + 2]);
    if (each.kernel != 1 || each.stride != 1 || each.before || each.after)
      return false;
  }
  return true;
}

namespace {
/// A weight among the operands of an op.
struct StoredPlace {
  unsigned slot;
  size_t rows, columns;
  bool transposed;
  /// Of what it is multiplied with; 0 for a gather.
  size_t factorColumns;
};
} // namespace

static std::optional<StoredPlace> placeInMatmul(const Op &op,
                                                const Schedule &schedule) {
  const TensorType &x = op.operand(0u)->type, &y = op.operand(1u)->type;
  if (x.rank() < 2 || y.rank() < 2 || !isFloat(x.dtype) || !isFloat(y.dtype))
    return std::nullopt;
  bool transX = op.get(param::transposeX), transY = op.get(param::transposeY);
  auto isMatrix = [](const TensorType &type) {
    return elements(llvm::ArrayRef(type.shape).drop_back(2)) == 1;
  };
  size_t rank = x.rank();
  if (schedule.isConstant(op.operand(1u)) && isMatrix(y) && !transX) {
    size_t k = size_t(x.shape.back());
    return StoredPlace{1, y.numElements() / std::max<size_t>(k, 1), k, !transY,
                       x.numElements() / std::max<size_t>(k, 1)};
  }
  if (schedule.isConstant(op.operand(0u)) && isMatrix(x)) {
    size_t k = size_t(x.shape[transX ? rank - 2 : rank - 1]);
    size_t n = size_t(y.shape[transY ? y.rank() - 2 : y.rank() - 1]);
    return StoredPlace{0, x.numElements() / std::max<size_t>(k, 1), k, transX,
                       n};
  }
  return std::nullopt;
}

static std::optional<StoredPlace> placeOf(const Op &op,
                                          const Schedule &schedule) {
  if (op.is(ops::Matmul))
    return placeInMatmul(op, schedule);
  auto slotOf = [&](const ValueParam &param) {
    return unsigned(op.def().valueSlot(param));
  };
  if (op.is(ops::Conv) && isPointwise(op)) {
    llvm::ArrayRef<int64_t> x = op.operand(param::x)->type.shape;
    llvm::ArrayRef<int64_t> weight = op.operand(param::weight)->type.shape;
    return StoredPlace{slotOf(param::weight), size_t(weight[0]),
                       size_t(weight[1]), false, elements(x.drop_front(2))};
  }
  if (op.is(ops::Linear)) {
    llvm::ArrayRef<int64_t> weight = op.operand(param::weight)->type.shape;
    size_t k = size_t(weight[1]);
    return StoredPlace{slotOf(param::weight), size_t(weight[0]), k, false,
                       op.operand(param::x)->type.numElements() /
                           std::max<size_t>(k, 1)};
  }
  if (op.is(ops::Gather) && isFloat(op.result()->type.dtype)) {
    llvm::ArrayRef<int64_t> x = op.operand(param::x)->type.shape;
    int64_t axis = op.get(param::axis);
    if (x.empty() || op.get(param::batchDims) != 0 ||
        (axis != 0 && axis != -int64_t(x.size())))
      return std::nullopt;
    return StoredPlace{slotOf(param::x), size_t(x[0]), elements(x.drop_front()),
                       false, 0};
  }
  return std::nullopt;
}

std::shared_ptr<const StoredWeight>
cpu::storedWeightOf(const Op &op, const Schedule &schedule) {
  std::optional<StoredPlace> place = placeOf(op, schedule);
  if (!place || op.result()->type.numElements() == 0)
    return nullptr;
  const Value *value = op.operand(place->slot);
  if (!schedule.isConstant(value) || !isFloat(value->type.dtype))
    return nullptr;
  WeightReader reader(schedule, place->rows, place->columns, place->transposed);
  // fp32 elements are in the form that kernels for many columns take.
  const Op *maker = schedule.root(value)->definingOp();
  if (place->factorColumns > fewColumns && maker->is(ops::Const) &&
      maker->constant(param::val)->storedDType() == DType::FP32)
    return nullptr;
  std::shared_ptr<StoredWeight> weight = reader.read(value);
  if (weight)
    weight->slot = place->slot;
  return weight;
}
