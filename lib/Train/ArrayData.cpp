//===- ArrayData.cpp - arrays as training data ----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Arrays by the names of a step's inputs. The first axis of an array counts
/// examples, which a run puts next to each other along the first or the last
/// axis of the input; or it counts runs, and an element of it is the whole
/// input. Files are mapped, and elements are converted when they are read.
///
//===----------------------------------------------------------------------===//

#include "DataFiles.h"
#include "TrainingData.h"
#include "lib/Arrays/Diags.h"
#include "lib/Arrays/Npy.h"
#include "lib/MIL/Diags.h"
#include "lib/Runtime/Diags.h"
#include "lib/Support/Digest.h"
#include "lib/Support/Half.h"
#include "lib/Support/Suggestion.h"
#include "lib/Train/Diags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace anec;

namespace {

/// How the examples of a run lie in an input.
enum class Placement : uint8_t {
  Run,   ///< the example is the whole input
  First, ///< along the first axis
  Last,  ///< along the last axis
};

/// An array of a file.
struct Piece {
  std::string path;
  ConstantRef array;
  uint64_t begin = 0; ///< number of its first example
};

/// All arrays for one input.
struct Column {
  const StepInput *input;
  Placement placement = Placement::Run;
  Shape example; ///< the shape of an example
  std::vector<Piece> pieces;
  uint64_t count = 0;

  uint64_t perRun() const {
    const Shape &shape = input->type.shape;
    switch (placement) {
    case Placement::Run:
      return 1;
    case Placement::First:
      return uint64_t(shape.front());
    case Placement::Last:
      return uint64_t(shape.back());
    }
    llvm_unreachable("no such placement");
  }
  void read(uint64_t index, uint64_t place,
            llvm::MutableArrayRef<uint8_t> buffer) const;
};

class ArrayData : public TrainingData {
public:
  explicit ArrayData(std::vector<Column> columns)
      : columns(std::move(columns)) {}

  uint64_t count() const override { return columns.front().count; }
  uint64_t perRun() const override { return columns.front().perRun(); }
  void
  read(llvm::ArrayRef<uint64_t> examples,
       llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> buffers) const override {
    for (auto [column, buffer] : llvm::zip_equal(columns, buffers))
      for (auto [place, example] : llvm::enumerate(examples))
        column.read(example, place, buffer);
  }
  void reportTooFew(bool validates, Diagnostics &diags) const override {
    diags.report({}, diag::TooFewExamples, count(),
                 (validates ? 2 : 1) * perRun(), perRun());
  }
  DataUnit unit() const override { return DataUnit::Examples; }
  uint64_t size() const override { return count(); }
  uint64_t unitsPerRun() const override { return perRun(); }
  std::string fingerprint() const override;
  UsedTokenizer tokenizer() const override { return {"none", "", ""}; }
  std::string describe(const DataOrder &order) const override {
    return std::to_string(order.trainingCount()) + " to train on, " +
           std::to_string(order.validationCount()) + " to validate, " +
           std::to_string(perRun()) + " in a run";
  }

private:
  std::vector<Column> columns; ///< in the order of the step's inputs
};

} // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The elements of `array` as `dtype`, in its own bytes or in `buffer`.
static llvm::ArrayRef<uint8_t>
elementsAs(const Constant &array, DType dtype,
           llvm::SmallVectorImpl<uint8_t> &buffer) {
  if (array.storedDType() == dtype)
    return array.bytes();
  size_t count = size_t(array.numElements());
  buffer.resize(TensorType(dtype, array.type().shape).numBytes());
  if (array.storedDType() == DType::FP32 && dtype == DType::FP16) {
    floatsToHalves(reinterpret_cast<const float *>(array.bytes().data()),
                   reinterpret_cast<uint16_t *>(buffer.data()), count);
  } else if (dtype == DType::FP32 && isFloat(array.dtype())) {
    array.copyToFloats(reinterpret_cast<float *>(buffer.data()));
  } else {
    ConstantRef converted = Constant::fromDoubles(
        TensorType(dtype, array.type().shape), array.asDoubles());
    std::memcpy(buffer.data(), converted->bytes().data(), buffer.size());
  }
  return buffer;
}

/// Writes example `index` to `place` of the run.
void Column::read(uint64_t index, uint64_t place,
                  llvm::MutableArrayRef<uint8_t> buffer) const {
  auto piece =
      llvm::upper_bound(pieces, index, [](uint64_t wanted, const Piece &other) {
        return wanted < other.begin;
      });
  --piece;
  llvm::SmallVector<uint8_t, 0> converted;
  ConstantRef row = piece->array->part(
      int64_t(index - piece->begin) * *checkedNumElements(example), example);
  llvm::ArrayRef<uint8_t> elements =
      elementsAs(*row, input->type.dtype, converted);
  if (placement != Placement::Last) {
    std::memcpy(buffer.data() + place * elements.size(), elements.data(),
                elements.size());
    return;
  }
  size_t width = byteSize(input->type.dtype, 1), stride = perRun() * width;
  for (size_t from = 0, to = place * width; from < elements.size();
       from += width, to += stride)
    std::memcpy(buffer.data() + to, elements.data() + from, width);
}

