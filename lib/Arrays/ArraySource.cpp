//===- ArraySource.cpp - named collections of arrays ----------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/Arrays/ArraySource.h"
#include "anec/Arrays/Diags.h"
#include "anec/Arrays/Npy.h"
#include "anec/Arrays/Safetensors.h"
#include "anec/Arrays/StoredAs.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace anec;
using namespace llvm;

/// The .npy files in `folder`, sorted.
static std::optional<std::vector<std::string>> listNpy(StringRef folder,
                                                       Diagnostics &diags) {
  std::vector<std::string> files;
  std::error_code code;
  for (sys::fs::directory_iterator it(folder, code), end; it != end && !code;
       it.increment(code))
    if (sys::path::extension(it->path()) == ".npy")
      files.push_back(it->path());
  if (code) {
    diags.reportFile(folder, diag::CannotOpen, code.message());
    return std::nullopt;
  }
  llvm::sort(files);
  return files;
}

std::optional<ArraySource>
ArraySource::read(const MappedFile &file, StringRef path, Diagnostics &diags) {
  std::optional<Safetensors> contents = readSafetensors(file, path, diags);
  if (!contents)
    return std::nullopt;
  ArraySource source;
  source.source = path.str();
  for (NamedArray &named : contents->arrays)
    source.arrays[named.name] = std::move(named.array);
  source.about = std::move(contents->metadata);
  source.files.push_back(file);
  return source;
}

std::optional<ArraySource> ArraySource::open(StringRef path,
                                             Diagnostics &diags) {
  ArraySource source;
  source.source = path.str();
  if (!sys::fs::is_directory(path)) {
    if (sys::path::extension(path) == ".npy" && sys::fs::exists(path)) {
      diags.reportFile(path, diag::NoArrayNames);
      return std::nullopt;
    }
    MappedFile file = mapFile(path, diags);
    return file ? read(file, path, diags) : std::nullopt;
  }
  std::optional<std::vector<std::string>> files = listNpy(path, diags);
  if (!files)
    return std::nullopt;
  for (const std::string &name : *files) {
    MappedFile file = mapFile(name, diags);
    ConstantRef array = file ? readNpy(file, name, diags) : nullptr;
    if (!array)
      return std::nullopt;
    source.files.push_back(std::move(file));
    source.arrays[sys::path::stem(name)] = std::move(array);
  }
  return source;
}

ConstantRef ArraySource::lookup(StringRef name) const {
  return arrays.lookup(name);
}

ConstantRef ArraySource::lookup(StringRef name, const TensorType &type,
                                SourceRange range, Diagnostics &diags) const {
  ConstantRef array = lookup(name);
  if (!array) {
    if (range.isValid())
      diags.report(range, diag::NoSuchArray, source, name);
    else
      diags.reportFile(source, diag::NoSuchArray, source, name);
    return nullptr;
  }
  bool sameFamily = array->dtype() == type.dtype ||
                    (isFloat(array->dtype()) && isFloat(type.dtype));
  if (array->type().shape != type.shape || !sameFamily) {
    diags.report(range, diag::ArrayTypeMismatch, name, array->type().str(),
                 source, type.str());
    return nullptr;
  }
  return declaredAs(array, type.dtype);
}

void ArraySource::releasePages() const {
  for (const MappedFile &file : files)
    anec::releasePages(file);
}

std::vector<StringRef> ArraySource::names() const {
  std::vector<StringRef> all(arrays.keys().begin(), arrays.keys().end());
  llvm::sort(all);
  return all;
}
