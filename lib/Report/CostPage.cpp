//===- CostPage.cpp - predicted costs as an HTML page ---------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "lib/Report/CostPage.h"
#include "lib/IR/OpDef.h"
#include "lib/IR/ParamNames.h"
#include "lib/Ops/Rows/Host.h"
#include "lib/Report/CostGraphs.h"
#include "lib/Report/CostReport.h"
#include "lib/Report/ScaledNumber.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace anec;

// One rule per line. Colours are variables, with other values in dark mode.
static constexpr char style[] = R"(
:root{--ink:#1d2430;--soft:#5b6675;--line:#dfe4ea;--paper:#fff;--band:#f6f8fa;
--dispatch:#98a2b3;--compute:#2f6fd0;--bandwidth:#e08a2e;--elements:#3d9970;
--kernel:#e3eefc;--product:#d7e7fb;--op:#eef3f8;--host:#f4efe3;--io:#e6f4ea;color-scheme:light dark}
@media(prefers-color-scheme:dark){:root{--ink:#e4e8ee;--soft:#9aa5b4;
--line:#343c48;--paper:#14181e;--band:#1b2129;--dispatch:#6b7686;
--compute:#5b95ea;--bandwidth:#e8a255;--elements:#57b892;--kernel:#1f3350;
--product:#21395a;--op:#222a34;--host:#37301f;--io:#1d3526}}
*{box-sizing:border-box}
body{font:15px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif;margin:0;
color:var(--ink);background:var(--paper)}
main{max-width:72rem;margin:0 auto;padding:2rem 1.5rem 4rem}
h1{font-size:1.7rem;margin:0 0 .2rem}h2{font-size:1.25rem;margin:2.4rem 0 .6rem}
h3{font-size:1rem;margin:1.4rem 0 .4rem}p{margin:.4rem 0}
.soft,footer{color:var(--soft)}
.cards{display:flex;flex-wrap:wrap;gap:.8rem;margin:1rem 0}
.card{flex:1 1 9rem;border:1px solid var(--line);border-radius:8px;
padding:.7rem 1rem;background:var(--band)}
.card b{display:block;font-size:1.45rem;line-height:1.25}
.card span{color:var(--soft);font-size:.85rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
td,th{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:right;
white-space:nowrap}
td:first-child,th:first-child{text-align:left}
th{font-weight:600;color:var(--soft);font-size:.85rem}
td.wide{width:34%;min-width:10rem}td.left,th.left{text-align:left}
.wrap{overflow-x:auto}
.bar{display:flex;height:.8rem;border-radius:3px;overflow:hidden}
.dispatch{background:var(--dispatch)}.compute{background:var(--compute)}
.bandwidth{background:var(--bandwidth)}.elements{background:var(--elements)}
.legend span{display:inline-block;margin-right:1.2rem}
.legend i{display:inline-block;width:.8rem;height:.8rem;border-radius:3px;
margin-right:.35rem;vertical-align:-.05rem}
.depths{display:flex;align-items:flex-end;height:3.5rem;gap:1px;
border-bottom:1px solid var(--line);max-width:44rem}
.depths i{flex:1 1 0;min-width:1px;background:var(--compute);
border-radius:2px 2px 0 0}
details{border:1px solid var(--line);border-radius:8px;margin:.7rem 0}
summary{cursor:pointer;padding:.6rem 1rem;background:var(--band);
border-radius:8px}
summary b{margin-right:.8rem}
details>div{padding:.2rem 1rem 1rem}
.graph{overflow:auto;max-height:46rem;border:1px solid var(--line);
border-radius:8px;padding:.8rem;background:var(--paper)}
svg{display:block;margin:0 auto}
svg text{font:11px ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;
text-anchor:middle;fill:var(--ink)}
svg text.detail{fill:var(--soft)}
svg path{fill:none;stroke:var(--soft);stroke-opacity:.55}
svg rect{fill:var(--op);stroke:var(--line)}
svg .product rect{fill:var(--product);stroke:var(--compute)}
svg .kernel rect{fill:var(--kernel);stroke:var(--compute)}
svg .host rect,svg .repeat rect{fill:var(--host);stroke:var(--bandwidth)}
svg .move rect{fill:var(--paper)}
svg .input rect,svg .output rect{fill:var(--io);stroke:none}
)";

static double mega(double value) { return value / 1e6; }

/// Three significant digits: `12.3`, `0.0123`.
static std::string number(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3g", value);
  if (text.find('e') == std::string::npos)
    return text;
  text.clear();
  llvm::raw_string_ostream(text) << llvm::format("%.0f", value);
  return text;
}

namespace {

class CostPage {
public:
  CostPage(llvm::ArrayRef<RunCost> runs, const Module *schedule,
           const Target &target, llvm::raw_ostream &out)
      : runs(runs), schedule(schedule), target(target), out(out) {}

  void print(llvm::StringRef name);

private:
  void printCards(const RunCost &run);
  void printPrograms(const RunCost &run);
  void printSchedule(const RunCost &run);
  void printProgram(const RunCost::Program &program, bool open);
  void printDepths(const Function &function);
  void printShapes(const Function &function);
  void printAnchors();

  void card(llvm::StringRef what, const std::string &value) {
    out << "<div class=\"card\"><b>" << value << "</b><span>" << what
        << "</span></div>\n";
  }
  /// Prints a bar for `runs` dispatches of `cost`; a time of `whole`
  /// microseconds fills the cell.
  void bar(const Prediction &cost, double runs, double whole);
  void legend() {
    out << "<p class=\"legend soft\"><span><i class=\"dispatch\"></i>dispatch"
           "</span><span><i class=\"compute\"></i>computing</span><span><i "
           "class=\"bandwidth\"></i>moving, where that takes longer than "
           "computing</span><span><i class=\"elements\"></i>elements of ops "
           "that "
           "are not products</span></p>\n";
  }

  llvm::ArrayRef<RunCost> runs;
  const Module *schedule;
  const Target &target;
  llvm::raw_ostream &out;
};

} // namespace

void CostPage::bar(const Prediction &cost, double runs, double whole) {
  out << "<div class=\"bar\">";
  auto part = [&](llvm::StringRef name, double time) {
    out << "<div class=\"" << name << "\" title=\"" << name << ' '
        << number(milli(runs * time)) << " ms\" style=\"width:"
        << llvm::format("%.2f", whole > 0 ? 100 * runs * time / whole : 0)
        << "%\"></div>";
  };
  part("dispatch", cost.floor);
  part(cost.compute >= cost.move ? "compute" : "bandwidth",
       std::max(cost.compute, cost.move));
  part("elements", cost.elements);
  out << "</div>";
}

void CostPage::printCards(const RunCost &run) {
  Prediction sum = run.sum();
  out << "<div class=\"cards\">\n";
  card("predicted on the engine, " + number(milli(sum.least)) + " to " +
           number(milli(sum.most)) + " ms",
       number(milli(sum.total)) + " ms");
  card("dispatches of " + std::to_string(run.programs.size()) +
           (run.programs.size() == 1 ? " program" : " programs"),
       std::to_string(run.dispatches()));
  double gigas = double(sum.work.convFlops + sum.work.otherFlops) / 1e9;
  card("GFLOP, " + number(double(sum.work.bytes) / 1e6) + " MB moved",
       number(gigas));
  card("of the peak for convolutions",
       number(100 * sum.utilization(target)) + " %");
  card("dominates the time", sum.bound().str());
  if (run.hostOps)
    card("GFLOP in " + std::to_string(run.hostOps) +
             " ops of the host, not predicted",
         number(double(run.hostFlops) / 1e9));
  out << "</div>\n";
}

void CostPage::printPrograms(const RunCost &run) {
  out << "<div class=\"wrap\"><table>\n<tr><th>program</th><th>runs</th>"
         "<th>ms each</th><th>ms</th><th></th><th>share</th><th>MFLOP each"
         "</th><th>MB each</th><th>of the peak</th><th>by</th></tr>\n";
  double longest = 0, whole = run.sum().total;
  for (const RunCost::Program &program : run.programs)
    longest = std::max(longest, program.total());
  for (const RunCost::Program &program : run.programs) {
    const Prediction &cost = program.cost;
    out << "<tr><td>" << escapedForHtml(program.name) << "</td><td>"
        << program.runs << "</td><td>" << number(milli(cost.total))
        << "</td><td>" << number(milli(program.total()))
        << "</td><td class=\"wide\">";
    bar(cost, program.runs, longest);
    out << "</td><td>" << number(100 * program.total() / whole) << " %</td><td>"
        << number(mega(double(cost.work.convFlops + cost.work.otherFlops)))
        << "</td><td>" << number(mega(double(cost.work.bytes))) << "</td><td>"
        << number(100 * cost.utilization(target)) << " %</td><td>"
        << cost.bound() << "</td></tr>\n";
  }
  out << "</table></div>\n";
  legend();
}

/// Draws the entry function and the functions that it repeats.
void CostPage::printSchedule(const RunCost &run) {
  const Function *entry = schedule->findFunction(run.name);
  if (!entry)
    return;
  std::vector<const Function *> functions = {entry};
  for (size_t i = 0; i < functions.size(); ++i)
    for (const Op &op : functions[i]->body())
      if (op.is(ops::Repeat))
        functions.push_back(schedule->findFunction(op.get(param::body)));
  out << "<h2>Schedule</h2>\n";
  for (const Function *function : functions) {
    out << "<h3>" << escapedForHtml(function->name)
        << "</h3>\n<div class=\"graph\">";
    drawSchedule(*function, run)
        .print("what " + function->name + " calls", out);
    out << "</div>\n";
  }
}

void CostPage::printDepths(const Function &function) {
  constexpr size_t widest = 120;
  std::vector<DepthCost> costs = costByDepth(function, target);
  if (costs.empty() || costs.size() > widest * 10)
    return;
  double most = 0;
  for (const DepthCost &cost : costs)
    most = std::max(most, cost.compute);
  if (most == 0)
    return;
  out << "<h3>Computing by depth, from the inputs on</h3>\n<div "
         "class=\"depths\">";
  for (auto [depth, cost] : llvm::enumerate(costs))
    out << "<i title=\"depth " << depth + 1 << ": " << cost.ops << " ops, "
        << number(mega(double(cost.flops))) << " MFLOP, "
        << number(cost.compute) << " us\" style=\"height:"
        << llvm::format("%.1f", 100 * cost.compute / most) << "%\"></i>";
  out << "</div>\n";
}

void CostPage::printShapes(const Function &function) {
  constexpr size_t most = 12;
  std::vector<ShapeCost> costs = costByShape(function, target);
  if (costs.empty())
    return;
  out << "<h3>By shape</h3>\n<div class=\"wrap\"><table>\n<tr><th>op</th><th "
         "class=\"left\">shape</th><th>times</th><th>MFLOP</th><th>computing, "
         "us</th><th>weights, us</th><th>of the peak, at most</th></tr>\n";
  for (const ShapeCost &cost : llvm::ArrayRef(costs).take_front(most))
    out << "<tr><td>" << cost.def->name << "</td><td class=\"left\">"
        << escapedForHtml(cost.shape) << "</td><td>" << cost.count
        << "</td><td>" << number(mega(double(cost.flops))) << "</td><td>"
        << number(cost.compute) << "</td><td>" << number(cost.stream)
        << "</td><td>" << number(100 * cost.utilization(target))
        << " %</td></tr>\n";
  out << "</table></div>\n";
  if (costs.size() > most)
    out << "<p class=\"soft\">and " << costs.size() - most
        << " shapes that take less</p>\n";
}

void CostPage::printProgram(const RunCost::Program &program, bool open) {
  constexpr unsigned mostDrawn = 1000;
  const Prediction &cost = program.cost;
  out << "<details" << (open ? " open" : "") << "><summary><b>"
      << escapedForHtml(program.name) << "</b><span class=\"soft\">"
      << cost.numbers.ops << " ops, depth " << cost.depth << ", "
      << number(milli(cost.total)) << " ms (" << number(milli(cost.least))
      << " to " << number(milli(cost.most)) << ")</span></summary><div>\n";
  out << "<p>Dispatch " << number(milli(cost.floor)) << ", computing "
      << number(milli(cost.compute)) << ", moving " << number(milli(cost.move))
      << ", elements " << number(milli(cost.elements)) << " ms in "
      << cost.tasks << " tasks. At most "
      << number(mega(double(cost.numbers.activationPeak))) << " MB are alive, "
      << number(100 * cost.share(target))
      << " % of what fits on the chip; weights are "
      << number(mega(double(cost.numbers.weightBytes))) << " MB.</p>\n";
  printDepths(*program.function);
  printShapes(*program.function);
  out << "<h3>Graph</h3>\n";
  if (cost.numbers.ops > mostDrawn) {
    out << "<p class=\"soft\">" << cost.numbers.ops
        << " ops are too many for a graph.</p>\n";
  } else {
    out << "<div class=\"graph\">";
    drawProgram(*program.function).print("graph of " + program.name, out);
    out << "</div>\n";
  }
  out << "</div></details>\n";
}

void CostPage::printAnchors() {
  out << "<footer><h2>Anchors</h2>\n"
         "<p>The time of a program is the dispatch, the longer of computing "
         "and moving, and what ops that are not products take for their "
         "elements. Times are "
      << describeError(target) << ".</p>\n<ul>\n";
  auto anchor = [&](llvm::StringRef what, const Quoted<double> &figure,
                    llvm::StringRef unit) {
    out << "<li>" << what << ' ' << number(double(figure)) << ' ' << unit
        << ": " << escapedForHtml(figure.source) << " ("
        << spelling(figure.confidence) << " confidence)</li>\n";
  };
  anchor("dispatch", target.cost.floorMicroseconds, "us");
  anchor("convolutions", target.cost.convTeraflops, "TFLOP/s");
  anchor("other ops", target.cost.matmulTeraflops, "TFLOP/s");
  anchor("bandwidth", target.cost.gigabytesPerSecond, "GB/s");
  anchor("elements", target.cost.elementGigabytesPerSecond, "GB/s");
  out << "</ul></footer>\n";
}

void CostPage::print(llvm::StringRef name) {
  std::string title = escapedForHtml(name) + " on " + target.name.str();
  out << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width\"><title>"
      << title << "</title><style>" << style
      << "</style></head><body><main>\n<h1>" << title
      << "</h1>\n<p class=\"soft\">Predicted from anchors that others "
         "published; nothing here was measured.</p>\n";
  for (const RunCost &run : runs) {
    if (schedule)
      out << "<h2>A run of " << escapedForHtml(run.name) << "</h2>\n";
    printCards(run);
    printPrograms(run);
    if (schedule)
      printSchedule(run);
  }
  std::vector<const RunCost::Program *> programs = distinctPrograms(runs);
  out << "<h2>Programs</h2>\n";
  for (const RunCost::Program *program : programs)
    printProgram(*program, programs.size() == 1);
  printAnchors();
  out << "</main></body></html>\n";
}

void anec::printCostPage(llvm::StringRef name, llvm::ArrayRef<RunCost> runs,
                         const Module *schedule, const Target &target,
                         llvm::raw_ostream &out) {
  CostPage(runs, schedule, target, out).print(name);
}
