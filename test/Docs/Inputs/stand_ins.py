"""Small files in the place of those that the pages of docs/ take for granted.
`stand-ins.txt` says which page has which, `NAME=OTHER` for another one by this name; each is
made once, by the function that `NAMES` gives it, and copied."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parents[1]
for folder in ("Import", "Onnx", "Train"):
    sys.path.insert(0, str(TESTS / folder / "Inputs"))

#: Sizes in the place of those of the examples.
SMALL = {"layers": 2, "dim": 32, "hidden": 64, "heads": 2, "kv_heads": 2, "seq": 64,
         "vocab": 256}
CHATS = [("2 + 2?", "4"), ("The capital of France?", "Paris."), ("Water boils at?", "100 C.")]
TEMPLATE = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + "
            "message['content'] + '<|im_end|>\n' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
TEXT = "A text of a few plain words, which a model can learn.\n" * 400
VOCABULARY = 260


def shapes_of_llama(config):
    dim, hidden, head = config["hidden_size"], config["intermediate_size"], config["head_dim"]
    rows = {"q": config["num_attention_heads"] * head, "k": config["num_key_value_heads"] * head}
    rows["v"] = rows["k"]
    shapes = {"model.embed_tokens.weight": (config["vocab_size"], dim),
              "model.norm.weight": (dim,)}
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        for name in ("input_layernorm", "post_attention_layernorm"):
            shapes[f"{at}{name}.weight"] = (dim,)
        for name, count in rows.items():
            shapes[f"{at}self_attn.{name}_proj.weight"] = (count, dim)
        shapes[f"{at}self_attn.o_proj.weight"] = (dim, rows["q"])
        for name, shape in (("gate", (hidden, dim)), ("up", (hidden, dim)),
                            ("down", (dim, hidden))):
            shapes[f"{at}mlp.{name}_proj.weight"] = shape
        if config["model_type"] == "qwen3":
            for name in ("q_norm", "k_norm"):
                shapes[f"{at}self_attn.{name}.weight"] = (head,)
    return shapes


class StandIns:
    def __init__(self, root, build, folder):
        self.root, self.build, self.made = root, build, folder
        folder.mkdir(parents=True)
        self.pages = {}
        for line in (HERE / "stand-ins.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                page, names = line.split(":", 1)
                self.pages.setdefault(page, []).extend(names.split())

    def put(self, page, folder):
        """What `page` takes for granted, and copies of the examples, into `folder`."""
        for row in ["build", *self.pages.get(page, [])]:
            name, _, other = row.partition("=")
            source = self.path(other or name)
            if source.is_dir() and not source.is_symlink():
                shutil.copytree(source, folder / name, symlinks=True)
            else:
                shutil.copy(source, folder / name, follow_symlinks=False)

    def path(self, name):
        path = self.made / name
        if not path.exists() and not path.is_symlink():
            if name not in NAMES:
                sys.exit(f"stand-ins.txt: no function of stand_ins.py makes {name}")
            NAMES[name](self, path)
        return path

    def run(self, *words):
        words = [str(word) for word in words]
        words[0] = str(self.build / "bin" / words[0]) if words[0] in (
            "anec", "ane-run") else words[0]
        done = subprocess.run(words, cwd=self.made, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"stand-in: `{' '.join(words)}` ends with {done.returncode}:\n"
                     + done.stderr)

    def link_build(self, path):
        path.symlink_to(self.build)

    def link_tests(self, path):
        path.symlink_to(self.root / "test")

    def link_packaging(self, path):
        path.symlink_to(self.root / "packaging")

    def examples(self, path):
        shutil.copytree(self.root / "examples", path)
        shutil.copy(self.path("llama.tdsl"), path / "llama.tdsl")

    def example(self, path):
        """A program of examples/, small."""
        text = (self.root / "examples" / path.name).read_text()
        for name, value in SMALL.items():
            text = re.sub(rf"\b({name}) = \d+", rf"\1 = {value}", text)
        path.write_text(text)

    def digits(self, path):
        shutil.copy(self.root / "examples/digits.tdsl", path)

    def kernel(self, path):
        path.write_text("""config { dim = 64; hidden = 128; seq = 32; heads = 8; }
