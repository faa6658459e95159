//===- PickledTensors.cpp - tensors that torch.save wrote -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "PickledTensors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

using namespace anec;
using namespace anec::torch;
namespace endian = llvm::support::endian;

namespace {

/// A value of the pickle's machine.
struct PyValue {
  enum class Kind : uint8_t {
    None,
    Int, ///< also of a bool
    Text,
    Global, ///< `torch.FloatStorage`, in `text`
    Tuple,
    Storage,
    Tensor,
    Dict,
    Mark,
  };
  Kind kind = Kind::None;
  unsigned depth = 0; ///< of tuples in tuples
  int64_t number = 0;
  std::string text;                                 ///< of a Storage its key
  std::vector<std::shared_ptr<const PyValue>> list; ///< of a Dict in pairs
  StoredTensor tensor;                              ///< of a Storage its type
};
using PyRef = std::shared_ptr<PyValue>;
using PyKind = PyValue::Kind;

struct StorageRow {
  llvm::StringLiteral name;
  ScalarType type;
};

} // namespace

static constexpr StorageRow storageRows[] = {
    {"torch.BFloat16Storage", ScalarType::BFloat16},
    {"torch.BoolStorage", ScalarType::Bool},
    {"torch.ByteStorage", ScalarType::UInt8},
    {"torch.CharStorage", ScalarType::Int8},
    {"torch.ComplexFloatStorage", ScalarType::Complex64},
    {"torch.DoubleStorage", ScalarType::Float64},
    {"torch.FloatStorage", ScalarType::Float32},
    {"torch.HalfStorage", ScalarType::Float16},
    {"torch.IntStorage", ScalarType::Int32},
    {"torch.LongStorage", ScalarType::Int64},
    {"torch.ShortStorage", ScalarType::Int16},
};

namespace {

/// Runs the opcodes that a dictionary of tensors needs. Nothing is called: the
/// few functions of Python that make such a dictionary are done here.
class Unpickler {
public:
  Unpickler(llvm::ArrayRef<uint8_t> bytes, Archive &archive, StringRef root)
      : bytes(bytes), archive(archive), root(root) {}
  /// The value; null, with `error` set, if it needs anything else.
  PyRef run();
  std::string error;

private:
  bool fail(const llvm::Twine &why) {
    if (error.empty())
      error = why.str();
    return false;
  }
  bool has(size_t count) { return bytes.size() - at >= count; }
  uint64_t take(size_t count);
  StringRef takeText(size_t count);
  StringRef takeLine();
  bool step(uint8_t opcode);
  bool push(PyValue value);
  bool pushInt(int64_t number);
  bool pushTuple(size_t count);
  PyRef pop();
  std::optional<size_t> mark();
  bool remember(uint64_t index);
  bool recall(uint64_t index);
  bool readStorage();
  bool reduce();
  bool call(StringRef function, const PyValue &arguments);
  bool rebuild(const PyValue &arguments);
  bool rebuildWithState(const PyValue &arguments);
  bool setItems(size_t first);

  llvm::ArrayRef<uint8_t> bytes;
  Archive &archive;
  std::string root;
  size_t at = 0;
  std::vector<PyRef> stack;
  std::vector<PyRef> memo;
  bool isDone = false;
};

} // namespace

uint64_t Unpickler::take(size_t count) {
  uint64_t value = 0;
  if (!has(count)) {
    fail("the pickle is cut");
    return 0;
  }
  for (size_t i = 0; i != count; ++i)
    value |= uint64_t(bytes[at + i]) << (8 * i);
  at += count;
  return value;
}

StringRef Unpickler::takeText(size_t count) {
  if (!has(count)) {
    fail("the pickle is cut");
    return "";
  }
  StringRef text = llvm::toStringRef(bytes.slice(at, count));
  at += count;
  return text;
}

StringRef Unpickler::takeLine() {
  StringRef rest = llvm::toStringRef(bytes.drop_front(at));
  size_t end = rest.find('\n');
  if (end == StringRef::npos) {
    fail("the pickle is cut");
    return "";
  }
  at += end + 1;
  return rest.take_front(end);
}

bool Unpickler::push(PyValue value) {
  stack.push_back(std::make_shared<PyValue>(std::move(value)));
  return error.empty();
}

bool Unpickler::pushInt(int64_t number) {
  PyValue value;
  value.kind = PyKind::Int;
  value.number = number;
  return push(std::move(value));
}

/// A tuple of the last `count` values.
bool Unpickler::pushTuple(size_t count) {
  constexpr unsigned deepest = 16;
  if (count > stack.size())
    return fail("the pickle is malformed");
  PyValue tuple;
  tuple.kind = PyKind::Tuple;
  tuple.list.assign(stack.end() - long(count), stack.end());
  for (const auto &element : tuple.list)
    tuple.depth = std::max(tuple.depth, element->depth + 1);
  stack.resize(stack.size() - count);
  return tuple.depth <= deepest ? push(std::move(tuple))
                                : fail("values are nested too deeply");
}

