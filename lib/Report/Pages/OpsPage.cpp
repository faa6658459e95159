//===- OpsPage.cpp - docs/reference/ops.md, from the op table ------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Pages.h"
#include "lib/Ops/Ops.h"
#include "llvm/ADT/STLExtras.h"

using namespace anec;

static void printParameter(const ParamDef &param, llvm::raw_ostream &out) {
  out << "| `" << param.name << "` | ";
  if (param.isConstant())
    out << (param.rank == 0   ? "constant"
            : param.rank == 1 ? "constant list"
                              : "constant tensor");
  else
    out << (param.kind == ParamKind::Variadic ? "values"
            : param.mustBeStored              ? "stored value"
                                              : "value");
  out << " | " << param.dtypes.str();
  if (param.typeVar)
    out << " (" << param.typeVar << ')';
  out << " | ";
  if (param.kind == ParamKind::OptionalValue ||
      param.kind == ParamKind::OptionalConstant)
    out << "optional";
  else if (!param.fallback.empty() && param.dtypes == DTypeSet{DType::String})
    out << "`\"" << param.fallback << "\"`";
  else if (!param.fallback.empty())
    out << '`' << param.fallback << '`';
  else
    out << "required";
  out << " | " << param.doc << " |\n";
}

static llvm::StringRef gradientOf(const OpDef &op) {
  if (op.gradient)
    return "by a rule";
  if (op.decomposeForGradient)
    return "of the ops that `differentiate` writes instead, step by step";
  return op.has(trait::ZeroGradient) ? "zero" : "none";
}

/// Whether the op can have a gradient: an operand may be a float.
static bool takesFloats(const OpDef &op) {
  return !op.has(trait::Constexpr) &&
         llvm::any_of(op.parameters(), [](const ParamDef &param) {
           return !param.isConstant() && (param.dtypes.contains(DType::FP16) ||
                                          param.dtypes.contains(DType::FP32));
         });
}

static void printOp(const OpDef &op, llvm::raw_ostream &out) {
  out << "### " << op.name << "\n\n" << op.summary << "\n\n";
  if (!op.has(trait::Mil))
    out << (op.decompose
                ? "Not a MIL op: `decompose` rewrites it as MIL ops.\n\n"
                : "Not a MIL op.\n\n");
  if (!op.parameters().empty()) {
    out << "| parameter | kind | element types | default | |\n"
           "|---|---|---|---|---|\n";
    for (const ParamDef &param : op.parameters())
      printParameter(param, out);
    out << '\n';
  }
  bool any = false;
  for (auto [index, text] : llvm::enumerate(op.constraints)) {
    if (text.empty())
      continue;
    out << "- (C" << index + 1 << ") " << text << '\n';
    any = true;
  }
  if (any)
    out << '\n';
  if (takesFloats(op))
    out << "Gradient: " << gradientOf(op) << ".\n\n";
}

void anec::printOpsPage(llvm::raw_ostream &out) {
  out << "# Ops\n\n"
         "All ops: MIL's ops, with MIL's names and semantics, and authoring "
         "ops, which\n"
         "programs can use and `decompose` rewrites as MIL ops. Parameters "
         "with the same\n"
         "letter have the same element type. Core ML takes a *stored value* "
         "only as a constant\n"
         "of the program; where a program computes one, `decompose` rewrites "
         "the op with ops\n"
         "that take computed values.\n";
  for (const auto &[family, rows] : byFamily(opTable().all())) {
    out << "\n## " << family << "\n";
    for (const OpDef *op : rows) {
      out << '\n';
      std::string section;
      llvm::raw_string_ostream stream(section);
      printOp(*op, stream);
      out << llvm::StringRef(section).rtrim('\n') << '\n';
    }
  }
  out << "\n## Not differentiable\n\n"
         "Ops without a gradient rule. `differentiate` reports an error when a "
         "gradient\n"
         "reaches one.\n\n";
  for (const OpDef *op : opTable().all())
    if (takesFloats(*op) && !op->gradient && !op->decomposeForGradient &&
        !op->has(trait::ZeroGradient) && op->family != "host")
      out << "- `" << op->name << "`\n";
  out << "\n## Not supported\n\n"
         "MIL ops that anec does not support. A program that uses one is "
         "rejected with the\n"
         "reason.\n\n"
         "| op | reason |\n"
         "|---|---|\n";
  for (const UnsupportedOp &op : opTable().unsupported())
    out << "| " << op.name << " | " << op.reason << " |\n";
}