kernel gate(x: fp16[dim, seq]) -> fp16[hidden, seq] {
  weight w1, w3: fp16[hidden, dim];
  return silu(w1 @ x) * (w3 @ x);
}
""")

    def text(self, path):
        path.write_text(TEXT)

    def texts(self, path):
        path.mkdir()
        (path / "a.md").write_text(TEXT)

    def chats(self, path):
        path.write_text("".join(json.dumps({"messages": [
            {"role": "user", "content": asked}, {"role": "assistant", "content": answer}]}) +
            "\n" for asked, answer in CHATS * 10))

    def messages(self, path):
        path.write_text(json.dumps([{"role": "user", "content": "What is 2 + 2?"}]))

    def tokenizer(self, path):
        """Byte pairs of Qwen's kind, of two pairs, with the markers of a conversation."""
        from huggingface_cases import byte_characters
        characters = byte_characters()
        vocabulary = {characters[byte]: byte for byte in range(256)} | {"th": 256, "the": 257}
        level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
        path.write_text(json.dumps({
            "version": "1.0", "pre_tokenizer": level, "decoder": level,
            "added_tokens": [{"id": 258 + at, "content": text, "special": True,
                              "normalized": False}
                             for at, text in enumerate(("<|im_start|>", "<|im_end|>"))],
            "model": {"type": "BPE", "vocab": vocabulary, "merges": ["t h", "th e"]}}))

    def hub(self, path):
        """A model of random weights in the layout of Hugging Face."""
        import model_files
        import numpy
        config = {"model_type": "qwen3" if "wen" in path.name else "llama",
                  "hidden_size": 32, "intermediate_size": 64, "head_dim": 16,
                  "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1,
                  "vocab_size": VOCABULARY, "max_position_embeddings": 4096,
                  "rms_norm_eps": 1e-6, "rope_theta": 1e6, "tie_word_embeddings": True}
        draw = numpy.random.default_rng(1)
        arrays = {name: draw.normal(0, 0.15, shape) if len(shape) > 1 else numpy.ones(shape)
                  for name, shape in shapes_of_llama(config).items()}
        model_files.write_model(str(path), config, arrays,
                                {name: "float16" for name in arrays})
        shutil.copy(self.path("tokenizer.json"), path)
        (path / "tokenizer_config.json").write_text(json.dumps(
            {"eos_token": "<|im_end|>", "chat_template": TEMPLATE}))
        (path / "generation_config.json").write_text(json.dumps({"eos_token_id": 259}))

    def gguf(self, path):
        import gguf_files
        import numpy
        from gguf_models import gguf_name
        folder = self.path("Qwen3-0.6B")
        config = json.loads((folder / "config.json").read_text())
        words = json.loads((folder / "tokenizer.json").read_text())
        tokens = sorted(words["model"]["vocab"], key=words["model"]["vocab"].get)
        family = config["model_type"] = "qwen3" if "wen" in path.name else "llama"
        draw = numpy.random.default_rng(1)
        arrays = {}
        for name, shape in shapes_of_llama(config).items():
            values = draw.normal(0, 0.15, shape) if len(shape) > 1 else numpy.ones(shape)
            arrays[gguf_name(family, name)] = (0, values.astype("<f4").tobytes(), shape)
        sizes = {"context_length": 4096, "embedding_length": 32, "feed_forward_length": 64,
                 "block_count": 2, "attention.head_count": 2, "attention.head_count_kv": 1,
                 "attention.key_length": 16, "attention.value_length": 16,
                 "attention.layer_norm_rms_epsilon": 1e-6, "rope.freq_base": 1e6}
        gguf_files.write_gguf(str(path), {
            "general.architecture": family,
            **{f"{family}.{key}": value for key, value in sizes.items()},
            "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "qwen2",
            "tokenizer.ggml.tokens": tokens + ["<|im_start|>", "<|im_end|>"],
            "tokenizer.ggml.token_type": [1] * len(tokens) + [3, 3],
            "tokenizer.ggml.merges": words["model"]["merges"],
            "tokenizer.ggml.eos_token_id": 259,
            "tokenizer.chat_template": TEMPLATE}, arrays)

    def imported(self, path):
        """qwen3.tdsl with its map of names."""
        self.run("anec", "import", self.path("Qwen3-0.6B"), "-o", self.made / "qwen3.tdsl")

    def trained(self, path):
        """The run of a training of one step."""
        self.run("ane-run", "train", self.path("llama.anepkg"), "--init=1", "--steps=1",
                 "--data", self.path("book.txt"), "--checkpoint", path)

    def trained_import(self, path):
        self.run("anec", self.path("qwen3.tdsl"), "-o", self.made / "imported.anepkg")
        self.run("ane-run", "train", self.made / "imported.anepkg", "--steps=1",
                 "--weights", self.path("Qwen3-0.6B"), "--tokenizer", self.path("qwen3"),
                 "--data", self.path("book.txt"), "--checkpoint", path)

    def of_gguf(self, path):
        """A map of names of a GGUF file, and a run of its model."""
        file = self.path("Qwen3-0.6B-Q4_K_M.gguf")
        self.run("anec", "import", file, "-o", self.made / "gguf.tdsl")
        self.run("anec", self.made / "gguf.tdsl", "-o", self.made / "gguf.anepkg")
        self.run("ane-run", "train", self.made / "gguf.anepkg", "--steps=1", "--weights", file,
                 "--tokenizer", self.path("qwen3"), "--data", self.path("book.txt"),
                 "--checkpoint", self.made / "run-of-gguf")

    def names(self, path):
        self.path("qwen3.tdsl")

    def drawn(self, path, shapes):
        """Weights of these shapes."""
        import model_files
        import numpy
        draw = numpy.random.default_rng(1)
        model_files.write_safetensors(
            path, {name: draw.normal(0, 0.1, shape) for name, shape in shapes.items()},
            {name: "float32" for name in shapes})

    def kernel_weights(self, path):
        self.drawn(path, {"gate.w1": (128, 64), "gate.w3": (128, 64)})

    def all_weights(self, path):
        """Those of the kernel and of the Llama."""
        import model_files
        import numpy
        arrays = {}
        for name in ("k.safetensors", "llama.safetensors"):
            stored, _ = model_files.read_safetensors(self.path(name))
            arrays |= {key: numpy.frombuffer(data, "<f4").reshape(shape)
                       for key, (_, shape, data) in stored.items()}
        model_files.write_safetensors(path, arrays, {name: "float32" for name in arrays})

    def vit(self, path):
        shutil.copy(self.root / "examples/vit.tdsl", path)

    def vit_weights(self, path):
        self.run("anec", self.path("vit.tdsl"), "-o", self.made / "vit.anepkg")
        self.run("ane-run", "train", self.made / "vit.anepkg", "--init=1", "--steps=1",
                 "--input", f"images={self.path('photos.npy')}", "--input",
                 f"labels={self.path('classes.npy')}", "--checkpoint", self.made / "run-of-vit")
        shutil.copy(self.made / "run-of-vit/best/weights.safetensors", path)

    def weights_of_mil(self, path):
        self.path("k.mil")

    def llama_weights(self, path):
        shutil.copy(self.path("run") / "best/weights.safetensors", path)

    def llama2c(self, path):
        """With as many tokens as the tokenizer has."""
        package, run = self.made / "stories.anepkg", self.made / "run-of-stories"
        self.run("anec", self.path("llama.tdsl"), "--define=vocab=512", "-o", package)
        self.run("ane-run", "train", package, "--init=1", "--steps=1", "--tokenizer=bytes",
                 "--data", self.path("book.txt"), "--checkpoint", run)
        self.run("anec", "convert", run / "best", "-o", path)

    def llama2c_packed(self, path):
        from gguf_models import write_llama2c
        write_llama2c(3, path, 2)

    def llama2c_tokenizer(self, path):
        self.run(sys.executable, TESTS / "Train/Inputs/llama2c_tokenizer.py", "write", path,
                 self.path("book.txt"))

    def sentencepiece(self, path):
        self.run("spm_train", f"--input={self.path('book.txt')}",
                 f"--model_prefix={path.with_suffix('')}", "--vocab_size=40",
                 "--model_type=bpe")

    def onnx(self, path):
        """A product of channels, x or image to y; or a small network of an image."""
        import numpy
        from onnx_writer import Graph
        draw = numpy.random.default_rng(1)

        def drawn(*shape):
            return draw.normal(0, 0.2, shape).astype(numpy.float32)
        graph = Graph()
        if path.name == "resnet.onnx":
            x = graph.input("image", numpy.float32, [1, 3, 16, 16])
            x = graph.op("Relu", graph.op("Conv", x, drawn(8, 3, 3, 3)))
            x = graph.op("Flatten", graph.op("GlobalAveragePool", x))
            y = graph.op("Softmax", graph.op("Gemm", x, drawn(8, 8)), outputs=["y"])
            graph.output(y, numpy.float32, [1, 8])
        else:
            x = graph.input("x", numpy.float32, [1, 64, 1, 32])
            y = graph.op("Sigmoid", graph.op("Conv", x, drawn(8, 64, 1, 1)), outputs=["y"])
            graph.output(y, numpy.float32, [1, 8, 1, 32])
        path.write_bytes(graph.model())

    def flexible(self, path):
        """MIL with an input of unknown extents."""
        path.write_text("""program(1.3)
{
    func main<ios17>(tensor<fp32, [1, ?, 4]> x)
        [FlexibleShapeInformation = tuple<tuple<string, dict<string, tensor<int32, [?]>>>, tuple<string, dict<string, list<tensor<int32, [2]>, ?>>>>(
            (("DefaultShapes", {{"x", [1, 3, 4]}}), ("RangeDims", {{"x", [[1, 1], [1, 999], [4, 4]]}})))] {
        tensor<fp32, [1, ?, 4]> y = relu(x = x)[name = string("y")];
    } -> (y);
}
""")

    def stateful(self, path):
        path.write_text("""program(1.3)
{
    func main<ios18>(state<tensor<fp16, [1, 64, 1, 32]>> cache, tensor<fp16, [1, 64, 1, 32]> x) {
        tensor<fp16, [1, 64, 1, 32]> before = read_state(input = cache);
        tensor<fp16, [1, 64, 1, 32]> sum = add(x = before, y = x);
        write_state(data = sum, input = cache);
        tensor<fp16, [1, 64, 1, 32]> after = read_state(input = cache);
    } -> (after);
}
""")

    def out(self, path):
        """What a run of the program with a state leaves."""
        self.run("ane-run", self.path("decode.mil"), "--input=x=zeros", "--output-dir", path)

    def masked(self, path):
        path.write_text("""program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 1, 32]> x, tensor<fp16, [1, 64, 1, 32]> mask, tensor<fp16, [1, 64, 1, 32]> noise) {
        tensor<fp16, [1, 64, 1, 32]> a = mul(x = x, y = mask);
        tensor<fp16, [1, 64, 1, 32]> y = add(x = a, y = noise);
    } -> (y);
}
""")

    def log(self, path):
        path.write_text("ANECCompile() FAILED: err=(CompilationFailure)\n")

    def ids(self, path):
        path.write_text("5 6 7\n")

    def batches(self, path):
        path.mkdir()
        for name in ("images.npy", "labels.npy"):
            shutil.copy(self.path(name), path / name)

    def described(self, path):
        path.write_text('{"author": "Ada"}\n')

    def archive(self, path):
        shutil.copy(TESTS / "Torch/Inputs/mlp.pt2", path)


