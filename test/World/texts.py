"""SentencePiece models that the library trains on random texts, with random options, and
some of whose pieces are then made unused or user-defined: ids and texts are the
library's."""
import importlib.metadata
import json
import random

from harness import Item, RIGHT, limited, refused, wrong

ALPHABETS = ("ab", "abcdefgh ", "a\u00e9b\u00df\u03a3\u65e5\u672c\u8a9e",
             "abc  \u00a0\ufb01\u00bd", "hello world ")
# Compatibility characters, combining ones, two cases in one, markers and their spellings.
ATOMS = ("a", "b", "ab", "c", "d", " ", "  ", "\u00e9", "\u00df", "\u65e5", "\u672c",
         "\u00a0", "\ufb01", "\u00bd", "<x>", "<s>", "</s>", "<unk>", "<0x41>", "\t", "\u2581",
         "hello", "world", "e\u0301", "\U0001f600", "\u3000", "<ctl>", "\u01c5", "\u2460")
USER_DEFINED = ("ab", "<x>", "a", "b b", "  ", "\u65e5", "\u2581a", "aab")
SIZES = (14, 18, 24, 30, 40, 60, 100, 300)


def train(rng, kind, folder):
    """The path of a model, or None where the texts are too few for any size."""
    import sentencepiece
    alphabet = rng.choice(ALPHABETS)
    corpus = folder / "corpus.txt"
    corpus.write_text("".join(
        "".join(rng.choice(alphabet + "  ") for _ in range(rng.randint(3, 40))) + "\n"
        for _ in range(300)))
    options = {
        "input": str(corpus), "model_prefix": str(folder / "model"), "model_type": kind,
        "minloglevel": 3, "hard_vocab_limit": False,
        "character_coverage": rng.choice((0.9, 1.0)),
        "normalization_rule_name": rng.choice(("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf",
                                               "identity")),
        "add_dummy_prefix": rng.random() < 0.7,
        "remove_extra_whitespaces": rng.random() < 0.6,
        "treat_whitespace_as_suffix": rng.random() < 0.25,
        "byte_fallback": rng.random() < 0.4}
    for chance, name, value in (
            (0.4, "user_defined_symbols", rng.sample(USER_DEFINED, rng.randint(1, 3))),
            (0.3, "control_symbols", ["<ctl>"]),
            (0.2, "unk_surface", rng.choice(("?", "", " UNK"))),
            (0.2, "bos_id", -1),
            (0.2, "escape_whitespaces", False)):
        if rng.random() < chance:
            options[name] = value
    for size in rng.sample(SIZES, len(SIZES)):
        options["vocab_size"] = size + 256 * options["byte_fallback"]
        try:
            sentencepiece.SentencePieceTrainer.train(**options)
            return folder / "model.model"
        except (OSError, RuntimeError):  # Too small for the characters, or too large.
            pass
    return None


def change_pieces(rng, path):
    from sentencepiece import sentencepiece_model_pb2
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(path.read_bytes())
    for piece in model.pieces:
        if piece.type != piece.NORMAL:
            continue
        chance = rng.random()
        if chance < 0.1:
            piece.type = piece.UNUSED
        elif chance < 0.13:
            piece.type = piece.USER_DEFINED
        elif chance < 0.3:
            piece.score = rng.choice((0.0, -1.0, 1.5, piece.score * 2))
    path.write_bytes(model.SerializeToString())


def make(seed, kind, folder):
    """A model and cases.json: texts with their ids, and ids with their texts. Nothing
    where the library cannot train or refuses the pieces."""
    import sentencepiece
    rng = random.Random(seed)
    path = train(rng, kind, folder)
    cases = {"texts": [], "ids": []}
    if path:
        if rng.random() < 0.5:
            change_pieces(rng, path)
        try:
            library = sentencepiece.SentencePieceProcessor(model_file=str(path))
        except (OSError, RuntimeError):
            library = None
        for _ in range(8 if library else 0):
            text = "".join(rng.choice(ATOMS) for _ in range(rng.randint(1, 25)))
            ids = library.encode(text)
            cases["texts"].append([text, ids])
            if rng.random() < 0.5:
                ids = [rng.randrange(len(library)) for _ in range(rng.randint(1, 12))]
            if ids:
                cases["ids"].append([ids, library.decode(ids)])
    (folder / "cases.json").write_text(json.dumps(cases))


def replaced(text):
    """Each byte that is not a part of a character as U+FFFD, as the library decodes."""
    out = ""
    while text:
        for size in range(1, 5):
            try:
                out += text[:size].decode()
                break
            except UnicodeDecodeError:
                pass
        else:
            out, size = out + "\ufffd", 1
        text = text[size:]
    return out


def check_models(kind, seeds):
    def check(ctx):
        version = importlib.metadata.version("sentencepiece")
        tried, bad = {"ids": 0, "text": 0}, {}

        def compare(step, seed, model, given, words, right, result_of):
            command = [ctx.build / "bin/ane-run", "tokenize", f"--tokenizer={model}", *words]
            done = limited(command, 60, input=given.encode())
            tried[step] += 1
            if done.returncode != 0:
                bad.setdefault(step, (refused if done.returncode == 1 else wrong)(
                    f"seed {seed}: {done.stderr.decode()}"))
            elif result_of(done.stdout) != right:
                bad[step] = wrong(f"seed {seed}: {given!r} gives {done.stdout!r}")

        for seed in seeds:
            folder = ctx.computed(lambda folder, seed=seed: make(seed, kind, folder),
                                  f"sentencepiece {version} {seed} {kind}", make, train,
                                  change_pieces)
            cases, model = json.loads((folder / "cases.json").read_text()), folder / "model.model"
            for text, ids in cases["texts"]:
                compare("ids", seed, model, text, (), ids,
                        lambda out: [int(word) for word in out.split()])
            for ids, text in cases["ids"]:
                compare("text", seed, model, " ".join(map(str, ids)), ("--decode",), text,
                        replaced)
        assert min(tried.values()) > 2 * len(seeds), "too few models could be trained"
        return {step: bad.get(step, RIGHT) for step in tried}
    return check


def items():
    for kind in ("unigram", "bpe", "word", "char"):
        yield Item("sentencepiece", kind, check_models(kind, range(10)), seconds=300)
        yield Item("sentencepiece", f"{kind}-more", check_models(kind, range(10, 110)),
                   sample=False, seconds=3000)
