//===- FuzzMlpackage.cpp - any files as a Core ML package -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The input is a message with the files of a package, so that the manifest,
/// the model and the weights change together. Whatever they are, the reader
/// gives a module that verifies or an error, and what it gives can be printed
/// as MIL and read again.
///
//===----------------------------------------------------------------------===//

#include "FileOfBytes.h"
#include "ReadsBack.h"
#include "anec/MIL/ModelDescription.h"
#include "lib/CoreML/Reader.h"
#include "lib/Protobuf/Coding.h"
#include <filesystem>
#include <sys/stat.h>

using namespace anec;
using llvm::StringRef;

namespace {

/// A file of the package, or what lies in its place.
enum class Kind : int32_t { File = 0, Folder = 1, Link = 2, Fifo = 3 };

struct File {
  StringRef path;
  protobuf::Bytes bytes; ///< of a link, where it leads
  Kind kind = Kind::File;
  static bool fields(auto &m, auto &visit) {
    return visit(protobuf::at(1, m.path), protobuf::at(2, m.bytes),
                 protobuf::at(3, m.kind));
  }
};

struct Files {
  std::vector<File> files;
  static bool fields(auto &m, auto &visit) {
    return visit(protobuf::at(1, m.files));
  }
};

} // namespace

/// Paths and links stay in the package.
static bool staysBelow(const std::filesystem::path &path) {
  if (path.empty() || path.is_absolute())
    return false;
  return llvm::all_of(path, [](const std::filesystem::path &part) {
    return part != ".." && part.native().find('\0') == std::string::npos;
  });
}

/// Files that cannot be made, such as one below another file, are left out.
static void makeFile(const std::filesystem::path &package, const File &file) {
  std::filesystem::path below = file.path.str();
  if (!staysBelow(below))
    return;
  std::filesystem::path path = package / below;
  std::error_code code;
  std::filesystem::create_directories(path.parent_path(), code);
  StringRef bytes(reinterpret_cast<const char *>(file.bytes.data()),
                  file.bytes.size());
  switch (file.kind) {
  case Kind::Folder:
    std::filesystem::create_directory(path, code);
    return;
  case Kind::Link:
    if (staysBelow(bytes.str()))
      std::filesystem::create_symlink(bytes.str(), path, code);
    return;
  case Kind::Fifo:
    (void)::mkfifo(path.c_str(), 0600);
    return;
  default:
    if (std::filesystem::exists(std::filesystem::symlink_status(path, code)))
      return;
    llvm::raw_fd_ostream out(path.native(), code);
    out << bytes;
    out.close();
    out.clear_error();
  }
}

/// A package with these files and no others.
static std::string makePackage(const Files &files) {
  std::filesystem::path package = fuzzFolder().file("fuzz.mlpackage");
  std::error_code code;
  std::filesystem::remove_all(package, code);
  if (code || !std::filesystem::create_directory(package, code))
    std::abort();
  constexpr size_t most = 16;
  for (const File &file : llvm::ArrayRef(files.files).take_front(most))
    makeFile(package, file);
  return package;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Files files;
  if (!protobuf::parse({data, size}, files))
    return 0;
  std::string package = makePackage(files);
  (void)isCoreMLPackage(package);
  Diagnostics diags;
  MILReadOptions options;
  ModelDescription description;
  options.missingWeights = MILReadOptions::MissingWeights::Ignore;
  options.description = &description;
  std::unique_ptr<Module> module =
      readCoreMLPackage(package, opTable(), diags, options);
  expectOneOf(module != nullptr, diags);
  if (!module)
    return 0;
  expectVerified(*module, diags);
  MILReadOptions again;
  again.missingWeights = MILReadOptions::MissingWeights::Ignore;
  expectReadsBack(*module, package, diags, again);
  return 0;
}
