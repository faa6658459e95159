"""Random tokenizers for pipelines.py: parts of the library tokenizers with random
options around a model that it trains."""
import json
import random

CORPUS = ("the quick brown fox jumps over the lazy dog's back, isn't it? 123 4567 8.9\n",
          "Hello World hello WORLD don't can't we'll they've I'M\n",
          "caf\u00e9 na\u00efve \u00fcber Stra\u00dfe \u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2"
          " \u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8 \ud55c\uad6d\uc5b4\n",
          "def f(x):\n    return x ** 2  # comment\n\n\ttab\r\nline\n",
          "e\u0301 a\u0300 \ufb01ne \u00bd \u2460 \U0001f600\U0001f468\u200d\U0001f469\n")
ATOMS = ("a", "the", " the", "hello", "Hello", " ", "  ", "   ", "\n", "\n\n", "\r\n", "\t",
         "'s", "'LL", "123", "4", "\u00b2", "\u0663", ".", "...", "!?", "-", "_", "\u2014",
         "\u00e9", "e\u0301", "\u00df", "\u1e9e", "\u03a3", "\u03c2", "\u0130", "\u01c5",
         "\u65e5\u672c", "\u30c6", "\u306e", "\ud55c", "\ufb01", "\u00bd", "\u2460",
         "\u00a0", "\u3000", "\u200b", "\u2028", "\ufeff", "\u00ad", "\u0085", "\u0001",
         "\U0001f600", "\U0001f468\u200d\U0001f469", "\u0915\u094d\u0937", "\u0e01\u0e33",
         "<s>", "</s>", "<X>", "<mask>", "[UNK]", "<unk>", "\u2581", "\u2581a", "##a", "</w>",
         "\u0120", "<0x41>", "foo", "bar ", " baz", "Foo", "xyz", "fox")
PATTERNS = (r"\s+", r"\w+|[^\w\s]+", r"\p{L}+", r"\p{N}{1,3}", r"[^\s\p{L}\p{N}]+",
            r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"[\p{P}\p{S}&&[^_]]+", r"[a-z&&[^aeiou]]+", r"[^a-z&&[aeiou]]", r"[[:alpha:]]+",
            r"[[:digit:]]+|[[:punct:]]", r"[[:space:][:upper:]]+", r"[^[:alnum:]]", r"[a[^b-z]]",
            r"\R", r"\R+| +", r"(?i)hello(?-i)W", r"the(?i)f|QUICK", r"(.)\1", r"(?<c>\w)\k<c>",
            r"(?<q>['\"]).*?\k<q>", r"\d", r"\D+", r"\h+", r"[\w--]", r"a|e|i", r"x*", r"",
            r"(?=[A-Z])", r"(?<=[a-z])(?=[A-Z])", r"\b", r"^\s*", r"$", r".", r"(?m:.)+", r"\S+\s?",
            r"[\u3040-\u30ff\u4e00-\u9fff]+", r"\p{Han}+", r"[\p{Hiragana}\p{Katakana}]",
            r"\X", r"(?>a+)b", r"a++", r"[0-9]{2,}", r"(?:ab)?c")
SPLITS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")


