//===- Bindings.h - the C API for Python ------------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The module anec._anec: handles are classes, options are dicts, arrays are
/// objects with the buffer protocol. Users import python/anec/*.py, which
/// passes contiguous numpy arrays in types that the ports accept. Long calls
/// release the interpreter lock.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_PYTHON_BINDINGS_H
#define ANEC_PYTHON_BINDINGS_H

#include "anec-c.h"
#include <deque>
#include <memory>
#include <pybind11/pybind11.h>
#include <string>
#include <vector>

namespace py = pybind11;

namespace anec::python {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// A struct with `struct_size` set and all other members zero.
template <typename Struct>
Struct sized() {
  Struct value = {};
  value.struct_size = sizeof(Struct);
  return value;
}

/// The diagnostics of a call, raised as anec.Error or as warnings.
class Reports {
public:
  Reports() : list(anec_diagnostics_create()) {}
  ~Reports() { anec_diagnostics_destroy(list); }
  Reports(const Reports &) = delete;
  Reports &operator=(const Reports &) = delete;

  anec_diagnostics *get() const { return list; }
  void check(anec_status status) const {
    if (status != ANEC_OK)
      raise(status);
    else if (anec_diagnostics_count(list))
      warn();
  }

private:
  static py::object named(const char *name) {
    return py::module_::import("anec._errors").attr(name);
  }
  void raise(anec_status status) const {
    py::list rows;
    for (size_t i = 0; i < anec_diagnostics_count(list); ++i) {
      auto row = sized<anec_diagnostic>();
      anec_diagnostics_get(list, i, &row);
      rows.append(py::make_tuple(anec_severity_name(row.severity), row.id,
                                 row.message, row.file, row.line, row.column,
                                 row.end_line, row.end_column));
    }
    py::object type = named("Error");
    py::object error = type(int(status), anec_diagnostics_text(list), rows);
    PyErr_SetObject(type.ptr(), error.ptr());
    throw py::error_already_set();
  }
  void warn() const {
    if (PyErr_WarnEx(named("Warning").ptr(), anec_diagnostics_text(list), 3))
      throw py::error_already_set();
  }

  anec_diagnostics *list;
};

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// An option of the caller's; raises TypeError or ValueError, which names it,
/// where `T` does not hold it.
template <typename T>
T take(py::handle value, const char *name) {
  try {
    return value.cast<T>();
  } catch (const py::cast_error &) {
    std::string why = std::string("`") + name + "` cannot be " +
                      py::repr(value).cast<std::string>();
    if (PyLong_Check(value.ptr()))
      throw py::value_error(why);
    throw py::type_error(why);
  }
}

/// A text. C ends it at a null character, which would change it.
inline std::string takeText(py::handle value, const char *name) {
  auto text = take<std::string>(value, name);
  if (text.find('\0') != std::string::npos)
    throw py::value_error(std::string("`") + name + "` has a null character");
  return text;
}

/// Reads a dict, and owns the texts that options point to.
class Options {
public:
  explicit Options(const py::dict &values) : values(values) {}

  const char *text(const char *name) {
    py::object value = get(name);
    return value.is_none() ? nullptr : keep(value, name);
  }
  const char *const *texts(const char *name, size_t &count) {
    for (py::handle value : py::list(get(name)))
      pointers.push_back(keep(value, name));
    count = pointers.size();
    lists.push_back(std::move(pointers));
    pointers.clear();
    return lists.back().data();
  }
  const uint64_t *number(const char *name) {
    py::object value = get(name);
    if (value.is_none())
      return nullptr;
    numbers.push_back(std::make_unique<uint64_t>(take<uint64_t>(value, name)));
    return numbers.back().get();
  }
  const double *real(const char *name) {
    py::object value = get(name);
    if (value.is_none())
      return nullptr;
    reals.push_back(std::make_unique<double>(take<double>(value, name)));
    return reals.back().get();
  }
  const int64_t *wholes(const char *name, size_t &count) {
    std::vector<int64_t> &list = wholeLists.emplace_back();
    for (py::handle value : py::list(get(name)))
      list.push_back(take<int64_t>(value, name));
    count = list.size();
    return list.data();
  }
  int64_t whole(const char *name) { return take<int64_t>(get(name), name); }
  int integer(const char *name) { return take<int>(get(name), name); }
  /// Not negative.
  unsigned count(const char *name) { return take<unsigned>(get(name), name); }

private:
  py::object get(const char *name) const { return values[name]; }
  const char *keep(py::handle value, const char *name) {
    kept.push_back(std::make_unique<std::string>(takeText(value, name)));
    return kept.back()->c_str();
  }

  py::dict values;
  std::vector<std::unique_ptr<std::string>> kept;
  std::vector<std::unique_ptr<uint64_t>> numbers;
  std::vector<std::unique_ptr<double>> reals;
  std::vector<const char *> pointers;
  std::vector<std::vector<const char *>> lists;
  std::deque<std::vector<int64_t>> wholeLists; // their elements stay
};

inline anec_session_options sessionOptions(Options &values) {
  auto options = sized<anec_session_options>();
  options.backend = values.text("backend");
  options.numerics = anec_numerics(values.integer("numerics"));
  options.threads = values.count("threads");
  options.weights = values.text("weights");
  options.weight_map = values.text("weight_map");
  options.seed = values.number("seed");
  options.shapes = values.texts("shapes", options.shape_count);
  return options;
}

/// Calls `function` without the interpreter lock.
template <typename Function>
auto unlocked(Function function) {
  py::gil_scoped_release release;
  return function();
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

class Program {
public:
  explicit Program(anec_program *handle) : handle(handle) {}
  ~Program() { anec_program_destroy(handle); }
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  anec_program *const handle;
};

class Tokenizer {
public:
  explicit Tokenizer(const std::string &path) {
    Reports reports;
    reports.check(anec_tokenizer_open(path.c_str(), &handle, reports.get()));
  }
  ~Tokenizer() { anec_tokenizer_destroy(handle); }
  Tokenizer(const Tokenizer &) = delete;
  Tokenizer &operator=(const Tokenizer &) = delete;

  anec_tokenizer *handle = nullptr;
};

/// Adds programs, rules, costs, tokenizers and windows to the module.
void addPrograms(py::module_ &module);
/// Adds sessions and trainers.
void addSessions(py::module_ &module);

} // namespace anec::python

#endif // ANEC_PYTHON_BINDINGS_H
