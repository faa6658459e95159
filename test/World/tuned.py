"""`ane-run finetune` beside PEFT: the same adapters from the same beginning, on conversations
whose answers transformers marks.

Steps: losses, of each step, within 1e-4; written, the folder that comes out, loaded by
transformers, has the loss that PEFT's model has after the last step, within 1e-3."""
import functools
import json
import os
import subprocess
import sys
import unittest.mock

import serve
from harness import RIGHT, Item, fetched, is_fetched, wrong

STEPS, RATE, RANK = 10, 2e-3, 4
# Beside serve's: matrices that are multiplied as their transposes.
GPT2 = {"n_embd": 64, "n_layer": 2, "n_head": 2, "n_positions": 256}
CHATS = [[("user", "What is a prime?"), ("assistant", "A number that nothing divides.")],
         [("system", "Be brief."), ("user", "And 1?"), ("assistant", "None.")],
         [("user", "2 + 2?"), ("assistant", "4"), ("user", "And 3 + 3?"), ("assistant", "6!")],
         [("user", "Na\u00efve caf\u00e9?"), ("assistant", "\u65e5\u672c \U0001f600 of course")]]
# serve.TEMPLATE, with transformers' markers of what the assistant writes.
MARKED = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' }}"
          "{% if message['role'] == 'assistant' %}{% generation %}{{ message['content'] + "
          "'<|im_end|>' }}{% endgeneration %}{% else %}{{ message['content'] + '<|im_end|>' }}"
          "{% endif %}{{ '\n' }}{% endfor %}")


def items():
    missing = "" if is_fetched("peft.txt") else "PEFT is not there"
    for family in (*serve.MODELS, "gpt2"):
        yield Item(family, "peft", functools.partial(check, family), missing=missing,
                   sample=family == "qwen3", seconds=300)


def fill_gpt2(folder):
    import torch
    import transformers
    text = serve.tokenizer()
    config = transformers.GPT2Config(vocab_size=len(text), bos_token_id=None,
                                     eos_token_id=text.eos_token_id, **GPT2)
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
        parameter.data = parameter.data.half().float()  # Packages have fp16.
    model.save_pretrained(folder / "model")
    text.save_pretrained(folder / "model")


def model_of(family, ctx):
    if family == "gpt2":
        return ctx.computed(fill_gpt2, family, fill_gpt2, serve.tokenizer, serve.TEMPLATE,
                            json.dumps(GPT2))
    return ctx.computed(functools.partial(serve.fill, family), family, serve.fill,
                        serve.tokenizer, serve.answer, serve.TEMPLATE, serve.QUESTION,
                        serve.PROMPT, json.dumps(serve.MODELS[family]))


def check(family, ctx):
    folder = model_of(family, ctx)
    chats = [[{"role": role, "content": text} for role, text in chat] for chat in CHATS]
    (ctx.folder / "chats.jsonl").write_text(
        "".join(json.dumps({"messages": chat}) + "\n" for chat in chats))
    common = ("finetune", folder / "model", "--data", "chats.jsonl", "--validation=0",
              f"--batch={len(chats)}", "--warmup=0", f"--lora=rank={RANK}", "--numerics=fp32")
    # A rate of 0 leaves the adapters as they are drawn.
    for name, steps, rate in (("drawn", 1, 0), ("tuned", STEPS, RATE)):
        with unittest.mock.patch.dict(os.environ, ANEC_CACHE=str(ctx.folder / "cache")):
            outcome = ctx.step(ctx.run("ane-run", *common, f"--steps={steps}", f"--lr={rate}",
                                       "-o", name))
        if outcome:
            return {"losses": outcome}
    log = (ctx.folder / "tuned.run/train.jsonl").read_text().splitlines()
    losses = [json.loads(line)["loss"] for line in log]
    mapping = json.loads(next((ctx.folder / "cache").glob("*.names.json")).read_text())
    given = {"model": str(folder / "model"), "written": str(ctx.folder / "tuned"),
             "chats": chats, "marked": MARKED, "rank": RANK, "rate": RATE, "steps": STEPS,
             "adapters": str(ctx.folder / "drawn.run/step-00000001/weights.safetensors"),
             "names": {name: other for name, other in mapping.items()
                       if name.split(".")[-1] in ("wq", "wk", "wv", "wqkv", "wo", "w1", "w2", "w3")}}
    packages = sorted(path for path in fetched("peft.txt").iterdir() if path.is_dir())
    done = subprocess.run([sys.executable, __file__.replace("tuned.py", "_peft.py")],
                          input=json.dumps(given), capture_output=True, text=True, timeout=300,
                          env={**os.environ,
                               "PYTHONPATH": os.pathsep.join(map(str, packages))})
    if done.returncode:
        return {"losses": wrong("PEFT: " + " ".join(done.stderr.split()[-30:]))}
    seen = json.loads(done.stdout)
    off = max(abs(one - other) / other for one, other in zip(losses, seen["losses"]))
    apart = abs(seen["written"] - seen["mine"]) / seen["mine"]
    return {"losses": RIGHT if off <= 1e-4 and len(losses) == STEPS else wrong(
                f"off by {off:.2g}: {losses}, not {seen['losses']}"),
            "written": RIGHT if apart <= 1e-3 else wrong(
                f"a loss of {seen['written']}, not {seen['mine']}")}