PyRef Unpickler::pop() {
  if (stack.empty()) {
    fail("the pickle is malformed");
    return std::make_shared<PyValue>();
  }
  PyRef value = stack.back();
  stack.pop_back();
  return value;
}

/// The index of the last mark, which is removed; what follows it moves there.
std::optional<size_t> Unpickler::mark() {
  for (size_t i = stack.size(); i-- != 0;)
    if (stack[i]->kind == PyKind::Mark) {
      stack.erase(stack.begin() + long(i));
      return i;
    }
  fail("the pickle is malformed");
  return std::nullopt;
}

bool Unpickler::remember(uint64_t index) {
  if (stack.empty() || index > bytes.size())
    return fail("the pickle is malformed");
  memo.resize(std::max<size_t>(memo.size(), index + 1));
  memo[index] = stack.back();
  return error.empty();
}

bool Unpickler::recall(uint64_t index) {
  if (index >= memo.size() || !memo[index])
    return fail("the pickle is malformed");
  stack.push_back(memo[index]);
  return error.empty();
}

/// ('storage', torch.FloatStorage, key, device, count).
bool Unpickler::readStorage() {
  PyRef id = pop();
  if (id->kind != PyKind::Tuple || id->list.size() < 3 ||
      id->list[0]->text != "storage" || id->list[2]->kind != PyKind::Text)
    return fail("a tensor has another kind of storage");
  PyValue value;
  value.kind = PyKind::Storage;
  for (const StorageRow &row : storageRows)
    if (row.name == id->list[1]->text)
      value.tensor.meta.type = row.type;
  if (value.tensor.meta.type == ScalarType::None)
    return fail("`" + id->list[1]->text + "` is not supported");
  constexpr size_t longest = 32;
  if (id->list[2]->text.size() > longest)
    return fail("a tensor has another kind of storage");
  value.tensor.entry = root + "data/" + id->list[2]->text;
  value.tensor.archive = &archive;
  return push(std::move(value));
}

static bool readNumbers(const PyValue &tuple, std::vector<Extent> &extents) {
  for (const auto &element : tuple.list) {
    if (element->kind != PyKind::Int)
      return false;
    extents.push_back({.value = element->number});
  }
  return tuple.kind == PyKind::Tuple;
}

/// _rebuild_tensor_v2(storage, offset, sizes, strides, ...).
bool Unpickler::rebuild(const PyValue &arguments) {
  if (arguments.list.size() < 4 || arguments.list[0]->kind != PyKind::Storage ||
      arguments.list[1]->kind != PyKind::Int)
    return fail("a tensor is malformed");
  PyValue value;
  value.kind = PyKind::Tensor;
  value.tensor = arguments.list[0]->tensor;
  TensorMeta &meta = value.tensor.meta;
  meta.offset.value = arguments.list[1]->number;
  if (!readNumbers(*arguments.list[2], meta.sizes) ||
      !readNumbers(*arguments.list[3], meta.strides))
    return fail("a tensor is malformed");
  return push(std::move(value));
}

/// _rebuild_from_type_v2(function, type, arguments, state): a tensor with
/// attributes, as every `torch.nn.Buffer` has. They say nothing of its values;
/// subclasses can have others than the tensor that they are made of.
bool Unpickler::rebuildWithState(const PyValue &arguments) {
  if (arguments.list.size() != 4 || arguments.list[0]->kind != PyKind::Global ||
      arguments.list[1]->kind != PyKind::Global ||
      arguments.list[2]->kind != PyKind::Tuple)
    return fail("a tensor is malformed");
  StringRef type = arguments.list[1]->text;
  if (type != "torch.Tensor" && type != "torch.nn.parameter.Parameter" &&
      type != "torch.nn.parameter.Buffer")
    return fail("it holds a tensor of the class `" + type +
                "`: export a model of plain tensors");
  return call(arguments.list[0]->text, *arguments.list[2]);
}

bool Unpickler::call(StringRef function, const PyValue &arguments) {
  if (function == "torch._utils._rebuild_tensor_v2")
    return rebuild(arguments);
  bool isParameter = function == "torch._utils._rebuild_parameter" ||
                     function == "torch._utils._rebuild_parameter_with_state";
  if (isParameter && !arguments.list.empty() &&
      arguments.list[0]->kind == PyKind::Tensor)
    return push(PyValue(*arguments.list[0]));
  if (function == "collections.OrderedDict" && arguments.list.empty()) {
    PyValue dict;
    dict.kind = PyKind::Dict;
    return push(std::move(dict));
  }
  return fail("it needs `" + function +
              "` of Python: export a model of plain tensors");
}

bool Unpickler::reduce() {
  PyRef arguments = pop(), function = pop();
  if (function->kind != PyKind::Global || arguments->kind != PyKind::Tuple)
    return fail("the pickle is malformed");
  if (function->text == "torch._tensor._rebuild_from_type_v2")
    return rebuildWithState(*arguments);
  return call(function->text, *arguments);
}

