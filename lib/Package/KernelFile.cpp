//===- KernelFile.cpp - a kernel by the path of its text ------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "anec/MIL/Reader.h"
#include "anec/Package/ModelPackage.h"
#include "lib/Package/Diags.h"
#include "lib/Support/ReadFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace anec;
namespace path = llvm::sys::path;

llvm::StringMap<ActualFile>
anec::weightFilesOf(const ModelPackage &package, const PackagedKernel &kernel,
                    const PackagedInstance &instance) {
  llvm::StringMap<ActualFile> files;
  if (!instance.weights.empty())
    files[("@model_path/weights/" + path::stem(kernel.mil) + ".bin").str()] = {
        package.pathOf(instance.weights),
        package.contents.lookup(instance.weights)};
  return files;
}

std::optional<KernelFile> anec::findKernelFile(llvm::StringRef file) {
  llvm::SmallString<256> absolute(file);
  if (llvm::sys::fs::make_absolute(absolute))
    return std::nullopt;
  path::remove_dots(absolute, /*remove_dot_dot=*/true);
  llvm::StringRef folder = path::parent_path(path::parent_path(absolute));
  if (path::filename(path::parent_path(absolute)) != "kernels" ||
      !isPackagePath(folder))
    return std::nullopt;
  KernelFile found;
  found.package.folder = folder.str();
  std::string manifest = found.package.pathOf("manifest.json");
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> text = readText(manifest, error);
  // A package that cannot be read says so when it is one to read.
  Diagnostics ignored;
  if (!text ||
      !parseManifest(text->getBuffer(), manifest, found.package, ignored))
    return std::nullopt;
  std::string name = ("kernels/" + path::filename(absolute)).str();
  for (const PackagedKernel &kernel : found.package.kernels)
    if (kernel.mil == name) {
      found.kernel = kernel.name;
      return found;
    }
  return std::nullopt;
}

static std::string listInstances(const PackagedKernel &kernel) {
  std::string list;
  for (const PackagedInstance &instance : kernel.instances)
    if (instance.index)
      list += (list.empty() ? "" : ", ") + std::to_string(*instance.index);
  return list.empty() ? "none" : list;
}

const PackagedInstance *anec::chooseInstance(const PackagedKernel &kernel,
                                             std::optional<int64_t> wanted,
                                             bool onlyToLook,
                                             llvm::StringRef file,
                                             Diagnostics &diags) {
  if (wanted) {
    for (const PackagedInstance &instance : kernel.instances)
      if (instance.index == wanted)
        return &instance;
    diags.reportFile(file, diag::NoSuchInstance, kernel.name, *wanted,
                     listInstances(kernel));
    return nullptr;
  }
  std::set<std::string> weights;
  for (const PackagedInstance &instance : kernel.instances)
    weights.insert(instance.weights);
  if (weights.size() <= 1 || onlyToLook)
    return &kernel.instances.front();
  diags.reportFile(file, diag::ChooseInstance, kernel.name,
                   listInstances(kernel));
  return nullptr;
}