class Draw:
    def __init__(self, seed):
        import tokenizers
        self.t, self.r = tokenizers, random.Random(seed)
        self.byte_level = self.r.random() < 0.3

    def flag(self, chance=0.5):
        return self.r.random() < chance

    def pick(self, *choices):
        return self.r.choice(choices)

    def pattern(self):
        if self.flag(0.3):
            return self.pick(" ", "a", "\u2581", "the", ".", "  ", "'")
        return self.t.Regex(self.r.choice([one for one in PATTERNS if one]))

    def normalizer(self, depth=0):
        n = self.t.normalizers
        kinds = ["nfc", "nfd", "nfkc", "nfkd", "lower", "strip", "accents", "nmt", "prepend",
                 "replace", "bert"] + ["bytes"] * (depth == 0) + ["sequence"] * 3 * (depth == 0)
        kind = self.r.choice(kinds)
        if kind == "strip":
            return n.Strip(left=self.flag(), right=self.flag())
        if kind == "prepend":
            return n.Prepend(self.pick("\u2581", "x", "ab "))
        if kind == "replace":
            return n.Replace(self.pattern(), self.pick("", " ", "\u2581", "zz", "a"))
        if kind == "bert":
            return n.BertNormalizer(clean_text=self.flag(), handle_chinese_chars=self.flag(),
                                    strip_accents=self.pick(None, True, False),
                                    lowercase=self.flag())
        if kind == "sequence":
            return n.Sequence([self.normalizer(1) for _ in range(self.r.randint(0, 3))])
        return {"nfc": n.NFC, "nfd": n.NFD, "nfkc": n.NFKC, "nfkd": n.NFKD,
                "lower": n.Lowercase, "accents": n.StripAccents, "nmt": n.Nmt,
                "bytes": n.ByteLevel}[kind]()

    def pre_tokenizer(self, depth=0):
        p = self.t.pre_tokenizers
        kind = self.pick("space", "words", "digits", "punctuation", "bert", "delimiter", "split",
                         "split", "split", "metaspace", "fixed", "scripts",
                         *["sequence"] * 3 * (depth == 0))
        if kind == "digits":
            return p.Digits(individual_digits=self.flag())
        if kind == "punctuation":
            return p.Punctuation(self.pick(*SPLITS))
        if kind == "delimiter":
            return p.CharDelimiterSplit(self.pick(" ", "a", "\u2581", "\n"))
        if kind == "split":
            return p.Split(self.pattern(), self.pick(*SPLITS), invert=self.flag(0.3))
        if kind == "metaspace":
            return p.Metaspace(replacement=self.pick("\u2581", "_"),
                               prepend_scheme=self.pick("always", "never", "first"),
                               split=self.flag())
        if kind == "fixed":
            return p.FixedLength(self.r.randint(1, 6))
        if kind == "sequence":
            return p.Sequence([self.pre_tokenizer(1) for _ in range(self.r.randint(0, 3))])
        return {"space": p.WhitespaceSplit, "words": p.Whitespace, "bert": p.BertPreTokenizer,
                "scripts": p.UnicodeScripts}[kind]()

    def decoder(self, depth=0):
        d = self.t.decoders
        kind = self.pick("bytes", "metaspace", "fallback", "fuse", "strip", "replace", "pieces",
                         "bpe", "ctc", *["sequence"] * 4 * (depth == 0))
        if kind == "metaspace":
            return d.Metaspace(replacement=self.pick("\u2581", "_"),
                               prepend_scheme=self.pick("always", "never", "first"))
        if kind == "strip":
            return d.Strip(self.pick(" ", "a", "\u2581"), self.r.randint(0, 2),
                           self.r.randint(0, 2))
        if kind == "replace":
            return d.Replace(self.pattern(), self.pick("", " ", "zz"))
        if kind == "pieces":
            return d.WordPiece(prefix=self.pick("##", "_"), cleanup=self.flag())
        if kind == "bpe":
            return d.BPEDecoder(suffix=self.pick("</w>", "a"))
        if kind == "ctc":
            return d.CTC(pad_token="<s>", word_delimiter_token="|", cleanup=self.flag())
        if kind == "sequence":
            return d.Sequence([self.decoder(1) for _ in range(self.r.randint(1, 3))])
        return {"bytes": d.ByteLevel, "fallback": d.ByteFallback, "fuse": d.Fuse}[kind]()

    def model(self):
        """A model that trains, and its trainer."""
        m, t = self.t.models, self.t.trainers
        kind = self.pick("bpe", "bpe", "bpe", "unigram", "unigram", "pieces", "words")
        special = ["<unk>", "<s>", "</s>"]
        size = self.r.randint(60, 400)
        if kind == "bpe":
            prefix = "##" if self.flag(0.1) else None
            suffix = "</w>" if self.flag(0.15) else None
            options = {"continuing_subword_prefix": prefix, "end_of_word_suffix": suffix}
            options = {key: value for key, value in options.items() if value}
            alphabet = self.t.pre_tokenizers.ByteLevel.alphabet() if self.byte_level else []
            if self.flag(0.2):
                special += [f"<0x{byte:02X}>" for byte in range(256)]
            model = m.BPE(unk_token=self.pick(None, "<unk>"), fuse_unk=self.flag(),
                          byte_fallback=len(special) > 3 or self.flag(0.1),
                          ignore_merges=self.flag(0.3), **options)
            return model, t.BpeTrainer(vocab_size=size + len(alphabet) + len(special),
                                       special_tokens=special, initial_alphabet=alphabet,
                                       show_progress=False, **options)
        if kind == "unigram":
            return m.Unigram(), t.UnigramTrainer(vocab_size=size, special_tokens=special,
                                                 unk_token="<unk>", show_progress=False)
        if kind == "pieces":
            return (m.WordPiece(unk_token="<unk>",
                                max_input_chars_per_word=self.pick(100, 5)),
                    t.WordPieceTrainer(vocab_size=size, special_tokens=special,
                                       show_progress=False))
        return (m.WordLevel(unk_token="<unk>"),
                t.WordLevelTrainer(vocab_size=size, special_tokens=special, show_progress=False))

    def tokenizer(self):
        t = self.t
        model, trainer = self.model()
        made = t.Tokenizer(model)
        if self.flag(0.6):
            made.normalizer = self.normalizer()
        if self.byte_level:
            made.pre_tokenizer = t.pre_tokenizers.ByteLevel(add_prefix_space=self.flag(),
                                                            use_regex=self.flag(0.7))
        elif self.flag(0.8):
            made.pre_tokenizer = self.pre_tokenizer()
        made.train_from_iterator(CORPUS * 3, trainer)
        if self.byte_level and self.flag(0.8):
            made.decoder = t.decoders.ByteLevel()
        elif self.flag(0.8):
            made.decoder = self.decoder()
        if self.flag(0.4):
            made.post_processor = self.post_processor()
        added = []
        for text in self.r.sample(["<X>", "<mask>", "foo", "the", " hello", "xyz", "Fo",
                                   "\u00e9\u00e9", "a b", "[X] "], self.r.randint(0, 4)):
            added.append(t.AddedToken(text, single_word=self.flag(0.3), lstrip=self.flag(0.3),
                                      rstrip=self.flag(0.3), normalized=self.flag(),
                                      special=self.flag(0.4)))
        made.add_tokens(added)
        return self.changed(json.loads(made.to_str()))

    def post_processor(self):
        p = self.t.processors
        kind = self.pick("template", "bytes", "bert", "roberta", "sequence")
        template = p.TemplateProcessing(
            single=self.pick("<s> $A", "<s> $A </s>", "$A </s>", "<s> <s> $A"),
            pair="$A $B", special_tokens=[("<s>", 1), ("</s>", 2)])
        return {"template": template, "bytes": p.ByteLevel(trim_offsets=self.flag()),
                "bert": p.BertProcessing(("</s>", 2), ("<s>", 1)),
                "roberta": p.RobertaProcessing(("</s>", 2), ("<s>", 1)),
                "sequence": p.Sequence([p.ByteLevel(), template])}[kind]

    def changed(self, made):
        """What the library has no words for."""
        if made["model"]["type"] == "Unigram":
            pieces = made["model"]["vocab"]
            if self.flag(0.2):
                made["model"]["unk_id"] = None
            if self.flag(0.2):
                pieces += [[f"<0x{byte:02X}>", -12.0] for byte in range(256)]
                made["model"]["byte_fallback"] = True
                for one in made["added_tokens"]:
                    one["id"] += 256 * (one["id"] >= len(pieces) - 256)
            elif self.flag(0.1):
                pieces[-1][0] = pieces[-2][0]
        return made


