//===- JsonFields.h - JSON as lists of fields -------------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// A struct that is an object in a JSON file lists its members once, in the
/// order in which they are written:
///
///   template <>
///   struct anec::JsonFields<PackagedFile> {
///     static void list(auto &file, auto &visit) {
///       visit("path", file.path);
///       visit("bytes", file.bytes);
///       visit.optional("owner", file.owner);
///     }
///   };
///
/// `writeFields` and `readFields` visit the list. Of a visitor:
///
///   visit(NAME, MEMBER)            a member that is always there
///   visit.optional(NAME, MEMBER)   left out while it is empty or has its
///                                  default
///   visit.added(NAME, MEMBER)      always written; files of an older anec lack
///                                  it
///   visit.constant(NAME, TEXT)     written, and not read
///   visit.inside(NAME, LIST)       an object of its own, with what LIST,
///                                  a function, visits
///   visit.when(IS, MEMBER, LIST)   where IS, an `std::optional` that is there,
///                                  with what LIST, called with it, visits
///
/// Another list in the place of a member adds its members to the same object.
///
/// Members are booleans, integers, numbers, texts, enumerations of ANEC_ENUM,
/// structs with lists, vectors and `std::optional` of these, and vectors of
/// pairs of a text and one of these, which are an object. For others a third
/// argument has the functions `read` and `write` of `JsonForm`.
///
/// What no list can say, `JsonFields<T>::check` can: it is called with what was
/// read and its path, and returns false when it has refused it.
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_LIB_SUPPORT_JSONFIELDS_H
#define ANEC_LIB_SUPPORT_JSONFIELDS_H

#include "anec/Support/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"
#include <limits>
#include <type_traits>

namespace anec {

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// The first thing that is wrong in a text.
struct JsonMisfit {
  std::string reason;
  std::string place; ///< `kernels[0].view`; empty for the whole text
  /// `no shape at manifest.weights[0].shape`
  std::string str(llvm::StringRef root) const;
};

/// Where a value is in the text that is read. The path around it must live as
/// long.
class JsonPath {
public:
  explicit JsonPath(JsonMisfit &misfit) : misfit(misfit) {}
  JsonPath member(llvm::StringRef key) const { return {this, key, 0}; }
  JsonPath element(size_t index) const { return {this, {}, index}; }
  /// Says why the value cannot be taken. Returns false.
  bool refuse(const llvm::Twine &reason) const;

private:
  JsonPath(const JsonPath *around, llvm::StringRef key, size_t index)
      : misfit(around->misfit), around(around), key(key), index(index) {}
  std::string str() const;

