//===- CheckpointJob.cpp - a checkpoint being written ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "CheckpointJob.h"
#include "lib/Support/Sync.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SHA256.h"
#include <cerrno>
#include <chrono>
#include <unistd.h>

using namespace anec;

namespace {

/// A new file that is synced to disk when it is closed, and its digest.
class SyncedFile : public llvm::raw_ostream {
public:
  SyncedFile(const Folder &folder, llvm::StringRef name)
      : descriptor(folder.create(name)) {
    if (descriptor < 0)
      error = errno;
    SetBufferSize(size_t(1) << 20);
  }
  ~SyncedFile() override { close(); }

  /// Writes the rest and syncs. Returns 0, or the first error.
  int close() {
    flush();
    if (descriptor >= 0) {
      if (!error)
        error = syncToDisk(descriptor);
      if (::close(descriptor) && !error)
        error = errno;
      descriptor = -1;
    }
    return error;
  }
  CheckpointFile digest(llvm::StringRef name) {
    return {name.str(), written, llvm::toHex(hash.final(), /*LowerCase=*/true)};
  }

private:
  void write_impl(const char *bytes, size_t size) override {
    hash.update(llvm::arrayRefFromStringRef({bytes, size}));
    written += size;
    while (size && !error) {
      ssize_t count = ::write(descriptor, bytes, std::min(size, mostAtOnce));
      if (count < 0 && errno == EINTR)
        continue;
      if (count <= 0) {
        error = count < 0 ? errno : EIO;
        return;
      }
      bytes += count;
      size -= size_t(count);
    }
  }
  uint64_t current_pos() const override { return written; }

  static constexpr size_t mostAtOnce = size_t(1) << 30;
  int descriptor;
  int error = 0;
  uint64_t written = 0;
  llvm::SHA256 hash;
};

} // namespace

/// Writes the file `name` in `folder` with `print`. Returns the error, or 0.
static int writeSynced(const Folder &folder, llvm::StringRef name,
                       llvm::function_ref<void(llvm::raw_ostream &)> print,
                       CheckpointFile *digested) {
  SyncedFile file(folder, name);
  print(file);
  if (int error = file.close())
    return error;
  if (digested)
    *digested = file.digest(name);
  return 0;
}

CheckpointJob::CheckpointJob(std::unique_ptr<AtomicFolder> folder,
                             const TrainState &state,
                             llvm::ArrayRef<NamedFloats> weights,
                             llvm::ArrayRef<NamedFloats> moments,
                             const SafetensorsMetadata &metadata,
                             Executor &executor)
    : made(std::move(folder)), written(state), weights(weights),
      moments(moments), metadata(metadata), executor(executor) {
  // One thread that was asked for stays the only one.
  if (executor.size() > 1)
    thread.emplace(executor, [this] { write(); });
  if (!thread || !thread->isRunning())
    write();
}

CheckpointJob::~CheckpointJob() { (void)wait(); }

void CheckpointJob::aboutToChange() {
  if (ready)
    return;
  weights.copyRest(executor);
  moments.copyRest(executor);
}

int CheckpointJob::wait() {
  thread.reset();
  return error;
}

int CheckpointJob::writeArrays(llvm::StringRef name, ArraySnapshot &arrays,
                               CheckpointFile &file) const {
  return writeSynced(
      *made->folder(), name,
      [&](llvm::raw_ostream &out) {
        writeSafetensors(out, arrays.plan(), metadata);
      },
      &file);
}

int CheckpointJob::writeState(llvm::ArrayRef<CheckpointFile> files) const {
  return writeSynced(
      *made->folder(), "state.json",
      [&](llvm::raw_ostream &out) {
        out << llvm::formatv("{0:2}\n", stateToJson(written, files));
      },
      nullptr);
}

void CheckpointJob::write() {
  auto begin = std::chrono::steady_clock::now();
  std::vector<CheckpointFile> files(2);
  int weightsError = 0, momentsError = 0;
  auto writeMoments = [&] {
    momentsError = writeArrays("optimizer.safetensors", moments, files[1]);
  };
  {
    std::optional<ServiceThread> other;
    if (executor.size() > 1)
      other.emplace(executor, writeMoments);
    weightsError = writeArrays("weights.safetensors", weights, files[0]);
    if (!other || !other->isRunning())
      writeMoments();
  }
  error = weightsError ? weightsError : momentsError;
  if (!error)
    error = writeState(files);
  taken =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
          .count();
  ready = true;
}