std::string ArrayData::fingerprint() const {
  constexpr size_t shown = 65536;
  std::vector<llvm::ArrayRef<uint8_t>> parts;
  std::string names;
  for (const Column &column : columns)
    for (const Piece &piece : column.pieces) {
      names += column.input->name + " " + piece.array->type().str() + "\n";
      parts.push_back(piece.array->bytes().take_front(shown));
      parts.push_back(piece.array->bytes().take_back(shown));
    }
  parts.push_back(llvm::arrayRefFromStringRef(names));
  return sha256(parts);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

namespace {
class Opener {
public:
  Opener(const TrainingStep &step, Diagnostics &diags)
      : inputs(step.inputs()), diags(diags) {
    for (const StepInput &input : inputs)
      columns.push_back({&input});
  }

  bool addInput(llvm::StringRef argument);
  bool addFile(const DataFile &file);
  std::unique_ptr<TrainingData> finish();

private:
  bool add(llvm::StringRef name, llvm::StringRef path, ConstantRef array);
  bool addPiece(Column &column, llvm::StringRef path, ConstantRef array);
  bool checkType(const Column &column, const Piece &piece);
  bool checkBound(const Column &column, const Piece &piece);
  void checkRange(const Column &column, const Piece &piece);
  bool checkCounts();

  llvm::ArrayRef<StepInput> inputs;
  Diagnostics &diags;
  std::vector<Column> columns;
};
} // namespace

static std::string namesOfInputs(llvm::ArrayRef<StepInput> inputs) {
  std::vector<std::string> names;
  for (const StepInput &input : inputs)
    names.push_back("`" + input.name + "`");
  return llvm::join(names, ", ");
}

/// `NAME=FILE`: a .npy file, or the array of that name in a .safetensors file.
bool Opener::addInput(llvm::StringRef argument) {
  llvm::StringRef name = argument.split('=').first;
  llvm::StringRef path = argument.split('=').second;
  if (llvm::none_of(
          inputs, [&](const StepInput &input) { return input.name == name; })) {
    Suggestion suggestion(name);
    for (const StepInput &input : inputs)
      suggestion.consider(input.name);
    suggestion.note(diags.report({}, diag::NoSuchInput, "input", name,
                                 namesOfInputs(inputs)),
                    {});
    return false;
  }
  if (llvm::sys::path::extension(path) != ".safetensors") {
    ConstantRef array = readNpy(path, diags);
    return array && add(name, path, std::move(array));
  }
  std::optional<ArraySource> source = ArraySource::open(path, diags);
  if (!source)
    return false;
  ConstantRef array = source->lookup(name);
  if (array)
    return add(name, path, std::move(array));
  diags.reportFile(path, diag::NoSuchArray, path, name);
  return false;
}

/// Adds the arrays of a file that are called as inputs are.
bool Opener::addFile(const DataFile &file) {
  if (!file.hasArrays()) {
    if (file.isNamed)
      diags.reportFile(file.path, diag::NotArrays);
    return !file.isNamed;
  }
  if (llvm::sys::path::extension(file.path) == ".npy") {
    ConstantRef array = readNpy(file.path, diags);
    return array &&
           add(llvm::sys::path::stem(file.path), file.path, std::move(array));
  }
  std::optional<ArraySource> source = ArraySource::open(file.path, diags);
  if (!source)
    return false;
  for (llvm::StringRef name : source->names())
    if (!add(name, file.path, source->lookup(name)))
      return false;
  return true;
}

bool Opener::add(llvm::StringRef name, llvm::StringRef path,
                 ConstantRef array) {
  for (Column &column : columns)
    if (column.input->name == name)
      return addPiece(column, path, std::move(array));
  return true;
}

/// The shape of an array of examples: `[n, 28, 28]`.
static std::string shapeOfMany(llvm::ArrayRef<int64_t> example) {
  std::string text = "`[n";
  for (int64_t extent : example)
    text += ", " + std::to_string(extent);
  return text + "]`";
}

bool Opener::addPiece(Column &column, llvm::StringRef path, ConstantRef array) {
  const TensorType &type = column.input->type;
  llvm::ArrayRef<int64_t> whole = type.shape, shape = array->type().shape;
  struct Choice {
    Placement placement;
    llvm::ArrayRef<int64_t> example;
  };
  llvm::SmallVector<Choice, 3> choices, fitting;
  if (!whole.empty())
    choices.push_back({Placement::First, whole.drop_front()});
  if (whole.size() > 1)
    choices.push_back({Placement::Last, whole.drop_back()});
  choices.push_back({Placement::Run, whole});
  llvm::copy_if(choices, std::back_inserter(fitting), [&](const Choice &c) {
    return !shape.empty() && shape.drop_front() == c.example;
  });
  if (fitting.empty()) {
    std::vector<std::string> wanted;
    for (const Choice &choice : choices)
      if (!llvm::is_contained(wanted, shapeOfMany(choice.example)))
        wanted.push_back(shapeOfMany(choice.example));
    diags.reportFile(path, diag::ExampleShape, column.input->name, type.str(),
                     array->type().str(), llvm::join(wanted, " or "));
    return false;
  }
  // Both axes have as many elements.
  if (fitting.size() > 1 && whole.front() > 1) {
    diags.reportFile(path, diag::ExampleAxis, column.input->name, type.str(),
                     shapeOfMany(whole));
    return false;
  }
  if (!column.pieces.empty() && column.placement != fitting[0].placement) {
    diags.reportFile(path, diag::ExamplePieces, column.input->name,
                     column.pieces.front().array->type().str(),
                     column.pieces.front().path, array->type().str());
    return false;
  }
  column.placement = fitting[0].placement;
  column.example.assign(fitting[0].example.begin(), fitting[0].example.end());
  Piece piece{path.str(), std::move(array), column.count};
  if (!checkType(column, piece) || !checkBound(column, piece))
    return false;
  checkRange(column, piece);
  column.count += uint64_t(shape.front());
  // Empty pieces would break the look-up of an example.
  if (shape.front())
    column.pieces.push_back(std::move(piece));
  return true;
}

/// Numbers become floats; floats become no integers.
bool Opener::checkType(const Column &column, const Piece &piece) {
  DType from = piece.array->dtype(), to = column.input->type.dtype;
  if (from == to || isFloat(to) || !isFloat(from))
    return true;
  diags.reportFile(piece.path, diag::InputDType, column.input->name,
                   column.input->type.str(), spelling(from));
  return false;
}

/// Checks every integer once: what looks up rows must find them.
bool Opener::checkBound(const Column &column, const Piece &piece) {
  const StepInput &input = *column.input;
  bool isBounded = input.bound < std::numeric_limits<int32_t>::max();
  if (isFloat(input.type.dtype) ||
      (!isBounded && piece.array->dtype() == input.type.dtype))
    return true;
  int64_t least = isBounded ? 0 : std::numeric_limits<int32_t>::min();
  for (int64_t i = 0, end = piece.array->numElements(); i < end; ++i) {
    int64_t value = isInteger(piece.array->dtype())
                        ? piece.array->intAt(i)
                        : int64_t(piece.array->doubleAt(i));
    if (value >= least && value < input.bound)
      continue;
    diags.reportFile(piece.path, diag::ExampleOutOfRange, i, input.name, value,
                     least, input.bound - 1);
    return false;
  }
  return true;
}

/// Warns of numbers that become infinite.
void Opener::checkRange(const Column &column, const Piece &piece) {
  const Constant &array = *piece.array;
  DType from = array.dtype();
  bool canOverflow = from != DType::FP16 &&
                     (isFloat(from) || bitWidth(from) > 15) &&
                     from != DType::Int16;
  if (column.input->type.dtype != DType::FP16 || !canOverflow)
    return;
  uint64_t lost = 0, count = uint64_t(array.numElements());
  if (from == DType::FP32)
    lost = countHalfOverflows(
        reinterpret_cast<const float *>(array.bytes().data()), count);
  else
    for (uint64_t i = 0; i < count; ++i) {
      double value = array.doubleAt(int64_t(i));
      lost += std::isfinite(value) && std::fabs(value) >= halfOverflow;
    }
  if (lost)
    diags.reportFile(piece.path, diag::HalfOverflow, column.input->name, lost,
                     count, spelling(DType::FP16));
}

/// Every input has as many examples, and takes as many in a run.
bool Opener::checkCounts() {
  bool ok = true;
  for (const Column &column : columns)
    if (column.pieces.empty()) {
      diags.report({}, diag::NoExamples, column.input->name,
                   column.input->type.str());
      ok = false;
    }
  if (!ok)
    return false;
  const Column &first = columns.front();
  for (const Column &column : columns) {
    if (column.perRun() != first.perRun()) {
      diags.report({}, diag::UnevenRuns, first.perRun(), first.input->name,
                   column.perRun(), column.input->name);
      return false;
    }
    if (column.count != first.count) {
      diags.report({}, diag::UnevenExamples, first.input->name, first.count,
                   column.input->name, column.count);
      return false;
    }
  }
  return true;
}

std::unique_ptr<TrainingData> Opener::finish() {
  if (!checkCounts())
    return nullptr;
  return std::make_unique<ArrayData>(std::move(columns));
}

std::unique_ptr<TrainingData> anec::openArrayData(const DataOptions &options,
                                                  const TrainingStep &step,
                                                  Diagnostics &diags) {
  if (!options.tokenizer.empty()) {
    diags.reportFile(options.tokenizer, diag::NothingToTokenize);
    return nullptr;
  }
  std::optional<std::vector<DataFile>> files =
      listDataFiles(options.paths, options.without, diags);
  if (!files)
    return nullptr;
  Opener opener(step, diags);
  for (const DataFile &file : *files)
    if (!opener.addFile(file))
      return nullptr;
  for (const std::string &input : options.inputs)
    if (!opener.addInput(input))
      return nullptr;
  return opener.finish();
}
