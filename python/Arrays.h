//===- Arrays.h - arrays by the buffer protocol -----------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Arrays pass in both directions by the buffer protocol of Python. The module
/// does not depend on the binary interface of numpy, which is another one in
/// each major version.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_PYTHON_ARRAYS_H
#define ANEC_PYTHON_ARRAYS_H

#include "Bindings.h"

namespace anec::python {

/// numpy's name of an element type. It has no bfloat16: arrays have its bits.
const char *nameOf(anec_dtype dtype);

/// Named arrays, as structs of the C API, which hold the buffers. An array that
/// is not contiguous, or has elements that the C API does not know, is refused.
template <typename Struct>
class Arrays {
public:
  explicit Arrays(const py::dict &arrays) {
    for (auto item : arrays)
      add(py::cast<std::string>(item.first), py::cast<py::buffer>(item.second));
  }
  Arrays(const std::string &name, const py::buffer &array) { add(name, array); }

  const Struct *data() const { return structs.data(); }
  size_t size() const { return structs.size(); }

private:
  void add(const std::string &name, const py::buffer &array);

  std::vector<Struct> structs;
  std::vector<py::buffer_info> buffers;
  std::vector<std::unique_ptr<std::string>> names;
  std::vector<std::unique_ptr<std::vector<int64_t>>> dims;
};

extern template class Arrays<anec_input>;
extern template class Arrays<anec_output>;

/// Memory of which numpy makes an array without a copy:
/// `numpy.asarray(memory)`.
class Memory {
public:
  /// Ids of its own.
  explicit Memory(size_t count)
      : ids(count), shape{py::ssize_t(count)}, format("i") {}
  /// Floats that live as long as `owner`.
  Memory(float *floats, std::vector<py::ssize_t> shape, py::object owner)
      : floats(floats), shape(std::move(shape)), owner(std::move(owner)),
        format("f") {}

  int32_t *elements() { return ids.data(); }
  py::buffer_info buffer();

private:
  std::vector<int32_t> ids;
  float *floats = nullptr;
  std::vector<py::ssize_t> shape;
  py::object owner;
  const char *format;
};

/// Adds Memory to the module.
void addArrays(py::module_ &module);

} // namespace anec::python

#endif // ANEC_PYTHON_ARRAYS_H