  JsonMisfit &misfit;
  const JsonPath *around = nullptr;
  llvm::StringRef key; ///< empty for an element
  size_t index = 0;
};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

template <typename T>
struct JsonFields;

/// A struct with a list.
template <typename T>
concept JsonRecord = requires {
  sizeof(JsonFields<T>);
};

/// Adds the members of an object to `value`. Returns false, with the reason in
/// the misfit of `path`, on failure.
template <JsonRecord T>
bool readFields(const llvm::json::Value &json, T &value, JsonPath path);
/// Writes an object.
template <JsonRecord T>
void writeFields(const T &value, llvm::json::OStream &out);

/// How a T is written as a JSON value.
template <typename T>
struct JsonForm;

template <>
struct JsonForm<bool> {
  static bool read(const llvm::json::Value &json, bool &to, JsonPath path);
  static void write(bool value, llvm::json::OStream &out) { out.value(value); }
};
template <>
struct JsonForm<int64_t> {
  static bool read(const llvm::json::Value &json, int64_t &to, JsonPath path);
  static void write(int64_t value, llvm::json::OStream &out) {
    out.value(value);
  }
};
template <>
struct JsonForm<uint64_t> {
  static bool read(const llvm::json::Value &json, uint64_t &to, JsonPath path,
                   uint64_t most = std::numeric_limits<uint64_t>::max());
  static void write(uint64_t value, llvm::json::OStream &out) {
    out.value(value);
  }
};
template <>
struct JsonForm<unsigned> {
  static bool read(const llvm::json::Value &json, unsigned &to, JsonPath path) {
    uint64_t wide = 0;
    if (!JsonForm<uint64_t>::read(json, wide, path,
                                  std::numeric_limits<unsigned>::max()))
      return false;
    to = unsigned(wide);
    return true;
  }
  static void write(unsigned value, llvm::json::OStream &out) {
    out.value(value);
  }
};
/// JSON has no infinity and no NaN: they are written as `null`, which an
/// `std::optional` takes.
template <>
struct JsonForm<double> {
  static bool read(const llvm::json::Value &json, double &to, JsonPath path);
  static void write(double value, llvm::json::OStream &out);
};
template <>
struct JsonForm<std::string> {
  static bool read(const llvm::json::Value &json, std::string &to,
                   JsonPath path);
  static void write(llvm::StringRef value, llvm::json::OStream &out) {
    out.value(value);
  }
};

template <JsonRecord T>
struct JsonForm<T> {
  static bool read(const llvm::json::Value &json, T &to, JsonPath path) {
    return readFields(json, to, path);
  }
  static void write(const T &value, llvm::json::OStream &out) {
    writeFields(value, out);
  }
};

/// Returns a null pointer, with the reason reported, when it is something else.
const llvm::json::Object *objectOf(const llvm::json::Value &json,
                                   JsonPath path);
const llvm::json::Array *arrayOf(const llvm::json::Value &json, JsonPath path);

/// A word of several. Returns the index of the one that is there.
std::optional<size_t> readWord(const llvm::json::Value &json,
                               std::span<const llvm::StringLiteral> words,
                               JsonPath path);

template <Worded T>
struct JsonForm<T> {
  static bool read(const llvm::json::Value &json, T &to, JsonPath path) {
    std::optional<size_t> index = readWord(json, allWords<T>(), path);
    if (index)
      to = T(*index);
    return index.has_value();
  }
  static void write(T value, llvm::json::OStream &out) {
    out.value(spelling(value));
  }
};

/// What has a `spelling` that `parse` reads, and is called `kind` where it is
/// refused.
template <typename T, std::optional<T> (*parse)(llvm::StringRef),
          const char *kind>
struct JsonSpelled {
  static bool read(const llvm::json::Value &json, T &to, JsonPath path) {
    std::optional<llvm::StringRef> text = json.getAsString();
    std::optional<T> parsed = text ? parse(*text) : std::nullopt;
    if (!parsed)
      return path.refuse(llvm::Twine("no ") + kind);
    to = *parsed;
    return true;
  }
  static void write(T value, llvm::json::OStream &out) {
    out.value(spelling(value));
  }
};

/// `null` without a value.
template <typename T>
struct JsonForm<std::optional<T>> {
  static bool read(const llvm::json::Value &json, std::optional<T> &to,
                   JsonPath path) {
    to.reset();
    return json.kind() == llvm::json::Value::Null ||
           JsonForm<T>::read(json, to.emplace(), path);
  }
  static void write(const std::optional<T> &value, llvm::json::OStream &out) {
    if (value)
      JsonForm<T>::write(*value, out);
    else
      out.value(nullptr);
  }
};

/// Of a vector, with `Form` for its elements.
template <typename Vector, typename Form>
struct JsonList {
  static bool read(const llvm::json::Value &json, Vector &to, JsonPath path) {
    const llvm::json::Array *array = arrayOf(json, path);
    if (!array)
      return false;
    to.clear();
    to.reserve(array->size());
    for (size_t index = 0; index != array->size(); ++index)
      if (!Form::read((*array)[index], to.emplace_back(), path.element(index)))
        return false;
    return true;
  }
  static void write(const Vector &values, llvm::json::OStream &out) {
    out.array([&] {
      for (const auto &value : values)
        Form::write(value, out);
    });
  }
};
template <typename T>
struct JsonForm<std::vector<T>> : JsonList<std::vector<T>, JsonForm<T>> {};
template <typename T, unsigned size>
struct JsonForm<llvm::SmallVector<T, size>>
    : JsonList<llvm::SmallVector<T, size>, JsonForm<T>> {};

/// Values by name, sorted when they are read.
template <typename T>
struct JsonForm<std::vector<std::pair<std::string, T>>> {
  using Pairs = std::vector<std::pair<std::string, T>>;
  static bool read(const llvm::json::Value &json, Pairs &to, JsonPath path) {
    const llvm::json::Object *object = objectOf(json, path);
    if (!object)
      return false;
    to.clear();
    for (const auto &[key, value] : *object) {
      auto &[name, member] = to.emplace_back(key.str(), T());
      if (!JsonForm<T>::read(value, member, path.member(name)))
        return false;
    }
    llvm::sort(to, llvm::less_first());
    return true;
  }
  static void write(const Pairs &values, llvm::json::OStream &out) {
    out.object([&] {
      for (const auto &[name, value] : values) {
        out.attributeBegin(name);
        JsonForm<T>::write(value, out);
        out.attributeEnd();
      }
    });
  }
};

//===----------------------------------------------------------------------===//
// Visitors
//===----------------------------------------------------------------------===//

/// Whether an optional member is left out.
template <typename T>
bool isLeftOut(const T &value) {
  if constexpr (requires { value.empty(); })
    return value.empty();
  else if constexpr (requires { value.has_value(); })
    return !value.has_value();
  else
    return value == T();
}

class JsonFieldWriter {
public:
  explicit JsonFieldWriter(llvm::json::OStream &out) : out(out) {}

