//===- Arrays.cpp - arrays by the buffer protocol -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include <bit>
#include <optional>
#include <string_view>

using namespace anec::python;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

namespace {
struct DTypeRow {
  anec_dtype dtype;
  const char *name;
  /// Characters of the module `struct` that are such elements when they have
  /// `bytes`: how many a character has depends on the platform.
  std::string_view characters;
  size_t bytes;
};
constexpr DTypeRow dtypes[] = {
    {ANEC_BOOL, "bool", "?", 1},       {ANEC_FP16, "float16", "e", 2},
    {ANEC_FP32, "float32", "f", 4},    {ANEC_FP64, "float64", "dg", 8},
    {ANEC_BF16, "uint16", "", 2},      {ANEC_INT8, "int8", "b", 1},
    {ANEC_INT16, "int16", "hil", 2},   {ANEC_INT32, "int32", "ilq", 4},
    {ANEC_INT64, "int64", "lqi", 8},   {ANEC_UINT8, "uint8", "B", 1},
    {ANEC_UINT16, "uint16", "HIL", 2}, {ANEC_UINT32, "uint32", "ILQ", 4},
    {ANEC_UINT64, "uint64", "LQI", 8}, {ANEC_OTHER_DTYPE, "uint8", "", 1},
};
} // namespace

const char *anec::python::nameOf(anec_dtype dtype) {
  for (const DTypeRow &row : dtypes)
    if (row.dtype == dtype)
      return row.name;
  return "uint8";
}

/// The type of elements in the machine's byte order; nothing for all others.
static std::optional<anec_dtype> dtypeOf(const py::buffer_info &info) {
  std::string_view format = info.format;
  constexpr bool isLittle = std::endian::native == std::endian::little;
  constexpr std::string_view native = isLittle ? "@=<" : "@=>!";
  if (format.size() > 1 && native.find(format[0]) != format.npos)
    format.remove_prefix(1);
  if (format.size() != 1)
    return std::nullopt;
  for (const DTypeRow &row : dtypes)
    if (row.characters.find(format[0]) != format.npos &&
        size_t(info.itemsize) == row.bytes)
      return row.dtype;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Given arrays
//===----------------------------------------------------------------------===//

/// What an array without elements points to: null would say that none is given.
static double nothing = 0;

static bool isContiguous(const py::buffer_info &info) {
  py::ssize_t stride = info.itemsize;
  for (size_t axis = size_t(info.ndim); axis-- > 0;) {
    if (info.shape[axis] > 1 && info.strides[axis] != stride && info.size)
      return false;
    stride *= info.shape[axis];
  }
  return true;
}

template <typename Struct>
void Arrays<Struct>::add(const std::string &name, const py::buffer &array) {
  constexpr bool isWritten = std::is_same_v<Struct, anec_output>;
  py::buffer_info info = array.request(isWritten);
  std::optional<anec_dtype> dtype = dtypeOf(info);
  if (!dtype)
    throw py::type_error("the array `" + name +
                         "` has elements of the format `" + info.format + "`");
  if (!isContiguous(info))
    throw py::value_error("the array `" + name + "` is not contiguous");
  names.push_back(std::make_unique<std::string>(name));
  dims.push_back(std::make_unique<std::vector<int64_t>>(info.shape.begin(),
                                                        info.shape.end()));
  static const int64_t scalar = 0;
  Struct &made = structs.emplace_back(sized<Struct>());
  made.name = names.back()->c_str();
  made.dtype = *dtype;
  made.data = info.ptr ? info.ptr : &nothing;
  made.bytes = size_t(info.size) * size_t(info.itemsize);
  made.rank = dims.back()->size();
  made.dims = made.rank ? dims.back()->data() : &scalar;
  buffers.push_back(std::move(info));
}

template class anec::python::Arrays<anec_input>;
template class anec::python::Arrays<anec_output>;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

py::buffer_info Memory::buffer() {
  static_assert(sizeof(float) == 4 && sizeof(int32_t) == sizeof(int));
  std::vector<py::ssize_t> strides(shape.size());
  py::ssize_t stride = 4;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  void *data = floats ? static_cast<void *>(floats) : ids.data();
  if (!data)
    data = &nothing;
  return py::buffer_info(data, 4, format, py::ssize_t(shape.size()), shape,
                         strides);
}

void anec::python::addArrays(py::module_ &module) {
  py::class_<Memory>(module, "Memory", py::buffer_protocol())
      .def_buffer([](Memory &memory) { return memory.buffer(); });
}
