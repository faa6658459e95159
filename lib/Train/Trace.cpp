//===- Trace.cpp - what a training step does when -------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Train/Trace.h"
#include "lib/Support/AtomicFile.h"
#include "llvm/Support/JSON.h"

using namespace anec;
namespace json = llvm::json;

void Trace::add(Row row, llvm::StringRef name, Clock::time_point begin,
                double seconds, uint64_t step) {
  events.push_back({row, name.str(), begin, seconds, step});
}

static constexpr llvm::StringLiteral rowNames[] = {
    "steps",     "kernels", "host ops", "gradients beside kernels",
    "optimizer", "files"};

bool Trace::write(llvm::StringRef path, Diagnostics &diags) const {
  AtomicFiles files(diags);
  OutputFile *file = files.add(path);
  if (!file)
    return false;
  Clock::time_point origin = Clock::time_point::max();
  for (const Event &event : events)
    origin = std::min(origin, event.begin);
  json::OStream out(*file);
  out.object([&] {
    out.attribute("displayTimeUnit", "ms");
    out.attributeArray("traceEvents", [&] {
      for (int row = Steps; row <= Files; ++row)
        out.value(
            json::Object{{"ph", "M"},
                         {"name", "thread_name"},
                         {"pid", 1},
                         {"tid", row},
                         {"args", json::Object{{"name", rowNames[row]}}}});
      for (const Event &event : events) {
        std::chrono::duration<double, std::micro> begin = event.begin - origin;
        out.value(json::Object{{"ph", "X"},
                               {"name", event.name},
                               {"cat", rowNames[event.row]},
                               {"pid", 1},
                               {"tid", int(event.row)},
                               {"ts", begin.count()},
                               {"dur", event.seconds * 1e6},
                               {"args", json::Object{{"step", event.step}}}});
      }
    });
  });
  *file << '\n';
  return files.commit();
}
