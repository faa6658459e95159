//===- IncrementalModel.h - texts that are read once ------------*- C++ -*-===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
///
/// \file
/// The text model of a package that was compiled with `--decode`: its programs
/// read new positions, and find those before in caches. docs/use/decoding.md
/// describes the programs.
///
///   if (anec::hasDecodePrograms(session->package()))
///     model = anec::openIncrementalModel(*session, {}, diags);
///
//===----------------------------------------------------------------------===//

#ifndef ANEC_GENERATE_INCREMENTALMODEL_H
#define ANEC_GENERATE_INCREMENTALMODEL_H

#include "anec/Generate/TextModel.h"
#include "anec/Package/ModelPackage.h"
#include "anec/Runtime/Session.h"

namespace anec {

struct IncrementalModelOptions {
  /// The model of the package; empty for the only one that decodes.
  std::string model;
  /// Sequences that are kept at the same time. The caches of one are in the
  /// session's memory; a feed of another exchanges them, which copies what
  /// both have read. Sequences of one call are read in its order. A package of
  /// several texts (`--batch`) has as many as it was compiled with, which it
  /// reads in one run; more are an error.
  unsigned sequences = 1;
};

/// Whether a model of `package` has programs that decode.
bool hasDecodePrograms(const ModelPackage &package);

/// The model as generation sees it. Programs are loaded when they are first
/// needed. Returns null, with the reason reported, when the package has no such
/// programs or they do not fit together. `session` must outlive the model, and
/// has no other user of its states.
[[nodiscard]] std::unique_ptr<TextModel>
openIncrementalModel(Session &session, const IncrementalModelOptions &options,
                     Diagnostics &diags);

} // namespace anec

#endif // ANEC_GENERATE_INCREMENTALMODEL_H