def make(seed, folder):
    """tokenizer.json, and cases.json: texts with their ids and those between markers, ids
    with their texts, without markers and with them. `null` where the library fails."""
    import tokenizers
    draw = Draw(seed)
    for _ in range(20):
        try:
            text = json.dumps(draw.tokenizer())
            library = tokenizers.Tokenizer.from_str(text)
            break
        except Exception:  # Whatever the library raises.
            pass
    (folder / "tokenizer.json").write_text(text)
    cases = {"texts": [], "ids": []}

    def tried(call):
        try:
            return call()
        except BaseException:  # Also a panic of the library.
            return None

    for _ in range(8):
        text = "".join(draw.r.choice(ATOMS) for _ in range(draw.r.randint(1, 25)))
        plain = tried(lambda: library.encode(text, add_special_tokens=False).ids)
        cases["texts"].append([text, plain, tried(lambda: library.encode(text).ids)])
        ids = plain or []
        if draw.flag(0.3) and '"ByteFallback"' not in library.to_str():
            ids = [draw.r.randrange(library.get_vocab_size()) for _ in range(8)]
        if ids:
            cases["ids"].append([ids, tried(lambda: library.decode(ids)), tried(
                lambda: library.decode(ids, skip_special_tokens=False))])
    (folder / "cases.json").write_text(json.dumps(cases))
