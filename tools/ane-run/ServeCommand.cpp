//===- ServeCommand.cpp - ane-run serve MODEL -----------------------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "../NumberFlag.h"
#include "../Signals.h"
#include "BackendFlags.h"
#include "CommandTable.h"
#include "GenerateFlags.h"
#include "HttpServer.h"
#include "LoadedModel.h"
#include "lib/Generate/Diags.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <random>

using namespace anec;
namespace cl = llvm::cl;

namespace {
class Serve : public Command {
public:
  Serve() {
    sampling.tokens.setDescription(
        "Maximum number of new tokens of a request that does not say it "
        "(default: all that the model has positions for)");
    sampling.seed.setDescription(
        "Seed of a request that does not say it, plus its number (default: a "
        "random one)");
  }
  ExitCode run(const Invocation &call) override;

private:
  std::string check() const;
  bool serve(Diagnostics &diags) const;

  ModelFlags model;
  SamplingFlags sampling;
  CacheFlags cache;
  BackendFlags backendFlags;
  /// What other tools call these flags.
  cl::alias shortTokens{"n", cl::aliasopt(sampling.tokens), cl::Hidden},
      predicted{"n-predict", cl::aliasopt(sampling.tokens), cl::Hidden},
      maxTokens{"max-tokens", cl::aliasopt(sampling.tokens), cl::Hidden},
      temp{"temp", cl::aliasopt(sampling.temperature), cl::Hidden},
      shortContext{"c", cl::aliasopt(cache.context), cl::Hidden},
      contextSize{"ctx-size", cl::aliasopt(cache.context), cl::Hidden};
  WholeFlag<unsigned> port{"port", cl::value_desc("N"), cl::init(8080),
                           cl::desc("Port of 127.0.0.1 to listen on (default "
                                    "8080; 0: any that is free)")};
  WholeFlag<unsigned> queue{
      "queue", cl::value_desc("N"), cl::init(32),
      cl::desc("Requests that can wait for the model (at most 1000, default "
               "32); others are refused with status 503")};
  cl::opt<bool> quiet{
      "quiet", cl::desc("Print no line for each request that is served")};
};
} // namespace

/// `Qwen3-0.6B`, of its folder or file.
static std::string nameOf(llvm::StringRef path) {
  llvm::StringRef whole = path.rtrim('/');
  llvm::StringRef last = llvm::sys::path::filename(whole);
  for (llvm::StringRef ending :
       {".gguf", ".anepkg", ".mlpackage", ".mlmodelc", ".mil", ".bin"})
    if (last.consume_back(ending))
      break;
  return last.empty() || last == "." || last == ".." ? "model" : last.str();
}

bool Serve::serve(Diagnostics &diags) const {
  if (!hasHttpServer()) {
    diags.report({}, diag::NoHttpServer);
    return false;
  }
  std::unique_ptr<Backend> backend = backendFlags.choice().open(diags);
  if (!backend)
    return false;
  LoadedModel loaded;
  if (!loaded.load(model.source(), model.function, cache, quiet, *backend,
                   backendFlags.load(), diags) ||
      !loaded.hasFittingTokenizer(model.package, diags))
    return false;

  HttpServerOptions options;
  if (!sampling.apply(model.package, options.defaults, diags) ||
      !sampling.addEnds(options.defaults, diags))
    return false;
  options.defaults.echo = false;
  options.defaults.markBeginning = loaded.marksBeginning(model.package);
  if (sampling.tokens.getNumOccurrences())
    options.tokens = sampling.tokens;
  // Without the type, a seed would be cut to the 32 bits of random_device.
  options.seed = sampling.seed.getNumOccurrences() ? uint64_t(sampling.seed)
                                                   : std::random_device()();
  options.port = int(port);
  options.queue = queue;
  options.model = nameOf(model.package);
  options.isQuiet = quiet;

  Generator generator(*loaded.text, loaded.tokenizer());
  if (!generator.canUse(options.defaults, diags))
    return false;
  TextService service(generator, *loaded.tokenizer(), stopRequested(), queue);
  if (!service.noChatReason().empty() && !quiet)
    llvm::errs() << "No conversations: " << service.noChatReason() << '\n';
  catchRequestsToStop();
  return serveHttp(service, options, stopRequested(), diags);
}

/// The error in the flags; empty when they are valid.
std::string Serve::check() const {
  for (const std::string &wrong :
       {model.check(), backendFlags.check(), sampling.check(),
        cache.check(model.package)})
    if (!wrong.empty())
      return wrong;
  if (port > 65535)
    return "--port takes a number from 0 to 65535";
  if (queue > 1000)
    return "--queue takes a number from 0 to 1000";
  if (sampling.tokens.getNumOccurrences() && sampling.tokens == 0)
    return "--tokens takes a number of at least 1";
  return "";
}

ExitCode Serve::run(const Invocation &call) {
  if (std::string wrong = check(); !wrong.empty())
    return call.usageError(wrong);
  return runReporting([&](Diagnostics &diags) { return serve(diags); });
}

constinit const CommandDef commands::Serve = {
    .name = "serve",
    .group = commands::models,
    .summary = "Answer programs that speak OpenAI's HTTP API, on this machine",
    .synopsis = "FOLDER|MODEL.gguf|MODEL.anepkg|.mlpackage|.mlmodelc|.mil",
    .details =
        "  Serves /v1/chat/completions, /v1/completions and /v1/models at "
        "127.0.0.1, until\n  SIGINT or SIGTERM. Flags about sampling are for "
        "requests that do not say it\n  themselves. See docs/use/serve.md.\n",
    .usual = "weights checkpoint tokenizer tokens context temperature port "
             "queue backend threads",
    .examples = R"(  ane-run serve Qwen3-0.6B
  ane-run serve Qwen3-0.6B-Q4_K_M.gguf --port=8000 --context=2048
  ane-run serve forward.anepkg --checkpoint run --tokenizer=qwen3 --temperature=0.7
)",
    .make = makeCommand<::Serve>,
};