def compiled(source, *flags):
    """What `anec` makes of another stand-in."""
    return lambda made, path: made.run("anec", made.path(source), *flags, "-o", path)


def array(*shape, kind="float32", below=None):
    """Random numbers, or integers below a number."""
    def make(_, path):
        import numpy
        draw = numpy.random.default_rng(1)
        values = draw.integers(0, below, shape) if below else draw.normal(0, 1, shape)
        numpy.save(path, values.astype(kind))
    return make


make = StandIns
NAMES = {
    # programs
    "build": make.link_build, "test": make.link_tests, "packaging": make.link_packaging,
    "examples": make.examples, "llama.tdsl": make.example,
    "vit.tdsl": make.vit, "digits.tdsl": make.digits, "k.tdsl": make.kernel,
    "gate.tdsl": make.kernel, "model.tdsl": make.kernel, "qwen3.tdsl": make.imported,
    # texts
    "docs": make.texts, "README.md": make.text, "book.txt": make.text, "wiki.txt": make.text,
    "mine.txt": make.text, "story.txt": make.text, "chats.jsonl": make.chats,
    "messages.json": make.messages, "ids.txt": make.ids, "console.txt": make.log,
    "model.json": make.described, "vit.json": make.described, "words.json": make.described,
    # tokenizers
    "tokenizer.json": make.tokenizer, "tokenizer.bin": make.llama2c_tokenizer,
    "tokenizer.model": make.sentencepiece,
    # models of language
    "Qwen3-0.6B": make.hub, "qwen3": make.hub, "SmolLM2-135M": make.hub,
    "Llama-folder": make.hub, "model": make.hub, "Qwen3-0.6B-Q4_K_M.gguf": make.gguf,
    "llama-Q4_K_M.gguf": make.gguf,
    "qwen3.names.json": make.names, "stories15M.bin": make.llama2c,
    "stories15M-q80.bin": make.llama2c_packed,
    # packages
    "llama.anepkg": compiled("llama.tdsl"), "small.anepkg": compiled("llama.tdsl"),
    "model.anepkg": compiled("llama.tdsl", "--init=1"),
    "forward.anepkg": compiled("llama.tdsl", "--forward-only"),
    "decode.anepkg": compiled("llama.tdsl", "--decode", "--context=256", "--init=1"),
    "fp16.anepkg": compiled("k.tdsl", "--init=1"),
    "digits.anepkg": compiled("digits.tdsl"),
    "tune.anepkg": compiled("qwen3.tdsl", "--lora=rank=2,targets=wq"),
    "qwen3.anepkg": compiled("qwen3.tdsl", "--weights=Qwen3-0.6B", "--decode",
                             "--context=256"),
    "qwen3-forward.anepkg": compiled("qwen3.tdsl", "--weights=Qwen3-0.6B",
                                     "--forward-only"),
    "qwen3.mlpackage": compiled("qwen3.tdsl", "--weights=Qwen3-0.6B", "--decode",
                                "--context=256", "--cache=state"),
    # MIL, and models of others
    "k.mil": compiled("k.tdsl", "--init=1"), "kernel.mil": compiled("k.tdsl", "--init=1"),
    "model.mil": make.masked, "decode.mil": make.stateful, "flexible.mil": make.flexible,
    "weights": make.weights_of_mil,
    "model.onnx": make.onnx, "resnet.onnx": make.onnx, "model.pt2": make.archive,
    "net.pt2": make.archive, "model.mlpackage": compiled("model.onnx"),
    "image.mlpackage": compiled("resnet.onnx"), "old.mlpackage": compiled("model.onnx"),
    "new.mlpackage": compiled("model.onnx", "--precision=fp32"),
    "torch.mlpackage": compiled("model.pt2"),
    # weights and arrays
    "run": make.trained, "run-of-qwen3": make.trained_import, "run-of-gguf": make.of_gguf,
    "gguf.names.json": make.of_gguf,
    "all.safetensors": make.all_weights, "base.safetensors": make.llama_weights,
    "llama.safetensors": make.llama_weights, "k.safetensors": make.kernel_weights,
    "vit.safetensors": make.vit_weights,
    "out": make.out, "batches": make.batches,
    "x.npy": array(1, 64, 1, 32),
    "x-torch.npy": array(12, 8), "y-torch.npy": array(12, 4), "image.npy": array(1, 3, 16, 16),
    "images.npy": array(256, 784), "images16.npy": array(4, 1, 3, 16, 16),
    "photos.npy": array(32, 3, 32, 32), "classes.npy": array(32, kind="int32", below=10),
    "labels.npy": array(256, kind="int32", below=10),
    "t.npy": array(64, kind="int32", below=256), "t1.npy": array(1, kind="int32", below=256),
}
