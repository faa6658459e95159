//===- FuzzMlpackage.cpp - any bytes as a file of a Core ML package -------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The first byte chooses the file that the others are: the model, the manifest
/// or the weights. Whatever it is, the reader gives a module that verifies or
/// an error, and what it gives can be printed as MIL and read again.
///
//===----------------------------------------------------------------------===//

#include "FileOfBytes.h"
#include "anec/CoreML/Reader.h"
#include "anec/IR/Verifier.h"
#include "anec/MIL/ModelDescription.h"
#include "anec/MIL/Printer.h"
#include "anec/Ops/Ops.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace anec;

/// The least that is a package, with an empty model.
static constexpr char manifest[] =
    R"({"fileFormatVersion": "1.0.0", "rootModelIdentifier": "m",
  "itemInfoEntries": {"m": {"author": "", "description": "", "name": "",
                            "path": "c/model.mlmodel"}}})";
/// A program that returns a weight: version 1, and the function `main` with one
/// `const` op.
static constexpr uint8_t model[] = {
    0x08, 0x09, 0xb2, 0x1f, 0x5f, 0x08, 0x01, 0x12, 0x5b, 0x0a, 0x04, 'm',
    'a',  'i',  'n',  0x12, 'S',  0x12, 0x07, 'C',  'o',  'r',  'e',  'M',
    'L',  0x38, 0x1a, 'H',  0x0a, 0x07, 'C',  'o',  'r',  'e',  'M',  'L',
    0x38, 0x12, 0x3d, 0x12, 0x01, 'c',  0x1a, 0x38, 0x0a, 0x05, 'c',  'o',
    'n',  's',  't',  0x1a, 0x11, 0x0a, 0x01, 'c',  0x12, 0x0c, 0x0a, 0x0a,
    0x08, 0x0b, 0x10, 0x01, 0x1a, 0x04, 0x0a, 0x02, 0x08, 0x00, 0x2a, 0x1c,
    0x0a, 0x03, 'v',  'a',  'l',  0x12, 0x15, 0x12, 0x0c, 0x0a, 0x0a, 0x08,
    0x0b, 0x10, 0x01, 0x1a, 0x04, 0x0a, 0x02, 0x08, 0x00, 0x2a, 0x05, 0x0a,
    0x01, 'w',  0x10, 0x40};

static llvm::ArrayRef<uint8_t> bytesOfText(llvm::StringRef text) {
  return llvm::arrayRefFromStringRef(text);
}

/// The package without what a run before has changed.
static std::string makePackage() {
  std::string package = fuzzFolder().file("fuzz.mlpackage");
  if (llvm::sys::fs::create_directories(package + "/Data/c/weights"))
    std::abort();
  writeFile(package + "/Manifest.json", bytesOfText(manifest));
  writeFile(package + "/Data/c/model.mlmodel", model);
  return package;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  static constexpr const char *names[] = {
      "/Data/c/model.mlmodel", "/Manifest.json", "/Data/c/weights/w"};
  std::string package = makePackage();
  writeFile(package + names[data[0] % 3], {data + 1, size - 1});
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
  std::string text;
  llvm::raw_string_ostream out(text);
  MILPrintOptions print;
  print.placement = MILPrintOptions::Placement::Keep;
  if (!verify(*module, diags) || !printMIL(*module, out, print, diags)) {
    diags.print(llvm::errs());
    std::abort();
  }
  llvm::StringRef copy = diags.addBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(text, "printed.mil"));
  MILReadOptions again;
  again.missingWeights = MILReadOptions::MissingWeights::Ignore;
  if (!readMIL(copy, package, opTable(), diags, again)) {
    llvm::errs() << text;
    diags.print(llvm::errs());
    std::abort();
  }
  return 0;
}