  template <typename T, typename Form = JsonForm<T>>
  void operator()(llvm::StringRef name, const T &member, Form form = {}) {
    out.attributeBegin(name);
    form.write(member, out);
    out.attributeEnd();
  }
  template <typename T, typename Form = JsonForm<T>>
  void optional(llvm::StringRef name, const T &member, Form form = {}) {
    if (!isLeftOut(member))
      (*this)(name, member, form);
  }
  template <typename T, typename Form = JsonForm<T>>
  void added(llvm::StringRef name, const T &member, Form form = {}) {
    (*this)(name, member, form);
  }
  void constant(llvm::StringRef name, llvm::StringRef text) {
    out.attribute(name, text);
  }
  template <typename List>
  void inside(llvm::StringRef name, List list) {
    out.attributeObject(name, [&] { list(*this); });
  }
  template <typename T, typename List>
  void when(bool, const std::optional<T> &member, List list) {
    if (member)
      list(*member);
  }

private:
  llvm::json::OStream &out;
};

/// Stops at the first member that cannot be taken.
class JsonFieldReader {
public:
  JsonFieldReader(const llvm::json::Object &object, JsonPath path)
      : object(object), path(path) {}
  bool isRight() const { return ok; }

  template <typename T, typename Form = JsonForm<T>>
  void operator()(llvm::StringRef name, T &member, Form form = {}) {
    if (const llvm::json::Value *value = find(name, true))
      ok = form.read(*value, member, path.member(name));
  }
  template <typename T, typename Form = JsonForm<T>>
  void optional(llvm::StringRef name, T &member, Form form = {}) {
    if (const llvm::json::Value *value = find(name, false))
      ok = form.read(*value, member, path.member(name));
  }
  template <typename T, typename Form = JsonForm<T>>
  void added(llvm::StringRef name, T &member, Form form = {}) {
    optional(name, member, form);
  }
  void constant(llvm::StringRef, llvm::StringRef) {}
  template <typename List>
  void inside(llvm::StringRef name, List list) {
    const llvm::json::Value *value = find(name, true);
    const llvm::json::Object *inner =
        value ? objectOf(*value, path.member(name)) : nullptr;
    ok &= inner != nullptr;
    if (!ok)
      return;
    JsonFieldReader reader(*inner, path.member(name));
    list(reader);
    ok = reader.ok;
  }
  template <typename T, typename List>
  void when(bool is, std::optional<T> &member, List list) {
    if (ok && is)
      list(member.emplace());
  }

private:
  /// Null after a failure, and for a member that is not there.
  const llvm::json::Value *find(llvm::StringRef name, bool isNeeded);

  const llvm::json::Object &object;
  JsonPath path;
  bool ok = true;
};

template <JsonRecord T>
bool readFields(const llvm::json::Value &json, T &value, JsonPath path) {
  const llvm::json::Object *object = objectOf(json, path);
  if (!object)
    return false;
  JsonFieldReader reader(*object, path);
  JsonFields<T>::list(value, reader);
  if constexpr (requires { JsonFields<T>::check(value, path); })
    return reader.isRight() && JsonFields<T>::check(value, path);
  else
    return reader.isRight();
}

template <JsonRecord T>
void writeFields(const T &value, llvm::json::OStream &out) {
  out.object([&] {
    JsonFieldWriter writer(out);
    JsonFields<T>::list(value, writer);
  });
}

} // namespace anec

#endif // ANEC_LIB_SUPPORT_JSONFIELDS_H