/// Of a dictionary, with keys and values from `first` on.
bool Unpickler::setItems(size_t first) {
  if (first == 0 || first > stack.size() || (stack.size() - first) % 2 != 0 ||
      stack[first - 1]->kind != PyKind::Dict)
    return fail("the pickle is malformed");
  PyValue &dict = *stack[first - 1];
  for (size_t i = first; i != stack.size(); ++i) {
    // What holds itself would never be freed.
    if (stack[i]->kind == PyKind::Dict || stack[i]->kind == PyKind::Tuple)
      return fail("a value is not a tensor");
    dict.list.push_back(stack[i]);
  }
  stack.resize(first);
  return error.empty();
}

bool Unpickler::step(uint8_t opcode) {
  switch (opcode) {
  case 0x80: // PROTO
    return take(1) <= 5 || fail("the pickle has a newer protocol");
  case 0x95: // FRAME
    take(8);
    return error.empty();
  case '}': {
    PyValue dict;
    dict.kind = PyKind::Dict;
    return push(std::move(dict));
  }
  case '(': {
    PyValue marker;
    marker.kind = PyKind::Mark;
    return push(std::move(marker));
  }
  case 'X':
  case 0x8c: {
    PyValue text;
    text.kind = PyKind::Text;
    text.text = takeText(take(opcode == 'X' ? 4 : 1)).str();
    return push(std::move(text));
  }
  case 'q':
    return remember(take(1));
  case 'r':
    return remember(take(4));
  case 0x94: // MEMOIZE
    return remember(memo.size());
  case 'h':
    return recall(take(1));
  case 'j':
    return recall(take(4));
  case 'c': {
    PyValue global;
    global.kind = PyKind::Global;
    global.text = takeLine().str();
    global.text += "." + takeLine().str();
    return push(std::move(global));
  }
  case 't': {
    std::optional<size_t> first = mark();
    return first && pushTuple(stack.size() - *first);
  }
  case ')':
    return pushTuple(0);
  case 0x85:
  case 0x86:
  case 0x87:
    return pushTuple(size_t(opcode - 0x84));
  case 'Q':
    return readStorage();
  case 'J':
    return pushInt(int32_t(take(4)));
  case 'K':
    return pushInt(int64_t(take(1)));
  case 'M':
    return pushInt(int64_t(take(2)));
  case 0x8a: { // LONG1
    uint64_t count = take(1);
    if (count > 8)
      return fail("a number is too large");
    auto number = int64_t(take(count));
    if (count != 0 && count < 8 && (number >> (8 * count - 1)) & 1)
      number -= int64_t(1) << (8 * count);
    return pushInt(number);
  }
  case 'G': // a float, which no tensor depends on
    take(8);
    return push(PyValue());
  case 0x88:
  case 0x89:
    return pushInt(opcode == 0x88);
  case 'N':
    return push(PyValue());
  case 'R':
    return reduce();
  case 's':
    return setItems(stack.size() < 2 ? 0 : stack.size() - 2);
  case 'u': {
    std::optional<size_t> first = mark();
    return first && setItems(*first);
  }
  case 'b': // BUILD: attributes of a dictionary
    pop();
    return error.empty();
  case '.':
    isDone = true;
    return true;
  default:
    return fail("opcode " + llvm::Twine(unsigned(opcode)) +
                " is not supported");
  }
}

PyRef Unpickler::run() {
  while (!isDone) {
    auto opcode = uint8_t(take(1));
    if (!error.empty() || !step(opcode))
      return nullptr;
  }
  return stack.size() == 1 ? stack.back() : nullptr;
}

bool torch::addPickledTensors(Archive &nested, llvm::ArrayRef<uint8_t> bytes,
                              Weights &weights, std::string &error) {
  if (!nested.open(bytes, error))
    return false;
  std::vector<StringRef> names = nested.names();
  std::string root =
      names.empty() ? "" : names.front().split('/').first.str() + "/";
  std::optional<llvm::ArrayRef<uint8_t>> pickle =
      nested.read(root + "data.pkl", error);
  if (!pickle)
    return false;
  Unpickler unpickler(*pickle, nested, root);
  PyRef all = unpickler.run();
  if (!all || all->kind != PyKind::Dict) {
    error = unpickler.error.empty()
                ? "the pickle is not a dictionary of tensors"
                : unpickler.error;
    return false;
  }
  for (size_t i = 0; i + 1 < all->list.size(); i += 2) {
    const PyValue &key = *all->list[i], &value = *all->list[i + 1];
    if (key.kind != PyKind::Text)
      continue;
    StoredTensor tensor = value.tensor;
    if (value.kind != PyKind::Tensor)
      tensor.refusal = "it is not a tensor";
    weights.add(key.text, std::move(tensor));
  }
  return true;
}
