//===- FuzzPackage.cpp - any bytes as a file of a package -----------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// Replaces one file of a small package, which the first byte chooses, makes
/// its digests fit, and runs all entries: each gives results or an error.
///
//===----------------------------------------------------------------------===//

#include "FileOfBytes.h"
#include "anec/API/Compile.h"
#include "anec/Runtime/Session.h"
#include "anec/Support/MappedFile.h"
#include "lib/Runtime/CPU/CpuBackend.h"
#include "lib/Support/Digest.h"
#include "lib/Support/Json.h"
#include "llvm/ADT/StringExtras.h"

using namespace anec;

static constexpr llvm::StringLiteral model = R"(
layer block(x: fp16[4, 3]) -> fp16[4, 3] {
  weight scale: fp16[4, 1];
  weight w: fp16[4, 4];
  return x + w @ silu(x * scale);
}
model tiny(tokens: int32[3], targets: int32[3]) -> fp32 {
  weight embedding: fp16[6, 4];
  x = gather(embedding, tokens);
  repeat i in 0..2 { x = block[i](x); }
  return cross_entropy(embedding @ x, targets);
}
)";

namespace {
struct Subject {
  std::shared_ptr<Executor> executor = std::make_shared<Executor>(1);
  std::unique_ptr<Backend> backend = createCpuBackend();
  ModelPackage package;
  std::vector<std::string> contents; ///< of the files, and of the manifest

  Subject();
  std::string file(size_t index) const {
    return package.pathOf(index < package.files.size()
                              ? llvm::StringRef(package.files[index].path)
                              : "manifest.json");
  }
  void replace(size_t index, llvm::ArrayRef<uint8_t> bytes);
  void run(Diagnostics &diags) const;
};
} // namespace

Subject::Subject() {
  Diagnostics diags;
  CompileOptions options;
  options.weights.seed = 1;
  options.weights.executor = executor;
  std::optional<ModelPackage> made = compileModelText(
      model, "tiny.tdsl", options, fuzzFolder().file("tiny.anepkg"), diags);
  if (!made)
    std::abort();
  package = std::move(*made);
  package.schedule = nullptr; // which points into texts of `diags`
  for (size_t index = 0; index <= package.files.size(); ++index) {
    std::string error;
    MappedFile bytes = mapFile(file(index), error);
    if (!bytes)
      std::abort();
    contents.push_back(bytes->getBuffer().str());
  }
}

/// Writes `bytes` as the file `index`, and a manifest with its digest.
void Subject::replace(size_t index, llvm::ArrayRef<uint8_t> bytes) {
  writeFile(file(index), bytes);
  if (index == package.files.size())
    return;
  PackagedFile whole = package.files[index];
  package.files[index].bytes = bytes.size();
  package.files[index].digest = blake3(bytes);
  std::string manifest, error;
  llvm::raw_string_ostream out(manifest);
  if (!printManifest(package, out, error))
    std::abort();
  package.files[index] = whole;
  writeFile(file(package.files.size()), llvm::arrayRefFromStringRef(manifest));
}

void Subject::run(Diagnostics &diags) const {
  std::optional<ModelPackage> read = readPackage(package.folder, diags);
  expectOneOf(read.has_value(), diags);
  if (!read)
    return;
  std::vector<PackagedEntry> entries = read->entries;
  SessionOptions options;
  options.load.workspace = std::make_shared<Workspace>(executor);
  std::unique_ptr<Session> session =
      Session::open(std::move(*read), *backend, options, diags);
  expectOneOf(bool(session), diags);
  for (const PackagedEntry &entry : entries) {
    if (!session)
      return;
    bool ok = session->prepare(entry.name, diags);
    expectOneOf(ok, diags);
    if (!ok)
      return;
    std::vector<std::vector<uint8_t>> memory;
    auto allocate = [&](llvm::ArrayRef<Port> ports) {
      for (const Port &port : ports)
        memory.emplace_back(port.type.numBytes());
    };
    allocate(session->inputs(entry.name));
    size_t inputs = memory.size();
    allocate(session->outputs(entry.name));
    std::vector<llvm::ArrayRef<uint8_t>> in(memory.begin(),
                                            memory.begin() + inputs);
    std::vector<llvm::MutableArrayRef<uint8_t>> out(memory.begin() + inputs,
                                                    memory.end());
    ok = session->run(entry.name, in, out, diags);
    expectOneOf(ok, diags);
    if (!ok)
      return;
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Subject subject;
  if (size == 0)
    return 0;
  size_t last = subject.package.files.size(), index = data[0] % (last + 1);
  llvm::ArrayRef<uint8_t> bytes(data + 1, size - 1);
  // A manifest with a digest would only be found to have changed.
  std::string manifest = llvm::toStringRef(bytes).str();
  JsonError error;
  if (index == last)
    if (std::optional<llvm::json::Value> value = parseJson(manifest, error))
      if (llvm::json::Object *object = value->getAsObject()) {
        object->erase("sha256");
        manifest.clear();
        llvm::raw_string_ostream(manifest) << *value;
        bytes = llvm::arrayRefFromStringRef(manifest);
      }
  subject.replace(index, bytes);
  Diagnostics diags;
  subject.run(diags);
  for (size_t changed : {index, last})
    writeFile(subject.file(changed),
              llvm::arrayRefFromStringRef(subject.contents[changed]));
  return 0;
}
