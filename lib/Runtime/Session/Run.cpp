//===- Run.cpp - the execution of a plan ----------------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Run.h"
#include "lib/Runtime/Elements.h"

using namespace anec;
using namespace anec::session;

/// Records the start of a step and, at the end of the scope, its time.
class Run::Timer {
public:
  explicit Timer(Timing &timing) : timing(timing) {
    timing.begin = std::chrono::steady_clock::now();
  }
  ~Timer() {
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - timing.begin;
    timing.seconds = elapsed.count();
  }
  Timer(const Timer &) = delete;
  Timer &operator=(const Timer &) = delete;

private:
  Timing &timing;
};

Run::Run(const Plan &plan, SessionContext &context)
    : plan(plan), context(context), timings(plan.steps.size()) {
  if (plan.overlapping == 0)
    return;
  for (const PlanStep &step : plan.steps)
    if (step.description.overlaps)
      tasks.push_back({&step, [this, &step] { runHost(step); }});
  queue.emplace(context.workspace->executor(), plan.mostOverlapping);
}

bool Run::stage(Diagnostics &diags) {
  if (plan.staging)
    plan.staging->run();
  for (const PlanStep &step : plan.steps) {
    if (!step.kernel || step.kernel->staged.empty())
      continue;
    Executable *executable = step.kernel->program->executable(diags);
    if (!executable)
      return false;
    for (const Transfer &transfer : step.kernel->staged)
      if (!executable->writeInput(transfer.port, transfer.region,
                                  transfer.memory, diags))
        return false;
  }
  return true;
}

void Run::runHost(const PlanStep &step) {
  Timer timer(timings[&step - plan.steps.data()]);
  if (!step.updates.empty()) {
    for (const StateUpdate &update : step.updates)
      update.run(context.workspace->executor());
    return;
  }
  if (mode == Gradients::Replace)
    for (llvm::MutableArrayRef<float> gradient : step.host.zeroed)
      std::fill(gradient.begin(), gradient.end(), 0.0f);
  step.host.program(mode).run();
}

bool Run::runKernel(const KernelStep &kernel, Diagnostics &diags) {
  Executable *executable = kernel.program->executable(diags);
  if (!executable)
    return false;
  for (const Transfer &transfer : kernel.inputs)
    if (!executable->writeInput(transfer.port, transfer.region, transfer.memory,
                                diags))
      return false;
  if (!executable->execute(diags))
    return false;
  for (const Transfer &transfer : kernel.outputs)
    if (!executable->readOutput(transfer.port, transfer.region, transfer.memory,
                                diags))
      return false;
  return true;
}

/// Waits until that many overlapping steps are done.
void Run::waitForTasks(size_t count, GradientReady ready) {
  for (; finished < count; ++finished) {
    queue->wait(tasks[finished].number);
    llvm::for_each(tasks[finished].step->finished, ready);
  }
}

bool Run::runSteps(Gradients gradients, GradientReady ready,
                   Diagnostics &diags) {
  mode = gradients;
  submitted = finished = 0;
  bool ok = true;
  for (const PlanStep &step : plan.steps) {
    if (gradients == Gradients::None && step.description.isBackward)
      break;
    waitForTasks(step.waitsFor, ready);
    if (step.description.overlaps) {
      Task &task = tasks[submitted++];
      task.number = queue->submit(task.body);
      continue;
    }
    if (step.kernel) {
      Timer timer(timings[&step - plan.steps.data()]);
      ok = runKernel(*step.kernel, diags);
      if (!ok)
        break;
    } else {
      runHost(step);
    }
    llvm::for_each(step.finished, ready);
  }
  waitForTasks(submitted, ready);
  return ok;
}

bool Run::execute(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs,
                  llvm::ArrayRef<llvm::MutableArrayRef<uint8_t>> outputs,
                  Gradients gradients, GradientReady ready,
                  Diagnostics &diags) {
  assert(inputs.size() == plan.inputs.size() &&
         outputs.size() == plan.outputs.size());
  Executor &executor = context.workspace->executor();
  for (size_t i = 0; i < inputs.size(); ++i)
    loadElements(plan.inputs[i].type, inputs[i], plan.inputWords[i], executor);
  if (!runSteps(gradients, ready, diags))
    return false;
  for (size_t i = 0; i < outputs.size(); ++i)
    storeElements(plan.outputs[i].type, plan.outputWords[i], outputs[i],
                  executor);
  return true;
}

std::vector<PartTime> Run::times() const {
  std::vector<PartTime> times;
  for (auto [step, timing] : llvm::zip_equal(plan.steps, timings)) {
    PartTime &time = times.emplace_back(step.description);
    time.begin = timing.begin;
    time.seconds = timing.seconds;
  }
  return times;
}
