//===- Collective.cpp - processes that train one model --------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The only file that includes MPI, which is optional.
///
//===----------------------------------------------------------------------===//

#include "anec/Train/Collective.h"
#include "lib/Train/Diags.h"
#include "llvm/Support/Process.h"
#ifdef ANEC_HAS_MPI
#define OMPI_SKIP_MPICXX
#include <mpi.h>
#endif

using namespace anec;

Collective::~Collective() = default;

/// The number of processes according to mpirun's environment variables.
static unsigned startedProcesses() {
  // Open MPI's variable, and that of launchers that implement PMI.
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    std::optional<std::string> value = llvm::sys::Process::GetEnv(name);
    if (unsigned count;
        value && !llvm::StringRef(*value).getAsInteger(10, count))
      return count;
  }
  return 1;
}

#ifndef ANEC_HAS_MPI

bool anec::hasMpi() { return false; }

std::unique_ptr<Collective> anec::joinCollective(Diagnostics &diags) {
  unsigned count = startedProcesses();
  if (count == 1)
    return std::make_unique<Collective>();
  diags.report({}, diag::NoMpi, count);
  return nullptr;
}

#else

bool anec::hasMpi() { return true; }

namespace {
class MpiCollective : public Collective {
public:
  MpiCollective() {
    // Threads of this process compute; only the one that trains calls MPI.
    int provided = 0, rank = 0, size = 1;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    number = unsigned(rank);
    count = unsigned(size);
  }
  ~MpiCollective() override { MPI_Finalize(); }

  // MPI errors abort all processes, which is MPI's default.
  void beginSum(llvm::MutableArrayRef<float> array) override {
    // In several parts, so that sending one overlaps with adding another.
    constexpr size_t longest = 1 << 20;
    while (!array.empty()) {
      size_t size = std::min(array.size(), longest);
      MPI_Iallreduce(MPI_IN_PLACE, array.data(), int(size), MPI_FLOAT, MPI_SUM,
                     MPI_COMM_WORLD, &underWay.emplace_back());
      array = array.drop_front(size);
    }
    // MPI makes progress only inside its calls.
    int all = 0;
    MPI_Testall(int(underWay.size()), underWay.data(), &all,
                MPI_STATUSES_IGNORE);
  }
  void finishSums() override {
    MPI_Waitall(int(underWay.size()), underWay.data(), MPI_STATUSES_IGNORE);
    underWay.clear();
  }
  void sum(llvm::MutableArrayRef<double> values) override {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), int(values.size()), MPI_DOUBLE,
                  MPI_SUM, MPI_COMM_WORLD);
  }
  void meet() override { MPI_Barrier(MPI_COMM_WORLD); }
  void endAll(int exitCode) override { MPI_Abort(MPI_COMM_WORLD, exitCode); }

private:
  std::vector<MPI_Request> underWay;
};
} // namespace

std::unique_ptr<Collective> anec::joinCollective(Diagnostics &) {
  if (startedProcesses() == 1)
    return std::make_unique<Collective>();
  return std::make_unique<MpiCollective>();
}

#endif // ANEC_HAS_MPI
