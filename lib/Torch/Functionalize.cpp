//===- Functionalize.cpp - in-place operators made functional -------------===//
// Part of anec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "Functionalize.h"
#include "anec/IR/Type.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

using namespace anec;
using namespace anec::torch;
using Kind = Argument::Kind;

static constexpr llvm::StringLiteral aten = "torch.ops.aten.";

static const Argument *find(const GraphNode &node, StringRef name) {
  for (const NamedArgument &input : node.inputs)
    if (input.name == name)
      return &input.argument;
  return nullptr;
}

/// The tensor that a node reads first.
static StringRef sourceOf(const GraphNode &node) {
  return !node.inputs.empty() && node.inputs[0].argument.kind == Kind::Value
             ? node.inputs[0].argument.text
             : StringRef();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

namespace {
/// How what is written into a view comes back to the value that it shows.
enum class Inverse : uint8_t {
  Reshape,
  Same,    ///< the same operator again
  Permute, ///< the permutation back
  Scatter, ///< an operator of the name with `_scatter`
  Parts,   ///< the parts joined again, along an axis
  Stack,   ///< the same along a new axis
  None,    ///< it is not known
};

struct ViewRow {
  llvm::StringLiteral op;
  Inverse inverse;
  /// Whether the result is a copy if the input does not lie in memory so.
  bool isCopyAtTimes = false;
};
} // namespace

static constexpr ViewRow viewOps[] = {
    {"alias.default", Inverse::Reshape},
    {"as_strided.default", Inverse::None},
    {"chunk.default", Inverse::Parts},
    {"contiguous.default", Inverse::Reshape, true},
    {"detach.default", Inverse::Reshape},
    {"detach_.default", Inverse::Reshape},
    {"diagonal.default", Inverse::Scatter},
    {"dropout.default", Inverse::Reshape, true},
    {"expand.default", Inverse::None},
    {"expand_as.default", Inverse::None},
    {"feature_dropout.default", Inverse::Reshape, true},
    {"flatten.using_ints", Inverse::Reshape, true},
    {"imag.default", Inverse::None},
    {"mT.default", Inverse::Same},
    {"movedim.int", Inverse::None},
    {"narrow.default", Inverse::None},
    {"numpy_T.default", Inverse::Same},
    {"permute.default", Inverse::Permute},
    {"real.default", Inverse::None},
    {"reshape.default", Inverse::Reshape, true},
    {"reshape_as.default", Inverse::Reshape, true},
    {"select.int", Inverse::Scatter},
    {"slice.Tensor", Inverse::Scatter},
    {"split.Tensor", Inverse::Parts},
    {"split.sizes", Inverse::Parts},
    {"split_with_sizes.default", Inverse::Parts},
    {"squeeze.default", Inverse::Reshape},
    {"squeeze.dim", Inverse::Reshape},
    {"squeeze.dims", Inverse::Reshape},
    {"swapaxes.default", Inverse::Same},
    {"t.default", Inverse::Same},
    {"tensor_split.indices", Inverse::Parts},
    {"tensor_split.sections", Inverse::Parts},
    {"to.device", Inverse::Reshape, true},
    {"to.dtype", Inverse::Reshape, true},
    {"to.dtype_layout", Inverse::Reshape, true},
    {"to.other", Inverse::Reshape, true},
    {"transpose.int", Inverse::Same},
    {"type_as.default", Inverse::Reshape, true},
    {"unbind.int", Inverse::Stack},
    {"unflatten.int", Inverse::Reshape},
    {"unfold.default", Inverse::None},
    {"unsqueeze.default", Inverse::Reshape},
    {"view.default", Inverse::Reshape},
    {"view_as.default", Inverse::Reshape},
};

static const ViewRow *viewRowOf(StringRef target) {
  if (!target.consume_front(aten))
    return nullptr;
  for (const ViewRow &row : viewOps)
    if (row.op == target)
      return &row;
  return nullptr;
}

static bool equalExtents(llvm::ArrayRef<Extent> x, llvm::ArrayRef<Extent> y) {
  return llvm::equal(x, y, [](const Extent &x, const Extent &y) {
    return x.value == y.value && x.expression == y.expression;
  });
}

/// Whether elements lie in order, without gaps. Extents that are not known
/// have strides that are not known either.
static bool isInOrder(const TensorMeta &meta) {
  std::optional<Shape> shape = numbersOf(meta.sizes);
  std::optional<Shape> strides = numbersOf(meta.strides);
  if (!shape || !strides || shape->size() != strides->size())
    return false;
  int64_t expected = 1;
  for (size_t axis = shape->size(); axis-- != 0;) {
    if ((*shape)[axis] != 1 && (*strides)[axis] != expected)
      return false;
    expected *= (*shape)[axis];
  }
  return true;
}

namespace {
enum class Answer : uint8_t { No, Yes, Unknown };
} // namespace

/// Whether the result of a view row shows the elements of its input.
static Answer isView(const ViewRow &row, const GraphNode &node,
                     const TensorMeta &from, const TensorMeta &to) {
  if (!row.isCopyAtTimes)
    return Answer::Yes;
  StringRef op = node.target.drop_front(aten.size());
  if (op.starts_with("dropout") || op.starts_with("feature_dropout")) {
    const Argument *train = find(node, "train");
    return train && train->integer ? Answer::No : Answer::Yes;
  }
  if (op.starts_with("to.") || op.starts_with("type_as")) {
    const Argument *copy = find(node, "copy");
    return from.type == to.type && !(copy && copy->integer) ? Answer::Yes
                                                            : Answer::No;
  }
  if (isInOrder(from))
    return Answer::Yes;
  if (op.starts_with("contiguous")) {
    bool isKnown = numbersOf(from.sizes) && numbersOf(from.strides);
    return isKnown && !find(node, "memory_format") ? Answer::No
                                                   : Answer::Unknown;
  }
  if (equalExtents(from.sizes, to.sizes))
    return Answer::Yes;
  // A copy lies in order; a view of what has gaps or another order can, too.
  return isInOrder(to) ? Answer::Unknown : Answer::Yes;
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Replaces the names in `argument` for which `rename` has others.
template <typename Rename>
static void renameAll(Argument &argument, Rename rename) {
  if (argument.kind == Kind::Value)
    argument.text = rename(argument.text);
  for (Argument &element : argument.list)
    renameAll(element, rename);
}

namespace {

/// Replaces nodes that run a graph in another mode by the nodes of the graph.
class Inliner {
public:
  Inliner(Graph &graph, FunctionalizeError &error)
      : graph(graph), error(error) {}

  bool run() {
    std::vector<GraphNode> nodes = std::move(graph.nodes);
    graph.nodes.clear();
    for (GraphNode &node : nodes)
      if (!add(std::move(node), 0))
        return false;
    for (Argument &output : graph.outputs)
      renameAll(output, [&](StringRef name) { return resolve(name); });
    return true;
  }

private:
  StringRef resolve(StringRef name) const {
    auto found = renamed.find(name);
    return found == renamed.end() ? name : found->second;
  }
  bool add(GraphNode node, unsigned depth);
  bool inlineBody(const GraphNode &node, size_t first, Graph &body,
                  std::optional<ScalarType> cast, unsigned depth);
  void castInputs(GraphNode &node, ScalarType type);

  Graph &graph;
  FunctionalizeError &error;
  llvm::StringMap<StringRef> renamed;
  unsigned casts = 0;
};

} // namespace

/// Operators that autocast computes in the narrow type.
static bool isNarrowed(StringRef target) {
  static constexpr llvm::StringLiteral names[] = {
      "addbmm",
      "addmm",
      "baddbmm",
      "bmm",
      "conv1d",
      "conv2d",
      "conv3d",
      "conv_transpose1d",
      "conv_transpose2d",
      "conv_transpose3d",
      "convolution",
      "linear",
      "matmul",
      "mm",
      "scaled_dot_product_attention"};
  if (!target.consume_front(aten))
    return false;
  return llvm::is_contained(names, target.split('.').first);
}

void Inliner::castInputs(GraphNode &node, ScalarType type) {
  for (NamedArgument &input : node.inputs) {
    Argument &argument = input.argument;
    auto meta = graph.tensors.find(argument.text);
    if (argument.kind != Kind::Value || meta == graph.tensors.end() ||
        meta->second.type != ScalarType::Float32)
      continue;
    TensorMeta result = meta->second;
    result.type = type;
    StringRef name =
        graph.keepName(argument.text.str() + ".cast" + std::to_string(casts++));
    graph.tensors[name] = result;
    Argument dtype;
    dtype.kind = Kind::Type;
    dtype.integer = int64_t(type);
    graph.nodes.push_back({.target = "torch.ops.aten.to.dtype",
                           .inputs = {{"self", argument}, {"dtype", dtype}},
                           .outputs = {Argument::value(name)},
                           .stackTrace = node.stackTrace,
                           .moduleStack = node.moduleStack});
    argument.text = name;
  }
}

bool Inliner::inlineBody(const GraphNode &node, size_t first, Graph &body,
                         std::optional<ScalarType> cast, unsigned depth) {
  if (body.inputs.size() != node.inputs.size() - first) {
    error = {"its graph has other inputs than the node", nullptr};
    return false;
  }
  for (auto &meta : body.tensors)
    graph.tensors.try_emplace(meta.first(), meta.second);
  for (auto [i, input] : llvm::enumerate(body.inputs))
    renamed[input.text] = resolve(node.inputs[first + i].argument.text);
  for (GraphNode &inner : body.nodes) {
    inner.isDetached = node.isDetached;
    if (cast && isNarrowed(inner.target)) {
      for (NamedArgument &input : inner.inputs)
        renameAll(input.argument,
                  [&](StringRef name) { return resolve(name); });
      castInputs(inner, *cast);
    }
    if (!add(std::move(inner), depth + 1))
      return false;
  }
  std::vector<Argument> outputs;
  for (const Argument &output : node.outputs) {
    if (output.kind == Kind::List)
      llvm::append_range(outputs, output.list);
    else
      outputs.push_back(output);
  }
  if (outputs.size() != body.outputs.size()) {
    error = {"its graph has other outputs than the node", nullptr};
    return false;
  }
  for (auto [i, output] : llvm::enumerate(outputs))
    if (output.kind == Kind::Value)
      renamed[output.text] = resolve(body.outputs[i].text);
  return true;
}

bool Inliner::add(GraphNode node, unsigned depth) {
  StringRef target = node.target;
  constexpr unsigned deepest = 32;
  if (depth > deepest) {
    error = {"regions are nested too deeply", nullptr};
    return false;
  }
  if (target.consume_front("torch.ops.higher_order.wrap_with_")) {
    size_t at = 0;
    while (at != node.inputs.size() &&
           node.inputs[at].argument.kind != Kind::Graph)
      ++at;
    if (at == node.inputs.size()) {
      error = {"a region has no graph", nullptr};
      return false;
    }
    if (target == "set_grad_enabled" && at > 0)
      node.isDetached = !node.inputs[0].argument.integer;
    std::optional<ScalarType> cast;
    if (target == "autocast" && at > 2 && node.inputs[2].argument.integer)
      cast = ScalarType(node.inputs[1].argument.integer);
    std::shared_ptr<Graph> body = node.inputs[at].argument.graph;
    return inlineBody(node, at + 1, *body, cast, depth);
  }
  for (NamedArgument &input : node.inputs)
    renameAll(input.argument, [&](StringRef name) { return resolve(name); });
  graph.nodes.push_back(std::move(node));
  return true;
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

/// The operator that computes what an in-place one writes; empty if `target` is
/// none.
static std::string functionalOf(StringRef target) {
  if (!target.consume_front(aten))
    return "";
  auto [stem, overload] = target.split('.');
  std::string functional = stem.str();
  if (stem.starts_with("__i") && stem.ends_with("__"))
    functional = "__" + stem.drop_front(3).str();
  else if (stem.ends_with("_") && !stem.ends_with("__"))
    functional = stem.drop_back().str();
  else
    return "";
  return aten.str() + functional + "." + overload.str();
}

namespace {

class Functionalizer {
public:
  Functionalizer(Program &program, FunctionalizeError &error)
      : program(program), graph(program.graph), error(error) {}
  bool run();

private:
  /// What is known of a value, by its name in the program.
  struct Alias {
    StringRef current; ///< the value that has the contents now
    StringRef parent;  ///< what it is a view of; empty if it is none
    GraphNode *view = nullptr;
    size_t output = 0;        ///< of the view
    StringRef root;           ///< what all views lead to
    unsigned version = 0;     ///< of the root, when `current` was computed
    bool isUncertain = false; ///< a view or a copy
  };

  bool fail(const llvm::Twine &message) {
    error.message = message.str();
    return false;
  }
  Alias &aliasOf(StringRef name);
  StringRef use(StringRef name, unsigned depth = 0);
  StringRef fresh(StringRef name);
  bool readNode(GraphNode &node);
  bool write(StringRef name, StringRef contents);
  StringRef writeBack(const Alias &child, StringRef contents);
  StringRef emit(StringRef target, std::vector<NamedArgument> inputs,
                 StringRef like);
  bool readBatchNorm(GraphNode &node, bool &isWritten);
  void giveChanges();

  Program &program;
  Graph &graph;
  FunctionalizeError &error;
  std::vector<std::unique_ptr<GraphNode>> given;
  llvm::StringMap<Alias> aliases;
  /// The result of an in-place operator is the value that it writes.
  llvm::StringMap<StringRef> same;
  llvm::StringMap<unsigned> versions;
  llvm::StringSet<> uncertain; ///< roots with views that may be copies
  const GraphNode *current = nullptr;
  unsigned numFresh = 0;
  bool isTooLarge = false;
};

} // namespace

Functionalizer::Alias &Functionalizer::aliasOf(StringRef name) {
  auto found = same.find(name);
  if (found != same.end())
    name = found->second;
  auto [alias, isNew] = aliases.try_emplace(name);
  if (isNew)
    alias->second.current = alias->second.root = name;
  return alias->second;
}

StringRef Functionalizer::fresh(StringRef name) {
  StringRef made =
      graph.keepName(name.str() + "." + std::to_string(++numFresh));
  auto meta = graph.tensors.find(name);
  if (meta != graph.tensors.end()) {
    TensorMeta copy = meta->second;
    graph.tensors[made] = std::move(copy);
  }
  return made;
}

/// The name of what has the contents of `name` now.
StringRef Functionalizer::use(StringRef name, unsigned depth) {
  Alias &alias = aliasOf(name);
  if (!alias.view || alias.version == versions.lookup(alias.root))
    return alias.current;
  // It is a view of what was written since: it is made again. A few bytes can
  // ask for long chains of them, and often.
  constexpr unsigned deepest = 1000;
  constexpr size_t most = 1 << 20;
  if (depth > deepest || graph.nodes.size() > most) {
    isTooLarge = true;
    return alias.current;
  }
  GraphNode again = *alias.view;
  again.inputs[0].argument.text = use(alias.parent, depth + 1);
  for (size_t i = 1; i < again.inputs.size(); ++i)
    renameAll(again.inputs[i].argument,
              [&](StringRef name) { return use(name, depth + 1); });
  StringRef made;
  size_t index = 0;
  for (Argument &output : again.outputs) {
    llvm::MutableArrayRef<Argument> parts =
        output.kind == Kind::List ? llvm::MutableArrayRef(output.list)
                                  : llvm::MutableArrayRef(output);
    for (Argument &part : parts) {
      part.text = fresh(part.text);
      if (index++ == alias.output)
        made = part.text;
    }
  }
  graph.nodes.push_back(std::move(again));
  alias.current = made;
  alias.version = versions.lookup(alias.root);
  return made;
}

StringRef Functionalizer::emit(StringRef target,
                               std::vector<NamedArgument> inputs,
                               StringRef like) {
  StringRef name = fresh(like);
  graph.nodes.push_back({.target = target,
                         .inputs = std::move(inputs),
                         .outputs = {Argument::value(name)},
                         .stackTrace = current->stackTrace,
                         .moduleStack = current->moduleStack});
  return name;
}

/// The contents of the parent of `child`, whose contents are `contents` now.
/// Empty if they are not known.
StringRef Functionalizer::writeBack(const Alias &child, StringRef contents) {
  const GraphNode &view = *child.view;
  StringRef parent = use(child.parent), like = child.parent;
  std::vector<NamedArgument> inputs = view.inputs;
  switch (viewRowOf(view.target)->inverse) {
  case Inverse::Reshape:
    return emit("torch.ops.aten.view_as.default",
                {{"self", Argument::value(contents)},
                 {"other", Argument::value(parent)}},
                like);
  case Inverse::Same:
    inputs[0].argument = Argument::value(contents);
    return emit(view.target, inputs, like);
  case Inverse::Permute: {
    const Argument *dims = find(view, "dims");
    if (!dims)
      return {};
    Argument back = *dims;
    auto rank = int64_t(dims->list.size());
    for (auto [to, from] : llvm::enumerate(dims->list)) {
      int64_t axis = from.integer < 0 ? from.integer + rank : from.integer;
      if (axis < 0 || axis >= rank)
        return {};
      back.list[size_t(axis)] = Argument::ofInt(int64_t(to));
    }
    return emit(view.target,
                {{"self", Argument::value(contents)}, {"dims", back}}, like);
  }
  case Inverse::Scatter: {
    StringRef op = view.target.drop_front(aten.size());
    auto [name, overload] = op.split('.');
    StringRef target = graph.keepName(aten.str() + name.str() + "_scatter." +
                                      (name == "select"  ? "default"
                                       : name == "slice" ? "default"
                                                         : overload.str()));
    inputs[0].argument = Argument::value(parent);
    inputs.insert(inputs.begin() + 1, {"src", Argument::value(contents)});
    for (size_t i = 2; i < inputs.size(); ++i)
      renameAll(inputs[i].argument, [&](StringRef name) { return use(name); });
    return emit(target, inputs, like);
  }
  case Inverse::Parts:
  case Inverse::Stack: {
    // All parts, of which one is another now.
    GraphNode again = view;
    again.inputs[0].argument = Argument::value(parent);
    if (again.outputs.size() != 1 || again.outputs[0].kind != Kind::List)
      return {};
    for (Argument &part : again.outputs[0].list)
      part.text = fresh(part.text);
    Argument parts = again.outputs[0];
    graph.nodes.push_back(std::move(again));
    parts.list[child.output].text = contents;
    std::vector<NamedArgument> joined = {{"tensors", parts}};
    if (const Argument *dim = find(view, "dim"))
      joined.push_back({"dim", *dim});
    bool stacks = viewRowOf(view.target)->inverse == Inverse::Stack;
    return emit(stacks ? "torch.ops.aten.stack.default"
                       : "torch.ops.aten.cat.default",
                std::move(joined), like);
  }
  case Inverse::None:
    break;
  }
  return {};
}

/// Makes `contents` what `name` has from now on, and all that shows it.
bool Functionalizer::write(StringRef name, StringRef contents) {
  StringRef root = aliasOf(name).root;
  if (uncertain.contains(root))
    return fail("it writes into a tensor of which another may be a view or a "
                "copy; write `.clone()` behind the `reshape` or `contiguous` "
                "whose result must stay, or export with "
                "`.run_decompositions()`");
  StringRef below = contents;
  auto found = same.find(name);
  StringRef at = found == same.end() ? name : found->second;
  while (aliasOf(at).view) {
    Alias alias = aliasOf(at);
    below = writeBack(alias, below);
    if (below.empty())
      return fail("it writes into the result of `" +
                  alias.view->target.drop_front(aten.size()) +
                  "`, which has no counterpart; export with "
                  "`.run_decompositions()`");
    at = alias.parent;
    auto next = same.find(at);
    if (next != same.end())
      at = next->second;
  }
  unsigned version = ++versions[root];
  Alias &rootAlias = aliasOf(root);
  rootAlias.current = below;
  rootAlias.version = version;
  Alias &alias = aliasOf(name);
  alias.current = contents;
  alias.version = version;
  return true;
}

/// In training, it writes the running statistics.
bool Functionalizer::readBatchNorm(GraphNode &node, bool &isWritten) {
  const Argument *training = find(node, "training");
  const Argument *mean = find(node, "running_mean"),
                 *variance = find(node, "running_var");
  isWritten = training && training->integer && mean && variance &&
              mean->kind == Kind::Value && variance->kind == Kind::Value;
  if (!isWritten)
    return true;
  StringRef meanName = mean->text, varianceName = variance->text;
  GraphNode own = node;
  own.target = "torch.ops.aten._native_batch_norm_legit_functional.default";
  // The last, `cudnn_enabled`, is about speed.
  constexpr size_t numNeeded = 8;
  own.inputs.resize(std::min(own.inputs.size(), numNeeded));
  for (NamedArgument &input : own.inputs)
    renameAll(input.argument, [&](StringRef name) { return use(name); });
  StringRef newMean = fresh(meanName), newVariance = fresh(varianceName);
  Argument none;
  own.outputs = {node.outputs.front(), none, none, Argument::value(newMean),
                 Argument::value(newVariance)};
  graph.nodes.push_back(std::move(own));
  return write(meanName, newMean) && write(varianceName, newVariance);
}

bool Functionalizer::readNode(GraphNode &node) {
  current = &node;
  if (node.target == "torch.ops.aten.batch_norm.default") {
    bool isWritten = false;
    if (!readBatchNorm(node, isWritten))
      return false;
    if (isWritten)
      return true;
  }
  StringRef source = sourceOf(node);
  const ViewRow *row = viewRowOf(node.target);
  std::string functional = row ? "" : functionalOf(node.target);
  GraphNode own = node;
  for (NamedArgument &input : own.inputs)
    renameAll(input.argument, [&](StringRef name) { return use(name); });
  if (!functional.empty()) {
    if (source.empty() || node.outputs.size() != 1 ||
        node.outputs[0].kind != Kind::Value)
      return fail("it is not known what it writes");
    own.target = graph.keepName(functional);
    StringRef result = node.outputs[0].text;
    graph.nodes.push_back(std::move(own));
    auto found = same.find(source);
    StringRef written = found == same.end() ? source : found->second;
    if (!write(written, result))
      return false;
    same[result] = written;
    return true;
  }
  graph.nodes.push_back(std::move(own));
  if (!row || source.empty())
    return true;
  auto from = graph.tensors.find(source);
  size_t index = 0;
  for (Argument &output : node.outputs) {
    llvm::ArrayRef<Argument> parts = output.kind == Kind::List
                                         ? llvm::ArrayRef(output.list)
                                         : llvm::ArrayRef(output);
    for (const Argument &part : parts) {
      auto to = graph.tensors.find(part.text);
      size_t own = index++;
      if (from == graph.tensors.end() || to == graph.tensors.end())
        continue;
      Answer answer = isView(*row, node, from->second, to->second);
      if (answer == Answer::No)
        continue;
      StringRef root = aliasOf(source).root;
      if (answer == Answer::Unknown) {
        uncertain.insert(root);
        uncertain.insert(part.text);
        continue;
      }
      Alias alias;
      alias.current = part.text;
      alias.parent = source;
      alias.view = &node;
      alias.output = own;
      alias.root = root;
      alias.version = versions.lookup(root);
      aliases[part.text] = alias;
    }
  }
  return true;
}

/// What was written into buffers and inputs becomes outputs.
void Functionalizer::giveChanges() {
  for (const InputSpec &input : program.inputs) {
    if (versions.lookup(input.name) == 0)
      continue;
    OutputSpec change;
    change.kind = input.kind == InputSpec::Kind::User
                      ? OutputSpec::Kind::InputChange
                      : OutputSpec::Kind::BufferChange;
    change.target =
        input.kind == InputSpec::Kind::User ? input.name : input.target;
    change.argument = Argument::value(use(input.name));
    program.outputs.push_back(change);
  }
}

bool Functionalizer::run() {
  for (GraphNode &node : graph.nodes)
    given.push_back(std::make_unique<GraphNode>(std::move(node)));
  graph.nodes.clear();
  for (std::unique_ptr<GraphNode> &node : given)
    if (!readNode(*node) ||
        (isTooLarge && !fail("it has too many views of what it writes"))) {
      graph.nodes.push_back(*node);
      error.node = &graph.nodes.back();
      return false;
    }
  for (OutputSpec &output : program.outputs)
    renameAll(output.argument, [&](StringRef name) { return use(name); });
  giveChanges();
  return true;
}

bool torch::functionalize(Program &program, FunctionalizeError &error) {
  // Outputs of the program are those of the graph; only the latter follow
  // regions that are replaced.
  if (program.outputs.size() != program.graph.outputs.size()) {
    error.message = "its signature and its graph have different outputs";
    return false;
  }
  if (!Inliner(program.graph, error).run())
    return false;
  for (auto [spec, output] :
       llvm::zip_equal(program.outputs, program.graph.outputs))
    if (spec.argument.kind == Kind::Value && output.kind == Kind::Value)
      spec.argument.text = output.text;
  return Functionalizer(program, error).run();
}
