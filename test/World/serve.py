"""`ane-run serve` asked by OpenAI's client. The model and its template are saved by
transformers, which also says what the answers have to be.

Steps: answers, of a conversation and of a text; stream; stop; errors, with class and field;
parallel, 20 requests at once; leaves, a client that goes away."""
import functools
import json
import os
import signal
import subprocess
import sys

from harness import RIGHT, Item, fetched, is_fetched, wrong

COUNT = 24
QUESTION = "What is a prime, and who says so?"
PROMPT = "Once upon a time"
TEMPLATE = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + "
            "message['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
MODELS = {"llama": ("LlamaConfig", {}), "qwen3": ("Qwen3Config", {"head_dim": 32})}


def items():
    missing = "" if is_fetched("openai.txt") else "OpenAI's client is not there"
    for family in MODELS:
        yield Item(family, "openai", functools.partial(check, family), missing=missing,
                   sample=family == "llama")


def tokenizer():
    """Of bytes, with a template."""
    import tokenizers
    import transformers
    words = tokenizers.Tokenizer(tokenizers.models.BPE())
    words.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = tokenizers.decoders.ByteLevel()
    words.train_from_iterator(["a text of few words"], tokenizers.trainers.BpeTrainer(
        vocab_size=280, special_tokens=["<|im_start|>", "<|im_end|>"], show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()))
    text = transformers.PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<|im_end|>",
                                                clean_up_tokenization_spaces=False)
    text.chat_template = TEMPLATE
    return text


def fill(family, folder):
    """A model of random weights, and what it answers."""
    import torch
    import transformers
    text = tokenizer()
    name, more = MODELS[family]
    config = getattr(transformers, name)(
        vocab_size=len(text), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=4096,
        bos_token_id=None, eos_token_id=text.eos_token_id, pad_token_id=None, **more)
    chat = text.apply_chat_template([{"role": "user", "content": QUESTION}], tokenize=False,
                                    add_generation_prompt=True)
    for seed in range(1000):  # Until no choice is close.
        torch.manual_seed(seed)
        model = transformers.AutoModelForCausalLM.from_config(config)
        for parameter in model.parameters():
            if parameter.dim() > 1:
                torch.nn.init.normal_(parameter, std=0.2)
            parameter.data = parameter.data.half().float()  # Packages have fp16.
        answers = {"chat": answer(model, text, chat), "text": answer(model, text, PROMPT)}
        if all(answers.values()):
            break
    model.save_pretrained(folder / "model")
    text.save_pretrained(folder / "model")
    (folder / "answers.json").write_text(json.dumps(answers))


def answer(model, text, given):
    """The text, why it ends, and its tokens; None if rounding could choose another token."""
    import torch
    ids = torch.tensor([text.encode(given, add_special_tokens=False)])
    whole = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=COUNT,
                           do_sample=False)
    with torch.no_grad():
        best = model(whole).logits[0, ids.shape[1] - 1:-1].topk(2).values
    if (best[:, 0] - best[:, 1]).min() < 0.05:
        return None
    made = whole[0, ids.shape[1]:]
    ends = bool(made[-1] == text.eos_token_id)
    return [text.decode(made, skip_special_tokens=True), "stop" if ends else "length",
            len(made) - int(ends)]


def check(family, ctx):
    folder = ctx.computed(functools.partial(fill, family), family, fill, tokenizer, answer,
                          TEMPLATE, QUESTION, PROMPT, json.dumps(MODELS[family]))
    right = json.loads((folder / "answers.json").read_text())
    client = fetched("openai.txt")
    server = subprocess.Popen(
        [ctx.build / "bin/ane-run", "serve", folder / "model", "--port=0", "--numerics=fp32"],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "ANEC_CACHE": str(ctx.folder)})
    try:
        line = next((line for line in server.stderr if " at http://" in line), None)
        if not line:
            return {"answers": wrong("the server does not listen")}
        return asked(right, client, int(line.rsplit(":", 1)[1].split("/")[0]))
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)


def asked(right, client, port):
    text = right["chat"][0]
    stop = text[len(text) // 2:][:2]
    given = {"port": port, "question": QUESTION, "prompt": PROMPT, "count": COUNT,
             "stop": stop, "long": 3000}
    paths = os.pathsep.join(str(path) for path in sorted(client.iterdir()) if path.is_dir())
    done = subprocess.run([sys.executable, __file__.replace("serve.py", "_client.py")],
                          input=json.dumps(given), capture_output=True, text=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": paths})
    if done.returncode:
        return {"answers": wrong("the client: " + " ".join(done.stderr.split()[-30:]))}
    seen = json.loads(done.stdout)

    def same(what, wanted):
        return RIGHT if what == wanted else wrong(f"{what}, not {wanted}")
    errors = [["BadRequestError", "temperature"], ["BadRequestError", "n"],
              ["BadRequestError", "nonsense"], ["BadRequestError", "messages"],
              ["NotFoundError", "model"]]
    return {"answers": same([seen["models"], seen["chat"], seen["text"]],
                            [["model"], right["chat"], right["text"][0]]),
            "stream": same(seen["stream"], right["chat"]),
            "stop": same(seen["stop"], text[:text.index(stop)]),
            "errors": same(seen["errors"], errors),
            "parallel": same(seen["parallel"], [text] * 20),
            "leaves": same([seen["after"], seen["seconds"] < 20], [text, True])}
